"""Next values of what loops carry are computed where the ones before are read no more."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from s2s_ad import grad

R = np.random.default_rng(3)


def read_in_a_branch(k, observed):
    """The value before is taken off the list behind the branch that reads the one after."""
    level, loss = 1.0, 0.0
    for t in range(len(observed)):
        level = level - 0.1 * k * level**2
        if observed[t] > 0.0:
            loss += (level / k - observed[t]) ** 2
    return loss


def front_to_back(radii, image):
    left, canvas = np.ones(len(image)), np.zeros(len(image))
    for r in radii:
        alpha = np.exp(-r * image**2)
        canvas = canvas + left * alpha
        left = left * (1 - alpha)
    return np.sum((canvas - image) ** 2)


def cooled(cooling, proposals):
    x, temperature = 0.5, 1.0
    for p in proposals:
        if p > 0.0:
            x = x + temperature * p * np.sin(x)
        temperature = temperature * cooling
    return x**2 * temperature


def left_early(rate, limits):
    """What a pass computes is read by those that leave the loop, too."""
    level, total = 1.0, 0.0
    for limit in limits:
        grown = level * rate
        total += level * grown
        if grown > limit:
            break
        level = grown
    return total + level


def kept_in_place(gain, reference):
    """An array is changed in place between the next value and the last read of this one."""
    u, e, loss = np.zeros(len(reference)), reference * 1.0, 0.0
    for trial in range(3):
        u[1:] += gain / (trial + 1) * e[:-1]
        u *= 0.9
        y = np.zeros(len(reference))
        for k in range(1, len(reference)):
            y[k] = 0.6 * y[k - 1] + 0.5 * u[k - 1]
        e = reference - y
        loss += e @ e
    return loss


PROGRAMS = [
    (read_in_a_branch, 0.7, R.normal(size=9)),
    (front_to_back, np.array([0.3, 0.9, 1.4]), R.normal(size=6)),
    (cooled, 0.8, R.normal(size=7)),
    (left_early, 1.3, np.array([2.0, 1.9, 2.5, 1.5, 9.0])),
    (left_early, 1.3, np.array([9.0, 9.0, 9.0])),
    (kept_in_place, 0.4, R.normal(size=6)),
]


def slope(function, x, y, direction, h=1e-6):
    return (function(x + h * direction, y) - function(x - h * direction, y)) / (2 * h)


@pytest.mark.parametrize("function, x, y", PROGRAMS, ids=[each[0].__name__ for each in PROGRAMS])
def test_gradients_are_those_of_differences(function, x, y):
    for position, given in enumerate((x, y)):
        if function is left_early and position:
            continue
        found = grad(function, position)(x, y)
        direction = R.normal(size=np.shape(given))
        swapped = (lambda a, b: function(b, a)) if position else function
        args = (y, x) if position else (x, y)
        expected = slope(swapped, *args, direction)
        np.testing.assert_allclose(np.sum(found * direction), expected, rtol=1e-6)


def moves(source):
    """The names that passes move to others of that name at their end: `h = h_2`."""
    loops = [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.For)]
    assigned = [each for loop in loops for each in loop.body if isinstance(each, ast.Assign)]
    plain = [each for each in assigned if isinstance(each.value, ast.Name)]
    pairs = [(ast.unparse(each.targets[0]), each.value.id) for each in plain]
    return [(name, value) for name, value in pairs if value.startswith(name)]


@pytest.mark.parametrize(
    "function, x, y", PROGRAMS[:2], ids=[each[0].__name__ for each in PROGRAMS[:2]]
)
def test_what_is_read_before_it_changes_is_one_variable(function, x, y):
    assert moves(grad(function).source(x, y)) == []
    assert moves(grad(function, 1).source(x, y)) == []
