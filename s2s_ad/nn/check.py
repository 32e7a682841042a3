"""Arguments of layers and losses, refused by name and value before any work."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError

REDUCTIONS = ("mean", "sum", "none")


def shown(value: Any) -> str:
    """A value as a message shows it: its type and a short text."""
    if value is None:
        return "None"
    text = " ".join(repr(value).split())
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"


def wrong_type(api: str, name: str, value: Any, expected: str) -> ArgumentTypeError:
    return ArgumentTypeError(
        "S2S501", f"{api}: argument {name!r}, got {shown(value)}; expected {expected}"
    )


def wrong_value(api: str, name: str, value: Any, expected: str) -> ArgumentValueError:
    return ArgumentValueError(
        "S2S502", f"{api}: argument {name!r}, got {shown(value)}; expected {expected}"
    )


def positive_int(api: str, **arguments: Any) -> None:
    for name, value in arguments.items():
        if not isinstance(value, int | np.integer) or isinstance(value, bool):
            raise wrong_type(api, name, value, "an int greater than 0")
        if value < 1:
            raise wrong_value(api, name, value, "an int greater than 0")


def flag(api: str, **arguments: Any) -> None:
    for name, value in arguments.items():
        if not isinstance(value, bool):
            raise wrong_type(api, name, value, "True or False")


def number(api: str, **arguments: Any) -> None:
    for name, value in arguments.items():
        if not isinstance(value, int | float | np.floating | np.integer) or value is True:
            raise wrong_type(api, name, value, "a number")


def choice(api: str, name: str, value: Any, allowed: Any) -> None:
    if not isinstance(value, str) or value not in allowed:
        listed = ", ".join(map(repr, allowed))
        raise wrong_value(api, name, value, f"one of {listed}")


def reduction(api: str, value: Any) -> None:
    choice(api, "reduction", value, REDUCTIONS)


def rate(api: str, **arguments: Any) -> None:
    """Numbers in [0, 1)."""
    number(api, **arguments)
    for name, value in arguments.items():
        if not 0 <= value < 1:
            raise wrong_value(api, name, value, "a number in [0, 1)")


def pair(api: str, name: str, value: Any, low: int = 1) -> tuple[int, int]:
    """(height, width) of an int or of two."""
    items = value if isinstance(value, tuple | list) else (value, value)
    if len(items) != 2:
        raise wrong_value(api, name, value, "an int or a tuple of two")
    for each in items:
        if not isinstance(each, int | np.integer) or isinstance(each, bool):
            raise wrong_type(api, name, value, "an int or a tuple of two")
        if each < low:
            raise wrong_value(api, name, value, f"an int or a tuple of two, of at least {low}")
    return (int(items[0]), int(items[1]))


def axis_length(api: str, x: Any, axis: int, expected: int) -> None:
    if x.shape[axis] != expected:
        raise ArgumentValueError(
            "S2S502", f"{api}: axis {axis} of x has length {x.shape[axis]}; expected {expected}"
        )


def rank(api: str, name: str, value: Any, expected: int) -> None:
    """An input has as many axes as `expected`; where it has fewer, it would broadcast."""
    if np.ndim(value) != expected:
        raise ArgumentValueError(
            "S2S502", f"{api}: argument {name!r} has {np.ndim(value)} axes; expected {expected}"
        )


def shape(api: str, name: str, value: Any, expected: tuple) -> None:
    """An input has exactly this shape; a length of 1 would broadcast."""
    rank(api, name, value, len(expected))
    if np.shape(value) != expected:
        raise ArgumentValueError(
            "S2S502", f"{api}: argument {name!r} has shape {np.shape(value)}; expected {expected}"
        )
