"""scipy.spatial.distance: distances of vectors, written as plain NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial import distance

from s2s_ad.core.builder import Symbol, static
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules.composite import composite


def _double(x: Any) -> Any:
    """In double precision, in which SciPy computes these."""
    return x.astype(float) if isinstance(x, Symbol) and x.dtype != float else x


def _cosine(u: Any, v: Any) -> Any:
    return 1.0 - np.sum(u * v, axis=-1) / np.sqrt(np.sum(u**2, axis=-1) * np.sum(v**2, axis=-1))


#: name of a metric -> the distances of vectors along the last axis
METRICS: dict[str, Callable] = {
    "braycurtis": lambda u, v: np.sum(abs(u - v), axis=-1) / np.sum(abs(u + v), axis=-1),
    "canberra": lambda u, v: np.sum(abs(u - v) / (abs(u) + abs(v)), axis=-1),
    "chebyshev": lambda u, v: np.max(abs(u - v), axis=-1),
    "cityblock": lambda u, v: np.sum(abs(u - v), axis=-1),
    "cosine": _cosine,
    "euclidean": lambda u, v: np.sqrt(np.sum((_double(u) - _double(v)) ** 2, axis=-1)),
    "sqeuclidean": lambda u, v: np.sum((u - v) ** 2, axis=-1),
}


def _metric(name: Any, origin: Any) -> Callable:
    name = static(name, "metric")
    if name not in METRICS:
        raise UnsupportedError(
            "S2S203",
            f"distances by the metric {name!r}",
            origin=origin,
            help=f"the metrics with a derivative are {', '.join(METRICS)}",
        )
    return METRICS[name]


def _cdist(XA: Any, XB: Any, metric: Any) -> Any:
    some = XA if isinstance(XA, Symbol) else XB
    return _metric(metric, some.builder.origin)(
        np.expand_dims(_double(XA), 1), np.expand_dims(_double(XB), 0)
    )


def _pdist(X: Symbol, metric: Any) -> Any:
    first, second = X.builder.call(np.triu_indices, (np.size(X, 0), 1), {})
    return _metric(metric, X.builder.origin)(_double(X)[first], _double(X)[second])


composite(distance.cdist, "XA, XB, metric='euclidean'", _cdist, of_complex=False)
composite(distance.pdist, "X, metric='euclidean'", _pdist, of_complex=False)
for _name, _meaning in METRICS.items():
    composite(getattr(distance, _name), "u, v", _meaning, of_complex=False)
