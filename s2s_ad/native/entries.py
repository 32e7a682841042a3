"""What the statements of a function read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from s2s_ad.core import form, values
from s2s_ad.emit.lines import Line


def is_number(item: Any) -> bool:
    return values.rank_of(item) == 0 and dtype_of(item) is not None


def dtype_of(fact: Any) -> np.dtype | None:
    if isinstance(fact, values.Scalar):
        return np.dtype(fact.kind) if fact.kind in (bool, int, float, complex) else None
    return getattr(fact, "dtype", None)


def inner_of(line: Line) -> list[Line]:
    return [each for block in line.blocks for each in block]


def names_in_atoms(nodes: Any) -> Iterator[str]:
    for node in nodes:
        yield from form.reads(node)
