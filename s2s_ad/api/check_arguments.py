"""Arguments of the transforms, refused at the earliest moment with their name and value."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError


def shown(value: Any) -> str:
    """A value as a message shows it: its type and a short repr."""
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"


def check_callable(api: str, fn: Any) -> None:
    if isinstance(fn, np.ufunc):
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: NumPy ufunc {fn.__name__!r} has no Python source",
            help=f"wrap it: def f(x): return np.{fn.__name__}(x)",
        )
    if not callable(fn) or isinstance(fn, type):
        raise ArgumentTypeError(
            "S2S501", f"{api}: argument 'fn' must be a function, got {shown(fn)}"
        )
    if inspect.isgeneratorfunction(fn):
        raise ArgumentTypeError("S2S501", f"{api}: generator functions cannot be differentiated")


def check_flag(api: str, name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise ArgumentTypeError(
            "S2S501", f"{api}: argument {name!r} must be True or False, got {shown(value)}"
        )


def signature_of(api: str, fn: Callable) -> inspect.Signature:
    try:
        return inspect.signature(fn)
    except (ValueError, TypeError):
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: {fn!r} has no Python source",
            help="wrap it: def f(x): return ...",
        ) from None


def check_positions(api: str, value: Any, weights: Any, signature: inspect.Signature) -> tuple:
    """`grad_position` as a tuple of ints.

    Raises:
        ArgumentTypeError: not None, an int or a tuple of ints.
        ArgumentValueError: empty, negative, twice the same, or not a position of the function.
    """
    if value is None:
        if weights is None:
            raise ArgumentValueError(
                "S2S502",
                f"{api}: `grad_position` and `weight` can not be None at the same time.",
                help="give an input index (grad_position=0) or parameters (weights=...)",
            )
        return ()
    if isinstance(value, bool) or not isinstance(value, int | tuple | list):
        hint = "did you mean has_aux=True?" if isinstance(value, bool) else ""
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: argument 'grad_position' must be None, an int or a tuple of ints, "
            f"got {shown(value)}",
            help=hint,
        )
    positions = (value,) if isinstance(value, int) else tuple(value)
    if not positions:
        raise ArgumentValueError(
            "S2S502",
            f"{api}: argument 'grad_position' is empty",
            help="name at least one input, or None with weights=...",
        )
    for i, each in enumerate(positions):
        label = f"grad_position[{i}]" if isinstance(value, tuple | list) else "grad_position"
        _check_position(api, label, each, signature)
    if len(set(positions)) < len(positions):
        twice = next(each for each in positions if positions.count(each) > 1)
        raise ArgumentValueError(
            "S2S502", f"{api}: argument 'grad_position' {positions} names input {twice} twice"
        )
    return positions


def _check_position(api: str, label: str, value: Any, signature: inspect.Signature) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentTypeError("S2S501", f"{api}: {label} must be an int, got {shown(value)}")
    if value < 0:
        raise ArgumentValueError(
            "S2S502",
            f"{api}: {label} must be >= 0, got {value}",
            why="negative indices are not counted from the end",
        )
    parameters = signature.parameters.values()
    if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters):
        return
    count = sum(each.kind is not inspect.Parameter.VAR_KEYWORD for each in parameters)
    if value >= count:
        valid = f"valid: 0..{count - 1}" if count else "it takes no inputs"
        raise ArgumentValueError(
            "S2S502",
            f"{api}: {label} {value} is out of range: the function has {count} inputs ({valid})",
        )


def check_differentiable(api: str, name: str, abstract: Any) -> None:
    """Every leaf of a differentiated argument has to hold floating-point numbers."""
    for path, fact in zip(tree.paths(abstract), tree.leaves(abstract), strict=True):
        if isinstance(fact, values.Unknown) or values.is_inexact(fact):
            continue
        label = tree.path_text(name, path)
        if isinstance(fact, values.Array):
            what, help = f"has dtype {fact.dtype}", "convert it with .astype(float)"
        elif isinstance(fact, values.Scalar):
            what, help = f"is a Python {fact.kind.__name__}", "pass a float"
        else:
            what, help = f"is {shown(fact.value)}", "pass a float or an array of floats"
        raise ArgumentTypeError(
            "S2S303",
            f"{api}: input {label} {what}; gradients need floating-point numbers",
            help=help,
        )


def check_axes(api: str, name: str, value: Any) -> None:
    """in_axes and out_axes: ints, None, and tuples, lists or dicts of these."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return
    if isinstance(value, tuple | list):
        for i, each in enumerate(value):
            check_axes(api, f"{name}[{i}]", each)
    elif isinstance(value, dict):
        for key, each in value.items():
            check_axes(api, f"{name}[{key!r}]", each)
    else:
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: argument '{name}' must be an int, None, or a tuple, list or dict of these, "
            f"got {shown(value)}",
        )
