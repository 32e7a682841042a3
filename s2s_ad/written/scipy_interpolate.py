"""scipy.interpolate: piecewise polynomials through points, and their values on grids.

At a point the slope is that of the piece behind it, at the last point of the piece before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from s2s_ad.written.marks import kept, unsupported


def piece(x, q) -> Any:
    """The number of the piece that each of q is in."""
    return np.clip(np.searchsorted(x, q, side="right") - 1, 0, len(x) - 2)


def increasing(x) -> Any:
    if np.any(np.diff(x) <= 0):
        raise ValueError("`x` must be strictly increasing sequence.")
    return x


def real(q) -> Any:
    if q.dtype.kind == "c":
        unsupported("interpolation at complex points")
    return q


def beyond(x, q) -> Any:
    """Where q is not between the first and the last point."""
    return (q < x[0]) | (q > x[-1])


def like_rows(x, y) -> Any:
    """Numbers, one for each row of y, so that they broadcast with it."""
    return np.reshape(x, (-1,) + (1,) * (y.ndim - 1))


def spread(numbers, y) -> Any:
    """Numbers, one for each row that is taken of y, so that they broadcast with these."""
    if y.ndim == 1:
        return numbers
    return np.reshape(numbers, np.shape(numbers) + (1,) * (y.ndim - 1))


def in_place(result, q, axis) -> Any:
    """The result with the axes of q where y has its axis of points."""
    if axis == 0 or q.ndim == 0:
        return result
    if q.ndim == 1:
        return np.moveaxis(result, 0, axis)
    if q.ndim > 2:
        unsupported("interpolation along another axis than the first at an array of rank 3")
    return np.moveaxis(result, (0, 1), (axis, axis + 1))


class Hermite:
    """The cubic pieces with given values and slopes at the points."""

    def __call__(self, x, nu=0, extrapolate=None):
        q, y, s = real(np.asarray(x)), self.y, self.slopes
        i = piece(self.x, q)
        h, t = spread(np.diff(self.x)[i], y), spread(q - self.x[i], y)
        mean = (y[i + 1] - y[i]) / h
        bend = (s[i] + s[i + 1] - 2.0 * mean) / h
        c2, c3 = (mean - s[i]) / h - bend, bend / h
        if nu == 0:
            result = y[i] + t * (s[i] + t * (c2 + t * c3))
        elif nu == 1:
            result = s[i] + t * (2.0 * c2 + 3.0 * t * c3)
        elif nu == 2:
            result = 2.0 * c2 + 6.0 * t * c3
        elif nu == 3:
            result = 6.0 * c3
        else:
            unsupported("a derivative of a spline beyond the third")
        goes_on = self.extrapolate if extrapolate is None else extrapolate
        if not goes_on:
            inside = (self.x[0] <= q) & (q <= self.x[-1])
            result = np.where(spread(inside, y), result, np.nan)
        elif goes_on is not True:
            unsupported(f"extrapolate={goes_on!r}")
        return in_place(result, q, self.axis)


class CubicSpline(Hermite):
    """Twice continuously differentiable: the slopes solve a tridiagonal system (de Boor, A
    Practical Guide to Splines, chapter IV)."""

    def __init__(self, x, y, axis=0, bc_type="not-a-knot", extrapolate=True):
        self.x, self.y = increasing(np.asarray(x)), np.moveaxis(np.asarray(y), axis, 0)
        self.axis = axis % self.y.ndim
        self.extrapolate = True if extrapolate is None else extrapolate
        self.slopes = slopes_of_spline(self.x, self.y, bc_type)


def slopes_of_spline(x, y, bc_type) -> Any:
    """The slopes at the points of the spline through them."""
    first, last = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    for kind in (first, last):
        if isinstance(kind, str) and kind not in ("not-a-knot", "natural", "clamped"):
            unsupported(f"a spline with bc_type={kind!r}", "use 'natural' or 'not-a-knot'")
    free = isinstance(first, str) and first == "not-a-knot"
    free = free and isinstance(last, str) and last == "not-a-knot"
    if free and len(x) < 4:
        return slopes_of_parabola(x, y)
    return slopes_between(x, y, first, last)


@kept
def slopes_of_parabola(x, y) -> Any:
    """The slopes of the one polynomial through two or three points."""
    mean = np.diff(y, axis=0) / like_rows(np.diff(x), y)
    if len(x) == 2:
        return np.concatenate([mean, mean])
    bend = (mean[1] - mean[0]) / (x[2] - x[0])
    step = bend * (x[1] - x[0])
    return np.stack([mean[0] - step, mean[0] + step, mean[1] + bend * (x[2] - x[1])])


@kept
def slopes_between(x, y, first, last) -> Any:
    """The slopes that solve the tridiagonal system, whose first and last row are of the ends."""
    h, n = np.diff(x), len(x)
    wide = like_rows(h, y)
    mean = np.diff(y, axis=0) / wide
    upper, diagonal, lower = np.zeros(n), np.zeros(n), np.zeros(n)
    upper[2:], lower[:-2] = h[:-1], h[1:]
    diagonal[1:-1] = 2.0 * (h[:-1] + h[1:])
    right = np.zeros_like(y)
    right[1:-1] = 3.0 * (wide[1:] * mean[:-1] + wide[:-1] * mean[1:])
    diagonal[0], upper[1], right[0] = end_of_spline(first, h[0], h[1], mean[0], mean[1], 1.0)
    ends = end_of_spline(last, h[-1], h[-2], mean[-1], mean[-2], -1.0)
    diagonal[-1], lower[-2], right[-1] = ends
    bands = np.stack([upper, diagonal, lower])
    if y.ndim == 1:
        return scipy.linalg.solve_banded((1, 1), bands, right)
    return np.reshape(scipy.linalg.solve_banded((1, 1), bands, np.reshape(right, (n, -1))), y.shape)


def end_of_spline(kind, h, next_h, mean, next_mean, sign) -> Any:
    """The equation of an end's slope: its factor, that of the next, and the right-hand side."""
    if isinstance(kind, str) and kind == "not-a-knot":
        both = h + next_h
        return next_h, both, ((h + 2.0 * both) * next_h * mean + h**2 * next_mean) / both
    if isinstance(kind, str):
        kind = (1, 0.0) if kind == "clamped" else (2, 0.0)
    order, value = kind
    if order == 1:
        return 1.0, 0.0, value
    if order != 2:
        unsupported("a spline with a derivative of this order at its end", "give order 1 or 2")
    return 2.0, 1.0, 3.0 * mean - sign * 0.5 * value * h


