"""The programs of the site run; `make docs` makes the pages of them and checks the links."""

import ast
import re
import runpy
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tutorial", "howto", "gallery")
PAGES = [p for each in FOLDERS for p in sorted((ROOT / "docs/pages" / each).glob("*.py"))]
#: of those without pictures, what takes more than half a second
LONG = {"drift_check", "newton_cg", "numba_gradients", "scipy_minimize", "sparse_jacobian"}
sys.path.insert(0, str(ROOT / "docs"))

from check_links import ABOVE, faults  # noqa: E402
from make_picture import outdated  # noqa: E402

import s2s_ad  # noqa: E402
from s2s_ad.cli import commands as commands_of  # noqa: E402


def of_page(path):
    """The page by folder and name; those with pictures are slow."""
    draws = "matplotlib" in path.read_text(encoding="utf-8")
    marks = [pytest.mark.slow] if draws or path.stem in LONG else []
    return pytest.param(path, id=f"{path.parent.name}/{path.stem}", marks=marks)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", [*map(of_page, PAGES)])
def test_the_program_of_a_page_runs(path, monkeypatch, tmp_path):
    text = path.read_text(encoding="utf-8")
    for library in ("dask", "matplotlib", "numba", "sklearn"):
        if f"import {library}" in text or f"from {library}" in text:
            pytest.importorskip(library)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("S2S_AD_NATIVE", "1" if "import numba" in text else "0")
    monkeypatch.setattr("webbrowser.open", lambda address: True)
    monkeypatch.chdir(tmp_path)
    # Dask asks for a package of this name, which a folder of tests has, too.
    monkeypatch.setattr(sys, "path", [each for each in sys.path if Path(each) != ROOT / "tests"])
    monkeypatch.delitem(sys.modules, "sparse", raising=False)
    runpy.run_path(str(path), run_name="__main__")
    if "matplotlib" in text:
        from matplotlib import pyplot

        assert pyplot.get_fignums()
        pyplot.close("all")


SHOWN = re.compile(r"^# \.\. code-block:: python\n#\n((?:#(?:   .*)?\n)+)", re.MULTILINE)


def shown_blocks():
    """The code that pages show and do not run: it needs libraries that the site is made without."""
    for path in PAGES:
        for number, block in enumerate(SHOWN.findall(path.read_text(encoding="utf-8"))):
            code = textwrap.dedent(re.sub("^#", "", block, flags=re.MULTILINE))
            yield pytest.param(path, code, id=f"{path.stem}-{number}")


@pytest.mark.parametrize("path, code", [*shown_blocks()])
def test_the_code_that_a_page_only_shows_runs(path, code):
    for library in re.findall(r"^import (\w+)", code, re.MULTILINE):
        pytest.importorskip(library, reason=f"needs {library}")
    space = runpy.run_path(str(path))
    value = None
    for node in ast.parse(code).body:
        if isinstance(node, ast.Expr):
            value = eval(compile(ast.Expression(node.value), str(path), "eval"), space)
        else:
            exec(compile(ast.Module([node], []), str(path), "exec"), space)
    gradient = value[0] if isinstance(value, tuple) else value
    wanted = space["grad"](space["energy"], 0)(np.sin(np.linspace(0, 3, 9)), 0.1)
    assert np.allclose(np.asarray(gradient), wanted, rtol=1e-5)


@pytest.mark.parametrize(
    "link, fault",
    [
        ('<a href="b.html#there">', ""),
        ('<a href="https://example.org">', ""),
        ('<a href="c.html">', "leads to no file"),
        ('<a href="b.html#nowhere">', "b.html has no such place"),
        ('<script src="https://example.org/x.js">', "is fetched from another place"),
        ('<img src="x.png">', "leads to no file"),
    ],
)
def test_a_dead_link_and_what_is_fetched_from_elsewhere_are_found(link, fault, tmp_path):
    (tmp_path / "a.html").write_text(link, encoding="utf-8")
    (tmp_path / "b.html").write_text('<p id="there">', encoding="utf-8")
    assert [each.split(": ")[-1] for each in faults(tmp_path)] == [fault] * bool(fault)


def test_the_reference_has_what_is_public():
    text = (ROOT / "docs/reference/api.md").read_text(encoding="utf-8")
    named = re.findall(r"^ *\.\. (?:auto\w+|class):: (?:[\w.]+\.)?(\w+)$", text, re.MULTILINE)
    public = {name for name in s2s_ad.__all__ if callable(getattr(s2s_ad, name))}
    assert public <= set(named)


def test_each_command_has_its_help_in_the_page_of_the_command_line():
    page = (ROOT / "docs/reference/command_line.md").read_text(encoding="utf-8")
    asked = re.findall(r"^```{command-help} (\w+)$", page, re.MULTILINE)
    (commands,) = [e.choices for e in commands_of.parser()._actions if isinstance(e.choices, dict)]
    assert sorted(asked) == sorted(commands)


def test_each_page_has_a_title_and_is_in_the_index():
    for path in PAGES:
        head = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        title, rule = head.splitlines()[:2]
        assert rule == "=" * len(title), path.name
        index = path.parent / "index.rst"
        assert not index.exists() or f"   {path.stem}\n" in index.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.md")), ids=lambda p: p.stem)
def test_a_page_of_text_links_to_pages_and_files_of_the_site(path):
    text = path.read_text(encoding="utf-8")
    for file, page in ABOVE.items():
        text = text.replace(f"]({file}", f"]({page}")
    for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        target = (path.parent / link).resolve()
        made = (path.parent / link).parts[-2:-1] == ("errors",)
        assert made or target.is_file(), link
        assert ROOT / "docs" in target.parents, f"{link} is not part of the site"


def test_what_contributors_read_links_to_what_is_there():
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"):
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8")):
            assert (ROOT / link).exists(), f"{path.name}: {link}"


def test_the_pictures_show_the_code_that_is_written():
    assert outdated() == [], "make docs draws them again, where there is Chromium"
