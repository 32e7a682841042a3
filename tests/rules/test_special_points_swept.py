"""Functions with poles, infinite slopes and overflow under each way to leave elements out: where
the quotients of differences from both sides agree, the gradient is their limit, in both modes."""

import warnings

import numpy as np
import pytest

from rules.properties import module
from s2s_ad import grad, jvp

#: text of a vector of three -> a point that is special for the first element
INNER = {
    "np.sqrt(x)": [0.0, 1.0, 4.0],
    "np.sqrt(x**2)": [0.0, 1.0, -2.0],
    "np.abs(x) ** 0.4": [0.0, 1.0, -2.0],
    "np.log(x)": [0.0, 1.0, 2.0],
    "1 / x": [0.0, 1.0, -2.0],
    "x**-0.5": [0.0, 1.0, 2.0],
    "np.arcsin(x)": [1.0, 0.5, -0.5],
    "np.exp(x)": [800.0, 1.0, 0.0],
    "1 / (1 + np.exp(-x))": [-800.0, 1.0, 2.0],
    "np.exp(x) / (1 + np.exp(x))": [800.0, 1.0, -2.0],
    "x * np.log(x)": [0.0, 1.0, 2.0],
    "x ** np.arange(3)": [0.0, 0.0, 0.0],
}
#: text of what is summed, of g and the mask m, in which the first element is False
SELECTIONS = [
    "np.where(m, g, 0.0)",
    "np.where(~m, x, g)",
    "g[m]",
    "g[1:]",
    "g[[1, 2, 1]]",
    "np.clip(g, 0.3, 2)",
    "np.fmin(g, 0.7)",
    "(m * g)[m]",
    "np.select([m, ~m], [g, x])",
    "np.take(g, [1, 2])",
    "np.compress(m, g)",
    "np.extract(m, g)",
    "g[::-1][:2]",
    "np.diff(g)[1:]",
    "np.diff(g) * m[:2]",
    "np.where(m[:2], np.diff(g), 0.0)",
    "g.reshape(3, 1)[1:, 0]",
    "np.roll(g, 1)[[0, 2]]",
    "np.where(m[:, None], g[:, None] * np.ones(2), 0.0)",
    "np.take_along_axis(g, np.array([1, 2]), 0)",
]


def limits(f, x):
    """The quotients of differences where those of both sides agree, nan elsewhere."""
    found = np.full(len(x), np.nan)
    for i, at in enumerate(x):
        step = np.zeros(len(x))
        step[i] = 1e-6 * max(1, abs(at))
        right, left = (f(x + step) - f(x)) / step[i], (f(x) - f(x - step)) / step[i]
        if abs(right - left) < 2e-4 * max(1, abs(left)):
            found[i] = (right + left) / 2
    return found


@pytest.mark.slow
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("outer", SELECTIONS)
def test_limit_from_both_sides(inner, outer):
    text = f"m = np.array([False, True, True])\n    g = {inner}\n    return np.sum({outer})"
    f, x = module(f"def f(x):\n    {text}\n").f, np.array(INNER[inner])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = limits(f, x)
        known = ~np.isnan(expected)
        if not known.any():
            pytest.skip("no derivative")
        np.testing.assert_allclose(grad(f)(x)[known], expected[known], rtol=1e-3, atol=1e-3)
        if known.all():
            slopes = [jvp(f, (x,), (step,))[1] for step in np.eye(3)]
            np.testing.assert_allclose(slopes, expected, rtol=1e-3, atol=1e-3)
