"""Loops in loops that do the same in each pass: what they keep is there for each of the passes."""

import numpy as np
import pytest

from api.oracles import gradient
from s2s_ad import grad, vmap

A, B = np.array([0.3, -1.1, 0.8, 0.5]), np.array([0.7, -0.4, 1.2])


def in_three_loops(a, b):
    total = 0.0
    for _ in range(3):
        for i in range(4):
            y = 0.7
            for v in b:
                y = np.sin(y) * v + y
            total += np.sin(y * a[i])
    return total


def largest(a, b):
    stored = np.zeros(4)
    for _ in range(3):
        for i in range(4):
            stored[i] = np.sin(a[i] * max(np.sin(v + 0.7) for v in b)) + 0.5 * stored[i]
    return np.sum(stored)


def folded(b, y):
    for v in b:
        y = np.sin(y) * v + y
    return y


def in_a_helper(a, b):
    stored = np.zeros(4)
    for _ in range(3):
        for i in range(4):
            stored[i] = np.sin(a[i] * folded(b, 0.7)) + stored[i] ** 2
    return np.sum(stored)


def as_long_as_it_takes(a, b):
    total, k = 0.0, 0
    while k < 3:
        for i in range(4):
            y, n = b[0], 0
            while y < 3.0 and n < 5:
                y = np.cos(y) * 0.3 + y * b[1] + b[2]
                n += 1
            total += np.sin(y * a[i])
        k += 1
    return total


def of_a_list(a, b):
    total = 0.0
    for _ in range(2):
        found = []
        for v in b:
            found.append(np.exp(0.7 * v))
        for i in range(3):
            total += a[i] * found[i] * sum(found)
    return total


@pytest.mark.thinned(2)
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(
    "f", [in_three_loops, largest, in_a_helper, as_long_as_it_takes, of_a_list]
)
def test_gradients_are_those_of_differences(f, which):
    def of_one(x):
        return f(x, B) if which == 0 else f(A, x)

    x = (A, B)[which]
    wanted = gradient(of_one, x)
    np.testing.assert_allclose(grad(f, which)(A, B), wanted, rtol=1e-6, atol=1e-8)
    both = vmap(grad(f, which), (0, None))(np.stack([A, 2 * A]), B)
    np.testing.assert_allclose(both[0], wanted, rtol=1e-6, atol=1e-8)
