"""Lists, dicts and sets that change: what Core says of them is what Python does."""

import functools
from collections import defaultdict, deque

import numpy as np
import pytest

from frontend.flow import assert_like_python, lowered
from s2s_ad import S2SError, grad
from s2s_ad.core import form
from s2s_ad.core.regions import Loop

X = np.array([3.0, 1.0, 2.0, 5.0])
A = np.arange(12.0).reshape(3, 4) + 0.5


def list_methods(x):
    xs = [x]
    xs.append(x * 2)
    ys = xs
    ys.insert(1, x + 1)
    a = xs.pop()
    xs.extend([a, a * 3])
    xs += (x,)
    xs.reverse()
    b = xs.pop(1)
    del xs[0]
    zs = xs.copy()
    zs.clear()
    return xs, ys, zs, b, len(ys), xs.index(b) if b is xs else -1


def list_items(x):
    xs = [1.0, 2.0, 3.0, 4.0]
    xs[1] = x[0]
    xs[-1] += x[1]
    xs[1:3] = [x[2]]
    xs[:0] = [7.0, 8.0]
    xs *= 2
    del xs[::3]
    return xs, sum(xs), len(xs)


def known_lists(x):
    xs = [3, 1, 2]
    xs.sort()
    xs.remove(2)
    ys = sorted(["b", "a"], reverse=True)
    pairs = sorted([(2, x), (1, x * 2)], key=lambda pair: pair[0])
    xs.sort(reverse=True)
    return xs, ys, pairs, xs.count(3), xs.index(1)


def aliased_lists(x):
    a = b = []
    a.append(x)
    c = a[:]
    c.append(x * 2)
    d = [a, a]
    d[0].append(x * 3)
    return b, c, d, a is b


def lists_of_one_list(x):
    grid = [[0.0] * 2] * 2
    grid[0][1] = x[0]
    apart = [[0.0] * 2 for _ in range(2)]
    apart[0][1] = x[0]
    arrays = [np.zeros(2)] * 2
    arrays[0][1] = x[1]
    return grid, apart, arrays


def dict_methods(x):
    d = {"a": x}
    e = d
    d["b"] = x * 2
    d["a"] += 1.0
    e.setdefault("c", []).append(x[0])
    e.setdefault("c", []).append(x[1])
    d.update(z=x[1], y=x[2])
    popped = e.pop("b")
    del d["z"]
    last = d.popitem()
    d |= {"w": 1.0}
    copied = d.copy()
    copied["a"] = 0.0
    missing = d.pop("missing", x[3])
    made = dict.fromkeys(["p", "q"], x[0])
    return d, popped, last, copied, missing, made, "a" in e, e.get("k", 3.0), [*d]


def arrays_in_dicts(x):
    d = {"a": x * 1.0}
    y = d["a"]
    d["a"] *= 2.0
    d["b"] = y
    d["b"][0] = 5.0
    return y, d


def sets_of_known_objects(x):
    s = {1, 2}
    t = s
    s.add(3)
    s |= {5}
    s.discard(1)
    u = s | {7}
    u -= {2}
    return x * len(t), 3 in t, 1 in s, len(u), sorted(u), len(set([1, 1, 2]) & s)


def tuples_hold_objects(x):
    t = (x * 1.0, [x[0]])
    t[0][1] = 9.0
    t[1].append(2.0)
    a, b = t
    a *= 2
    b += [3.0]
    return t


def counted_by_a_closure(x):
    n = [0]

    def count():
        n[0] += 1
        return n[0]

    count()
    count()
    return x * n[0]


def arguments_are_the_functions_own(items, table):
    items[0] = items[0] * 2
    items.reverse()
    table["a"] *= 3.0
    table["b"] = items[1]
    return items, table


def lists_on_two_paths(x, c):
    xs = [x]
    if c > 0:
        xs.append(x * 2)
    else:
        xs.append(x * 3)
        xs[0] = x + 1
    return xs


def lists_of_several_lengths(x, c):
    xs = [x[0]]
    if c > 0:
        xs.append(x[1])
    return sum(xs), len(xs), xs


def arrays_of_a_list_on_two_paths(x, c):
    xs = [x * 1.0]
    ys = xs
    if c > 0:
        ys.append(x)
        xs[0][0] = 4.0
    return ys


