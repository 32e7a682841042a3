"""The parameters that layers make: their initial values as the user gives them, or by default."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.nn.initializers import Uniform, initializer
from s2s_ad.tensors import Parameter


def parameter(
    layer: str,
    argument: str,
    init: Any,
    shape: tuple[int, ...],
    dtype: Any,
    requires_grad: bool = True,
) -> Parameter:
    """A parameter of a layer, with the initial values that its argument says.

    Raises:
        ArgumentValueError: they have another shape.
    """
    if isinstance(init, np.ndarray) and init.shape != shape:
        raise ArgumentValueError(
            "S2S502", f"{layer}: argument {argument!r} has shape {init.shape}, expected {shape}"
        )
    name = argument.removesuffix("_init")
    return Parameter(initializer(init, shape, dtype), name=name, requires_grad=requires_grad)


def affine(layer: str, weight_init: Any, shape: tuple[int, ...], dtype: Any) -> Parameter:
    """The weight of a layer, (out, in, *kernel): uniform within 1 / sqrt(fan_in) by default."""
    init = scaled(shape) if weight_init is None else weight_init
    return parameter(layer, "weight_init", init, shape, dtype)


def scaled(shape: tuple[int, ...]) -> Uniform:
    """Uniform within 1 / sqrt(fan_in) of a weight of this shape."""
    return Uniform(1 / math.sqrt(math.prod(shape[1:])))
