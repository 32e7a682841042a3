"""A mask that is one truth: into an array without axes it selects the element, or none."""

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, vmap


def set_where_either(r):
    B = np.empty_like(np.asarray(r))
    bad = r < 0
    B[~bad] = np.sin(r)
    B[bad] = r**2
    return B


def set_where_one(r):
    B = np.zeros(())
    B[r < 0] = 3.0 * r
    return B


def added(r):
    B = np.sqrt(np.asarray(r) ** 2 + 1.0)
    C = np.zeros_like(B)
    C[r > 0] += np.cos(r)
    C[r > 0] += np.sin(C[r > 0]) * r
    return C * B


def read(r):
    B = np.asarray(r) ** 3
    return np.sum(np.tanh(B[B > 0.0])) + np.sum(B[B <= 0.0])


def one_of_numpys(r):
    B = np.array(r * 2.0)
    bad = np.isclose(B, 0.0) | (B < 0)
    B[~bad] = np.log(B[~bad])
    return B


@pytest.mark.parametrize("f", [set_where_either, set_where_one, added, read, one_of_numpys])
@pytest.mark.parametrize("r", [0.3, -0.7])
def test_in_all_modes(f, r):
    x, h = np.float64(r), 1e-6
    expected = (f(x + h) - f(x - h)) / (2 * h)
    assert jit(f)(x) == pytest.approx(f(x))
    assert grad(f)(x) == pytest.approx(expected, rel=1e-8)
    assert jvp(f, x, np.float64(2.0))[1] == pytest.approx(2 * expected, rel=1e-8)
    second = (grad(f)(x + h) - grad(f)(x - h)) / (2 * h)
    assert grad(grad(f))(x) == pytest.approx(second, rel=1e-6, abs=1e-9)
    both = np.array([r, -r])
    each = [f(np.float64(v)) for v in both], [grad(f)(np.float64(v)) for v in both]
    np.testing.assert_allclose(vmap(f)(both), each[0], rtol=1e-12)
    np.testing.assert_allclose(vmap(grad(f))(both), each[1], rtol=1e-12)
