"""SciPy's functions of complex numbers, with one of the arguments complex and with all of them."""

import numpy as np
import pytest
import scipy.linalg
import scipy.signal
import scipy.special

from rules.complex_properties import check_complex
from rules.properties import case, positive, real
from s2s_ad import grad, jit, jvp, vmap
from s2s_ad.check import central_differences
from s2s_ad.diagnostics import S2SError
from s2s_ad.runtime import complex_polygamma

SPECIAL = [
    *(f"{name}(x)" for name in ("digamma", "gamma", "loggamma", "log_ndtr", "ndtr", "rgamma")),
    *(f"{name}(x)[1]" for name in ("airy", "airye", "fresnel", "shichi", "sici")),
    *(f"{name}(1.5, x)" for name in ("iv", "ive", "jv", "jve", "kv", "kve", "yv", "yve")),
    *(f"spherical_{name}(2, x)" for name in ("in", "jn", "kn", "yn")),
    *(f"eval_{name}(3, x)" for name in ("chebyt", "chebyu", "laguerre", "legendre")),
    "eval_jacobi(3, 0.5, 0.3, x)",
    "hyp0f1(1.5, x)",
    "hyp1f1(1.5, 2.5, x)",
    "hyp2f1(1.5, 0.5, 2.5, x)",
    "kvp(2, x, 2)",
    "log_softmax(x)",
    "logsumexp(x, axis=0, keepdims=True)",
    "softmax(x)",
    "spence(x)",
    "wrightomega(x)",
]
ONE = [
    *(
        f"special.{text}" + "[1]" * text.startswith(("fre", "si", "sh", "airy("))
        for text in SPECIAL
    ),
    "signal.resample(x, 3)",
    "signal.resample(x, 6)",
    "signal.detrend(x)",
    "signal.istft(np.outer(np.ones(4), x), nperseg=4, input_onesided=False)[1]",
    "signal.periodogram(x, return_onesided=False)[1]",
    "signal.stft(x, nperseg=3)[2]",
    "stats.gmean(x)",
    "stats.sem(x)",
    "stats.skew(x)",
    "stats.zscore(x)",
]
MATRIX = ["coshm({})", "expm({})", "logm({})", "polar({})[0]", "polar({}, side='left')[1]"]
MATRIX += ["sqrtm({})", "tanm(0.1 * x)"]
TWO = [
    *(f"special.{text}" for text in ("elliprc(x, y)", "elliprd(x, y, 0.5)", "elliprf(x, y, 0.5)")),
    *(f"special.{text}" for text in ("elliprg(x, y, 0.5)", "xlog1py(x, y)", "xlogy(x, y)")),
    *(
        f"signal.{name}(x, y[:2], mode={mode!r})"
        for name in ("convolve", "correlate", "fftconvolve")
        for mode in ("full", "same", "valid")
    ),
    "signal.correlate2d(x[None], y[:2, None] * y[:2], mode='full')",
    "signal.csd(x + 0j, y, nperseg=3)[1]",
    "signal.lfilter(y[:2], np.array([1.0, 0.3]), x)",
    "signal.lfilter(np.array([0.5, 0.2]), y[:2], x)",
    "signal.lfilter(np.stack([y[0], y[1]]), np.array([1.0, 0.3]), np.outer(x, x), axis=0)",
    "spatial.distance.cityblock(x, y)",
    "spatial.distance.euclidean(x, y)",
]
SQUARE = "x + 3 * np.eye(3)"
CASES = [
    *(case(f"scipy.{text}", x=positive(4), general=False) for text in ONE),
    *(case(f"scipy.{text}", x=positive(4), y=positive(4), general=False) for text in TWO),
    *(case(f"scipy.linalg.{t.format(SQUARE)}", x=real(3, 3), general=False) for t in MATRIX),
    *(
        case(f"scipy.linalg.{text}", x=real(3, 3), y=real(3, 3), general=False)
        for text in (
            "expm_frechet(x, y)[1]",
            f"lu_solve(scipy.linalg.lu_factor({SQUARE}), y)",
            f"lu_solve(scipy.linalg.lu_factor({SQUARE}), y, trans=2)",
            "lu(np.concatenate([x, y + 3 * np.eye(3)]))[1]",
            "solve_banded((1, 1), x + np.array([[0.0], [4.0], [0.0]]), y)",
            "solve_continuous_are(x, np.eye(3), np.eye(3) + y @ np.conj(y).T, np.eye(3))",
            "solve_discrete_lyapunov(0.2 * x, y)",
            f"solve_sylvester({SQUARE} + 0j, y + 9j * np.eye(3), y)",
        )
    ),
]