class PchipInterpolator(Hermite):
    """Monotone where the values are: the slopes are weighted harmonic means (Fritsch and Butland,
    SIAM J. Sci. Stat. Comput. 5 (1984)); where these change their sign they are zero."""

    def __init__(self, x, y, axis=0, extrapolate=None):
        self.x, self.y = increasing(np.asarray(x)), np.moveaxis(np.asarray(y), axis, 0)
        self.axis = axis % self.y.ndim
        self.extrapolate = True if extrapolate is None else extrapolate
        self.slopes = slopes_of_pchip(self.x, self.y)


@kept
def slopes_of_pchip(x, y) -> Any:
    """The slopes at the points that keep the shape."""
    h = like_rows(np.diff(x), y)
    mean = np.diff(y, axis=0) / h
    if len(x) == 2:
        return np.concatenate([mean, mean])
    first, last = end_of_pchip(h, mean), end_of_pchip(h[::-1], mean[::-1])
    return np.concatenate([first[None], harmonic(h, mean), last[None]])


def harmonic(h, mean) -> Any:
    """The slopes between the pieces."""
    before, after = mean[:-1], mean[1:]
    alike = before * after > 0.0
    w1, w2 = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    before, after = np.where(alike, before, 1.0), np.where(alike, after, 1.0)
    return np.where(alike, (w1 + w2) / (w1 / before + w2 / after), 0.0)


def end_of_pchip(h, mean) -> Any:
    """The slope at the first point: of the parabola through three, no steeper than the shape."""
    slope = ((2.0 * h[0] + h[1]) * mean[0] - h[0] * mean[1]) / (h[0] + h[1])
    steep = (np.sign(mean[0]) != np.sign(mean[1])) & (abs(slope) > 3.0 * abs(mean[0]))
    slope = np.where(steep, 3.0 * mean[0], slope)
    return np.where(np.sign(slope) == np.sign(mean[0]), slope, 0.0)


def lines(x, y, q, axis) -> Any:
    """Straight lines from point to point."""
    i = piece(x, q)
    t = spread((q - x[i]) / np.diff(x)[i], y)
    return in_place(y[i] + t * (y[i + 1] - y[i]), q, axis)


