"""What `explain` says: the values that the backward pass needs, and how each is had."""

from __future__ import annotations

from typing import Any

from s2s_ad.core import tree, values
from s2s_ad.core.program import Program
from s2s_ad.emit.write import Text
from s2s_ad.storage.plan import plan

HEAD = ("name", "line", "bytes", "how")


def explanation(program: Program, text: Text, arguments: dict[str, Any]) -> str:
    """A table of what is kept, with bytes for these arguments, and the total."""
    sizes = symbol_sizes(program, arguments)
    rows, total = [], 0
    for kept in plan(program):
        if kept.name not in text.shown:
            continue  # written inside the expression that reads it
        count = byte_count(program.facts[kept.name], sizes) if kept.owns else 0
        total += count or 0
        line = str(kept.origin.root) if kept.origin else "-"
        shown = "unknown" if count is None else f"{count:,}"
        rows.append((text.shown[kept.name], line, shown, f"{kept.how}: {kept.why}"))
    title = f"{text.name}: {text.statements} statements"
    if not rows:
        return f"{title}\nnothing is kept for a backward pass"
    widths = [max(len(row[i]) for row in (HEAD, *rows)) for i in range(3)]
    lines = [
        "  ".join([*(cell.ljust(w) for cell, w in zip(row[:3], widths, strict=True)), row[3]])
        for row in (HEAD, *rows)
    ]
    return "\n".join([title, *lines, f"kept in all: {total:,} bytes"])


def symbol_sizes(program: Program, arguments: dict[str, Any]) -> dict[int, int]:
    """The length that each symbol of the inputs' shapes stands for."""
    sizes = {}
    for each in program.inputs:
        for path, leaf in zip(tree.paths(each.tree), tree.leaves(each.tree), strict=True):
            fact = program.facts[leaf]
            if isinstance(fact, values.Array) and fact.shape is not None:
                actual = tree.follow(arguments[each.name], path).shape
                for dim, length in zip(fact.shape, actual, strict=True):
                    if isinstance(dim, values.Dim):
                        sizes[dim.base] = length + dim.drop
    return sizes


def byte_count(fact: values.AbstractValue, sizes: dict[int, int]) -> int | None:
    """The bytes of a value of this abstract value; None where a length is not known."""
    if isinstance(fact, values.Scalar):
        return 8
    if not isinstance(fact, values.Array) or fact.shape is None or fact.dtype is None:
        return None
    count = fact.dtype.itemsize
    for dim in fact.shape:
        if isinstance(dim, int):
            count *= dim
        elif dim.base in sizes:
            count *= max(sizes[dim.base] - dim.drop, 0)
        else:
            return None
    return count
