"""Writes docs/rules.md from the coverage table and from what its tests have on record.

python docs/make_rules.py            the page alone
python docs/make_rules.py --measure  runs every program first, and records what it does (minutes)
python docs/make_rules.py --measure scipy.signal numpy.clip  the same for some modules or rows
"""

from __future__ import annotations

import csv
import pathlib
import sys
from collections import Counter
from itertools import groupby

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "rules.md"
sys.path.insert(0, str(ROOT / "tests"))

from rules import probes

HEAD = """\
# The rule tables

<!-- Written by docs/make_rules.py from tests/data/coverage.csv and tests/data/rules.csv. -->

One row per function, one program per row. A cell says what the compiler does with that program, and
`tests/rules/test_coverage.py` runs them all. *yes* is checked: reverse and forward mode and second
order against central differences, `batch` against a loop over samples, `complex` against those
along both axes of the complex plane. *refused* is an error that names the place and the reason; —
means that NumPy or SciPy has no such form: of complex numbers it raises, drops the imaginary parts
or gives nan, or it is a distribution of real numbers. `in place` is `out=`. What is said of ties,
steps, bounds and zeros is run by `tests/rules/test_conventions.py`. The properties of each function
(every keyword, shape and dtype) are in `tests/rules`.
"""
MARKS = {"yes": "yes", "refused": "*refused*", "none": "—"}
PEERS = {
    "autograd": ("autograd_vjp", "autograd_jvp"),
    "JAX": ("jax", "jax"),
    "PyTorch": ("torch", "torch"),
    "MindSpore": ("mindspore", "mindspore"),
}


def counts() -> dict[str, dict[str, int]]:
    """How many functions of the list each library takes in reverse and in forward mode."""
    cells = Counter(
        column
        for row in probes.recorded().values()
        for column in probes.COLUMNS
        if row[column] == "yes"
    )
    found = {"s2s_ad": {mode: cells[mode] for mode in ("reverse", "forward")}}
    for name, columns in PEERS.items():
        modes = zip(("reverse", "forward"), columns, strict=True)
        found[name] = {
            mode: sum(row.peers[column] == "y" for row in probes.rows()) for mode, column in modes
        }
    return found


def page() -> str:
    """The text of the page."""
    return "\n".join([HEAD, *_summary(), *_tables(), *_refusals()])


def _table(head: list[str], lines: list[list[str]]) -> list[str]:
    rule = ["---"] * len(head)
    return [f"| {' | '.join(each)} |" for each in [head, rule, *lines]] + [""]


def _summary() -> list[str]:
    lines = [[name, str(each["reverse"]), str(each["forward"])] for name, each in counts().items()]
    total = len(probes.rows())
    return [f"Of {total} functions:", "", *_table(["library", "reverse", "forward"], lines)]


def _tables() -> list[str]:
    recorded, conventions, lines = probes.recorded(), _conventions(), []
    for module, group in groupby(probes.rows(), lambda row: row.module):
        rows = list(group)
        said = any((module, row.name) in conventions for row in rows)
        cells = [
            [f"`{row.name}`".replace("|", "\\|")]
            + [MARKS[recorded[module, row.name][column]] for column in probes.COLUMNS]
            + [conventions.get((module, row.name), "")] * said
            for row in rows
        ]
        head = ["function", *probes.COLUMNS, *["at ties and edges"] * said]
        lines += [f"## {module}", "", *_table(head, cells)]
    return lines


def _conventions() -> dict[tuple[str, str], str]:
    """What is said of a function at points where there is no derivative, or more than one."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    with (probes.DATA / "conventions.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault((row["module"], row["name"]), {})[row["convention"]] = None
    return {key: "; ".join(texts) for key, texts in found.items()}


def _refusals() -> list[str]:
    lines = [
        [f"`{module}` `{name}`".replace("|", "\\|"), cells["reason"].replace("|", "\\|")]
        for (module, name), cells in probes.recorded().items()
        if cells["reason"]
    ]
    return ["## What is refused, and why", "", *_table(["function", "reason"], lines)]


if __name__ == "__main__":
    if "--measure" in sys.argv:
        probes.record(sys.argv[sys.argv.index("--measure") + 1 :])
    PAGE.write_text(page(), encoding="utf-8")
