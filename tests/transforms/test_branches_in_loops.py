"""Of an array that a branch in a loop reads elements are kept, and not the array."""

from __future__ import annotations

import re

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, vmap
from transforms.differences import differences

rng = np.random.default_rng(3)
TABLE = rng.uniform(0.0, 1.0, (5, 5))
MATRIX = rng.uniform(0.0, 1.0, (5, 5)) + 4.0 * np.eye(5)


def best_pairs(table):
    n = len(table)
    for i in range(n - 2, -1, -1):
        for j in range(i + 1, n):
            if table[i, j] < table[i + 1, j]:
                table[i, j] = table[i + 1, j]
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] * table[k + 1, j])
    return np.sum(table**2)


def thomas(table):
    c, d = table[0].copy(), table[1].copy()
    for i in range(1, len(c)):
        m = 4.0 - c[i - 1] * table[2, i]
        if i < len(c) - 1:
            c[i] = c[i] / m
        d[i] = (d[i] - table[2, i] * d[i - 1]) / m
    for i in range(len(c) - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]
    return np.sum(d**2)


def cholesky(table):
    n = len(table)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = table[i, j] + table[j, i] - L[i, :j] @ L[j, :j]
            if i == j:
                L[i, j] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return np.sum(L**2 * table)


def gauss_jordan(table):
    n = len(table)
    M = np.hstack([table, np.eye(n)])
    for k in range(n):
        M[k] /= M[k, k]
        for i in range(n):
            if i != k:
                M[i] -= M[i, k] * M[k]
    return np.sum(M[:, n:] ** 2)


def two_deep(table):
    x = table[0].copy()
    for i in range(1, len(x)):
        if x[i] > 0.2:
            if x[i - 1] > 0.5:
                x[i] = x[i] * np.sin(x[i - 1])
            else:
                x[i] = x[i] ** 2
        x[0] += x[i] * table[1, i]
    return np.sum(x * x)


def until(table):
    x, i = table[0].copy(), 0
    while i < 4:
        if x[i] > 0.4:
            x[i + 1] = x[i] * x[i + 1] ** 2
        i += 1
    return np.sum(np.sin(x))


def all_of_it(table):
    """What the other side reads as a whole is kept as a whole, and once."""
    x = table[0].copy()
    for i in range(4):
        if x[i] > 0.4:
            x[i] = np.sum(np.sin(x)) * x[i]
        else:
            x = np.cos(x) * x[i]
    return np.sum(x)


ELEMENTS = {best_pairs: TABLE, thomas: TABLE, cholesky: MATRIX, gauss_jordan: MATRIX}
WHOLE = {two_deep: TABLE, until: TABLE, all_of_it: TABLE}
PROGRAMS = ELEMENTS | WHOLE


@pytest.mark.thinned(4)
@pytest.mark.parametrize("f", PROGRAMS)
def test_in_all_modes(f):
    table = PROGRAMS[f]
    along = np.cos(np.arange(table.size)).reshape(table.shape)
    gradient = grad(f)(table.copy())
    np.testing.assert_allclose(gradient, differences(f, table), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(jvp(f, (table.copy(),), (along,))[1], np.sum(gradient * along))
    np.testing.assert_allclose(jit(grad(f))(table.copy()), gradient, rtol=1e-12)
    samples = np.stack([table, table**2])
    expected = [gradient, grad(f)(table**2)]
    np.testing.assert_allclose(vmap(grad(f))(samples.copy()), expected)
    twice = lambda table: np.sum(grad(f)(table.copy()) * along)
    np.testing.assert_allclose(grad(twice)(table), differences(twice, table), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", ELEMENTS)
def test_the_array_is_not_kept(f):
    source = grad(f).source(ELEMENTS[f].copy())
    kept = re.findall(r"append\(\(?(.*?)\)", source)
    assert kept
    assert not any(re.search(r"copy|\b(table|c|d|L|M)\b", each) for each in kept)
