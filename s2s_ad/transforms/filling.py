"""Adjoints whose parts are all known, as one array: np.array, np.stack, np.concatenate.

Of `y = x[:2]` and `z = x[2:]` the adjoint of x is zeros into which y_bar and z_bar are put. Where
facts say that the parts fill the array it is `np.concatenate([y_bar, z_bar])`. Elements that have
no adjoint stay zeros that nobody multiplies: see rules/masks.py.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import sizes, values
from s2s_ad.core.builder import Builder, key_of

MOST = 32  # numbers in one display

Parts = Mapping[Any, tuple[Any, Any]]  # by a key of the item of the index: (the item, the part)


def filled(builder: Builder, adjoint: Any) -> Any:
    """The adjoint as one array of its parts, where these are known to fill it; else itself."""
    fact = builder.fact(adjoint)
    if not isinstance(fact, values.Array) or not fact.shape or fact.dtype is None:
        return adjoint
    zeros, added = _added(builder, adjoint)
    rank = len(fact.shape)
    taken = [each for index, _ in added if (each := _taken(builder, index, rank)) is not None]
    axes = {axis for axis, _ in taken}
    if zeros is None or len(taken) < len(added) or len(axes) != 1:
        return adjoint
    (axis,), parts = axes, {}
    for (_, item), (_, part) in zip(taken, added, strict=True):
        key = key_of(item)
        parts[key] = (item, parts[key][1] + part if key in parts else part)
    dtypes = [values.strong_dtype(builder.fact(part)) for _, part in parts.values()]
    if not all(values.is_dtype(each, fact.dtype) for each in dtypes):
        return adjoint
    whole = _stacked if any(type(item) is int for item, _ in parts.values()) else _joined
    made = whole(builder, parts, zeros, fact.shape, axis)
    return adjoint if made is None else made


def _added(builder: Builder, adjoint: Any) -> tuple[Any, list[tuple[Any, Any]]]:
    """(the zeros, the indices and values that were added to them); None where it is no such sum."""
    base, sums = builder.applied(adjoint, runtime.index_add)
    rule, operands, _ = builder.definition(base)
    added = [(params["index"], operands[1]) for operands, params in sums]
    if rule is None or rule.like_position is None:
        return None, added
    number = operands[0] if rule.like_position == 1 else None
    is_number = type(number) in (int, float)
    zeros = number == 0 if is_number else rule.like_position == 0 and rule.zeros
    return (operands[rule.like_position] if zeros and added else None), added


def _taken(builder: Builder, index: Any, rank: int) -> tuple[int, Any] | None:
    """(axis, number or slice) of an index that takes a part of one axis and all of the others."""
    items = index if isinstance(index, tuple) else (index,)
    if len(items) > rank or not all(_is_plain(builder, each) for each in items):
        return None
    chosen = [(axis, item) for axis, item in enumerate(items) if not _takes_all(item)]
    return chosen[0] if len(chosen) == 1 else None


def _is_plain(builder: Builder, item: Any) -> bool:
    """Whether it is a number that is known, or a slice between places that are not below 0."""
    if isinstance(item, slice):
        bounds = [_size(builder, each) for each in (item.start, item.stop) if each is not None]
        return item.step is None and all(map(_is_natural, bounds))
    return _is_count(item)


def _takes_all(item: Any) -> bool:
    return isinstance(item, slice) and all(e is None for e in (item.start, item.stop, item.step))


def _size(builder: Builder, bound: Any) -> sizes.Size | None:
    return builder.size(0 if bound is None else bound)


def _is_natural(size: sizes.Size | None) -> bool:
    return size is not None and sizes.at_least(size, sizes.of(0))


def _is_count(item: Any) -> bool:
    return type(item) is int and item >= 0


def _stacked(builder: Builder, parts: Parts, zeros: Any, whole: values.Shape, axis: int) -> Any:
    """Rows that are all there, side by side."""
    rest = (*whole[:axis], *whole[axis + 1 :])
    same = all(values.same_shape(_shape(builder, part), rest) for _, part in parts.values())
    items = {item: part for item, part in parts.values() if type(item) is int}
    if not same or len(items) < len(parts) or len(items) > MOST:
        return None
    if sorted(items) != [*range(len(items))] or not _has_length(whole[axis], len(items)):
        return None
    return builder.call(np.stack, ([items[i] for i in sorted(items)],), {"axis": axis})


def _has_length(dim: int | values.Dim, length: int) -> bool:
    """Whether that is so by what is known, or in the call that the code is compiled for."""
    size = dim.size if isinstance(dim, values.Dim) else sizes.of(dim)
    return sizes.equals(size, sizes.of(length))


def _joined(builder: Builder, parts: Parts, zeros: Any, whole: values.Shape, axis: int) -> Any:
    """Slices that follow each other, from the first element to the last."""
    slices = _in_a_row(builder, parts)
    if len(slices) < 2:
        return None
    last = slices[-1][0].stop
    if last is not None and _size(builder, last) != values.size_of_dim(whole[axis]):
        return None
    for item, part in slices:
        index = (*(slice(None),) * axis, item) if axis else item
        if not _fits(builder, part, zeros, index, whole, axis):
            return None
    return builder.call(np.concatenate, ([part for _, part in slices],), {"axis": axis})


def _in_a_row(builder: Builder, parts: Parts) -> list[tuple[Any, Any]]:
    """The slices, of which the first begins at 0 and each other one where the one before ends."""
    starts = {_size(builder, item.start): (item, part) for item, part in parts.values()}
    found, place = [], sizes.of(0)
    while place in starts:
        item, part = starts.pop(place)
        found.append((item, part))
        stop = None if item.stop is None else _size(builder, item.stop)
        if stop is None or not sizes.at_least(stop, place):
            break
        place = stop
    return [] if len(found) < len(parts) else found


def _fits(
    builder: Builder, part: Any, zeros: Any, index: Any, whole: values.Shape, axis: int
) -> bool:
    """Whether a part is certain to have the shape of the slice that it is added to."""
    shape = _shape(builder, part)
    if shape is None or len(shape) != len(whole):
        return False
    if not all(values.same_dim(shape[i], whole[i]) for i in range(len(shape)) if i != axis):
        return False
    taken = builder.found(operator.getitem, zeros, index=index)
    same = taken is not None and taken.shape is not None and taken.shape[axis] == shape[axis]
    return same or values.known_not_one(shape[axis])


def _shape(builder: Builder, value: Any) -> values.Shape | None:
    return values.shape_of(builder.fact(value))
