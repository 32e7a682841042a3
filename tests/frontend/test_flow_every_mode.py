"""The programs of the tests of values and containers: what Core says, both modes, batches."""

import pytest

from frontend import (
    test_flow_as_written,
    test_flow_entries,
    test_flow_functions,
    test_flow_generators,
    test_flow_iterators,
    test_flow_lengths,
    test_flow_nonlocal,
    test_flow_optional,
    test_flow_recursion_by_numbers,
    test_flow_recursion_in_place,
    test_flow_rows,
    test_flow_searches,
    test_flow_sorting,
    test_flow_steps,
    test_flow_texts,
)
from frontend.every_mode import assert_batched, assert_both_modes, assert_in_halves
from frontend.flow import assert_like_python

MODULES = (test_flow_functions, test_flow_iterators, test_flow_optional, test_flow_rows)
MODULES += (test_flow_sorting, test_flow_generators, test_flow_entries, test_flow_steps)
MODULES += (test_flow_lengths, test_flow_nonlocal, test_flow_searches, test_flow_texts)
MODULES += (test_flow_as_written,)
MODULES += (test_flow_recursion_in_place, test_flow_recursion_by_numbers)
every_program = pytest.mark.parametrize(
    "function, args", [program for module in MODULES for program in module.PROGRAMS]
)


@pytest.mark.thinned(4)
@every_program
def test_core_says_what_python_does(function, args):
    assert_like_python(function, args)


@pytest.mark.thinned(48)
@every_program
def test_both_modes_against_central_differences(function, args):
    assert_both_modes(function, args)


@pytest.mark.thinned(64)
@every_program
def test_both_halves_of_a_derivative(function, args):
    assert_in_halves(function, args)


@pytest.mark.thinned(84)
@every_program
@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
def test_a_batch_is_the_loop_over_its_samples(function, args):
    assert_batched(function, args)
