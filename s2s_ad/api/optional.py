"""Functions of libraries that may be missing which call the user's: known when first met."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from s2s_ad.core.homes import module_of
from s2s_ad.core.sharing import unforked
from s2s_ad.frontend.lower.calls import HANDLER_FINDERS, HANDLERS


def handler_of_optional(function: Any) -> Callable | None:
    """The handler of a function of SciPy: those of `scipy.optimize` are in `scipy_optimize`."""
    module = module_of(function)
    if module is None or not _load("_".join(module.split(".")[:2])):
        return None
    return HANDLERS.get(function)


@functools.cache
def _load(name: str) -> bool:
    """Import the handlers of a part; whether there are any."""
    full = f"{__package__}.{name}"
    if importlib.util.find_spec(full) is None:
        return False
    with unforked:
        importlib.import_module(full)
    return True


def handle_optional() -> None:
    """Let functions of optional libraries that call the user's be called inside functions."""
    HANDLER_FINDERS.append(handler_of_optional)
