"""Like terms of a derivative are one term, and a factor cancels what a sum was divided by."""

import numpy as np
import pytest

from s2s_ad import grad
from transforms.differences import differences

X, Y = np.array([0.3, 1.2, -0.7]), np.array([1.5, 0.2, 0.9])
ROWS = np.outer(Y, X) + 0.1

#: a function of x, and how many terms its derivative is left with
POLYNOMIALS = [
    (lambda x: np.sum(0.5 * x * x), 1),
    (lambda x: np.sum(x * x * x + 2 * x * x), 2),
    (lambda x: np.sum(x * Y * x * 3), 1),
    (lambda x: np.sum(x * x * x - 0.5 * x * x * (3 * x)), 1),
    (lambda x: np.sum(0.5 * x * x + 3 * x * x * x), 2),
    (lambda x: np.sum((x * Y) ** 2 + x * x * Y), 2),
]


@pytest.mark.parametrize("f, terms", POLYNOMIALS)
def test_like_terms(f, terms):
    np.testing.assert_allclose(grad(f)(X), differences(f, X), atol=1e-8)
    text = grad(f).source(X)
    assert text.count(" + ") + text.count(" - ") + 1 == terms


def scaled(log_scale):
    return np.sum(np.cos((ROWS - X) / np.exp(log_scale)))


def scaled_by_one(log_scale):
    return np.sum(np.cos((ROWS - 0.5) / np.exp(log_scale[0])))


def scaled_by_rows(log_scale):
    return np.sum(np.cos(ROWS / np.exp(log_scale)[:, None]))


def scaled_and_summed(log_scale):
    """The scale differs along the axis of the user's sum."""
    scale = np.exp(log_scale)
    return np.sum(np.sin(np.sum(ROWS / scale, axis=1) * scale))


@pytest.mark.parametrize("f", [scaled, scaled_by_one, scaled_by_rows, scaled_and_summed])
def test_quotients_by_an_exponential(f):
    np.testing.assert_allclose(grad(f)(Y), differences(f, Y), atol=1e-8)


def test_a_quotient_by_an_exponential_that_overflows():
    text = grad(scaled).source(Y)
    assert "isfinite" not in text
    assert not grad(scaled)(np.full(3, 800.0)).any()
