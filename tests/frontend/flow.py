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
    """Its Program for these arguments; ints and lengths that are asked for are part of it."""
    names = list(signature_of(function).parameters)[: len(args)]
    known = frozenset()
    while True:
        given = {n: _facts(n, a, known) for n, a in zip(names, args, strict=True)}
        try:
            return remove_dead(lower(function, given).verify()).verify()
        except StaticNeeded as need:
            places = [(n, *each) for n, a in zip(names, args, strict=True) for each in _known(a)]
            fresh = {each[:2] for each in places} & {*need.inputs} - known
            if not fresh:
                raise need.error from None
            known |= fresh


def _known(argument):
    """The places of the ints and arrays in an argument, which may count by value, and they."""
    value = tree.from_object(argument, lambda leaf, _: leaf)
    pairs = zip(tree.paths(value), tree.leaves(value), strict=True)
    return [(path, leaf) for path, leaf in pairs if type(leaf) is int or type(leaf) is np.ndarray]


def _facts(name, argument, known):
    """The abstract value of an argument; at the places that are known, it is exact."""

    def leaf(value, path):
        if (name, path) not in known:
            return values.of_leaf(value)
        return Static(value) if type(value) is int else values.Array(value.dtype, value.shape)

    return tree.from_object(argument, leaf)


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
