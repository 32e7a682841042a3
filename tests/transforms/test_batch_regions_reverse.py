"""grad of vmap and vmap of grad, where samples go different ways, against the samples' own."""

from __future__ import annotations

import numpy as np
import pytest

from programs.interpreter import interpret
from s2s_ad.core import values
from s2s_ad.transforms.common import Target, pair
from s2s_ad.transforms.gradients import gradient
from transforms.regions_programs import PROGRAMS
from transforms.test_batch_regions_programs import CALLS, arguments_of, in_batch, lowered
from transforms.test_forward_regions import floating

pytestmark = pytest.mark.thinned(3)


def with_gradient(program, places):
    inputs = [program.inputs[place] for place in places]
    targets = [Target(i, each.name, each.tree) for i, each in zip(places, inputs, strict=True)]
    return gradient(program, pair(*targets))


def prepared(name, flags):
    """(program of a sample, arguments of the batch, of each sample, what is active)."""
    function, samples = PROGRAMS[name]
    program = lowered(function, samples[0], flags)
    places = floating(program)
    if not places or values.is_inexact(program.fact(program.outputs()[0])) is False:
        pytest.skip("nothing to differentiate")
    return program, *arguments_of(samples, flags), places


@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
@pytest.mark.parametrize("name, flags", CALLS)
def test_batch_of_gradient(name, flags):
    program, given, each, places = prepared(name, flags)
    single = with_gradient(program, places)
    expected = zip(*(interpret(single, sample) for sample in each), strict=True)
    found = interpret(in_batch(single, flags), given)
    for result, own in zip(found, expected, strict=True):
        full = np.broadcast_to(result, np.shape(own)) if np.ndim(result) < np.ndim(own) else result
        np.testing.assert_allclose(full, own, rtol=1e-10, atol=1e-12)


@pytest.mark.thinned(6)
@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
@pytest.mark.parametrize("name, flags", CALLS)
def test_gradient_of_batch(name, flags):
    program, given, each, places = prepared(name, flags)
    single = with_gradient(program, places)
    own = list(zip(*(interpret(single, sample) for sample in each), strict=True))
    expected = [
        np.stack(parts) if flags[place] else np.sum(parts, axis=0)
        for parts, place in zip(own, places, strict=True)
    ]
    found = interpret(with_gradient(in_batch(program, flags), places).verify(), given)
    for result, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-10, atol=1e-12)
