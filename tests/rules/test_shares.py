"""e / sum(e) sums to one: the maximum in log-sum-exp has no part in a derivative."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, jvp, vmap
from transforms.differences import differences

X = np.array([[0.3, -1.2, 0.7], [1.5, 0.2, -0.4], [-0.6, 0.9, 1.1], [0.1, 0.4, -2.0]])
W = np.array([0.5, -1.0, 2.0, 0.7])
LABELS = np.array([0, 2, 1, 1])


def log_sum_exp(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def of_rows(x):
    top = np.max(x, axis=1)
    return np.sum(W * (top + np.log(np.sum(np.exp(x - top[:, None]), axis=1))))


def cross_entropy(x):
    top = np.max(x, axis=1, keepdims=True)
    shifted = x - top
    logs = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(logs[np.arange(4), LABELS])


def chain(x):
    """The forward pass of a hidden Markov model."""
    a = x[0]
    for row in x[1:]:
        scores = a[:, None] + 0.3 * np.outer(row, row)
        top = np.max(scores, axis=0)
        a = row + top + np.log(np.sum(np.exp(scores - top), axis=0))
    return log_sum_exp(a)


def weighted(x):
    """A quotient of sums, where nothing comes back."""
    e = np.exp(x)
    total = np.sum(e, axis=1, keepdims=True)
    return np.sum(W[:, None] * e / total * x) + np.sum(np.sum(e / total, axis=0) ** 2)


def other_axis(x):
    e = np.exp(x)
    return np.sum(np.sum(x * e / np.sum(e, axis=0), axis=1) ** 2)


@pytest.mark.parametrize(
    "fn",
    [log_sum_exp, of_rows, cross_entropy, chain, weighted, other_axis],
    ids=lambda f: f.__name__,
)
def test_derivatives_are_right(fn):
    slopes, direction = differences(fn, X), np.cos(3 * X)
    np.testing.assert_allclose(grad(fn)(X), slopes, atol=1e-8)
    np.testing.assert_allclose(vmap(grad(fn))(np.stack([X, -X]))[0], slopes, atol=1e-8)
    around = [grad(fn)(X + sign * 1e-5 * direction) for sign in (1, -1)]
    curvature = (around[0] - around[1]) / 2e-5
    np.testing.assert_allclose(jvp(grad(fn), X, direction)[1], curvature, atol=1e-7)


@pytest.mark.parametrize(
    "fn", [log_sum_exp, of_rows, cross_entropy, chain], ids=lambda f: f.__name__
)
def test_the_maximum_is_no_more_than_a_shift(fn):
    """Nothing asks where it is; where several are largest the derivative is the same."""
    assert "==" not in grad(fn).source(X)
    np.testing.assert_allclose(grad(fn)(0 * X), differences(fn, 0 * X), atol=1e-8)