class interp1d(Hermite):
    """Straight lines, steps or a cubic spline; beyond the points an error, a value, or what is
    last."""

    def __init__(
        self,
        x,
        y,
        kind="linear",
        axis=-1,
        copy=True,
        bounds_error=None,
        fill_value="nan",
        assume_sorted=False,
    ):
        if kind not in ("linear", "slinear", "cubic", "nearest", "previous", "next"):
            unsupported(f"interp1d with kind={kind!r}", "use make_interp_spline")
        self.kind, self.extrapolate = kind, True
        x, y = real(np.asarray(x)), np.asarray(y)
        if not assume_sorted:
            order = np.argsort(x)
            x, y = x[order], np.take(y, order, axis=axis)
        self.axis = axis % y.ndim
        self.x, self.y, self.fill_value = x, np.moveaxis(y, self.axis, 0), fill_value
        self.slopes = slopes_of_spline(self.x, self.y, "not-a-knot") if kind == "cubic" else 0.0
        default = isinstance(fill_value, str) and fill_value == "nan"
        if default:
            self.fill_value = np.nan
        self.bounds_error = default if bounds_error is None else bounds_error

    def __call__(self, x):
        q = np.asarray(x)
        if self.y.dtype.kind != "c":  # else SciPy takes complex points, by their real parts
            q = real(q)
        if isinstance(self.fill_value, str) and self.fill_value == "extrapolate":
            return self.within(q)
        below, above = q < self.x[0], q > self.x[-1]
        if self.bounds_error:
            if np.any(below):
                raise ValueError("A value in x_new is below the interpolation range.")
            if np.any(above):
                raise ValueError("A value in x_new is above the interpolation range.")
            return self.within(q)
        if self.y.ndim > 1:
            unsupported("interp1d of several rows with fill_value=", "use np.where")
        pair = self.fill_value if isinstance(self.fill_value, tuple) else (self.fill_value,) * 2
        result = self.within(q)
        return np.where(below, pair[0], np.where(above, pair[1], result))

    def within(self, q) -> Any:
        """The value of the piece in which q is."""
        if self.kind == "cubic":
            return Hermite.__call__(self, q)
        if self.kind in ("linear", "slinear"):
            return lines(self.x, self.y, q, self.axis)
        if self.kind == "nearest":  # of two alike the lower one
            found = np.searchsorted((self.x[1:] + self.x[:-1]) / 2.0, q, "left")
        elif self.kind == "previous":
            found = np.searchsorted(self.x, q, "right") - 1
        else:
            found = np.searchsorted(self.x, q, "left")
        found = np.clip(found, 0, len(self.x) - 1)
        return in_place(self.y[found], q, self.axis)


class make_interp_spline(Hermite):
    """The spline through the points, of degree 3 or 1."""

    def __init__(self, x, y, k=3, t=None, bc_type=None, axis=0, check_finite=True):
        if k not in (1, 3) or t is not None or (k == 1 and bc_type is not None):
            unsupported("make_interp_spline with k= other than 1 and 3, or with t=")
        self.x, self.y = increasing(np.asarray(x)), np.moveaxis(np.asarray(y), axis, 0)
        self.axis, self.k, self.extrapolate = axis % self.y.ndim, k, True
        self.slopes = 0.0
        if k == 3:
            ends = "not-a-knot" if bc_type is None else bc_type
            self.slopes = slopes_of_spline(self.x, self.y, ends)

    def __call__(self, x, nu=0, extrapolate=None):
        if self.k == 3:
            return Hermite.__call__(self, x, nu, extrapolate)
        if nu != 0 or extrapolate is not None:
            unsupported("a derivative of a spline of degree 1", "use np.diff(y) / np.diff(x)")
        return lines(self.x, self.y, np.asarray(x), self.axis)


