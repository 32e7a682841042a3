"""What flow of control cannot be followed is refused, with its place and with advice."""

import numpy as np
import pytest

from frontend.flow import lowered
from s2s_ad import S2SError, jit

X = np.array([1.0, 2.0])


def two_structures(x):
    if x > 0:
        return x
    return x, x


def never_assigned(x, n):
    for _ in range(n):
        x = x + y  # noqa: F821
        y = x
    return x, y


def grows_each_pass(x, n):
    pair = (x,)
    while len(pair) < n and x < 100:
        pair = (*pair, x)
        x = x * 2
    return pair[0]


def nests_each_pass(x, n):
    found = ()
    while True:
        found = (found, x)
        if x > n:
            break
        x = x * 2.0
    return x * len(found)


def deleted(x):
    y = x
    del y
    return y  # noqa: F821


def tuple_of_many(xs):
    doubled = [x * 2 for x in xs if x > 0]
    return tuple(doubled)


def a_number(x):
    for y in x:
        x = x + y
    return x


def returns_at_the_end(x):
    try:
        return x
    finally:
        return -x


def an_array_of_what_is_a_list_on_one_path(x):
    items = [x, x]
    if x > 0:
        items[0] = [1.0]
    return np.sum(np.array(items))


@pytest.mark.parametrize(
    "function, args, line, advice",
    [
        (two_structures, (1.5,), "", "same structure on all paths"),
        (never_assigned, (1.5, 3), "x = x + y", "before it is assigned"),
        (grows_each_pass, (1.5, 3), "", ""),
        (nests_each_pass, (1.5, 9.0), "", ""),
        (deleted, (1.5,), "return y", "after it was deleted"),
        (tuple_of_many, (X,), "return tuple(doubled)", "make a list"),
        (a_number, (1.5,), "for y in x:", "number"),
        (returns_at_the_end, (1.5,), "try:", "finally"),
        (
            an_array_of_what_is_a_list_on_one_path,
            (1.5,),
            "np.array(items)",
            "a list of 1 on one path",
        ),
    ],
)
def test_refusals_say_where_and_what_to_do(function, args, line, advice):
    with pytest.raises(S2SError) as caught:
        lowered(function, args)
    assert advice in str(caught.value)
    assert caught.value.origin is not None
    assert line in caught.value.origin.text


def without_end(x):
    while True:
        x = x + 1


def helper_without_end(x):
    return without_end(x) * 2


@pytest.mark.parametrize("function", [without_end, helper_without_end])
def test_a_loop_that_nothing_ends(function):
    with pytest.raises(S2SError, match="without_end never returns") as caught:
        jit(function)(1.0)
    assert "without_end" in caught.value.origin.text
