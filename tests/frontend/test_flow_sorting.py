"""sorted() and list.sort() of values that are not known, items deleted by position."""

import numpy as np
import pytest

from frontend.every_mode import assert_both_modes
from frontend.flow import assert_like_python, lowered
from s2s_ad import S2SError, grad, value_and_grad

XS = np.array([1.0, 0.3, 2.0, -0.5, -1.5, 0.7])
ROWS = np.array([[1.0, 0.3, 2.0], [-0.5, 3.0, 0.7]])
W = np.array([0.5, 1.0, 2.0, 3.0, 4.0, 5.0])


def of_two(xs):
    low, high = sorted((xs[0] * 2, xs[1]))
    return low * 2 + high**2


def largest_first(xs):
    s = sorted([x * x for x in xs], reverse=True)
    return sum(v * w for v, w in zip(s, W))


def of_an_array(xs):
    s = sorted(xs)
    return sum(v * (i + 1) for i, v in enumerate(s))


def by_a_key(xs):
    s = sorted(xs, key=lambda x: -abs(x))
    return sum(v * (i + 1) for i, v in enumerate(s))


def pairs_by_a_key(xs):
    rows = [(x, i) for i, x in enumerate(xs)]
    rows.sort(key=lambda r: r[0] ** 2, reverse=True)
    t = 0.0
    for k, (x, i) in enumerate(rows):
        t += x * x * (k + 1) + i * x
    return t


def known_pairs(xs):
    rows = [(xs[0], 1.0), (xs[1], 2.0), (xs[2] * xs[3], 3.0)]
    rows.sort(key=lambda r: r[0])
    (a, wa), (b, wb), (c, wc) = rows
    return a * wa + b * b * wb + c * c * c * wc


def dicts_by_a_key(xs):
    rows = [{"p": xs[0] * xs[1], "q": 1.0}, {"p": xs[2], "q": 2.0}]
    best = sorted(rows, key=lambda r: r["p"], reverse=True)
    return best[0]["p"] * best[0]["q"] + 3 * best[1]["p"]


def vectors(X):
    pts = [X[0] * 2, X[1], X[0] + X[1]]
    pts.sort(key=lambda p: p.sum())
    return (pts[0] ** 2).sum() + 2 * pts[1].sum() + pts[2].prod()


def simplex(X):
    pts = [r * 1.0 for r in X]
    for _ in range(3):
        pts = sorted(pts, key=lambda p: (p**2).sum())
        pts[-1] = 0.5 * (pts[0] + pts[-1])
    return (pts[0] * pts[1]).sum() + (pts[-1] ** 2).sum()


def window(xs):
    window = sorted(xs[:3])
    t = window[1]
    for i in range(3, len(xs)):
        window.append(xs[i])
        window.sort()
        t += window[len(window) // 2] ** 2
    return t


def deleted(xs):
    items = [x * x for x in xs]
    del items[-2]
    del items[0]
    items.pop(-2)
    return sum(v * (i + 1) for i, v in enumerate(items))


def equal_keys(xs):
    up = sorted(range(6), key=lambda i: np.floor(xs[i]))
    down = sorted(range(6), key=lambda i: np.floor(xs[i]), reverse=True)
    return [i * 1.0 for i in up], [i * 1.0 for i in down]


def by_a_pair(xs):
    """The number of items has to be known."""
    first, *_ = sorted([(x, -x) for x in xs])
    return first[0] * first[1]


PROGRAMS = [
    *((each, (XS,)) for each in (of_two, largest_first, of_an_array, by_a_key, pairs_by_a_key)),
    *((each, (XS,)) for each in (known_pairs, dicts_by_a_key, window, deleted)),
    (vectors, (ROWS,)),
    (simplex, (ROWS,)),
]


def test_equal_keys_stay_in_order_both_ways():
    assert_like_python(equal_keys, (np.array([1.5, 0.5, 1.2, 0.1, 1.9, 0.7]),))


def test_a_call_says_how_many_pairs_there_are():
    """In code for one length they are sorted."""
    least = XS == np.min(XS)
    np.testing.assert_allclose(grad(by_a_pair)(XS), np.where(least, -2 * XS, 0.0))
    np.testing.assert_allclose(grad(by_a_pair)(XS[:2]), [0.0, -2 * XS[1]])


def of_two_kinds(x, y):
    low, high = sorted([x, y])
    return low * np.float32(2) + high * high * np.float32(3)


def of_two_kinds_by_a_key(x, y):
    items = []
    for each in (x, y):
        items.append(each * each)
        items.append(each)
    items.sort(key=lambda item: -item)
    return items[1] * np.float32(2) + items[3] * np.float32(3)


@pytest.mark.parametrize("function", [of_two_kinds, of_two_kinds_by_a_key])
@pytest.mark.parametrize("x, y", [(np.float32(-1.75), 0.25), (np.float32(1.5), 0.25)])
def test_numbers_of_python_stay_such_beside_those_of_numpy(function, x, y):
    """What is computed with one in single precision is so, as it is of the number itself."""
    value, (dx, dy) = value_and_grad(function, (0, 1))(x, y)
    assert (value, np.asarray(value).dtype) == (function(x, y), np.float32)
    slopes = [(function(x + s, y) - function(x - s, y)) / 0.125 for s in [np.float32(0.0625)]]
    slopes += [(function(x, y + s) - function(x, y - s)) / 0.125 for s in [0.0625]]
    np.testing.assert_allclose([dx, dy], slopes)  # exact: it is quadratic in each


def by_an_array(xs):
    return sorted([xs[i:] for i in range(2)])[0][0]


def test_keys_have_to_be_numbers():
    with pytest.raises(S2SError, match="by one number") as caught:
        lowered(by_an_array, (XS,))
    assert caught.value.origin is not None


def past_the_end(xs):
    items = [x for x in xs]
    del items[2]
    return sum(items)


def test_deleting_what_is_not_there_raises():
    with pytest.raises(IndexError):
        assert_both_modes(past_the_end, (XS[:2],))
