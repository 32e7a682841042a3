"""derivative, jet and linearize. Expected values are closed forms."""

import math

import numpy as np
import pytest

from s2s_ad import Parameter, Tensor, derivative, grad, jet, jit, jvp, linearize, vmap
from s2s_ad.diagnostics import DerivativeError

X, Y = np.array([0.5, -2.0]), np.array([3.0, 1.5])


def wave(x):
    return np.sin(2 * x)


def mixed(x, y):
    return x**3 * y**2


def several(x):
    return x**2, {"cube": x**3}


WAVES = [np.sin(2 * X), 2 * np.cos(2 * X), -4 * np.sin(2 * X), -8 * np.cos(2 * X)]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_derivative_of_an_order(order):
    value, slope = derivative(wave, X, order)
    np.testing.assert_allclose(value, WAVES[0])
    np.testing.assert_allclose(slope, WAVES[order])
    np.testing.assert_allclose(jit(lambda x: derivative(wave, x, order))(X)[1], WAVES[order])


def test_the_derivative_of_several_inputs_is_along_one_in_each():
    _, slope = derivative(mixed, (X, Y), 2)  # of (x + t)**3 (y + t)**2 at t = 0
    np.testing.assert_allclose(slope, 6 * X * Y**2 + 12 * X**2 * Y + 2 * X**3)


def test_the_derivative_of_several_outputs_nests_as_they_do():
    _, (square, other) = derivative(several, X, 2)
    np.testing.assert_allclose(square, [2.0, 2.0])
    np.testing.assert_allclose(other["cube"], 6 * X)


def test_a_derivative_is_a_function_to_be_transformed():
    np.testing.assert_allclose(grad(lambda x: np.sum(derivative(wave, x, 1)[1]))(X), WAVES[2])
    np.testing.assert_allclose(vmap(lambda x: derivative(wave, x, 2)[1])(X), WAVES[2])


def test_the_derivatives_along_a_line():
    value, orders = jet(wave, X, np.stack([np.ones(2), np.zeros(2), np.zeros(2)]))
    np.testing.assert_allclose(value, WAVES[0])
    np.testing.assert_allclose(orders, WAVES[1:])


def test_the_derivatives_along_a_curve():
    """Of exp along x(t) = 1 + 2 t + 3 t**2 / 2, by the chain rule."""
    value, orders = jet(lambda x: np.exp(x), 1.0, np.array([2.0, 3.0]))
    np.testing.assert_allclose(value, math.e)
    np.testing.assert_allclose(orders, [2 * math.e, (4 + 3) * math.e])


def test_the_derivatives_of_several_inputs_and_outputs():
    line = np.array([[1.0, 1.0], [0.0, 0.0]])
    _, orders = jet(mixed, (X, Y), (line, 0 * line))
    np.testing.assert_allclose(orders, [3 * X**2 * Y**2, 6 * X * Y**2])
    value, (square, other) = jet(several, X, line)
    np.testing.assert_allclose(value[1]["cube"], X**3)
    np.testing.assert_allclose(square, [2 * X, [2.0, 2.0]])
    np.testing.assert_allclose(other["cube"], [3 * X**2, 6 * X])


def test_the_linear_function_at_a_point():
    value, linear = linearize(mixed, (X, Y))
    np.testing.assert_allclose(value, X**3 * Y**2)
    for v, w in [(X, Y), (np.zeros(2), X), (Y, np.zeros(2))]:
        expected = 3 * X**2 * Y**2 * v + 2 * X**3 * Y * w
        np.testing.assert_allclose(linear((v, w)), expected)
        np.testing.assert_allclose(linear(v, w), expected)


def test_the_linear_function_inside_a_compiled_function():
    @jit
    def twice(x, v):
        value, linear = linearize(wave, x)
        return value, linear(v), linear(2 * v)

    value, once, again = twice(X, Y)
    np.testing.assert_allclose(value, WAVES[0])
    np.testing.assert_allclose(once, WAVES[1] * Y)
    np.testing.assert_allclose(again, 2 * WAVES[1] * Y)


def test_the_linear_function_keeps_the_values_of_parameters():
    w = Parameter(np.array([2.0, 3.0]), name="w")
    _, linear = linearize(lambda x: x**2 * w, X)
    w.set_data(Tensor(np.zeros(2)))
    np.testing.assert_allclose(linear(Y), 2 * X * Y * [2.0, 3.0])


def power_in_a_loop(x, y):
    product = x
    for _ in range(3):
        product = product * x
        if np.sum(y) > 100.0:
            break
    return product * y


def square_of_one_side(x, y):
    if x[0] > 0.0:
        return x**2 * y
    return x * y


def power(x):
    square = x * x
    return square * square


def power_in_a_helper(x, y):
    return power(x) * y


def power_tried(x, y):
    try:
        if x[1] < 0.0:
            raise ValueError
        return x * y
    except ValueError:
        return x**4 * y


@pytest.mark.parametrize(
    "function, n",
    [(power_in_a_loop, 4), (square_of_one_side, 2), (power_in_a_helper, 4), (power_tried, 4)],
)
def test_the_linear_function_of_control_flow_and_calls(function, n):
    """Of x**n * y."""
    value, linear = linearize(function, (X, Y))
    np.testing.assert_allclose(value, X**n * Y)
    for v, w in [(X, Y), (Y, np.zeros(2)), (np.ones(2), X)]:
        np.testing.assert_allclose(linear(v, w), n * X ** (n - 1) * Y * v + X**n * w)


def test_what_is_drawn_in_a_loop_is_not_drawn_twice():
    def drawn(x):
        for _ in range(2):
            x = x * np.random.rand()
        return x

    with pytest.raises(DerivativeError, match="the second pass computes again"):
        linearize(drawn, X)


def swinging(x):
    return np.sin(x) * x


def test_derivatives_of_derivatives_of_a_number():
    """What a function inside returns is part of it, where its results have no axes."""

    def second(x):
        one = np.ones_like(x)
        return jvp(lambda y: jvp(swinging, y, one)[1], x, one)[1]

    for x in (np.float64(0.7), np.array(0.7)):
        assert second(x) == pytest.approx(-x * np.sin(x) + 2 * np.cos(x))
        assert grad(second)(x) == pytest.approx(-x * np.cos(x) - 3 * np.sin(x))
