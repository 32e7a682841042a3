"""Norms of vectors and matrices of every order, and condition numbers, as the NumPy they stand for.

The derivative at a tie of maxima is shared evenly, that of a norm at zero is nan.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol, static
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite


def _norm(x: Symbol, ord: Any, axis: Any, keepdims: Any) -> Any:
    ord, axis, keepdims = static((ord, axis, keepdims), "an option of np.linalg.norm")
    if ord is None and (axis is None or isinstance(axis, tuple | list)):
        return _euclidean(x, axis, keepdims)
    if axis is None and ord is not None and support.known_rank(x, "np.linalg.norm") == 2:
        axis = (0, 1)
    if isinstance(axis, tuple | list) and len(axis) == 2:
        return _of_matrix(x, ord, tuple(axis), keepdims)
    if axis is None and x.ndim != 1:
        raise ArgumentValueError(
            "S2S203",
            f"np.linalg.norm with ord={ord!r} of an array of rank {x.ndim}",
            origin=x.builder.origin,
            help="give the axis of the vectors, or the two axes of the matrices",
        )
    return _of_vector(x, 2 if ord is None else ord, axis, keepdims)


def _vector_norm(x: Symbol, axis: Any, keepdims: Any, ord: Any) -> Any:
    ord, axis, keepdims = static((ord, axis, keepdims), "an option of np.linalg.vector_norm")
    return _of_vector(x, ord, axis, keepdims)


def _matrix_norm(x: Symbol, keepdims: Any, ord: Any) -> Any:
    ord, keepdims = static((ord, keepdims), "an option of np.linalg.matrix_norm")
    return _of_matrix(x, ord, (-2, -1), keepdims)


def _euclidean(x: Symbol, axis: Any, keepdims: bool) -> Any:
    x = _as_float(x)
    real = not x.builder.may_be_complex(x)
    return np.sqrt(np.sum(x**2 if real else np.abs(x) ** 2, axis=axis, keepdims=keepdims))


def _of_vector(x: Symbol, ord: Any, axis: Any, keepdims: bool) -> Any:
    options = {"axis": axis, "keepdims": keepdims}
    if isinstance(ord, str):
        raise _no_such_order(x, ord, "vectors")
    if ord == 2:
        return _euclidean(x, **options)
    if ord == 0:
        return np.sum(x != 0, **options).astype(float if x.dtype is None else x.dtype)
    size = np.abs(_as_float(x))
    if ord == 1:
        return np.sum(size, **options)
    if ord in (np.inf, -np.inf):
        return (np.max if ord > 0 else np.min)(size, **options)
    return np.sum(size**ord, **options) ** (1 / ord)


def _of_matrix(x: Symbol, ord: Any, axes: tuple[int, int], keepdims: bool) -> Any:
    """The norm of matrices whose rows and columns are counted along two axes."""
    if ord in (None, "fro"):
        return _euclidean(x, axes, keepdims)
    rank = support.known_rank(x, "np.linalg.norm")
    row, column = support.normal_axes(axes, rank)
    if ord in (1, -1, np.inf, -np.inf):
        summed, other = (row, column) if abs(ord) == 1 else (column, row)
        sums = np.sum(np.abs(_as_float(x)), axis=summed, keepdims=True)
        found = (np.max if ord > 0 else np.min)(sums, axis=other, keepdims=True)
        return found if keepdims else np.squeeze(found, axis=(row, column))
    if ord not in (2, -2, "nuc"):
        raise _no_such_order(x, ord, "matrices")
    if (row, column) != (rank - 2, rank - 1):
        x = np.moveaxis(x, (row, column), (-2, -1))
    s = np.linalg.svdvals(x)
    found = {2: np.max, -2: np.min, "nuc": np.sum}[ord](s, axis=-1)
    return np.expand_dims(found, tuple(sorted((row, column)))) if keepdims else found


def _no_such_order(x: Symbol, ord: Any, of: str) -> ArgumentValueError:
    return ArgumentValueError("S2S203", f"a norm of {of} with ord={ord!r}", origin=x.builder.origin)


def _as_float(x: Symbol) -> Any:
    """Norms are computed in floating point."""
    if values.is_inexact(x.fact):
        return x
    return x.astype(float) if x.dtype is not None else 1.0 * x


def _cond(x: Symbol, p: Any) -> Any:
    p = static(p, "the order of np.linalg.cond")
    if p in (None, 2, -2):
        s = np.linalg.svdvals(x)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return _of_matrix(x, p, (-2, -1), False) * _of_matrix(np.linalg.inv(x), p, (-2, -1), False)


composite(np.linalg.cond, "x, p=None", _cond)
composite(np.linalg.matrix_norm, "x, keepdims=False, ord='fro'", _matrix_norm)
composite(np.linalg.norm, "x, ord=None, axis=None, keepdims=False", _norm)
composite(np.linalg.vector_norm, "x, axis=None, keepdims=False, ord=2", _vector_norm)
