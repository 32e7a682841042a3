"""Arrays turned, broadcast, cut and joined: written with transpose, index and concatenate."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Symbol, static
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.joining import of_items
from s2s_ad.rules.unpacking import unpacking

# ---- axes ----------------------------------------------------------------------------------------


def _rot90(x: Symbol, k: Any, axes: Any) -> Any:
    rank = support.known_rank(x, "np.rot90")
    first, second = support.normal_axes(tuple(static(axes, "axes of np.rot90")), rank)
    turns = static(k, "k of np.rot90") % 4
    if turns == 2:
        return np.flip(x, axis=(first, second))
    if turns == 1:
        return np.swapaxes(np.flip(x, axis=second), first, second)
    return np.flip(np.swapaxes(x, first, second), axis=second) if turns else x


def _rollaxis(x: Symbol, axis: Any, start: Any) -> Any:
    rank = support.known_rank(x, "np.rollaxis")
    axis, start = static((axis, start), "the axes of np.rollaxis")
    axis = support.normal_axis(axis, rank)
    start = start + rank if start < 0 else start
    return np.moveaxis(x, axis, start - 1 if axis < start else start)


def _at_least(count: int) -> Any:
    """np.atleast_1d and so on: of one array an array, of several a tuple."""

    def extended(x: Any) -> Any:
        x = x if isinstance(x, Symbol) else np.asarray(x)
        rank = support.known_rank(x, f"np.atleast_{count}d") if isinstance(x, Symbol) else x.ndim
        if rank >= count:
            return x
        indices = tuple(range(count - rank))
        if count == 3 and rank:  # NumPy puts the last axis at the end
            indices = (2,) if rank == 2 else (0, 2)
        return np.expand_dims(x, indices[0] if len(indices) == 1 else indices)

    def meaning(arrays: tuple) -> Any:
        made = [extended(_array(arrays, each)) for each in arrays]
        return made[0] if len(made) == 1 else tuple(made)

    return meaning


def _array(arrays: Any, value: Any) -> Any:
    """One of several arguments as an array: the builder is that of any of them."""
    builder = next((each.builder for each in _symbols(arrays)), None)
    if builder is None or isinstance(value, Symbol):
        return value
    return builder.call(np.array, (value,), {})


def _symbols(value: Any) -> list:
    if isinstance(value, tuple | list):
        return [symbol for each in value for symbol in _symbols(each)]
    return [value] if isinstance(value, Symbol) else []


def joint_shape(arrays: list, name: str) -> tuple:
    """The lengths of what the arrays broadcast to."""
    shapes = [support.shape(each) for each in arrays]
    wanted = values.broadcast(shapes)
    if wanted is None:
        support.known_rank(next(each for each in arrays if support.rank(each) is None), name)
    return tuple(_joint_length(arrays, axis, len(wanted), dim) for axis, dim in enumerate(wanted))


def _joint_length(arrays: list, axis: int, rank: int, dim: Any) -> Any:
    if isinstance(dim, int):
        return dim
    for each in arrays:
        own = axis - rank + len(support.shape(each))
        if own >= 0 and support.shape(each)[own] == dim:
            return support.length(each, own)
    raise ArgumentValueError("S2S205", "arrays that are broadcast: which is longer is not known")


def _broadcast_arrays(args: tuple, subok: Any) -> tuple:
    arrays = [_array(args, each) for each in args]
    shape = joint_shape(arrays, "np.broadcast_arrays")
    return tuple(np.broadcast_to(each, shape) for each in arrays)


# ---- parts ---------------------------------------------------------------------------------------


def _array_split(x: Symbol, indices_or_sections: Any, axis: Any) -> list:
    """np.split with parts that differ in length by one where they have to."""
    parts, axis = static((indices_or_sections, axis), "where np.array_split cuts")
    if isinstance(parts, tuple | list):
        return np.split(x, parts, axis=axis)
    axis = support.normal_axis(axis, support.known_rank(x, "np.array_split"))
    length = support.length(x, axis)
    bounds = [_bound(length, i, parts) for i in range(1, parts)]
    pairs = zip([None, *bounds], [*bounds, None], strict=True)
    return [x[support.at(axis, slice(*pair))] for pair in pairs]


def _bound(length: Any, index: int, parts: int) -> Any:
    """Where the part at an index begins: the first length % parts are longer by one."""
    longer = length % parts
    most = min(index, longer) if isinstance(longer, int) else np.minimum(index, longer)
    return index * (length // parts) + most


def _split_along(axis: int, least: int) -> Any:
    def meaning(x: Symbol, indices_or_sections: Any) -> list:
        if support.known_rank(x, "a split") < least:
            raise ValueError(f"a split along axis {axis} of an array with less than {least} axes")
        return np.split(x, indices_or_sections, axis=axis)

    return meaning


def _hsplit(x: Symbol, indices_or_sections: Any) -> list:
    vector = support.known_rank(x, "np.hsplit") == 1
    return np.split(x, indices_or_sections, axis=0 if vector else 1)


def _unstack(x: Symbol, axis: Any) -> Any:
    """The rows: a list where their number is not known."""
    axis = support.normal_axis(static(axis, "the axis"), support.known_rank(x, "np.unstack"))
    if isinstance(x.shape[axis], int):
        rows = np.moveaxis(x, axis, 0) if axis else x
        return tuple(unpacking(x.shape[axis]).items(x.builder, rows))
    return x.builder.call(runtime.list_rows, (np.moveaxis(x, axis, 0) if axis else x,), {})


# ---- joints --------------------------------------------------------------------------------------


def _dstack(tup: Any) -> Any:
    if isinstance(tup, Symbol):
        ways = [lambda x: np.reshape(x, (1, 1, -1)), lambda x: x.T[None]]
        return of_items(tup, 2, [*ways, lambda x: np.moveaxis(x, 0, 2)])
    return np.concatenate([np.atleast_3d(_array(tup, each)) for each in tup], axis=2)


def _block(arrays: Any) -> Any:
    """The innermost lists are joined along the last axis, those around along the one before."""
    depth = _depth(arrays)
    ranks = [support.known_rank(each, "np.block") for each in _symbols(arrays)]
    return _joined(arrays, arrays, depth, max([depth, *ranks]))


def _depth(arrays: Any) -> int:
    return 1 + max(map(_depth, arrays)) if isinstance(arrays, list) else 0


def _joined(whole: Any, part: Any, depth: int, rank: int) -> Any:
    if isinstance(part, list):
        parts = [_joined(whole, each, depth - 1, rank) for each in part]
        return np.concatenate(parts, axis=rank - depth)
    x = _array(whole, part)
    missing = rank - support.known_rank(x, "np.block")
    return np.expand_dims(x, tuple(range(missing))) if missing else x


composite(np.array_split, "x, indices_or_sections, axis=0", _array_split)
composite(np.atleast_1d, "*arrays", _at_least(1))
composite(np.atleast_2d, "*arrays", _at_least(2))
composite(np.atleast_3d, "*arrays", _at_least(3))
composite(np.block, "arrays", _block)
composite(np.broadcast_arrays, "*args, subok=False", _broadcast_arrays, gives_array=True)
composite(np.dsplit, "x, indices_or_sections", _split_along(2, 3))
composite(np.dstack, "tup", _dstack)
composite(np.hsplit, "x, indices_or_sections", _hsplit)
composite(np.matrix_transpose, "x", lambda x: np.swapaxes(x, -1, -2))
composite(np.rollaxis, "x, axis, start=0", _rollaxis)
composite(np.rot90, "x, k=1, axes=(0, 1)", _rot90)
composite(np.unstack, "x, /, *, axis=0", _unstack)
composite(np.vsplit, "x, indices_or_sections", _split_along(0, 2))