def with_some_complex(each):
    """The inputs that are complex: all of them, and each one alone."""
    alone = [(name,) for name in each.names]
    return [(each, some) for some in [tuple(each.names), *alone * (len(alone) > 1)]]


PAIRS = [pair for each in CASES for pair in with_some_complex(each)]


@pytest.mark.thinned(22)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0]} complex {','.join(pair[1])}")
def test_properties(pair):
    check_complex(*pair)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("num", [1, 2, 3, 4, 7, 8])
def test_resampled_complex_numbers(n, num):
    x = np.exp(1j * np.arange(n) ** 2) + 0.5
    found = jit(lambda x: scipy.signal.resample(x, num))(x)
    np.testing.assert_allclose(found, scipy.signal.resample(x, num), atol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("z", [0.7 + 0.3j, -3.3 + 0.01j, -20.2 + 3j, 5 - 40j, 0.5 + 0j])
def test_polygamma_is_its_series(n, z):
    """The sum over all poles, the tail of which is an integral and half a term."""
    count = 200_000
    terms = np.sum((z + np.arange(count)) ** -(n + 1.0))
    w = z + count
    series = terms + 1 / (n * w**n) + 0.5 / w ** (n + 1)
    expected = (-1) ** (n + 1) * scipy.special.factorial(n) * series
    np.testing.assert_allclose(complex_polygamma(n, z), expected, rtol=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "f, x",
    [
        (lambda x: scipy.special.airye(x)[3], 0.5 + 0.2j),
        (lambda x: scipy.special.logsumexp(x, b=np.ones(2)), np.array([1j, 2.0])),
        (lambda x: scipy.signal.savgol_filter(x, 3, 1), np.ones(5) * 1j),
    ],
)
def test_refused(f, x):
    with pytest.raises(S2SError, match="S2S302"):
        jvp(f, (x,), (x,))


def test_the_diagonal_of_a_hermitian_matrix_is_real():
    def f(above, main, b):
        return scipy.linalg.solveh_banded(np.stack([above, main]), b)

    above, main = np.array([0.1j, 0.2, 0.3j]), np.array([2.0 + 1j, 3.0, 2.5 - 1j])
    b = np.array([1.0, 1j, 2.0])
    np.testing.assert_allclose(jit(f)(above, main, b), f(above, main, b))
    main_bar = grad(lambda *args: np.sum(np.abs(f(*args))), 1)(above, main, b)
    np.testing.assert_array_equal(np.imag(main_bar), 0.0)


@pytest.mark.parametrize("complex_one", range(3))
def test_a_sylvester_equation_of_real_and_complex_matrices(complex_one):
    """The equation holds, which it does not for SciPy's solution."""
    rng = np.random.default_rng(3)
    a, b, q = (rng.normal(size=(3, 3)) * (1j if k == complex_one else 1) for k in range(3))
    x = jit(lambda a, b, q: scipy.linalg.solve_sylvester(a, b, q))(a, b, q)
    np.testing.assert_allclose(a @ x + x @ b, q, atol=1e-12)


INDEFINITE = np.array([[1.0, 2.0], [3.0, -4.0]])
DEFINITE = np.array([[2.0, 0.3], [0.3, 1.5]])


@pytest.mark.parametrize("function", [scipy.linalg.sqrtm, scipy.linalg.logm])
def test_a_function_of_a_real_matrix_whose_result_is_complex(function):
    """The gradient with respect to real numbers is real; where that is not seen it is refused."""

    def total(a):
        return np.sum(function(a))

    def real_part(a):
        return np.sum(np.real(function(a.astype(complex))))

    def imaginary_part(a):
        return np.sum(np.imag(function(a)))

    for matrix in (DEFINITE, INDEFINITE):
        found = grad(real_part)(matrix)
        assert found.dtype == np.float64
        expected = central_differences(real_part, (matrix,))[0]
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
        with pytest.raises(S2SError, match="may be real or complex"):
            grad(imaginary_part)(matrix)
    expected = central_differences(total, (DEFINITE,))[0]
    np.testing.assert_allclose(grad(total)(DEFINITE), expected, rtol=1e-6, atol=1e-8)
    for call in (lambda: grad(total)(INDEFINITE), lambda: vmap(grad(total))(INDEFINITE[None])):
        with pytest.raises(TypeError, match="the result is complex"):
            call()
