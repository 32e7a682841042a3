"""Pooling: the maxima or means of windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import ops
from s2s_ad.nn import check
from s2s_ad.nn.cell import Cell
from s2s_ad.ops.convolutions import ends_of_same

PAD_MODES = ("same", "valid", "pad")


class _Pooling(Cell):
    """Windows of two axes, their steps, and the border around the image.

    Args:
        kernel_size, stride: an int, or (height, width).
        pad_mode: 'valid' (no padding), 'same' (one window for each `stride` elements), or 'pad'
            with the border that `padding` says.
        ceil_mode: whether a last window that does not fit counts too.
    """

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
    ):
        super().__init__()
        name = type(self).__name__
        check.choice(name, "pad_mode", pad_mode.lower(), PAD_MODES)
        check.flag(name, ceil_mode=ceil_mode)
        self.kernel_size = check.pair(name, "kernel_size", kernel_size)
        self.stride = check.pair(name, "stride", stride)
        self.padding = check.pair(name, "padding", padding, low=0)
        self.pad_mode, self.ceil_mode = pad_mode.lower(), ceil_mode
        if self.pad_mode != "pad" and self.padding != (0, 0):
            expected = f"0 where pad_mode={pad_mode!r}; or pad_mode='pad'"
            raise check.wrong_value(name, "padding", padding, expected)

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class MaxPool2d(_Pooling):
    """The largest element of each window; the first of equals has the derivative.

    Inputs:
        x: of shape (n, channels, height, width).

    Example:
        >>> from s2s_ad import Tensor, nn
        >>> print(nn.MaxPool2d(2, 2)(Tensor([[[[1.0, 2.0], [4.0, 3.0]]]])))
        [[[[4.]]]]
    """

    def construct(self, x: Any) -> Any:
        return ops.max_pool2d(
            bordered(x, self.pad_mode, self.kernel_size, self.stride),
            self.kernel_size,
            self.stride,
            self.padding,
            ceil_mode=self.ceil_mode,
        )


def bordered(x: Any, pad_mode: str, kernel: tuple, stride: tuple) -> Any:
    """The images with a border that no maximum takes, where pad_mode is 'same'."""
    if pad_mode != "same":
        return x
    ends = [ends_of_same(x.shape[axis + 2], kernel[axis], stride[axis], 1) for axis in (0, 1)]
    return np.pad(x, ((0, 0), (0, 0), *ends), constant_values=-np.inf)


class AvgPool2d(_Pooling):
    """The mean of each window.

    Args:
        count_include_pad: whether the zeros around the image count where pad_mode is 'pad'.
        divisor_override: what the sums are divided by, in place of the number of elements.

    Inputs:
        x: of shape (n, channels, height, width).
    """

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ):
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode)
        check.flag("AvgPool2d", count_include_pad=count_include_pad)
        if divisor_override is not None:
            check.positive_int("AvgPool2d", divisor_override=divisor_override)
        self.divisor_override = divisor_override
        self.count_include_pad = count_include_pad and self.pad_mode != "same"

    def construct(self, x: Any) -> Any:
        return ops.avg_pool2d(
            x,
            self.kernel_size,
            self.stride,
            self.pad_mode,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override or 0,
        )


class _Pooling1d(Cell):
    """Pooling along the last axis of (n, channels, length): an image of one row."""

    def __init__(
        self,
        kernel_size: int = 1,
        stride: int = 1,
        pad_mode: str = "valid",
        padding: int = 0,
        ceil_mode: bool = False,
    ):
        super().__init__()
        check.positive_int(type(self).__name__, kernel_size=kernel_size, stride=stride)
        self.kernel_size, self.stride = kernel_size, stride
        sides = (1, kernel_size), (1, stride), pad_mode, (0, padding), ceil_mode
        self.rows = self.OF_IMAGES(*sides)

    def construct(self, x: Any) -> Any:
        return np.squeeze(self.rows(np.expand_dims(x, 2)), 2)

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}"


class MaxPool1d(_Pooling1d):
    """The largest element of each window of (n, channels, length)."""

    OF_IMAGES = MaxPool2d


class AvgPool1d(_Pooling1d):
    """The mean of each window of (n, channels, length)."""

    OF_IMAGES = AvgPool2d


class AdaptiveAvgPool2d(Cell):
    """The means of output_size windows, whose sizes divide the image's.

    Args:
        output_size: an int, or (height, width).
    """

    def __init__(self, output_size: Any):
        super().__init__()
        self.output_size = check.pair("AdaptiveAvgPool2d", "output_size", output_size)

    def construct(self, x: Any) -> Any:
        return ops.adaptive_avg_pool2d(x, self.output_size)

    def extend_repr(self) -> str:
        return f"output_size={self.output_size}"


__all__ = ["AdaptiveAvgPool2d", "AvgPool1d", "AvgPool2d", "MaxPool1d", "MaxPool2d"]
