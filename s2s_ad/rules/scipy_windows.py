"""The windows around the elements of an array, which the filters of scipy.ndimage look at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Symbol, static
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support

#: parts of signatures
EDGES = "output=None, mode='reflect', cval=0.0, origin=0"
WINDOW = f"input, size=None, footprint=None, {EDGES}, *, axes=None"


def padded(x: Symbol, widths: list, mode: Any, cval: Any) -> Any:
    mode = runtime.padding_mode(static(mode, "mode"))
    if not widths:
        return x
    if mode is None:
        return np.pad(x, widths, constant_values=cval)
    return np.pad(x, widths, mode)


def checked_rank(x: Symbol, origin: Any) -> int:
    if static(origin, "origin") != 0:
        raise UnsupportedError("S2S203", "a filter with origin=", origin=x.builder.origin)
    return support.known_rank(x, "a filter")


def like(result: Any, x: Any) -> Any:
    """SciPy's filters give the dtype of their input, in which they do not compute; by complex
    weights a complex one."""
    if values.is_complex(result.fact) and not values.is_complex(x.fact):
        return result
    return support.cast(x.builder, result, x)


def windows_of(x: Symbol, sizes: list, mode: Any, cval: Any, shift: int = 0) -> Any:
    """The windows around each element, their elements along the last axes.

    A window of even length reaches further to the front; `shift` 1 is for a reversed one.
    """
    before = [(size - 1) // 2 if shift else size // 2 for size in sizes]
    widths = [(b, size - 1 - b) for b, size in zip(before, sizes, strict=True)]
    x = padded(x, widths, mode, cval)
    for axis, size in enumerate(sizes):
        x = sliding_window_view(x, size, axis)
    return x


def axes_of(rank: int, axes: Any) -> tuple[int, ...]:
    """The axes that a filter works along."""
    axes = static(axes, "axes of a filter")
    return tuple(range(rank)) if axes is None else support.normal_axes(axes, rank)


def box_of(size: Any, along: tuple[int, ...], rank: int) -> list:
    """The lengths of a window along all axes: of a size for each that a filter works along."""
    sizes = [1] * rank
    given = size if isinstance(size, tuple | list) else [size] * len(along)
    for axis, each in zip(along, given, strict=True):
        sizes[axis] = each
    return sizes


def with_all_axes(shape: Any, along: tuple[int, ...], rank: int) -> Any:
    """Weights or a footprint with an axis for each of the input's."""
    return np.expand_dims(shape, tuple(set(range(rank)) - set(along)))
