"""The README shows what the library does: its programs are run, and what follows is compared."""

import itertools
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def run(arguments, folder):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    return done.stdout


def programs():
    """(name, text, what follows) of each block that starts with the name of a file."""
    for (_, text), (_, following) in itertools.pairwise(BLOCKS):
        if name := re.match(r"# (\w+\.py)\n", text):
            yield name[1], text, following


def test_programs_print_the_blocks_that_follow_them(tmp_path):
    shown = list(programs())
    assert len(shown) >= 2
    for name, text, following in shown:
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert run([name], tmp_path).rstrip("\n") == following.rstrip("\n"), name


def test_commands_print_what_is_shown_below_them(tmp_path):
    for name, text, _ in programs():
        (tmp_path / name).write_text(text, encoding="utf-8")
    consoles = [text for kind, text in BLOCKS if kind == "console"]
    assert consoles
    for command, expected in re.findall(
        r"^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)", "".join(consoles), re.M
    ):
        program, *arguments = shlex.split(command.replace("\\\n", " "))
        assert program == "s2s-ad"
        printed = run(["-m", "s2s_ad.cli", *arguments], tmp_path)
        assert without_rounding(printed) == without_rounding(expected), command


def without_rounding(text):
    """Errors of rounding differ from machine to machine."""
    return re.sub(r"\b\d\.\de-1\d\b", "tiny", text)


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|^    )make ([a-z-]+)", README, re.MULTILINE))
    assert {"run", "test"} <= named
    for target in named:
        assert f"\n{target}:" in makefile


def test_links_lead_to_files_that_are_there():
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", README):
        assert (ROOT / link).exists(), link
