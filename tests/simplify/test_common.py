"""What derivatives compute twice is computed once, and equal values share one adjoint."""

import numpy as np
import pytest

from s2s_ad import grad, vmap
from transforms.differences import differences

X = np.array([[0.3, -1.2, 0.8, 0.5], [1.1, 0.4, -0.7, -0.2], [0.6, 0.9, 2.0, 1.4]])


def kepler(x):
    """The cosine is in the slope of the sine and in a divisor."""
    mean, e = x[0, 0], 0.2 + x[1, 1] / 10
    angle = mean
    for _ in range(20):
        f = angle - e * np.sin(angle) - mean
        if abs(f) < 1e-13:
            break
        angle = angle - f / (1 - e * np.cos(angle))
    return angle**2


def written_twice(x):
    """A product that stands in two places of the user's code."""
    return np.sum(np.sin(x[0] * x[1]) / (x[0] * x[1]) + np.exp(x[0] * x[1]))


def parts_beside_each_other(x):
    """`:2` and `2:` are two things."""
    return np.sum(x[:, :2] / x[:, 2:] * x[:, 2:] ** 2) + np.sum(x[:2] * x[1:])


def settings(x):
    with np.errstate(divide="ignore"):
        a = np.sum(1.0 / np.cos(x))
    return a + np.sum(np.tan(x) / np.cos(x))


def log_of_a_quotient(x):
    return np.sum(np.log(x[0] ** 2 / x[1] ** 2) * x[2])


ALL = [kepler, written_twice, parts_beside_each_other, settings, log_of_a_quotient]


@pytest.mark.parametrize("fn", ALL, ids=lambda f: f.__name__)
def test_derivatives_are_right(fn):
    slopes = differences(fn, X)
    np.testing.assert_allclose(grad(fn)(X), slopes, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(
        vmap(grad(fn))(np.stack([X, X + 1])), [slopes, grad(fn)(X + 1)], 1e-6
    )


def test_a_cosine_of_a_pass_is_computed_once_on_the_way_back():
    backward = grad(kepler).source(X).split("# backward")[1]
    assert (backward.count("np.cos(angle"), backward.count("np.sin(angle")) == (1, 1)


def test_the_adjoints_of_equal_values_are_added_before_they_go_on():
    source = grad(written_twice).source(X)
    assert source.count("x_bar[0] = ") + source.count("x_bar[0] += ") == 1


def test_a_quotient_of_the_same_divisor_goes():
    assert "x[2] / x_0_squared * (2 * x[0])" in grad(log_of_a_quotient).source(X)
