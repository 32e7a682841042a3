"""What `explain` says: the values that the backward pass needs, and how each is had."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad.core import sizes, tree, values
from s2s_ad.core.callee import reached
from s2s_ad.core.program import Program
from s2s_ad.core.sizes import Atom
from s2s_ad.diagnostics import Origin
from s2s_ad.emit.copied import Copied, copies_of
from s2s_ad.emit.text import Text
from s2s_ad.native.cutting import places_of
from s2s_ad.storage.report import Kept, passes, report

HEAD = ("name", "line", "bytes", "kept", "why")
NATIVE_HEAD = ("line", "native code", "why the rest is not")
COPIES_HEAD = ("copy", "line", "bytes", "made", "why")


@dataclass(frozen=True, slots=True)
class KeptValue:
    """One value that is kept, as the reader is told.

    `names` are its Core names; `size` says how many bytes it takes in all, or in each pass.
    """

    names: tuple[str, ...]
    name: str
    line: str
    size: str
    when: str
    why: str

    @property
    def cells(self) -> tuple[str, ...]:
        return self.name, self.line, self.size, self.when, self.why


@dataclass(frozen=True, slots=True)
class Explained:
    """What a program keeps for its backward pass, and how long its text is."""

    statements: int
    lines: int
    kept: tuple[KeptValue, ...]
    total: str


def explained(program: Program, text: Text, arguments: dict[str, Any]) -> Explained:
    """What is kept, with bytes for these arguments, and the total."""
    given = leaves_of(program, arguments)
    lengths = input_lengths(program, given)
    rows, total, more = [], 0, []
    for kept in report(program):
        name = next((text.shown[each] for each in kept.names if each in text.shown), None)
        if name is None:
            continue  # written inside the expression that reads it
        one = byte_count(kept.fact, lengths) if kept.owns else 0
        count = pass_count(program, kept, given)
        if one is not None and count is not None:
            total, shown = total + one * count, f"{one * count:,}"
        else:
            shown = f"{_one(kept.fact, one)}{' a pass' if kept.loops else ''}"
            more.append(f"{shown} of {name}")
        line = str(kept.origin.root) if kept.origin else "-"
        rows.append(KeptValue(kept.names, name, line, shown, _when(kept), kept.why))
    whole = " and ".join([f"{total:,} bytes", *more]) if rows else ""
    return Explained(_statements(text), _users(program), tuple(rows), whole)


def explanation(program: Program, text: Text, arguments: dict[str, Any]) -> str:
    """A table of what is kept, with bytes for these arguments, and the total."""
    found = explained(program, text, arguments)
    title = f"{text.name}: {found.statements} statements for {found.lines} lines of yours"
    if text.cut is not None:
        count = len(text.cut.parts)
        title += f"\nnative code: {count} part{'s' * (count > 1)}, between them NumPy"
        title += f", for {text.refused}"
    elif text.native:
        title += "\nnative code: loops that Numba has compiled"
    elif text.refused:
        title += f"\nno native code: {text.refused}"
    if text.assumed:
        title += f"\nfor arguments with {', '.join(text.assumed)}"
    if not found.kept:
        return f"{title}\nnothing is kept for a backward pass"
    lines = _table([HEAD, *(each.cells for each in found.kept)])
    return "\n".join([title, *lines, f"kept in all: {found.total}"])


def copies_explained(program: Program, arguments: Mapping[str, Any]) -> str:
    """A table of the copies in the text, with bytes for these arguments, and why each is made."""
    lengths = input_lengths(program, leaves_of(program, arguments))
    rows = [_copy_cells(each, lengths) for each in copies_of(program)]
    return "\n".join(_table([COPIES_HEAD, *rows])) if rows else "nothing is copied"


def native_explained(program: Program, text: Text) -> str:
    """A table of the user's lines: which native code each is in, or why in none."""
    lines: dict[int, tuple[dict[str, None], dict[str, None]]] = {}
    names = {} if text.cut is None else {e.program.part: e.name for e in text.cut.parts}
    whole = text.name if text.native and text.cut is None else ""
    for each in places_of(program) if text.cut is None else text.cut.places:
        if each.statement.origin is not None:
            parts, reasons = lines.setdefault(each.statement.origin.root, ({}, {}))
            name = whole or names.get(each.part, "")
            (parts if name else reasons)[name or each.reason] = None
    rows = [(str(k), ", ".join(p) or "-", "; ".join(r)) for k, (p, r) in sorted(lines.items())]
    return "\n".join(each.rstrip() for each in _table([NATIVE_HEAD, *rows]))


