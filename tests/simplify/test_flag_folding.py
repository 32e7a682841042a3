"""A truth that says which side of a branch was taken becomes the condition, where that is one."""

import itertools

import numpy as np
import pytest

from frontend.loading import load
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


def sum_of(failed, stopped):
    return failed + stopped


def inverted(failed, stopped):
    return ~stopped + 2.0 * failed


def carried(failed, stopped):
    total = 0
    for _ in range(3):
        total = total + (failed + stopped)
        failed, stopped = stopped, failed
    return total


def held(failed, stopped):
    flags = []
    for _ in range(3):
        flags.append(failed)
    return flags[0] + flags[2] + stopped


NAMES = ["failed", "returned", "skipped", "stopped", "is_none", "is_missing", "flag"]


@pytest.mark.parametrize("count", [sum_of, inverted, carried, held])
def test_what_truths_are_called_says_nothing(count, tmp_path):
    """Python's truths are numbers of Python's, whatever their names: True + True is 2."""
    x = np.array([1.5, 2.0])
    expected = 2 * x * count(True, True)
    for one, other in itertools.pairwise(NAMES):
        module = load(
            tmp_path,
            f"""
import itertools

import numpy as np

def f(x, count):
    if x[0] > 0:
        {one} = True
    else:
        {one} = False
    if x[1] > 0:
        {other} = True
    else:
        {other} = False
    return np.sum(x * x) * count({one}, {other})
""",
        )
        np.testing.assert_allclose(grad(module.f)(x, count), expected)


def test_an_entry_without_a_name_is_called_like_its_dict():
    def f(x):
        failed = {"": 0}
        if x > 0:
            failed[""] = True
        else:
            failed[""] = False
        return x * (failed[""] + failed[""])

    assert grad(f)(np.float64(3.0)) == 2.0


def only_tested(x):
    state, seen = False, []
    for v in x:
        if v < 0:
            state = True
        else:
            state = False
        seen.append(state)
    if not seen[-1] and not state:
        return np.sum(x * x)
    return np.sum(x)


@pytest.mark.parametrize("x", [[1.0, -2.0, 3.0], [1.0, 2.0, -3.0]])
def test_a_truth_that_is_only_tested_is_the_condition(x):
    x = np.array(x)
    np.testing.assert_allclose(grad(only_tested)(x), 2 * x if x[-1] > 0 else np.ones(3))
