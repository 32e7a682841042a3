"""The pages of error codes: there is one for each, and their programs do what the pages say."""

import re
import runpy
import sys
from pathlib import Path

import pytest

from s2s_ad import S2SError
from s2s_ad.cli import main
from s2s_ad.cli.codes import FOLDER
from s2s_ad.diagnostics import CATALOGUE

PACKAGE = Path(__file__).resolve().parents[2] / "s2s_ad"
#: what needs another installation, no code that can be written down, or a fault of the compiler
WITHOUT_EXAMPLE = {"S2S401", "S2S503", "S2S701", "S2S702", "S2S901"}


def blocks(code, language):
    text = (FOLDER / f"{code}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_each_code_has_a_page_under_its_name():
    assert {f"{code}.md" for code in CATALOGUE} <= {path.name for path in FOLDER.iterdir()}
    for code, what in CATALOGUE.items():
        text = (FOLDER / f"{code}.md").read_text(encoding="utf-8")
        assert text.startswith(f"# {code}: {what}\n")
        assert "## What to do" in text
        assert (len(blocks(code, "text")) == 1) == (code not in WITHOUT_EXAMPLE), code


def test_each_code_that_is_raised_is_in_the_catalogue():
    sources = (path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    raised = {code for text in sources for code in re.findall(r'"(S2S\d{3})"', text)}
    assert raised == set(CATALOGUE)


@pytest.mark.parametrize("code", CATALOGUE)
def test_the_program_is_refused_as_shown_and_the_other_runs(code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    programs, shown = blocks(code, "python"), blocks(code, "text")
    try:
        for number, program in enumerate(programs):
            path = tmp_path / ("example.py" if number == 0 else "instead.py")
            path.write_text(program, encoding="utf-8")
            if number == 0 and shown:
                with pytest.raises(S2SError) as refused:
                    runpy.run_path(str(path))
                assert str(refused.value).replace(f"{tmp_path}/", "").rstrip() == shown[0].rstrip()
                assert refused.value.code == code
            else:
                runpy.run_path(str(path))
                assert capsys.readouterr().out
    finally:
        sys.modules.pop("model", None)


def test_the_command_prints_the_page_that_the_error_names(capsys):
    error = S2SError("S2S207", "memory")
    assert str(error).endswith("  more: s2s-ad help S2S207")
    assert main(["help", "s2s207"]) == 0
    assert capsys.readouterr().out == (FOLDER / "S2S207.md").read_text(encoding="utf-8")
    assert main(["help"]) == 0
    assert [line[:6] for line in capsys.readouterr().out.splitlines()] == list(CATALOGUE)
    assert main(["help", "S2S999"]) == 2
    assert "no code of an error" in capsys.readouterr().err