def dicts_on_two_paths(x, c):
    d = {"a": x[0]}
    e = d
    if c > 0:
        d["a"] *= 2.0
    else:
        e["a"] = x[1]
    return d


# ---- lists that grow in loops --------------------------------------------------------------------


def grown(x, n):
    xs = []
    for i in range(n):
        xs.append(x[0] * i)
    return xs, len(xs), sum(xs), np.array(xs), np.mean(xs)


def read_by_index(x, n):
    xs = [x[1]]
    for i in range(n):
        xs.append(xs[i] + xs[-1] * x[0])
    return xs[-1], xs[0], xs[n - 1], xs[1:], xs[::-1]


def arrays_that_are_stacked(x, n):
    xs = []
    for i in range(n):
        xs.append(x * i)
    return np.stack(xs), np.concatenate(xs), np.array(xs), np.mean(xs), np.stack(xs, axis=1)


def arrays_that_are_changed(x, n):
    xs = []
    for i in range(n):
        xs.append(x * i)
    xs[1][0] = 7.0
    xs[0] += 1.0
    row = xs[2]
    row *= 2.0
    return np.array(xs), row


def copies_of_one_array(x, n):
    y, xs = x * 1.0, []
    for _ in range(n):
        y[0] += 1.0
        xs.append(y.copy())
    return np.array(xs)


def stack_of_numbers(x, n):
    stack = [x[0]]
    for _ in range(n):
        stack.append(stack[-1] * 2.0)
    total = 0.0
    while stack:
        total += stack.pop() * x[1]
    return total


def fibonacci(x):
    q = [x[0], x[1]]
    while len(q) < 6:
        q.append(q[-1] + q[-2])
    return q[-1], q


def table(x, n):
    dp = [0.0] * n
    for i in range(n):
        dp[i] = x[0] * i + (dp[i - 1] if i > 0 else 0.0)
    return dp[-1], dp


def table_of_rows(x, n):
    dp = [[0.0] * 3 for _ in range(n)]
    for i in range(n):
        for j in range(3):
            dp[i][j] = x[j] * i + (dp[i - 1][j] if i > 0 else 1.0)
    return dp[n - 1][2], dp[0][1]


def rows_made_apart(x, n):
    rows = [np.zeros(3) for _ in range(n)]
    for i in range(n):
        rows[i][1] = x[i]
        rows[i] += 1.0
    return np.array(rows)


def popped_arrays(x, n):
    rows = []
    for i in range(n):
        rows.append(x * i)
    last = rows.pop()
    last[0] = 5.0
    return last, np.array(rows)


def extended(x, n):
    xs, ys = [x[0]], []
    for i in range(n):
        xs += [x[1] * i, x[2]]
        ys.extend(xs[-2:])
    zs = xs + ys
    ys.reverse()
    ws = ys.copy()
    ws.append(1.0)
    return xs, ys, zs, ws


def inserted(x, n):
    xs, queue = [x[0]], deque([x[1]])
    for i in range(n):
        xs.insert(0, x[1] * i)
        xs.insert(1, x[2])
        queue.append(queue[0] + i)
    first, second = xs.pop(0), xs.pop(1)
    oldest = queue.popleft()
    queue.appendleft(5.0)
    return xs, first, second, oldest, list(queue)


def missing_entries(x):
    counts, groups = defaultdict(float), defaultdict(list)
    for key, value in (("a", x[0]), ("b", x[1]), ("a", x[2])):
        counts[key] += value
        groups[key].append(value)
    return dict(counts), dict(groups), "c" in counts


def made(x, n):
    items = []
    for i in range(n):
        items.append(x * i)
    return items


def grown_by_a_helper(x, n):
    xs = made(x, n)
    xs.append(x)
    ys = made(x * 2, n)
    return np.array(xs), np.array(ys)


def dicts_in_loops(x, n):
    d = {"a": x[0], "b": x * 1.0}
    for i in range(n):
        d["a"] += i
        d["b"][1] = d["a"]
    return d


def known_list_by_a_number_of_the_run(x, n):
    xs = [x[0], x[1], x[2]]
    total = 0.0
    for i in range(n):
        total += xs[i] * i
        xs[i] = total
    return total, xs


