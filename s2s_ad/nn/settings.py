"""Numbers that optimizers, schedules and loss scalers are set to: checked by name, given back."""

from __future__ import annotations

import math
from typing import Any

from s2s_ad.nn.check import wrong_type, wrong_value


def number(api: str, name: str, value: Any) -> float:
    """A Python number that is finite and not a bool, as a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_type(api, name, value, "a float")
    if not math.isfinite(value):
        raise wrong_value(api, name, value, "a finite number")
    return float(value)


def non_negative(api: str, name: str, value: Any) -> float:
    """A number of at least zero."""
    if number(api, name, value) < 0:
        raise wrong_value(api, name, value, "a number that is not negative")
    return float(value)


def positive(api: str, name: str, value: Any) -> float:
    """A number above zero."""
    if number(api, name, value) <= 0:
        raise wrong_value(api, name, value, "a number above 0")
    return float(value)


def at_least_one(api: str, name: str, value: Any) -> float:
    """A number of at least one."""
    if number(api, name, value) < 1:
        raise wrong_value(api, name, value, "a number of at least 1")
    return float(value)


def fraction(api: str, name: str, value: Any) -> float:
    """A number between zero and one, neither of them."""
    if not 0 < number(api, name, value) < 1:
        raise wrong_value(api, name, value, "a number between 0 and 1, both excluded")
    return float(value)


def within_unit(api: str, name: str, value: Any) -> float:
    """A number from zero to one, both included."""
    if not 0 <= number(api, name, value) <= 1:
        raise wrong_value(api, name, value, "a number from 0 to 1")
    return float(value)


def flag(api: str, name: str, value: Any) -> bool:
    """A bool."""
    if not isinstance(value, bool):
        raise wrong_type(api, name, value, "True or False")
    return value


def count(api: str, name: str, value: Any) -> int:
    """An int above zero."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong_type(api, name, value, "an int above 0")
    if value <= 0:
        raise wrong_value(api, name, value, "an int above 0")
    return value
