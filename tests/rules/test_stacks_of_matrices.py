"""Stacks of small matrices, which SciPy takes one by one: each sample is what SciPy makes of it."""

import warnings

import numpy as np
import pytest

from rules.properties import module
from s2s_ad import grad, vmap

SAMPLES = 7
SLOW = pytest.mark.slow
#: calls of a matrix a, of which some also take a vector b, and how far apart two stable ways may be
CALLS = {
    "scipy.linalg.lu(a)": 1,
    "scipy.linalg.lu(a[:, 1:])": 1,
    "scipy.linalg.lu(a[1:])": 1,
    "scipy.linalg.lu_factor(a)": 1,
    "scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b)": 10,
    "scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b, trans=1)": 10,
    "scipy.linalg.cho_solve(scipy.linalg.cho_factor(a @ np.conj(a.T)), b)": 100,
    "scipy.linalg.solve_triangular(a, b)": 1,
    "scipy.linalg.solve_triangular(a, b, lower=True)": 1,
    "scipy.linalg.solve_triangular(a, b, trans=1)": 1,
    "scipy.linalg.solve_triangular(a, b, trans=2, lower=True)": 1,
    "scipy.linalg.solve_triangular(a, b, unit_diagonal=True)": 1,
    "scipy.linalg.solve_banded((1, 1), a[:3], b)": 100,
    "scipy.linalg.solve_banded((2, 1), a[:4], b)": 1000,
    "scipy.linalg.solve_banded((0, 2), a[:3], b)": 10,
    "scipy.linalg.hessenberg(a)": 10,
    "scipy.linalg.hessenberg(a, calc_q=True)": 10,
    "scipy.linalg.rq(a)": 10,
    "scipy.linalg.rq(a[1:], mode='economic')": 10,
    "scipy.linalg.polar(a)": 10,
    "scipy.linalg.polar(a, side='left')": 10,
    "scipy.linalg.expm(0.4 * a)": 1000,
    "scipy.linalg.expm(3 * a)": 10000,
    "scipy.linalg.expm_frechet(a, a @ a, compute_expm=False)": 1000,
    "scipy.linalg.cosm(a)": 1000,
    "scipy.linalg.sinm(a)": 1000,
    "scipy.linalg.tanm(0.2 * a)": 1000,
    "scipy.linalg.coshm(a)": 1000,
    "scipy.linalg.sinhm(a)": 1000,
    "scipy.linalg.tanhm(0.5 * a)": 1000,
    "scipy.linalg.solve_sylvester(a, a @ a, a[::-1])": 1000,
    "scipy.linalg.solve_continuous_lyapunov(a, a[::-1])": 1000,
    "scipy.linalg.solve_discrete_lyapunov(0.2 * a, a[::-1])": 1000,
    "scipy.linalg.solve_continuous_are(a, np.diag(b), a @ np.conj(a.T), np.eye(len(b)))": 10000,
    "scipy.linalg.solve_discrete_are(0.1 * a, a, np.eye(len(b)), np.eye(len(b)))": 10000,
}


def function_of(call):
    return module(f"def f(a, b):\n    return {call}\n").f


