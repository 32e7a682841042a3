"""Comprehensions, generator expressions and lists that grow, in loops and branches."""

import functools

import numpy as np
import pytest

from frontend.flow import assert_like_python, lowered

X = np.array([1.0, 2.0, 3.0])


def list_comprehensions(xs, n):
    a = [x * x for x in xs]
    b = [x for x in xs if x > 1.5]
    c = [i * 2.0 for i in range(n)]
    d = [x + 1 for x in (xs[0], xs[1])]
    return np.sum(np.array(a)), len(b), sum(b), sum(c), d


def nested_comprehensions(x, n):
    table = [[x * i * j for j in range(i)] for i in range(3)]
    flat = [x * i + j for i in range(n) for j in range(i) if j != 1]
    return sum(sum(row) for row in table), sum(flat), len(flat)


def dict_comprehensions(x, params):
    doubled = {name: 2 * value for name, value in params.items()}
    return {name: value * x for name, value in doubled.items() if name != "b"}


def scopes(x, n):
    i = 10.0
    a = [i * x for i in range(n)]
    b = [(y := i + x) for i in range(n)]
    return i, sum(a), sum(b), y


def totals(xs, n):
    return (
        sum(x * x for x in xs),
        sum((i * j for i in range(n) for j in range(i)), 1.5),
        sum(range(n)),
        sum([xs[0], xs[1]]),
        sum(xs),
        sum(x for x in xs if x > 1),
    )


def extremes(xs, n):
    return (
        max(xs[0], xs[1], 1.5),
        min(xs),
        max(x * i for i in range(n) for x in (1.0, 2.0)),
        min((x for x in xs), key=lambda t: (t - 1.9) ** 2),
        max((x for x in xs if x > 10), default=0.0),
        max(n, 2),
    )


def conditions(xs, n):
    return (
        all(x > 0 for x in xs),
        any(x > 2.5 for x in xs),
        all(i < 3 for i in range(n)),
        any(i * j == 4 for i in range(n) for j in range(n)),
        all([xs[0] > 0, xs[1] > 5]),
        any(()),
    )


def others(xs, n):
    squares = list(x * x for x in xs)
    three = tuple(x + 1 for x in (1.0, xs[0], 2.0))
    product = functools.reduce(lambda a, b: a * b, xs)
    folded = functools.reduce(lambda a, b: a + b, range(n), 1.0)
    large = filter(lambda x: x > 1.5, xs)
    pairs = dict((name, xs[i]) for i, name in enumerate(("a", "b")))
    return sum(squares), three, product, folded, sum(large), pairs


def appended(x, n):
    items = []
    for i in range(n):
        items.append(x * i)
    return items


def appended_somewhere(xs):
    large, small = [], [0.0]
    for x in xs:
        if x > 1.5:
            large.append(x)
        else:
            small.append(x)
    return large, small, len(large)


def stack(x, n):
    items = [x]
    while len(items) < n:
        items.append(items[-1] * 0.5)
    total = 0.0
    while items:
        total = total * 2 + items.pop()
    return total


def lists_of_lists(x, n):
    rows = []
    for i in range(n):
        row = []
        for j in range(i + 1):
            row.append(x * j)
        rows.append(row)
    return sum(sum(row) for row in rows), rows


def stacked(W, x, n):
    states = [x]
    for _ in range(n):
        states.append(np.tanh(W @ states[-1]))
    return np.stack(states), np.array(states).shape[0]


def lists_of_one_length(x, n):
    pair = [x, 0.0]
    for _ in range(n):
        pair = [pair[1], pair[0] + pair[1]]
    other = [x, 1.0]
    for _ in range(n):
        other[0], other[1] = other[1], other[0] * 0.5
    return pair, other


def dicts_of_parameters(params, n):
    for _ in range(n):
        params = {name: value - 0.1 * value for name, value in params.items()}
    return params


def dicts_updated(params, n):
    made = {name: value * 1.0 for name, value in params.items()}
    for _ in range(n):
        for name in made:
            made[name] = made[name] - 0.1 * params[name]
    return made


def loop_over_a_generator(xs, n):
    total = 0.0
    for y in (x * i for x in xs for i in range(n)):
        total += y
        if total > 10:
            break
    return total


PROGRAMS = [
    *((list_comprehensions, (X, n)) for n in (0, 3)),
    *((nested_comprehensions, (1.5, n)) for n in (0, 4)),
    (dict_comprehensions, (1.5, {"a": 2.0, "b": 3.0})),
    *((scopes, (1.5, n)) for n in (1, 3)),
    *((totals, (X, n)) for n in (0, 4)),
    *((extremes, (X, n)) for n in (1, 4)),
    *((conditions, (X, n)) for n in (0, 4)),
    (others, (X, 3)),
    *((appended, (1.5, n)) for n in (0, 3)),
    (appended_somewhere, (X,)),
    *((stack, (1.5, n)) for n in (0, 4)),
    *((lists_of_lists, (1.5, n)) for n in (0, 3)),
    *((stacked, (np.eye(3), X, n)) for n in (0, 3)),
    *((lists_of_one_length, (1.5, n)) for n in (0, 3)),
    *((dicts_of_parameters, ({"a": 1.0, "b": X}, n)) for n in (0, 3)),
    *((dicts_updated, ({"a": 1.0, "b": X}, n)) for n in (0, 3)),
    *((loop_over_a_generator, (X, n)) for n in (0, 2, 4)),
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("function, args", PROGRAMS)
def test_containers_are_those_of_python(function, args):
    assert_like_python(function, args)


def test_max_of_nothing_raises_as_python_does():
    with pytest.raises(ValueError, match="max"):
        assert_like_python(extremes, (X, 0))


def test_comprehensions_over_known_items_are_written_out():
    program = lowered(dict_comprehensions, (1.5, {"a": 2.0, "b": 3.0}))
    assert all(not hasattr(each.function, "blocks") for each in program.body)
