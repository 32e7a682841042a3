"""Shapes that SciPy refuses where the NumPy that its function is written as would broadcast."""

import numpy as np
import pytest
import scipy.linalg
import scipy.stats

from rules.properties import module
from s2s_ad import grad, jit
from s2s_ad.diagnostics import S2SError

V, ONE, M, ROW = np.ones(3), np.ones(1), np.eye(3), np.ones((1, 3))
NUMBER, STACK = np.float64(0.5), np.stack([np.eye(3)] * 2)

REFUSED = [
    ("linalg.expm_frechet(x, y)", M, ONE[:, None]),
    ("linalg.khatri_rao(x, y)", M, M[:, :1]),
    ("linalg.lu_solve(scipy.linalg.lu_factor(x), y)", M[:1, :1], V),
    ("linalg.orthogonal_procrustes(x, y)", M, M[:, :1]),
    ("ndimage.convolve(x, y)", M, V),
    ("ndimage.convolve1d(x, y)", V, M),
    ("signal.upfirdn(x, y)", M, V),
    ("spatial.distance.cdist(x, y)", V, M),
    ("spatial.distance.cdist(x, y)", M, M[:, :1]),
    ("spatial.distance.cityblock(x, y)", V, NUMBER),
    ("spatial.distance.cosine(x, y)", V, ONE),
    ("spatial.distance.cityblock(x, y)", M, M),
    ("spatial.distance.pdist(x)", V, V),
    ("stats.dirichlet.pdf(x, y)", V / 3, ROW),
    ("stats.multinomial.pmf(x, 3, y)", V, ONE),
    ("stats.multivariate_normal.entropy(x, y)", ONE, M),
    ("stats.multivariate_normal.logpdf(x, y, np.eye(3))", V, STACK[0]),
]


@pytest.mark.parametrize("call, x, y", REFUSED, ids=lambda each: each if type(each) is str else "")
def test_refused(call, x, y):
    f = module(f"def f(x, y):\n    return scipy.{call}\n").f
    with pytest.raises((ValueError, RuntimeError)):
        f(x, y)
    with pytest.raises((S2SError, ValueError), match=r"S2S203|S2S502|h must be"):
        jit(f)(x, y)


@pytest.mark.parametrize("shapes", [((3, 4), (3, 4)), ((4,), (3, 4)), ((2, 1, 4), (3, 4))], ids=str)
@pytest.mark.parametrize("name", ["cosine", "euclidean", "sqeuclidean"])
def test_distances_of_stacks(name, shapes):
    """Some releases of SciPy take arrays of vectors, and ours does where the installed one does."""
    f = module(f"def f(u, v):\n    return scipy.spatial.distance.{name}(u, v)\n").f
    rng = np.random.default_rng(3)
    u, v = (rng.normal(size=shape) for shape in shapes)
    try:
        expected = f(u, v)
    except ValueError:
        with pytest.raises(S2SError, match="should be 1-D"):
            jit(f)(u, v)
        return
    np.testing.assert_allclose(jit(f)(u, v), expected, rtol=1e-14)
    way = rng.normal(size=u.shape)
    slope = (f(u + 1e-5 * way, v) - f(u - 1e-5 * way, v)) / 2e-5
    found = np.sum(grad(lambda u: np.sum(f(u, v)))(u) * way)
    np.testing.assert_allclose(found, np.sum(slope), rtol=1e-7)


def test_densities_of_columns():
    """Each column is a point; of a single one SciPy makes a number."""
    f = module("def f(x, a):\n    return scipy.stats.dirichlet.pdf(x, a)\n").f
    a, x = np.array([1.0, 2.0, 1.5]), np.array([[0.2, 0.3], [0.3, 0.3], [0.5, 0.4]])
    np.testing.assert_allclose(jit(f)(x, a), [f(x[:, 0], a), f(x[:, 1], a)])
    assert np.shape(jit(f)(x[:, :1], a)) == np.shape(f(x[:, :1], a)) == ()


@pytest.mark.parametrize("name", ["convolve", "correlate", "fftconvolve"])
def test_convolutions_of_numbers(name):
    f = module(f"def f(x, y):\n    return scipy.signal.{name}(x, y)\n").f
    x, y = np.array(2.0 + 1j), np.array(0.5 - 1j)
    np.testing.assert_allclose(jit(f)(x, y), f(x, y))


def test_no_mean_of_negative_numbers():
    f = module("def f(x):\n    return scipy.stats.hmean(x)\n").f
    assert np.isnan(f(np.array([-1.0, 2.0])))
    assert np.isnan(jit(f)(np.array([-1.0, 2.0])))


def test_zeros_between_samples_are_not_multiplied():
    f = module("def f(h, x):\n    return scipy.signal.upfirdn(h, x, 3, 2)\n").f
    h, x = np.arange(1.0, 6), np.array([1.0, np.nan, 2.0, np.inf])
    np.testing.assert_array_equal(jit(f)(h, x), f(h, x))


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(
    "a", [np.array([[1, 2, 2], [1, 3, 3], [4, 4, 1]]), np.array([[np.nan, 1.0], [np.nan, 1.0]])]
)
def test_mode(a, axis, keepdims):
    def f(a):
        return scipy.stats.mode(a, axis=axis, keepdims=keepdims)

    for found, expected in zip(jit(f)(a), f(a), strict=True):
        np.testing.assert_array_equal(found, expected)
        assert np.asarray(found).dtype == expected.dtype


@pytest.mark.parametrize("n", range(2, 9))
def test_fiedler_companion(n):
    a = np.arange(2.0, n + 2) ** 1.5
    found = jit(lambda a: scipy.linalg.fiedler_companion(a))(a)
    np.testing.assert_allclose(found, scipy.linalg.fiedler_companion(a), rtol=1e-15)
    roots = np.sort_complex(np.linalg.eigvals(found))
    np.testing.assert_allclose(roots, np.sort_complex(np.roots(a)), rtol=1e-9)
