"""A function in every mode, against itself: run, differenced, and looped over samples."""

import copy
import warnings

import numpy as np

from s2s_ad import grad, jit, jvp, vmap

STEP = 1e-6


def differences(function, x, *rest):
    """The gradient of a number with respect to the first argument, by central differences."""
    x = np.asarray(x, float)
    slope = np.empty_like(x)
    for index in np.ndindex(x.shape):
        ends = []
        for h in (STEP, -STEP):
            moved = x.copy()
            moved[index] += h
            moved = moved if x.shape else float(moved)
            ends.append(np.sum(function(moved, *copy.deepcopy(rest))))
        slope[index] = (ends[0] - ends[1]) / (2 * STEP)
    return slope


def assert_every_mode(function, x, *rest, batched=True):
    """`x` is differentiated, and batched."""

    def summed(x, *rest):
        return np.sum(function(x, *rest))

    before = copy.deepcopy((x, rest))
    expected = function(*copy.deepcopy((x, *rest)))
    check(jit(function)(x, *rest), expected)
    slope = differences(function, x, *rest)
    check(grad(summed)(x, *rest), slope, 1e-5)
    direction = np.ones_like(x, float) if np.ndim(x) else 1.0
    value, dot = jvp(lambda x: summed(x, *rest), (x,), (direction,))
    check(value, np.sum(expected))
    check(dot, np.sum(slope), 1e-5)
    np.testing.assert_equal((x, rest), before)
    if batched:
        xs = np.stack([x, np.multiply(x, 1.25), np.multiply(x, -0.5)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = vmap(summed, in_axes=(0, *(None for _ in rest)))(xs, *rest)
        samples = [each if np.ndim(each) else float(each) for each in xs]
        check(got, [np.sum(function(each, *copy.deepcopy(rest))) for each in samples])


def check(got, expected, tolerance=1e-12):
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)
