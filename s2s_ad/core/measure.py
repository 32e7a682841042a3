"""Ranks, shapes and lengths of values: of Symbols by their facts, of numbers as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import NeedKind, Symbol
from s2s_ad.core.rule import CannotBatch


def rank(value: Any) -> int | None:
    return value.ndim if isinstance(value, Symbol) else 0


def shape(value: Any) -> values.Shape | None:
    return value.shape if isinstance(value, Symbol) else ()


def length(x: Any, axis: int) -> Any:
    """The length of one axis: a number where it is known, else a Symbol."""
    dim = None if x.shape is None else x.shape[axis]
    return dim if isinstance(dim, int) else np.size(x, axis)


def lengths(x: Symbol, axes: Any) -> list:
    return [length(x, axis) for axis in axes]


def known_rank(x: Symbol) -> int:
    """The rank of an array of which it is known that it is known."""
    if x.ndim is None:
        raise NeedKind(x.name, "the number of axes")
    return x.ndim


def all_lengths(x: Symbol) -> list:
    """The lengths of all axes of an array of known rank."""
    return lengths(x, range(known_rank(x)))


def sample_rank(value: Any, batched: bool) -> int:
    """The rank of one sample; raises CannotBatch where it is not known."""
    ndim = rank(value)
    if ndim is None:
        raise CannotBatch
    return ndim - 1 if batched else ndim
