"""Like terms of a derivative are one term, and a factor cancels what a sum was divided by."""

import numpy as np
import pytest

from s2s_ad import grad, vmap
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


#: a function of x, and how often its derivative selects
SELECTIONS = {
    "one side": (lambda x: np.sum(np.where(x > 0, x**2, 0.0)), 1),
    "leaky": (lambda x: np.sum(np.sin(np.where(x > 0, x, 0.1 * x))), 2),
    "two slopes": (lambda x: np.sum(np.where(x > 0, x**2, -3 * x)), 1),
    "Huber's loss": (lambda x: np.mean(np.where(np.abs(x) < 0.5, 0.5 * x**2, np.abs(x) - 0.1)), 1),
    "one side twice": (lambda x: np.sum(np.where(x > 0, x**3 - 2 * x**2 + np.sin(x), 0.0)), 1),
    "two values twice": (lambda x: np.sum(np.where(x > 0, x**3 - x**2, x * np.cos(x))), 1),
    "one mask twice": (lambda x: np.sum(np.exp(np.where(x > 0, x, 1.0)) * (x > 0)), 2),
    "the other outside": (lambda x: np.sum(np.where(x > 1, x**3, np.where(x > 0, x**2, 0.0))), 2),
    "in each other": (lambda x: np.sum(np.where(x > 1, x, np.where(x > 0, x**2, x**3))), 2),
    "other masks": (lambda x: np.sum(np.where(x > 0, x**2, 0.0) + np.where(x > 1, 0.0, x**3)), 2),
    "of rows": (lambda x: np.sum(np.where(ROWS > 0, x**2, 3 * x) * ROWS), 2),
    "whole numbers": (lambda x: np.sum(np.where(x > 0, x * np.arange(3), x * 2)), 1),
}


@pytest.mark.parametrize("f, selections", SELECTIONS.values(), ids=SELECTIONS)
def test_what_a_mask_chooses_between(f, selections):
    np.testing.assert_allclose(grad(f)(X), differences(f, X), atol=1e-8)
    assert grad(f).source(X).count("np.where(") == selections
    low = X.astype(np.float32)
    assert grad(f)(low).dtype == np.float32
    np.testing.assert_allclose(grad(f)(low), grad(f)(X), rtol=1e-5)
    samples = np.stack([X, -X, Y])
    np.testing.assert_allclose(vmap(grad(f))(samples), [grad(f)(each) for each in samples])


def test_what_is_steep_where_a_mask_leaves_it_out_has_no_part():
    def f(x):
        return np.sum(np.where(x > 0, np.sqrt(x), -2 * x))

    np.testing.assert_allclose(grad(f)(np.array([0.0, 4.0, 0.25])), [-2.0, 0.25, 1.0])
