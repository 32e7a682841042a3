"""Random programs: Core gives what Python gives, or the program is refused for shared memory."""

import copy

import numpy as np
import pytest

from frontend.flow import assert_same, interpret_for, lowered
from frontend.flow_random import program
from frontend.loading import load
from s2s_ad import S2SError

ARGUMENTS = [
    (0.7, -0.4, np.array([0.1, -0.2, 0.3, 0.4]), 3),
    (-1.2, 0.9, np.array([1.0, -0.5, 0.2, -0.1]), 0),
    (2.0, 0.1, np.array([-0.3, 0.2, 2.0, 0.4]), 5),
]


@pytest.mark.thinned(16)
@pytest.mark.parametrize("number", range(40))
def test_a_random_program_is_that_of_python(number, tmp_path):
    function = load(tmp_path, program(number)).f
    with np.errstate(all="ignore"):
        try:
            made = lowered(function, ARGUMENTS[0])
        except S2SError as error:
            if error.code != "S2S207" or error.origin is None:
                raise
            return
        for args in ARGUMENTS:
            expected = function(*copy.deepcopy(args))
            assert_same(interpret_for(made, args), expected)
