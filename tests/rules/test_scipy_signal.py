"""scipy.signal: what is written in Python, and simpson, against SciPy, in every mode."""

import numpy as np
import pytest
import scipy.integrate

from rules.properties import case, check_all, module, positive, real, some_slow
from s2s_ad import grad, jit, vmap
from s2s_ad.diagnostics import S2SError

LIKE = {"general": False, "empty": False}


def signal(call, **inputs):
    return case(f"scipy.signal.{call}", **LIKE, **inputs)


CASES = [
    signal("filtfilt(b, np.array([1.0, 0.2]), x)", b=positive(2), x=real(12), batches=False),
    signal("filtfilt(np.array([1.0, 0.3]), np.array([2, 0.2, 1]), x, padlen=4)", x=real(2, 9)),
    signal("filtfilt(np.array([0.5, 0.2, 0.1]), np.array([2.0, 0.2]), x)", x=real(12)),
    signal(
        "filtfilt(np.array([0.5, 0.2]), np.array([1.0, 0.1]), x, axis=0, padtype='even')",
        x=real(9, 2),
    ),
    signal(
        "filtfilt(np.array([0.5, 0.2]), np.array([1.0, 0.1]), x, padtype='constant')", x=real(9)
    ),
    signal("filtfilt(np.array([0.5, 0.2]), np.array([1.0, 0.1]), x, padtype=None)", x=real(9)),
    signal("sosfilt(np.array([[0.5, 0.2, 0.1, 1.0, 0.1, 0.05]]), x)", x=real(6)),
    signal(
        "sosfilt(np.array([[0.5, 0.2, 0.1, 1.0, 0.1, 0.05], [1, 0.2, 0, 1, 0.3, 0]]), x, axis=0)",
        x=real(6, 2),
    ),
    signal("lfilter([0.5, 0.2, 0.1], [2.0, -0.3], x, zi=z)[0]", x=real(5), z=real(2)),
    signal(
        "lfilter(b, np.array([1.3, 0.2]), x, zi=z)[1]",
        b=real(3),
        x=real(4),
        z=real(2),
        batches=False,
    ),
    signal("lfilter([0.5], [2.0, -0.3, 0.2, 0.1], x, zi=z)[1]", x=real(2), z=real(3)),
    signal("lfilter([0.5, 0.2], [2.0, -0.3], x, 0, zi=z)[0]", x=real(4, 2), z=real(1, 2)),
    signal("lfilter([0.5, 0.2], [2.0, -0.3], x, axis=0, zi=z)[1]", x=real(4, 2), z=real(1, 1)),
    signal("lfilter(b, a, x)", b=real(3), a=positive(2), x=real(2, 4), batches=False),
    signal("lfilter_zi(b, np.array([2.0, 0.3, 0.1]))", b=real(2)),
    signal("lfiltic([1], a, y)", a=positive(4), y=real(2), batches=False),
    signal("lfiltic(b, a, y, x)", b=real(4), a=positive(3), y=real(5), x=real(2), batches=False),
    signal("upfirdn(h, x, up=2)", h=real(3), x=real(5)),
    signal("upfirdn(h, x, 3, 2)", h=real(4), x=real(5)),
    signal("resample(x, 8)", x=real(5)),
    signal("resample(x, 6)", x=real(4)),
    signal("resample(x, 4)", x=real(7)),
    signal("resample(x, 4, axis=1)", x=real(2, 6)),
    signal("welch(x, nperseg=4, axis=0)[1]", x=real(9, 2)),
    signal("periodogram(x, axis=0)[1]", x=real(5, 2)),
    signal("spectrogram(x, nperseg=4, axis=0)[2]", x=real(9, 2)),
    case("np.abs(scipy.signal.stft(x, nperseg=4, axis=-2)[2])", x=real(9, 2), **LIKE),
    case("np.abs(scipy.signal.csd(x, y, nperseg=4, axis=0)[1])", x=real(9), y=real(9), **LIKE),
    case("np.imag(scipy.signal.hilbert(x))", x=real(5), **LIKE),
    case("np.imag(scipy.signal.hilbert(x, axis=0))", x=real(6, 2), **LIKE),
    case("np.abs(scipy.signal.hilbert(x, 8))", x=positive(5), **LIKE),
    signal("welch(x, nperseg=8)[1]", x=real(20)),
    signal("welch(x, 2.0, nperseg=7, noverlap=3, detrend=False)[1]", x=real(2, 20)),
    signal("welch(x, nperseg=8, nfft=11, detrend='linear', scaling='spectrum')[1]", x=real(20)),
    signal("periodogram(x, 3.0, window='hann')[1]", x=real(9)),
    signal("spectrogram(x, nperseg=8)[2]", x=real(20)),
    case("np.imag(scipy.signal.csd(x, y, nperseg=8)[1])", x=real(20), y=real(20), **LIKE),
    case("np.imag(scipy.signal.stft(x, nperseg=8)[2])", x=real(21), **LIKE),
    case(
        "np.real(scipy.signal.stft(x, nperseg=7, noverlap=2, boundary=None, padded=False)[2])",
        x=real(2, 21),
        **LIKE,
    ),
    case("scipy.signal.istft(z + 0.5j * z, nperseg=8)[1]", z=real(5, 6), **LIKE),
    case("scipy.signal.istft(z * 1j, 2.0, nperseg=7, boundary=False)[1]", z=real(4, 6), **LIKE),
]


