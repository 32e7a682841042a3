"""Values that are the same in each pass of a loop: the last pass's is there, and none is kept."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, jvp, vmap
from transforms.differences import differences

rng = np.random.default_rng(1)
A = np.eye(3) + 0.2 * rng.normal(size=(3, 3))
X = rng.normal(size=3)


def solved(A, x, n):
    for _ in range(n):
        x = np.linalg.solve(A @ A, x)
    return np.sum(x**2)


def until(A, x, n):
    count = 0
    while count < n:
        x = np.tanh(np.exp(A) @ x)
        count += 1
    return np.sum(x)


def left(A, x, n):
    for i in range(n):
        x = np.sin(A @ A @ x)
        if i == 2:
            break
    return np.sum(x)


def double(A, x, n):
    for _ in range(n):
        B = np.exp(A)
        for _ in range(2):
            x = np.tanh(B @ x + np.sin(A) @ x)
    return np.sum(x)


def helper(A):
    root = np.linalg.inv(A)
    return root @ root, np.exp(A)


def called(A, x, n):
    for _ in range(n):
        B, C = helper(A)
        x = np.tanh(B @ x) + C @ x
    return np.sum(x)


PROGRAMS = [solved, until, left, double, called]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("n", [0, 1, 3, 4])
@pytest.mark.parametrize("f", PROGRAMS)
def test_the_gradient(f, n):
    of_A, of_x = grad(f, (0, 1))(A, X, n)
    np.testing.assert_allclose(of_A, differences(lambda M: f(M, X, n), A), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(of_x, differences(lambda x: f(A, x, n), X), rtol=1e-5, atol=1e-6)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("f", PROGRAMS)
def test_again_and_for_batches(f):
    along = lambda M: np.sum(grad(f)(M, X, 3) ** 2)
    np.testing.assert_allclose(grad(along)(A), differences(along, A), rtol=1e-4, atol=1e-3)
    _, tangent = jvp(along, (A,), (np.ones((3, 3)),))
    assert tangent == pytest.approx(np.sum(grad(along)(A)))
    batch = np.stack([A, A + 0.1])
    found = vmap(grad(f), in_axes=(0, None, None))(batch, X, 3)
    np.testing.assert_allclose(found, [grad(f)(M, X, 3) for M in batch], rtol=1e-9)


@pytest.mark.parametrize("f, lists", [(solved, 1), (until, 1), (left, 2)])
def test_passes_keep_what_differs_alone(f, lists):
    text = grad(f, (0, 1)).source(A, X, 3)
    assert text.count(".append(") == lists


def test_explain_says_that_they_are_there():
    rows = grad(solved, (0, 1)).explain(A, X, 4).splitlines()
    once = [row for row in rows if " 72 " in row]
    assert len(once) == 1
    assert "once" in once[0]
