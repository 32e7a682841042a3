"""Functions of libraries that may be missing which call the user's: known when first met."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2s_ad.core.homes import module_of
from s2s_ad.frontend.lower.calls import HANDLER_FINDERS, HANDLERS
from s2s_ad.rules.optional import load_part


def handler_of_optional(function: Any) -> Callable | None:
    """The handler of a function of SciPy: those of `scipy.optimize` are in `scipy_optimize`."""
    return HANDLERS.get(function) if load_part(__package__, module_of(function)) else None


def handle_optional() -> None:
    """Let functions of optional libraries that call the user's be called inside functions."""
    HANDLER_FINDERS.append(handler_of_optional)