@pytest.mark.thinned(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("each", some_slow(CASES, 9))
def test_properties(each):
    check_all(each)


@pytest.mark.parametrize(
    "call, said",
    [
        ("filtfilt(x, x, x, method='gust')", "method='gust'"),
        ("upfirdn(x, x, mode='wrap')", "mode="),
        ("resample(x, 4, window='hann')", "window="),
        ("welch(x, average='median')[1]", "median"),
        ("stft(x, boundary='even')[2]", "boundary='even'"),
        ("spectrogram(x, mode='phase')[2]", "mode="),
        ("decimate(x, 2)", "decimate"),
    ],
)
def test_what_is_refused(call, said):
    f = module(f"def f(x):\n    return np.sum(np.abs(scipy.signal.{call}))\n").f
    with pytest.raises(S2SError, match=said):
        grad(f)(np.ones(5))


def test_a_signal_that_is_too_short_raises():
    f = module("def f(x):\n    return np.sum(scipy.signal.filtfilt(x, x, x))\n").f
    with pytest.raises(ValueError, match="greater than padlen"):
        grad(f)(np.ones(5))


@pytest.mark.thinned(6)
@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("given", ["dx=0.5", "x=x"])
def test_simpson(count, given):
    """It is linear in the samples, so that their adjoint is the integrals of unit vectors."""
    f = module(f"def f(y, x):\n    return scipy.integrate.simpson(y, {given})\n").f
    rng = np.random.default_rng(count)
    y, x, way = (
        rng.normal(size=count),
        np.cumsum(rng.uniform(0.5, 1, count)),
        rng.normal(size=count),
    )
    given = {"x": x} if given == "x=x" else {"dx": 0.5}
    np.testing.assert_allclose(jit(f)(y, x), f(y, x), rtol=1e-13)
    weights = scipy.integrate.simpson(np.eye(count), **given, axis=0)
    np.testing.assert_allclose(grad(f)(y, x), weights, rtol=1e-12)
    batch = np.stack([y, 2 * y, -y])
    np.testing.assert_allclose(vmap(f, (0, None))(batch, x), f(batch, x), rtol=1e-12)
    step = 1e-5
    expected = (f(y, x + step * way) - f(y, x - step * way)) / (2 * step)
    np.testing.assert_allclose(grad(f, 1)(y, x) @ way, expected, rtol=1e-6, atol=1e-9)
    single = [each.astype(np.float32) for each in (y, x)]
    assert jit(f)(*single).dtype == f(*single).dtype


@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize(
    "of_samples, of_x", [("f4", "f8"), ("f8", "f4"), ("i4", "f4"), ("f4", "i8")]
)
def test_simpson_of_several_dtypes(count, of_samples, of_x):
    """Before SciPy 1.18 the result is in double precision, from then on in that of both dtypes."""
    f = module("def f(y, x):\n    return scipy.integrate.simpson(y, x)\n").f
    y, x = (10 * np.sin(np.arange(count))).astype(of_samples), 0.7 * np.arange(count) ** 1.5
    x = (3 * x).astype(of_x)
    found, expected = jit(f)(y, x), f(y, x)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_simpson_along_an_axis():
    f = module("def f(y):\n    return np.sum(scipy.integrate.simpson(y, axis=0) * W)\n")
    f.W = np.arange(3.0)
    weights = scipy.integrate.simpson(np.eye(4), axis=0)
    np.testing.assert_allclose(grad(f.f)(np.ones((4, 3))), np.outer(weights, f.W), rtol=1e-12)


@pytest.mark.parametrize("lengths", [(20, 12), (1, 20)])
def test_a_cross_spectrum_takes_signals_of_one_length(lengths):
    f = module("def f(x, y):\n    return np.sum(np.abs(scipy.signal.csd(x, y)[1]))\n").f
    with pytest.raises(ValueError, match="x and y must be of one length"):
        grad(f)(*(np.arange(1.0, n + 1) for n in lengths))
