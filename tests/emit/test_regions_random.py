"""Random nested programs as text: run, they compute what Core says, and change no argument."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from emit import random_memory, random_regions
from programs.interpreter import interpret
from rules.properties import some_slow
from s2s_ad.emit.write import write
from s2s_ad.load.module import load
from s2s_ad.simplify.dead import remove_dead


def same(left, right):
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return np.array_equal(left, right, equal_nan=True)


def run(function, inputs):
    """The outputs, or the kind of exception that a division raises."""
    try:
        return list(function(*copy.deepcopy(inputs)))
    except ZeroDivisionError as error:
        return [type(error)]


@pytest.mark.parametrize("first", some_slow(range(0, 200, 20), 4))
def test_control_flow(first):
    for seed in range(first, first + 20):
        program = random_regions.random_program(seed)
        if seed % 2:
            program = remove_dead(program)
        function = load(program, write(program)).function
        for case in range(4):
            inputs = random_regions.random_inputs(4 * seed + case)
            expected = run(lambda *leaves, of=program: interpret(of, leaves), inputs)
            before = copy.deepcopy(inputs)
            assert run(function, inputs) == expected, (seed, case)
            assert inputs == before, (seed, case)


@pytest.mark.parametrize("first", some_slow(range(0, 100, 20), 3))
def test_memory(first):
    for seed in range(first, first + 20):
        program = random_memory.random_program(seed)
        inputs = random_memory.random_inputs(seed)
        if seed % 4:
            program = remove_dead(program)
        before = copy.deepcopy(inputs)
        try:
            expected = copy.deepcopy(interpret(program, inputs))
        except IndexError:  # it pops from an empty list
            continue
        outputs = load(program, write(program)).function(*inputs)
        assert same(list(outputs), expected), seed
        assert same(inputs, before), seed


def test_the_same_program_gives_the_same_text():
    for seed in range(8):
        texts = {write(random_regions.random_program(seed)).function for _ in range(2)}
        assert len(texts) == 1, seed
