"""Generator functions that run step by step: without an end, or seen by those who read them."""

import itertools

import numpy as np
import pytest

from frontend.flow import lowered
from s2s_ad import S2SError, jit

XS = np.array([0.7, 1.3, 0.4, 2.1])


def powers(x):
    p = x
    while True:
        yield p
        p = p * x


def scaled(g, c):
    for v in g:
        yield c * v


def alternating(x):
    while True:
        yield x
        yield -x * 0.5
        x = x * 0.9


def evens(x):
    k = 0
    while True:
        if k % 2 == 0:
            yield x + k
        k += 1


def until(x, top):
    while True:
        if x > top:
            return
        yield x
        x = x * 1.7


def nested(x):
    while True:
        for v in x:
            yield v * v
        x = x * 0.5


def with_break(x):
    while True:
        yield x
        x = x * 0.6
        if x < 0.1:
            break
    yield x * 10


def with_continue(x):
    k = 0
    while True:
        k += 1
        if k % 3 == 0:
            continue
        yield x * k


def doubled_then_powers(x):
    yield from (x, x * 2)
    yield from powers(x)


class Walk:
    def __init__(self, x):
        self.x = x

    def steps(self, c):
        while True:
            self.x = self.x * c
            yield self.x


def data(x):
    while True:
        for i in range(0, len(x), 2):
            yield x[i : i + 2]


def chunks(it):
    while True:
        try:
            a = next(it)
        except StopIteration:
            return
        yield a * a


def tree(n, x):
    if n == 0:
        yield x
    else:
        yield from tree(n - 1, x * 0.5)
        yield from tree(n - 1, x * x)


def reader(g, n):
    return [next(g) for _ in range(n)]


class Model:
    def __init__(self, a):
        self.a = a

    def __iter__(self):
        while True:
            yield self.a
            self.a = self.a * 0.7


def scaled_powers(x):
    s = 0.0
    for v in scaled(powers(x[0]), x[1]):
        s = s + v
        if v < 0.05:
            break
    return s


def two_yields_numbered(x):
    s = 0.0
    for k, v in enumerate(alternating(x[0])):
        if k > 6:
            break
        s = s + v * (k + 1) * x[1]
    return s


def first_of_a_condition(x):
    return sum(itertools.islice(evens(x[0]), 5)) * x[2]


def every_third(x):
    items = powers(x[0])
    total = sum(itertools.islice(items, 1, 6, 3)) + next(items)  # of which the next one is left
    for v in itertools.islice(powers(x[1]), 2, None, 3):
        total += v * x[2]
        if abs(v) < 1e-3 or abs(v) > 1e3:
            break
    return total


def numbered_up_to_an_end(x):
    total = 0.0
    for k, v in enumerate(itertools.islice(powers(x[0]), 5)):
        total += k * v
    return total


def left_by_a_return(x):
    s = 0.0
    for v in until(abs(x[0]) + 0.1, 9.0):
        if v > 3.0:
            continue
        s += v * v
    return s


def asked_seven_times(x):
    g = nested(x[:2])
    return sum(next(g) * (i + 1) for i in range(7))


def left_by_a_break(x):
    return sum(v * v for v in with_break(x[0]))


def beside_a_range(x):
    s = 0.0
    for i, v in zip(range(6), with_continue(x[1])):
        s += i * v
    return s


def yielded_from_two(x):
    s = 0.0
    for v, w in zip(x, doubled_then_powers(x[0])):
        s += v * w
    return s


def of_a_method(x):
    w = Walk(x[0])
    s = 0.0
    for v in w.steps(0.7):
        s += v * x[1]
        if v < 0.1:
            break
    return s + w.x


def asked_in_a_loop(x):
    g = powers(x[0])
    s = 0.0
    for i in range(4):
        s = s + next(g) * x[i]
    return s + next(g)


def read_by_two_loops(x):
    g = powers(x[0])
    for v in g:
        if v < 0.3:
            break
    rest = 0.0
    for w in g:
        rest += w
        if w < 0.05:
            break
    return v + rest * 2


