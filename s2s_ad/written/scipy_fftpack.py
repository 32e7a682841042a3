"""scipy.fftpack by scipy.fft: the same numbers, but that those of real transforms are packed."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft

from s2s_ad.written.marks import unsupported

#: the type of the inverse of a cosine or sine transform, which is not divided by the length here
INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def fft(x, n=None, axis=-1, overwrite_x=False) -> Any:
    return scipy.fft.fft(x, n, axis)


def ifft(x, n=None, axis=-1, overwrite_x=False) -> Any:
    return scipy.fft.ifft(x, n, axis)


def fft2(x, shape=None, axes=(-2, -1), overwrite_x=False) -> Any:
    return scipy.fft.fft2(x, shape, axes)


def ifft2(x, shape=None, axes=(-2, -1), overwrite_x=False) -> Any:
    return scipy.fft.ifft2(x, shape, axes)


def fftn(x, shape=None, axes=None, overwrite_x=False) -> Any:
    return scipy.fft.fftn(x, shape, axes)


def ifftn(x, shape=None, axes=None, overwrite_x=False) -> Any:
    return scipy.fft.ifftn(x, shape, axes)


def rfft(x, n=None, axis=-1, overwrite_x=False) -> Any:
    """Real and imaginary parts side by side, without the imaginary parts that are always 0."""
    x = np.moveaxis(np.asarray(x), axis, -1)
    length = x.shape[-1] if n is None else n
    half = scipy.fft.rfft(x, length)
    pairs = np.stack([half.real, half.imag], axis=-1).reshape((*x.shape[:-1], -1))
    packed = np.concatenate([pairs[..., :1], pairs[..., 2 : length + 1]], axis=-1)
    return np.moveaxis(packed, -1, axis)


def irfft(x, n=None, axis=-1, overwrite_x=False) -> Any:
    """The inverse of `rfft`."""
    x = np.moveaxis(np.asarray(x), axis, -1)
    length = x.shape[-1]
    if n is not None and n != length:
        unsupported("scipy.fftpack.irfft of another length", "cut or pad x first")
    zero = np.zeros_like(x[..., :1])
    ends = [zero] if length % 2 == 0 else []
    real = np.concatenate([x[..., :1], x[..., 1::2]], axis=-1)
    imag = np.concatenate([zero, x[..., 2::2], *ends], axis=-1)
    return np.moveaxis(scipy.fft.irfft(real + 1j * imag, length), -1, axis)


def dct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False) -> Any:
    return scipy.fft.dct(x, type, n, axis, norm)


def idct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False) -> Any:
    return scipy.fft.dct(x, INVERSE[type], n, axis, norm)


def dst(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False) -> Any:
    return scipy.fft.dst(x, type, n, axis, norm)


def idst(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False) -> Any:
    return scipy.fft.dst(x, INVERSE[type], n, axis, norm)


def dctn(x, type=2, shape=None, axes=None, norm=None, overwrite_x=False) -> Any:
    return scipy.fft.dctn(x, type, shape, axes, norm)


def idctn(x, type=2, shape=None, axes=None, norm=None, overwrite_x=False) -> Any:
    return scipy.fft.dctn(x, INVERSE[type], shape, axes, norm)


def dstn(x, type=2, shape=None, axes=None, norm=None, overwrite_x=False) -> Any:
    return scipy.fft.dstn(x, type, shape, axes, norm)


def idstn(x, type=2, shape=None, axes=None, norm=None, overwrite_x=False) -> Any:
    return scipy.fft.dstn(x, INVERSE[type], shape, axes, norm)


__all__ = [
    "dct",
    "dctn",
    "dst",
    "dstn",
    "fft",
    "fft2",
    "fftn",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "irfft",
    "rfft",
]
