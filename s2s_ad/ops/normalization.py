"""Inputs brought to mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.ops.arguments import array, axis_of, floating
from s2s_ad.tensors import Tensor


def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-05
) -> Tensor:
    """Each item of the last axes to mean 0 and variance 1, then times weight plus bias.

    Args:
        normalized_shape: the lengths of these axes, an int or a tuple.

    Example:
        >>> layer_norm(Tensor([[1.0, 3.0]]), (2,), eps=0.0).tolist()
        [[-1.0, 1.0]]
    """
    x = floating("layer_norm", input)
    lengths = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if np.shape(x)[np.ndim(x) - len(lengths) :] != lengths:
        raise ArgumentValueError(
            "S2S502",
            f"layer_norm: argument 'normalized_shape' is {lengths}; expected the last lengths of "
            f"{np.shape(x)}",
        )
    axes = tuple(range(-len(lengths), 0))
    return scaled(normalized(x, axes, eps), weight, bias)


def normalized(x: Any, axes: Any, eps: float) -> Any:
    """x less its mean over axes, over the square root of its variance there and eps."""
    centred = x - np.mean(x, axis=axes, keepdims=True)
    return centred / np.sqrt(np.mean(np.square(centred), axis=axes, keepdims=True) + eps)


def scaled(x: Any, weight: Any, bias: Any) -> Any:
    """x * weight + bias, without what is None."""
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def rms_norm(x: Any, gamma: Any, epsilon: float = 1e-06) -> Tensor:
    """x over the root of its mean square along the last axis, times gamma."""
    y = floating("rms_norm", x, "x")
    return y / np.sqrt(np.mean(np.square(y), axis=-1, keepdims=True) + epsilon) * gamma


def batch_norm(
    input_x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """Each item of axis 1 to mean 0 and variance 1: of the batch in training, else as running.

    The running mean and variance are not changed; `nn.BatchNorm2d` does that.
    """
    x = floating("batch_norm", input_x, "input_x")
    lead = (-1,) + (1,) * (np.ndim(x) - 2)
    if training:
        y = normalized(x, (0, *range(2, np.ndim(x))), eps)
    else:
        centred = x - np.reshape(running_mean, lead)
        y = centred / np.sqrt(np.reshape(running_var, lead) + eps)
    factor = None if weight is None else np.reshape(weight, lead)
    return scaled(y, factor, None if bias is None else np.reshape(bias, lead))


def group_norm(
    x: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-05
) -> Tensor:
    """The items of axis 1 in groups, each group to mean 0 and variance 1."""
    y = floating("group_norm", x, "x")
    shape = np.shape(y)
    groups = np.reshape(y, (shape[0], num_groups, -1))
    lead = (-1,) + (1,) * (np.ndim(y) - 2)
    factor = None if weight is None else np.reshape(weight, lead)
    offset = None if bias is None else np.reshape(bias, lead)
    return scaled(np.reshape(normalized(groups, 2, eps), shape), factor, offset)


def l2_normalize(x: Any, axis: Any = 0, epsilon: float = 1e-04) -> Tensor:
    """x over its length along an axis."""
    y = floating("l2_normalize", x, "x")
    axis_of("l2_normalize", axis, np.ndim(array("l2_normalize", x, "x")))
    squares = np.sum(np.square(y), axis=axis, keepdims=True)
    return y / np.sqrt(np.maximum(squares, epsilon))
