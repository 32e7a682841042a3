"""scipy.integrate: integrals of samples, and by nodes and weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.versions import simpson_is_double
from s2s_ad.written.marks import kept, unsupported


def gauss(n) -> Any:
    """Nodes and weights on the interval from -1 to 1, known when code is generated."""
    return np.polynomial.legendre.leggauss(n)


gauss.__s2s_static__ = True


def fixed_quad(func, a, b, args=(), n=5) -> Any:
    """Gauss's nodes and weights, which integrate polynomials up to degree 2 * n - 1."""
    nodes, weights = gauss(n)
    if np.ndim(a) != 0 or np.ndim(b) != 0:
        unsupported("fixed_quad between arrays", "use vmap")
    x = (b - a) * (nodes + 1.0) / 2.0 + a
    return (b - a) / 2.0 * np.sum(weights * func(x, *args), axis=-1), None


def romb(y, dx=1.0, axis=-1, show=False) -> Any:
    """Richardson's extrapolation of the trapezoidal rule, for 2**k + 1 samples."""
    y = np.moveaxis(np.asarray(y) * np.float64(1.0), axis, -1)
    count = y.shape[-1] - 1
    if count < 1 or count & (count - 1) != 0:
        raise ValueError("Number of samples must be one plus a non-negative power of 2.")
    return _extrapolated(y, dx, count)


@kept
def _extrapolated(y, dx, count):
    """The trapezoidal rule of each step, the widest first, and what they tend to."""
    step, row = count, []
    while step >= 1:
        ends = (y[..., 0] + y[..., -1]) / 2.0
        total = ends + np.sum(y[..., step:-1:step], axis=-1)
        new = [dx * step * total]
        for k, before in enumerate(row):
            factor = 4.0 ** (k + 1)
            new.append((factor * new[k] - before) / (factor - 1.0))
        row, step = new, step // 2
    return row[-1]


def simpson(y, x=None, *, dx=1.0, axis=-1) -> Any:
    """Parabolas through three samples each; of an odd number of intervals the last one has the
    correction of Cartwright (Simpson's rule cumulative integration, equation 8)."""
    y = np.moveaxis(np.asarray(y), axis, -1)
    if x is None:
        return _of_even_steps(y, dx)
    x = np.asarray(x)
    if not simpson_is_double():
        dtype = np.result_type(x, y, 1.0)
        x, y = x.astype(dtype), y.astype(dtype)
    return _of_any_steps(y, np.diff(x if x.ndim == 1 else np.moveaxis(x, axis, -1)))


@kept
def _of_even_steps(y, dx):
    count = y.shape[-1]
    if count % 2 == 1:
        return dx / 3.0 * np.sum(y[..., :-1:2] + 4.0 * y[..., 1::2] + y[..., 2::2], axis=-1)
    if count == 2:
        return 0.5 * dx * (y[..., 0] + y[..., 1])
    whole = dx / 3.0 * np.sum(y[..., :-2:2] + 4.0 * y[..., 1:-1:2] + y[..., 2::2], axis=-1)
    weight = np.float64(dx / 12.0) if simpson_is_double() else dx / 12.0
    return whole + weight * (5.0 * y[..., -1] + 8.0 * y[..., -2] - y[..., -3])


@kept
def _of_any_steps(y, h):
    count = y.shape[-1]
    if count % 2 == 1:
        return _parabolas(y, _steps(h))
    if count == 2:
        return 0.5 * h[..., 0] * (y[..., 0] + y[..., 1])
    h = _steps(h)
    a, b = h[..., -2], h[..., -1]
    last = (2.0 * b**2 + 3.0 * a * b) / (6.0 * (a + b)) * y[..., -1]
    last = last + (b**2 + 3.0 * a * b) / (6.0 * a) * y[..., -2]
    return _parabolas(y[..., :-1], h[..., :-1]) + last - b**3 / (6.0 * a * (a + b)) * y[..., -3]


def _steps(h):
    return h.astype(np.float64) if simpson_is_double() else h


def _parabolas(y, h):
    """The integral of parabolas over two steps each."""
    a, b = h[..., :-1:2], h[..., 1::2]
    first = (2.0 - b / a) * y[..., :-1:2]
    middle = (a + b) ** 2 / (a * b) * y[..., 1::2]
    return np.sum((a + b) / 6.0 * (first + middle + (2.0 - a / b) * y[..., 2::2]), axis=-1)
