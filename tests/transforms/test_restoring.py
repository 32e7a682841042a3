"""Loops that overwrite elements: the backward pass puts them back, and no pass keeps the array."""

from __future__ import annotations

import re

import numpy as np
import pytest

from s2s_ad import grad, jvp, value_and_grad, vmap
from transforms.differences import differences

rng = np.random.default_rng(4)
A = np.eye(4) * 3 + rng.normal(size=(4, 4)) * 0.3
SPD = A @ A.T
B = rng.normal(size=4)


def back_substitution(U, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, n):
            s -= U[i, j] * x[j]
        x[i] = s / U[i, i]
    return np.sum(x * x)


def cholesky(M, b):
    n = len(M)
    L = np.zeros((n, n))
    for j in range(n):
        L[j, j] = np.sqrt(M[j, j] - np.dot(L[j, :j], L[j, :j]))
        for i in range(j + 1, n):
            L[i, j] = (M[i, j] - np.dot(L[i, :j], L[j, :j])) / L[j, j]
    return np.sum(L @ b) + np.sum(L**2)


def gauss_seidel(M, b):
    x = np.zeros(len(b))
    for _ in range(3):
        for i in range(len(b)):
            x[i] = (b[i] - M[i] @ x + M[i, i] * x[i]) / M[i, i] + 0.1 * np.sin(x[i])
    return np.sum(x**2)


def twice_in_a_pass(M, b):
    x = b.copy()
    for i in range(len(b) - 1):
        x[i] = np.sin(x[i] * x[i + 1]) + np.sin(np.sum(M @ x))
        x[i + 1] += 0.1 * x[i] * x[0]
    return np.sum(x**2)


def swapped(M, b):
    x, y = b.copy(), 2.0 * b
    for i in range(len(b) - 1):
        x[i], y[i + 1] = y[i] * np.sum(x), x[i + 1] * np.sum(np.sin(y))
    return np.sum(x * y)


def repeated_indices(M, b):
    x = b.copy()
    places = np.array([0, 2, 2])
    for i in range(3):
        x[places] = np.sin(x[places + 1]) * np.sum(x * x)
        x[i:] *= 1.1
    return np.sum(x @ M)


def masked(M, b):
    x = b.copy()
    for _ in range(3):
        x[b > 0] = np.sin(M @ x)[b > 0]
    return np.sum(x**2)


def until(M, b):
    x, i = b.copy(), 0
    while i < 3:
        x[i] = np.sin(x[i + 1]) * np.sum(x * x)
        i += 1
    return np.sum(x * (M @ x))


def left(M, b):
    x = b.copy()
    for i in range(4):
        x[i] = np.sin(x[i]) * np.sum(M @ (x * x))
        if i == 2:
            break
    return np.sum(x**2)


def masked_by_itself(M, b):
    x = M.copy()
    for _ in range(3):
        x[x > 1.43] *= 0.5
        x[x < 0.1] += b[1] * 0.2
    return np.sum(x**3)


def at_its_least(M, b):
    x = M @ b
    for _ in range(3):
        order = np.argsort(x)
        x[order[:2]] *= b[order[::2]]
        x[order[1:][::-1]] += np.sin(x[order[0]])
    return np.sum(x**2)


def at_its_largest(M, b):
    x, y = M @ b, b.copy()
    for _ in range(3):
        i = np.argmax(x)
        x[i], y[np.argmin(y) :] = np.sin(y[i]), np.cos(x[i]) + 0.1 * y[i]
    return np.sum(x * x * y)


def whole_array(M, b):
    """All of it is overwritten: what is kept of it cannot be less."""
    x = b.copy()
    for i in range(3):
        x[...] -= 0.3 * np.sin(x) * M[i, 0]
        x[0] *= x[1]
        x[:] *= np.cos(x)
    return np.sum(x)


PROGRAMS = [
    whole_array,
    at_its_least,
    at_its_largest,
    masked_by_itself,
    back_substitution,
    cholesky,
    gauss_seidel,
    twice_in_a_pass,
    swapped,
    repeated_indices,
    masked,
    until,
    left,
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("f", PROGRAMS)
def test_the_gradient(f):
    of_M, of_b = grad(f, (0, 1))(SPD, B)
    scale = max(np.max(np.abs(of_M)), np.max(np.abs(of_b)), 1.0)
    expected = differences(lambda M: f(M, B), SPD)
    np.testing.assert_allclose(of_M, expected, rtol=1e-5, atol=1e-7 * scale)
    expected = differences(lambda b: f(SPD, b), B)
    np.testing.assert_allclose(of_b, expected, rtol=1e-5, atol=1e-7 * scale)


@pytest.mark.thinned(8)
@pytest.mark.parametrize("f", PROGRAMS)
def test_again_and_for_batches(f):
    direction = rng.normal(size=SPD.shape)
    along = lambda M: np.sum(grad(f)(M, B) * direction)
    of_along = grad(along)(SPD)
    _, tangent = jvp(along, (SPD,), (direction,))
    assert tangent == pytest.approx(np.sum(of_along * direction), rel=1e-8)
    step = 1e-5
    slope = (along(SPD + step * direction) - along(SPD - step * direction)) / (2 * step)
    assert tangent == pytest.approx(slope, rel=1e-4)
    batch = np.stack([SPD, SPD + np.eye(4)])
    found = vmap(grad(f), in_axes=(0, None))(batch, B)
    np.testing.assert_allclose(found, [grad(f)(M, B) for M in batch], rtol=1e-9)


def filled(M, b):
    """The array that is filled is handed out, too."""
    x = np.zeros(len(b))
    for i in range(len(b) - 1, -1, -1):
        x[i] = (b[i] - M[i, i + 1 :] @ x[i + 1 :]) * np.sum(np.sin(x)) + b[i]
    return np.sum(x * x), x


def test_what_is_handed_out_stays_as_it_is():
    (value, x), of_M = value_and_grad(filled, has_aux=True)(SPD, B)
    expected = filled(SPD, B)
    assert value == pytest.approx(expected[0])
    np.testing.assert_allclose(x, expected[1])
    found = differences(lambda M: filled(M, B)[0], SPD)
    np.testing.assert_allclose(of_M, found, rtol=1e-5, atol=1e-6)


def test_inputs_stay_as_they_are():
    b = B.copy()
    grad(twice_in_a_pass, 1)(SPD, b)
    np.testing.assert_array_equal(b, B)


def test_explain_counts_numbers_and_not_arrays():
    """A pass around passes over four elements keeps one array."""
    rows = grad(gauss_seidel).explain(SPD, B).splitlines()[2:-1]
    rows = [row for row in rows if "each pass" in row]
    assert rows
    kept = [re.split(r"\s{2,}", row)[2].replace(",", "") for row in rows]  # "32 a pass"
    assert all(int(each.split()[0]) <= 8 * 12 for each in kept)


@pytest.mark.parametrize("f", [back_substitution, until])
def test_no_pass_copies_the_array(f):
    assert ".copy())" not in grad(f).source(SPD, B)
