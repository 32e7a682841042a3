"""A list that a loop changes is read as it is by then, beside an array too."""

import numpy as np
import pytest

from s2s_ad import S2SError, grad, jit
from transforms.differences import differences

ARRAYS = (np.array([0.3, 0.5]), np.array([0.4, -0.2, 0.9]))


def stored(x):
    items, total = [1.0, 2.0], 0.0
    for a, b in zip(x, items):
        items[1] = b * a
        total = total + b * a
    return total + items[1]


def stored_as_a_slice(x):
    items, total = [1.0, 2.0], 0.0
    for a, b in zip(x, items):
        items[-1:] = [b + a]
        total = total + b * a
    return total


def nested(x):
    items, total = [1.0, 2.0], 0.0
    for (a, b), c in zip(zip(x, items), x):
        items[1] = b * c
        total = total + b * a
    return total


@pytest.mark.parametrize("function", [stored, stored_as_a_slice, nested])
@pytest.mark.parametrize("x", ARRAYS, ids=len)
def test_an_item_is_read_when_its_pass_begins(function, x):
    assert jit(function)(x) == pytest.approx(function(x), rel=1e-14)
    np.testing.assert_allclose(grad(function)(x), differences(function, x), atol=1e-8)


def grown(x):
    items, total = [1.0, 2.0], 0.0
    for a, b in zip(x, items):
        items.append(b)
        total = total + b * a
    return total


def test_a_list_that_grows_meanwhile_is_refused():
    with pytest.raises(S2SError, match="longer or shorter while it is read"):
        jit(grown)(ARRAYS[1])
