"""What is installed: one version, every module, the command, the same Pythons everywhere."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
from configparser import ConfigParser
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pytest

import s2s_ad
from s2s_ad import versions

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "s2s_ad"
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("*.py"))
ASSETS = sorted(path.relative_to(ROOT).as_posix() for path in PACKAGE.glob("*/assets/*"))
CONFIG = ConfigParser(interpolation=None)
CONFIG.read(ROOT / "setup.cfg", encoding="utf-8")


def test_installed_version_is_that_of_setup_cfg():
    assert metadata.version("s2s_ad") == CONFIG["metadata"]["version"] == s2s_ad.__version__


def test_what_is_listed_of_the_package_is_public_and_there():
    assert {*s2s_ad.__all__, "__version__"} <= set(dir(s2s_ad))
    assert not [each for each in dir(s2s_ad) if not hasattr(s2s_ad, each)]
    assert not {"Any", "DTYPES", "importlib", "tensors"} & set(dir(s2s_ad))


def test_version_is_written_in_setup_cfg_only():
    version = CONFIG["metadata"]["version"]
    assert not [path for path in MODULES if version in (ROOT / path).read_text(encoding="utf-8")]


def test_supported_pythons_are_the_same_everywhere():
    classifiers = re.findall(r"Python :: (3\.\d+)", CONFIG["metadata"]["classifiers"])
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^SUPPORTED := (.*)$", makefile, re.MULTILINE)[1].split() == classifiers
    assert CONFIG["options"]["python_requires"] == f">={classifiers[0]}"
    ruff = (ROOT / "ruff.toml").read_text(encoding="utf-8")
    assert f'target-version = "py{classifiers[0].replace(".", "")}"' in ruff


def test_the_oldest_scipy_is_the_same_everywhere():
    oldest = ".".join(map(str, versions.OLDEST_SCIPY))
    assert CONFIG["options.extras_require"]["scipy"].split() == [f"scipy>={oldest}"]


@pytest.mark.parametrize(
    "version", re.findall(r"Python :: (3\.\d+)", CONFIG["metadata"]["classifiers"])
)
def test_a_python_is_found_that_makes_environments(version):
    """What the tests of other releases run with is asked, whatever its name on PATH promises."""
    found = subprocess.run([ROOT / ".ci/find-python", version], capture_output=True, text=True)
    assert not found.stderr
    if found.returncode:
        assert not found.stdout
        return
    ask = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"
    environment = {k: v for k, v in os.environ.items() if k != "PYENV_VERSION"}
    answer = subprocess.check_output([found.stdout.strip(), "-c", ask], text=True, env=environment)
    assert answer.strip() == version


def test_stubs_on_path_are_no_pythons(tmp_path):
    stub = tmp_path / "python3.99"
    for text, found in [
        ("exit 1", ""),
        ("echo nonsense >&2; exit 127", ""),
        ("echo /here", "/here\n"),
    ]:
        stub.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        stub.chmod(0o755)
        path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
        command = [ROOT / ".ci/find-python", "3.99"]
        run = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "PATH": path}
        )
        assert (run.stdout, bool(run.returncode)) == (found, not found)


@pytest.mark.parametrize(
    "folder", sorted({str(Path(path).parent) for path in MODULES}), ids=lambda folder: folder
)
def test_folders_with_modules_are_packages(folder):
    assert (ROOT / folder / "__init__.py").is_file()


def test_the_editor_is_made_of_what_its_folder_pins():
    """Its first line lists the packages in it, whose licences are beside it."""
    pinned = json.loads((ROOT / "tools/editor/package.json").read_text(encoding="utf-8"))
    assets = PACKAGE / "cli" / "assets"
    with (assets / "editor.js").open(encoding="utf-8") as script:
        made_of = dict(re.findall(r"([@\w/-]+) (\d[\w.]*) \(MIT\)", script.readline()))
    parts = {
        name: version for name, version in pinned["devDependencies"].items() if name != "esbuild"
    }
    assert parts.items() <= made_of.items()
    licences = (assets / "editor.LICENSES.txt").read_text(encoding="utf-8")
    assert all(f"{name} {version}\n" in licences for name, version in made_of.items())


@pytest.mark.parametrize(
    "address, expected",
    [
        ("", "See docs/a.md and [b](https://example.org/b).\n"),
        (
            "https://example.org/files",
            "See [docs/a.md](https://example.org/files/docs/a.md) and [b](https://example.org/b).\n"
            '<picture>\n<img src="https://example.org/files/docs/x.png">\n</picture>\n',
        ),
    ],
)
def test_the_page_of_an_index_has_no_link_that_leads_nowhere(address, expected):
    page = runpy.run_path(str(ROOT / "setup.py"), run_name="imported")["index_page"]
    picture = '<picture>\n<img src="docs/x.png">\n</picture>\n'
    assert page(
        f"See [docs/a.md](docs/a.md) and [b](https://example.org/b).\n{picture}", address
    ) == (expected)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "](docs/" in readme
    assert not re.search(r'\]\((?!https?:)|src="(?!https?:)', page(readme, address))


def test_console_script_runs_the_command_line():
    (script,) = metadata.distribution("s2s_ad").entry_points.select(group="console_scripts")
    assert (script.name, script.value) == ("s2s-ad", "s2s_ad.cli:main")
    assert callable(script.load())


@pytest.mark.slow
def test_wheel_holds_every_module_the_marker_and_the_license(tmp_path):
    checkout = tmp_path / "checkout"
    shutil.copytree(PACKAGE, checkout / "s2s_ad", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "setup.cfg", "setup.py"):
        shutil.copy(ROOT / name, checkout)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path]
    subprocess.run([*build, checkout], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    held = set(ZipFile(wheel).namelist())
    data = {"s2s_ad/py.typed", "s2s_ad/__init__.pyi"}
    data |= {path.relative_to(ROOT).as_posix() for path in (PACKAGE / "cli" / "pages").iterdir()}
    assert {name for name in held if ".dist-info/" not in name} == {*MODULES, *ASSETS, *data}
    assert any(name.endswith("/LICENSE") for name in held)


@pytest.mark.slow
def test_the_source_distribution_holds_what_is_kept_in_git(tmp_path):
    pytest.importorskip("setuptools")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no repository")
    kept = {name for name in listed.stdout.splitlines() if not name.startswith(".git")}
    checkout = tmp_path / "checkout"
    for name in kept:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    build = f"import setuptools.build_meta as build; build.build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=checkout, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        held = {each.name.partition("/")[2] for each in opened.getmembers() if each.isfile()}
    assert kept <= held
