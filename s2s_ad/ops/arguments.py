"""What the functions of this package check of their arguments, each in one voice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError

NUMBERS = (int, float, complex)
NOT_ARRAYS = (bytes, dict, list, set, str, tuple, type(None))
REDUCTIONS = ("mean", "sum", "none")


def eager(check: Callable) -> Callable:
    """A check that NumPy makes as well: the compiler leaves its calls out.

    Where the call is made outside compiled code it says more of the mistake.
    """
    check.__s2s_call__ = _nothing
    return check


def _nothing(lowering: Any, args: list, kwargs: dict[str, Any]) -> None:
    """The value of a check."""


def array(api: str, value: Any, name: str = "input") -> Any:
    """`value`, which is a Tensor, an array or a number."""
    if isinstance(value, NOT_ARRAYS):
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: argument '{name}' is a {type(value).__name__}; expected a Tensor",
            help="make a Tensor of it: Tensor(value)",
        )
    return value


def floating(api: str, value: Any, name: str = "input") -> Any:
    """`value`, floating-point where it was integers: of float32 where it is a Tensor."""
    array(api, value, name)
    return value if np.result_type(value).kind in "fc" else value * 1.0


def beside(api: str, value: Any, other: Any, name: str = "input") -> Any:
    """`value`, in the dtype that integers take beside `other` where that is floating-point."""
    array(api, value, name)
    mixed = np.result_type(value).kind in "biu" and np.result_type(other).kind in "fc"
    if not mixed or isinstance(value, NUMBERS):
        return value
    return value * 1.0 if isinstance(other, NUMBERS) else value.astype(other.dtype)


def sequence(api: str, value: Any, name: str = "tensors") -> Any:
    """`value`, a tuple or list of at least one Tensor."""
    if not isinstance(value, tuple | list):
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: argument '{name}' is a {type(value).__name__}; "
            "expected a tuple or list of Tensors",
        )
    items_of(api, value, name)
    return value


@eager
def items_of(api: str, value: Any, name: str) -> None:
    """There is an item, and all of them are Tensors."""
    if len(value) == 0:
        raise ArgumentValueError(
            "S2S502", f"{api}: argument '{name}' is empty; expected at least one Tensor"
        )
    for index, each in enumerate(value):
        if isinstance(each, NUMBERS + NOT_ARRAYS):
            raise ArgumentTypeError(
                "S2S501",
                f"{api}: {name}[{index}] is a {type(each).__name__}; expected a Tensor",
                help="make a Tensor of it: Tensor(value)",
            )


def axis_of(api: str, axis: Any, rank: int, name: str = "axis") -> Any:
    """`axis`, an int that names one of `rank` axes."""
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise ArgumentTypeError("S2S501", f"{api}: argument '{name}' is {axis!r}; expected an int")
    if not -rank <= axis < rank:
        raise ArgumentValueError(
            "S2S502", f"{api}: argument '{name}' is {axis}; expected a value in [{-rank}, {rank})"
        )
    return axis


def axes_of(api: str, axis: Any, rank: int, name: str = "axis") -> Any:
    """`axis`: None or () for all axes, an int, or a tuple or list of ints."""
    if axis is None or (isinstance(axis, tuple | list) and len(axis) == 0):
        return None
    if isinstance(axis, tuple | list):
        return tuple(axis_of(api, each, rank, name) for each in axis)
    return axis_of(api, axis, rank, name)


def choice(api: str, value: Any, name: str, choices: Sequence[str]) -> Any:
    """`value`, which is one of the choices."""
    if not isinstance(value, str):
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: argument '{name}' is {value!r}; expected one of {', '.join(choices)}",
        )
    if value not in choices:
        raise ArgumentValueError(
            "S2S502",
            f"{api}: argument '{name}' is {value!r}; expected one of {', '.join(choices)}",
        )
    return value


def positive(api: str, value: Any, name: str) -> Any:
    """`value`, a number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ArgumentTypeError(
            "S2S501", f"{api}: argument '{name}' is {value!r}; expected a number"
        )
    if value <= 0:
        raise ArgumentValueError(
            "S2S502", f"{api}: argument '{name}' is {value}; expected a number above 0"
        )
    return value


def count_of(api: str, value: Any, name: str, low: int = 0) -> Any:
    """`value`, an int of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ArgumentTypeError("S2S501", f"{api}: argument '{name}' is {value!r}; expected an int")
    if value < low:
        raise ArgumentValueError(
            "S2S502", f"{api}: argument '{name}' is {value}; expected an int of at least {low}"
        )
    return value


def indices_of(api: str, value: Any, name: str = "indices") -> Any:
    """`value`, a Tensor of integers."""
    if np.result_type(array(api, value, name)).kind not in "biu":
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: argument '{name}' has dtype {np.result_type(value)}; expected integers",
        )
    return value


def probability(api: str, value: Any, name: str = "p") -> Any:
    """`value`, a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ArgumentTypeError(
            "S2S501", f"{api}: argument '{name}' is {value!r}; expected a number"
        )
    if not 0 <= value <= 1:
        raise ArgumentValueError(
            "S2S502", f"{api}: argument '{name}' is {value}; expected a number in [0, 1]"
        )
    return value


def same_rank(api: str, first: Any, second: Any, names: tuple[str, str]) -> None:
    """Two arrays that are compared element by element have as many axes."""
    if np.ndim(first) != np.ndim(second):
        raise ArgumentValueError(
            "S2S502",
            f"{api}: {names[0]} has {np.ndim(first)} axes, {names[1]} has {np.ndim(second)}; "
            "expected the same shape",
        )


def same_shape(api: str, first: Any, second: Any, names: tuple[str, str]) -> None:
    """Two arrays have one shape: what would broadcast is a mistake here."""
    same_rank(api, first, second, names)
    if np.shape(first) != np.shape(second):
        raise ArgumentValueError(
            "S2S502",
            f"{api}: {names[0]} has shape {np.shape(first)}, {names[1]} has shape "
            f"{np.shape(second)}; expected the same shape",
        )


@eager
def line_up(api: str, first: Any, second: Any) -> None:
    """The shapes of the operands of a matrix product fit."""
    shapes = np.shape(first), np.shape(second)
    for name, shape in zip(("input", "other"), shapes, strict=True):
        if not shape:
            raise ArgumentValueError(
                "S2S502", f"{api}: argument '{name}' is a number; expected at least one axis"
            )
    left, right = shapes[0][-1], shapes[1][0] if len(shapes[1]) == 1 else shapes[1][-2]
    if left != right:
        raise ArgumentValueError(
            "S2S502",
            f"{api}: shapes {shapes[0]} and {shapes[1]} do not line up: {left} != {right}",
        )


@eager
def one_shape(api: str, arrays: Sequence[Any], name: str = "tensors") -> None:
    """All arrays have the shape of the first."""
    for index, each in enumerate(arrays):
        if np.shape(each) != np.shape(arrays[0]):
            raise ArgumentValueError(
                "S2S502",
                f"{api}: {name}[{index}] has shape {np.shape(each)}, "
                f"{name}[0] has {np.shape(arrays[0])}",
            )