def _copy_cells(copied: Copied, lengths: Mapping[Atom, int]) -> tuple[str, ...]:
    size = "unknown"
    if copied.fact is not None:
        size = _one(copied.fact, byte_count(copied.fact, lengths))
    line = str(copied.origin.root) if copied.origin else "-"
    return copied.text, line, size, _passes_of(copied.loops), copied.why


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    """The lines of a table, whose last column may be as wide as it likes."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    return [
        "  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[-1]])
        for row in rows
    ]


def _statements(text: Text) -> int:
    """How many statements the functions of a text have, their docstrings apart."""
    functions = ast.parse(text.function).body
    inside = (each for function in functions for each in ast.walk(function))
    return sum(isinstance(each, ast.stmt) for each in inside) - 2 * len(functions)


def _users(program: Program) -> int:
    """How many lines of the user's a program computes."""
    blocks = [program, *(each for compound in reached([program]) for each in compound.blocks)]
    origins = [statement.origin for block in blocks for statement in block.body]
    return len({(each.file, each.line) for each in origins if each is not None})


def _one(fact: values.AbstractValue, count: int | None) -> str:
    """The bytes of one value; those of an element where its shape shows when it runs."""
    if count is not None:
        return f"{count:,}"
    if isinstance(fact, values.List):
        return "8 an item"
    dtype = values.strong_dtype(fact)
    return "unknown" if dtype is None else f"{dtype.itemsize} an element"


def _when(kept: Kept) -> str:
    return _passes_of([each.origin for each in kept.loops])


def _passes_of(loops: Sequence[Origin | None]) -> str:
    """once, or: each pass of line 6, of line 4 (the innermost loop first)."""
    if not loops:
        return "once"
    lines = [f"line {each.root}" if each else "a loop" for each in loops]
    return f"each pass of {' of '.join(reversed(lines))}"


def pass_count(program: Program, kept: Kept, given: Mapping[str, Any]) -> int | None:
    """How many times it is kept; None where only the run tells."""
    counts = [passes(program, each, given) for each in kept.loops]
    return None if None in counts else math.prod(counts)


def leaves_of(program: Program, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The value of each leaf; none without arguments."""
    return {
        leaf: tree.follow(arguments[each.name], path)
        for each in program.inputs
        if each.name in arguments
        for path, leaf in zip(tree.paths(each.tree), tree.leaves(each.tree), strict=True)
    }


def input_lengths(program: Program, given: Mapping[str, Any]) -> dict[Atom, int]:
    """The lengths of the inputs in this call."""
    found: dict[Atom, int] = {}
    for leaf, value in given.items():
        found |= values.lengths_of(program.facts[leaf], np.shape(value))
    return found


def byte_count(fact: values.AbstractValue, lengths: Mapping[Atom, int]) -> int | None:
    """The bytes of a value of this abstract value; None where a length is not known."""
    if isinstance(fact, values.Scalar):
        return 8
    if not isinstance(fact, values.Array) or fact.shape is None or fact.dtype is None:
        return None
    count = fact.dtype.itemsize
    for dim in fact.shape:
        length = sizes.value_of(values.size_of_dim(dim), lengths)
        if length is None:
            return None
        count *= length
    return count
