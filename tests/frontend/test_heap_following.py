"""Names that a branch leaves on one of two arrays: a store through one changes the one it is."""

import numpy as np
import pytest

from frontend.flow import assert_like_python
from s2s_ad import jit
from transforms.modes_of_programs import assert_every_mode

X = np.array([0.5, -1.5, 2.0])


def rebound_on_one_side(x, c):
    a = x * 2.0
    b = a
    if c > 0:
        b = a.copy()
    b[0] = 1.0
    return a * b


def one_of_two(x, c):
    y = x * 1.0
    z = y if c > 0 else x * 2
    z[1] = 5.0
    return y * z


def view_of_one_of_two(x, c):
    y = x * 1.0
    z = x * 3.0
    w = y if c > 0 else z
    v = w[1:]
    v *= 2.0
    return y * z


def stored_through_the_other(x, c):
    a, b = x * 2.0, x * 3.0
    if c > 0:
        last = a
    else:
        last = b
    a[1] = 7.0
    return last * b


def one_after_the_other(x, c):
    a = x * 2.0
    b = a
    if c > 0:
        b = a.copy()
    d = b
    if c > 1:
        d = a
    d[0] *= 3.0
    b[1] = x[0]
    return a * b * d


def left_on_one_side(x, c):
    a = x * 2.0
    b = a
    if c > 1:
        return a * 3.0
    elif c > 0:
        b = x * a
    b[2] = 4.0
    return a * b


def changed_in_a_loop(x, c):
    a = x * 2.0
    b = a
    if c > 0:
        b = a * 1.0
    for i in range(3):
        b[i] += x[0] * i
    return a * b


def item_of_a_list(x, c):
    items = [x * 2.0, x * 3.0]
    last = items[0]
    if c > 0:
        last = items[1]
    last[0] = 1.0
    return items[0] * items[1]


PROGRAMS = (rebound_on_one_side, one_of_two, view_of_one_of_two, stored_through_the_other)
PROGRAMS += (one_after_the_other, left_on_one_side, changed_in_a_loop, item_of_a_list)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("c", [-1.0, 0.5, 2.0])
@pytest.mark.parametrize("function", PROGRAMS)
def test_a_store_changes_what_it_changes_in_python(function, c):
    assert_like_python(function, (X, c))
    assert_every_mode(function, X, c)


def test_only_what_follows_the_branch_is_written_twice():
    text = jit(rebound_on_one_side).source(X, 1.0)
    assert text.count("x * 2.0") == 1
    assert text.count("= 1.0") == 2


def in_each_pass(x, n):
    a = x * 2.0
    b = a
    for i in range(n):
        if x[i] > 0:
            b = a.copy()
        b[i] = 1.0
    return a * b


def test_where_the_branch_is_in_a_loop_the_stores_follow():
    """Each pass knows what it has chosen: see `chosen`."""
    assert_like_python(in_each_pass, (X, 3))
