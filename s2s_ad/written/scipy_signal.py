"""scipy.signal: filters back and forth, analytic signals, resampling and spectra."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
import scipy.signal

from s2s_ad.written.marks import kept, unsupported


def as_precise(numbers, x) -> Any:
    """Numbers of float64, in the precision of a signal."""
    return numbers.astype(np.float32) if x.dtype in (np.float32, np.complex64) else numbers


# ---- filters -------------------------------------------------------------------------------------


def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None, method="pad") -> Any:
    """The filter forward and backward, from its steady state, on the signal continued."""
    if method != "pad":
        unsupported(f"filtfilt with method={method!r}")
    b, a = np.asarray(b), np.asarray(a)
    x = np.moveaxis(np.asarray(x), axis, -1)
    edge = 3 * np.maximum(len(a), len(b)) if padlen is None else padlen
    if padtype is None:
        edge = 0
    if x.shape[-1] <= edge:
        raise ValueError("The length of the input vector x must be greater than padlen")
    if padtype is not None:
        x = continued(x, edge, padtype)
    settled = steady_state(b, a)
    y = from_steady_state(b, a, settled, x)
    y = from_steady_state(b, a, settled, y[..., ::-1])[..., ::-1]
    return np.moveaxis(y[..., edge : y.shape[-1] - edge], -1, axis)


def continued(x, edge, padtype) -> Any:
    """The signal with `edge` samples more on both sides."""
    left, right = x[..., edge:0:-1], x[..., -2 : -(edge + 2) : -1]
    if padtype == "odd":
        left, right = 2 * x[..., :1] - left, 2 * x[..., -1:] - right
    elif padtype == "constant":
        left, right = np.zeros_like(left) + x[..., :1], np.zeros_like(right) + x[..., -1:]
    return np.concatenate([left, x, right], axis=-1)


@kept
def steady_state(b, a) -> Any:
    """The state of the filter after a long time of ones."""
    n = np.maximum(len(a), len(b))
    b = np.concatenate([b, np.zeros(n - len(b))]) / a[0]
    a = np.concatenate([a, np.zeros(n - len(a))]) / a[0]
    companion = np.eye(n - 1) - np.eye(n - 1, k=1)
    companion[:, 0] += a[1:]
    return np.linalg.solve(companion, b[1:] - a[1:] * b[0])


def from_steady_state(b, a, settled, x) -> Any:
    """The filter of a signal that was constant before: the response to its state is added."""
    pulse = np.zeros(x.shape[-1])
    pulse[0] = 1.0
    return scipy.signal.lfilter(b, a, x) + x[..., :1] * scipy.signal.lfilter(
        settled, a / a[0], pulse
    )


def lfilter_from(b, a, x, axis, zi) -> Any:
    """The filter from a state: what is in it comes out like a signal that nothing weighs."""
    b, a, zi = np.atleast_1d(b), np.atleast_1d(a), np.moveaxis(np.asarray(zi), axis, -1)
    x, size = np.moveaxis(np.asarray(x), axis, -1), zi.shape[-1]
    n = x.shape[-1]
    comes_out = as_precise(np.zeros((*x.shape[:-1], n + size)), x)
    comes_out[..., :size] += zi
    y = scipy.signal.lfilter(b, a, x) + scipy.signal.lfilter(a[:1], a, comes_out[..., :n])
    left = (behind(b, x, size) - behind(a, y, size)) / a[0] + comes_out[..., n:]
    return np.moveaxis(y, -1, axis), np.moveaxis(left, -1, axis)


def lfiltic(b, a, y, x=None) -> Any:
    """The state of a filter behind what came out, and went in, before: the latest first."""
    b, a, y = np.atleast_1d(b), np.atleast_1d(a), np.asarray(y)
    size = max(len(a), len(b)) - 1
    state = -behind(a, y[::-1], size)
    if x is not None:
        state = state + behind(b, np.asarray(x)[::-1], size)
    return (state / a[0]).astype(np.result_type(b, a, y, np.float32))


def behind(weights, x, size) -> Any:
    """What weighted sums of the last samples give behind the end of a signal."""
    n = x.shape[-1]
    longer = np.concatenate([x, as_precise(np.zeros((*x.shape[:-1], size)), x)], axis=-1)
    return scipy.signal.lfilter(weights, np.ones_like(weights[:1]), longer)[..., n:]


def sosfilt(sos, x, axis=-1) -> Any:
    """One section of the filter after the other."""
    sos, y = np.asarray(sos), np.asarray(x)
    for k in range(len(sos)):
        y = scipy.signal.lfilter(sos[k, :3], sos[k, 3:], y, axis=axis)
    return y


def freqz(
    b, a=1, worN=512, whole=False, plot=None, fs=6.283185307179586, include_nyquist=False
) -> Any:
    """The frequencies, and what a filter makes of waves of these."""
    if plot is not None:
        unsupported("freqz with plot=", "Plot what it returns.")
    if np.ndim(b) > 1 or np.ndim(a) > 1:
        unsupported("freqz of several filters", "Call it for each of them.")
    if worN is None:
        worN = 512
    if np.ndim(worN) == 0:
        last = 2 * np.pi if whole else np.pi
        w = np.linspace(0, last, worN, endpoint=include_nyquist and not whole)
    else:
        w = 2 * np.pi * np.asarray(worN) / fs
    back = np.exp(-1j * w)
    over = np.polyval(np.atleast_1d(b)[::-1], back)
    return w * (fs / (2 * np.pi)), over / np.polyval(np.atleast_1d(a)[::-1], back)


def upfirdn(h, x, up=1, down=1, axis=-1, mode="constant", cval=0) -> Any:
    """Zeros between the samples, a filter, and only some of the results."""
    if mode != "constant" or cval != 0:
        unsupported("upfirdn with mode= or cval=")
    h, x = np.asarray(h), np.asarray(x)
    if h.ndim != 1:
        raise ValueError("h must be 1-D with non-zero length")
    if x.ndim != 1:
        unsupported("upfirdn of a matrix", "use vmap")
    taps = np.concatenate([h, np.zeros(-len(h) % up, h.dtype)])
    phases = [np.convolve(taps[k::up], x) for k in range(up)]  # no zeros between the samples
    whole = np.ravel(np.stack(phases, axis=1))
    return whole[: (len(x) - 1) * up + len(h)][::down]


# ---- convolutions along some of the axes ---------------------------------------------------------


def convolved_along(in1, in2, mode, axes) -> Any:
    """The product of Fourier transforms along these axes; along others the arrays are broadcast."""
    a, v = np.asarray(in1), np.asarray(in2)
    if mode == "valid":
        unsupported("a convolution along axes with mode='valid'", "take the part of mode='full'")
    sizes = [a.shape[k] + v.shape[k] - 1 for k in axes]
    real = a.dtype.kind != "c" and v.dtype.kind != "c"
    first, second = a, v
    for k, n in zip(axes, sizes, strict=True):
        first, second = scipy.fft.fft(first, n, axis=k), scipy.fft.fft(second, n, axis=k)
    y = first * second
    for k in axes:
        y = scipy.fft.ifft(y, axis=k)
    y = np.real(y) if real else y
    if mode == "same":
        for k in axes:
            start = (v.shape[k] - 1) // 2
            y = np.take(y, start + np.arange(a.shape[k]), axis=k)
    return y


# ---- Fourier transforms --------------------------------------------------------------------------


def hilbert(x, N=None, axis=-1) -> Any:
    """The signal without its negative frequencies."""
    x = np.moveaxis(np.asarray(x), axis, -1)
    if x.dtype.kind == "c":
        raise ValueError("x must be real.")
    n = x.shape[-1] if N is None else N
    k = np.arange(n)
    weights = np.where((k == 0) | (2 * k == n), 1.0, np.where(2 * k < n, 2.0, 0.0))
    return np.moveaxis(scipy.fft.ifft(scipy.fft.fft(x, n) * as_precise(weights, x)), -1, axis)


def resample(x, num, t=None, axis=0, window=None, domain="time") -> Any:
    """Fourier coefficients of the signal, for another number of samples."""
    if t is not None or window is not None or domain != "time":
        unsupported("resample with t=, window= or domain=")
    x = np.moveaxis(np.asarray(x), axis, -1)
    n = x.shape[-1]
    m = min(num, n)
    if x.dtype.kind == "c":
        return np.moveaxis(resampled(x, n, m, num), -1, axis)
    spectrum = scipy.fft.rfft(x)[..., : m // 2 + 1]
    k = np.arange(m // 2 + 1)
    middle = 2.0 if num < n else 0.5
    weights = np.where((2 * k == m) & (num != n), middle, 1.0) * (num / n)
    return np.moveaxis(scipy.fft.irfft(spectrum * as_precise(weights, x), num), -1, axis)


def resampled(x, n, m, num) -> Any:
    """Of complex numbers: the frequencies on both sides of zero, the outermost shared out."""
    spectrum = scipy.fft.fft(x)
    low, high = spectrum[..., : (m + 1) // 2], spectrum[..., n - (m - 1) // 2 :]
    between = np.zeros((*x.shape[:-1], num - m + (1 - m % 2)), spectrum.dtype)
    if m % 2 == 0 and num < n:
        between[..., 0] = spectrum[..., m // 2] + spectrum[..., n - m // 2]
    elif m % 2 == 0 and num == n:
        between[..., 0] = spectrum[..., m // 2]
    elif m % 2 == 0:
        between[..., 0] = 0.5 * spectrum[..., m // 2]
        between[..., -1] = 0.5 * spectrum[..., m // 2]
    return scipy.fft.ifft(np.concatenate([low, between, high], axis=-1)) * (num / n)


def window_of(window, nperseg) -> Any:
    if isinstance(window, str | tuple):
        return scipy.signal.get_window(window, nperseg)
    return np.asarray(window)


def length_of(window, nperseg, n) -> Any:
    """The length of a segment."""
    if not isinstance(window, str | tuple):
        return len(np.asarray(window))
    return min(256 if nperseg is None else nperseg, n)


def segments(window, nperseg, noverlap, nfft, n, shared=2) -> Any:
    """The window of a segment, the length of its transform, and the step to the next one.

    Without `noverlap` two segments share this part of their length.
    """
    size = length_of(window, nperseg, n)
    nfft = size if nfft is None else nfft
    step = size - (size // shared if noverlap is None else noverlap)
    return window_of(window, size), nfft, step


def transforms(x, win, step, nfft, detrend, both) -> Any:
    """The Fourier transform of each segment, by rows; of a real signal of one side alone."""
    size = len(win)
    starts = np.arange((x.shape[-1] - size) // step + 1) * step
    parts = x[..., starts[:, None] + np.arange(size)]
    if detrend == "constant":
        parts = parts - np.mean(parts, axis=-1, keepdims=True)
    elif detrend is not False:
        parts = scipy.signal.detrend(parts, type=detrend)
    transform = scipy.fft.fft if both else scipy.fft.rfft
    return transform(parts * as_precise(win, x), nfft)


def density(win, fs, scaling) -> Any:
    return 1.0 / (fs * np.sum(win**2)) if scaling == "density" else 1.0 / np.sum(win) ** 2


def frequencies(nfft, fs, both) -> Any:
    return np.fft.fftfreq(nfft, 1 / fs) if both else np.fft.rfftfreq(nfft, 1 / fs)


def counted(nfft, both) -> Any:
    """How often each frequency counts: twice where it stands for its negative, too."""
    if both:
        return 1.0
    k = np.arange(nfft // 2 + 1)
    return np.where((k == 0) | (2 * k == nfft), 1.0, 2.0)


def csd(
    x,
    y,
    fs=1.0,
    window="hann",
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
    average="mean",
) -> Any:
    """The mean of the products of the segments' transforms."""
    x, y = np.moveaxis(np.asarray(x), axis, -1), np.moveaxis(np.asarray(y), axis, -1)
    if average != "mean":
        unsupported("a spectrum by the median")
    both = not return_onesided or x.dtype.kind == "c"
    if not both and y.dtype.kind == "c":
        raise ValueError("csd: where y is complex, x has to be")
    if x.shape[-1] != y.shape[-1]:
        raise ValueError("csd: x and y must be of one length")  # SciPy adds zeros to the shorter
    win, nfft, step = segments(window, nperseg, noverlap, nfft, x.shape[-1])
    products = np.conj(transforms(x, win, step, nfft, detrend, both))
    products = products * transforms(y, win, step, nfft, detrend, both)
    weights = as_precise(counted(nfft, both) * density(win, fs, scaling), x)
    found = np.mean(products, axis=-2) * weights
    return frequencies(nfft, fs, both), np.moveaxis(found, -1, axis)