def accumulated(x):
    running = itertools.accumulate(itertools.islice(powers(x[0]), 4))
    return sum(running) + max(itertools.islice(powers(x[0]), 3))


def in_pairs(x):
    s = 0.0
    for a, b in itertools.pairwise(powers(x[0])):
        s += abs(b - a)
        if b < 0.1:
            break
    return s


def a_state_of_the_function(x):
    def local():
        h = x[0]
        while True:
            yield h
            h = np.tanh(h * x[1])

    s = 0.0
    for i, h in zip(range(5), local()):
        s += h * i
    return s


def a_state_that_is_an_array(x):
    state = np.zeros(3) + x[:3]

    def sim():
        s = state.copy()
        while True:
            s = s * 0.9 + x[1] * 0.01
            yield s

    total = 0.0
    for t, s in enumerate(sim()):
        total += s.sum() ** 2
        if t == 4:
            break
    return total


def descent(x):
    def gd():
        w = x[0]
        while True:
            g = 2 * (w - x[1])
            w = w - 0.1 * g
            yield w, g

    for w, g in gd():
        if abs(g) < 0.05:
            return w


def beside_numbers_without_end(x):
    for k, p in zip(itertools.count(1), powers(x[0])):
        if p < 0.01:
            break
    return p * k


def mapped_while_large(x):
    s = 0.0
    for p in itertools.takewhile(lambda v: v > 0.05, map(lambda v: v * x[1], powers(x[0]))):
        s += p
    return s


def of_an_expression(x):
    s = 0.0
    for p in (q * q for q in powers(x[0])):
        s += p
        if p < 0.02:
            break
    return s


def with_a_default(x):
    def f(a):
        yield a
        while a > 0.2:
            a = a * x[0]
            yield a

    it = f(x[1])
    s = 0.0
    while True:
        v = next(it, None)
        if v is None:
            break
        s += v * v
    return s


def collected(x):
    out = []
    for v in powers(x[0]):
        out.append(v)
        if len(out) == 4:
            break
    return np.sum(np.array(out) * x)


def one_in_the_other(x):
    s = 0.0
    for v in powers(x[0]):
        for w in powers(x[2]):
            s += v * w
            if w < 0.1:
                break
        if v < 0.1:
            break
    return s


def unpacked(x):
    a, b, c = itertools.islice(powers(x[0]), 3)
    return a + b * c


def filtered_with_an_else(x):
    s = 0.0
    for v in filter(lambda v: v < 0.4, powers(x[0])):
        s += v
        if v < 0.1:
            break
    else:
        s = 100.0
    return s


def an_expression_over_count(x):
    g = (x[0] * k for k in itertools.count())
    return next(g) + next(g) * next(g)


def a_part_of_count(x):
    s = 0.0
    for k in itertools.islice(itertools.count(2, 3), 1, 6, 2):
        s += k * x[0]
    return s


def batches_over_and_over(x):
    w = x[0]
    for step, batch in zip(range(7), data(x)):
        w = w - 0.1 * np.sum(w - batch)
    return w


def tried(x):
    g = powers(x[0])
    try:
        a = next(g)
    except StopIteration:
        a = 5.0
    return a * next(g)


def in_chunks(x):
    return sum(chunks(iter(x)))


def recursive(x):
    return sum(v * (i + 1) for i, v in enumerate(tree(3, x[1])))


def effects_in_order(x):
    trace = []

    def gen():
        k = 1.0
        while True:
            trace.append(k * x[0])
            yield k
            k = k * x[1]

    for v in gen():
        trace.append(v)
        if v > 3:
            break
    return sum(t * (i + 1) for i, t in enumerate(trace))


def reads_a_name_that_changes(x):
    a = 0.0

    def gen():
        while True:
            yield a * x[1] ** 2

    for v in gen():
        a = a + v + abs(x[0]) + 0.1
        if a > 3:
            break
    return a


