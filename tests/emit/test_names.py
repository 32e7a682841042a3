"""What values are called that the user gave no name: after what computes them, or where they go."""

import numpy as np
import pytest

from s2s_ad import grad
from transforms.differences import differences

X = np.array([0.3, -1.2, 0.8])


def in_helpers(x):
    return np.sum(scaled(x) * x)


def scaled(x):
    centered = x - np.mean(x)
    var = np.mean(centered**2)
    return centered / np.sqrt(var + 1e-5)


def logistic(x):
    return 1.0 / (1.0 + np.exp(-x))


def in_place_of_helpers(x):
    return np.sum(gate(x) * np.cos(x))


def gate(f):
    g = logistic(f) * np.tanh(f)
    return logistic(g) * g


def quotients(x):
    low, high = np.min(x), np.max(x)
    return np.sum(np.exp(x / (high - low)) * (x / (high - low)))


def parts_of_one_array(x):
    return np.sum((x[1:] - 2 * x[:-1]) ** 4 * np.sin(x[1:] - 2 * x[:-1]))


def squares(x):
    return np.sum(np.cos(x**2) * x**2)


def comparisons(x):
    return np.sum(np.where(x > 0.1, x, x**3) * (x > 0.1))


def elements(x):
    total = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(len(x)):
            total[i, j] = np.tanh(x[i] * x[j]) ** 2 / (1.0 + x[i] ** 2)
    return np.sum(total**2)


def results_of_helpers(x):
    return np.sum((long_helper(x) - 1.0) ** 2)


def long_helper(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = np.sin(x[i]) * x[0]
    return y * np.cumsum(x)


@pytest.mark.parametrize(
    "fn, names",
    [
        (in_helpers, "centered sqrt_var"),
        (in_place_of_helpers, "logistic_f tanh_f logistic_g"),
        (quotients, "high_minus_low exp_x"),
        (parts_of_one_array, "x_difference"),
        (squares, "x_squared"),
        (comparisons, "x_mask"),
        (elements, "x_i x_j tanh_x_i"),
        (results_of_helpers, "long_helper_value"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_what_has_no_name_is_called_after_what_computes_it(fn, names):
    source = grad(fn).source(X)
    assert [each for each in names.split() if each not in source] == [], source
    np.testing.assert_allclose(grad(fn)(X), differences(fn, X), atol=1e-6)


def swinging(x, steps):
    angle, speed = x[0], x[1]
    for _ in range(steps):
        push = np.sin(angle) * x[2]
        speed = speed - 0.1 * push * angle
        angle = angle + 0.1 * np.tanh(speed) * push
    return angle * speed


def test_the_list_of_what_passes_save_is_no_second_one_of_the_users():
    source = grad(swinging).source(X, 3)
    assert "history = []" in source, source
    assert "steps_2" not in source, source
    np.testing.assert_allclose(
        grad(swinging)(X, 3), differences(lambda x: swinging(x, 3), X), atol=1e-6
    )


def test_a_list_in_a_list_is_called_the_inner_one():
    def f(x):
        total, y = 0.0, x
        for i in range(3):
            for j in range(2):
                a, b = np.sin(y * i), np.exp(y - j)
                y = y + a * b
                total = total + np.sum(a / b)
        return total

    text = grad(f).source(np.ones(3))
    assert "steps.append(inner_steps)" in text
    assert "inner_steps = steps.pop()" in text
