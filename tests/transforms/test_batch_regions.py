"""Batches of branches, loops and try, on Core, against a loop over the samples."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from programs.interpreter import interpret
from s2s_ad import grad, vmap
from s2s_ad.core.program import Program
from s2s_ad.diagnostics import SampleLoopWarning
from s2s_ad.transforms.batches import batched_program
from transforms.regions_core import CASES
from transforms.test_forward_regions import along, floating

FACTORS = (1.0, -1.0, 0.4, 1.9, 0.7)
STEPS = (0, 2, 1, 3, 0)
#: for these others would never end, or are points of one kind
SAMPLES = {
    "newton_sqrt": [(2.5,), (0.3,), (1.0,), (117.0,), (2.0,)],
    "tried": [(0.0,), (0.5,), (-1.5,), (0.0,), (2.0,)],
    "tried_twice": [(0.5, 0.0), (0.1, 2.0), (3.0, 0.0), (1.0, 1.0), (2.0, 0.5)],
}
#: the samples have to be taken one by one
ONE_BY_ONE = {"kept_list", "tried", "tried_twice"}


def samples_of(name):
    if name in SAMPLES:
        return SAMPLES[name]
    arguments = CASES[name][2]
    return [
        tuple(a + step if isinstance(a, int) else a * factor for a in arguments)
        for factor, step in zip(FACTORS, STEPS, strict=True)
    ]


def batched_arguments(samples, flags):
    """The arguments of a batch: those not flagged are the same for all samples."""
    columns = list(zip(*samples, strict=True))
    first = [column[0] for column in columns]
    given = [np.stack(c) if flag else c[0] for c, flag in zip(columns, flags, strict=True)]
    each = [
        [value if flag else one for value, one, flag in zip(sample, first, flags, strict=True)]
        for sample in samples
    ]
    return given, each


def in_batch(program: Program, flags) -> Program:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SampleLoopWarning)
        return batched_program(program, [0 if flag else None for flag in flags], 0).verify()


def patterns(count):
    return [flags for flags in itertools.product([True, False], repeat=count) if any(flags)]


CALLS = [
    pytest.param(name, flags, id=f"{name}-{''.join('sb'[flag] for flag in flags)}")
    for name, (_, _, arguments) in CASES.items()
    for flags in patterns(len(arguments))
]


@pytest.mark.parametrize("name, flags", CALLS)
def test_value(name, flags):
    function, build, _ = CASES[name]
    given, each = batched_arguments(samples_of(name), flags)
    (result,) = interpret(in_batch(build(), flags), given)
    expected = [function(*sample) for sample in each]
    np.testing.assert_allclose(result, expected, rtol=1e-12)


@pytest.mark.parametrize("name, flags", CALLS)
def test_tangent_of_batch_and_batch_of_tangent(name, flags):
    _, build, _ = CASES[name]
    program = build()
    places = floating(program)
    given, each = batched_arguments(samples_of(name), flags)
    directions = [
        np.cos(np.arange(np.size(given[i])) + i).reshape(np.shape(given[i])) for i in places
    ]
    single = along(program, places)
    expected = []
    for s, sample in enumerate(each):
        dots = [d[s] if flags[i] else d for i, d in zip(places, directions, strict=True)]
        expected.append(interpret(single, [*sample, *dots])[1])
    outside = along(in_batch(program, flags), places).verify()
    _, dot = interpret(outside, [*given, *directions])
    np.testing.assert_allclose(dot, expected, rtol=1e-12)
    inside = in_batch(single, [*flags, *(flags[i] for i in places)])
    _, dot = interpret(inside, [*given, *directions])
    np.testing.assert_allclose(dot, expected, rtol=1e-12)


def truth_or_values(x, n):
    return (x > 0 and x * 2.5) or n


def whole_or_not(x, n):
    y = n
    if x > 0:
        y = x * x
    return 2 * y


def truth_then_number(x, n):
    y = x > 0
    if x > 0.5:
        y = x + n
    elif x < -1:
        y = 7
    return y


def whole_numbers_in_a_loop(x, n):
    y = n
    for i in range(3):
        if x > 0.4 * i:
            y = y + x
    return y


@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
@pytest.mark.parametrize(
    "function", [truth_or_values, whole_or_not, truth_then_number, whole_numbers_in_a_loop]
)
def test_sides_of_several_dtypes_give_what_numpy_makes_of_both(function):
    x, n = np.array([0.3, -0.2, 1.4, -2.0]), np.array([1, 0, 3, 4])
    expected = np.array([function(*each) for each in zip(x, n, strict=True)])
    found = vmap(function)(x, n)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found.dtype == expected.dtype
    slopes = [grad(function)(*each) for each in zip(x, n, strict=True)]
    np.testing.assert_allclose(vmap(grad(function))(x, n), slopes, rtol=1e-12)


def changed_in_a_pass(x):
    """A branch that a loop over the samples runs, on an array of which a pass reads a part."""
    y, k = np.full((1, 2), 2.0), 0
    while k < 2 and np.any(y >= 0.25):
        k += 1
        try:
            y[np.array([True]), 0] = x
            np.linalg.cholesky(np.array([[x]]))
        except np.linalg.LinAlgError:
            y[:, k:] = x * 0.1
    return np.sum(y) + k


@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
def test_a_region_of_some_samples_is_run_one_by_one():
    x = np.array([0.5, 0.1, -0.2])
    np.testing.assert_allclose(vmap(changed_in_a_pass)(x), [changed_in_a_pass(e) for e in x])
    slopes = [(changed_in_a_pass(e + 1e-5) - changed_in_a_pass(e - 1e-5)) / 2e-5 for e in x]
    np.testing.assert_allclose(vmap(grad(changed_in_a_pass))(x), slopes, rtol=1e-6)


def replaced_where_steep(x):
    y, steep = np.tan(x), np.abs(np.cos(x)) <= 0.2
    try:
        y[steep] = 9.0 * x[steep]
    except TypeError:
        if steep:
            y = 9.0 * x
    return np.sum(y)


@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
def test_a_branch_on_what_some_samples_have():
    """It was an internal error: the condition stood for that of all samples."""
    x = np.array([[0.5, 1.2], [1.5, 0.3], [0.1, 0.2]])
    slopes = np.where(np.abs(np.cos(x)) <= 0.2, 9.0, 1 / np.cos(x) ** 2)
    np.testing.assert_allclose(vmap(grad(replaced_where_steep))(x), slopes, rtol=1e-12)
