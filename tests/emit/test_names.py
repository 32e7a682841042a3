"""What values are called that the user gave no name: after what computes them, or where they go."""

import re

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


def lambdas(x):
    y = x**2
    gate = lambda v: 1.0 / (1.0 + np.exp(-v))
    return np.sum(gate(x) * x + gate(y) * y)


def long_helper(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = np.sin(x[i]) * x[0]
    return y * np.cumsum(x)


@pytest.mark.parametrize(
    "fn, names",
    [
        (in_helpers, "centered sqrt_var"),
        (in_place_of_helpers, "logistic_f tanh_x logistic_g"),
        (quotients, "high_minus_low exp_x"),
        (parts_of_one_array, "x_difference"),
        (squares, "x_squared"),
        (comparisons, "x_mask"),
        (elements, "x_i x_j tanh_x_i"),
        (results_of_helpers, "long_helper_x"),
        (lambdas, "gate_x gate_y"),
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


def test_what_a_loop_in_a_loop_keeps_is_called_the_inner_steps():
    def f(x):
        total, y = 0.0, x
        for i in range(3):
            for j in range(2):
                a, b = np.sin(y * i), np.exp(y - j)
                y = a * y + b
                total = total + np.sum(a / b)
            c, d = np.cos(y), np.tanh(y * i)
            y = c * d
        return total

    text = grad(f).source(np.ones(3))
    assert re.findall(r"(\w+)\.append\(\(", text) == ["inner_steps", "steps"]
    assert re.findall(r"= (\w+)\.pop\(\)", text) == ["steps", "inner_steps"]


def test_a_list_of_each_pass_is_called_the_inner_one():
    def f(x):
        y = x
        for i in range(3):
            while np.sum(y) < i:
                a, b = np.sin(y), np.exp(y)
                y = a * y + b
        return np.sum(y)

    text = grad(f).source(np.zeros(3))
    assert {"steps", "inner_steps"} <= {*re.findall(r"(\w+) = \[\]", text)}


class Account:
    def __init__(self, amounts):
        self.amounts = amounts.copy()
        self.paid = []

    def pay(self, rate):
        for i in range(len(self.amounts)):
            self.amounts[i] *= 1 + np.sin(rate * self.amounts[i])
            self.paid.append(self.amounts[i] ** 2)


def payments(x):
    account = Account(x)
    for _ in range(2):
        account.pay(0.1)
    return sum(account.paid)


def test_what_an_object_holds_is_called_as_its_attribute():
    text = grad(payments).source(X)
    assert "paid = []" in text, text
    assert re.search(r"amounts_bar\[i\]", text), text
    np.testing.assert_allclose(grad(payments)(X), differences(payments, X), atol=1e-6)


def prices(x, weights):
    """Values without a name: the parameter of a helper, the neighbours of an element, parts."""
    total = 0.0
    for i in range(1, len(x) - 1):
        step = weights[0] * x[i - 1] * x[i] + weights[1] * x[i] * x[i + 1]
        total += np.tanh(step) * step * x[i - 1]
    return total


def test_a_value_without_a_name_is_called_after_what_it_is_or_becomes():
    text = grad(prices, (0, 1)).source(np.linspace(0.1, 0.9, 6), X[:2])
    assigned = set(re.findall(r"^ +(\w+)(?: =|, )", text, re.MULTILINE))
    bare = {"product", "ratio", "total_2", "difference", "value", "part", "part_x"}
    assert not assigned & bare, text
    assert "x_next" in assigned


def swept(x, steps):
    for _ in range(steps):
        for i in range(1, len(x)):
            push = np.sin(x[i] * x[i - 1])
            x = x * np.cos(push * x[i])
    return np.sum(x)


def test_lists_of_lists_are_called_after_what_is_in_them():
    text = grad(swept).source(X, 3)
    assert "saved_saved" not in text
    assert "x_lists.append(x_saved)" in text or "history" in text, text


def pushed(x, v, steps):
    for _ in range(steps):
        v = v + 0.1 * bent(x, 2.0)
        x = x + 0.1 * v
        v = v + 0.1 * bent(x, 2.0)
    return np.sum(x * v)


def bent(x, k):
    inside = k * x
    return np.sin(inside) * inside


def test_an_adjoint_is_updated_though_another_one_begins_as_a_product_of_a_third():
    text = grad(pushed, (0, 1)).source(X, X, 3)
    assert not re.search(r"^ +(\w+_bar) = \1 [-+]", text, re.MULTILINE), text
    found = grad(pushed, (0, 1))(X, X, 3)
    for place in (0, 1):
        at = lambda each: pushed(*[each if i == place else X for i in (0, 1)], 3)
        np.testing.assert_allclose(found[place], differences(at, X), rtol=1e-6)


def leapfrog(q, k):
    p, force = np.zeros_like(q), np.zeros_like(q)
    for _ in range(3):
        force[k] = -np.sin(q[k])
        p[k] = p[k] + 0.1 * force[k] * p[k] ** 2 - 0.1
        q = q + 0.1 * p * q**2
    return np.sum(q**2 + p**2)


def test_zeros_of_two_variables_are_each_called_after_its_own():
    text = grad(leapfrog).source(X, 1)
    assert "    p = np.zeros_like(q)" in text
    assert "    force = np.zeros_like(q)" in text
    assert "p_2" not in text


def test_an_element_that_is_put_back_is_the_one_that_was_read():
    """Not read once for the derivative, and once more to restore the array."""
    text = grad(leapfrog).source(X, 1)
    assert text.count("= p[k]") == 1
    assert "    p[k] = p_k  # line" in text
    np.testing.assert_allclose(grad(leapfrog)(X, 1), differences(lambda x: leapfrog(x, 1), X), 1e-6)
