"""Values and gradients within bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError
from s2s_ad.ops.arguments import NUMBERS, array, floating, positive
from s2s_ad.tensors import Tensor
from s2s_ad.tensors.elementwise import in_array


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Tensor:
    """x between two bounds; a tuple for a tuple or list of Tensors.

    Where min > max the result is max. At a bound the derivative is shared with it.

    Raises:
        ArgumentValueError: both bounds are None.

    Example:
        >>> clip_by_value(Tensor([-2.0, 0.5, 3.0]), -1.0, 1.0).tolist()
        [-1.0, 0.5, 1.0]
    """
    bounded("clip_by_value", clip_value_min, clip_value_max)
    if isinstance(x, tuple | list):
        return tuple(clip_by_value(each, clip_value_min, clip_value_max) for each in x)
    return between(array("clip_by_value", x, "x"), clip_value_min, clip_value_max)


def bounded(api: str, low: Any, high: Any) -> None:
    """At least one bound is given."""
    if low is None and high is None:
        raise ArgumentValueError(
            "S2S502", f"{api}: both bounds are None; expected at least one of them"
        )


def between(x: Any, low: Any, high: Any) -> Any:
    """x not below `low`, then not above `high`."""
    low, high = in_array(low, x), in_array(high, x)
    if low is None:
        return np.minimum(x, high)
    return np.maximum(x, low) if high is None else np.minimum(np.maximum(x, low), high)


def clamp(input: Any, min: Any = None, max: Any = None) -> Tensor:
    """input between two bounds; a tuple for a tuple or list. At a bound the derivative is 1.

    Raises:
        ArgumentValueError: both bounds are None.
    """
    bounded("clamp", min, max)
    if isinstance(input, tuple | list):
        return tuple(clamp(each, min, max) for each in input)
    return np.clip(array("clamp", input), min, max)


def clip_by_norm(
    x: Any, max_norm: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Any:
    """x scaled to a norm of at most max_norm; a tuple for a tuple or list, by the norm of all.

    Raises:
        ArgumentValueError: error_if_nonfinite, and the norm is not finite.

    Example:
        >>> [round(each, 4) for each in clip_by_norm(Tensor([3.0, 4.0]), 1.0).tolist()]
        [0.6, 0.8]
    """
    if isinstance(max_norm, int | float) and not max_norm >= 0:
        raise ArgumentValueError(
            "S2S502", f"clip_by_norm: argument 'max_norm' is {max_norm}; expected at least 0"
        )
    one = not isinstance(x, tuple | list)
    parts = (x,) if one else x
    if not one and len(parts) == 0:
        raise ArgumentValueError("S2S502", "clip_by_norm: argument 'x' is empty")
    total = norm_of([floating("clip_by_norm", each, "x") for each in parts], norm_type)
    if error_if_nonfinite and not np.isfinite(total):
        raise ArgumentValueError("S2S502", f"clip_by_norm: the norm of 'x' is {total}")
    factor = np.minimum(max_norm / (total + 1e-6), 1.0)
    scaled = [(each * factor).astype(each.dtype) for each in parts]
    return scaled[0] if one else tuple(scaled)


def norm_of(parts: list, norm_type: float) -> Any:
    """The norm of all elements of all parts."""
    if norm_type == float("inf"):
        return np.max(np.stack([np.max(np.abs(each)) for each in parts]))
    if norm_type == 2:
        return np.sqrt(sum_of([np.sum(np.square(each)) for each in parts]))
    total = sum_of([np.sum(np.abs(each) ** norm_type) for each in parts])
    return total ** (1 / norm_type)


def sum_of(terms: list) -> Any:
    """The sum of at least one term."""
    total = terms[0]
    for each in terms[1:]:
        total = total + each
    return total


def clip_by_global_norm(x: Any, clip_norm: Any = 1.0, use_norm: Any = None) -> Any:
    """A tuple of Tensors, scaled together to a norm of at most clip_norm.

    Args:
        x: a tuple or list of Tensors, nested or not; each keeps its dtype. The norm is that of all
            their elements, in float32 at least.
        use_norm: None.

    Returns:
        A tuple of Tensors, as they are where the norm is at most clip_norm.

    Raises:
        ArgumentTypeError: x is a Tensor.
        ArgumentValueError: x is empty, clip_norm is not above 0, or use_norm is given.

    Example:
        >>> [round(each, 4) for each in clip_by_global_norm((Tensor([3.0, 4.0]),), 1.0)[0].tolist()]
        [0.6, 0.8]
    """
    if use_norm is not None:
        raise ArgumentValueError(
            "S2S502", f"clip_by_global_norm: argument 'use_norm' is {use_norm}; expected None"
        )
    positive("clip_by_global_norm", clip_norm, "clip_norm")
    if not isinstance(x, tuple | list):
        raise ArgumentTypeError(
            "S2S501",
            f"clip_by_global_norm: argument 'x' is a {type(x).__name__}; "
            "expected a tuple or list of Tensors",
        )
    leaves = leaves_of(x)
    if len(leaves) == 0:
        raise ArgumentValueError("S2S502", "clip_by_global_norm: argument 'x' is empty")
    norm = np.sqrt(sum_of([np.sum(np.square(at_least_float32(each))) for each in leaves]))
    return scaled_by(x, clip_norm / np.maximum(norm, clip_norm))


def leaves_of(x: Any) -> list:
    """The Tensors in nested tuples and lists, in order."""
    if not isinstance(x, tuple | list):
        if isinstance(x, NUMBERS):
            raise ArgumentTypeError(
                "S2S501", f"clip_by_global_norm: an item of 'x' is {x}; expected a Tensor"
            )
        return [array("clip_by_global_norm", x, "x")]
    return [leaf for each in x for leaf in leaves_of(each)]


def at_least_float32(x: Any) -> Any:
    """x in the dtype that squares are summed in."""
    return x.astype(np.promote_types(x.dtype, np.float32))


def scaled_by(x: Any, factor: Any) -> Any:
    """Each Tensor times a factor, in its dtype."""
    if isinstance(x, tuple | list):
        return tuple(scaled_by(each, factor) for each in x)
    return (x * factor).astype(x.dtype)


clip = clamp
