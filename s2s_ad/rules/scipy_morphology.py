"""Grey morphology of scipy.ndimage: extremes of windows of any shape, and what is made of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import ndimage

from s2s_ad.core import values
from s2s_ad.core.builder import static
from s2s_ad.core.registry import register
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.creation import Creation
from s2s_ad.rules.scipy_windows import (
    EDGES,
    WINDOW,
    axes_of,
    box_of,
    checked_rank,
    like,
    windows_of,
    with_all_axes,
)
from s2s_ad.rules.shape_checks import check_rank

SHAPES = f"input, size=None, footprint=None, structure=None, {EDGES}, *, axes=None"


def _extreme(
    input: Any,
    size: Any,
    footprint: Any,
    structure: Any = None,
    *,
    function: Callable,
    largest: bool,
    reflected: bool = False,
    output: Any,
    mode: Any,
    cval: Any,
    origin: Any,
    axes: Any,
) -> Any:
    """The largest or smallest element of the window around each one.

    Args:
        footprint: which elements of the window count.
        structure: what is added to these, or taken from them.
        reflected: both are turned round, as in a dilation.
    """
    builder = input.builder
    support.refuse_given(builder, function, output=output)
    rank = checked_rank(input, origin)
    along, last = axes_of(rank, axes), tuple(range(rank, 2 * rank))
    statistic = np.max if largest else np.min
    shaped = structure if footprint is None else footprint
    if shaped is None:
        size = static(size, "size")
        if size is None:
            raise UnsupportedError(
                "S2S203", f"{function.__name__} without a size", origin=builder.origin
            )
        windows = windows_of(input, box_of(size, along, rank), mode, cval, reflected)
        return statistic(windows, axis=last)
    footprint, structure = (
        _turned(builder, each, rank, along, reflected) for each in (footprint, structure)
    )
    lengths = support.lengths(structure if footprint is None else footprint, range(rank))
    windows = windows_of(input, [*lengths], mode, cval, reflected)
    if structure is not None:
        windows = windows + structure if largest else windows - structure
    if footprint is None:
        return like(statistic(windows, axis=last), input)
    counts = footprint if values.is_dtype(footprint.dtype, bool) else footprint != 0
    return like(statistic(windows[(..., counts)], axis=-1), input)


def _turned(builder: Any, shape: Any, rank: int, along: tuple[int, ...], reflected: bool) -> Any:
    """A footprint or a structure with an axis for each of the input's."""
    if shape is None:
        return None
    shape = support.as_operand(builder, shape)
    check_rank(shape, len(along), "the footprint has other axes than the input")
    return with_all_axes(np.flip(shape) if reflected else shape, along, rank)


Step = Callable[[Any], Any]


def _opened(x: Any, erode: Step, dilate: Step) -> Any:
    return dilate(erode(x))


def _closed(x: Any, erode: Step, dilate: Step) -> Any:
    return erode(dilate(x))


#: what is made of an erosion and a dilation, of each function
MADE_OF_BOTH: dict[Callable, Callable[[Any, Step, Step], Any]] = {
    ndimage.grey_opening: _opened,
    ndimage.grey_closing: _closed,
    ndimage.white_tophat: lambda x, erode, dilate: x - _opened(x, erode, dilate),
    ndimage.black_tophat: lambda x, erode, dilate: _closed(x, erode, dilate) - x,
    ndimage.morphological_gradient: lambda x, erode, dilate: dilate(x) - erode(x),
    ndimage.morphological_laplace: lambda x, erode, dilate: dilate(x) + erode(x) - x - x,
}


def _made_of_both(function: Callable, made: Callable[[Any, Step, Step], Any]) -> Callable:
    def meaning(input: Any, output: Any, **options: Any) -> Any:
        builder = input.builder
        support.refuse_given(builder, function, output=output)
        if values.is_dtype(input.dtype, bool):
            raise UnsupportedError(
                "S2S203", f"{function.__name__} of truths", origin=builder.origin
            )

        def step(of: Callable) -> Step:
            return lambda x: builder.call(of, (x,), options)

        return made(input, step(ndimage.grey_erosion), step(ndimage.grey_dilation))

    return meaning


def _structure_shape(full: dict[str, Any]) -> values.Shape:
    return (3,) * max(static(full["rank"], "rank"), 0)


register(
    Creation(
        ndimage.generate_binary_structure, "rank, connectivity", _structure_shape, lambda _: bool
    )
)
for _function, _largest in ((ndimage.maximum_filter, True), (ndimage.minimum_filter, False)):
    composite(_function, WINDOW, functools.partial(_extreme, function=_function, largest=_largest))
for _function, _largest in ((ndimage.grey_dilation, True), (ndimage.grey_erosion, False)):
    _options = {"function": _function, "largest": _largest, "reflected": _largest}
    composite(_function, SHAPES, functools.partial(_extreme, **_options))
for _function, _made in MADE_OF_BOTH.items():
    composite(_function, SHAPES, _made_of_both(_function, _made))
