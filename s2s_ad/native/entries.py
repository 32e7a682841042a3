"""What the statements of a function read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form, values
from s2s_ad.emit.variables import Entry


def carried(entry: Entry) -> list[str]:
    """The variables that a loop assigns at the end of each pass."""
    last = [each for each in entry.blocks[-1] if each.kind == "moves"]
    return [core for each in last for core, _ in each.moves]


def is_number(item: Any) -> bool:
    return values.rank_of(item) == 0 and dtype_of(item) is not None


def keyword(call_: gast.Call, key: str) -> gast.AST:
    return next(each.value for each in call_.keywords if each.arg == key)


def dtype_of(fact: Any) -> np.dtype | None:
    if isinstance(fact, values.Scalar):
        return np.dtype(fact.kind) if fact.kind in (bool, int, float, complex) else None
    return getattr(fact, "dtype", None)


def inner_of(entry: Entry) -> list[Entry]:
    return [each for block in entry.blocks for each in block]


def every(entries: Sequence[Entry]) -> Iterator[Entry]:
    for each in entries:
        yield each
        for block in each.blocks:
            yield from every(block)


def names_in_atoms(nodes: Any) -> Iterator[str]:
    for node in nodes:
        yield from form.reads(node)


def read_by(entry: Entry) -> list[str]:
    """The names that an entry itself reads, each as often as it does."""
    found = list(names_in_atoms(atom for _, atom in entry.moves))
    if entry.store is not None:
        found.append(entry.store.base)
    if entry.kind == "for":
        found += names_in_atoms(entry.call)
    elif entry.kind == "store" and entry.store.kind == "update":
        found += form.reads(entry.store.value)
    elif entry.kind == "store":
        found += [
            *names_in_atoms(entry.call.args[1:]),
            *names_in_atoms(each.value for each in entry.call.keywords),
        ]
    elif entry.call is not None:
        found += form.reads(entry.call)
    if entry.test is not None:
        found += form.reads(entry.test)
    return found
