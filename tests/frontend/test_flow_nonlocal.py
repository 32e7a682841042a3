"""Functions inside that assign names of the function around them."""

import functools

import numpy as np
import pytest

from frontend.flow import assert_like_python
from s2s_ad import S2SError, grad, jit

XS = np.array([0.5, -1.2, 0.8, 1.9, -0.3])


def counter(xs):
    total = 0.0

    def add(amount):
        nonlocal total
        total += amount
        return total

    add(xs[0])
    return add(xs[1] ** 2) * total + add(xs[2])


def in_a_loop(xs):
    best, count = xs[0], 0

    def look_at(x):
        nonlocal best, count
        if x > best:
            best = x
            count += 1

    for x in xs:
        look_at(x)
    return best**2 * (count + 1)


def first_assigned_inside(xs):
    def prepare():
        nonlocal scale, offset
        scale = xs[0] ** 2
        offset = xs[1]

    scale = None
    offset: float
    prepare()
    offset = offset * 2  # noqa: F821
    return scale * offset


def two_levels(xs):
    a = xs[0]

    def outer():
        b = xs[1]

        def inner():
            nonlocal a, b
            a, b = b, a * 2

        inner()
        return b

    return outer() * 3 + a**2 + outer() * a


def a_function_of_each_call(xs):
    def make(start):
        value = start

        def step(x):
            nonlocal value
            value = 0.5 * value + x
            return value

        return step

    one, two = make(xs[0]), make(xs[1] ** 2)
    return one(xs[2]) * two(xs[3]) + one(xs[4]) - two(xs[0])


def a_parameter_that_changes(xs):
    def scaled(x, by):
        def halve():
            nonlocal by
            by = by / 2

        halve()
        return x * by

    return scaled(xs[0], 3.0) + scaled(xs[1], xs[2])


def an_array_that_changes(xs):
    state = np.zeros(2)

    def push(x):
        nonlocal state
        state = np.array([x, state[0]])
        state *= 2

    for x in xs:
        push(x)
    return np.sum(state * state[::-1]) + state[0]


def a_branch_decides(xs):
    mode, value = "low", xs[0]

    def rise():
        nonlocal mode, value
        mode, value = "high", value * 3

    if xs[1] < 0:
        rise()
    return value**2 if mode == "high" else value


def while_it_lasts(xs):
    left = xs[3]

    def spend(x):
        nonlocal left
        left -= x
        return left > 0.2

    n = 0
    while spend(0.4):
        n += 1
    return left * n


def another_name_inside(xs):
    total = xs[0]

    def change():
        nonlocal total
        total = total * 2

    def hides(total):
        return total + 1

    change()
    return hides(xs[1]) * total


def steps_of_an_integrator(xs):
    calls = 0

    def slope(x):
        nonlocal calls
        calls += 1
        return -x + xs[1]

    x = xs[0]
    for _ in range(3):
        k = slope(x)
        x = x + 0.1 * (k + slope(x + 0.1 * k)) / 2
    return x * calls


def deleted_and_given_back(xs):
    """A local that a function inside assigns may be deleted, and be there again."""
    total = xs[0]

    def add(value):
        nonlocal total
        total = total + value

    add(xs[1])
    kept = total
    del total
    total = kept * 2.0
    add(xs[2])
    return total * kept


PROGRAMS = [
    (counter, (XS,)),
    (in_a_loop, (XS,)),
    (first_assigned_inside, (XS,)),
    (two_levels, (XS,)),
    (a_function_of_each_call, (XS,)),
    (a_parameter_that_changes, (XS,)),
    (an_array_that_changes, (XS,)),
    (a_branch_decides, (XS,)),
    (while_it_lasts, (XS,)),
    (another_name_inside, (XS,)),
    (steps_of_an_integrator, (XS,)),
    (deleted_and_given_back, (XS,)),
]


@pytest.mark.parametrize("function, args", PROGRAMS)
def test_on_other_paths_too(function, args):
    if function is not while_it_lasts:
        assert_like_python(function, (-args[0],))


def test_names_in_the_text_are_the_users():
    source = jit(in_a_loop).source(XS)
    assert "best" in source
    assert "count" in source


# ---- refused -------------------------------------------------------------------------------------


def made_outside():
    total = 0.0

    def add(x):
        nonlocal total
        total += x
        return total

    return add


def test_a_closure_that_was_made_outside_is_refused():
    with pytest.raises(S2SError, match="nonlocal total") as caught:
        grad(made_outside())(1.0)
    assert caught.value.origin is not None


def read_before(x):
    def change():
        nonlocal y
        y = 1.0

    z = y  # noqa: F821
    y = x
    change()
    return y + z


def kept_results(x):
    scale = 2.0

    def change():
        nonlocal scale
        scale = scale * x

    @functools.cache
    def scaled(n):
        return scale * n

    first = scaled(2)
    change()
    return first + scaled(2)


def hidden_in_a_comprehension(x):
    n = 1.0

    def change():
        nonlocal n
        n = n * x

    change()
    return sum(n * x for n in (1, 2)) + n


@pytest.mark.parametrize("function", [read_before, kept_results, hidden_in_a_comprehension])
def test_what_may_be_wrong_is_refused(function):
    with pytest.raises(S2SError) as caught:
        jit(function)(1.5)
    assert caught.value.origin is not None