def accumulated(x, n):
    def bump(i):
        y[i] += 1.0
        return y[i]

    y, total = x * 1.0, 0.0
    for i in range(n):
        total += bump(i)
    return total, y


def functions_in_containers(x):
    table = {"double": lambda v: v * 2.0, "shift": functools.partial(np.add, 1.0)}
    table["both"] = lambda v: table["shift"](table["double"](v))
    steps = [table[name] for name in ("double", "both")]
    for step in steps:
        x = step(x)
    return functools.reduce(lambda a, f: f(a), steps, x)


CASES = [
    (list_methods, (X,)),
    (list_items, (X,)),
    (known_lists, (X,)),
    (aliased_lists, (X,)),
    (lists_of_one_list, (X,)),
    (dict_methods, (X,)),
    (arrays_in_dicts, (X,)),
    (sets_of_known_objects, (X,)),
    (tuples_hold_objects, (X,)),
    (counted_by_a_closure, (X,)),
    (arguments_are_the_functions_own, ([X, 2.0], {"a": X})),
    (lists_on_two_paths, (X, 1.0)),
    (lists_on_two_paths, (X, -1.0)),
    (lists_of_several_lengths, (X, 1.0)),
    (lists_of_several_lengths, (X, -1.0)),
    (arrays_of_a_list_on_two_paths, (X, 1.0)),
    (arrays_of_a_list_on_two_paths, (X, -1.0)),
    (dicts_on_two_paths, (X, 1.0)),
    (dicts_on_two_paths, (X, -1.0)),
    (grown, (X, 3)),
    (read_by_index, (X, 3)),
    (arrays_that_are_stacked, (X, 3)),
    (arrays_that_are_changed, (X, 3)),
    (copies_of_one_array, (X, 3)),
    (stack_of_numbers, (X, 3)),
    (stack_of_numbers, (X, 0)),
    (fibonacci, (X,)),
    (table, (X, 4)),
    (table_of_rows, (X, 3)),
    (rows_made_apart, (X, 3)),
    (popped_arrays, (X, 3)),
    (extended, (X, 3)),
    (inserted, (X, 3)),
    (missing_entries, (X,)),
    (grown_by_a_helper, (X, 3)),
    (dicts_in_loops, (X, 3)),
    (known_list_by_a_number_of_the_run, (X, 3)),
    (accumulated, (X, 3)),
    (functions_in_containers, (X,)),
]


@pytest.mark.parametrize("function, args", CASES)
def test_containers_are_those_of_python(function, args):
    assert_like_python(function, args)


@pytest.mark.parametrize("function", [grown, read_by_index, table, rows_made_apart, dicts_in_loops])
def test_loops_over_lists_that_grow_stay_loops(function):
    program = lowered(function, (X, 3))
    loops = [each for each in program.body if isinstance(each, form.Op)]
    assert any(isinstance(each.function, Loop) for each in loops)
    assert len(program.body) < 20


class Point:
    def __init__(self, x=0.0, y=0.0, z=0.0):
        self.x, self.y, self.z = x, y, z


def spread_of_a_generator(x):
    p = Point(*(2 * v for v in x))
    return p.x * p.y * p.z + np.hypot(*map(np.sin, x[:2]))


def test_generators_are_spread_over_arguments():
    x = np.array([0.3, 0.4, 0.5])
    assert_like_python(spread_of_a_generator, (x,))
    with pytest.raises(S2SError, match="too many positional arguments"):
        grad(spread_of_a_generator)(np.ones(4))


def counted(x):
    squares = np.fromiter((v * v for v in x), float, count=len(x))
    large = np.fromiter((3 * v for v in x if v > 0.4), dtype=float, count=2)
    return squares @ squares + large[0] * large[1]


def test_fromiter_takes_as_many_items_as_it_is_told():
    x = np.array([0.3, 0.7, 0.9, 0.8])
    assert_like_python(counted, (x,))
    np.testing.assert_allclose(grad(counted)(x), 4 * x**3 + [0.0, 9 * 0.9, 9 * 0.7, 0.0])
    with pytest.raises(ValueError, match="iterator too short"):
        grad(counted)(x / 2)
