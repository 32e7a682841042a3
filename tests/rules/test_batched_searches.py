"""Searches and comparisons in arrays that differ from sample to sample: each is NumPy's."""

import numpy as np
import pytest

from rules.properties import module
from s2s_ad import vmap


def function_of(call):
    return module(f"def f(a, v):\n    return {call}\n").f


@pytest.mark.parametrize("dtype", [float, np.float32, int, bool, complex])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("shape", [(), (4,), (2, 3)])
@pytest.mark.parametrize("length", [0, 1, 2, 7, 40])
def test_searchsorted(length, shape, side, dtype):
    """Few different numbers, so that many are equal; of the others some are nan."""
    rng = np.random.default_rng(length)
    a, v = (rng.integers(0, 5, (6, *each)).astype(dtype) for each in ((length,), shape))
    if np.dtype(dtype).kind == "f":
        a, v = (np.where(rng.uniform(size=each.shape) < 0.2, np.nan, each) for each in (a, v))
    a = np.sort(a, axis=1)
    found = vmap(function_of(f"np.searchsorted(a, v, side='{side}')"))(a, v)
    expected = [np.searchsorted(*each, side=side) for each in zip(a, v, strict=True)]
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == np.intp


def test_searchsorted_in_the_order_of_a_sorter_and_for_the_same_numbers():
    rng = np.random.default_rng(1)
    a, v = rng.normal(size=(5, 8)), rng.normal(size=3)
    call = "np.searchsorted(a, v, sorter=np.argsort(a))"
    found = vmap(function_of(call), in_axes=(0, None))(a, v)
    np.testing.assert_array_equal(found, [np.searchsorted(np.sort(each), v) for each in a])
    assert "each_sample" not in vmap(function_of(call), in_axes=(0, None)).source(a, v)


@pytest.mark.parametrize("name", ["array_equal", "array_equiv"])
@pytest.mark.parametrize(
    "first, second", [((3, 4), (3, 4)), ((3, 4), (1, 4)), ((3, 4), (3, 5)), ((1, 4), (3, 1))]
)
def test_whole_comparisons_of_any_shapes(name, first, second):
    f = function_of(f"np.{name}(a, v)")
    a, v = np.ones((4, *first)), np.ones((4, *second))
    a[1, 0, 0], a[2, 0, 0] = 2.0, np.nan
    expected = [f(*each) for each in zip(a, v, strict=True)]
    np.testing.assert_array_equal(vmap(f)(a, v), expected)
