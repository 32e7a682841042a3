"""Functions written as the plain NumPy that they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2s_ad.core.builder import Builder
from s2s_ad.core.registry import Rule, register
from s2s_ad.rules import support


class Composite(Rule):
    """A function written as plain NumPy: calls of it become that."""

    def __init__(self, function: Callable, text: str, meaning: Callable):
        super().__init__(function, getattr(function, "__name__", str(function)))
        self.text, self.meaning = text, meaning

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        arguments = support.bind_call(builder, self, self.text, args, kwargs)
        if "x" in arguments:
            arguments["x"] = support.as_operand(builder, arguments["x"])
        return self.meaning(**arguments)


def composite(function: Callable, text: str, meaning: Callable) -> None:
    register(Composite(function, text, meaning))
