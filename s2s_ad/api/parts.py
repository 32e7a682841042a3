"""Functions of the user's that a library calls, as functions that the transforms take."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.core import tree
from s2s_ad.core.builder import Symbol
from s2s_ad.core.program import as_name
from s2s_ad.core.tree import Tree
from s2s_ad.frontend.lower.functions import Closure
from s2s_ad.frontend.resolve import unwrap


@dataclasses.dataclass(frozen=True, eq=False)
class Part:
    """What is done for one element, as a function that can be batched."""

    name: str
    parameters: list[str]
    call: Callable[[list], Any]

    def signature(self) -> inspect.Signature:
        kind = inspect.Parameter.POSITIONAL_ONLY
        return inspect.Signature([inspect.Parameter(each, kind) for each in self.parameters])

    def __s2s_call__(self, lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        return self.call(args)


def names_of(function: Any, count: int) -> list[str]:
    """What the user's function calls its parameters, where it says so."""
    plain = unwrap(function)
    try:
        signature = plain.signature() if isinstance(plain, Closure) else inspect.signature(plain)
        found = [each for each in signature.parameters if each.isidentifier()][:count]
    except (TypeError, ValueError):
        found = []
    return found + [f"x{index}" for index in range(len(found) + 1, count + 1)]


def label_of(function: Any) -> str:
    plain = unwrap(function)
    name = getattr(plain, "name", getattr(plain, "__name__", ""))
    return as_name(name)


def as_array(lowering: Any, value: Any) -> Any:
    """An argument as the array that NumPy makes of it; a number stays one."""
    if isinstance(value, Tree):
        return lowering.call(np.array, tree.to_object(value))
    return value if isinstance(value, Symbol) else unwrap(value)
