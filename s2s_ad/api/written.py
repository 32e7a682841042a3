"""Functions and classes of libraries that are written in Python here: lowered in their place."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.api.callers import arguments_of
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.calls import HANDLERS, apply
from s2s_ad.frontend.resolve import unwrap
from s2s_ad.written.marks import unsupported


def _refuse(lowering: Any, args: list, kwargs: dict[str, Any]) -> None:
    what, help = (*map(unwrap, args), "")[:2]
    raise UnsupportedError("S2S203", f"{what} is not supported", help=help)


HANDLERS[unsupported] = _refuse


def write(library: Callable, python: Callable) -> None:
    """Let calls of a library's function be calls of one of ours.

    A parameter that ours does not have is refused by name.
    """
    parameters = inspect.signature(python).parameters.values()
    text = ", ".join(map(_spelled, parameters))

    def handler(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        arguments_of(lowering, library, text, args, kwargs)
        return apply(lowering, python, args, kwargs)

    HANDLERS[library] = handler


def _spelled(parameter: inspect.Parameter) -> str:
    """A parameter as a row of a table has it."""
    default = parameter.default
    if isinstance(default, float) and np.isnan(default):
        return f"{parameter.name}=np.nan"
    return str(parameter.replace(annotation=parameter.empty))
