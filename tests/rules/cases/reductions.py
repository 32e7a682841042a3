"""Reductions: every axis, keyword and edge that NumPy has."""

import numpy as np

from rules.properties import Draw, case, distinct, mask, positive, real

LIKE = {"general": False}  # needs the rank of its argument


def with_zeros(*shape, zeros=1):
    """Numbers of which some are exactly zero: one, or so many, in each row."""

    def values(rng, shape):
        x = rng.uniform(0.5, 2.0, shape)
        x[..., :zeros] = 0.0
        return x

    return Draw(shape, values)


def some(*shape):
    """A mask that is true twice in each row and each column."""

    def values(rng, shape):
        return ~np.eye(*shape, dtype=bool)

    return Draw(shape, values, varies=False)


REDUCTIONS = [
    case(f"np.{name}(x{options})", x=draw(2, 3, 4))
    for name, draw in [
        ("max", distinct),
        ("mean", real),
        ("min", distinct),
        ("ptp", distinct),
        ("std", real),
        ("sum", real),
        ("var", real),
    ]
    for options in ["", ", axis=1", ", axis=-1, keepdims=True", ", axis=(0, 2)", ", keepdims=True"]
]
REDUCTIONS += [
    case("np.sum(x, axis=(-1, 0))", x=real(2, 3, 4)),
    case("np.sum(x, (0, 1), keepdims=True)", x=real(2, 3)),
    case("np.sum(x, axis=())", x=real(2, 3)),
    case("np.sum(x)", x=real()),
    case("np.sum(x)", x=real(0)),
    case("np.sum(x, axis=0)", x=real(0, 3)),
    case("np.sum(x, axis=0)", x=real(1, 3)),
    case("np.mean(x, axis=1)", x=real(3, 1)),
    case("np.mean(x)", x=real()),
    case("np.max(x)", x=real()),
    case("np.max(x, axis=0)", x=real(1)),
    case("np.max(x, axis=0)", x=distinct(3)),
    case("np.var(x, axis=1, ddof=1)", x=real(2, 3)),
    case("np.std(x, axis=0, ddof=1, keepdims=True)", x=real(3, 2)),
    case("np.var(x, ddof=1)", x=real(3, 2)),
    case("np.var(x, axis=(0, 1), ddof=2)", x=real(3, 2)),
    case("np.sum(x * y, axis=1)", x=real(2, 3), y=real(3)),
    case("np.mean(x, axis=0) * np.argmax(x, axis=0)", x=distinct(3, 2)),
    case("x.sum(0) + x.mean(axis=0) + x.max(axis=0)", x=distinct(3, 2), **LIKE),
    case("x.var() + x.std() + x.min()", x=distinct(3, 2), **LIKE),
    case("np.sum(x[m])", x=real(3), m=mask(3), batches=False),
    case("np.sum(x * np.any(x > 0, axis=0) * np.all(x > -9))", x=distinct(2, 3)),
    case("x / np.count_nonzero(x > 0, axis=0)", x=positive(2, 3)),
    case("np.max(x, axis=1, keepdims=True) + np.sum(x, axis=1)[:, None]", x=distinct(2, 3), **LIKE),
]
REDUCTIONS += [
    case(f"np.prod(x{options})", x=real(2, 3, 4))
    for options in ["", ", axis=1", ", axis=-1, keepdims=True"]
]
REDUCTIONS += [
    case("np.prod(x, axis=(0, 2))", x=real(2, 3, 2), **LIKE),
    case("np.prod(x, keepdims=True)", x=real(2, 3), **LIKE),
    case("np.prod(x)", x=with_zeros(4)),
    case("np.prod(x)", x=with_zeros(4, zeros=2)),
    case("np.prod(x)", x=with_zeros(4, zeros=3)),
    case("np.prod(x, axis=1)", x=with_zeros(2, 3, zeros=2)),
    case("np.prod(x)", x=real(), **LIKE),
    case("np.prod(x)", x=real(1)),
    case("np.prod(x)", x=real(0)),
    case("x.prod(0)", x=real(3, 2), **LIKE),
    case("np.amax(x, 0) - np.amin(x, axis=0)", x=distinct(3, 2)),
]
# Keywords that all of them have.
REDUCTIONS += [
    case(f"np.{name}(x, axis=1, where=m)", x=draw(2, 3), m=mask(2, 3))
    for name, draw in [("sum", real), ("prod", real)]
]
REDUCTIONS += [
    case("np.sum(x, 1, None, None, True, 2.0)", x=real(2, 3)),
    case("np.sum(x, axis=0, initial=3.0, where=m)", x=real(2, 3), m=mask(3)),
    case("np.sum(x, dtype=np.float64)", x=real(2, 3), **LIKE),
    case("np.prod(x, axis=0, initial=2.0)", x=real(2, 3)),
    case("np.max(x, axis=1, initial=0.05)", x=distinct(2, 3)),
    case("np.min(x, axis=1, initial=0.05, where=m)", x=distinct(2, 3), m=mask(2, 3)),
    case("np.max(x, initial=y)", x=distinct(2, 3), y=real()),
    case("np.mean(x, axis=0, where=x > 0)", x=positive(3, 2)),
    case("np.var(x, axis=1, where=m, ddof=1)", x=real(2, 3), m=some(2, 3), **LIKE),
    case("np.std(x, axis=0, correction=1)", x=real(3, 2)),
    case("np.var(x, axis=0, mean=np.mean(x, axis=0, keepdims=True))", x=real(3, 2)),
    case("np.var(x, axis=1, mean=m)", x=real(2, 3), m=real(2, 1)),
    case("x * np.all(m, where=n, axis=0) + np.any(m, where=n)", x=real(3), m=mask(2, 3), n=mask(3)),
    case("np.mean(x, dtype=np.float64, axis=1)", x=real(2, 3), **LIKE),
]
# Reductions that pass over nan.
REDUCTIONS += [
    case(f"np.{name}(x{options})", x=distinct(3, 2))
    for name in ["nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar"]
    for options in ["", ", axis=0", ", axis=-1, keepdims=True"]
]
REDUCTIONS += [
    case("np.nanvar(x, axis=1, ddof=1)", x=distinct(2, 3)),
    case("np.nanmax(x, axis=0, initial=0.1)", x=distinct(2, 3)),
    case("np.nanmean(x, axis=0, where=m)", x=distinct(3, 2), m=some(3, 2)),
    case("x[np.nanargmax(x)] * x[np.nanargmin(x)]", x=distinct(3), **LIKE),
]
