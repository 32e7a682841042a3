"""The kind of scipy.special's rows: their texts may call scipy.special, and have gaps."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.special

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation
from s2s_ad.diagnostics import DerivativeError
from s2s_ad.rules import support
from s2s_ad.rules.composite_ufuncs import composite_ufunc
from s2s_ad.rules.elementwise import Elementwise
from s2s_ad.rules.outputs import Output

#: the text of an operand whose derivative has no closed form: it is refused where it is asked for
UNKNOWN = "unknown(y)"


def called(function: str | Callable, *args: Any) -> Any:
    """A function of scipy.special, or of `runtime`: of Symbols an operation."""
    builder = next((each.builder for each in args if isinstance(each, Symbol)), None)
    function = getattr(scipy.special, function) if isinstance(function, str) else function
    return float(function(*args)) if builder is None else builder.call(function, args, {})


def one_less(n: Any) -> Any:
    """The degree below, but none below 0."""
    return np.maximum(n - 1, 0) if isinstance(n, Symbol) else max(n - 1, 0)


def whole(k: Any) -> Any:
    """np.floor; of a number known now the number it is."""
    return np.floor(k) if isinstance(k, Symbol) else math.floor(k)


def inverse_mills(x: Any) -> Any:
    """phi(x) / Phi(x), the slope of log_ndtr: far out it neither cancels nor overflows."""
    if x.builder.may_be_complex(x):
        return math.sqrt(2 / math.pi) / called("erfcx", x / -math.sqrt(2))
    quotient = math.sqrt(2 / math.pi) / called("erfcx", np.minimum(x, 9.0) / -math.sqrt(2))
    return np.where(x < 9, quotient, np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi))


class Special(Elementwise):
    """A function of scipy.special, whose rows name the operands as SciPy's pages do.

    Args:
        helpers: what the texts name besides scipy.special.
        holomorphic: whether the texts hold of complex numbers, too (those of `of_complex` and
            `tangents`, where these are given).
        gives_complex: whether the result is complex, whatever the operands are.
    """

    modules = Elementwise.modules | {"special": scipy.special}

    def __init__(
        self,
        function: Callable,
        adjoints: tuple,
        *,
        helpers: Any = None,
        holomorphic: bool = False,
        gives_complex: bool = False,
        **facts: Any,
    ):
        super().__init__(function, adjoints, **facts)
        self.of_complex, self.gives_complex = holomorphic, gives_complex
        self.space = {"one_less": one_less, "whole": whole, "unknown": self._unknown} | (
            helpers or {}
        )

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        found = super().infer(operands, params)
        unknown = isinstance(found, values.Unknown)
        if not self.gives_complex or not (unknown or found.dtype is None):
            return found
        dtypes = [values.strong_dtype(each) for each in operands]
        wanted = complex if values.missing(dtypes) else np.result_type(np.complex64, *dtypes)
        return values.Array(np.dtype(wanted), values.shape_of(found))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        """Adjoints in the dtypes of the operands: some functions know double precision alone."""
        builder, found = operation.result.builder, super().reverse(operation, y_bar)
        pairs = zip(found, operation.operands, strict=True)
        return [bar if bar is None else support.cast(builder, bar, x) for bar, x in pairs]

    def forward(self, operation: Operation, tangents: list) -> Any:
        """The tangent in the dtype of the result."""
        found, result = super().forward(operation, tangents), operation.result
        return None if found is None else support.cast(result.builder, found, result)

    def _unknown(self, y: Symbol) -> Any:
        raise DerivativeError(
            "S2S302",
            f"a derivative of scipy.special.{self.name} with respect to this argument",
            origin=y.builder.origin,
            why="it has no closed form",
            help="stop_gradient(...) of the argument, or give the function a custom_rule",
        )


class SpecialOutput(Special, Output):
    """One result of a function of scipy.special that has several."""


def row(function: str | tuple[str, ...], *adjoints: str | None, **facts: Any) -> None:
    """The row of a function of scipy.special; names that this version of SciPy lacks are left out.

    A single text is of x; several texts are of the operands that `operands` names.
    """
    for name in (function,) if isinstance(function, str) else function:
        if hasattr(scipy.special, name):
            register(Special(getattr(scipy.special, name), adjoints, **facts))


def several(
    name: str, *rows: tuple[str, ...], holomorphic: bool | tuple = False, **facts: Any
) -> None:
    """A function with several results: for each of them a row, which reads the others as parts.p0,
    parts.p1 and so on, functions of the operands."""
    if not isinstance(holomorphic, tuple):
        holomorphic = (holomorphic,) * len(rows)
    whole = getattr(scipy.special, name)
    parts = {f"p{index}": _part(whole, index) for index in range(len(rows))}
    for index, (adjoints, function) in enumerate(zip(rows, parts.values(), strict=True)):
        facts["holomorphic"] = holomorphic[index]
        made = SpecialOutput(function, adjoints, of=(whole, index), **facts)
        made.modules = Special.modules | {"parts": SimpleNamespace(**parts)}
        register(made)

    def meaning(**operands: Any) -> tuple:
        builder = next(e.builder for e in operands.values() if isinstance(e, Symbol))
        return tuple(builder.call(each, tuple(operands.values()), {}) for each in parts.values())

    composite_ufunc(whole, ", ".join(facts.get("operands", "x")), meaning)


def _part(whole: np.ufunc, index: int) -> Callable:
    def part(*operands: Any) -> Any:
        return whole(*operands)[index]

    part.__name__, part.__module__ = f"{whole.__name__}_{index}", "scipy.special"
    return part
