"""Scans, sorting and differences: functions along one axis."""

import numpy as np

from rules.cases.reductions import with_zeros
from rules.properties import Draw, case, distinct, positive, real

LIKE = {"general": False}  # needs the rank of its argument


def ascending(*shape):
    """Points in order."""
    return Draw(shape, lambda rng, shape: np.cumsum(rng.uniform(0.5, 1.5, shape)))


SCANS = [
    case("np.cumsum(x)", x=real(2, 3)),
    case("np.cumsum(x, axis=0)", x=real(2, 3)),
    case("np.cumsum(x, -1)", x=real(2, 3)),
    case("np.cumsum(x)", x=real(0)),
    case("np.cumsum(x)", x=real()),
    case("x.cumsum(1)", x=real(2, 3), **LIKE),
    case("np.sort(x)", x=distinct(4)),
    case("np.sort(x)", x=distinct(2, 3)),
    case("np.sort(x, axis=0)", x=distinct(3, 2)),
    case("np.sort(x, axis=None)", x=distinct(2, 3)),
    case("np.sort(x, kind='stable')", x=distinct(0)),
    case(
        "np.take_along_axis(x, np.argsort(y, axis=0), axis=0)",
        x=real(3, 2),
        y=distinct(3, 2),
        **LIKE,
    ),
    case("x[np.argsort(x)]", x=distinct(4), **LIKE),
    case("np.diff(x)", x=real(4), **LIKE),
    case("np.diff(x, axis=0)", x=real(3, 2), **LIKE),
    case("np.diff(x, n=2, axis=-1)", x=real(2, 4), **LIKE),
    case("np.diff(x, n=0)", x=real(2, 3), **LIKE),
    case("np.diff(x)", x=real(1), **LIKE),
    case("np.cumprod(x)", x=real(4)),
    case("np.cumprod(x)", x=real(2, 3)),
    case("np.cumprod(x, axis=0)", x=real(3, 2)),
    case("np.cumprod(x, axis=-1)", x=with_zeros(2, 3), **LIKE),
    case("runtime.products_of_others(x, 1)", x=real(2, 3), **LIKE),
    case("runtime.products_of_others(x, 0)", x=with_zeros(3, 2), **LIKE),
    case("np.cumprod(x)", x=with_zeros(5, zeros=2)),
    case("np.cumprod(x)", x=real(0)),
    case("np.cumprod(x)", x=real(1)),
    case("x.cumprod(1) * x.cumprod()[0]", x=real(2, 3), **LIKE),
    case("np.cumsum(x, dtype=np.float64)", x=real(3), **LIKE),
    case("np.nancumsum(x, axis=1) + np.nancumprod(x, axis=1)", x=real(2, 3)),
    case("np.cumulative_sum(x, axis=1)", x=real(2, 3), **LIKE),
    case("np.cumulative_sum(x, include_initial=True)", x=real(3), **LIKE),
    case("np.cumulative_prod(x, axis=0, include_initial=True)", x=real(3, 2), **LIKE),
    case("np.diff(x, prepend=0.0)", x=real(3), **LIKE),
    case("np.diff(x, axis=0, prepend=y, append=z)", x=real(3, 2), y=real(), z=real(1, 2), **LIKE),
    case("np.diff(x, n=2, append=y)", x=real(2, 3), y=real(2, 2), **LIKE),
    case("np.ediff1d(x)", x=real(2, 3), **LIKE),
    case("np.ediff1d(x, to_end=y, to_begin=1.0)", x=real(4), y=real(2), **LIKE),
    case("np.gradient(x)", x=real(5), **LIKE),
    case("np.gradient(x, h)", x=real(5), h=positive(), **LIKE),
    case("np.gradient(x, t)", x=real(4), t=ascending(4), **LIKE),
    case("np.gradient(x, t, axis=0, edge_order=2)", x=real(4, 2), t=ascending(4), **LIKE),
    case("np.gradient(x, 0.5, edge_order=2, axis=-1)", x=real(2, 4), **LIKE),
    case("np.stack(np.gradient(x, 0.5, t))", x=real(3, 4), t=ascending(4), **LIKE),
    case("np.trapezoid(y)", y=real(4), **LIKE),
    case("np.trapezoid(y, dx=h, axis=0)", y=real(4, 3), h=positive(), **LIKE),
    case("np.trapezoid(y, x)", y=real(4), x=ascending(4), **LIKE),
    case("np.trapezoid(y, x=x, axis=0)", y=real(3, 2), x=ascending(3), **LIKE),
    case("np.trapezoid(y, x, axis=1)", y=real(2, 3), x=real(2, 3), **LIKE),
]
