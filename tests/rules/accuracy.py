"""First and second derivatives of a program along a line, from the values of NumPy alone.

On a short line a smooth function is a polynomial to the last digit. The one through its values at
Chebyshev's points has the derivatives of the function; two such polynomials, of the same line and
of one half as long, say by how much they can be trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev

POINTS = 14
REACHES = (0.04, 0.01, 0.0025)  # how far the line goes to both sides
TOLERANCE = 1e-8


@dataclass(frozen=True)
class Slopes:
    """A value with its derivatives along a line, and the uncertainty of the second one."""

    value: float
    first: float
    second: float
    doubt: float

    @property
    def scale(self) -> float:
        """What an error is relative to: a second derivative may be zero."""
        return max(abs(self.second), abs(self.first), abs(self.value))


def along(function: Callable[[float], float]) -> Slopes:
    """The derivatives of a function of one number at zero."""
    found = []
    for reach in REACHES:
        whole, half = _polynomial(function, reach), _polynomial(function, reach / 2)
        doubt = abs(whole[2] - half[2])
        found.append(Slopes(*whole, doubt))
    return min(found, key=lambda each: each.doubt if np.isfinite(each.doubt) else np.inf)


def _polynomial(function: Callable[[float], float], reach: float) -> tuple[float, float, float]:
    points = chebyshev.chebpts1(POINTS)
    values = np.array([function(reach * point) for point in points])
    middle = function(0.0)  # what is left is small, and so is its rounding
    series = chebyshev.chebfit(points, values - middle, POINTS - 1)
    first, second = (chebyshev.chebval(0.0, chebyshev.chebder(series, m)) for m in (1, 2))
    return middle, first / reach, second / reach**2
