"""`in`, `index`, `count`, `remove` and places that are not known, as Python does them."""

import numpy as np
import pytest

from frontend.flow import assert_like_python
from s2s_ad import S2SError, grad, jit

XS = np.array([0.3, 1.2, 0.7, -0.4, 0.9])


def index_in_a_growing_list(xs):
    items = [x * 2 for x in xs]
    return items.index(items[2]) * items[1] + items.index(xs[1] * 2) * xs[0]


def count_in_a_growing_list(xs):
    items = [x * 2 for x in xs] + [xs[0] * 2]
    return items.count(xs[0] * 2) * xs[1] + items.count(7.5)


def member_of_a_growing_list(xs):
    items = [x for x in xs if x > 0]
    total = xs.sum()
    if xs[0] in items:
        total *= 2
    if xs[3] not in items:
        total *= 3
    return total if 5.0 in items else total * xs[1]


def member_of_a_list_of_pairs(xs):
    pairs = [(x, 2 * x) for x in xs if x > 0]
    return xs.sum() * (2 if (xs[1], 2 * xs[1]) in pairs else 3) + ((xs[0], xs[0]) in pairs)


def member_of_a_known_list(xs):
    items = [xs[0], xs[1] * 2, xs[2]]
    return (xs[2] in items) * xs[0] ** 2 + (xs[1] in items) * xs[1] + (xs[0] in (0.3, 5)) * xs[2]


def index_in_a_known_list(xs):
    items = [xs[0], xs[1], xs[2]]
    return items.index(max(items)) * xs[0] ** 2 + items.index(items[0]) + items.count(xs[1]) * xs[1]


def removed(xs):
    items = [x * x for x in xs]
    items.remove(xs[1] ** 2)
    return sum(i * x for i, x in enumerate(items))


def removed_from_a_known_list(xs):
    items = [xs[0], xs[1], xs[2]]
    items.remove(max(items))
    return items[0] * 2 + items[-1] ** 2 + len(items)


def window_in_order(xs):
    window, total = sorted(xs[:3]), 0.0
    for old, new in zip(xs[:2], xs[3:]):
        window.remove(old)
        place = 0
        while place < len(window) and window[place] < new:
            place += 1
        window.insert(place, new)
        total = 0.7 * total + window[1] ** 2
    return total


def popped_somewhere(xs, i):
    items = [x * x for x in xs]
    first = items.pop(i)
    del items[i - 1]
    return first * 3 + sum(j * x for j, x in enumerate(items))


def popped_where_it_is_largest(xs):
    items = [*xs]
    total = 0.0
    while items:
        total = 0.5 * total + items.pop(items.index(max(items))) ** 2
    return total


def repeated(xs):
    items = [x * x for x in xs if x > 0]
    return sum(i * x for i, x in enumerate(items * 2)) + len(items * 0) + sum(items * 1)


def member_of_a_range(xs, n):
    return xs[0] * (n in range(2, 5)) + xs[1] * (n not in range(n)) + xs[2] * (n in range(n + 1))


def member_of_keys(xs, n):
    named = {1: xs[0], 3: xs[1], "other": xs[2]}
    return xs[0] ** 2 if n in named else xs[1] ** 2 * (n in {2, 4})


class Body:
    def __init__(self, x):
        self.x = x


def index_of_objects(xs):
    bodies = [Body(x) for x in xs]
    total = sum(bodies[bodies.index(b) - 1].x * b.x * i for i, b in enumerate(bodies))
    bodies.remove(bodies[1])
    return total + sum(i * b.x**2 for i, b in enumerate(bodies))


def index_of_tuples(xs):
    points = [(xs[0], xs[1]), (xs[1], xs[2]), (xs[2], xs[3])]
    points.remove(points[0])
    place = points.index((xs[2] * 1.0, xs[3]))
    try:
        points.index((xs[3], xs[3]))
    except ValueError:
        place += 3
    return points[0][0] * place


PROGRAMS = [
    (index_of_objects, (XS,)),
    (index_of_tuples, (XS,)),
    (index_in_a_growing_list, (XS,)),
    (count_in_a_growing_list, (XS,)),
    (member_of_a_growing_list, (XS,)),
    (member_of_a_list_of_pairs, (XS,)),
    (member_of_a_known_list, (XS,)),
    (index_in_a_known_list, (XS,)),
    (removed, (XS,)),
    (removed_from_a_known_list, (XS,)),
    (window_in_order, (XS,)),
    (popped_somewhere, (XS, 2)),
    (popped_somewhere, (XS, -2)),
    (popped_where_it_is_largest, (XS,)),
    (repeated, (XS,)),
    (member_of_a_range, (XS, 3)),
    (member_of_a_range, (XS, 5)),
    (member_of_keys, (XS, 3)),
    (member_of_keys, (XS, 2)),
]


# ---- what is not there ---------------------------------------------------------------------------


def not_there(xs):
    items = [x * x for x in xs]
    return items.index(-1.0) * xs[0]


def remove_what_is_not_there(xs):
    items = [x * x for x in xs]
    items.remove(-1.0)
    return items[0]


def caught(xs):
    items = [x * x for x in xs]
    try:
        place = items.index(xs[0])
    except ValueError:
        place = len(items)
    return place * xs[0]


@pytest.mark.parametrize("function", [not_there, remove_what_is_not_there])
@pytest.mark.parametrize("transform", [jit, grad])
def test_what_is_not_there_is_an_error(function, transform):
    with pytest.raises(ValueError, match="not in list"):
        function(XS)
    with pytest.raises(ValueError, match="not in list"):
        transform(function)(XS)


def test_the_error_can_be_caught():
    assert_like_python(caught, (XS,))
    assert_like_python(caught, (np.array([1.0, 2.0]),))
    np.testing.assert_allclose(grad(caught)(XS), [5.0, 0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(grad(caught)(np.array([1.0, 2.0])), [0.0, 0.0])


@pytest.mark.parametrize("place", [5, -6])
def test_a_place_that_is_not_there_is_an_error(place):
    def popped(xs, i):
        items = [x * x for x in xs]
        items.pop(i)
        return items[0]

    with pytest.raises(IndexError):
        popped(XS, place)
    with pytest.raises(IndexError):
        jit(popped)(XS, place)


def rows_of_arrays(xs):
    items = [x * xs for x in xs]
    return xs[0] * items.index(xs)


@pytest.mark.parametrize("function", [rows_of_arrays])
def test_a_search_among_arrays_is_refused(function):
    with pytest.raises(S2SError) as caught:
        jit(function)(XS)
    assert "write a loop" in str(caught.value)
