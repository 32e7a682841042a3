"""Differences of neighbours: np.diff, np.ediff1d, np.gradient, and the trapezoids between them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s_ad.core import sizes, values
from s2s_ad.core.builder import Symbol, static
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite


def _diff(x: Symbol, n: Any, axis: Any, prepend: Any, append: Any) -> Any:
    """Differences of neighbours, n times over."""
    rank = support.known_rank(x, "np.diff")
    n, axis = static((n, axis), "n and axis of np.diff")
    if n < 0:
        raise ArgumentValueError("S2S203", f"np.diff with n={n}", origin=x.builder.origin)
    axis = support.normal_axis(axis, rank)
    if n == 0:
        return x
    ends = [_end(x, prepend, axis), x, _end(x, append, axis)]
    if any(each is not None for each in (prepend, append)):
        x = np.concatenate([each for each in ends if each is not None], axis=axis)
    change = operator.ne if values.is_dtype(x.dtype, bool) else operator.sub
    x = change(*(_beside_an_end(ends, axis) or neighbours(x, axis)))
    for _ in range(n - 1):
        x = change(*neighbours(x, axis))
    return x


def _beside_an_end(ends: list, axis: int) -> tuple | None:
    """(all elements but the first, all but the last) of an array with one slice put before or after
    it: one of the two is the array itself. None elsewhere."""
    before, x, after = ends
    end = after if before is None else before
    if (before is None) == (after is None) or values.missing([x.shape, end.shape]):
        return None
    alike = values.is_dtype(x.dtype, end.dtype) and end.shape[axis] == 1
    if not alike or not sizes.at_least(values.size_of_dim(x.shape[axis]), sizes.of(1)):
        return None
    rest, but_last = neighbours(x, axis)
    if before is None:
        return np.concatenate([rest, after], axis=axis), x
    return x, np.concatenate([before, but_last], axis=axis)


def _end(x: Symbol, value: Any, axis: int) -> Any:
    """What np.diff puts before or after x: a number is one slice."""
    if value is None:
        return None
    value = support.as_operand(x.builder, value)
    if support.known_rank(value, "np.diff"):
        return value
    sizes = [1 if i == axis else n for i, n in enumerate(support.lengths(x, range(x.ndim)))]
    return x.builder.call(np.full, (tuple(sizes), value), {})


def neighbours(x: Symbol, axis: int) -> tuple:
    """(all elements but the first, all but the last)."""
    return x[support.at(axis, slice(1, None))], x[support.at(axis, slice(None, -1))]


def _ediff1d(x: Any, to_end: Any, to_begin: Any) -> Any:
    parts = [to_begin, np.diff(np.ravel(x)), to_end]
    parts = [_as_vector(x, each) for each in parts if each is not None]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _as_vector(x: Symbol, value: Any) -> Any:
    """An end of np.ediff1d, in the type of x."""
    value = support.as_operand(x.builder, value)
    if not support.known_rank(value, "np.ediff1d"):
        return x.builder.call(np.full, (1, value), {"dtype": x.dtype})
    return support.cast(x.builder, np.ravel(value), x)


# ---- np.gradient ---------------------------------------------------------------------------------


def _gradient(x: Symbol, varargs: tuple, axis: Any, edge_order: Any) -> Any:
    """Second order central differences inside, one-sided differences at the ends."""
    rank = support.known_rank(x, "np.gradient")
    axes = support.normal_axes(static(axis, "axis of np.gradient"), rank)
    order = static(edge_order, "edge_order of np.gradient")
    if order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    spacings = list(varargs) * len(axes) if len(varargs) == 1 else list(varargs)
    spacings = spacings or [1.0] * len(axes)
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    x = x if values.is_inexact(x.fact) else x.astype(float)
    parts = [
        _gradient_along(x, support.as_operand(x.builder, h), each, order)
        for h, each in zip(spacings, axes, strict=True)
    ]
    return (
        parts[0]
        if axis is not None and not isinstance(axis, tuple)
        else (parts[0] if len(parts) == 1 else tuple(parts))
    )


def _gradient_along(x: Symbol, h: Any, axis: int, order: int) -> Any:
    if sizes.positive(values.size_of_dim(x.shape[axis]) - order) is False:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, "
            "at least (edge_order + 1) elements are required."
        )

    def part(start: Any, stop: Any) -> Any:
        return x[support.at(axis, slice(start, stop))]

    if support.known_rank(h, "np.gradient"):
        what = "when 1d, distances must match the length of the corresponding dimension"
        values.check_fit(h.shape[0], x.shape[axis], what)
        h = h[1:] - h[:-1]
        after = (slice(None), *(None,) * (x.ndim - 1 - axis))
        before, later = (each[after] if x.ndim > axis + 1 else each for each in (h[:-1], h[1:]))
        inner = _uneven(part, before, later)
        ends = [h[0], h[1] if order == 2 else None], [h[-1], h[-2] if order == 2 else None]
    else:
        inner = (part(2, None) - part(None, -2)) / (2.0 * h)
        ends = [h, h], [h, h]
    slopes = part(1, 2) - part(0, 1), part(-1, None) - part(-2, -1)
    if order == 1:
        first, last = (
            slope if type(h) is float and h == 1 else slope / h
            for slope, (h, _) in zip(slopes, ends, strict=True)
        )
    else:
        first = _second_order_end((part(0, 1), part(1, 2), part(2, 3)), *ends[0])
        last = -_second_order_end((part(-1, None), part(-2, -1), part(-3, -2)), *ends[1])
    return np.concatenate([first, inner, last], axis=axis)


def _uneven(part: Any, before: Any, after: Any) -> Any:
    """The slope of the parabola through three neighbours, at the one in the middle."""
    both = before + after
    left = part(None, -2) * (-after / (before * both))
    middle = part(1, -1) * ((after - before) / (before * after))
    return left + middle + part(2, None) * (before / (after * both))


def _second_order_end(points: tuple, near: Any, far: Any) -> Any:
    """The slope of the parabola through the first three points, at the first of them."""
    both = near + far
    first = points[0] * (-(2.0 * near + far) / (near * both))
    return first + points[1] * (both / (near * far)) - points[2] * (near / (far * both))


def _trapezoid(x: Any, points: Any, dx: Any, axis: Any) -> Any:
    """The sum of the means of neighbours, each times the distance of the two."""
    rank = support.known_rank(x, "np.trapezoid")
    axis = support.normal_axis(static(axis, "axis of np.trapezoid"), rank)
    after, before = neighbours(x, axis)
    if points is None:
        return np.sum((after + before) * (dx / 2.0), axis=axis)
    points = support.as_operand(x.builder, points)
    if support.known_rank(points, "np.trapezoid") == 1:
        d = np.diff(points)
        d = d[(slice(None), *(None,) * (rank - 1 - axis))] if rank > axis + 1 else d
    else:
        d = np.diff(points, axis=axis)
    return np.sum(d * (after + before) / 2.0, axis=axis)


composite(np.diff, "x, n=1, axis=-1, prepend=None, append=None", _diff)
composite(np.ediff1d, "x, to_end=None, to_begin=None", _ediff1d)
composite(np.gradient, "x, *varargs, axis=None, edge_order=1", _gradient)
composite(
    np.trapezoid, "y, x=None, dx=1.0, axis=-1", lambda y, x, dx, axis: _trapezoid(y, x, dx, axis)
)
