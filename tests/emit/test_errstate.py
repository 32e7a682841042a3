"""np.errstate: what was silenced stays silent, in the user's statements and in what is derived."""

import warnings

import numpy as np
import pytest

from s2s_ad import S2SError, grad, jit, jvp, value_and_grad, vmap

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


# ---- what raises ---------------------------------------------------------------------------------


def overflowing(x, y):
    with np.errstate(all="raise"):
        z = np.exp(x) * np.sqrt(y)
    return np.sum(z)


def not_read(x, y):
    with np.errstate(divide="raise"):
        np.log(x / y)
    return np.sum(x * y)


def logarithms(x, y):
    z = np.log(x)
    w = z * y
    return np.sum(w) + np.sum(z)


def with_a_handler(x, y):
    try:
        with np.errstate(divide="raise", invalid="raise"):
            return logarithms(x, y)
    except FloatingPointError:
        return np.sum(x * y) ** 2


def of_one_path(x, y):
    with np.errstate(all="raise"):
        z = np.log(x[0]) if y[0] > 0 else x[0]
    return z * np.sum(y)


def in_passes(x, y):
    z = np.zeros_like(x)
    with np.errstate(divide="raise"):
        for i in range(3):
            z = z + y / np.sqrt(x) ** i
    return np.sum(z)


def asked_before(x, y):
    with np.errstate(all="ignore"):
        a = np.log(x)
    with np.errstate(divide="raise"):
        b = np.log(x)
    return np.sum(np.where(x > 0, a + b * y, 0.0))


def by_filters(x, y):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            z = logarithms(x, y) + np.sum(y / x)
    except RuntimeWarning:
        z = np.sum(x * y) ** 2
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore")
        w = np.sum(np.log(x))
    return z + w


RAISING = (overflowing, not_read, with_a_handler, of_one_path, in_passes, asked_before, by_filters)
GIVEN = {
    "all well": (X + 1.0, POSITIVE),
    "x is zero": (X, POSITIVE),
    "y is zero": (X + 1.0, X),
    "x is large": (1000.0 * POSITIVE, POSITIVE),
}


def outcome(function, *args):
    """What a call gives, or which exception it ends with, and its text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(function(*args)).tolist()
    except FloatingPointError as error:
        return str(error)


@pytest.mark.parametrize("function", RAISING)
def test_what_raises_does_so_in_each_transform(function):
    compiled, valued, mapped = jit(function), value_and_grad(function), vmap(function)
    for x, y in GIVEN.values():
        expected = outcome(function, x, y)
        assert outcome(compiled, x, y) == expected
        assert outcome(lambda *a: valued(*a)[0], x, y) == pytest.approx(expected)
        assert outcome(lambda *a: jvp(function, a, a)[0], x, y) == pytest.approx(expected)
        batches = np.stack([x, x]), np.stack([y, y])
        assert outcome(lambda *a: mapped(*a)[1], *batches) == pytest.approx(expected)


@pytest.mark.parametrize(
    "function", [not_read, *(pytest.param(each, marks=pytest.mark.slow) for each in RAISING)]
)
def test_what_raises_does_so_beside_native_code(function):
    compiled = jit(function, native=True)
    for given in GIVEN.values():
        assert outcome(compiled, *given) == pytest.approx(outcome(function, *given))


@pytest.mark.parametrize("function", RAISING)
def test_gradients_of_what_raises(function):
    x, y = POSITIVE, POSITIVE[::-1]
    steps = 1e-6 * np.eye(3)
    differences = [(function(x + h, y) - function(x - h, y)) / 2e-6 for h in steps]
    np.testing.assert_allclose(grad(function)(x, y), differences, rtol=1e-6, atol=1e-8)


def test_a_handler_decides_for_each_sample():
    x = np.stack([POSITIVE, X])
    expected = [with_a_handler(each, POSITIVE) for each in x]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a loop over the samples
        np.testing.assert_allclose(vmap(with_a_handler, (0, None))(x, POSITIVE), expected)
        slopes = vmap(grad(with_a_handler), (0, None))(x, POSITIVE)
    np.testing.assert_allclose(slopes[1], 2 * np.sum(X * POSITIVE) * POSITIVE)


def test_some_warnings_as_errors_are_refused():
    def only_some(x):
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            return np.log(x)

    with pytest.raises(S2SError, match="some warnings that are raised as errors"):
        grad(only_some)(X)


def test_a_derivative_raises_nothing_where_the_function_does_not():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        slope = grad(overflowing, 1)(POSITIVE, X)
        tangent = jvp(lambda y: overflowing(POSITIVE, y), (X,), (X + 1.0,))[1]
    np.testing.assert_allclose(
        slope, [np.inf, *(np.exp(POSITIVE) / (2 * np.sqrt(X + (X == 0))))[1:]]
    )
    assert tangent == np.inf
