"""Activations: functions of each element, and the normalised exponentials along an axis.

At a kink the derivative is 0 where the function is `relu`'s, and that of `maximum` (half of both
sides) where it is made of one, as MindSpore has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import custom_rule, ops, stop_gradient
from s2s_ad.ops.arguments import array, axis_of, choice, floating
from s2s_ad.tensors import Tensor

# ---- straight pieces -----------------------------------------------------------------------------


def relu(input: Any) -> Tensor:
    """max(input, 0), with derivative 0 at 0.

    Example:
        >>> relu(Tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """
    return np.maximum(array("relu", input), 0)


def relu6(x: Any) -> Tensor:
    """min(max(x, 0), 6), with derivative 0 at 0 and 6."""
    return np.where(array("relu6", x, "x") <= 0, 0, np.where(x >= 6, 6, x))


def leaky_relu(input: Any, alpha: float = 0.2) -> Tensor:
    """input where it is positive, alpha * input elsewhere; the slope at 0 is between the two."""
    x = floating("leaky_relu", input)
    return np.maximum(x, alpha * x) if alpha <= 1 else np.minimum(x, alpha * x)


def prelu(input: Any, weight: Any) -> Tensor:
    """leaky_relu with a slope that is learnt: one, or one for each item of axis 1."""
    array("prelu", input), array("prelu", weight, "weight")
    slope = weight
    if np.ndim(input) > 2 and np.ndim(weight) == 1:
        slope = np.reshape(weight, (-1,) + (1,) * (np.ndim(input) - 2))
    return np.where(input > 0, input, slope * input)


def threshold(input: Any, thr: Any, value: Any) -> Tensor:
    """input where it is larger than thr, value elsewhere."""
    return np.where(array("threshold", input) > thr, input, value)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """input between two bounds; the derivative is 0 at these and beyond."""
    x = array("hardtanh", input)
    return np.where(x <= min_val, min_val, np.where(x >= max_val, max_val, x))


def hardsigmoid(input: Any) -> Tensor:
    """relu6(input + 3) / 6: a sigmoid of straight pieces."""
    return relu6(floating("hardsigmoid", input) + 3) / 6


def hardswish(input: Any) -> Tensor:
    """input * relu6(input + 3) / 6."""
    return floating("hardswish", input) * relu6(input + 3) / 6


def hardshrink(x: Any, lambd: float = 0.5) -> Tensor:
    """0 from -lambd to lambd, x elsewhere."""
    return np.where(np.abs(array("hardshrink", x, "x")) <= lambd, 0, x)


def softshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """0 from -lambd to lambd, and input moved by lambd towards 0 elsewhere."""
    x = floating("softshrink", input)
    return np.where(np.abs(x) <= lambd, 0, x - lambd * np.sign(x))


# ---- smooth --------------------------------------------------------------------------------------


@custom_rule(forward=lambda dots, y, x: dots[0] * (y * (1 - y)))
def logistic(x: Any) -> Any:
    """1 / (1 + exp(-x)): its derivative is y * (1 - y), also where exp(-x) is too large."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


@custom_rule(forward=lambda dots, y, x: dots[0] * logistic(x))
def log_one_plus_exp(x: Any) -> Any:
    """log(1 + exp(x)) without overflow: its derivative is the logistic function."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def sigmoid(input: Any) -> Tensor:
    """1 / (1 + exp(-input)), right for large elements of either sign.

    Example:
        >>> sigmoid(Tensor([0.0])).tolist()
        [0.5]
    """
    return logistic(floating("sigmoid", input))


def logsigmoid(x: Any) -> Tensor:
    """log(sigmoid(x)), without underflow."""
    return -log_one_plus_exp(-floating("logsigmoid", x, "x"))


def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta * input)) / beta, without overflow.

    Beyond `threshold` MindSpore gives `input` itself; the two agree there to rounding.
    """
    x = floating("softplus", input)
    return log_one_plus_exp(x) if beta == 1 else log_one_plus_exp(beta * x) / beta


def silu(input: Any) -> Tensor:
    """input * sigmoid(input)."""
    return floating("silu", input) * logistic(floating("silu", input))


def mish(input: Any) -> Tensor:
    """input * tanh(softplus(input))."""
    x = floating("mish", input)
    return x * np.tanh(log_one_plus_exp(x))


def gelu(input: Any, approximate: str = "none") -> Tensor:
    """input times the normal distribution function of it.

    Args:
        approximate: 'none', by the error function (which needs SciPy), or 'tanh'.

    Raises:
        ArgumentValueError: approximate is another text.
    """
    x = floating("gelu", input)
    if choice("gelu", approximate, "approximate", ("none", "tanh")) == "tanh":
        return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + ops.erf(x * 0.7071067811865476))


def fast_gelu(x: Any) -> Tensor:
    """x * sigmoid(1.702 * x), close to gelu."""
    return floating("fast_gelu", x, "x") * logistic(1.702 * x)


def elu(input_x: Any, alpha: float = 1.0) -> Tensor:
    """input_x where it is positive, alpha * (exp(input_x) - 1) elsewhere."""
    x = floating("elu", input_x, "input_x")
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x)))


def celu(x: Any, alpha: float = 1.0) -> Tensor:
    """x where it is positive, alpha * (exp(x / alpha) - 1) elsewhere."""
    x = floating("celu", x, "x")
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x) / alpha))


def selu(input_x: Any) -> Tensor:
    """elu scaled so that mean 0 and variance 1 of the inputs are kept."""
    x = floating("selu", input_x, "input_x")
    return 1.0507009873554805 * np.where(
        x > 0, x, 1.6732632423543772 * np.expm1(np.where(x > 0, 0, x))
    )


def softsign(x: Any) -> Tensor:
    """x / (1 + abs(x))."""
    return floating("softsign", x, "x") / (1 + np.abs(x))


def tanhshrink(input: Any) -> Tensor:
    """input - tanh(input)."""
    return floating("tanhshrink", input) - np.tanh(input)


def glu(x: Any, axis: int = -1) -> Tensor:
    """The first half along an axis, times the sigmoid of the second."""
    axis_of("glu", axis, np.ndim(array("glu", x, "x")))
    first, second = np.split(x, 2, axis)
    return first * logistic(second)


# ---- along an axis -------------------------------------------------------------------------------


def softmax(input: Any, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """exp(input), divided by its sum along an axis; without overflow.

    Raises:
        ArgumentValueError: the axis is out of range.

    Example:
        >>> softmax(Tensor([1000.0, 1000.0])).tolist()
        [0.5, 0.5]
    """
    axis_of("softmax", axis, np.ndim(array("softmax", input)))
    x = floating("softmax", input) if dtype is None else input.astype(dtype)
    exponentials = np.exp(x - stop_gradient(np.max(x, axis=axis, keepdims=True)))
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


def softmin(x: Any, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """softmax(-x)."""
    return softmax(-array("softmin", x, "x"), axis, dtype=dtype)


def log_softmax(logits: Any, axis: int = -1) -> Tensor:
    """log(softmax(logits)), without overflow or underflow.

    Raises:
        ArgumentValueError: the axis is out of range.
    """
    axis_of("log_softmax", axis, np.ndim(array("log_softmax", logits, "logits")))
    x = floating("log_softmax", logits, "logits")
    shifted = x - stop_gradient(np.max(x, axis=axis, keepdims=True))
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