def welch(
    x,
    fs=1.0,
    window="hann",
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
    average="mean",
) -> Any:
    """The mean of the squares of the segments' transforms."""
    x = np.moveaxis(np.asarray(x), axis, -1)
    if average != "mean":
        unsupported("a spectrum by the median")
    both = not return_onesided or x.dtype.kind == "c"
    win, nfft, step = segments(window, nperseg, noverlap, nfft, x.shape[-1])
    squares = squared(transforms(x, win, step, nfft, detrend, both))
    weights = as_precise(counted(nfft, both) * density(win, fs, scaling), x)
    found = np.mean(squares, axis=-2) * weights
    return frequencies(nfft, fs, both), np.moveaxis(found, -1, axis)


def before_times(found, axis) -> Any:
    """Rows of frequencies: these where the signal was along the axis, the times last."""
    return np.moveaxis(found, -1, axis if axis >= 0 else axis - 1)


def squared(z) -> Any:
    return np.real(z) ** 2 + np.imag(z) ** 2


def periodogram(
    x,
    fs=1.0,
    window="boxcar",
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
) -> Any:
    """The square of the Fourier transform of the whole signal."""
    x = np.asarray(x)
    if nfft is not None:
        unsupported("periodogram with nfft=", "use welch, with nperseg=")
    window = "boxcar" if window is None else window
    return welch(x, fs, window, x.shape[axis], 0, None, detrend, return_onesided, scaling, axis)


