"""New values for Parameters, in place."""

from __future__ import annotations

from typing import Any

from s2s_ad.diagnostics import ArgumentTypeError
from s2s_ad.tensors import Parameter, Tensor


def parameter(api: str, variable: Any) -> Any:
    """`variable`, a Parameter."""
    if not isinstance(variable, Parameter):
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: argument 'variable' is a {type(variable).__name__}; expected a Parameter",
        )
    return variable


def assign(variable: Parameter, value: Any) -> Tensor:
    """Give a Parameter a new value; returns it as a Tensor.

    Example:
        >>> p = Parameter(Tensor([1.0, 2.0]))
        >>> _ = assign(p, Tensor([3.0, 4.0]))
        >>> p.tolist()
        [3.0, 4.0]
    """
    parameter("assign", variable)[...] = value
    return variable.value()


def assign_add(variable: Parameter, value: Any) -> Tensor:
    """Add to a Parameter in place; returns its new value."""
    parameter("assign_add", variable)[...] = variable + value
    return variable.value()


def assign_sub(variable: Parameter, value: Any) -> Tensor:
    """Subtract from a Parameter in place; returns its new value."""
    parameter("assign_sub", variable)[...] = variable - value
    return variable.value()
