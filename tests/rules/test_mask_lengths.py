"""What one mask takes of several arrays is equally long: nothing is unbroadcast there."""

import numpy as np
import pytest

from s2s_ad import grad, jit, vmap
from transforms.differences import differences

X = np.array([0.3, -1.2, 0.7, 1.5, -0.4])
W = np.array([1.0, 2.0, -0.5, 0.7, 0.3])


def two_parts(x):
    good = W > 0.0
    model = x[0] * np.exp(-W[good]) + x[good]
    return np.sum(((X[good] - model) / W[good]) ** 2)


def both_sides(x):
    r = x * W
    small = np.abs(r) <= 0.5
    return np.sum(r[small] ** 2) + np.sum(np.abs(r[~small]) * W[~small])


def overlapping(x):
    r = np.sin(x)
    return np.sum(r[x > 0.0] ** 2) + np.sum(r[x < 0.5] ** 3)


def in_a_loop(x):
    total, keep = 0.0, W > 0.5
    for i in range(3):
        total = total + np.sum(x[keep] * W[keep]) ** i
    return total


PROGRAMS = [two_parts, both_sides, overlapping, in_a_loop]


@pytest.mark.parametrize("f", PROGRAMS)
def test_the_gradient(f):
    expected = differences(f, X)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jit(grad(f))(X), expected, rtol=1e-6, atol=1e-8)
    batch = np.stack([X, -X, X[::-1]])
    np.testing.assert_allclose(vmap(grad(f))(batch), [grad(f)(each) for each in batch], rtol=1e-12)
    along = lambda x: np.sum(grad(f)(x) ** 2)
    np.testing.assert_allclose(grad(along)(X), differences(along, X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", PROGRAMS)
def test_nothing_is_unbroadcast(f):
    assert "unbroadcast" not in grad(f).source(X)


def test_what_two_masks_leave_to_each_other_is_stored():
    text = grad(both_sides).source(X)
    assert text.count("r_bar[small] = ") == text.count("r_bar[not_small] = ") == 1
    assert "r_bar[small] +=" in grad(overlapping).source(X).replace("x_mask", "small")


def test_lengths_of_two_masks_have_to_fit():
    def f(x):
        return np.sum(x[W > 0.0] * x[W < 0.5])

    with pytest.raises(ValueError, match=r"broadcast|lengths"):
        grad(f)(X)
