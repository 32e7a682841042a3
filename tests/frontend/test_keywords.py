"""NumPy's own name for its first argument may be used as a keyword, and `order` by position."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad

x = np.array([[1.0, 2.0], [3.0, 4.5]])


def by_sum(x):
    return np.sum(a=x**2, axis=0)[1]


def by_reshape(x):
    return np.sum(np.reshape(a=x, shape=(-1,)) ** 2)


def by_max(x):
    return np.max(a=x)


def orders_by_position(x):
    made = np.ones((2, 2), float, "C") + np.zeros((2, 2), None, "F") + np.eye(2, 2, 0, float, "F")
    return np.sum(x**2 * made + np.empty(2, float, "C") * 0)


@pytest.mark.parametrize(
    "f, expected",
    [
        (orders_by_position, 2 * x * [[2, 1], [1, 2]]),
        (by_sum, 2 * x * [0, 1]),
        (by_reshape, 2 * x),
        (by_max, (x == 4.5) * 1.0),
    ],
)
def test_the_first_argument_by_keyword(f, expected):
    np.testing.assert_allclose(grad(f)(x), expected)


def sorted_as_nobody_can(x):
    try:
        y = np.sort(x, kind="fast")
    except ValueError:
        y = x
    return y @ np.arange(2.0)


def test_a_text_that_is_no_option_is_an_error_of_the_path():
    np.testing.assert_array_equal(grad(sorted_as_nobody_can)(np.array([3.0, 1.0])), [0.0, 1.0])
