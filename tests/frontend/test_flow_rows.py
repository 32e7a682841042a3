"""Lists of containers whose length is not known: a list of each of their parts, kept together."""

from collections import namedtuple

import numpy as np
import pytest

from frontend.every_mode import assert_batched, assert_both_modes
from frontend.flow import lowered
from s2s_ad import S2SError, grad, jit

Row = namedtuple("Row", "x y")
XS = np.array([1.0, 0.3, 2.0, -0.5, -1.5, 0.7])
ROWS = np.array([[1.0, 0.3, 2.0], [-0.5, 3.0, 0.7]])


class Particle:
    def __init__(self, x, v):
        self.x, self.v = x, v


def objects(xs):
    particles = [Particle(x, x * x) for x in xs]
    return sum(p.x * p.v for p in particles)


def pairs(xs):
    history = []
    x = 0.0
    for v in xs:
        x = 0.5 * x + np.sin(v)
        history.append((x, v))
    total = 0.0
    for a, b in history:
        total += a * b * b
    return total


def by_index(xs):
    rows = [(x, x * x) for x in xs]
    s = 0.0
    for i in range(len(rows) - 1):
        s += rows[i][0] * rows[i + 1][1]
    return s + rows[-1][1]


def nested(xs, w):
    out = []
    for i, x in enumerate(xs):
        out.append((x, (w * x, i)))
    return sum(a * b * (c + 1) for a, (b, c) in out)


def named(xs):
    rows = [Row(x, np.exp(x)) for x in xs]
    return sum(r.x * r.y for r in rows)


def dicts(xs):
    rows = [{"t": i, "value": x * x, "name": "a"} for i, x in enumerate(xs)]
    return sum(r["value"] * r["t"] for r in rows)


def filtered(xs):
    kept = []
    for x in xs:
        if x > 0:
            kept.append((x, x**3))
    s = 0.0
    for a, b in kept:
        s += a * b
    return s + len(kept)


def stack(xs):
    todo = [(xs[0], 0)]
    total = 0.0
    while todo:
        x, depth = todo.pop()
        total += x * x
        if depth < 3:
            todo.append((x * 0.5, depth + 1))
            todo.append((x * 0.3, depth + 1))
    return total


def arrays(X):
    hist = []
    h = np.zeros(3)
    for row in X:
        h = np.tanh(h + row)
        hist.append((h, row * 2))
    out = 0.0
    for h, r in reversed(hist):
        out = out * 0.5 + (h * r).sum()
    return out


def as_an_array(xs):
    pts = []
    for x in xs:
        pts.append((x, x * x))
    A = np.array(pts)
    return (A @ np.array([1.0, 2.0])).sum() * A.shape[0]


def lists_among_arguments(xs):
    squares = [x * x for x in xs if x > 0]
    both = np.concatenate([squares, [xs[0]], np.stack((squares, squares))[0]])
    return (both * both).sum() * xs[1]


def items_assigned(xs):
    rows = [(x, 1.0) for x in xs]
    for i in range(len(rows)):
        a, b = rows[i]
        rows[i] = (a * 2, b + a)
    return sum(a * b for a, b in rows)


def best(xs):
    cands = []
    for i, x in enumerate(xs):
        cands.append((np.sin(x) * x, i))
    v, i = max(cands)
    return v * (i + 1)


def best_by_key(xs):
    cands = [(i, np.sin(x) * x) for i, x in enumerate(xs)]
    i, v = max(cands, key=lambda c: c[1])
    return v * (i + 1)


def merged_blocks(xs):
    blocks = []
    for x in xs:
        blocks.append((x, 1.0))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            v2, w2 = blocks.pop()
            v1, w1 = blocks.pop()
            blocks.append(((v1 * w1 + v2 * w2) / (w1 + w2), w1 + w2))
    return sum(v * v * w for v, w in blocks)


