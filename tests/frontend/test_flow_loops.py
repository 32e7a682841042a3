"""Loops: what Core says of them is what Python does."""

import numpy as np
import pytest

from frontend.flow import assert_like_python, lowered
from s2s_ad.core import form, values
from s2s_ad.core.regions import Loop

X, Y = np.array([1.0, 2.0, 3.0]), np.array([-1.0, 3.0, 0.5])
A = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])


def power(x, n):
    y = 1.0
    for _ in range(n):
        y *= x
    return y


def logistic(r, x, n):
    for _ in range(n):
        x = r * x * (1 - x)
    return x


def ranges(x, a, b, c):
    s = x
    for i in range(a, b):
        s += i * x
    for i in range(b, a, -2):
        s = s * 0.5 + i
    for i in range(0, 10, c):
        s -= i
    for i in range(4):
        s = s * i + 1
    for i in reversed(range(b)):
        s = s * 2 - i
    return s, i


def rows(A, w):
    s = 0
    for row in A:
        s += row @ w
    for v in w:
        s = s * v
    return s


def columns(A, w):
    total = np.zeros(A.shape[0])
    for column, v in zip(A.T, w):
        total += column * v
    return total


def iterables(x, y, n):
    s = 0.0
    for i, (a, b) in enumerate(zip(x, y), 1):
        s += i * a * b
    for a in reversed(x):
        s = s * 0.5 + a
    for i, a in enumerate(reversed(x)):
        s += i * a
    for p, a in zip((1.0, 2.0, 3.0), x):
        s = s * p + a
    for j, k in zip(range(2, n), range(n, 0, -1)):
        s = s + j * k * a
    for z in map(lambda t, u: t * u, x, y):
        s += z
    for i, k in enumerate(range(1, n, 2)):
        s += i * k
    return s, i, k


def unrolled(x, params):
    layers = [(params["w"], 2.0), (x, 3.0)]
    for w, k in layers:
        x = x * w + k
    for name, value in params.items():
        if name == "w":
            x = x * value
        else:
            x = x - value
    for name in ("w", "b"):
        x = x + params[name]
    for i, (key, value) in enumerate(params.items()):
        x = x + i * value
    return x


def unrolled_for_the_index(x, n):
    items = [(x, "a"), (2 * x, "b"), (3 * x, "c")]
    s = x
    for i in range(n):
        value, name = items[i]
        s = s + value if name != "b" else s * value
    return s


def newton(a):
    x = a
    while abs(x * x - a) > 1e-10:
        x = 0.5 * (x + a / x)
    return x


def counted(x, n):
    k = 0
    while k < n and x < 100:
        k += 1
        x = x * 2 + k
    return x, k


def walrus_test(x, n):
    k = 0
    while (k := k + 1) < n:
        x = x * k
    else:
        x = -x
    return x, k


def breaks(x, n):
    k, i = 0, -1
    for i in range(0, n, 2):
        if x > 10:
            break
        if i == 4:
            continue
        x = x * 2
        k += 1
    else:
        x = -x
    return x, k, i


def break_in_the_middle(x, n):
    total = 0.0
    for i in range(n):
        y = x * i
        if y > 5:
            total += 1
            if y > 8:
                break
            total += 0.5
        total += y
    return total, y


def finds(xs, t):
    for i in range(len(xs)):
        if xs[i] > t:
            return xs[i], i
    return t, -1


def finds_a_pair(xs, t):
    for i in range(len(xs)):
        for j in range(i):
            if xs[i] * xs[j] == t:
                return i, j
    return -1, -1


def endless(x):
    k = 0
    while True:
        x = x / 2
        k += 1
        if x < 1:
            return x, k


def breaks_from_endless(x):
    while True:
        x = x / 2
        if x < 1:
            break
        if x > 50:
            x = x / 10
            continue
        x = x - 0.1
    return x


def nested(x, n):
    s = 0.0
    for i in range(n):
        t = 1.0
        for j in range(i):
            t = t * x + j
        s = s + t
    return s


def nested_breaks(x, n):
    s = 0.0
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            if j == 1:
                continue
            s += x * j
        else:
            s = s * 2
        if s > 20:
            break
    else:
        s = -s
    return s, i, j


def from_an_earlier_pass(x, n):
    last = x
    for i in range(n):
        if i == 0:
            kept = x
        elif i == 2:
            kept = kept * 2
        last = last + kept
    return last, kept


def read_after(xs):
    for x in xs:
        y = x * 2
    return x, y


def fibonacci(a, b, n):
    for _ in range(n):
        a, b = b, a + b
    return a


def state(x, n):
    point = (x, {"v": 0.0})
    for _ in range(n):
        position, rest = point
        v = rest["v"] - 0.1 * position
        point = (position + 0.1 * v, {"v": v})
    return point


def momentum(w, X, n):
    v = np.zeros_like(w)
    for _ in range(n):
        v = 0.9 * v - 0.1 * (X.T @ (X @ w))
        w = w + v
    return w


