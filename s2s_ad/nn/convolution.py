"""Convolutions with kernels that are learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import ops
from s2s_ad.nn import check
from s2s_ad.nn.cell import Cell
from s2s_ad.nn.parameters import affine, parameter, scaled

PAD_MODES = ("same", "valid", "pad")


class _Convolution(Cell):
    """What convolutions of one and of two axes share: their parameters, and what they check."""

    def _make(self, kernel: tuple[int, ...], channels: tuple[int, int], group: int, **init: Any):
        """The weight, of shape (out, in / group, *kernel), and the bias."""
        name, (in_channels, out_channels) = type(self).__name__, channels
        check.positive_int(name, in_channels=in_channels, out_channels=out_channels, group=group)
        for argument, value in (("in_channels", in_channels), ("out_channels", out_channels)):
            if value % group:
                raise check.wrong_value(name, argument, value, f"a multiple of group={group}")
        check.flag(name, has_bias=init["has_bias"])
        shape = (out_channels, in_channels // group, *kernel)
        self.in_channels, self.out_channels, self.group = in_channels, out_channels, group
        self.kernel_size, self.has_bias = kernel, init["has_bias"]
        self.weight = affine(name, init["weight_init"], shape, init["dtype"])
        bias = scaled(shape) if init["bias_init"] is None else init["bias_init"]
        self.bias = (
            parameter(name, "bias_init", bias, shape[:1], init["dtype"])
            if init["has_bias"]
            else None
        )

    def _pad(self, pad_mode: str, padding: Any) -> None:
        check.choice(type(self).__name__, "pad_mode", pad_mode, PAD_MODES)
        if pad_mode != "pad" and np.any(padding):
            expected = f"0 where pad_mode={pad_mode!r}; or pad_mode='pad'"
            raise check.wrong_value(type(self).__name__, "padding", padding, expected)
        self.pad_mode, self.padding = pad_mode, padding

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}, "
            f"padding={self.padding}, dilation={self.dilation}, group={self.group}, "
            f"has_bias={self.has_bias}"
        )


class Conv2d(_Convolution):
    """Images through kernels that are learned.

    Args:
        in_channels, out_channels: channels of the input and of the output.
        kernel_size, stride, dilation: an int, or (height, width).
        pad_mode: 'same' (as many outputs as inputs where the stride is 1), 'valid' (no padding),
            or 'pad' with the zeros that `padding` says on each side: an int, (height, width) or
            (top, bottom, left, right).
        group: the channels fall into that many groups, each with kernels of its own.
        has_bias: whether there is a bias.
        weight_init, bias_init: uniform within 1 / sqrt(fan_in) by default.
        data_format: 'NCHW' only.
        dtype: the dtype of the parameters.

    Inputs:
        x: of shape (n, in_channels, height, width).

    Example:
        >>> from s2s_ad import Tensor, nn, ops
        >>> conv = nn.Conv2d(1, 1, 2, pad_mode="valid", weight_init="ones")
        >>> print(conv(ops.ones((1, 1, 3, 3))))
        [[[[4. 4.]
           [4. 4.]]]]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str = "NCHW",
        dtype: Any = np.float32,
    ):
        super().__init__()
        check.choice("Conv2d", "data_format", data_format, ("NCHW",))
        self.stride = check.pair("Conv2d", "stride", stride)
        self.dilation = check.pair("Conv2d", "dilation", dilation)
        self._pad(pad_mode, padding)
        self._make(
            check.pair("Conv2d", "kernel_size", kernel_size),
            (in_channels, out_channels),
            group,
            has_bias=has_bias,
            weight_init=weight_init,
            bias_init=bias_init,
            dtype=dtype,
        )

    def construct(self, x: Any) -> Any:
        return ops.conv2d(
            x,
            self._used(self.weight),
            self._used(self.bias),
            self.stride,
            self.pad_mode,
            self.padding,
            self.dilation,
            self.group,
        )


class Conv1d(_Convolution):
    """A convolution along one axis: x of shape (n, in_channels, length)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        pad_mode: str = "same",
        padding: int = 0,
        dilation: int = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = np.float32,
    ):
        super().__init__()
        check.positive_int("Conv1d", kernel_size=kernel_size, stride=stride, dilation=dilation)
        self.stride, self.dilation = stride, dilation
        self._pad(pad_mode, padding)
        self._make(
            (kernel_size,),
            (in_channels, out_channels),
            group,
            has_bias=has_bias,
            weight_init=weight_init,
            bias_init=bias_init,
            dtype=dtype,
        )

    def construct(self, x: Any) -> Any:
        return ops.conv1d(
            x,
            self._used(self.weight),
            self._used(self.bias),
            self.stride,
            self.pad_mode,
            self.padding,
            self.dilation,
            self.group,
        )


__all__ = ["Conv1d", "Conv2d"]
