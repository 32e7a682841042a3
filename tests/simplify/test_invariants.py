"""What blocks are not told: seeds of 1.0 that are carried, numbers that every path hands on."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad

X = np.array([0.3, -0.8, 1.7, 0.4])


def squares(x, n):
    total = 0.0
    for i in range(n):
        total += x[i] ** 2
    return total


def huber(x):
    total = 0.0
    for i in range(len(x)):
        if abs(x[i]) < 1.0:
            total += 0.5 * x[i] * x[i]
        else:
            total += abs(x[i]) - 0.5
    return total


def scaled_in_places(x):
    total = 0.0
    for i in range(len(x)):
        for _ in range(2):
            if x[i] > 0:
                total += x[i] * x[i]
    return 3.0 * total


CASES = {  # program -> (arguments, its derivative, what its gradient does not say)
    squares: ((X, 4), 2 * X, ["1.0 *", "total_bar"]),
    huber: ((X,), np.clip(X, -1, 1), ["total_bar", "1.0 *"]),
    scaled_in_places: ((X,), np.where(X > 0, 12 * X, 0.0), ["total_bar"]),
}


@pytest.mark.parametrize("program", CASES, ids=lambda each: each.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_seed_that_no_pass_changes_is_not_carried(program, dtype):
    (x, *others), expected, unsaid = CASES[program]
    x = x.astype(dtype)
    found = grad(program)(x, *others)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    if dtype == np.float32:
        return  # 0.0 and a sum of float32 are of two kinds, and the seed with them
    text = grad(program).source(x, *others)
    assert not [each for each in unsaid if each in text], text


def changed_on_one_side(x):
    scale = 1.0
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0:
            scale = 2.0 * scale
        total += scale * x[i]
    return total


def test_what_one_side_changes_is_carried():
    np.testing.assert_allclose(grad(changed_on_one_side)(X), [1.0, 2.0, 2.0, 2.0])
