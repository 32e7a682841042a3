"""np.maximum and its kin beside a number: a mask is a factor where adjoints are finite."""

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, value_and_grad, vmap
from transforms.differences import differences

X = np.array([0.7, -1.2, 2.3, 0.4])
W = np.array(
    [[0.4, -0.3, 0.2, 0.9], [0.1, 0.8, -0.5, 0.3], [-0.7, 0.2, 0.6, 0.1], [0.3, 0.3, 0.3, 0.3]]
)


def rectified(x):
    return np.sum(np.maximum(x, 0.0) ** 2)


def from_the_left(x):
    return np.sum(np.maximum(0, x) ** 2 + np.fmin(1.5, x) ** 2)


def clipped(x):
    return np.sum(np.clip(x, -1.0, 1.0) ** 3)


def root(x):
    return np.sum(np.sqrt(np.maximum(x, 0.0)))


def layer(w, x):
    z = w @ x
    z = z - np.mean(z)
    z = z / np.sqrt(1e-5 + np.mean(z**2))
    return np.maximum(z, 0.0)


def layers(x):
    return np.sum(layer(W, layer(W, x)) ** 2)


def root_of_a_layer(x):
    return np.sum(np.sqrt(layer(W, x)) * x)


def both_kinds_of_calls(x):
    return np.sum(layer(W, np.sqrt(layer(W, x))) ** 2)


def loop(x):
    h = x
    for i in range(3):
        h = np.maximum(W @ h, 0.0) + 0.1 * x[i]
    return np.sum(h**2)


def loop_of_roots(x):
    h = x
    for _ in range(3):
        h = np.sqrt(np.maximum(h, 0.0)) + x
    return np.sum(h)


def root_of_a_loop(x):
    h = x
    for _ in range(2):
        h = np.maximum(W @ h, 0.0)
    return np.sum(np.sqrt(h))


def branch(x):
    y = np.maximum(x, 0.0) if x[0] > 0.5 else np.minimum(x, 0.0)
    return np.sum(np.sqrt(y))


def roots_in_a_loop(x):
    y = np.maximum(x, 0.0)
    for _ in range(2):
        y = np.sqrt(y)
    return np.sum(x * y)


def root_on_one_side(x):
    y = np.minimum(x, 1.0)
    if x[0] > 0.5:
        y = np.sqrt(1.0 - y)
    return np.sum(x * y)


def root_of(y, factor):
    root = np.sqrt(y)
    return root * factor


def roots_in_calls(x):
    return np.sum(root_of(np.maximum(x, 0.0), 2.0) * x + root_of(x**2 + 1.0, 3.0))


def descended(y, steps):
    return np.sum(np.sqrt(y)) if steps == 0 else descended(0.5 * y, steps - 1) + np.sum(y)


def root_in_a_recursion(x):
    return descended(np.maximum(x, 0.0), 2) + descended(x**2 + 1.0, 1)


