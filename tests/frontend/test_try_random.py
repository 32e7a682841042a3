"""Random programs that fail in the middle of what they do: Core does what Python does, or refuses.

What nobody reads and nobody catches need not be raised: where Python raises it to the caller, Core
may go on.
"""

import numpy as np
import pytest

from frontend.flow import interpret_for, lowered
from frontend.loading import load
from frontend.try_random import Generator
from s2s_ad import S2SError, grad
from s2s_ad.diagnostics import UnsupportedError
from transforms.modes_of_programs import check, differences

LEVELS = (-1.0, 0.5, 1.7, 5.0)
RAISED = (np.linalg.LinAlgError, ValueError, KeyError, UnboundLocalError)


def value_of(run):
    """What a run gives, or the class of the exception that leaves it."""
    try:
        return run()
    except RAISED as error:
        return type(error)


def program_of(function):
    """Its Program, or None where it is refused."""
    try:
        return lowered(function, (1.3, LEVELS[0]))
    except UnsupportedError:
        return None


def assert_right(program, function, c):
    expected = value_of(lambda: function(1.3, c))
    got = value_of(lambda: interpret_for(program, (1.3, c)))
    if isinstance(expected, type):
        assert got is expected or expected is np.linalg.LinAlgError
    else:
        check(got, expected)


def test_random_programs_that_fail_are_right_or_refused(tmp_path):
    functions = [load(tmp_path, Generator(seed).text()).function for seed in range(24)]
    programs = [*map(program_of, functions)]
    for program, function in zip(programs, functions, strict=True):
        for c in LEVELS if program else ():
            assert_right(program, function, c)
    assert programs.count(None) < 0.1 * len(programs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_their_gradients_are_right(tmp_path, seed):
    function = load(tmp_path, Generator(seed).text()).function
    for c in LEVELS:
        if isinstance(value_of(lambda c=c: function(1.3, c)), type):
            continue
        try:
            slope = grad(function)(1.3, c)
        except S2SError:
            return
        check(slope, differences(function, 1.3, c), 1e-4)