def momentum_in_place(w, X, n):
    w = w.copy()
    v = np.zeros_like(w)
    for _ in range(n):
        v *= 0.9
        v -= 0.1 * (X.T @ (X @ w))
        w += v
    return w


def two_step(x, n):
    before = x
    for _ in range(n):
        before, x = x, np.sin(x) + 0.1 * before
    return x - before


def heat(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def filled(x, n):
    out = np.zeros(n)
    for i in range(n):
        out[i] = x * i
        if i > 1:
            out[i] += out[i - 1]
    same = out
    for _ in range(2):
        same *= 2
    return out


def edit_distance(a, b):
    n = len(a)
    d = np.zeros((n + 1, n + 1))
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            step = min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
            d[i, j] = step + (a[i - 1] - b[j - 1]) ** 2
    return d[n, n]


def cell(h, x, W, U):
    pre = W @ x + U @ h
    return np.tanh(pre)


def recurrent(W, U, xs):
    h = np.zeros(U.shape[0])
    for x in xs:
        h = cell(h, x, W, U)
    return h


def looping_helper(x, n):
    for i in range(n):
        if x > 50:
            return x, i
        x = x * 2
    return x, n


def calls_loops(x, n):
    y, i = looping_helper(x, n)
    z, j = looping_helper(y + 1, n)
    return z, i + j


def closures(x, n):
    def step(y, k):
        if k % 2 == 0:
            return y * 2
        y = y + x
        return y

    total = x
    for k in range(n):
        total = step(total, k)
    return total


def integers_to_floats(x, n):
    s = 0
    for _ in range(n):
        s = s + x
    return s


def text_between_passes(x, n):
    mode = "start"
    for _ in range(n):
        x = x + 1 if mode == "start" else x * 2
        mode = "go"
    return x


def kept_through_branches(x, n):
    """Branches no side of which assigns what an earlier pass did."""
    for i in range(n):
        if x > 3:
            x = x * 0.5
        else:
            x = x + 1
        if i > 0:
            x = x - 0.1 * y  # noqa: F821
        y = x * 2  # noqa: F841
    return x


def kept_where_others_raise(x, n):
    """The same with a side that does not come to its end."""
    for i in range(n):
        if x > 1e6:
            raise ValueError("too large")
        elif i > 0:
            x = x + 0.5 * y  # noqa: F821
        if i % 2:
            continue
        y = x * 2  # noqa: F841
    return x


def assigned_on_one_side(x, n):
    """The other side leaves it as an earlier pass did."""
    for i in range(n):
        if i % 2 == 0:
            y = x * 2
        x = x + 0.5 * y
    return x, y


def range_beside_an_array(x, n):
    """The shorter of the two ends the loop."""
    s = 0.0
    for i, v in zip(range(2), x):
        s += v * (i + 1)
    for i, v in zip(range(9), x[:n]):
        s = s * 0.5 + v * i
    return s


def alias_of_some_paths(x, c):
    """What may be the array that passes change, or not be there at all."""
    y = x.copy()
    if c > 0:
        other = y  # noqa: F841
    for v in x:
        if v > 1.5:
            y += v
            continue
    return y


def left_before_a_name_is_bound(x, rows):
    """The inner loop hands `last` on, which no pass reads and none assigns."""
    k = 0
    for row in rows:
        for v in reversed(row):
            if k % 2 == 0:
                break
            if v < 4:
                x = x + sum((last := u * x) + last * last for u in row)
        x = x * row[0]
    return x


def function_of_a_pass(x, n):
    while n < 2:
        n += 1

        def doubled(y):
            return 2.0 * y

    t = 0
    while t < 3:
        t += 1
        x = doubled(x)
    return x


def captured_by_a_pass(x, n):
    k, pair = 0, (x, 2.0 * x)
    while k < n:
        k += 1
        match pair:
            case [first, second]:
                pair = second, first + second
    match pair:
        case [first, second]:
            return first * second


def parts_of_a_range(x):
    places, odd = range(len(x)), range(1, len(x), 2)
    total = x[places[-1]] * x[odd[0]] + len(places[5:2:-1]) * x[0]
    for i in places[-2::-1]:
        total += x[i] * x[i + 1]
    for i in odd[-3:]:
        total += i * x[i]
    for i in range(len(x) - 1, -1, -1)[1:3]:
        total = total * x[i]
    return total + sum(x[i] for i in places[:-9:-2])


PROGRAMS = [
    *((parts_of_a_range, (np.linspace(0.5, 1.4, n),)) for n in (2, 3, 8)),
    (function_of_a_pass, (1.5, 0)),
    (captured_by_a_pass, (1.5, 2)),
    (left_before_a_name_is_bound, (1.5, A)),
    *((power, (1.5, n)) for n in (0, 1, 4)),
    (logistic, (3.1, 0.3, 5)),
    *((ranges, (1.5, a, b, c)) for a, b, c in ((0, 4, 3), (3, 3, 1), (5, 2, 11))),
    (rows, (A, X)),
    (columns, (A, X)),
    *((iterables, (X, Y, n)) for n in (2, 6)),
    (unrolled, (1.5, {"w": 2.0, "b": 0.5})),
    *((unrolled_for_the_index, (1.5, n)) for n in (0, 3)),
    (newton, (2.0,)),
    *((counted, (1.5, n)) for n in (0, 3, 50)),
    *((walrus_test, (1.5, n)) for n in (0, 4)),
    *((breaks, (1.0, n)) for n in (0, 4, 20)),
    *((break_in_the_middle, (x, 6)) for x in (0.5, 1.5, 3.0)),
    *((finds, (X, t)) for t in (0.0, 1.5, 9.0)),
    *((finds_a_pair, (X, t)) for t in (2.0, 6.0, 7.0)),
    *((endless, (x,)) for x in (0.5, 9.0)),
    *((breaks_from_endless, (x,)) for x in (1.5, 900.0)),
    *((nested, (1.5, n)) for n in (0, 1, 4)),
    *((nested_breaks, (x, n)) for x in (0.5, 3.0) for n in (1, 4)),
    *((from_an_earlier_pass, (1.5, n)) for n in (1, 2, 5)),
    (read_after, (X,)),
    *((fibonacci, (1.0, 1.0, n)) for n in (0, 5)),
    *((state, (1.5, n)) for n in (0, 3)),
    *((momentum, (X, np.eye(3), n)) for n in (0, 3)),
    *((momentum_in_place, (X, np.eye(3), n)) for n in (0, 3)),
    *((two_step, (X, n)) for n in (0, 1, 4)),
    (heat, (np.arange(5.0) ** 2, 0.1, 3)),
    *((filled, (1.5, n)) for n in (0, 4)),
    (edit_distance, (X, Y)),
    (recurrent, (np.ones((2, 3)), np.eye(2), np.ones((4, 3)) / 3)),
    *((calls_loops, (x, 4)) for x in (1.0, 20.0)),
    (closures, (1.5, 4)),
    *((integers_to_floats, (1.5, n)) for n in (0, 3)),
    (text_between_passes, (1.5, 3)),
    *((kept_through_branches, (x, n)) for x in (0.5, 9.0) for n in (0, 1, 4)),
    *((kept_where_others_raise, (1.5, n)) for n in (0, 1, 4)),
    *((assigned_on_one_side, (1.5, n)) for n in (1, 4)),
    *((range_beside_an_array, (X, n)) for n in (0, 2, 3)),
    *((alias_of_some_paths, (X, c)) for c in (1.0, -1.0)),
]


@pytest.mark.parametrize("function, args", PROGRAMS)
def test_loops_are_those_of_python(function, args):
    assert_like_python(function, args)


def loops(program):
    made = (each.function for each in program.body if isinstance(each, form.Op))
    return [each for each in made if isinstance(each, Loop)]


@pytest.mark.parametrize(
    "function, args, carried",
    [
        (power, (1.5, 3), 1),
        (logistic, (3.1, 0.3, 5), 1),
        (rows, (A, X), 1),
        (heat, (np.arange(5.0), 0.1, 3), 1),
        (momentum_in_place, (X, np.eye(3), 3), 2),
        (newton, (2.0,), 1),
        (recurrent, (np.ones((2, 3)), np.eye(2), np.ones((4, 3))), 1),
    ],
)
def test_what_never_changes_is_not_carried(function, args, carried):
    assert loops(lowered(function, args))[0].carried == carried


def test_what_holds_before_and_after_a_pass_is_known_in_it():
    (loop,) = loops(lowered(momentum_in_place, (X, np.eye(3), 3)))
    n = values.of_object(X).shape[0]
    assert all(each.rank == 1 and values.known_not_one(n) for each in loop.facts)
    (loop,) = loops(lowered(counted, (1.5, 3)))
    assert set(loop.facts) == {values.Scalar(float), values.Scalar(int)}
    (loop,) = loops(lowered(heat, (np.arange(5.0), 0.1, 3)))
    assert loop.facts[0].dtype == float


def test_a_loop_is_one_operation_whatever_its_trip_count():
    assert len(lowered(power, (1.5, 3)).body) == len(lowered(power, (1.5, 10**9)).body)


def test_a_loop_over_an_array_reads_it_by_index():
    (loop, _) = loops(lowered(rows, (A, X)))
    assert "getitem" in {each.function.__name__ for each in loop.body.body[:1]}


def test_a_reversed_range_is_run_backwards():
    def f(x, n):
        for i in reversed(range(n)):
            x = x * i + 1
        return x

    (loop,) = loops(lowered(f, (1.0, 3)))
    assert loop.backwards


def test_deeply_nested_loops_are_lowered_quickly():
    def f(x, n):
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    for m in range(n):
                        x = x * 0.5 + i * j - k * m
        return x

    calls = 0
    import s2s_ad.frontend.lower.core as core

    evaluate = core.Lowering.evaluate

    def counted(self, node):
        nonlocal calls
        calls += 1
        return evaluate(self, node)

    core.Lowering.evaluate = counted
    try:
        lowered(f, (1.0, 2))
    finally:
        core.Lowering.evaluate = evaluate
    assert calls < 100
