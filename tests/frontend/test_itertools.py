"""itertools where items decide what is taken, what is grouped, and how far an iterator is read."""

import itertools

import numpy as np
import pytest

from frontend.every_mode import assert_as_a_whole

XS = np.sin(np.arange(9.0)) + 0.1 * np.arange(9.0)
READINGS = [("a", 1.0), ("a", 2.0), ("b", 3.0), ("b", 0.5), ("a", 1.5)]


def neighbours(x):
    total = 0.0
    for name, group in itertools.groupby(READINGS, key=lambda each: each[0]):
        part = sum(v * x for _, v in group)
        total += part**2 if name == "a" else part
    return total


def means(x):
    rows = sorted(READINGS, key=lambda each: each[0])
    found = {k: np.mean([v * x for _, v in g]) for k, g in itertools.groupby(rows, lambda r: r[0])}
    return found["a"] * found["b"] ** 2


def runs(x):
    lengths = [(k, len(list(g))) for k, g in itertools.groupby([1, 1, 2, 3, 3, 3])]
    return sum(k * x**n for k, n in lengths)


def small_then_large(x):
    values = [x, 2.0 * x, 3.0 * x, 4.0 * x]
    before = sum(itertools.takewhile(lambda v: v < 3.5, values))
    return before + sum(v * v for v in itertools.dropwhile(lambda v: v < 2.0, values))


def series(x):
    return sum(x / k**2 for k in itertools.takewhile(lambda k: k < 6, itertools.count(1)))


def picked_out(x):
    products = sum(itertools.starmap(lambda a, b: a * b, [(x, 2.0), (x, x)]))
    every_other = sum(itertools.compress([x, 2.0 * x, x * x], [1, 0, 1]))
    return products + every_other + sum(itertools.filterfalse(lambda v: v > 2, [x, 3.0 * x]))


def differences(xs):
    left, right = itertools.tee(xs)
    next(right, None)
    return sum((b - a) ** 2 for a, b in zip(left, right, strict=False))


def in_batches(xs):
    rest, total = iter(xs), 0.0
    while chunk := list(itertools.islice(rest, 2)):
        total += sum(chunk) ** 2
    return total


def head_and_rest(x):
    items = iter([x, 2.0 * x, 3.0 * x, 4.0])
    head = list(itertools.islice(items, 2))
    return head[0] * head[1] + sum(items)


def parts(xs):
    return sum(itertools.islice((v * v for v in xs), 3)) + sum(itertools.islice(xs, 1, 3))


def over_and_over(x):
    powers = sum(a**k for a, k in zip(itertools.repeat(x), range(4), strict=False))
    return powers + sum(map(lambda a, b: a * b, [1.0, 2.0], itertools.repeat(x)))


CASES = [(over_and_over, 1.3)]
CASES += [(f, 1.3) for f in (neighbours, means, runs, series, picked_out, head_and_rest)]
CASES += [(small_then_large, 1.3), (small_then_large, 0.4)]
CASES += [(f, XS) for f in (differences, in_batches, parts)]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("f, x", CASES, ids=[f.__name__ for f, _ in CASES])
def test_in_all_modes(f, x):
    assert_as_a_whole(f, x)
