"""Batches of functions with branches and loops, against a loop over the samples."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest

from programs.interpreter import interpret
from s2s_ad.core import values
from s2s_ad.core.program import Program
from s2s_ad.diagnostics import SampleLoopWarning
from s2s_ad.frontend.lower.program import lower
from s2s_ad.transforms.batches import batched_program
from transforms.regions_programs import PROGRAMS
from transforms.test_forward_regions import along, difference, floating

#: what is done with them has no batched form: one sample after the other
ONE_BY_ONE = {"list_of_unknown_length", "positives", "tried_factor"}
#: a pass may change the shape of what it carries, as far as is known
ONE_BY_ONE |= {"exchanged_with_an_array_of_three", "parts_of_tails"}


#: at these points, or everywhere, the path that is taken has another derivative than the function
OF_THE_PATH = {"safe_log", "newton_sqrt", "bisection"}


def lowered(function, sample, flags) -> Program:
    """The program of one sample; what is batched is a NumPy number or array."""
    names = inspect.signature(function).parameters
    given = [
        np.asarray(value)[()] if flag else value for value, flag in zip(sample, flags, strict=True)
    ]
    facts = [values.of_leaf(each) for each in given]
    return lower(function, dict(zip(names, facts, strict=True))).verify()


def in_batch(program, flags):
    return batched_program(program, [0 if flag else None for flag in flags], 0).verify()


def arguments_of(samples, flags):
    columns = list(zip(*samples, strict=True))
    given = [np.stack(c) if flag else c[0] for c, flag in zip(columns, flags, strict=True)]
    each = [
        [value if flag else one for value, one, flag in zip(sample, samples[0], flags, strict=True)]
        for sample in samples
    ]
    return given, each


def patterns(count):
    return [flags for flags in itertools.product([True, False], repeat=count) if any(flags)]


CALLS = [
    pytest.param(name, flags, id=f"{name}-{''.join('sb'[flag] for flag in flags)}")
    for name, (_, samples) in PROGRAMS.items()
    for flags in patterns(len(samples[0]))
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name, flags", CALLS)
def test_value(name, flags):
    function, samples = PROGRAMS[name]
    given, each = arguments_of(samples, flags)
    program = lowered(function, samples[0], flags)
    if name in ONE_BY_ONE:
        with pytest.warns(SampleLoopWarning):
            made = in_batch(program, flags)
    else:
        made = in_batch(program, flags)
    (result,) = interpret(made, given)
    expected = [function(*sample) for sample in each]
    np.testing.assert_allclose(result, expected, rtol=1e-12)


@pytest.mark.thinned(4)
@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
@pytest.mark.parametrize("name, flags", CALLS)
def test_tangents(name, flags):
    """jvp(vmap(f)) and vmap(jvp(f)) are the derivative of each sample."""
    function, samples = PROGRAMS[name]
    program = lowered(function, samples[0], flags)
    places = floating(program)
    if not places or values.is_inexact(program.fact(program.outputs()[0])) is False:
        pytest.skip("nothing to differentiate")
    given, each = arguments_of(samples, flags)
    dots = [np.cos(np.arange(np.size(given[i])) + i).reshape(np.shape(given[i])) for i in places]
    expected = []
    for s, sample in enumerate(each):
        own = [dot[s] if flags[i] else dot for i, dot in zip(places, dots, strict=True)]
        if name in OF_THE_PATH:
            expected.append(interpret(along(program, places), [*sample, *own])[1])
        else:
            expected.append(difference(function, sample, places, own))
    outside = along(in_batch(program, flags), places).verify()
    _, dot = interpret(outside, [*given, *dots])
    np.testing.assert_allclose(dot, expected, rtol=1e-6, atol=1e-6)
    inside = in_batch(along(program, places), [*flags, *(flags[i] for i in places)])
    _, again = interpret(inside, [*given, *dots])
    np.testing.assert_allclose(again, dot, rtol=1e-12)
