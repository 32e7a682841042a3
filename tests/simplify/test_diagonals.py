"""The adjoint of a diagonal alone is a diagonal matrix; masks of what is bounded."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, vmap

A = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.8]])
WIDE = np.arange(1.0, 13.0).reshape(3, 4)


def log_det(a):
    return 2.0 * np.sum(np.log(np.diag(np.linalg.cholesky(a @ a.T))))


def of_diagonal(a):
    return np.sum(np.sin(np.diag(a)))


def of_diagonal_and_more(a):
    return np.sum(np.sin(np.diag(a))) + np.sum(a**2)


def of_part(a):
    count = np.arange(2)
    return np.sum(np.sin(a[count, count]))


def beside(a):
    return np.sum(np.sin(np.diagonal(a, 1)))


PROGRAMS = [log_det, of_diagonal, of_diagonal_and_more, of_part, beside]


def differences(f, a, h=1e-6):
    found = np.zeros_like(a)
    for place in np.ndindex(*a.shape):
        step = np.zeros_like(a)
        step[place] = h
        found[place] = (f(a + step) - f(a - step)) / (2 * h)
    return found


@pytest.mark.parametrize("a", [A, WIDE], ids=["square", "wide"])
@pytest.mark.parametrize("f", PROGRAMS)
def test_the_gradient(f, a):
    a = 0.1 * a + np.eye(*a.shape)
    derived = grad(f)
    np.testing.assert_allclose(derived(a), differences(f, a), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(derived(a[:2]), differences(f, a[:2]), rtol=1e-5, atol=1e-8)
    batch = np.stack([a, 2.0 * a])
    np.testing.assert_allclose(vmap(derived)(batch), [derived(each) for each in batch], rtol=1e-10)


def test_the_text():
    text = grad(of_diagonal).source(A)
    assert "return np.diag(np.cos(np.diagonal(a)))" in text
    assert "arange" not in grad(log_det).source(A)
    assert "np.diag(" not in grad(of_part).source(A)


def payoff(s, strike):
    return np.mean(np.maximum(s - strike, 0.0))


def test_a_mask_is_asked_of_what_is_bounded_where_only_the_length_is_read():
    s = np.array([0.5, 1.5, 3.0])
    assert "maximum" not in grad(payoff).source(s, 1.0)
    np.testing.assert_allclose(grad(payoff)(s, 1.0), [0.0, 1 / 3, 1 / 3])


@pytest.mark.parametrize("f", [log_det, of_diagonal])
def test_nothing_is_left_of_the_index(f):
    lines = grad(f).source(A).splitlines()
    assert not [each for each in lines if each.strip().startswith("len(")]
