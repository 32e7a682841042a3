"""Generator functions: run to their end where they are called, or step by step if that is seen."""

import numpy as np
import pytest

from frontend.flow import lowered
from s2s_ad import S2SError

XS = np.array([1.0, 0.3, 2.0, -0.5, -1.5, 0.7])


def windows(values, width):
    for start in range(len(values) - width + 1):
        yield values[start : start + width]


def squares(xs):
    for x in xs:
        if x < 0:
            continue
        yield x * x


def states(xs, w):
    h = 0.0
    for x in xs:
        h = np.tanh(w * h + x)
        yield h, x


def chained(xs):
    yield 1.0
    yield from squares(xs)
    yield xs[0]


def upto(x):
    while x < 10:
        yield x
        x = x * x + 1


def of_windows(xs):
    s = 0.0
    for w in windows(xs, 3):
        s += (w[0] - w[2]) ** 2 * w.max()
    return s


def consume(xs):
    a = sum(squares(xs))
    b = list(squares(xs))
    c = max(v * 2 for v in squares(xs))
    return a * b[0] + c + len(b)


def scan(xs, w):
    t = 0.0
    for i, (h, x) in enumerate(states(xs, w)):
        t += h * x * (i + 1)
    return t


def mixed(xs):
    g = chained(xs)
    t = 0.0
    for v, x in zip(g, xs):
        t += v * x
    return t


def grows(x):
    return sum(v * v for v in upto(x))


def of_a_generator_expression(xs):
    spreads = (max(w) - min(w) for w in windows(xs, 3))
    return sum(i * s**2 for i, s in enumerate(spreads, 1))


def buf_gen(xs):
    buf = np.zeros(2)
    for x in xs:
        buf[0] = x
        yield buf


def yields_a_buffer(xs):
    return sum(b[0] for b in buf_gen(xs))


def changed_while_consumed(xs):
    ys = xs * 1
    t = 0.0
    for w in squares(ys):
        ys[0] = ys[0] + 1
        ys[1:] = ys[1:] * 2
        t += w
    return t


def changed_before(xs):
    ys = xs * 1
    g = squares(ys)
    ys[1] = 7.0
    return sum(g)


def read_twice(xs):
    g = squares(xs)
    return sum(g) + sum(g)


def endless(x):
    while True:
        yield x
        x = x + 1


def first_of_endless(x):
    for v in endless(x):
        if v > 5:
            break
    return v


def all_of_endless(x):
    return sum(endless(x))


def raises_at_the_second(xs):
    yield xs[0]
    if xs[1] > 0:
        raise ValueError("above zero")
    yield xs[1]


def caught_around_a_loop(xs):
    total = 0.0
    try:
        for x in raises_at_the_second(xs):
            total += x
    except ValueError:
        total = total * 3
    return total


def changed_afterwards(xs):
    ys = xs * 1
    t = 0.0
    for w in windows(ys, 2):
        t += w[0] * w[1]
    ys[0] = 3.0
    return t + (ys**2).sum()


def changes_an_item(xs):
    ys = xs * 1
    t = 0.0
    for w in windows(ys, 2):
        w[1] = w[0] * 2
        t += w[1]
    return t


def expression_changed(xs):
    ys, total = xs * 1, 0.0
    for y in (ys[1] * x for x in xs):
        ys[1] = y
        total += y
    return total


def expression_reads_what_is_bound(xs):
    k = 1.0
    for v in (x * k for x in xs):
        k = v + 1.0
    return k


def positive(xs):
    for x in xs:
        if x > 0:
            yield x * x


def unpacked(xs):
    """How many items there are is seen when it runs."""
    first, *others = positive(np.abs(xs))
    a, b = (x * 2 for x in others[:2])
    return first * a + b


def powers(values, k):
    for i, v in enumerate(values):
        yield v * k**i


def pipeline(xs):
    """Generators of generators: each reads the one before it, which nobody else does."""
    means = (np.mean(w) for w in windows(xs, 3))
    total = sum(powers(iter(xs), 0.5)) + sum(powers(map(np.sin, xs), 2.0))
    for i, v in enumerate(powers(powers(means, 1.5), 0.3)):
        if i % 2 == 0:
            total = total * 0.5 + v**2
    return total


def started(x):
    items = powers(iter([x, x**2, x**3]), 3.0)
    return next(items) * 3 + sum(items)


def of_a_dict_that_changes(x):
    d, total = {"a": x, "b": x**2}, 0.0
    for v in powers(d.values(), 2.0):
        d["b"] = total = total + v
    return total


def enumerated_and_changed(x):
    xs, total = [x, x**2], 0.0
    for v in (i * v for i, v in dict(enumerate(powers(reversed(xs), 2.0))).items()):
        total += v
    for v in powers((v for _, v in enumerate(xs)), 2.0):
        xs[1] = total = total + v
    return total


def two_read_one(x):
    numbers = iter([x, x**2, x**3])
    products = (a * next(numbers) for a in (x, 2 * x))
    return next(products) + next(numbers)


def tried(x):
    total = 0.0
    try:
        for v in (v * -0.5 for v in x):
            total += v * v
            if total > 3.0:
                break
    except ValueError:
        total = 1.0
    return total


PROGRAMS = [
    (pipeline, (XS,)),
    (tried, (XS,)),
    (started, (1.3,)),
    (unpacked, (XS,)),
    *((each, (XS,)) for each in (of_windows, consume, mixed, of_a_generator_expression)),
    (changed_afterwards, (XS,)),
    (scan, (XS, 0.4)),
    (grows, (1.3,)),
    *((each, (XS,)) for each in (yields_a_buffer, changed_while_consumed, changed_before)),
    *((each, (1.3,)) for each in (of_a_dict_that_changes, first_of_endless)),
]


@pytest.mark.parametrize(
    "function, argument, what",
    [
        (enumerated_and_changed, 1.3, "computed from values"),
        (two_read_one, 1.3, "read twice"),
        (read_twice, XS, "read twice"),
        (changes_an_item, XS, "what was changed"),
        (all_of_endless, 1.3, "does not end"),
        (caught_around_a_loop, XS, "in a 'try'"),
        (expression_reads_what_is_bound, XS, "binds 'k'"),
        (expression_changed, XS, "is changed while its items are consumed"),
    ],
)
def test_what_a_generator_would_see_is_refused(function, argument, what):
    with pytest.raises(S2SError, match=what) as caught:
        lowered(function, (argument,))
    assert caught.value.origin is not None
