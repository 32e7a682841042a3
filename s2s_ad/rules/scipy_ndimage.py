"""scipy.ndimage: filters, written as padding and sums over sliding windows."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import ndimage

from s2s_ad.core.builder import Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import (
    scipy_morphology,  # noqa: F401  (registers its rows)
    support,
)
from s2s_ad.rules.composite import composite
from s2s_ad.rules.scipy_filters import Fixed, Weighted
from s2s_ad.rules.scipy_windows import (
    EDGES,
    WINDOW,
    axes_of,
    box_of,
    checked_rank,
    like,
    padded,
    windows_of,
    with_all_axes,
)
from s2s_ad.rules.shape_checks import check_rank


def _correlate_along(x: Symbol, weights: Any, axis: int, mode: Any, cval: Any, shift: int) -> Any:
    """Sums of windows along an axis; a window of even length reaches further to one side."""
    size = support.length(weights, 0)
    before = (size - 1) // 2 if shift else size // 2
    widths = [(0, 0)] * x.ndim
    widths[axis] = (before, size - 1 - before)
    return sliding_window_view(padded(x, widths, mode, cval), size, axis) @ weights


def _weights1d(x: Any, weights: Any) -> Any:
    weights = support.as_operand(x.builder, weights)
    check_rank(weights, 1, "no filter weights given")
    return weights


def _along(x: Symbol, axis: Any) -> int:
    return support.normal_axis(static(axis, "axis"), support.known_rank(x, "a filter"))


def _convolve1d(input: Any, weights: Any, axis: Any, mode: Any, cval: Any, origin: Any) -> Any:
    checked_rank(input, origin)
    weights = _weights1d(input, weights)[::-1]
    return like(_correlate_along(input, weights, _along(input, axis), mode, cval, 1), input)


def _correlate1d(input: Any, weights: Any, axis: Any, mode: Any, cval: Any, origin: Any) -> Any:
    checked_rank(input, origin)
    weights = support.conj(_weights1d(input, weights))  # as SciPy does
    return like(_correlate_along(input, weights, _along(input, axis), mode, cval, 0), input)


def _correlate(
    input: Any, weights: Any, mode: Any, cval: Any, origin: Any, axes: Any, shift: int = 0
) -> Any:
    rank, weights = checked_rank(input, origin), support.as_operand(input.builder, weights)
    along = axes_of(rank, axes)
    check_rank(weights, len(along), "filter weights array has incorrect shape.")
    weights = with_all_axes(weights, along, rank)
    weights = weights if shift else support.conj(weights)  # as SciPy does
    sizes = list(support.lengths(weights, range(rank)))
    return like(np.tensordot(windows_of(input, sizes, mode, cval, shift), weights, rank), input)


def _convolve(input: Any, weights: Any, mode: Any, cval: Any, origin: Any, axes: Any) -> Any:
    weights = np.flip(support.as_operand(input.builder, weights))
    return _correlate(input, weights, mode, cval, origin, axes, shift=1)


def _gaussian(sigma: float, truncate: float, order: int) -> np.ndarray:
    """The weights of a Gaussian filter, or of a derivative of it, as SciPy has them."""
    radius = int(truncate * sigma + 0.5)
    impulse = np.zeros(2 * radius + 1)
    impulse[radius] = 1.0
    return ndimage.gaussian_filter1d(
        impulse, sigma, order=order, truncate=truncate, mode="constant"
    )


def _gaussian1d(
    input: Any, sigma: Any, axis: Any, order: Any, mode: Any, cval: Any, truncate: Any
) -> Any:
    sigma, truncate, order = static((sigma, truncate, order), "sigma, truncate and order")
    numbers = _gaussian(sigma, truncate, order)[::-1].tolist()
    weights = input.builder.call(np.array, (numbers,), {})
    weights = support.cast(input.builder, weights, np.real(input))
    return _correlate_along(input, weights, _along(input, axis), mode, cval, 0)


def _gaussian_filter(
    input: Any, sigma: Any, order: Any, mode: Any, cval: Any, truncate: Any, axes: Any
) -> Any:
    rank = support.known_rank(input, "gaussian_filter")
    sigma, order, mode = static((sigma, order, mode), "sigma, order and mode")
    for index, axis in enumerate(axes_of(rank, axes)):
        given = [
            each[index] if isinstance(each, tuple | list) else each for each in (sigma, order, mode)
        ]
        input = _gaussian1d(input, given[0], axis, given[1], given[2], cval, truncate)
    return input


def _of_windows(statistic: Callable) -> Callable:
    """A filter that takes a statistic of the window around each element."""

    def meaning(input: Any, size: Any, mode: Any, cval: Any, origin: Any, axes: Any) -> Any:
        rank, size = checked_rank(input, origin), static(size, "size")
        sizes = box_of(size, axes_of(rank, axes), rank)
        return statistic(windows_of(input, sizes, mode, cval), axis=tuple(range(rank, 2 * rank)))

    return meaning


def _of_size(function: Callable, filtered: Callable) -> Callable:
    """A filter of windows; other shapes of these than boxes are refused."""

    def meaning(input: Any, size: Any, footprint: Any, output: Any, **options: Any) -> Any:
        builder = input.builder
        support.refuse_given(builder, function, footprint=footprint, output=output)
        if size is None:
            raise UnsupportedError("S2S203", "a filter without size=", origin=builder.origin)
        return filtered(input, size, **options)

    return meaning


def _of_axis(function: Callable, statistic: Callable) -> Callable:
    """A statistic of windows along one axis."""
    windows = _of_windows(statistic)

    def meaning(input: Any, size: Any, axis: Any, output: Any = None, **options: Any) -> Any:
        support.refuse_given(input.builder, function, output=output)
        return windows(input, size, axes=(_along(input, axis),), **options)

    return meaning


def _ranked(windows: Any, axis: tuple, place: Callable[[int], int]) -> Any:
    """The element of the window that has a place among them, in their order."""
    rank = windows.ndim - len(axis)
    flat = np.reshape(windows, (*support.lengths(windows, range(rank)), -1))
    count = static(support.length(flat, -1), "the number of elements of a window")
    return np.sort(flat, axis=-1)[..., place(count)]


def _rank_filter(input: Any, rank: Any, **options: Any) -> Any:
    def place(count: int) -> int:
        found = static(rank, "rank")
        if not -count <= found < count:
            raise ValueError("rank not within filter footprint size")
        return found

    statistic = functools.partial(_ranked, place=place)
    return _of_size(ndimage.rank_filter, _of_windows(statistic))(input, **options)


def _percentile_filter(input: Any, percentile: Any, **options: Any) -> Any:
    def place(count: int) -> int:
        found = static(percentile, "percentile")
        found = found + 100.0 if found < 0 else found
        if not 0 <= found <= 100:
            raise ValueError("invalid percentile")
        return count - 1 if found == 100 else int(float(count) * found / 100.0)

    statistic = functools.partial(_ranked, place=place)
    return _of_size(ndimage.percentile_filter, _of_windows(statistic))(input, **options)


def _median(windows: Any, axis: tuple) -> Any:
    """The element in the middle; of an even number the upper one."""
    rank = windows.ndim - len(axis)
    flat = np.reshape(windows, (*support.lengths(windows, range(rank)), -1))
    return np.sort(flat, axis=-1)[..., support.length(flat, -1) // 2]


def _gaussian_steps(
    axes: tuple, sigma: Any, order: Any, mode: Any, truncate: float, **_: Any
) -> Iterator[tuple]:
    """The weights along each of the axes."""
    given = [
        each if isinstance(each, tuple | list) else [each] * len(axes)
        for each in (sigma, order, mode)
    ]
    for axis, deviation, derivative, edge in zip(axes, *given, strict=True):
        yield axis, _gaussian(deviation, truncate, derivative)[::-1], edge


def _uniform_steps(axes: tuple, size: Any, mode: Any, **_: Any) -> Iterator[tuple]:
    sizes = size if isinstance(size, tuple | list) else [size] * len(axes)
    for axis, n in zip(axes, sizes, strict=True):
        yield axis, np.full(n, 1 / n), mode


def _edge_filter(function: Callable, smooth: list[float]) -> Callable:
    """Differences along one axis, smoothed along the others."""

    def meaning(input: Any, axis: Any, output: Any, mode: Any, cval: Any) -> Any:
        support.refuse_given(input.builder, function, output=output)
        rank, along = support.known_rank(input, function.__name__), _along(input, axis)
        modes = _each(static(mode, "mode"), rank)
        for index in (along, *(each for each in range(rank) if each != along)):
            weights = [-1, 0, 1] if index == along else smooth
            input = _weighted(input, weights, index, modes[index], cval)
        return input

    return meaning


def _each(given: Any, count: int) -> list:
    """What is said of each axis."""
    return list(given) if isinstance(given, tuple | list) else [given] * count


def _weighted(x: Any, weights: list, axis: int, mode: str, cval: Any) -> Any:
    kernel = x.builder.call(np.array, ([float(each) for each in weights],), {})
    options = {"axis": axis, "mode": mode, "cval": cval}
    return x.builder.call(ndimage.correlate1d, (x, kernel), options)


def _laplace(input: Any, output: Any, mode: Any, cval: Any, axes: Any) -> Any:
    """The sum of the second differences along the axes."""
    support.refuse_given(input.builder, ndimage.laplace, output=output)
    along = axes_of(support.known_rank(input, "laplace"), axes)
    modes = _each(static(mode, "mode"), len(along))
    parts = (_weighted(input, [1, -2, 1], *each, cval) for each in zip(along, modes, strict=True))
    return functools.reduce(operator.add, parts) if along else np.copy(input)


def _gaussians(function: Callable, derivative: int, square: bool) -> Callable:
    """A sum, over the axes, of derivatives of the smoothed input, or of their squares."""

    def meaning(
        input: Any, sigma: Any, output: Any, mode: Any, cval: Any, axes: Any, truncate: Any
    ) -> Any:
        builder = input.builder
        support.refuse_given(builder, function, output=output)
        along = axes_of(support.known_rank(input, function.__name__), axes)
        options = {"mode": mode, "cval": cval, "truncate": truncate, "axes": along}
        if not along:  # SciPy gives the input back
            return np.copy(input)
        parts = []
        for index in range(len(along)):
            order = [derivative if each == index else 0 for each in range(len(along))]
            given = options | {"order": order}
            parts.append(builder.call(ndimage.gaussian_filter, (input, sigma), given))
        total = functools.reduce(operator.add, (each**2 if square else each for each in parts))
        return np.sqrt(total) if square else total

    return meaning


GAUSSIAN = "order=0, output=None, mode='reflect', cval=0.0, truncate=4.0"
register(Weighted(ndimage.convolve, f"input, weights, {EDGES}, *, axes=None", _convolve, True))
register(Weighted(ndimage.convolve1d, f"input, weights, axis=-1, {EDGES}", _convolve1d, True))
register(Weighted(ndimage.correlate, f"input, weights, {EDGES}, *, axes=None", _correlate, False))
register(Weighted(ndimage.correlate1d, f"input, weights, axis=-1, {EDGES}", _correlate1d, False))
register(
    Fixed(
        ndimage.gaussian_filter,
        f"input, sigma, {GAUSSIAN}, *, axes=None",
        _gaussian_filter,
        _gaussian_steps,
    )
)
register(
    Fixed(
        ndimage.gaussian_filter1d,
        f"input, sigma, axis=-1, {GAUSSIAN}",
        _gaussian1d,
        _gaussian_steps,
    )
)
register(
    Fixed(
        ndimage.uniform_filter,
        f"input, size=3, {EDGES}, *, axes=None",
        _of_windows(np.mean),
        _uniform_steps,
    )
)
composite(ndimage.median_filter, WINDOW, _of_size(ndimage.median_filter, _of_windows(_median)))
for _filter, _statistic in (
    (ndimage.maximum_filter1d, np.max),
    (ndimage.minimum_filter1d, np.min),
):
    composite(_filter, f"input, size, axis=-1, {EDGES}", _of_axis(_filter, _statistic))
composite(ndimage.rank_filter, f"input, rank, {WINDOW.removeprefix('input, ')}", _rank_filter)
composite(
    ndimage.percentile_filter,
    f"input, percentile, {WINDOW.removeprefix('input, ')}",
    _percentile_filter,
)
register(
    Fixed(
        ndimage.uniform_filter1d,
        f"input, size, axis=-1, {EDGES}",
        _of_axis(ndimage.uniform_filter1d, np.mean),
        _uniform_steps,
    )
)
ONE_EDGE = "output=None, mode='reflect', cval=0.0"
for _filter, _smooth in ((ndimage.prewitt, [1, 1, 1]), (ndimage.sobel, [1, 2, 1])):
    composite(_filter, f"input, axis=-1, {ONE_EDGE}", _edge_filter(_filter, _smooth))
composite(ndimage.laplace, f"input, {ONE_EDGE}, *, axes=None", _laplace)
for _filter, _derivative, _square in (
    (ndimage.gaussian_gradient_magnitude, 1, True),
    (ndimage.gaussian_laplace, 2, False),
):
    composite(
        _filter,
        f"input, sigma, {ONE_EDGE}, *, axes=None, truncate=4.0",
        _gaussians(_filter, _derivative, _square),
    )
