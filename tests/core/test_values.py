"""What is known of shapes is never more than what holds for every array of the signature."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from s2s_ad.core import sizes, values
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import ArgumentTypeError
from s2s_ad.load.dispatch import pattern
from s2s_ad.rules.index_layout import slice_dim


@dataclass
class Pair:
    left: object
    right: object


def test_numbers_are_weak_and_everything_else_that_is_no_array_is_static():
    assert values.of_object(2.0) == values.Scalar(float)
    assert values.of_object(2) == values.Scalar(int)
    for each in (True, "relu", None, np.sin, np.dtype("f4")):
        assert values.of_object(each) == values.Static(each)


@pytest.mark.parametrize("container", [(1.0, 2), [1.0, 2], {"a": 1.0, "b": 2}, Pair(1.0, 2)])
def test_containers_are_trees_of_their_items(container):
    tree = values.of_object(container)
    assert isinstance(tree, Tree)
    assert tree.kind is type(container)
    assert tree.items == (values.Scalar(float), values.Scalar(int))


def test_of_a_length_only_being_one_is_part_of_the_signature():
    def signature(shape):
        return pattern(values.of_object(np.zeros(shape)))

    assert signature((3, 4)) == signature((7, 2))
    assert signature((3, 1)) != signature((3, 2))
    assert signature((3,)) != signature((3, 3))
    assert signature((0,)) == signature((5,))


@pytest.mark.parametrize("value", [np.array(["a"]), np.array([None]), np.ma.array([1.0])])
def test_what_is_not_a_plain_array_of_numbers_is_refused_by_name(value):
    with pytest.raises(ArgumentTypeError, match="argument weight"):
        values.of_object(value, "weight")


LENGTHS = (0, 1, 2, 3)


def concrete(dim, lengths):
    """The length that a dimension is; None where one that it is computed from is not given."""
    atoms = {atom: length for each, length in lengths for atom in values.atoms_in([each])}
    return sizes.value_of(values.size_of_dim(dim), atoms)


def test_broadcasting_agrees_with_numpy_for_every_length():
    """Whatever lengths the symbols stand for, the abstract result has NumPy's length."""
    free, fixed = values.fresh_dim(), values.fresh_dim(False)
    dims = [1, 3, free, fixed, free.less(1), fixed.less(2)]
    for (a, b), n, m in itertools.product(itertools.product(dims, dims), LENGTHS, LENGTHS):
        if m == 1:
            continue  # `fixed` is known not to be 1
        lengths = [(free, n), (fixed, m)]
        x, y = concrete(a, lengths), concrete(b, lengths)
        result = values.broadcast_dims(a, b)
        try:
            (expected,) = np.broadcast_shapes((x,), (y,))
        except ValueError:
            continue  # NumPy raises when the code runs
        found = concrete(result, lengths)
        assert found == expected if found is not None else result.maybe_one
        if values.same_dim(a, b):
            assert x == y


SLICES = [
    slice(*bounds, step)
    for bounds in itertools.product((None, 0, 1, 2, -1, -2), (None, 0, 1, 3, -1, -2))
    for step in (None, 1, 2, 3, -1)
]


@pytest.mark.parametrize("length", [*LENGTHS, 4, 5])
def test_slices_shorten_a_symbol_as_they_shorten_an_array(length):
    dim = values.fresh_dim(length == 1)
    for item in SLICES:
        expected = len(np.zeros(length)[item])
        found = slice_dim(dim, item)
        assert concrete(found, [(dim, length)]) in (expected, None)
        assert values.known_not_one(found) is False or expected != 1
    for item in (slice(1, None), slice(None, -1), slice(1, -2), slice(None, None, -1), slice(None)):
        assert concrete(slice_dim(dim, item), [(dim, length)]) is not None
