"""Branches: what Core says of them is what Python does."""

import numpy as np
import pytest

from frontend.flow import assert_like_python, lowered
from s2s_ad import grad, jit
from s2s_ad.core import form
from s2s_ad.core.regions import Branch

X, Y = np.array([1.0, 2.0]), np.array([-1.0, 3.0])


def huber(x, delta):
    r = abs(x)
    if r <= delta:
        return 0.5 * x * x
    return delta * (r - 0.5 * delta)


def chain(x):
    if x > 2:
        y = x
    elif x > 1:
        y = x * x
    elif x > 0:
        y = 1.0
    else:
        y = -x
    return y + 1


def assigned_on_one_path(x):
    if x > 0:
        y = x * 2
    if x > 0:
        return y
    return x


def nested(x, y):
    z = x
    if x[0] > 0:
        if y[0] > 0:
            z = x + y
        else:
            z = x * y
        z = z * 2
    elif y[1] > 2:
        return y, z
    return z, x


def pairs(x):
    if x > 0:
        a, b = x, 2 * x
        c = {"u": x, "v": (x, 1)}
    else:
        a, b = -x, x
        c = {"u": 1.0, "v": (x, 2)}
    return a, b, c["v"][1], c["u"]


def known_on_all_paths(x):
    if x > 0:
        mode, y = "twice", x
    else:
        mode, y = "twice", -x
    return y * 2 if mode == "twice" else y


def on_an_integer(x, n):
    if n % 2 == 0:
        return x * n
    return x - n


def early_returns(x):
    if x < 0:
        return 0.0
    y = x * x
    if y > 10:
        if y > 100:
            return y
        y = y + 1
    if y > 5:
        return y / 2
    return y


def ends_nowhere(x):
    if x > 0:
        y = x
    else:
        raise ValueError("negative")
    return y * y


def ternaries(x):
    y = x if x > 0 else -x
    return (y, 1) if y > 1 else (2 * y, 2)


def operators(x, a, b):
    p = x > a and x < b
    q = x or a
    r = x and b
    s = not x
    t = not p or x > 3
    return p, q, r, s, t, (x > 0) is not None


def guarded(x, i):
    if i < len(x) and x[i] > 1:
        return x[i]
    return x[0] if len(x) == 0 or x[-1] > 2 else x[-1]


def chained(x, a, b):
    if a < x < b <= 3:
        return x
    return a < x != b


def membership(x, y):
    return x in (1.0, 2.0), x not in (3.0, x, 1.0), x in y, x not in (4, 5.0)


def walrus(x):
    if (y := x * 2) > 3:
        return y
    return (z := x + 1) * z + y


def choose(x):
    if x > 0:
        f = np.sin
    else:
        f = np.sin
    return f(x)


def helper(x, k):
    if x > k:
        return x - k
    y = k - x
    return y * y


def calls(x):
    return helper(x, 1.0) + helper(2 * x, 1.0) * helper(x, 3.0)


def stores(x, c):
    y = x.copy()
    z = y
    if c > 0:
        y[0] = c
    else:
        y *= 2
        y[1:] -= c
    return y, z[0]


def containers(x, c):
    d, items = {"a": x}, [x, 1.0]
    if c > 0:
        d["a"] = c * x
        d["b"] = 2.0
        items[1] = c
    else:
        d["b"] = c
    return d, items


def grown(x, c):
    items = [x]
    if c > 0:
        items.append(c)
    total = 0.0
    for each in items:
        total += each
    return total, len(items)


def deleted(x):
    y = x * 2
    z = y + 1
    del y
    if x > 0:
        y = z
    else:
        y = x
    return y


