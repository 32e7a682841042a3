"""scipy.integrate: integrals of samples, written as plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate

from s2s_ad.core.builder import Symbol, static
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.differences import neighbours
from s2s_ad.rules.unsupported import refuse


def _cumulative_trapezoid(y: Symbol, x: Any, dx: Any, axis: Any, initial: Any) -> Any:
    rank = support.known_rank(y, "cumulative_trapezoid")
    axis = support.normal_axis(static(axis, "axis of cumulative_trapezoid"), rank)
    after, before = neighbours(y, axis)
    sums = np.cumsum(_steps(x, dx, axis, rank) * (after + before) / 2.0, axis=axis)
    if initial is None:
        return sums
    width = [(1, 0) if each == axis else (0, 0) for each in range(rank)]
    return np.pad(sums, width)


def _steps(x: Any, dx: Any, axis: int, rank: int) -> Any:
    """The distances of the samples, along the axis."""
    if x is None:
        return dx
    if support.rank(x) > 1:
        return np.diff(x, axis=axis)
    steps, others = np.diff(x), tuple(each for each in range(rank) if each != axis)
    return np.expand_dims(steps, others) if others else steps


composite(
    scipy.integrate.trapezoid,
    "y, x=None, dx=1.0, axis=-1",
    lambda y, x, dx, axis: np.trapezoid(y, x, dx, axis),
)
composite(
    scipy.integrate.cumulative_trapezoid,
    "y, x=None, dx=1.0, axis=-1, initial=None",
    _cumulative_trapezoid,
)

NESTED = "the limits of the inner integral are functions of the outer variable"
ONE_IN_ANOTHER = "call quad in the function that quad integrates"
STEPS = "it is an object that is stepped from outside"

refuse(scipy.integrate.dblquad, NESTED, ONE_IN_ANOTHER)
refuse(scipy.integrate.nquad, NESTED, ONE_IN_ANOTHER)
refuse(scipy.integrate.ode, STEPS, "use solve_ivp")
refuse(scipy.integrate.solve_bvp, "its mesh moves in steps", "use solve_ivp and root: shooting")
refuse(scipy.integrate.tplquad, NESTED, ONE_IN_ANOTHER)
