"""A truth that says which side of a branch was taken becomes the condition, where that is one."""

import numpy as np
import pytest

from s2s_ad import grad, jit


def as_truth(x):
    def is_there(v):
        if v:
            return True
        return False

    return is_there(x), x * is_there(x), [not is_there(x)]


def conditional(x):
    return (True if x else False), (False if x else True), (True if x > 1 else False)


def named(x):
    found = True if x else False
    lost = False if found else True
    return found, lost, found + 2 * lost


NUMBERS = [2.0, 0.0, -1, 0, np.float64(3.0), np.array(0.5), np.array(0.0)]


@pytest.mark.parametrize("x", NUMBERS, ids=repr)
@pytest.mark.parametrize("function", [as_truth, conditional, named])
def test_a_number_that_decides_is_not_the_truth(function, x):
    expected, found = function(x), jit(function)(x)
    assert repr(found).replace("np.float64", "") == repr(expected).replace("np.float64", "")


def left_early(x):
    for v in x:
        if v < 0:
            break
    else:
        return np.sum(x)
    return v * v


@pytest.mark.parametrize("x", [[1.0, -2.0, 3.0], [1.0, 2.0, 3.0]])
def test_flags_of_loops_are_conditions(x):
    derived = grad(left_early)
    assert "True if" not in derived.source(np.array(x))
    expected = [0.0, -4.0, 0.0] if min(x) < 0 else [1.0, 1.0, 1.0]
    np.testing.assert_allclose(derived(np.array(x)), expected)