def joined_lists(xs):
    a = [(x, x) for x in xs]
    b = [(2 * x, 1.0) for x in xs]
    a.extend(b)
    a.insert(0, (xs[0], xs[1]))
    a.reverse()
    c = a[1:3] + [(xs[2], 1.0)]
    return sum((i + 1) * p * q for i, (p, q) in enumerate(a)) + sum(p * q for p, q in c)


def helper(hist):
    s = 0.0
    for a, b in hist:
        s += a * b
    return s


def made(xs):
    out = []
    for x in xs:
        out.append((x, x * x))
    return out


def passed(xs):
    return helper(made(xs)) * 2


def queue(xs):
    q = [(x, 1.0) for x in xs]
    t = 0.0
    while q:
        x, w = q.pop(0)
        t += w * x * x
        if x > 1.5:
            q.append((x - 1, w * 0.5))
    return t


def unpacked(xs):
    a, b, c, *_ = [x * x for x in xs]
    first, *rest, last = [(x, x * x) for x in xs]
    *others, (p, q) = [(x, x * x) for x in xs]
    total = first[0] * last[1] + sum(v * w for v, w in rest) + p * q * len(others)
    return total + a * b + c


def rows_unpacked(xs):
    first, *rest, last = xs
    *most, end = xs
    return first * last + sum(rest) * rest[0] + sum(v * v for v in most) * end


def three_of_them(xs):
    a, b, c = [x * x for x in xs]
    return a * b + c


def one_row_three_times(xs):
    """The passes are written out: a pass that was tried without its index leaves no trace."""
    row = [xs[0], xs[1], 0.0]
    shared = [row] * 3
    for i in range(3):
        shared[i][2] += xs[0] * (i + 1)
    return sum(shared[1]) * row[2]


def last_of_none_yet(xs):
    """In the first pass there is no last row, and the index is not known where it is asked for."""
    rows = []
    for i, x in enumerate(xs):
        if i > 0:
            _, b = rows[-1]
            x = x + 0.5 * b
        rows.append((x, x * x))
    return sum(b for _, b in rows)


class Moving:
    def __init__(self, x, v):
        self.x, self.v = x, v

    def kick(self, force):
        self.v += force
        self.x += self.v


def kicked_by_each_other(rows):
    """Objects that a comprehension made, each with two arrays, are changed by their index."""
    bodies = [Moving(rows[i].copy(), rows[i] * 0.1) for i in range(2)]
    for _ in range(3):
        apart = bodies[0].x - bodies[1].x
        bodies[0].kick(-0.1 * apart)
        bodies[1].kick(0.2 * apart)
    return sum(each.v @ each.x for each in bodies)


def eliminated(xs):
    """Rows that are exchanged by the size of what is in them, and changed in place."""
    a = [[xs[0], 2.0, xs[1]], [1.5, xs[2], 0.3], [xs[3] - 2, 0.1, 3.0]]
    b = [1.0, xs[4], 2.0]
    n = len(b)
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i][k]) > abs(a[p][k]):
                p = i
        a[k], a[p] = a[p], a[k]
        b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            f = a[i][k] / a[k][k]
            for j in range(k, n):
                a[i][j] -= f * a[k][j]
            b[i] -= f * b[k]
    y = [0.0] * n
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, n):
            s -= a[i][j] * y[j]
        y[i] = s / a[i][i]
    return sum(v**2 for v in y)


def sorted_by_exchange(xs):
    a = [[xs[0], xs[1]], [xs[2], xs[3]], [xs[4], 1.0]]
    for i in range(2):
        for j in range(i + 1, 3):
            if a[j][0] > a[i][0]:
                a[i], a[j] = a[j], a[i]
                a[i][1] *= 2.0
    return a[0][0] * a[0][1] + 2 * a[1][1] * a[2][0]


def held_twice(xs):
    """A row that stands at two places changes at both."""
    a = [[xs[0], xs[1]], [xs[2], xs[3]]]
    k = int(xs[0] > 0)
    a[k], a[1 - k] = a[k], a[k]
    a[0][0] *= 3.0
    return a[0][0] * a[1][0]


def changed_items(xs):
    rows = [{"x": x} for x in xs if x > 0]
    for row in rows:
        row["x"] = row["x"] * 2
    return sum(row["x"] for row in rows)


