"""The Hessian times a direction, forward and reverse over reverse, against differences."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, jacfwd, jacrev, jvp, vjp

rng = np.random.default_rng(8)


def sum_of_known_and_unknown(x):
    """The middle of a list whose length is not known, stored into an array."""
    firsts, sums = [], [0.0]
    for k in range(2):
        w = x * x[k]
        first = w @ x
        w -= first * x
        firsts.append(first)
        sums.append(np.sum(w))
    T = np.diag(np.array(firsts))
    for k, value in enumerate(sums[1:-1]):
        T[k, k + 1] = T[k + 1, k] = value
    return np.sum(T * T)


def rank_that_a_sum_hides(x):
    """Python's sum begins with a number: of the ranks of the products nothing is known."""
    points = [x]
    for i in range(len(x)):
        points.append(x * x[i])
    total = sum(0.5 * point for point in points)
    C = np.zeros((3, 3))
    for point in points:
        C += np.outer(point - total, point - total)
    return C[0, 1] + 2 * C[1, 2]


def overlapping(x, k):
    x = x.copy()
    x[1:] += k * x[:-1]
    x[1:] *= x[:-1]
    x[...] = x[::-1] * k
    return x @ np.arange(1.0, len(x) + 1)


def result_in_the_name_of_an_array(x):
    """The last product gives a number, and takes over the name of an array."""
    return overlapping(x, x[0])


def clipped(values, low):
    total = 0.0
    for value in values:
        if low <= value < 0.5:
            total += value**2
        else:
            total += 1.0 if value > 0.6 else 3 * value
        total = total or value
    return total and total * low


def helper_that_may_return_a_number(x):
    """A helper one of whose blocks hands over a number, not what it has computed."""
    return clipped([x[0], x[1], x[2]], x[0])


def two_steps_of_a_list(x):
    """A list that grows in a `while`, whose passes take one of two forms."""
    history = [np.array([x[1], -(x[2] ** 2) * x[0]])]
    y = x[:2]
    while len(history) < 4:
        if len(history) < 2:
            y = y + 0.1 * history[-1]
        else:
            y = y + 0.1 * (1.5 * history[-1] - 0.5 * history[-2])
        history.append(np.array([y[1], -(x[2] ** 2) * y[0]]))
    return y @ y + np.sum(np.stack(history))


def parts_of_a_list(x):
    """The adjoint of a part of a list is added to a part, and later taken from it."""
    squares = [v * v for v in x]
    sums = []
    for i in range(2):
        sums.append(sum(squares[i : i + 2]) ** 2)
    return sum(sums)


def array_that_is_none_before_the_loop(x):
    """The second attempt is the one that makes it; its adjoint is a number where it is None."""
    K, L = np.outer(x, x), None
    for jitter in (-1.0, 0.0, 2.0):
        try:
            L = np.linalg.cholesky(K + jitter * x[1] * np.eye(3))
            break
        except np.linalg.LinAlgError:
            continue
    if L is None:
        raise ValueError
    return np.sum(np.tril(L) * x)


PROGRAMS = [
    array_that_is_none_before_the_loop,
    helper_that_may_return_a_number,
    parts_of_a_list,
    rank_that_a_sum_hides,
    result_in_the_name_of_an_array,
    sum_of_known_and_unknown,
    two_steps_of_a_list,
]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_hessian_times_direction(f):
    x, direction = np.array([0.31, 0.74, -0.52]), rng.normal(size=3)
    gradient, step = grad(f), 1e-5
    ends = gradient(x + step * direction), gradient(x - step * direction)
    expected = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(jvp(gradient, (x,), (direction,))[1], expected, 1e-6, 1e-8)
    np.testing.assert_allclose(vjp(gradient, x)[1](direction)[0], expected, 1e-6, 1e-8)


def cutting(prices, waste):
    memo = [0.0]
    for length in range(1, 4):
        best = prices[length - 1]
        for cut in range(1, length):
            if (candidate := prices[cut - 1] + memo[length - cut] - waste) > best:
                best = candidate
        memo.append(best)
    return memo[-1] * memo[-2]


def test_a_list_made_in_an_inner_loop_that_may_not_run():
    prices, step = [0.3, 0.7, 0.1], 1e-5
    gradient = grad(lambda prices: cutting(prices, 0.1))
    ends = [gradient([prices[0] + each, *prices[1:]]) for each in (step, -step)]
    expected = (np.array(ends[0]) - ends[1]) / (2 * step)
    np.testing.assert_allclose(vjp(gradient, prices)[1]([1.0, 0.0, 0.0])[0], expected, 1e-6, 1e-8)


def linear(x):
    return 3.0 * x


@pytest.mark.parametrize("second", [grad, jacfwd, jacrev, lambda f: lambda x: jvp(f, x, 1.0)[1]])
def test_the_derivative_of_a_slope_that_is_a_number_is_zero(second):
    assert second(grad(linear))(1.5) == 0.0
    assert second(lambda x: grad(linear)(x))(1.5) == 0.0


WEIGHT = np.array(0.3)


def overwritten_or_not(x, y):
    if (y >= 2.0).any():
        return x
    y[:] = np.square(np.sqrt(x))
    if x:
        y = y * 0.7
    return np.sum(y**2)


def test_a_number_that_is_spread_out_is_not_changed_in_place():
    """What a block is handed may be a number of Python's for it, and is an array here: captured."""

    def along(x, y):
        slopes = grad(overwritten_or_not, (0, 1))(x, y)
        return np.sum(WEIGHT * slopes[0]) + np.sum(np.array([0.2, 0.1]) * slopes[1])

    x_bar, y_bar = grad(along, (0, 1))(1.46, np.array([1.009, -0.995]))
    np.testing.assert_allclose(x_bar, 0.3 * 2 * 2 * 0.7**2)
    np.testing.assert_array_equal(y_bar, 0.0)


@pytest.mark.parametrize("y", [3, 0])
def test_the_tangent_of_a_gradient_beside_a_handler_that_stores_numbers(y):
    """What is stored is real, so that its product with 0.8j has no real part."""

    def stored(u):
        whole, _ = u
        whole[:] = np.full((3, 3), 0.5, dtype=complex)
        try:
            1 / y
        except ZeroDivisionError:
            u[0][...] = sum([np.sin(v) for v in [0, u[1]]])
        return np.sum(np.real(u[0] * 0.8j))

    point, direction = (np.full((3, 3), 1 - 2j), 1.3), (np.ones((3, 3), complex), 1.0)
    (_, slope), (_, change) = jvp(grad(stored), (point,), (direction,))
    assert (slope, change) == (0.0, 0.0)