def spectrogram(
    x,
    fs=1.0,
    window=("tukey", 0.25),
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
    mode="psd",
) -> Any:
    """The squares of the segments' transforms, by columns."""
    x = np.moveaxis(np.asarray(x), axis, -1)
    if mode != "psd":
        unsupported("spectrogram with mode=", "use stft")
    both = not return_onesided or x.dtype.kind == "c"
    win, nfft, step = segments(window, nperseg, noverlap, nfft, x.shape[-1], shared=8)
    squares = squared(transforms(x, win, step, nfft, detrend, both))
    weights = as_precise(counted(nfft, both) * density(win, fs, scaling), x)
    size = len(win)
    times = (size / 2 + step * np.arange((x.shape[-1] - size) // step + 1)) / fs
    return frequencies(nfft, fs, both), times, before_times(squares * weights, axis)


def stft(
    x,
    fs=1.0,
    window="hann",
    nperseg=256,
    noverlap=None,
    nfft=None,
    detrend=False,
    return_onesided=True,
    boundary="zeros",
    padded=True,
    axis=-1,
    scaling="spectrum",
) -> Any:
    """The Fourier transforms of the segments, by columns."""
    x = np.moveaxis(np.asarray(x), axis, -1)
    both = not return_onesided or x.dtype.kind == "c"
    if boundary not in ("zeros", None):
        unsupported(f"stft with boundary={boundary!r}", "use np.pad")
    win, nfft, step = segments(window, nperseg, noverlap, nfft, x.shape[-1])
    size = len(win)
    more = size // 2 if boundary == "zeros" else 0
    rest = (-(x.shape[-1] + 2 * more - size) % step) % size if padded else 0
    leading = x.shape[:-1]
    x = np.concatenate(
        [np.zeros((*leading, more), x.dtype), x, np.zeros((*leading, more + rest), x.dtype)],
        axis=-1,
    )
    found = transforms(x, win, step, nfft, detrend, both)
    scale = np.sqrt(density(win, fs, "density" if scaling == "psd" else "spectrum"))
    found = found * as_precise(scale, x)
    times = (size / 2 - more + step * np.arange((x.shape[-1] - size) // step + 1)) / fs
    return frequencies(nfft, fs, both), times, before_times(found, axis)


def istft(
    Zxx,
    fs=1.0,
    window="hann",
    nperseg=None,
    noverlap=None,
    nfft=None,
    input_onesided=True,
    boundary=True,
    time_axis=-1,
    freq_axis=-2,
    scaling="spectrum",
) -> Any:
    """The signal whose stft is nearest: the segments, windowed again, are added."""
    if time_axis != -1 or freq_axis != -2:
        unsupported("istft with axes")
    z = np.asarray(Zxx)
    even = 2 * (z.shape[-2] - 1) if input_onesided else z.shape[-2]
    size = even if nperseg is None else nperseg
    if nfft is None:
        nfft = size if input_onesided and size == even + 1 else even
    inverse = scipy.fft.irfft if input_onesided else scipy.fft.ifft
    win = window_of(window, size)
    step = size - (size // 2 if noverlap is None else noverlap)
    parts = np.swapaxes(inverse(z, nfft, axis=-2)[..., :size, :], -1, -2)
    scale = np.sqrt(density(win, fs, "density" if scaling == "psd" else "spectrum"))
    parts = parts * as_precise(win / scale, z)
    count = parts.shape[-2]
    total = size + (count - 1) * step
    x, norm = np.zeros((*parts.shape[:-2], total), dtype=parts.dtype), np.zeros(total)
    for k in range(count):
        x[..., k * step : k * step + size] += parts[..., k, :]
        norm[k * step : k * step + size] += win**2
    if boundary:
        x, norm = x[..., size // 2 : total - size // 2], norm[size // 2 : total - size // 2]
    x = x / as_precise(np.where(norm > 1e-10, norm, 1.0), z)
    return np.arange(x.shape[-1]) / fs, x
