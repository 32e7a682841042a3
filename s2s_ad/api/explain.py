"""What `explain` says: the values that the backward pass needs, and how each is had."""

from __future__ import annotations

from typing import Any

from s2s_ad.core import tree, values
from s2s_ad.core.program import Program
from s2s_ad.emit.write import Text
from s2s_ad.storage.plan import plan


def explanation(program: Program, text: Text, abstract: dict[str, Any], arguments: dict) -> str:
    """A table of what is kept, with bytes for these arguments, and the total."""
    sizes = symbol_sizes(abstract, arguments)
    rows, total = [], 0
    for kept in plan(program):
        count = byte_count(kept.fact, sizes)
        total += count or 0
        shown = "unknown" if count is None else f"{count:,}"
        rows.append((kept.label, kept.place, shown, kept.how))
    lines = [f"{text.name}: {text.statements} statements"]
    if not rows:
        return "\n".join([*lines, "nothing is kept for a backward pass"])
    head = ("name", "line", "bytes", "how")
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(3)]
    for row in [head, *rows]:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[3]]).rstrip())
    lines.append(f"kept in all: {total:,} bytes")
    return "\n".join(lines)


def symbol_sizes(abstract: dict[str, Any], arguments: dict[str, Any]) -> dict[int, int]:
    """The length that each symbol of the arguments' shapes stands for."""
    sizes = {}
    for name, fact in abstract.items():
        for path, leaf in zip(tree.paths(fact), tree.leaves(fact), strict=True):
            if isinstance(leaf, values.Array):
                actual = tree.follow(arguments[name], path).shape
                for dim, length in zip(leaf.shape, actual, strict=True):
                    if isinstance(dim, values.Dim):
                        sizes[dim.base] = length
    return sizes


def byte_count(fact: Any, sizes: dict[int, int]) -> int | None:
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
