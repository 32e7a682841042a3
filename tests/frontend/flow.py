"""A function lowered to Core and interpreted by Core's definition, against the function itself."""

import copy

import numpy as np

from programs.interpreter import interpret
from s2s_ad.core import tree, values
from s2s_ad.core.values import Static
from s2s_ad.frontend.lower.core import StaticNeeded
from s2s_ad.frontend.lower.program import lower
from s2s_ad.frontend.signatures import signature_of
from s2s_ad.simplify.dead import remove_dead


def lowered(function, args):
    """Its Program for these arguments; those whose value is asked for are part of it."""
    names = list(signature_of(function).parameters)[: len(args)]
    given = {n: values.of_object(a, n) for n, a in zip(names, args, strict=True)}
    while True:
        try:
            return remove_dead(lower(function, given).verify()).verify()
        except StaticNeeded as need:
            if not need.inputs or any(path for _, path in need.inputs):
                raise need.error from None
            given |= {name: Static(args[names.index(name)]) for name, _ in need.inputs}


def interpreted(function, args):
    """What the Core of a function gives for these arguments."""
    return interpret_for(lowered(function, args), args)


def interpret_for(program, args):
    """What a program gives for these arguments."""
    leaves = [leaf for each in args for leaf in _leaves(copy.deepcopy(each))]
    found = iter(interpret(program, leaves))
    return tree.to_object(tree.tree_map(lambda _: next(found), program.output))


def _leaves(value):
    return tree.leaves(tree.from_object(value, lambda leaf, _: leaf))


def assert_same(got, expected):
    """The same structure, and in it the same values, shapes and kinds of dtypes."""
    if isinstance(expected, (tuple, list, dict)):
        assert type(got) is type(expected)
        assert len(got) == len(expected)
        if isinstance(expected, dict):
            assert list(got) == list(expected)
            got, expected = got.values(), expected.values()
        for a, b in zip(got, expected, strict=True):
            assert_same(a, b)
    elif isinstance(expected, (int, float, np.ndarray, np.generic)):
        assert np.shape(got) == np.shape(expected)
        assert np.asarray(got).dtype.kind == np.asarray(expected).dtype.kind
        np.testing.assert_array_equal(got, expected)
    else:
        assert got == expected


def assert_like_python(function, args):
    before = copy.deepcopy(args)
    assert_same(interpreted(function, args), function(*copy.deepcopy(args)))
    assert_same(args, before)
