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


def singular_values(a):
    return np.sum(np.linalg.svd(a, full_matrices=False)[1] ** 2 * NUMBERS[: min(a.shape)])


def of_singular_pairs(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return weighted(u @ np.diag(np.sin(s)) @ vh) + weighted(np.abs(u)) + weighted(np.abs(vh) ** 2)


def of_singular_vectors(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return weighted(u) + weighted(vh) ** 2 + np.sum(s)


def of_left_vectors(a):
    return weighted(np.linalg.svd(a, full_matrices=False)[0])


def of_right_vectors(a):
    return weighted(np.linalg.svd(a, full_matrices=False)[2])


def of_full_matrices(a):
    u, s, vh = np.linalg.svd(a)
    return weighted(u[:, : len(s)]) + weighted(vh[: len(s)])


def of_a_hermitian_matrix(a):
    u, s, vh = np.linalg.svd(a, hermitian=True)
    return weighted(u) + weighted(vh * s)


SVD = (singular_values, of_singular_pairs, of_singular_vectors, of_left_vectors, of_right_vectors)
CASES = [
    *((each, shape) for each in SVD for shape in ((3, 3), (4, 2), (3, 4), (2, 5))),
    *((of_full_matrices, shape) for shape in ((4, 2), (2, 4))),
    (of_a_hermitian_matrix, (3, 3)),
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


@pytest.mark.thinned(12)
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


@pytest.mark.parametrize("function, shape", [(of_singular_vectors, (2, 5)), (of_vectors, (4, 4))])
def test_in_single_precision(function, shape):
    a = drawn(*shape)
    found = grad(function)(a.astype(np.complex64))
    assert found.dtype == np.complex64
    np.testing.assert_allclose(found, grad(function)(a), rtol=1e-3, atol=1e-3)