PROGRAMS = [
    (kicked_by_each_other, (ROWS,)),
    (last_of_none_yet, (XS,)),
    (one_row_three_times, (XS,)),
    (unpacked, (XS,)),
    (rows_unpacked, (XS,)),
    (three_of_them, (XS[:3],)),
    *((each, (XS,)) for each in (pairs, by_index, named, dicts, objects, filtered, stack)),
    *(
        (each, (XS,))
        for each in (as_an_array, lists_among_arguments, items_assigned, best, best_by_key)
    ),
    *((each, (XS,)) for each in (merged_blocks, joined_lists, passed, queue)),
    (nested, (XS, 0.7)),
    (arrays, (ROWS,)),
]


@pytest.mark.parametrize("function", [eliminated, sorted_by_exchange])
def test_rows_that_are_exchanged(function):
    assert_both_modes(function, (XS,))
    assert_batched(function, (XS,), (1.0, 0.8, 1.1))


def test_what_is_kept_of_the_items_is_changed():
    assert_both_modes(changed_items, (XS,))


@pytest.mark.parametrize("scale", [1.0, -1.0])
def test_a_row_that_stands_at_two_places_is_changed_at_both(scale):
    assert_both_modes(held_twice, (XS * scale,))


def test_unpacking_another_number_of_items_raises():
    with pytest.raises(ValueError, match="3 values expected"):
        grad(three_of_them)(XS)
    with pytest.raises(ValueError, match="at least 3 values expected"):
        grad(unpacked)(XS[:2])
    with pytest.raises(ValueError, match="at least 2 values expected"):
        grad(rows_unpacked)(XS[:0])
    with pytest.raises(S2SError, match="at least 2 values expected"):
        grad(rows_unpacked)(XS[:1])  # a length of 1 is known when code is generated


# ---- refused -------------------------------------------------------------------------------------


def of_several_structures(xs):
    rows = []
    for x in xs[xs > 0]:
        rows.append((x, x) if len(rows) < 2 else (x, x, x))
    return len(rows) * xs[0]


def changed_after(xs):
    rows, last = [], np.zeros(2)
    for x in xs:
        last = last + x
        rows.append((last, x))
    last[0] = 5.0
    return sum(a.sum() * b for a, b in rows)


def returned(xs):
    return [(x, x * x) for x in xs if x > 0]


def lists_and_numbers(xs):
    rows = list(xs)
    rows.append(list(xs))
    return sum(rows[len(xs)])


def test_a_row_that_is_changed_afterwards_is_so_in_the_list():
    xs = np.array([0.3, 0.5, -1.2])
    assert jit(changed_after)(xs) == changed_after(xs)
    ends = [[changed_after(xs + sign * 1e-6 * step) for sign in (1, -1)] for step in np.eye(3)]
    slopes = [(up - down) / 2e-6 for up, down in ends]
    np.testing.assert_allclose(grad(changed_after)(xs), slopes, rtol=1e-8)


@pytest.mark.parametrize(
    "function, what",
    [
        (of_several_structures, "one path and"),
        (returned, "return a list for each of their parts"),
        (lists_and_numbers, "lists and numbers in one list"),
    ],
)
def test_what_may_be_wrong_is_refused(function, what):
    with pytest.raises(S2SError) as caught:
        lowered(function, (XS,))
    assert what in str(caught.value)
    assert caught.value.origin is not None


MIXED = [[1.0], 2.0, 1.5]


def put_among(first, index, value):
    items = [first]
    items[index] = value
    return items


@pytest.mark.parametrize(
    "first, value",
    [(2.0, MIXED), (MIXED, MIXED), (MIXED, 3.0), (2.0, None), ((1.0, 2.0), [1.0]), ([1.0], [2.0])],
    ids=str,
)
def test_an_item_of_another_kind_is_put_where_the_index_says(first, value):
    """The index, which was a value until then, is known from there on."""
    items = jit(put_among)(first, 0, value)
    assert items == [value]
