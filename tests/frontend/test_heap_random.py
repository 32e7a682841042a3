"""Random programs over aliases, views and containers: Core does what Python does, or refuses."""

import copy

import numpy as np
import pytest

from frontend.flow import assert_same, interpreted
from frontend.heap_random import Generator
from frontend.loading import load
from s2s_ad import S2SError

ARGUMENTS = [(np.arange(1.0, 5.0), 1.5, 2), (np.arange(1.0, 5.0), -1.0, 3)]
SEEDS = 60


def result_or_error(function, args):
    try:
        return interpreted(function, args), None
    except S2SError as error:
        return None, error


def is_right(function, args):
    """Whether the program is taken; what it gives then has to be right."""
    with np.errstate(all="ignore"):
        got, error = result_or_error(function, args)
        if error is None:
            assert_same(got, function(*copy.deepcopy(args)))
            return True
    assert error.origin is not None
    assert error.code[:4] in ("S2S2", "S2S3")
    return False


@pytest.mark.thinned(4)
@pytest.mark.parametrize("first", range(0, SEEDS, 15))
def test_random_programs_are_right_or_refused(first, tmp_path):
    seeds = range(first, first + 15)
    functions = [load(tmp_path, Generator(seed).text()).function for seed in seeds]
    right = [is_right(function, args) for function in functions for args in ARGUMENTS]
    assert sum(right) > 0.5 * len(right)


@pytest.mark.parametrize("seed", [3, 4])
def test_a_seed_always_gives_the_same_program(seed):
    assert Generator(seed).text() == Generator(seed).text()
