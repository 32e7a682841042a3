"""Random nested programs: with their stores performed they compute what Core says."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from emit.in_place import InPlace, shares
from emit.random_memory import INPUTS, random_inputs, random_program
from programs.interpreter import interpret
from rules.properties import some_slow
from s2s_ad.emit.stores import plan_stores
from s2s_ad.simplify.dead import remove_dead
from s2s_ad.simplify.finish import own_outputs

ARRAYS = INPUTS[: INPUTS.index("list")]


def leaves(value):
    nested = isinstance(value, list | tuple)
    return [leaf for item in value for leaf in leaves(item)] if nested else [value]


def same(left, right):
    pairs = zip(leaves(left), leaves(right), strict=True)
    return all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


def check_stores(seed):
    program, inputs = random_program(seed), random_inputs(seed)
    if seed % 2:
        program = remove_dead(program)
    before = copy.deepcopy(inputs)
    try:
        expected = copy.deepcopy(interpret(program, inputs))
    except IndexError:  # it pops from an empty list
        return
    planned, stores = plan_stores(program)
    assert same(interpret(planned.verify(), inputs), expected), seed
    assert same(InPlace(stores).run(planned, inputs), expected), seed
    assert same(inputs, before), seed


def check_outputs(seed):
    """What is handed out is memory of its own, with stores and without."""
    program = own_outputs(remove_dead(random_program(seed, ARRAYS)), items=True).verify()
    inputs = random_inputs(seed, ARRAYS)
    try:
        expected = copy.deepcopy(interpret(program, inputs))
    except IndexError:
        return
    for planned, stores in ((program, {}), plan_stores(program)):
        outputs = InPlace(stores).run(planned, inputs)
        assert same(outputs, expected), seed
        for place, output in enumerate(outputs):
            others = [each for each in outputs[:place] if not isinstance(each, list)]
            if isinstance(output, list):
                assert not any(output is each for each in outputs[:place]), seed
                others = []
            assert not any(shares(output, each) for each in [*inputs, *others]), seed


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("start", some_slow(range(0, 200, 20), 4))
def test_stores_compute_what_core_says(start):
    for seed in range(start, start + 20):
        check_stores(seed)


@pytest.mark.parametrize("start", some_slow(range(0, 200, 50), 2))
def test_outputs_are_memory_of_their_own(start):
    for seed in range(start, start + 50):
        check_outputs(seed)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 6000, 250))
def test_many_random_programs(start):
    for seed in range(start, start + 250):
        check_stores(seed)
        check_outputs(seed)
