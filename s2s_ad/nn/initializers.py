"""Initial values of parameters: `initializer("normal", shape)`, `initializer(HeUniform(), shape)`.

They draw from NumPy's own state, so `np.random.seed` (and `set_seed`) makes them repeatable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s_ad.nn.check import choice, number, wrong_type, wrong_value
from s2s_ad.tensors import Tensor, dtype_of


class Initializer:
    """Values for an array by its shape; subclasses say them in `values`."""

    def values(self, shape: tuple[int, ...]) -> Any:
        """The values, or one for all."""
        raise NotImplementedError

    def __call__(self, array: np.ndarray) -> None:
        """Fill an array."""
        array[...] = self.values(array.shape)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({given})"


class Zero(Initializer):
    """Zeros."""

    def values(self, shape: tuple[int, ...]) -> Any:
        return 0.0


class One(Initializer):
    """Ones."""

    def values(self, shape: tuple[int, ...]) -> Any:
        return 1.0


class Constant(Initializer):
    """One value everywhere."""

    def __init__(self, value: float):
        number("Constant", value=value)
        self.value = value

    def values(self, shape: tuple[int, ...]) -> Any:
        return self.value


class Identity(Initializer):
    """The identity matrix; of two axes only."""

    def values(self, shape: tuple[int, ...]) -> Any:
        if len(shape) != 2:
            raise wrong_value("Identity", "shape", shape, "a shape of two axes")
        return np.eye(*shape)


class Uniform(Initializer):
    """Uniform in (-scale, scale)."""

    def __init__(self, scale: float = 0.07):
        number("Uniform", scale=scale)
        self.scale = scale

    def values(self, shape: tuple[int, ...]) -> Any:
        return np.random.uniform(-self.scale, self.scale, shape)


class Normal(Initializer):
    """Normal with this deviation and mean."""

    def __init__(self, sigma: float = 0.01, mean: float = 0.0):
        number("Normal", sigma=sigma, mean=mean)
        self.sigma, self.mean = sigma, mean

    def values(self, shape: tuple[int, ...]) -> Any:
        return np.random.normal(self.mean, self.sigma, shape)


class TruncatedNormal(Initializer):
    """Normal, drawn again where it is outside `mean + a * sigma` to `mean + b * sigma`."""

    def __init__(self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0):
        number("TruncatedNormal", sigma=sigma, mean=mean, a=a, b=b)
        if not a < b:
            raise wrong_value("TruncatedNormal", "b", b, f"a number greater than a={a}")
        self.sigma, self.mean, self.a, self.b = sigma, mean, a, b

    def values(self, shape: tuple[int, ...]) -> Any:
        drawn = np.random.normal(size=shape)
        while (outside := (drawn < self.a) | (drawn > self.b)).any():
            drawn = np.where(outside, np.random.normal(size=shape), drawn)
        return self.mean + self.sigma * drawn


class XavierUniform(Initializer):
    """Uniform within gain * sqrt(6 / (fan_in + fan_out))."""

    def __init__(self, gain: float = 1):
        number("XavierUniform", gain=gain)
        self.gain = gain

    def values(self, shape: tuple[int, ...]) -> Any:
        bound = self.gain * math.sqrt(6.0 / sum(fans("XavierUniform", shape)))
        return np.random.uniform(-bound, bound, shape)


class XavierNormal(Initializer):
    """Normal with the deviation gain * sqrt(2 / (fan_in + fan_out))."""

    def __init__(self, gain: float = 1):
        number("XavierNormal", gain=gain)
        self.gain = gain

    def values(self, shape: tuple[int, ...]) -> Any:
        sigma = self.gain * math.sqrt(2.0 / sum(fans("XavierNormal", shape)))
        return np.random.normal(0.0, sigma, shape)


class _He(Initializer):
    """Initial values with a variance of gain**2 / fan."""

    def __init__(
        self,
        negative_slope: float = 0,
        mode: str = "fan_in",
        nonlinearity: str = "leaky_relu",
    ):
        kind = type(self).__name__
        number(kind, negative_slope=negative_slope)
        choice(kind, "mode", mode, ("fan_in", "fan_out"))
        choice(kind, "nonlinearity", nonlinearity, GAINS)
        self.negative_slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity

    def deviation(self, shape: tuple[int, ...]) -> float:
        fan_in, fan_out = fans(type(self).__name__, shape)
        fan = fan_in if self.mode == "fan_in" else fan_out
        return GAINS[self.nonlinearity](self.negative_slope) / math.sqrt(fan)


class HeUniform(_He):
    """Uniform within gain * sqrt(3 / fan)."""

    def values(self, shape: tuple[int, ...]) -> Any:
        bound = math.sqrt(3.0) * self.deviation(shape)
        return np.random.uniform(-bound, bound, shape)


class HeNormal(_He):
    """Normal with the deviation gain / sqrt(fan)."""

    def values(self, shape: tuple[int, ...]) -> Any:
        return np.random.normal(0.0, self.deviation(shape), shape)


#: by how much a layer before this function is scaled, by the slope of a leaky ReLU
GAINS: dict[str, Callable[[float], float]] = {
    "linear": lambda slope: 1.0,
    "sigmoid": lambda slope: 1.0,
    "tanh": lambda slope: 5.0 / 3.0,
    "relu": lambda slope: math.sqrt(2.0),
    "leaky_relu": lambda slope: math.sqrt(2.0 / (1.0 + slope**2)),
}

BY_NAME: dict[str, Callable[[], Initializer]] = {
    "he_normal": HeNormal,
    "he_uniform": HeUniform,
    "identity": Identity,
    "normal": Normal,
    "one": One,
    "ones": One,
    "truncatednormal": TruncatedNormal,
    "truncated_normal": TruncatedNormal,
    "uniform": Uniform,
    "xavier_normal": XavierNormal,
    "xavier_uniform": XavierUniform,
    "zero": Zero,
    "zeros": Zero,
}


def fans(api: str, shape: Sequence[int]) -> tuple[int, int]:
    """(inputs, outputs) of one unit of a weight of this shape: (out, in, *kernel).

    Raises:
        ArgumentValueError: the shape has less than two axes.
    """
    if len(shape) < 2:
        raise wrong_value(api, "shape", tuple(shape), "a shape of two axes or more")
    kernel = math.prod(shape[2:])
    return shape[1] * kernel, shape[0] * kernel


def initializer(init: Any, shape: Any = None, dtype: Any = np.float32) -> Tensor:
    """A Tensor with initial values.

    Args:
        init: a name ('normal', 'uniform', 'zeros', 'ones', 'he_uniform', 'xavier_uniform', ...), an
            Initializer, a number, or the values themselves.
        shape: the shape, an int or a tuple; of values themselves it may be left out.
        dtype: the dtype.

    Raises:
        ArgumentTypeError: `init` is none of these.
        ArgumentValueError: there is no such name, or the values have another shape.

    Example:
        >>> print(initializer("ones", (2, 3)))
        [[1. 1. 1.]
         [1. 1. 1.]]
    """
    if isinstance(init, np.ndarray):
        return _given(init, shape, dtype)
    if isinstance(init, str):
        choice("initializer", "init", init.lower(), BY_NAME)
        init = BY_NAME[init.lower()]()
    elif isinstance(init, int | float) and not isinstance(init, bool):
        init = Constant(init)
    if not isinstance(init, Initializer):
        expected = "a name, an Initializer, a number or a Tensor"
        raise wrong_type("initializer", "init", init, expected)
    values = np.empty(_lengths(shape), dtype_of(dtype))
    init(values)
    return Tensor.from_numpy(values)


def _lengths(shape: Any) -> tuple[int, ...]:
    lengths = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    for each in lengths:
        if not isinstance(each, int | np.integer) or isinstance(each, bool) or each < 0:
            raise wrong_value("initializer", "shape", shape, "an int or a tuple of ints")
    return lengths


def _given(values: np.ndarray, shape: Any, dtype: Any) -> Tensor:
    if shape is not None and values.shape != _lengths(shape):
        raise wrong_value("initializer", "shape", shape, f"the shape of the values, {values.shape}")
    return Tensor(np.array(values, dtype_of(dtype)))


__all__ = [
    "Constant",
    "HeNormal",
    "HeUniform",
    "Identity",
    "Initializer",
    "Normal",
    "One",
    "TruncatedNormal",
    "Uniform",
    "XavierNormal",
    "XavierUniform",
    "Zero",
    "initializer",
]
