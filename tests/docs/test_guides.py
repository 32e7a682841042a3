"""The guides for those who add rules and constructs do what they say."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from s2s_ad.cli import main
from s2s_ad.core.registry import RULES
from s2s_ad.frontend.lower.core import HANDLERS

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDES = ["writing_rules", "writing_constructs"]


def blocks(guide, language):
    text = (DOCS / f"{guide}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.fixture
def tables():
    """What a guide adds to the compiler is gone after it."""
    before = [(table, dict(table)) for table in (RULES, HANDLERS)]
    yield
    for table, entries in before:
        table.clear()
        table.update(entries)


COMMANDS = [
    (shlex.split(command)[1:], lines)
    for guide in GUIDES
    for block in blocks(guide, "console")
    for command, *lines in [block.removeprefix("$ ").rstrip("\n").split("\n")]
]


@pytest.mark.parametrize("command, lines", COMMANDS)
def test_commands_print_what_the_page_says(command, lines, capsys):
    status = main(command)
    printed = capsys.readouterr().out.split("\n")
    assert status == (0 if "passed" in lines else 1)
    places = [printed.index(line) for line in lines]
    assert places == sorted(places)


@pytest.mark.parametrize("guide", GUIDES)
def test_the_programs_of_a_page_run(guide, tables, tmp_path):
    path = tmp_path / f"{guide}.py"
    path.write_text("\n".join(blocks(guide, "python")), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(guide, path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def test_the_row_of_the_guide_is_the_one_in_the_table():
    table = (DOCS.parent / "s2s_ad/rules/elementwise_table.py").read_text(encoding="utf-8")
    rows = [line.strip() for _, lines in COMMANDS for line in lines if "elementwise(" in line]
    assert rows
    assert all(row in table for row in rows)
