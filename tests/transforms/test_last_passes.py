"""A loop that is left before what it carries goes on has the derivatives of one that goes on."""

import numpy as np
import pytest

from s2s_ad import grad
from transforms.differences import agrees

X = np.array([0.4, -0.9, 1.7, 0.2])


def fixed_point(x):
    y = np.zeros(2)
    for _ in range(100):
        new = 0.3 * np.sin(y + x[:2]) + x[2] * 0.1
        if np.sum(np.abs(new - y)) < 1e-12:
            break
        y = new
    return np.sum(new**2) * x[3]


def for_ever(x):
    y = x[0]
    while True:
        new = 0.5 * np.cos(y * x[1]) + x[2]
        if abs(new - y) < 1e-12:
            break
        y = new
    return new * x[3]


def in_a_helper(x):
    def root(a, b):
        y = 1.0
        while True:
            new = y - (y**3 - a * a - b) / (3 * y * y)
            if abs(new - y) < 1e-13:
                return new
            y = new

    return root(x[0], 2.0) * root(x[2], x[3])


def read_behind(x):
    """What is carried is read: in the last pass it stays what it was."""
    y = x[0]
    for _ in range(20):
        new = 0.5 * np.cos(y * x[1]) + x[2]
        if new > y * 0.9:
            break
        y = new
    return new * x[3] + y**2


def may_make_no_pass(x):
    y, new = x[0], x[1]
    for _ in range(int(x[2] > 5.0)):
        new = 0.5 * np.cos(y * x[1]) + x[2]
        if new > 100.0:
            break
        y = new
    return new * x[3]


def goes_on_otherwise(x):
    """Behind the end of the pass more is computed, which raises in the last one."""
    y, entries = x[0], [x[1], x[2], x[3]]
    total = 0.0
    while True:
        total = total + y**2
        if len(entries) == 0:
            break
        y = y * entries.pop()
    return total


def stopped_early(x):
    """It leaves where the condition does not hold."""
    y = x[0]
    for i in range(6):
        new = np.sin(y) * x[1] + x[2]
        if i < 4:
            y = new
        else:
            break
    return new * x[3]


@pytest.mark.parametrize(
    "fn, avoided",
    [
        (fixed_point, ["condition_saved", "isinstance", "else:"]),
        (for_ever, ["condition_saved", "isinstance", "else:"]),
        (in_a_helper, ["isinstance"]),
        (read_behind, []),
        (may_make_no_pass, []),
        (goes_on_otherwise, []),
        (stopped_early, []),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_derivatives(fn, avoided):
    text = grad(fn).source(X)
    assert [each for each in avoided if each in text] == []
    agrees(fn, X)
