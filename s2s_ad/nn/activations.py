"""Activations as Cells, and by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad import ops
from s2s_ad.nn import check
from s2s_ad.nn.cell import Cell
from s2s_ad.nn.parameters import parameter


class ReLU(Cell):
    """max(x, 0), whose derivative at 0 is 0."""

    def construct(self, x: Any) -> Any:
        return ops.relu(x)


class ReLU6(Cell):
    """min(max(x, 0), 6)"""

    def construct(self, x: Any) -> Any:
        return ops.relu6(x)


class LeakyReLU(Cell):
    """x where it is positive, alpha * x elsewhere."""

    def __init__(self, alpha: float = 0.2):
        super().__init__()
        check.number("LeakyReLU", alpha=alpha)
        self.alpha = alpha

    def construct(self, x: Any) -> Any:
        return ops.leaky_relu(x, self.alpha)

    def extend_repr(self) -> str:
        return f"alpha={self.alpha}"


class PReLU(Cell):
    """x where it is positive, weight * x elsewhere; the weight is learned.

    Args:
        channel: the number of weights: 1, or the length of axis 1 of the input.
        w: their initial value.
    """

    def __init__(self, channel: int = 1, w: Any = 0.25):
        super().__init__()
        check.positive_int("PReLU", channel=channel)
        self.channel = channel
        self.weight = parameter("PReLU", "weight_init", w, (channel,), np.float32)

    def construct(self, x: Any) -> Any:
        return ops.prelu(x, self.weight)


class ELU(Cell):
    """x where it is positive, alpha * (exp(x) - 1) elsewhere."""

    def __init__(self, alpha: float = 1.0):
        super().__init__()
        check.number("ELU", alpha=alpha)
        self.alpha = alpha

    def construct(self, x: Any) -> Any:
        return ops.elu(x, self.alpha)


class CELU(Cell):
    """x where it is positive, alpha * (exp(x / alpha) - 1) elsewhere."""

    def __init__(self, alpha: float = 1.0):
        super().__init__()
        check.number("CELU", alpha=alpha)
        self.alpha = alpha

    def construct(self, x: Any) -> Any:
        return ops.celu(x, self.alpha)


class SELU(Cell):
    """scale * (x where it is positive, alpha * (exp(x) - 1) elsewhere)"""

    def construct(self, x: Any) -> Any:
        return ops.selu(x)


class Sigmoid(Cell):
    """1 / (1 + exp(-x))"""

    def construct(self, x: Any) -> Any:
        return ops.sigmoid(x)


class LogSigmoid(Cell):
    """log(1 / (1 + exp(-x)))"""

    def construct(self, x: Any) -> Any:
        return ops.logsigmoid(x)


class Tanh(Cell):
    """tanh(x)"""

    def construct(self, x: Any) -> Any:
        return ops.tanh(x)


class Softmax(Cell):
    """exp(x) over its sum along an axis."""

    def __init__(self, axis: int = -1):
        super().__init__()
        self.axis = axis

    def construct(self, x: Any) -> Any:
        return ops.softmax(x, self.axis)

    def extend_repr(self) -> str:
        return f"axis={self.axis}"


class LogSoftmax(Cell):
    """The logarithm of Softmax."""

    def __init__(self, axis: int = -1):
        super().__init__()
        self.axis = axis

    def construct(self, x: Any) -> Any:
        return ops.log_softmax(x, self.axis)

    def extend_repr(self) -> str:
        return f"axis={self.axis}"


class Softmin(Cell):
    """Softmax of -x."""

    def __init__(self, axis: int = -1):
        super().__init__()
        self.axis = axis

    def construct(self, x: Any) -> Any:
        return ops.softmin(x, self.axis)


class GELU(Cell):
    """x times the probability that a normal number is below x; by default as a tanh gives it."""

    def __init__(self, approximate: bool = True):
        super().__init__()
        check.flag("GELU", approximate=approximate)
        self.approximate = "tanh" if approximate else "none"

    def construct(self, x: Any) -> Any:
        return ops.gelu(x, self.approximate)


class FastGelu(Cell):
    """x * sigmoid(1.702 * x)"""

    def construct(self, x: Any) -> Any:
        return ops.fast_gelu(x)


class SiLU(Cell):
    """x * sigmoid(x)"""

    def construct(self, x: Any) -> Any:
        return ops.silu(x)


class Mish(Cell):
    """x * tanh(log(1 + exp(x)))"""

    def construct(self, x: Any) -> Any:
        return ops.mish(x)


class HSigmoid(Cell):
    """min(max(x + 3, 0), 6) / 6"""

    def construct(self, x: Any) -> Any:
        return ops.hardsigmoid(x)


class HSwish(Cell):
    """x * HSigmoid(x)"""

    def construct(self, x: Any) -> Any:
        return ops.hardswish(x)


class Softsign(Cell):
    """x / (1 + |x|)"""

    def construct(self, x: Any) -> Any:
        return ops.softsign(x)


class Tanhshrink(Cell):
    """x - tanh(x)"""

    def construct(self, x: Any) -> Any:
        return ops.tanhshrink(x)


class HShrink(Cell):
    """x where |x| > lambd, 0 elsewhere."""

    def __init__(self, lambd: float = 0.5):
        super().__init__()
        check.number("HShrink", lambd=lambd)
        self.lambd = lambd

    def construct(self, x: Any) -> Any:
        return ops.hardshrink(x, self.lambd)


class SoftShrink(Cell):
    """x, nearer to 0 by lambd; 0 where it would cross it."""

    def __init__(self, lambd: float = 0.5):
        super().__init__()
        check.number("SoftShrink", lambd=lambd)
        self.lambd = lambd

    def construct(self, x: Any) -> Any:
        return ops.softshrink(x, self.lambd)


class Hardtanh(Cell):
    """min(max(x, min_val), max_val)"""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0):
        super().__init__()
        check.number("Hardtanh", min_val=min_val, max_val=max_val)
        self.min_val, self.max_val = min_val, max_val

    def construct(self, x: Any) -> Any:
        return ops.hardtanh(x, self.min_val, self.max_val)


BY_NAME: dict[str, Callable[[], Cell]] = {
    "celu": CELU,
    "elu": ELU,
    "fast_gelu": FastGelu,
    "gelu": GELU,
    "hardtanh": Hardtanh,
    "hshrink": HShrink,
    "hsigmoid": HSigmoid,
    "hswish": HSwish,
    "leakyrelu": LeakyReLU,
    "logsigmoid": LogSigmoid,
    "logsoftmax": LogSoftmax,
    "mish": Mish,
    "prelu": PReLU,
    "relu": ReLU,
    "relu6": ReLU6,
    "selu": SELU,
    "sigmoid": Sigmoid,
    "silu": SiLU,
    "softmax": Softmax,
    "softmin": Softmin,
    "softshrink": SoftShrink,
    "softsign": Softsign,
    "tanh": Tanh,
    "tanhshrink": Tanhshrink,
}


def get_activation(name: str | None, prim_name: str | None = None) -> Cell | None:
    """A new activation by its name; None for no name.

    Raises:
        ArgumentValueError: there is none of that name; the message lists them.

    Example:
        >>> get_activation("relu")
        ReLU()
    """
    if name is None:
        return None
    check.choice(prim_name or "get_activation", "name", name, BY_NAME)
    return BY_NAME[name]()


def activation_of(layer: str, given: Any) -> Any:
    """The activation that a layer is given: a name, a function, a Cell, or None."""
    if isinstance(given, str):
        check.choice(layer, "activation", given, BY_NAME)
        return BY_NAME[given]()
    if given is not None and not callable(given):
        expected = "a name, a function, a Cell or None"
        raise check.wrong_type(layer, "activation", given, expected)
    return given


__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "SELU",
    "FastGelu",
    "HShrink",
    "HSigmoid",
    "HSwish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "SoftShrink",
    "Softmax",
    "Softmin",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "get_activation",
]
