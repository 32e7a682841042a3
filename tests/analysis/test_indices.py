"""What two indices of one array have in common, against the elements that NumPy gives them."""

import itertools

import gast
import numpy as np
import pytest

from s2s_ad.analysis.indices import are_apart

INDICES = ["0", "1", "-1", "4", "1:", ":1", "1:3", "3:", "::2", "1::2", "-2:", ":-2", "4:1"]
INDICES += [":, 0", ":, 1", "0, 1", "1, 1:", "..., 0", "None, 0", "2:4, :1", ":, 2:", "i", "i, 2"]


def elements(index):
    places = np.arange(25).reshape(5, 5)
    return {*np.ravel(eval(f"places[{index}]", {"places": places, "i": 2}))}


@pytest.mark.parametrize("a", INDICES)
def test_indices_that_are_said_to_be_apart_are(a):
    trees = [gast.parse(f"x[{each}]").body[0].value.slice for each in INDICES]
    for b, tree in zip(INDICES, trees, strict=True):
        if are_apart(trees[INDICES.index(a)], tree):
            assert not elements(a) & elements(b)


@pytest.mark.parametrize("a, b", [*itertools.combinations(["0", "1", "2:4", "4:"], 2)])
def test_numbers_and_slices_from_the_front_are_told_apart(a, b):
    one, other = (gast.parse(f"x[{each}]").body[0].value.slice for each in (a, b))
    assert are_apart(one, other)
