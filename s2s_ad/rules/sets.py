"""Sets of numbers: np.unique and what is written with it. A derivative goes to the first of equals.

Results are in order, those of np.unique_values too, of which NumPy says no order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core.builder import Symbol, static
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite


def _part(function: Any, x: Symbol, axis: Any = None, equal_nan: Any = True) -> Any:
    return x.builder.call(function, (x,), {"axis": axis, "equal_nan": equal_nan})


def _unique(
    x: Symbol,
    return_index: Any,
    return_inverse: Any,
    return_counts: Any,
    axis: Any,
    equal_nan: Any,
    sorted: Any,
) -> Any:
    wanted = static((return_index, return_inverse, return_counts), "what np.unique returns")
    if not static(sorted, "sorted= of np.unique"):
        raise UnsupportedError("S2S203", "np.unique with sorted=False: NumPy says no order of it")
    axis = static(axis, "the axis of np.unique")
    if axis is not None:
        axis = support.normal_axis(axis, support.known_rank(x, "np.unique along an axis"))
    index = _part(runtime.unique_index, x, axis, equal_nan)
    result = [np.ravel(x)[index] if axis is None else x[support.at(axis, index)]]
    parts = (runtime.unique_index, runtime.unique_inverse, runtime.unique_counts)
    for function, asked in zip(parts, wanted, strict=True):
        if asked:
            result.append(_part(function, x, axis, equal_nan))
    return tuple(result) if len(result) > 1 else result[0]


def _results(x: Symbol, kind: Any) -> Any:
    """A namedtuple of NumPy's for what np.unique gives; here nan differs from nan."""
    index = _part(runtime.unique_index, x, equal_nan=False)
    parts = {
        "values": np.ravel(x)[index],
        "indices": index,
        "inverse_indices": _part(runtime.unique_inverse, x, equal_nan=False),
        "counts": _part(runtime.unique_counts, x, equal_nan=False),
    }
    return kind(**{name: parts[name] for name in kind._fields})


KINDS = {
    function: type(function(np.zeros(1)))
    for function in (np.unique_all, np.unique_counts, np.unique_inverse)
}


def _ordered(x: Any, assume_unique: Any) -> Any:
    return np.ravel(x) if static(assume_unique, "assume_unique") else np.unique(x)


def _intersect1d(x: Any, ar2: Any, assume_unique: Any, return_indices: Any) -> Any:
    a, b = np.unique(x), np.unique(ar2)
    chosen = np.isin(a, b)
    if not static(return_indices, "return_indices"):
        return a[chosen]
    indices = _part(runtime.unique_index, x)[chosen]
    return a[chosen], indices, _part(runtime.unique_index, ar2)[np.isin(b, a)]


def _setdiff1d(x: Any, ar2: Any, assume_unique: Any) -> Any:
    a = _ordered(x, assume_unique)
    return a[np.isin(a, ar2, invert=True)]


def _setxor1d(x: Any, ar2: Any, assume_unique: Any) -> Any:
    a, b = np.unique(x), np.unique(ar2)
    alone = [a[np.isin(a, b, invert=True)], b[np.isin(b, a, invert=True)]]
    return np.sort(np.concatenate(alone))


def _union1d(x: Any, ar2: Any) -> Any:
    return np.unique(np.concatenate([np.ravel(x), np.ravel(ar2)]))


composite(np.intersect1d, "x, ar2, assume_unique=False, return_indices=False", _intersect1d)
composite(np.setdiff1d, "x, ar2, assume_unique=False", _setdiff1d)
composite(np.setxor1d, "x, ar2, assume_unique=False", _setxor1d)
composite(np.union1d, "x, ar2", _union1d)
composite(
    np.unique,
    "x, return_index=False, return_inverse=False, return_counts=False, axis=None, *,"
    " equal_nan=True, sorted=True",
    _unique,
)
composite(np.unique_values, "x", lambda x: np.unique(x, equal_nan=False))
for _function, _kind in KINDS.items():
    composite(_function, "x", lambda x, kind=_kind: _results(x, kind))
