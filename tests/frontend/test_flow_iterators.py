"""Products of ranges, np.ndindex, np.ndenumerate, np.ix_, sets of known objects; iterators end."""

import itertools

import numpy as np
import pytest

from frontend.every_mode import assert_both_modes
from frontend.flow import lowered
from s2s_ad import S2SError

W = np.arange(6.0)
XS = np.array([1.0, 0.3, 2.0, -0.5, -1.5, 0.7])
ROWS = np.array([[1.0, 0.3, 2.0], [-0.5, 3.0, 0.7]])


def product(X):
    s = 0.0
    for i, j in itertools.product(range(X.shape[0]), range(X.shape[1])):
        s += X[i, j] ** 2 * (i + 2 * j)
    return s


def by_ndindex(X):
    Y = np.zeros(X.shape)
    for i, j in np.ndindex(*X.shape):
        Y[i, j] = X[i, j] * X[0, j]
    for idx in np.ndindex(X.shape):
        Y[idx] = Y[idx] * 2
    return Y.sum()


def by_ndenumerate(X):
    s = 0.0
    for (i, j), v in np.ndenumerate(X):
        s += v * v * (i + j)
    return s


def open_mesh(X):
    r, c = [0, 1], np.array([2, 0])
    A = X[np.ix_(r, c)] * 2
    Y = X * 1.0
    Y[np.ix_(c[1:], c)] += A[:1]
    return (A**2).sum() + (Y**3).sum()


def sets(xs):
    s = {abs(k) for k in (-1, 1, 2)}
    return sum(xs[k] for k in s) * len(s) + ord("b") * xs[0]


def list_surgery(xs):
    items = [x for x in xs]
    items[1:3] = [items[1] + items[2]]
    items[4:] = [items[0], 2.0]
    items[:1] = []
    return sum(v * (i + 1) for i, v in enumerate(items))


def three_ranges(X):
    s = 0.0
    for i, j, k in itertools.product(range(X.shape[0]), range(X.shape[1]), (0, 1)):
        s += X[i, j] ** (2 + k)
    for a, b in itertools.product(X[0], repeat=2):
        s += a * b * b
    return s


def part_beside_a_list(xs):
    """The part is shorter than one list, and longer than the other."""
    few = [a * b for a, b in zip(xs[1:3], [1.0, 2.0, 3.0], strict=False)]
    more = [a * b for a, b in zip(xs[1:5], [1.0, 2.0, 3.0], strict=False)]
    return sum(few) * len(few) + sum(more) * len(more)


PROGRAMS = [
    *((each, (ROWS,)) for each in (product, by_ndindex, by_ndenumerate, open_mesh, three_ranges)),
    *((each, (XS,)) for each in (sets, list_surgery, part_beside_a_list)),
]


# ---- iterators are exhausted by the first who reads them -----------------------------------------


def twice(xs):
    squares = (x * x for x in xs)
    return sum(squares) + 10 * sum(squares)


def in_each_pass(xs):
    squares, total = (x * x for x in xs), 0.0
    for x in xs:
        total += x * sum(squares)
    return total


def reads_twice(items):
    first = sum(items)
    return first + sum(items)


def passed_on(xs):
    return reads_twice(x * x for x in xs)


@pytest.mark.parametrize("function", [twice, in_each_pass, passed_on])
def test_an_iterator_is_read_once(function):
    with pytest.raises(S2SError, match="read twice") as caught:
        lowered(function, (XS,))
    assert "make a list" in str(caught.value)


def once(xs):
    squares = (x * x for x in xs)
    pairs = zip(xs, W, strict=False)
    total = sum(squares)
    for a, b in pairs:
        total += a * b
    return total


def pairs_twice(xs):
    """The second loop finds no pairs."""
    pairs = zip(xs, W, strict=False)
    return sum(a * b for a, b in pairs) + sum(a for a, _ in pairs)


@pytest.mark.parametrize("function", [once, pairs_twice])
def test_an_iterator_with_a_name_is_read_like_any(function):
    assert_both_modes(function, (XS,))
