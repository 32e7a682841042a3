"""Every program of the table: compiled, it gives what Python gives, and the right gradient."""

import copy

import numpy as np
import pytest

from frontend.programs import PROGRAMS
from s2s_ad import grad, jit
from s2s_ad.core import tree

NAMES = pytest.mark.parametrize("name", PROGRAMS)


def leaves(value):
    return tree.leaves(tree.from_object(value, lambda leaf, _: leaf))


def is_inexact(value):
    return np.asarray(value).dtype.kind == "f"


def assert_same(got, expected):
    """The same structure, and in it the same values, shapes and dtypes."""
    same = tree.from_object(got, lambda leaf, path: path)
    assert same == tree.from_object(expected, lambda leaf, path: path)
    for a, b in zip(leaves(got), leaves(expected), strict=True):
        if isinstance(b, (float, np.ndarray, np.generic)):
            assert np.shape(a) == np.shape(b)
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-12)
        else:
            assert a == b


def total(value):
    """What grad differentiates: the sum of all floating-point elements."""
    return sum(np.sum(each, dtype=float) for each in leaves(value) if is_inexact(each))


def changed(value, place, index, step):
    """The argument with one element of one of its leaves moved by `step`."""
    places = iter(range(place + 1))

    def change(leaf, _):
        if not is_inexact(leaf) or next(places, None) != place:
            return leaf
        moved = np.array(leaf, dtype=float)
        moved[index] += step
        return moved.astype(leaf.dtype) if isinstance(leaf, np.ndarray) else float(moved)

    return tree.to_object(tree.from_object(value, change))


def central_differences(function, args, step):
    """For each element of the first argument: how the sum of the outputs changes."""
    differences = []
    floats = [each for each in leaves(args[0]) if is_inexact(each)]
    for place, leaf in enumerate(floats):
        for index in np.ndindex(np.shape(leaf)):
            ends = [
                total(function(changed(args[0], place, index, h), *args[1:])) for h in (step, -step)
            ]
            differences.append((ends[0] - ends[1]) / (2 * step))
    return np.array(differences)


@NAMES
def test_values_are_those_of_python(name, capsys):
    function, args = PROGRAMS[name]
    before = copy.deepcopy(args)
    expected = function(*args)
    printed = capsys.readouterr().out
    assert_same(jit(function)(*args), expected)
    assert capsys.readouterr().out == printed
    assert_same(args, before)


@NAMES
def test_gradients_are_those_of_central_differences(name):
    function, args = PROGRAMS[name]
    single = any(np.asarray(each).dtype == np.float32 for each in leaves(args))
    step, accuracy = (1e-2, 1e-2) if single else (1e-5, 1e-6)
    before = copy.deepcopy(args)
    gradient = grad(function)(*args)
    floats = [np.ravel(each) for each in leaves(gradient) if is_inexact(each)]
    expected = central_differences(function, args, step)
    np.testing.assert_allclose(np.concatenate(floats), expected, rtol=accuracy, atol=accuracy)
    assert_same(args, before)