class RegularGridInterpolator:
    """Products of straight lines along the axes of a grid."""

    def __init__(self, points, values, method="linear", bounds_error=True, fill_value=np.nan):
        if method != "linear":
            unsupported("RegularGridInterpolator with a method other than linear")
        self.values = np.asarray(values)
        self.points = checked(points, self.values.shape)
        self.bounds_error, self.fill_value = bounds_error, fill_value

    def __call__(self, xi):
        if not isinstance(xi, tuple):
            rows, xi = real(np.asarray(xi)), ()
            for axis, _ in enumerate(self.points):
                xi = (*xi, rows[..., axis])
        if self.bounds_error:
            for x, q in zip(self.points, xi, strict=True):
                if not np.all((x[0] <= q) & (q <= x[-1])):  # nan is not
                    raise ValueError("One of the requested xi is out of bounds")
            return self._inside(xi)
        outside = beyond(self.points[0], xi[0])
        for x, q in zip(self.points[1:], xi[1:], strict=True):
            outside = outside | beyond(x, q)
        if self.fill_value is None:
            return self._inside(xi)
        trailing = (1,) * (self.values.ndim - len(self.points))
        outside = np.reshape(outside, np.shape(outside) + trailing)
        return np.where(outside, self.fill_value, self._inside(xi))

    def _inside(self, places):
        """The mean of the corners of the cell, one axis after the other."""
        return mean_of_corners(self.values, self.points, places, ())


def checked(points, lengths) -> Any:
    """The points along each axis, as many as there are values."""
    if len(points) == 0:
        return ()
    x = increasing(np.asarray(points[0]))
    if len(x) != lengths[0]:
        raise ValueError("There are other numbers of points and values along an axis")
    return (x, *checked(points[1:], lengths[1:]))


def mean_of_corners(values, points, places, index) -> Any:
    """The mean of the corners on the two sides along each axis that is left."""
    if len(points) == 0:
        return values[index]
    x, q = points[0], places[0]
    i = piece(x, q)
    share = (q - x[i]) / np.diff(x)[i]
    low = mean_of_corners(values, points[1:], places[1:], (*index, i))
    high = mean_of_corners(values, points[1:], places[1:], (*index, i + 1))
    trailing = low.ndim - share.ndim
    if trailing:
        share = np.reshape(share, share.shape + (1,) * trailing)
    return low + share * (high - low)


def interpn(points, values, xi, method="linear", bounds_error=True, fill_value=np.nan) -> Any:
    return RegularGridInterpolator(points, values, method, bounds_error, fill_value)(xi)


# ---- splines of knots and coefficients -----------------------------------------------------------


def splev(x, tck, der=0, ext=0) -> Any:
    """A spline at x, or a derivative of it; beyond its ends the polynomials there go on."""
    if ext != 0:
        unsupported(f"splev with ext={ext}", "Use ext=0, and np.where for what is outside.")
    t, c, k = tck
    t, c = np.asarray(t), np.asarray(c)
    if c.ndim != 1:
        unsupported("splev of a curve", "Call it for each of its coordinates.")
    t, c, k = slopes(t, c[: len(t) - k - 1], k, der)
    return np.asarray(by_de_boor(t, c, k, np.asarray(x)))


def bisplev(x, y, tck, dx=0, dy=0) -> Any:
    """A surface of splines on the grid of x and y, which are moved to its border."""
    tx, ty, c, kx, ky = tck
    tx, ty = np.asarray(tx), np.asarray(ty)
    c = np.asarray(c).reshape(len(tx) - kx - 1, len(ty) - ky - 1)
    x = np.clip(np.atleast_1d(x), tx[kx], tx[len(tx) - kx - 1])
    y = np.clip(np.atleast_1d(y), ty[ky], ty[len(ty) - ky - 1])
    tx, c, kx = slopes(tx, c, kx, dx)
    ty, c, ky = slopes(ty, by_de_boor(tx, c, kx, x).T, ky, dy)
    z = by_de_boor(ty, c, ky, y).T
    if len(x) > 1:
        return z
    return z[0] if len(y) > 1 else z[0, 0]


def slopes(t, c, k, order) -> tuple:
    """The knots, coefficients and degree of a derivative of splines."""
    for _ in range(order):
        width = t[k + 1 : -1] - t[1 : -k - 1]
        c = k * ((c[1:] - c[:-1]).T / width).T
        t, k = t[1:-1], k - 1
    return t, c, k


def by_de_boor(t, c, k, x) -> Any:
    """Splines at each x: their coefficients are along the first axis."""
    place = np.clip(np.searchsorted(t, x, side="right") - 1, k, len(t) - k - 2)
    found = [c[place - k + j] for j in range(k + 1)]
    for level in range(1, k + 1):
        for j in range(k, level - 1, -1):
            left, right = t[place - k + j], t[place + 1 + j - level]
            share = (x - left) / (right - left)
            share = share if c.ndim == 1 else share[:, None]
            found[j] = (1 - share) * found[j - 1] + share * found[j]
    return found[k]
