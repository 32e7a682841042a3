"""scipy.signal: filters as plain NumPy, and windows and coefficients of values known now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.ndimage
import scipy.signal

from s2s_ad.core.builder import Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import (
    scipy_signal_convolutions,  # noqa: F401  (registers its rows)
    support,
)
from s2s_ad.rules.composite import composite
from s2s_ad.rules.creation import Creation
from s2s_ad.rules.shapes import dim_of


def made(function: Callable, text: str, size: str) -> None:
    """A vector of numbers alone, as long as the parameter `size` says."""
    register(Creation(function, text, lambda full: (dim_of(full[size]),)))


def _butter(N: Any, Wn: Any, btype: Any, fs: Any) -> tuple:
    return scipy.signal.butter(*static((N, Wn, btype), "N, Wn and btype"), fs=static(fs))


def _detrend(x: Symbol, axis: Any, type: Any) -> Any:
    axis, kind = static((axis, type), "axis and type of detrend")
    rank = support.known_rank(x, "detrend")
    centred = x - np.mean(x, axis=axis, keepdims=True)
    if kind == "constant":
        return centred
    size = support.length(x, axis)
    if isinstance(size, int) and size < 2:  # the line through one point is as level as can be
        return centred
    times = x.builder.call(np.arange, (size,), {}) - (size - 1) / 2
    times = support.cast(x.builder, times, np.real(x))
    shape = [1] * rank
    shape[axis] = size
    times = np.reshape(times, tuple(shape))
    slope = np.sum(times * x, axis=axis, keepdims=True) / np.sum(times**2)
    return centred - slope * times


def _medfilt(x: Symbol, kernel_size: Any) -> Any:
    size = static(kernel_size, "kernel_size of medfilt")
    if support.known_rank(x, "medfilt") == 0:
        x = np.reshape(x, (1,))
    call = x.builder.call
    return call(scipy.ndimage.median_filter, (x,), {"size": size or 3, "mode": "constant"})


#: what savgol_filter calls what lies beyond the ends -> np.pad's name; of "interp" the last fits
BEYOND = {"constant": "constant", "mirror": "reflect", "nearest": "edge", "wrap": "wrap"}


def _savgol(
    x: Symbol,
    window_length: Any,
    polyorder: Any,
    deriv: Any,
    delta: Any,
    axis: Any,
    mode: Any,
    cval: Any,
) -> Any:
    """A fit of polynomials to windows; at the ends the polynomial of the first and last window."""
    width, order, deriv = static((window_length, polyorder, deriv), "options of savgol_filter")
    delta, axis, mode = static((delta, axis, mode), "delta, axis and mode of savgol_filter")
    call, half = x.builder.call, width // 2
    if x.builder.may_be_complex(x):
        raise UnsupportedError(
            "S2S302",
            "savgol_filter of complex numbers, of which SciPy drops the imaginary part",
            origin=x.builder.origin,
            help="filter the real and imaginary parts",
        )
    if width % 2 == 0:
        raise UnsupportedError("S2S203", "savgol_filter of even length", origin=x.builder.origin)
    x = np.moveaxis(x, axis, -1)
    if mode != "interp":
        widths = [(0, 0)] * (support.known_rank(x, "savgol_filter") - 1) + [(half, half)]
        kind = BEYOND[mode]
        x = np.pad(x, widths, kind, **({"constant_values": cval} if mode == "constant" else {}))
    fits = np.stack([_fit(row, order, deriv, delta) for row in np.eye(width)], axis=1)
    first, middle, last = (
        support.cast(x.builder, call(np.array, (each.tolist(),), {}), x)
        for each in (fits[:half].T, fits[half], fits[half + 1 :].T)
    )
    y = np.lib.stride_tricks.sliding_window_view(x, width, -1) @ middle
    if mode == "interp":
        y = np.concatenate([x[..., :width] @ first, y, x[..., -width:] @ last], axis=-1)
    return np.moveaxis(y, -1, axis)


def _fit(values: np.ndarray, order: int, deriv: int, delta: float) -> np.ndarray:
    """The polynomial through a window, or its derivative, at each place of it."""
    places = np.arange(len(values)) - len(values) // 2
    fitted = np.polynomial.Polynomial.fit(places, values, order).convert()
    return fitted.deriv(deriv)(places) / delta**deriv if deriv else fitted(places)


made(scipy.signal.windows.blackman, "M, sym=True", "M")
made(scipy.signal.windows.gaussian, "M, std, sym=True", "M")
made(scipy.signal.windows.hamming, "M, sym=True", "M")
made(scipy.signal.windows.hann, "M, sym=True", "M")
made(scipy.signal.firwin, "numtaps, cutoff, pass_zero=True, scale=True, fs=None", "numtaps")
made(scipy.signal.get_window, "window, Nx, fftbins=True", "Nx")

composite(scipy.signal.butter, "N, Wn, btype='low', fs=None", _butter)
composite(
    scipy.signal.detrend, "data, axis=-1, type='linear'", lambda data, **o: _detrend(data, **o)
)
composite(scipy.signal.medfilt, "x, kernel_size=None", _medfilt)
composite(
    scipy.signal.savgol_filter,
    "x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode='interp', cval=0.0",
    _savgol,
)
