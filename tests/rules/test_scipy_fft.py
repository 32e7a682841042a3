"""scipy.fft: NumPy's transforms by another name, cosine and sine transforms of every type."""

import itertools

import numpy as np
import pytest

from rules.properties import module
from s2s_ad import grad, jvp, vmap

scipy_fft = pytest.importorskip("scipy.fft")
RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(5, 4)), RNG.normal(size=(3, 5, 4))

CALLS = [
    f"fft.{name}(x, type={kind}, norm={norm!r}{option})"
    for name, kind, norm, option in itertools.product(
        ("dct", "idct", "dst", "idst"), (1, 2, 3, 4), (None, "ortho", "forward"), ("",)
    )
]
CALLS += [
    f"fft.{name}(x, {kind}, norm='ortho', orthogonalize=False)"
    for name, kind in itertools.product(("dct", "idct", "dst", "idst"), (1, 2, 3))
]
CALLS += ["fft.dct(x, axis=0)", "fft.idst(x, n=7)", "fft.dct(x, n=3, axis=0, orthogonalize=True)"]
CALLS += ["fft.dctn(x)", "fft.idctn(x, norm='ortho')", "fft.dctn(x, 3, axes=(0,))"]
CALLS += ["fft.dstn(x, s=(3, 6))", "fft.idstn(x, type=1)", "fft.dct(x, workers=None)"]
CALLS += ["np.abs(fft.fft(x, n=6)) ** 2", "fft.irfft(fft.rfft(x, axis=0) * 2j, 5, axis=0)"]
CALLS += ["np.abs(fft.ifft2(x, norm='ortho'))", "fft.fftn(fft.ifftn(x)).real", "fft.rfft(x).imag"]


def linear_part(call):
    return module(f"from scipy import fft\ndef f(x):\n    return {call}\n").f


@pytest.mark.thinned(6)
@pytest.mark.parametrize("call", CALLS)
def test_transform(call):
    f = linear_part(call)
    w, d, step = RNG.normal(size=f(X).shape), RNG.normal(size=X.shape), 1e-5
    text = f"from scipy import fft\ndef loss(x, w):\n    return np.sum(w * ({call}) ** 2)\n"
    loss = module(text).loss
    expected = (f(X + step * d) - f(X - step * d)) / (2 * step)
    np.testing.assert_allclose(jvp(f, X, d)[1], expected, rtol=1e-6, atol=1e-8)
    slope = (loss(X + step * d, w) - loss(X - step * d, w)) / (2 * step)
    np.testing.assert_allclose(np.sum(grad(loss)(X, w) * d), slope, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(vmap(f)(Y), np.stack([f(y) for y in Y]), rtol=1e-12, atol=1e-12)


PACKED = [
    f"fftpack.{each}" for each in ("rfft(x)", "irfft(x)", "rfft(x, axis=0)", "irfft(x, axis=0)")
]
PACKED += ["fftpack.fft(x).real", "fftpack.ifft(x, axis=0).imag", "fftpack.fftn(x).imag"]
PACKED += ["fftpack.ifft2(x).real", "fftpack.rfft(x, 7)", "fftpack.dctn(x, norm='ortho')"]
PACKED += [
    f"fftpack.{each}(x, {kind})" for each in ("dct", "idct", "dst", "idst") for kind in (1, 2, 3)
]
PACKED += ["fftpack.idct(x, axis=0, norm='ortho')", "fftpack.idctn(x)", "fftpack.idstn(x, 3)"]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("call", PACKED)
def test_fftpack_is_fft_in_another_order(call):
    f = module(f"from scipy import fftpack\ndef f(x):\n    return {call}\n").f
    d, w = RNG.normal(size=X.shape), RNG.normal(size=f(X).shape)
    np.testing.assert_allclose(jvp(f, X, d)[0], f(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(jvp(f, X, d)[1], f(d), rtol=1e-12, atol=1e-12)  # it is linear
    text = f"from scipy import fftpack\ndef loss(x, w):\n    return np.sum(w * {call})\n"
    slope = np.sum(grad(module(text).loss)(X, w) * d)
    np.testing.assert_allclose(slope, np.sum(w * f(d)), rtol=1e-10)
    np.testing.assert_allclose(vmap(f)(Y), np.stack([f(y) for y in Y]), rtol=1e-12, atol=1e-12)
