"""Reverse mode of branches, loops and try, on Core, against central differences."""

from __future__ import annotations

import numpy as np
import pytest

from programs.interpreter import interpret
from s2s_ad.core import tree, values
from s2s_ad.core.program import Program
from s2s_ad.transforms.common import Target, pair
from s2s_ad.transforms.gradients import cotangent_program, gradient, tangent_program
from transforms.regions_core import CASES

rng = np.random.default_rng(3)

#: at the points of the others a difference would take the other path
SMOOTH = [name for name in CASES if not name.startswith("tried")]


def floating(program: Program) -> list[int]:
    leaves = program.leaves()
    return [i for i, leaf in enumerate(leaves) if values.is_inexact(program.facts[leaf])]


def targets(program: Program) -> list[Target]:
    inputs = program.inputs
    return [Target(i, inputs[i].name, inputs[i].tree) for i in floating(program)]


def gradient_of(program: Program) -> Program:
    return gradient(program, pair(*targets(program))).verify()


def total(program: Program, arguments) -> float:
    return sum(np.sum(each) for each in interpret(program, arguments))


def differences(program: Program, arguments, step=1e-5) -> list:
    """The gradient of the sum of all outputs, one element after the other."""
    found = []
    for place in floating(program):
        x = np.array(arguments[place], float)
        slope = np.empty_like(x)
        for index in np.ndindex(x.shape):
            ends = []
            for h in (step, -step):
                moved = x.copy()
                moved[index] += h
                moved = moved if x.shape else type(arguments[place])(moved)
                ends.append(total(program, [*arguments[:place], moved, *arguments[place + 1 :]]))
            slope[index] = (ends[0] - ends[1]) / (2 * step)
        found.append(slope)
    return found


def check(made: Program, program: Program, arguments, tolerance=1e-7):
    pairs = zip(interpret(made, arguments), differences(program, arguments), strict=True)
    for ours, expected in pairs:
        assert np.shape(ours) == expected.shape
        assert ours == pytest.approx(expected, rel=tolerance, abs=tolerance)


@pytest.mark.parametrize("name", SMOOTH)
def test_gradient(name):
    _, build, arguments = CASES[name]
    program = build()
    check(gradient_of(program), program, arguments)


def test_gradient_of_the_path_that_was_taken():
    _, build, arguments = CASES["tried"]
    (slope,) = interpret(gradient_of(build()), arguments)
    assert slope == 3.0
    _, build, arguments = CASES["tried_twice"]
    slopes = interpret(gradient_of(build()), arguments)
    x = arguments[0]
    assert slopes == pytest.approx([np.cos(x) * x + np.sin(x), 0.0])


@pytest.mark.parametrize("name", SMOOTH)
def test_second_order(name):
    _, build, arguments = CASES[name]
    once = gradient_of(build())
    check(gradient_of(once), once, arguments, 1e-6)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", SMOOTH)
def test_third_order(name):
    _, build, arguments = CASES[name]
    twice = gradient_of(gradient_of(build()))
    check(gradient_of(twice), twice, arguments, 1e-5)


@pytest.mark.parametrize("name", SMOOTH)
def test_tangent_of_the_gradient(name):
    _, build, arguments = CASES[name]
    once = gradient_of(build())
    made = tangent_program(once, targets(once)).verify()
    directions = [rng.normal(size=np.shape(arguments[i])) for i in floating(once)]
    results = interpret(made, [*arguments, *directions])
    ends = []
    for h in (1e-5, -1e-5):
        moved = list(arguments)
        for place, direction in zip(floating(once), directions, strict=True):
            moved[place] = moved[place] + h * direction
        ends.append(interpret(once, moved))
    for ours, ahead, behind in zip(results[len(results) // 2 :], *ends, strict=True):
        assert ours == pytest.approx((ahead - behind) / 2e-5, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", SMOOTH)
def test_gradient_of_the_tangent(name):
    _, build, arguments = CASES[name]
    program = build()
    once = tangent_program(program, targets(program))
    directions = [rng.normal(size=np.shape(arguments[i])) for i in floating(program)]
    directions = [float(d) if not d.shape else d for d in directions]
    check(gradient_of(once), once, [*arguments, *directions], 1e-6)


@pytest.mark.parametrize("name", SMOOTH)
def test_adjoint_and_tangent_agree(name):
    """<y_bar, J x_dot> is <J' y_bar, x_dot>."""
    _, build, arguments = CASES[name]
    program = build()
    places = floating(program)
    directions = [rng.normal(size=np.shape(arguments[i])) for i in places]
    results = interpret(tangent_program(program, targets(program)), [*arguments, *directions])
    dots = results[len(results) // 2 :]
    y_bars = [rng.normal() for _ in dots]
    made = cotangent_program(program, pair(*targets(program))).verify()
    adjoints = interpret(made, [*arguments, *y_bars])[len(tree.leaves(program.output)) :]
    along = sum(np.sum(np.multiply(a, d)) for a, d in zip(adjoints, directions, strict=True))
    assert along == pytest.approx(sum(a * d for a, d in zip(y_bars, dots, strict=True)))
