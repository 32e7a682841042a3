"""qr, eigh and svd of complex matrices: what the phases of vectors decide, and what not."""

import numpy as np
import pytest

from s2s_ad import grad, jvp, vmap

STEP = 1e-6
rng = np.random.default_rng(3)


def drawn(*shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


W, NUMBERS, R = drawn(5, 5), rng.normal(size=4), drawn(4, 4)


def weighted(x):
    return np.sum(np.real(x * W[: x.shape[0], : x.shape[1]]))


def of_projectors(a):
    w, v = np.linalg.eigh(a)
    scaled = np.abs(v @ np.diag(w) @ R) ** 2
    return np.sum(scaled) + np.sum(w**2 * NUMBERS) + weighted(np.abs(v) ** 2)


def of_vectors(a):
    w, v = np.linalg.eigh(a)
    return weighted(v) + np.sum(w * NUMBERS)


def of_the_upper_triangle(a):
    return weighted(np.linalg.eigh(a, UPLO="U")[1]) ** 2


def of_both_factors(a):
    q, r = np.linalg.qr(a)
    return weighted(q) + weighted(r**2)


def of_the_upper_factor(a):
    return weighted(np.linalg.qr(a, mode="r"))


def of_complete_factors(a):
    return weighted(np.linalg.qr(a, mode="complete")[1])


CASES = [
    (of_projectors, (4, 4)),
    (of_vectors, (4, 4)),
    (of_the_upper_triangle, (4, 4)),
    (of_both_factors, (4, 4)),
    (of_both_factors, (5, 3)),
    (of_both_factors, (3, 5)),
    (of_the_upper_factor, (4, 3)),
    (of_complete_factors, (5, 3)),
]


def differences(function, a):
    """The direction of steepest ascent, element by element."""
    found = np.zeros(a.shape, complex)
    for place in np.ndindex(a.shape):
        for way in (1, 1j):
            step = np.zeros(a.shape, complex)
            step[place] = STEP * way
            found[place] += way * (function(a + step) - function(a - step)) / (2 * STEP)
    return found


@pytest.mark.parametrize("function, shape", CASES)
def test_all_modes(function, shape):
    a, dot, slope = drawn(*shape), drawn(*shape), grad(function)
    expected = differences(function, a)
    np.testing.assert_allclose(slope(a), expected, rtol=1e-5, atol=1e-6)
    change = jvp(function, (a,), (dot,))[1]
    np.testing.assert_allclose(change, np.sum(np.real(np.conj(expected) * dot)), rtol=1e-5)
    second = (slope(a + STEP * dot) - slope(a - STEP * dot)) / (2 * STEP)
    np.testing.assert_allclose(jvp(slope, (a,), (dot,))[1], second, rtol=1e-5, atol=1e-5)
    batch = np.stack([a, 1.1 * a])
    np.testing.assert_allclose(vmap(slope)(batch), [slope(each) for each in batch], rtol=1e-9)


def test_a_phase_that_nothing_fixes():
    """The vectors of a diagonal matrix have zeros where others are real."""
    a = np.diag([1.0, 2.0, 3.0, 4.0]).astype(complex)
    np.testing.assert_allclose(grad(of_projectors)(a), differences(of_projectors, a), atol=1e-5)
    assert np.isnan(grad(of_vectors)(a)).any()