TANGENTS = [rectified, from_the_left, clipped, root, layers, loop, loop_of_roots]
STEEP_INSIDE = [roots_in_a_loop, root_on_one_side, roots_in_calls, root_in_a_recursion]
ADJOINTS = [*TANGENTS, root_of_a_layer, both_kinds_of_calls, root_of_a_loop, branch, *STEEP_INSIDE]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("fn", ADJOINTS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_gradient(fn):
    expected = differences(fn, X)
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(grad(fn)(X), expected, atol=1e-6)
    np.testing.assert_allclose(vmap(grad(fn))(X[None])[0], expected, atol=1e-6)


@pytest.mark.parametrize("fn", TANGENTS)
def test_tangent(fn):
    for direction, slope in zip(np.eye(4), differences(fn, X), strict=True):
        np.testing.assert_allclose(jvp(fn, X, direction)[1], slope, atol=1e-6)


@pytest.mark.parametrize("fn", [rectified, from_the_left, clipped, layers, loop])
def test_a_finite_adjoint_is_multiplied_with_the_mask(fn):
    source = grad(fn).source(X)
    assert "np.where" not in source
    assert "runtime" not in source


@pytest.mark.parametrize(
    "fn", [root, root_of_a_layer, loop_of_roots, root_of_a_loop, branch, *STEEP_INSIDE]
)
def test_one_that_may_be_infinite_is_selected(fn):
    source = grad(fn).source(X)
    assert "np.where" in source
    assert "runtime" not in source


def test_at_the_number_itself_the_derivative_is_that_of_the_number():
    zeros = np.zeros(3)
    for function in (np.maximum, np.minimum, np.fmax, np.fmin):
        np.testing.assert_array_equal(grad(lambda x: np.sum(function(x, 0.0)))(zeros), zeros)
        _, tangent = jvp(lambda x: function(0.0, x), zeros, np.ones(3))
        np.testing.assert_array_equal(tangent, zeros)


def test_the_mask_is_asked_of_the_value_that_is_there():
    def of_result(x):
        h = np.maximum(W @ x, 0.0)
        return np.sum((W @ h) ** 2)

    def of_operand(x):
        return np.sum(np.maximum(x, 0.5)) + np.sum(np.minimum(2.0, x))

    for function, mask in ((of_result, "h > 0.0"), (of_operand, "x > 0.5")):
        assert mask in grad(function).source(X)
        np.testing.assert_allclose(grad(function)(X), differences(function, X), atol=1e-6)


def relaxed(x):
    y = x.copy()
    for k in range(3):
        y = np.minimum(y, y[k] + 0.2 * x)
    return np.sum(y**2)


def larger_root(x):
    """Its adjoint is infinite at 0: inf - inf is no number."""
    return np.sum(np.sqrt(np.maximum(x - 0.7, 0.0 * x)) * np.array([0.0, 1.0, 1.0, 1.0]))


def halves(x):
    return np.fmax(x[0], x[1]) + np.maximum(x[0], 2.0 * x[2]) * np.minimum(x[:2], x[2:])


def test_the_second_operand_has_what_the_first_leaves():
    np.testing.assert_allclose(grad(relaxed)(X), differences(relaxed, X), atol=1e-6)
    assert grad(relaxed).source(X).count("by_halves(") == 1
    np.testing.assert_allclose(
        grad(lambda x: np.sum(halves(x)))(X), differences(lambda x: np.sum(halves(x)), X), atol=1e-6
    )
    ties = grad(lambda x, y: np.sum(np.maximum(x, y) * X), (0, 1))(np.ones(4), np.ones(4))
    np.testing.assert_array_equal(ties, [0.5 * X, 0.5 * X])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_but_not_where_adjoints_may_be_infinite():
    x = np.array([0.9, 1.2, 2.3, 1.4])
    np.testing.assert_allclose(grad(larger_root)(x), differences(larger_root, x), atol=1e-6)

    def split(a, b):
        return np.sum(np.sqrt(np.maximum(a, b)))

    found = grad(split, (0, 1))(np.array([0.0, 4.0]), np.array([-1.0, 1.0]))
    np.testing.assert_array_equal(found[0], [np.inf, 0.25])
    np.testing.assert_array_equal(found[1], [0.0, 0.0])


@pytest.mark.parametrize("x", [[], [0.2], [0.2, 0.7, -0.3]])
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_the_extreme_of_nothing_is_what_it_begins_with(x, dtype):
    def both(x):
        return np.max(x, initial=0.5) + 2 * np.min(x, initial=0.1) + np.max(x[x > 0.3], initial=0.4)

    x = np.array(x, dtype)
    slope = 2.0 * (x < 0) + 2.0 * (x > 0.5)
    value, gradient = value_and_grad(both)(x)
    np.testing.assert_allclose(value, both(x), rtol=1e-6)
    np.testing.assert_allclose(gradient, slope)
    assert gradient.dtype == dtype


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (2, 0, 3), (2, 3, 1)])
def test_the_extremes_along_axes_without_elements(shape):
    def extremes(x):
        first = np.max(x, axis=(0, 1), initial=0.5, where=x < 0.9)
        return first, np.min(x, axis=(0, -1), initial=0.1, keepdims=True), x.max(1, initial=0.25)

    x = np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape)
    slope = np.zeros(shape)
    if x.size:
        slope[1, 1, 0], slope[0, :, 0] = 1.0, 1.0
        slope[1, 2, 0] += 1.0  # of x.max(1)
    for got, expected in zip(jit(extremes)(x), extremes(x), strict=True):
        np.testing.assert_array_equal(got, expected)
    total = lambda x: sum(np.sum(each) for each in extremes(x))
    np.testing.assert_allclose(grad(total)(x), slope)
    np.testing.assert_allclose(vmap(grad(total))(np.stack([x, x])), np.stack([slope, slope]))
