"""Maxima and means of windows of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.ops.arguments import array, choice, floating
from s2s_ad.ops.convolutions import PAD_MODES, around, of_rank, padded, pair, windows_of
from s2s_ad.tensors import Tensor


def max_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
) -> Any:
    """The largest element of each window; the first of equals gets the derivative.

    Args:
        x: images of shape (n, channels, height, width).
        kernel_size, stride, dilation: an int, or one for each direction; the stride is the
            kernel_size unless told.
        padding: how many elements that no maximum takes are put around.
        return_indices: return (maxima, their places in the flat image) too.
        ceil_mode: a last window that does not fit counts too.

    Example:
        >>> max_pool2d(Tensor([[[[1.0, 2.0], [4.0, 3.0]]]]), 2).tolist()
        [[[[4.0]]]]
    """
    of_rank("max_pool2d", floating("max_pool2d", x, "x"), 4, "x")
    kernel = pair("max_pool2d", kernel_size, "kernel_size")
    steps = kernel if stride is None else pair("max_pool2d", stride, "stride")
    spread = pair("max_pool2d", dilation, "dilation")
    border = around("max_pool2d", x, padding, -np.inf)
    if ceil_mode:
        border = filled_up(border, kernel, steps, spread, -np.inf)
    windows = tiles_or_windows(border, kernel, steps, spread)
    flat = windows.reshape(*windows.shape[:4], -1)
    places = np.argmax(flat, axis=4, keepdims=True)
    maxima = np.squeeze(np.take_along_axis(flat, places, 4), 4)
    if not return_indices:
        return maxima
    before = (padding, padding) if isinstance(padding, int) else tuple(padding)[:2]
    return maxima, flat_places(np.squeeze(places, 4), x, kernel, steps, spread, before)


def avg_pool2d(
    input_x: Any,
    kernel_size: Any = 1,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
) -> Tensor:
    """The mean of each window.

    Args:
        input_x: images of shape (n, channels, height, width).
        kernel_size, stride: an int, or one for each direction.
        pad_mode: 'valid', no padding; 'same', as many windows as steps; 'pad', `padding` zeros.
        ceil_mode: a last window that does not fit counts too.
        count_include_pad: zeros around count as elements.
        divisor_override: divide by this number rather than by the count.

    Example:
        >>> avg_pool2d(Tensor([[[[1.0, 2.0], [4.0, 3.0]]]]), 2).tolist()
        [[[[2.5]]]]
    """
    x = floating("avg_pool2d", input_x, "input_x")
    of_rank("avg_pool2d", x, 4, "input_x")
    choice("avg_pool2d", pad_mode, "pad_mode", PAD_MODES)
    kernel, steps = (
        pair("avg_pool2d", kernel_size, "kernel_size"),
        pair("avg_pool2d", stride, "stride"),
    )
    shape = kernel, steps, pad_mode, padding, ceil_mode
    windows = windows_to_average(x, *shape)
    if divisor_override:
        return np.sum(windows, axis=(4, 5)) / divisor_override
    if count_include_pad and not ceil_mode:
        return np.mean(windows, axis=(4, 5))
    counts = np.sum(windows_to_average(np.ones_like(x), *shape), axis=(4, 5))
    return np.sum(windows, axis=(4, 5)) / counts


def windows_to_average(
    x: Any, kernel: Any, steps: Any, pad_mode: str, padding: Any, ceil_mode: bool
) -> Any:
    """The windows of images with zeros around them."""
    border = padded("avg_pool2d", x, kernel, steps, (1, 1), pad_mode, padding)
    if ceil_mode:
        border = filled_up(border, kernel, steps, (1, 1), 0.0)
    return tiles_or_windows(border, kernel, steps, (1, 1))


def tiles_or_windows(x: Any, kernel: Any, stride: Any, dilation: Any) -> Any:
    """The windows; where they do not overlap, the elements in other shape."""
    if tuple(stride) != tuple(kernel) or tuple(dilation) != (1, 1):
        return windows_of(x, kernel, stride, dilation)
    (height, width), shape = kernel, np.shape(x)
    down, across = shape[2] // height, shape[3] // width
    whole = x[:, :, : down * height, : across * width]
    tiles = whole.reshape(shape[0], shape[1], down, height, across, width)
    return np.transpose(tiles, (0, 1, 2, 4, 3, 5))


def filled_up(x: Any, kernel: Any, stride: Any, dilation: Any, value: float) -> Any:
    """Images with more elements at the end, so that the last windows fit."""
    ends = [
        (0, -(x.shape[axis + 2] - (kernel[axis] - 1) * dilation[axis] - 1) % stride[axis])
        for axis in (0, 1)
    ]
    return np.pad(x, ((0, 0), (0, 0), *ends), constant_values=value)


def flat_places(places: Any, x: Any, kernel: Any, stride: Any, dilation: Any, before: tuple) -> Any:
    """Places in windows as places in the flat image."""
    down, across = np.shape(places)[2:]
    rows = np.arange(down)[:, None] * stride[0] - before[0] + places // kernel[1] * dilation[0]
    columns = np.arange(across) * stride[1] - before[1] + places % kernel[1] * dilation[1]
    return rows * np.shape(x)[3] + columns


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Tensor:
    """The means of output_size windows of images, whose sizes are multiples of it."""
    of_rank("adaptive_avg_pool2d", array("adaptive_avg_pool2d", input), 4, "input")
    down, across = pair("adaptive_avg_pool2d", output_size, "output_size")
    shape = np.shape(input)
    tiles = input.reshape(shape[0], shape[1], down, shape[2] // down, across, shape[3] // across)
    return np.mean(tiles, axis=(3, 5))
