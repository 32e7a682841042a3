"""scipy.ndimage: filters, written as padding and sums over sliding windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import ndimage

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.scipy_filters import Fixed, Weighted
from s2s_ad.rules.shape_checks import check_rank

EDGES = "output=None, mode='reflect', cval=0.0, origin=0"


def _padded(x: Symbol, widths: list, mode: Any, cval: Any) -> Any:
    mode = runtime.padding_mode(static(mode, "mode"))
    if not widths:
        return x
    if mode is None:
        return np.pad(x, widths, constant_values=cval)
    return np.pad(x, widths, mode)


def _checked(x: Symbol, origin: Any) -> int:
    if static(origin, "origin") != 0:
        raise UnsupportedError("S2S203", "a filter with origin=", origin=x.builder.origin)
    return support.known_rank(x, "a filter")


def _correlate_along(x: Symbol, weights: Any, axis: int, mode: Any, cval: Any, shift: int) -> Any:
    """Sums of windows along an axis; a window of even length reaches further to one side."""
    size = support.length(weights, 0)
    before = (size - 1) // 2 if shift else size // 2
    widths = [(0, 0)] * x.ndim
    widths[axis] = (before, size - 1 - before)
    return sliding_window_view(_padded(x, widths, mode, cval), size, axis) @ weights


def _like(result: Any, x: Any) -> Any:
    """SciPy's filters give the dtype of their input, in which they do not compute; by complex
    weights a complex one."""
    if values.is_complex(result.fact) and not values.is_complex(x.fact):
        return result
    return support.cast(x.builder, result, x)


def _weights1d(x: Any, weights: Any) -> Any:
    weights = support.as_operand(x.builder, weights)
    check_rank(weights, 1, "no filter weights given")
    return weights


def _along(x: Symbol, axis: Any) -> int:
    return support.normal_axis(static(axis, "axis"), support.known_rank(x, "a filter"))


def _convolve1d(input: Any, weights: Any, axis: Any, mode: Any, cval: Any, origin: Any) -> Any:
    _checked(input, origin)
    weights = _weights1d(input, weights)[::-1]
    return _like(_correlate_along(input, weights, _along(input, axis), mode, cval, 1), input)


def _correlate1d(input: Any, weights: Any, axis: Any, mode: Any, cval: Any, origin: Any) -> Any:
    _checked(input, origin)
    weights = support.conj(_weights1d(input, weights))  # as SciPy does
    return _like(_correlate_along(input, weights, _along(input, axis), mode, cval, 0), input)


def _windows(x: Symbol, sizes: list, mode: Any, cval: Any, shift: int = 0) -> Any:
    """The windows around each element, their elements along the last axes.

    A window of even length reaches further to the front; `shift` 1 is for a reversed one.
    """
    before = [(size - 1) // 2 if shift else size // 2 for size in sizes]
    widths = [(b, size - 1 - b) for b, size in zip(before, sizes, strict=True)]
    x = _padded(x, widths, mode, cval)
    for axis, size in enumerate(sizes):
        x = sliding_window_view(x, size, axis)
    return x


def _axes(rank: int, axes: Any) -> tuple[int, ...]:
    """The axes that a filter works along."""
    axes = static(axes, "axes of a filter")
    return tuple(range(rank)) if axes is None else support.normal_axes(axes, rank)


def _correlate(
    input: Any, weights: Any, mode: Any, cval: Any, origin: Any, axes: Any, shift: int = 0
) -> Any:
    rank, weights = _checked(input, origin), support.as_operand(input.builder, weights)
    along = _axes(rank, axes)
    check_rank(weights, len(along), "filter weights array has incorrect shape.")
    weights = np.expand_dims(weights, tuple(set(range(rank)) - set(along)))
    weights = weights if shift else support.conj(weights)  # as SciPy does
    sizes = list(support.lengths(weights, range(rank)))
    return _like(np.tensordot(_windows(input, sizes, mode, cval, shift), weights, rank), input)


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
    for place, axis in enumerate(_axes(rank, axes)):
        given = [
            each[place] if isinstance(each, tuple | list) else each for each in (sigma, order, mode)
        ]
        input = _gaussian1d(input, given[0], axis, given[1], given[2], cval, truncate)
    return input


def _of_windows(statistic: Callable) -> Callable:
    """A filter that takes a statistic of the window around each element."""

    def meaning(input: Any, size: Any, mode: Any, cval: Any, origin: Any, axes: Any) -> Any:
        rank, size = _checked(input, origin), static(size, "size")
        along, sizes = _axes(rank, axes), [1] * rank
        given = size if isinstance(size, tuple | list) else [size] * len(along)
        for axis, each in zip(along, given, strict=True):
            sizes[axis] = each
        return statistic(_windows(input, sizes, mode, cval), axis=tuple(range(rank, 2 * rank)))

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


WINDOW = f"input, size=None, footprint=None, {EDGES}, *, axes=None"
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
for _filter, _statistic in (
    (ndimage.maximum_filter, np.max),
    (ndimage.median_filter, _median),
    (ndimage.minimum_filter, np.min),
):
    composite(_filter, WINDOW, _of_size(_filter, _of_windows(_statistic)))
