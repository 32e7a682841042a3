"""Functions written as the plain NumPy that they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, describe
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Rule
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support


class Composite(Rule):
    """A function written as plain NumPy: calls of it become that.

    Args:
        text: its signature.
        meaning: what it is, as a function of the arguments.
        of_complex: whether that holds of complex numbers, too.
        allocates, gives_array, in_c_order, written_back: see `Rule`.
    """

    def __init__(
        self,
        function: Callable,
        text: str,
        meaning: Callable,
        of_complex: bool = True,
        *,
        allocates: bool = False,
        gives_array: bool = False,
        in_c_order: str = "",
        written_back: str = "",
    ):
        super().__init__(function, getattr(function, "__name__", str(function)))
        self.text, self.meaning, self.of_complex = text, meaning, of_complex
        self.allocates, self.gives_array = allocates, gives_array
        self.in_c_order, self.written_back = in_c_order, written_back
        self.out = "output" if "output" in support.signature(text).parameters else "out"

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        arguments = support.bind_call(builder, self, self.text, args, kwargs)
        if "x" in arguments:
            arguments["x"] = support.as_operand(builder, arguments["x"])
        if self.text.startswith("*"):
            several = self.text[1:].partition(",")[0]
            operands = (support.as_operand(builder, each) for each in arguments[several])
            arguments[several] = tuple(operands)
        if not self.of_complex:
            self._refuse_complex(builder, arguments)
        return self.meaning(**arguments)

    def _refuse_complex(self, builder: Builder, arguments: dict[str, Any]) -> None:
        symbols = [each for each in arguments.values() if isinstance(each, Symbol)]
        if any(values.is_complex(each.fact) for each in symbols):
            raise UnsupportedError(
                "S2S302",
                f"{describe(self.function)} of complex numbers",
                origin=builder.origin,
                help="write it with functions of the real and imaginary parts",
            )


def composite(function: Callable, text: str, meaning: Callable, **facts: Any) -> None:
    register(Composite(function, text, meaning, **facts))


class Composed(Composite):
    """A composite whose arguments may all be known: its meaning is given the builder."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        arguments = support.bind_call(builder, self, self.text, args, kwargs)
        if not self.of_complex:
            self._refuse_complex(builder, arguments)
        return self.meaning(builder, **arguments)


def composed(
    function: Any, text: str, meaning: Callable, of_complex: bool = False, **facts: Any
) -> None:
    register(Composed(function, text, meaning, of_complex, **facts))