def handed_to_a_helper(x):
    g = powers(x[0])
    u = reader(g, 2)
    v = reader(g, 2)
    return u[0] * v[1] + u[1] * v[0]


def of_an_object(x):
    m = Model(x[0])
    s = 0.0
    for a in m:
        s += a
        if a < 0.1:
            break
    return s * m.a


def two_in_a_list(x):
    gens = [powers(x[0]), powers(x[2])]
    s = 0.0
    for _ in range(3):
        for g in gens:
            s += next(g)
    return s


def continues(x):
    s = 0.0
    for v in powers(x[0]):
        try:
            if v < 0.3 and v > 0.2:
                continue
            s += v
        finally:
            s += 0.1 * v
        if v < 0.2:
            break
        s += 1e-3
    for v in powers(x[2]):
        if v > 0.2:
            continue
        s += v
        if v < 0.05:
            break
    return s


def asked_whether_any(x):
    return any(v < 0.1 for v in powers(x[0])) * x[1] + x[2]


def others_inside(x):
    def outer(y):
        for k in range(3):
            g = scaled(powers(y), 2.0 + k)
            yield next(g)
            yield next(g)

    return sum(v * v for v in outer(x[0]))


def asked_while(x):
    g = alternating(x[0])
    s, n = 0.0, 0
    while n < 5:
        s = s + next(g) * n
        n += 1
    return s


def fibonacci(x):
    def fib(a, b):
        while True:
            yield a
            a, b = b, a + b

    return sum(itertools.takewhile(lambda v: v < 20, fib(x[0] ** 2, x[1] ** 2 + 0.1)))


def chained(x):
    q = itertools.chain([x[1]], powers(x[0]))
    return sum(v * k for k, v in zip(range(4), q))


def noted_by_four(x):
    def twice(seen):
        for v in (x[0], 2 * x[0]):
            seen[0] += x[1]
            yield v

    def large(items):
        for v in items:
            if v > 1.0:
                yield v

    def noted(items, seen):
        for v in items:
            yield v
            seen[0] += v

    seen = [0.0]
    return sum(noted(scaled(large(twice(seen)), x[1]), seen)) + seen[0]


def line_search(x):
    def line(w):
        step = 1.0
        while True:
            yield w - step * 2 * (w - x[1]), step
            step *= 0.5

    w = x[0]
    for cand, step in line(w):
        if (cand - x[1]) ** 2 < 0.3 * (w - x[1]) ** 2:
            w = cand
            break
    return w * step


PROGRAMS = [
    (each, (XS,))
    for each in (
        scaled_powers,
        every_third,
        numbered_up_to_an_end,
        two_yields_numbered,
        first_of_a_condition,
        left_by_a_return,
        asked_seven_times,
        left_by_a_break,
        beside_a_range,
        of_a_method,
        asked_in_a_loop,
        read_by_two_loops,
        accumulated,
        in_pairs,
        a_state_of_the_function,
        a_state_that_is_an_array,
        descent,
        beside_numbers_without_end,
        mapped_while_large,
        of_an_expression,
        with_a_default,
        collected,
        one_in_the_other,
        unpacked,
        filtered_with_an_else,
        an_expression_over_count,
        a_part_of_count,
        tried,
        in_chunks,
        recursive,
        effects_in_order,
        reads_a_name_that_changes,
        handed_to_a_helper,
        of_an_object,
        two_in_a_list,
        continues,
        asked_whether_any,
        others_inside,
        asked_while,
        fibonacci,
        chained,
        noted_by_four,
        line_search,
    )
]


@pytest.mark.parametrize("function", [yielded_from_two, batches_over_and_over])
def test_a_generator_that_a_loop_makes_anew_is_refused(function):
    with pytest.raises(S2SError, match="a generator"):
        jit(function)(XS)


def test_objects_of_the_condition_of_a_loop_are_in_no_later_block():
    """Before dead code is dropped no block reads what was made to look at a loop's condition."""
    lowered(noted_by_four, (XS,))
