"""Functions inside of functions that keep their name: given what they read around them."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, vmap

DT = 0.1


def runge_kutta(theta):
    def rhs(state):
        x, v = state
        force = -theta[0] * x - theta[1] * v
        return np.array([v, force])

    def step(y):
        k1 = rhs(y)
        k2 = rhs(y + DT * k1)
        return y + 0.5 * DT * (k1 + k2)

    y = np.array([1.0, 0.5])
    for _ in range(3):
        y = step(y)
    return y @ y


def number_changed(theta):
    k = 2.0

    def f(y):
        z = y * k
        return np.sum(z * z)

    a = f(theta)
    k = 3.0
    return a * f(theta)


def given_to(f, y):
    u = f(y)
    return u + 1.0


def number_changed_of_an_argument(theta):
    k = 2.0

    def f(y):
        z = y * k
        return np.sum(z * z)

    a = given_to(f, theta)
    k = 3.0
    return a * given_to(f, theta)


def in_a_list(theta):
    k = 2.0

    def inner(y):
        z = y * k
        return np.sum(z * z)

    functions = [inner]

    def f(y):
        z = functions[0](y)
        return z * z

    a = f(theta)
    k = 3.0
    return a + f(theta)


def array_changed(theta):
    w = theta.copy()

    def f(y):
        z = w * y
        return np.sum(z * z)

    a = f(theta)
    w[0] = 3.0
    b = f(theta)
    w = w * theta
    return a + b * f(theta)


def list_grows(theta):
    items = [theta]

    def f(y):
        z = y * items[-1]
        return np.sum(z) * len(items)

    a = f(theta)
    items.append(theta * theta)
    return a * f(theta)


def one_name_twice(theta):
    k = 2.0

    def inner(y):
        z = y * k
        return np.sum(z * z)

    def outer(y):
        k = np.sum(y)
        u = inner(y) + k
        return u * inner(k * y)

    return outer(theta) + inner(theta)


def name_of_the_module(theta):
    def make(DT):
        def inner(y):
            z = y * DT
            return np.sum(z * z)

        return inner

    inner = make(3.0)

    def outer(y):
        u = inner(y)
        return u * DT

    return outer(theta) + outer(2.0 * theta)


def counted(theta):
    count = 0

    def f(y):
        nonlocal count
        count += 1
        z = y * count
        return np.sum(z * z)

    return f(theta) * f(theta) + count


def carried(theta):
    s = theta[0]

    def f(y):
        z = y + s
        return np.sin(z) * s

    for _ in range(3):
        s = f(s)
    return s * theta[1]


def handed_back(theta):
    w = theta.copy()

    def f(s):
        t = s * s
        return w, t

    v, t = f(theta[1])
    v[0] = t
    return np.sum(w * w)


PROGRAMS = [
    runge_kutta,
    number_changed,
    number_changed_of_an_argument,
    in_a_list,
    array_changed,
    list_grows,
    one_name_twice,
    name_of_the_module,
    counted,
    carried,
    handed_back,
]
THETA = np.array([0.7, -0.4])


def differences(f, x, h=1e-6):
    steps = h * np.eye(len(x))
    return np.array([(f(x + each) - f(x - each)) / (2 * h) for each in steps])


@pytest.mark.thinned(2)
@pytest.mark.parametrize("f", PROGRAMS)
def test_values_and_derivatives(f):
    expected = differences(f, THETA)
    np.testing.assert_allclose(jit(f)(THETA), f(THETA), rtol=1e-12)
    np.testing.assert_allclose(grad(f)(THETA), expected, rtol=1e-6, atol=1e-7)
    along = np.array([0.3, 1.0])
    np.testing.assert_allclose(jvp(f, (THETA,), (along,))[1], expected @ along, rtol=1e-6)
    batch = np.stack([THETA, 2.0 * THETA])
    found = vmap(grad(f))(batch)
    np.testing.assert_allclose(found, [grad(f)(each) for each in batch], rtol=1e-10)


def test_the_text_has_the_functions_of_the_user():
    text = grad(runge_kutta).source(THETA)
    assert text.count("def rhs_backward(") == 1
    assert text.count("def step_backward(") == 1
    assert "theta_bar += " in text


def described(x):
    def outer(a):
        """Twice

        a number.
        """

        def inner(b):
            return b

        return inner

    inner, nameless = outer(x), lambda: 0
    assert inner.__doc__ is None
    assert nameless.__doc__ is None
    assert outer.__name__ == "outer"
    assert inner.__qualname__ == "described.<locals>.outer.<locals>.inner"
    return x * len(outer.__doc__) * len(nameless.__qualname__)


def test_functions_made_inside_know_their_names_and_what_is_said_of_them():
    assert grad(described)(2.0) == described(1.0)
