"""np.errstate: what was silenced stays silent, in the user's statements and in what is derived."""

import warnings

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, value_and_grad, vmap

X = np.array([0.0, 1.0, 2.0])
POSITIVE = np.array([0.5, 1.5, 2.0])


def quotients(x, n):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = x / (x - 1.0)
        z = np.log(x) * n
    return np.sum(np.where(x == 1.0, 0.0, y) + np.where(x > 0, z, 0.0))


def helper(x):
    y = np.log(x)
    return np.where(x > 0, y, 1.0)


def changed(v, x):
    v += 1.0 / x
    return v * 2.0


def in_a_loop(x, n):
    s = 0.0
    with np.errstate(all="ignore"):
        for i in range(1, n):
            s = s + np.sum(helper(x * i))
    return s


def around_a_helper_that_changes_its_argument(x, n):
    v = np.zeros(3)
    with np.errstate(divide="ignore"):
        w = changed(v, x * n)
    return np.sum(np.where(x > 0, w, 0.0) + np.where(x > 0, v, 0.0))


def one_in_another(x, n):
    with np.errstate(divide="ignore"):
        y = 1.0 / x
        with np.errstate(invalid="ignore"):
            z = np.sqrt(x - 1.0) * (y - y)
        y = 1.0 / (x * n)
    return np.sum(np.where(x > 0, y, 0.0)) + np.nansum(z)


def returned_inside(x, n):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sum(np.where(x > 0, n / x, x))


PROGRAMS = (quotients, in_a_loop, around_a_helper_that_changes_its_argument, one_in_another)
PROGRAMS += (returned_inside,)


@pytest.mark.parametrize("function", PROGRAMS)
def test_what_is_silenced_warns_of_nothing(function):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = function(X, 3)
        np.testing.assert_allclose(jit(function)(X, 3), expected)
        np.testing.assert_allclose(vmap(function, (0, None))(np.stack([X, X]), 3), [expected] * 2)


@pytest.mark.parametrize("function", [quotients, in_a_loop, returned_inside])
def test_what_is_derived_is_silenced_too(function):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, _ = value_and_grad(function)(X, 3)
        primal, _ = jvp(lambda x: function(x, 3), (X,), (np.ones(3),))
        np.testing.assert_allclose([value, primal], function(X, 3))


@pytest.mark.parametrize("function", [quotients, in_a_loop, returned_inside])
def test_the_gradient_is_what_it_is_without_the_settings(function):
    steps = 1e-6 * np.eye(3)
    differences = [(function(POSITIVE + h, 3) - function(POSITIVE - h, 3)) / 2e-6 for h in steps]
    np.testing.assert_allclose(grad(function)(POSITIVE, 3), differences, rtol=1e-6)


def test_what_is_not_silenced_warns():
    def partly(x):
        with np.errstate(divide="ignore"):
            y = 1.0 / x
        return np.sum(y + 1.0 / x)

    with pytest.warns(RuntimeWarning, match="divide by zero"):
        jit(partly)(X)


def test_the_text_holds_the_statements_in_the_context():
    text = jit(quotients).source(X, 3)
    assert text.split("\n")[5].strip() == 'with np.errstate(divide="ignore", invalid="ignore"):'
    assert [line[:8].strip() for line in text.split("\n")[6:8]] == ["", ""]
    assert jit(in_a_loop).source(X, 3).count('with np.errstate(all="ignore")') == 1
