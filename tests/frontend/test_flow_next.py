"""next() and iter(): what has been read of an iterator all who hold it see, and what is left."""

import itertools

import numpy as np
import pytest

from frontend.every_mode import assert_batched, assert_both_modes
from frontend.flow import lowered
from s2s_ad import S2SError, grad

XS = np.array([1.0, 0.3, 2.0, -0.5, -1.5, 0.7])


def first_two(xs):
    it = iter(xs)
    a = next(it)
    b = next(it)
    return a * b + sum(it)


def rest(xs):
    it = iter(xs)
    total = next(it)
    for x in it:
        total = total * x + x
    return total


def grouper(xs):
    return sum(a * b * b for a, b in zip(*[iter(xs)] * 2))


def known(xs):
    a, b, c = xs[0], xs[1], xs[2]
    it = iter([a, b, c])
    y = next(it)
    for z in it:
        y = y * z
    return y + next(it, 3.0) * a


def found(xs):
    return next(x * x for x in xs if x > 1.5)


def found_default(xs):
    return next((x * x for x in xs if x > 5), xs[0] * 3)


def gen_named(xs):
    g = (x * x for x in xs)
    a = next(g)
    return a * next(g) + sum(g)


def breaks(xs):
    it = iter(xs)
    a = 0.0
    for x in it:
        a += x * x
        if x > 1.5:
            break
    b = 0.0
    for x in it:
        b += x**3
    return a * b


def inner_next(xs):
    it = iter(xs)
    s = 0.0
    for a in it:
        b = next(it)
        s += a * b * b
    return s


def parallel(xs):
    it = iter(xs)
    s = 0.0
    for k in range(4):
        s += k * next(it) ** 2
    return s


def conditional(xs):
    it = iter(xs)
    s = 0.0
    for k in range(5):
        if k % 2 == 0:
            s += (k + 1) * next(it) ** 2
    return s


def data_conditional(xs):
    it = iter(xs)
    s = 0.0
    for x in xs:
        if x > 0.5:
            s += x * next(it) ** 2
    return s


def handed(xs):
    it = iter(xs)
    return head(it) + 10 * head(it) + tail(it)


def head(it):
    a = next(it)
    b = next(it)
    return a * b * b


def tail(it):
    s = 0.0
    for x in it:
        s += x**2
    return s


def exhausted(xs):
    it = iter(xs)
    s = 0.0
    for x in it:
        s += x * x
    for x in it:
        s += 100 * x
    return s + next(it, 7.0)


def of_zip(xs):
    pairs = enumerate(zip(xs, 2 * xs[1:], strict=False))
    i, (a, b) = next(pairs)
    s = a * b
    for i, (a, b) in pairs:
        s += i * a * b
    return s


def gen(xs):
    for x in xs:
        if x > 0.5:
            yield x * x
            yield x


def generator_function(xs):
    g = gen(xs)
    a = next(g)
    b = next(g)
    return a * b * sum(g)


def probe(v):
    a = list(map(lambda q: q * q, v))
    return next(iter(a)) * sum(filter(lambda q: q > 0.05, a)) * any([True]) * all([True])


def dict_iter(xs):
    d = {"a": xs[0], "b": xs[1]}
    k = next(iter(d))
    v = next(iter(d.values()))
    return d[k] * v * xs[2]


def caught(xs):
    it = iter([xs[0], xs[1]])
    s = 0.0
    try:
        s = s + next(it) ** 2
        s = s + next(it) ** 2
        s = s + next(it) ** 2
    except StopIteration:
        s = s * xs[2]
    return s


def while_default(xs):
    it = iter(xs)
    s = 0.0
    x = next(it, None)
    while x is not None:
        s += x**3
        x = next(it, None)
    return s


def appended(xs):
    items = [xs[0], xs[1]]
    it = iter(items)
    s = next(it) ** 2
    items.append(xs[2])
    for y in it:
        s += 3 * y * y
    return s


def any_then(xs):
    it = iter(xs)
    if any(x > 1.5 for x in it):
        return next(it) ** 2
    return 0.0 * xs[0]


class Countdown:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return self

    def __next__(self):
        self.x = self.x * 0.5
        return self.x


def own_class(xs):
    c = Countdown(xs[0])
    return next(c) * next(c)


def in_attr(xs):
    class_ = [iter(xs)]
    return next(class_[0]) * next(class_[0]) ** 2


def nested_gen(xs):
    ys = (x * 2 for x in xs)
    zs = (y * y for y in ys)
    return next(zs) + sum(zs)


def acc(xs):
    it = itertools.accumulate([xs[0], xs[1], xs[2]])
    next(it)
    return next(it) ** 2 * next(it)


def mapped_range(xs):
    it = map(lambda i: xs[i] ** 2, range(len(xs)))
    return next(it) * next(it)


class Series:
    def __init__(self, xs):
        self.xs = xs

    def __iter__(self):
        return iter(self.xs)


def own_iterable(xs):
    series = Series(xs * xs)
    it = iter(series)
    return sum([x * x for x in series]) * next(it) + next(it) * sum(series)


PROGRAMS = [
    own_iterable,
    first_two,
    rest,
    grouper,
    known,
    found,
    found_default,
    gen_named,
    breaks,
    inner_next,
    parallel,
    conditional,
    data_conditional,
    handed,
    exhausted,
    of_zip,
    generator_function,
    probe,
    dict_iter,
    caught,
    while_default,
    appended,
    any_then,
    own_class,
    in_attr,
    nested_gen,
    acc,
    mapped_range,
]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("function", PROGRAMS)
def test_in_both_modes(function):
    assert_both_modes(function, (XS,))


@pytest.mark.parametrize("function", [first_two, data_conditional, inner_next, found_default])
def test_in_batches(function):
    assert_batched(function, (XS,))


# ---- what is refused, and errors ----------------------------------------------------------------


def in_a_helper(xs):
    return (x * x for x in xs)


def given_back_and_read_twice(xs):
    squares = in_a_helper(xs)
    return sum(squares) + sum(squares)


def held_and_read_twice(xs):
    held = {"squares": map(lambda x: x * x, xs)}
    return sum(held["squares"]) + 2 * sum(held["squares"])


def next_of_a_list(xs):
    return next([xs[0], xs[1]])


def too_far(xs):
    it = iter([xs[0]])
    return next(it) + next(it)


def which_of_two(xs):
    it = iter(xs) if xs[0] > 0 else iter(xs[::-1])
    return isinstance(it, list) * xs[0]


@pytest.mark.parametrize(
    "function, what",
    [
        (given_back_and_read_twice, "read twice"),
        (held_and_read_twice, "read twice"),
        (next_of_a_list, "'list' object is not an iterator"),
        (too_far, "no more items"),
        (which_of_two, "iterator"),
    ],
)
def test_what_cannot_be_read(function, what):
    with pytest.raises(S2SError, match=what) as caught:
        lowered(function, (XS,))
    assert caught.value.origin is not None


def every_second(xs):
    it, total = iter(xs), 0.0
    while total < 100.0:
        total += next(it) ** 2
    return total


def test_the_end_is_an_error_where_it_is_reached():
    with pytest.raises(StopIteration):
        grad(every_second)(XS)
