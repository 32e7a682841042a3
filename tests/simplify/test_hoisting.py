"""Backward loops: what is the same in each pass and takes work is computed once, before them."""

import numpy as np
import pytest

from s2s_ad import grad, jit, vmap
from transforms.differences import differences

X, W = np.array([0.3, -0.7, 1.9]), np.array([1.1, -0.6, 0.3])


def steps(x, w):
    for _ in range(3):
        x = np.sin(x) * np.abs(w) - 2.0 * x * w[::-1]
    return np.sum(x**2)


def parts(x, w):
    x = x.copy()
    for _ in range(4):
        x[1:] += np.maximum(w, 0.0)[1:] * x[:-1] ** 2
    return np.sum(x)


def inner(x, w):
    for _ in range(2):
        y = x
        for _ in range(2):
            y = np.sin(y) * np.abs(w)
        x = x + y
    return np.sum(x * x)


def as_long_as(x, w):
    while np.sum(x) < 20.0:
        x = x**2 * np.exp(np.abs(w)) + 1.0
    return np.sum(x)


def scratch(x, w):
    """Each pass writes into an array of its own."""
    total = 0.0
    for i in range(3):
        y = np.exp(w)
        y[i] *= x[i]
        total += np.prod(y)
    return total


@pytest.mark.parametrize("fn", [steps, parts, inner, as_long_as, scratch])
def test_gradients(fn):
    expected = differences(lambda w: fn(X, w), W)
    np.testing.assert_allclose(grad(fn, 1)(X, W), expected, rtol=1e-6)
    np.testing.assert_allclose(vmap(grad(fn, 1), (None, 0))(X, W[None])[0], expected, rtol=1e-6)


@pytest.mark.parametrize(
    "fn, once", [(steps, "np.abs(w)"), (parts, "np.maximum(w, 0.0)"), (inner, "np.abs(w)")]
)
def test_it_stands_once_before_both_loops(fn, once):
    source = grad(fn, 1).source(X, W)
    assert source.count(once) == 1
    assert source.index(once) < source.index("for _ in")


def test_with_what_it_is_computed_from():
    def fn(x, w):
        for _ in range(3):
            x = np.sin(x) * np.abs(w - 0.1)
        return np.sum(x)

    source = grad(fn).source(X, W)
    assert source.count("np.abs(w - 0.1)") == 1
    assert source.index("np.abs(") < source.index("for _ in")
    np.testing.assert_allclose(grad(fn)(X, W), differences(lambda x: fn(x, W), X), rtol=1e-6)


def test_what_only_the_derivative_needs_stands_behind_the_loop():
    def fn(x, w):
        for _ in range(3):
            x = np.sin(x) * np.abs(w)
        return np.sum(x)

    source = grad(fn, (0, 1)).source(X, W)
    assert source.index("np.abs(w)") < source.index("for _ in")
    assert source.index("np.sign(w)") > source.rindex("for _ in")


def test_what_the_user_wrote_in_a_loop_stays_there():
    source = jit(steps).source(X, W)
    assert source.index("for _ in") < source.index("np.abs(w)")


def test_what_may_raise_is_not_computed_where_no_pass_is_made():
    def fn(x, a, b, n):
        for _ in range(n):
            x = x * (a @ b)
        return np.sum(x)

    np.testing.assert_array_equal(grad(fn)(X, np.ones(2), np.ones(3), 0), np.ones(3))
    with pytest.raises(ValueError, match="lengths"):
        grad(fn)(X, np.ones(2), np.ones(3), 1)


def scaled(x, w):
    """What its backward pass reads of a pass is there where one was made."""
    for _ in range(len(x) - 2):
        x = x * w[0] + w / np.linalg.norm(w)
    return np.sum(x)


def scaled_by_inner(x, w):
    y = x
    for k in range(len(x) - 1):
        y = y * w[0]
        for _ in range(k):
            y = y + np.sin(y) * np.tanh(w)
    return np.sum(y)


@pytest.mark.parametrize("fn", [scaled, scaled_by_inner, lambda x, w: scaled(x, w) * scaled(w, x)])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_loops_without_passes(fn, size):
    x, w = X[:size], W[:size]
    expected = differences(lambda w: fn(x, w), w)
    np.testing.assert_allclose(grad(fn, 1)(x, w), expected, rtol=1e-6, atol=1e-9)
