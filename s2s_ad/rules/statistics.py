"""Statistics of samples: weighted means, covariances and correlations."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import static
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.versions import average_refuses_axis_of_number


def _average(x: Any, axis: Any, weights: Any, returned: Any, keepdims: Any) -> Any:
    axis, returned = static((axis, returned), "axis of np.average")
    if weights is None:
        mean = np.mean(x, axis=axis, keepdims=keepdims)
        if not returned:
            return mean
        raise UnsupportedError("S2S203", "np.average with returned=True and no weights")
    w = support.as_operand(x.builder, weights)
    rank = support.known_rank(x, "np.average")
    if axis is not None and (rank or average_refuses_axis_of_number()):
        support.normal_axes(axis, rank)
    support.known_rank(w, "np.average")
    _check_weights(x, w, axis)
    if support.rank(w) == 1 != rank:
        after = rank - 1 - support.normal_axis(axis, rank)
        w = w[(slice(None), *(None,) * after)] if after else w
    elif isinstance(axis, tuple) and support.rank(w) != rank:
        raise UnsupportedError("S2S203", "np.average over several axes with weights of their shape")
    kinds = x.dtype, values.strong_dtype(x.builder.fact(w))
    if not values.missing(kinds):  # sums in the precision of the result
        w = support.as_dtype(x.builder, w, np.result_type(*kinds, 0.0))
    spread = w if support.rank(w) == rank else np.broadcast_to(w, np.shape(x))
    total = np.sum(spread, axis=axis, keepdims=keepdims)
    mean = np.sum(x * w, axis=axis, keepdims=keepdims) / total
    return (mean, x.builder.call(runtime.broadcast_like, (total, mean), {})) if returned else mean


def _check_weights(x: Any, w: Any, axis: Any) -> None:
    """NumPy takes weights in the shape of the array, or in that of the axes that are averaged.

    Raises:
        TypeError, ValueError: as NumPy says it.
    """
    full, own = x.shape, support.shape(w)
    if len(full) == len(own) and support.may_equal(full, own):
        return
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    averaged = tuple(full[each] for each in support.normal_axes(axis, len(full)))
    if not support.may_equal(averaged, own):
        raise ValueError(
            "Shape of weights must be consistent with shape of a along specified axis."
        )


def _rows(x: Any, rowvar: bool) -> Any:
    """The variables as rows."""
    rank = support.known_rank(x, "np.cov")
    if rank > 2:
        raise ValueError("m has more than 2 dimensions")
    x = x if rank == 2 else np.expand_dims(x, tuple(range(2 - rank)))
    return x if rowvar or rank < 2 or x.shape[0] == 1 else x.T


def _cov(
    x: Any, y: Any, rowvar: Any, bias: Any, ddof: Any, fweights: Any, aweights: Any, dtype: Any
) -> Any:
    rowvar, bias, ddof = static((rowvar, bias, ddof), "rowvar, bias and ddof of np.cov")
    wanted = np.result_type(x.dtype or float, np.float64) if dtype is None else dtype
    x = x if values.is_dtype(x.dtype, wanted) else x.astype(wanted)
    rows = _rows(x, rowvar)
    single = y is None and rows.shape[0] == 1
    if y is not None:
        y = support.as_operand(x.builder, y)
        rows = np.concatenate([rows, _rows(y, rowvar)], axis=0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    weights = [each for each in (fweights, aweights) if each is not None]
    if not weights:
        centred = rows - np.mean(rows, axis=1, keepdims=True)
        total = (
            centred @ support.conj(centred).T / support.degrees_of_freedom(np.size(rows, 1), ddof)
        )
    else:
        w = weights[0] if len(weights) == 1 else weights[0] * weights[1]
        whole = np.sum(w)
        centred = rows - np.sum(rows * w, axis=1, keepdims=True) / whole
        lost = ddof if aweights is None else ddof * np.sum(w * aweights) / whole
        total = (centred * w) @ support.conj(centred).T / support.degrees_of_freedom(whole, lost)
    return total[0, 0] if single else total


def _corrcoef(x: Any, y: Any, rowvar: Any, dtype: Any) -> Any:
    c = np.cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    scale = np.sqrt(np.real(np.diagonal(c)))
    c = c / scale[:, None] / scale
    if values.is_complex(c.fact):
        return np.clip(np.real(c), -1, 1) + 1j * np.clip(np.imag(c), -1, 1)
    return np.clip(c, -1, 1)


composite(np.average, "x, axis=None, weights=None, returned=False, *, keepdims=False", _average)
composite(np.corrcoef, "x, y=None, rowvar=True, *, dtype=None", _corrcoef)
composite(
    np.cov,
    "x, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None",
    _cov,
)