def matrices(dtype, side, seed=0):
    """Matrices and vectors of random numbers, the matrices with a diagonal apart from zero."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(SAMPLES, side, side)) + np.diag(3 + np.arange(side))
    b = rng.normal(size=(SAMPLES, side))
    if np.dtype(dtype).kind == "c":
        a, b = a + 1j * rng.normal(size=a.shape), b + 1j * rng.normal(size=b.shape)
    return a.astype(dtype), b.astype(dtype)


def loop(f, *stacks):
    found = [f(*sample) for sample in zip(*stacks, strict=True)]
    several = isinstance(found[0], tuple)
    return [np.stack(each) for each in (zip(*found, strict=True) if several else [found])]


def check(f, *stacks, tolerance):
    """The batch is the loop, in values to so many units of the last place, in shape and dtype."""
    expected, found = loop(f, *stacks), vmap(f)(*stacks)
    for y, each in zip(expected, found if isinstance(found, tuple) else [found], strict=True):
        assert (each.dtype, each.shape) == (y.dtype, y.shape)
        size = np.max(np.abs(y), axis=tuple(range(1, y.ndim)), initial=0, where=np.isfinite(y))
        size = size.reshape(-1, *[1] * (y.ndim - 1))
        eps = np.finfo(stacks[0].dtype).eps if y.dtype.kind in "fc" else 0
        error = np.where(np.isfinite(y), np.abs(each - y), 0)
        assert np.all(error <= 10 * tolerance * eps * size), np.max(error / (size + 1e-300))
        np.testing.assert_array_equal(np.isfinite(each), np.isfinite(y))


OTHERS = [np.float32, np.complex64]


@pytest.mark.thinned(6)
@pytest.mark.parametrize("dtype", [float, complex, *(pytest.param(e, marks=SLOW) for e in OTHERS)])
@pytest.mark.parametrize("call", CALLS)
def test_each_sample_is_what_scipy_computes(call, dtype):
    check(function_of(call), *matrices(dtype, 4), tolerance=CALLS[call])


@pytest.mark.slow
@pytest.mark.parametrize("call", [each for each in CALLS if "[:4]" not in each])
def test_any_size(call):
    f = function_of(call)
    for side in (3, 5, 18):
        a, b = matrices(float, side)
        check(f, a / side, b, tolerance=100 * CALLS[call])


def altered(kind, a):
    """The matrices, some of which are changed."""
    a = a.copy()
    if kind == "zero":
        a[2] = 0.0
    elif kind == "singular":
        a[3, 1:] = a[3, :1]
    elif kind == "triangular":
        a[1], a[4], a[5] = np.tril(a[1]), np.triu(a[4]), np.diag(np.diag(a[5]))
    elif kind == "nan":
        a[0, 1, 2] = np.nan
    elif kind == "infinite":
        a[6, 0, 1] = np.inf
    elif kind == "graded":
        a[2] *= 10.0 ** np.arange(0, -8, -2)
    else:
        a[2] *= 1e200 if kind == "huge" else 1e-200
    return a


#: (function, kind): where rounding decides what SciPy gives, or it gives infinities, not an error,
#: or fails where there is a solution
APART = {("rq", "singular"), ("polar", "singular"), ("continuous_lyapunov", "singular")}
APART |= {("discrete_are", "tiny"), ("lu_solve", "zero"), ("lu_solve", "singular")}


@pytest.mark.thinned(9)
@pytest.mark.parametrize("call", CALLS)
def test_one_sample_unlike_the_others(call):
    """What SciPy raises for one sample the batch raises, and nan stays in its sample."""
    f = function_of(call)
    batched = vmap(f)
    for kind in ("zero", "singular", "triangular", "nan", "infinite", "graded", "huge", "tiny"):
        if any(name in call and kind == each for name, each in APART):
            continue
        a, b = matrices(float, 4)
        a = altered(kind, a)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                loop(f, a, b)
            except (ValueError, np.linalg.LinAlgError) as error:
                with pytest.raises(type(error)):
                    batched(a, b)
                continue
            check(f, a, b, tolerance=1e4 * CALLS[call])


def test_exponentials_have_all_their_digits():
    """Against Taylor's series with more digits, at a 2**-12th of the matrix."""
    a = np.random.default_rng(3).normal(size=(50, 3, 3)) * np.linspace(0.01, 6, 50)[:, None, None]
    part, term = a.astype(np.longdouble) / 2**12, np.eye(3, dtype=np.longdouble)
    expected = term + 0 * part
    for k in range(1, 12):
        term = term @ part / k
        expected = expected + term
    for _ in range(12):
        expected = expected @ expected
    found = vmap(module("def f(a):\n    return scipy.linalg.expm(a)\n").f)(a)
    error = np.max(np.abs(found - expected), axis=(1, 2)) / np.max(np.abs(expected), axis=(1, 2))
    assert np.max(error) < 1e-13


def test_a_matrix_for_all_samples_is_not_repeated():
    f = function_of("scipy.linalg.solve_triangular(a, np.outer(b, b), lower=True)")
    a, b = matrices(float, 4)
    found = vmap(f, in_axes=(None, 0))(a[0], b)
    np.testing.assert_allclose(found, [f(a[0], each) for each in b], rtol=1e-12)


def test_gradients_of_batches_solve_stacks_as_well():
    call = "np.sum(scipy.linalg.solve_triangular(a, b, lower=True) ** 2)"
    f = function_of(call)
    a, b = matrices(float, 4)
    derivative = vmap(grad(f, (0, 1)))
    assert "scipy" not in derivative.source(a, b)
    for found, expected in zip(derivative(a, b), loop(grad(f, (0, 1)), a, b), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
