"""Loops that change what they go over: Python reads each item when its pass begins."""

import copy
import itertools

import numpy as np
import pytest

from s2s_ad import S2SError, grad, jit
from s2s_ad.check import central_differences


def a_list(xs):
    total = 0.0
    for x in xs:
        total = total * 0.5 + x
        xs[1] = xs[1] - x * x
    return total


def in_pairs(xs):
    total = 0.0
    for i, x in enumerate(xs):
        total = total * 0.5 + i * x
        xs[2] = x * 3
    for x, y in zip(xs, xs[::-1]):
        total = total + x * y
        xs[1] += x
    for x in reversed(xs):
        total = total * 0.3 + x
        xs[0] = x * x
    return total


def written_behind(xs):
    for i, x in enumerate(xs):
        xs[i] = x * x
    return sum(xs)


def growing(xs):
    xs, total = list(xs), 0.0
    for x in xs:
        total += x
        if len(xs) < 6:
            xs.append(x * 0.5)
    for i, x in enumerate(xs):
        total += i * x
        if len(xs) < 8:
            xs.append(x * 0.7)
    return total


def shrinking(xs):
    total = 0.0
    for x in xs:
        total += x * x
        xs.pop()
    return total


def a_dict(xs):
    params, total = {"w": xs[0], "b": xs[1]}, 0.0
    for name, value in params.items():
        total += value * len(name)
        params["b"] = value * 3
    for value in params.values():
        total += value * value
        params["b"] = value * xs[2]
    return total


def read_later(xs):
    pairs = zip(xs, xs)
    xs[1] = xs[0] * 4
    return sum(x * y for x, y in pairs)


def with_breaks(xs):
    total = 0.0
    for x in xs:
        if x > 2.0:
            break
        total += x
        xs[1] = 1.5 * x
        xs[2] = 3.0 * x
    return total


def by_next(xs):
    items = enumerate(xs)
    _, first = next(items)
    xs[1] = first * 7
    _, second = next(items)
    return first * second


FOLLOWED = (a_list, in_pairs, written_behind, growing, shrinking, a_dict, read_later, with_breaks)


@pytest.mark.parametrize("function", [*FOLLOWED, by_next])
def test_an_item_is_read_when_its_pass_begins(function):
    xs = [0.5, 0.25, 0.75]
    expected = function(copy.copy(xs))
    assert jit(function)(xs) == pytest.approx(expected, rel=1e-14)
    (differences,) = central_differences(lambda xs: function(list(xs)), (xs,))
    np.testing.assert_allclose(grad(function)(xs), differences, rtol=1e-7, atol=1e-9)


def _changed(iterable):
    def function(xs):
        total = 0.0
        for x in iterable(xs):
            total += np.sum(x)
            xs[1] = 9.0
        return total

    return function


AT_ONCE = {
    "accumulate": lambda xs: itertools.accumulate(xs),
    "chain": lambda xs: itertools.chain(xs, [1.0]),
    "filter": lambda xs: filter(lambda x: x > 0.3, xs),
    "islice": lambda xs: itertools.islice(xs, 2),
    "map": lambda xs: map(lambda x: 2 * x, xs),
    "pairwise": lambda xs: itertools.pairwise(xs),
    "product": lambda xs: itertools.product(xs, xs),
}


@pytest.mark.parametrize("name", AT_ONCE)
def test_what_is_made_at_once_may_not_change(name):
    function = _changed(AT_ONCE[name])
    with pytest.raises(S2SError, match="is changed while its items are consumed"):
        jit(function)([0.5, 0.25, 0.75])


def test_what_the_function_of_a_map_reads_may_not_change():
    def function(xs):
        scale, total = [2.0], 0.0
        for x in map(lambda x: x * scale[0], xs):
            total += x
            scale[0] += 1.0
        return total

    with pytest.raises(S2SError, match="is changed while its items are consumed"):
        jit(function)([0.5, 0.25])


def test_arrays_that_are_items_may_change():
    def function(xs, ys):
        for x in itertools.chain(xs, ys):
            x *= 0.5
        return sum(np.sum(x) for x in xs) + np.sum(ys[0] ** 2)

    xs, ys = [np.ones(2), np.full(3, 2.0)], [np.full(2, 3.0)]
    assert jit(function)(xs, ys) == function(copy.deepcopy(xs), copy.deepcopy(ys))
