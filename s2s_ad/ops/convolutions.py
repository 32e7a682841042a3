"""Convolutions of images: sliding windows laid out as columns, and one matrix product."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError
from s2s_ad.ops.arguments import array, choice, eager, floating
from s2s_ad.tensors import Tensor

PAD_MODES = ("valid", "same", "pad")


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The products of a kernel with each window of images, summed over channels and places.

    Args:
        input: images of shape (n, channels, height, width).
        weight: kernels of shape (out, channels / groups, kernel height, kernel width).
        bias: a number for each kernel.
        stride, dilation: steps between windows and between the elements of one; an int, or one
            for each direction.
        pad_mode: 'valid', no padding; 'same', zeros such that a stride of 1 keeps the size; 'pad',
            `padding` zeros: an int, (height, width) or (top, bottom, left, right).
        groups: the channels in so many groups, each with kernels of its own.

    Returns:
        A Tensor of shape (n, out, windows down, windows across).

    Raises:
        ArgumentTypeError, ArgumentValueError: shapes or options do not fit.

    Example:
        >>> conv2d(Tensor(np.ones((1, 1, 3, 3))), Tensor(np.ones((1, 1, 2, 2)))).tolist()
        [[[[4.0, 4.0], [4.0, 4.0]]]]
    """
    images = floating("conv2d", input)
    of_rank("conv2d", images, 4, "input")
    of_rank("conv2d", array("conv2d", weight, "weight"), 4, "weight")
    channels_fit("conv2d", input, weight, groups)
    kernel, steps = weight.shape[2:], pair("conv2d", stride, "stride")
    spread = pair("conv2d", dilation, "dilation")
    x = padded("conv2d", images, kernel, steps, spread, pad_mode, padding)
    windows = windows_of(x, kernel, steps, spread)
    n, _, down, across = windows.shape[:4]
    columns = np.transpose(windows, (0, 1, 4, 5, 2, 3))
    if groups == 1:
        y = weight.reshape(len(weight), -1) @ columns.reshape(n, -1, down * across)
    else:
        rows = weight.reshape(groups, len(weight) // groups, -1)
        y = rows @ columns.reshape(n, groups, -1, down * across)
    y = y.reshape(n, len(weight), down, across)
    return y if bias is None else y + np.reshape(bias, (-1, 1, 1))


def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: int = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: int = 1,
    groups: int = 1,
) -> Tensor:
    """conv2d of signals: input of shape (n, channels, length), weight (out, channels, kernel)."""
    of_rank("conv1d", floating("conv1d", input), 3, "input")
    of_rank("conv1d", array("conv1d", weight, "weight"), 3, "weight")
    ends = (0, 0, *((padding, padding) if isinstance(padding, int) else padding))
    y = conv2d(
        np.expand_dims(input, 2),
        np.expand_dims(weight, 2),
        bias,
        (1, stride),
        pad_mode,
        ends if pad_mode == "pad" else padding,
        (1, dilation),
        groups,
    )
    return np.squeeze(y, 2)


def of_rank(api: str, value: Any, rank: int, name: str) -> None:
    """An array has so many axes."""
    if np.ndim(value) != rank:
        raise ArgumentValueError(
            "S2S502", f"{api}: argument '{name}' has {np.ndim(value)} axes; expected {rank}"
        )


@eager
def channels_fit(api: str, input: Any, weight: Any, groups: int) -> None:
    """The kernels have the channels of the images."""
    channels, out = np.shape(input)[1], np.shape(weight)[0]
    if channels != np.shape(weight)[1] * groups:
        raise ArgumentValueError(
            "S2S502",
            f"{api}: input has {channels} channels; weight of shape {np.shape(weight)} with "
            f"groups={groups} takes {np.shape(weight)[1] * groups}",
        )
    if out % groups:
        raise ArgumentValueError(
            "S2S502", f"{api}: {out} kernels are no multiple of groups={groups}"
        )


def pair(api: str, value: Any, name: str) -> tuple[int, int]:
    """An int for both directions, or a tuple of two."""
    both = (value, value) if isinstance(value, int) else value
    if not isinstance(both, tuple | list):
        raise ArgumentTypeError(
            "S2S501", f"{api}: argument '{name}' is {value!r}; expected an int or two"
        )
    if len(both) != 2 or both[0] < 1 or both[1] < 1:
        raise ArgumentValueError(
            "S2S502", f"{api}: argument '{name}' is {value!r}; expected one or two ints above 0"
        )
    return tuple(both)


def padded(
    api: str, x: Any, kernel: Any, stride: Any, dilation: Any, pad_mode: str, padding: Any
) -> Any:
    """Images with zeros around them."""
    choice(api, pad_mode, "pad_mode", PAD_MODES)
    if pad_mode != "pad" and padding not in (0, (0, 0), (0, 0, 0, 0)):
        raise ArgumentValueError(
            "S2S502",
            f"{api}: argument 'padding' is {padding!r} with pad_mode={pad_mode!r}",
            help="write pad_mode='pad'",
        )
    if pad_mode == "valid":
        return x
    if pad_mode == "same":
        ends = [
            ends_of_same(x.shape[axis + 2], kernel[axis], stride[axis], dilation[axis])
            for axis in (0, 1)
        ]
        return np.pad(x, ((0, 0), (0, 0), *ends))
    return around(api, x, padding)


def ends_of_same(length: int, kernel: int, stride: int, dilation: int) -> tuple[int, int]:
    """The zeros before and after such that there is a window for each `stride` elements."""
    if stride == 1:
        total = dilation * (kernel - 1)
    else:
        total = max((-(-length // stride) - 1) * stride + dilation * (kernel - 1) + 1 - length, 0)
    return total // 2, total - total // 2


def around(api: str, x: Any, padding: Any, value: float = 0.0) -> Any:
    """Images with a border: an int, (height, width) or (top, bottom, left, right)."""
    ends = padding
    if isinstance(padding, int):
        ends = (padding,) * 4
    elif len(padding) == 2:
        ends = (padding[0], padding[0], padding[1], padding[1])
    if len(ends) != 4 or min(ends) < 0:
        raise ArgumentValueError(
            "S2S502", f"{api}: argument 'padding' is {padding!r}; expected one, two or four ints"
        )
    if ends == (0, 0, 0, 0):
        return x
    widths = ((0, 0), (0, 0), tuple(ends[:2]), tuple(ends[2:]))
    return np.pad(x, widths, constant_values=value) if value else np.pad(x, widths)


def windows_of(x: Any, kernel: Any, stride: Any, dilation: Any) -> Any:
    """Views of the windows: (n, channels, windows down, windows across, height, width)."""
    (height, width), (down, across) = kernel, dilation
    spans = (height - 1) * down + 1, (width - 1) * across + 1
    windows = sliding_window_view(x, spans, axis=(2, 3))
    if tuple(stride) != (1, 1):
        windows = windows[:, :, :: stride[0], :: stride[1]]
    return windows if tuple(dilation) == (1, 1) else windows[..., ::down, ::across]
