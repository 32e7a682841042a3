"""Arrays that a loop carries, and whose lengths it changes: alike, or not, or for a while.

Lengths that are equal before a pass and after it are one length; the text does not ask again.
"""

from __future__ import annotations

import numpy as np
import pytest

from api.oracles import gradient
from s2s_ad import grad, jit, jvp, vmap

X = np.array([0.5, 0.61, 0.43, 0.82, 0.35, 0.77])


def both_shrink(x):
    v, s = x, x * 2
    for _ in range(3):
        v = np.sin(v[:-1]) * s[1:]
        s = s[:-1]
    return np.sum(v * s)


def later_apart(x):
    v, s, t = x, x * 2, x * 3
    total = 0.0
    for i in range(3):
        v = v[1:]
        t = s[1:] * 2
        s = s[1:] if i < 1 else s[:1] + s * 2
        total = total + np.sum(v) + np.sum(t) + np.sum(s[0] * s)
    return total


def one_stretches(x):
    v, s = x, x
    for i in range(len(x) - 1):
        s = s[: len(v) - 1] if i % 2 == 0 else s[:1]
        v = v[1:]
        v = v * s
    return np.sum(v)


def swapped(x):
    a, b = x, x[:-1]
    for _ in range(3):
        a, b = b * 2, a[: len(b) - 1] * b[1:]
    return np.sum(a) + np.sum(b)


def hole(x):
    v = x
    for i in range(3):
        if i > 0:
            v = v[: len(t)] * t  # noqa: F821  (of the pass before)
        t = v[1:]
        v = v[1:]
    return np.sum(v) * np.sum(t)


def minors(x):
    m = np.outer(x, x) + np.eye(len(x)) * 2
    d = 1.0
    while len(m) > 1:
        d = d * m[0, 0]
        m = m[1:, 1:] - np.outer(m[1:, 0], m[0, 1:]) / m[0, 0]
    return d * m[0, 0]


def nested(x):
    v, s = x, x + 1
    total = 0.0
    for _ in range(2):
        w = v
        for _ in range(2):
            w = w[1:] * s[: len(w) - 1]
            total = total + np.sum(w)
        v, s = v[1:], s[1:]
    return total + np.sum(v * s)


def breaks(x):
    v, s = x, x**2
    for i in range(4):
        v = v[1:]
        if v[0] > 0.7:
            break
        s = s[1:]
    return np.sum(v) * np.sum(s)


def grows(x):
    v, s = x, 2 * x
    for _ in range(2):
        v = np.concatenate([v, s[:1]])
        s = np.concatenate([s, v[-1:]])
    return np.sum(v * s)


def row_and_col(x):
    m = np.outer(x, x)
    for _ in range(2):
        m = m[1:, :-1] * 1.5
        m = m + m.T
    return np.sum(m)


def uneven(x):
    m = np.outer(x, x)
    for i in range(2):
        m = m[1:, :-1] if i == 0 else m[1:]
    return np.sum(m**2)


def starts_as_one(x):
    v, s = x[:1], x[:1] * 2
    for k in range(3):
        v = np.concatenate([v, s])
        s = s * v[0]
    return np.sum(v) + np.sum(s)


def lists(x):
    v, s, kept = x, x * 2, [x]
    for _ in range(3):
        v, s = v[1:], s[1:]
        kept.append(v * s)
    return sum(np.sum(each**2) for each in kept)


def broadcast_later(x):
    v, s = x, x * 2
    for i in range(len(x) - 1):
        v = v[1:]
        s = s[1:]
        v = v + s * v[-1:]
    return v[0] * s[0]


def minmax(x):
    v, s = x, np.cos(x)
    for _ in range(3):
        v = np.maximum(0.7 * v[1:] + 0.2 * v[:-1], s[1:] - 0.5)
        s = s[:-1] * 1.01
    return np.sum(v)


PROGRAMS = [
    both_shrink,
    later_apart,
    one_stretches,
    swapped,
    hole,
    minors,
    nested,
    breaks,
    grows,
    row_and_col,
    uneven,
    starts_as_one,
    lists,
    broadcast_later,
    minmax,
]


@pytest.mark.thinned(8)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_in_all_modes(f):
    want = gradient(f, X)
    tangents = [jvp(f, (X,), (each,))[1] for each in np.eye(len(X))]
    for got in (grad(f)(X), jit(grad(f))(X), tangents):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)
    both = vmap(grad(f))(np.stack([X + 0.01, X]))
    np.testing.assert_allclose(both[1], want, rtol=1e-6, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_second_order(f):
    weights = np.arange(1.0, 7.0)
    got = grad(lambda x: grad(f)(x) @ weights)(X)
    np.testing.assert_allclose(got, gradient(lambda x: grad(f)(x) @ weights, X), rtol=1e-5)


@pytest.mark.parametrize("f", [both_shrink, minors, minmax])
def test_lengths_that_stay_equal_are_not_asked_for(f):
    assert "unbroadcast" not in grad(f).source(X)