PROGRAMS = [
    *((huber, (x, 1.0)) for x in (0.5, -3.0)),
    *((chain, (x,)) for x in (3.0, 1.5, 0.5, -1.0)),
    *((assigned_on_one_path, (x,)) for x in (1.0, -1.0)),
    *((nested, (x, y)) for x in (X, -X) for y in (X, Y, np.array([0.0, 1.0]))),
    *((pairs, (x,)) for x in (1.5, -1.5)),
    *((known_on_all_paths, (x,)) for x in (1.5, -1.5)),
    *((on_an_integer, (1.5, n)) for n in (2, 3)),
    *((early_returns, (x,)) for x in (-1.0, 1.0, 2.5, 4.0, 20.0)),
    (ends_nowhere, (2.0,)),
    *((ternaries, (x,)) for x in (0.5, -3.0)),
    *((operators, (x, 1.0, 2.0)) for x in (0.0, 1.5, 4.0)),
    *((guarded, (X, i)) for i in (0, 1, 5)),
    *((chained, (x, 0.0, b)) for x in (1.0, -1.0, 2.0) for b in (2.0, 5.0)),
    *((membership, (x, X)) for x in (1.0, 3.0)),
    *((walrus, (x,)) for x in (1.0, 2.0)),
    (choose, (1.0,)),
    *((calls, (x,)) for x in (0.5, 2.0, 4.0)),
    *((stores, (X, c)) for c in (2.0, -2.0)),
    *((containers, (1.5, c)) for c in (2.0, -2.0)),
    *((grown, (1.5, c)) for c in (2.0, -2.0)),
    *((deleted, (x,)) for x in (1.0, -1.0)),
]


@pytest.mark.parametrize("function, args", PROGRAMS)
def test_branches_are_those_of_python(function, args):
    assert_like_python(function, args)


def branches(program):
    made = (each.function for each in program.body if isinstance(each, form.Op))
    return [each for each in made if isinstance(each, Branch)]


def test_a_condition_that_is_known_is_decided_now():
    def f(x, flag):
        return x * 2 if flag and x.ndim == 1 else x

    assert not branches(lowered(f, (X, True)))


def test_an_integer_does_not_become_part_of_the_code():
    program = lowered(on_an_integer, (1.5, 2))
    assert len(program.leaves()) == 2
    assert len(branches(program)) == 1


def test_a_branch_has_the_outputs_that_are_read():
    (branch,) = branches(lowered(pairs, (1.5,)))
    assert branch.count == 4


def test_arithmetic_conditions_are_not_branches():
    def f(x, a):
        return x if 0 < x < 1 and not a > 2 else a

    assert len(branches(lowered(f, (0.5, 1.0)))) == 1


def test_a_division_is_only_evaluated_where_python_evaluates_it():
    def f(x):
        return 1.0 if x != 0 and 1 / x > 2 else 0.0

    for x in (0.0, 0.1, 3.0):
        assert_like_python(f, (x,))


def test_names_of_the_user_are_kept():
    program = lowered(chain, (1.0,))
    assert "y" in {program.hints[each.target].text for each in program.body}


def item_of_a_number(x, c):
    y = x - x * c
    total = x * 2.0
    if y > 0:
        total = total + sum(v * y[0] for v in (x, c))
    return total


@pytest.mark.parametrize("number", [float, np.float64, np.array])
def test_an_item_that_there_is_not_is_an_error_where_the_path_is_taken(number):
    assert jit(item_of_a_number)(number(0.5), 1.0) == 1.0
    for derived in (grad(item_of_a_number), grad(lambda x, c: grad(item_of_a_number)(x, c) * x)):
        assert derived(number(0.5), 1.0) == 2.0
    with pytest.raises((IndexError, TypeError)) as expected:
        item_of_a_number(number(0.5), 0.0)
    with pytest.raises(expected.type):
        jit(item_of_a_number)(number(0.5), 0.0)


def less_than_a_constant(x):
    n = np.negative(3)
    return x if n > 2 else -x


def larger_of_constants(x):
    return max(2, np.int64(0)) * x + max(2.0, np.sin(0.5))


def truth_of_zero(x):
    zero = np.float64(0.0)
    return x if zero else -x


def never_entered(x):
    while np.negative(1) > 0:
        x = x * 2
    return x if not -1 < np.negative(5) < 3 else 3 * x


CONSTANTS = [less_than_a_constant, larger_of_constants, truth_of_zero, never_entered]


@pytest.mark.parametrize("function", CONSTANTS)
def test_truths_of_numpys_constants(function):
    """A comparison of numbers that are known now is known, too, and it may be false."""
    assert jit(function)(1.5) == function(1.5)
    assert grad(function)(1.5) == function(2.5) - function(1.5)  # they are linear
