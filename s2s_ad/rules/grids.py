"""Grids and ranges of places: np.meshgrid, np.mgrid, np.r_, np.indices, triangles of indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composed

# ---- grids ---------------------------------------------------------------------------------------


def _opened(axes: list) -> list:
    """Each vector along an axis of its own."""
    rank = len(axes)
    return [
        np.expand_dims(each, tuple(i for i in range(rank) if i != index)) if rank > 1 else each
        for index, each in enumerate(axes)
    ]


def _filled(opened: list) -> list:
    shape = tuple(support.length(each, axis) for axis, each in enumerate(opened))
    return [np.broadcast_to(each, shape) for each in opened]


def _meshgrid(builder: Builder, xi: tuple, copy: Any, sparse: Any, indexing: Any) -> tuple:
    sparse, indexing = static((sparse, indexing), "sparse and indexing of np.meshgrid")
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    axes = [np.ravel(_array(builder, each)) for each in xi]
    swapped = indexing == "xy" and len(axes) > 1
    if swapped:
        axes[:2] = axes[1::-1]
    opened = _opened(axes)
    made = opened if sparse else _filled(opened)
    if swapped:
        made[:2] = made[1::-1]
    return tuple(made)


def _array(builder: Builder, value: Any) -> Any:
    return value if isinstance(value, Symbol) else builder.call(np.array, (value,), {})


def _range(builder: Builder, part: slice) -> Any:
    """The numbers that a slice stands for; an imaginary step is their count."""
    step = static(part.step, "the step of a grid")
    start = 0 if part.start is None else part.start
    if isinstance(step, complex):
        return builder.call(np.linspace, (start, part.stop, int(abs(step))), {})
    if step is not None:
        return builder.call(np.arange, (start, part.stop, step), {})
    counts = type(start) is int and start == 0
    return builder.call(np.arange, (part.stop,) if counts else (start, part.stop), {})


def _ogrid(builder: Builder, index: Any) -> Any:
    if isinstance(index, slice):
        return _range(builder, index)
    return tuple(_opened([_range(builder, each) for each in index]))


def _mgrid(builder: Builder, index: Any) -> Any:
    if isinstance(index, slice):
        return _range(builder, index)
    axes = [_range(builder, each) for each in index]
    dtype = np.result_type(*(each.dtype for each in axes))
    same = [each if values.is_dtype(each.dtype, dtype) else each.astype(dtype) for each in axes]
    return np.stack(_filled(_opened(same)))


def _indices(builder: Builder, dimensions: Any, dtype: Any, sparse: Any) -> Any:
    axes = [builder.call(np.arange, (each,), {"dtype": dtype}) for each in dimensions]
    opened = _opened(axes)
    return tuple(opened) if static(sparse, "sparse") else np.stack(_filled(opened))


# ---- what stands in brackets ---------------------------------------------------------------------


def _joined(builder: Builder, index: Any, *, columns: bool) -> Any:
    """np.r_ and np.c_: arrays, numbers and ranges, one after the other or side by side."""
    parts, kinds = [], []
    for each in index if isinstance(index, tuple) else (index,):
        if isinstance(each, str):
            raise UnsupportedError("S2S203", f"np.r_ with {each!r}", help="use np.concatenate")
        x = _range(builder, each) if isinstance(each, slice) else _array(builder, each)
        rank = support.known_rank(x, "np.r_")
        fact = builder.fact(x if isinstance(each, slice) else each)
        weak = isinstance(fact, values.Scalar)
        kinds.append(fact.kind(0) if weak else values.strong_dtype(fact))
        x = np.reshape(x, (1,)) if rank == 0 else x
        parts.append(np.expand_dims(x, 1) if columns and x.ndim == 1 else x)
    if not values.missing(kinds):  # Python's numbers are weak here
        dtype = np.result_type(*kinds)
        parts = [support.as_dtype(builder, each, dtype) for each in parts]
    return np.concatenate(parts, axis=-1 if columns else 0)


def _column_parts(builder: Builder, index: Any) -> Any:
    return _joined(builder, index, columns=True)


def _row_parts(builder: Builder, index: Any) -> Any:
    return _joined(builder, index, columns=False)


# ---- triangles of indices ------------------------------------------------------------------------


def _tril_indices(builder: Builder, n: Any, k: Any, m: Any) -> tuple:
    return np.nonzero(builder.call(np.tri, (n,), {"M": m, "k": k, "dtype": bool}))


def _triu_indices(builder: Builder, n: Any, k: Any, m: Any) -> tuple:
    below = builder.call(np.tri, (n,), {"M": m, "k": k - 1, "dtype": bool})
    return np.nonzero(np.logical_not(below))


def _mask_indices(builder: Builder, n: Any, mask_func: Any, k: Any) -> tuple:
    whole = builder.call(np.ones, ((n, n),), {"dtype": int})
    return np.nonzero(builder.call(mask_func, (whole, k), {}) != 0)


def _diag_indices_from(builder: Builder, arr: Symbol) -> tuple:
    if support.known_rank(arr, "np.diag_indices_from") < 2:
        raise ValueError("input array must be at least 2-d")
    if len({each for each in arr.shape if isinstance(each, int)}) > 1 or not all(
        support.may_equal((each,), arr.shape[:1]) for each in arr.shape
    ):
        raise ValueError("All dimensions of input must be of equal length")
    count = np.arange(support.length(arr, 0), like=arr)
    return (count,) * support.known_rank(arr, "np.diag_indices_from")


def _of_array(meaning: Any) -> Any:
    """What `meaning` is of the last two lengths of an array, instead of the array."""
    return lambda builder, arr, k: meaning(builder, *_first_and_last(arr, k))


def _first_and_last(arr: Symbol, k: Any) -> tuple:
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return support.length(arr, 0), k, support.length(arr, 1)


composed(np.c_, "index", _column_parts)
composed(np.diag_indices_from, "arr", _diag_indices_from, of_complex=True)
composed(
    np.index_exp, "index", lambda builder, index: index if isinstance(index, tuple) else (index,)
)
composed(np.indices, "dimensions, dtype=int, sparse=False", _indices, in_c_order="always")
composed(np.mask_indices, "n, mask_func, k=0", _mask_indices)
composed(np.meshgrid, "*xi, copy=True, sparse=False, indexing='xy'", _meshgrid)
composed(np.mgrid, "index", _mgrid, in_c_order="always")
composed(np.ogrid, "index", _ogrid)
composed(np.r_, "index", _row_parts)
composed(np.s_, "index", lambda builder, index: index)
composed(np.tril_indices, "n, k=0, m=None", _tril_indices)
composed(np.tril_indices_from, "arr, k=0", _of_array(_tril_indices), True)
composed(np.triu_indices, "n, k=0, m=None", _triu_indices)
composed(np.triu_indices_from, "arr, k=0", _of_array(_triu_indices), True)
