"""Forward mode of branches, loops and try, on Core, against central differences."""

from __future__ import annotations

import numpy as np
import pytest

from programs.interpreter import interpret
from s2s_ad.core import values
from s2s_ad.core.program import Program
from s2s_ad.transforms.common import Target
from s2s_ad.transforms.gradients import tangent_program
from transforms.regions_core import CASES

rng = np.random.default_rng(3)


def floating(program: Program) -> list[int]:
    leaves = program.leaves()
    return [i for i, leaf in enumerate(leaves) if values.is_inexact(program.facts[leaf])]


def along(program: Program, places: list[int]) -> Program:
    """Inputs, and a tangent for each of these leaves -> (output, its tangent)."""
    inputs = [program.inputs[place] for place in places]
    targets = [Target(i, each.name, each.tree) for i, each in zip(places, inputs, strict=True)]
    return tangent_program(program, targets)


def moved(arguments, places, directions, step):
    found = list(arguments)
    for place, direction in zip(places, directions, strict=True):
        found[place] = found[place] + step * direction
    return found


def difference(function, arguments, places, directions, step=1e-5):
    """The derivative of `function` along the directions."""
    ahead, behind = (moved(arguments, places, directions, h) for h in (step, -step))
    return (function(*ahead) - function(*behind)) / (2 * step)


def directions_for(arguments, places):
    return [rng.normal(size=np.shape(arguments[place])) for place in places]


@pytest.mark.parametrize("name", CASES)
def test_value(name):
    function, build, arguments = CASES[name]
    assert interpret(build(), arguments)[0] == pytest.approx(function(*arguments))


@pytest.mark.parametrize("name", CASES)
def test_tangent(name):
    function, build, arguments = CASES[name]
    program = build()
    places = floating(program)
    directions = directions_for(arguments, places)
    made = along(program, places).verify()
    value, dot = interpret(made, [*arguments, *directions])
    assert value == pytest.approx(function(*arguments))
    if name.startswith("tried"):
        expected = TANGENTS_OF_TRIED[name](*arguments, *directions)
    else:
        expected = difference(function, arguments, places, directions)
    assert dot == pytest.approx(expected, rel=1e-7, abs=1e-9)


#: at these points a difference would take the other path
TANGENTS_OF_TRIED = {
    "tried": lambda x, x_dot: (3 + 2 * x) * x_dot,
    "tried_twice": lambda x, a, x_dot, a_dot: (np.cos(x) * x + np.sin(x)) * x_dot,
}


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("tried")])
def test_second_order(name):
    _, build, arguments = CASES[name]
    program = build()
    places = floating(program)
    directions, others = directions_for(arguments, places), directions_for(arguments, places)
    once = along(program, places)
    twice = along(once, places).verify()
    dots = interpret(twice, [*arguments, *directions, *others])

    def first(*arguments):
        return interpret(once, [*arguments, *directions])[1]

    expected = difference(first, arguments, places, others)
    assert dots[3] == pytest.approx(expected, rel=1e-7, abs=1e-8)
