"""Lengths that follow from those of the operands: nothing is unbroadcast where these agree."""

import numpy as np
import pytest

from s2s_ad import grad, jit, vmap
from transforms.differences import differences

X = np.array([[0.3, -1.2, 0.7, 1.5], [0.4, 0.9, -0.2, 0.1], [1.1, -0.3, 0.8, 0.6]])


def neighbours(x):
    """Each element beside those around it, as filters of images read them."""
    padded, (height, width) = np.pad(x, 1, mode="edge"), x.shape
    total = 0.0
    for i in range(3):
        for j in range(3):
            part = padded[i : i + height, j : j + width]
            total = total + np.sum(np.exp(-((part - x) ** 2)) * part)
    return total


def wide(x, k=2):
    padded = np.pad(x, ((0, 0), (k, k)))
    return np.sum(padded[:, k:-k] * x) + np.sum(padded[:, : x.shape[1]] * x**2)


def convolved(x):
    y = np.convolve(x[0], x[1])
    return np.sum(y[: len(x[0])] * x[2]) + y @ y


def off_diagonal(x):
    a = np.diag(x[0], 1)
    return np.sum((a[:-1, 1:] @ x[1]) * x[2])


PROGRAMS = [neighbours, wide, convolved, off_diagonal]


@pytest.mark.parametrize("f", PROGRAMS)
def test_the_gradient(f):
    expected = differences(f, X)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jit(grad(f))(X), expected, rtol=1e-6, atol=1e-8)
    batch = np.stack([X, 0.5 * X])
    np.testing.assert_allclose(vmap(grad(f))(batch), [grad(f)(each) for each in batch], rtol=1e-11)
    along = lambda x: np.sum(grad(f)(x) ** 2)
    np.testing.assert_allclose(grad(along)(X), differences(along, X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", PROGRAMS)
def test_nothing_is_unbroadcast(f):
    assert "unbroadcast" not in grad(f).source(X)
