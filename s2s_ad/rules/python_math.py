"""The math module and `not`: NumPy's functions of one number, which give Python's own numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Builder
from s2s_ad.core.registry import RULES, CannotBatch, Operation, register
from s2s_ad.rules import support
from s2s_ad.rules.elementwise import Elementwise


class OfNumber(Elementwise):
    """A function of math; for a batch of numbers NumPy's function of the same meaning.

    Args:
        counterpart: NumPy's function; None where it has none.
        kind: the type that Python gives the result.
    """

    def __init__(
        self,
        function: Callable,
        adjoints: tuple[str | None, ...],
        counterpart: Callable | None,
        *,
        kind: type = float,
        domain: str = "real",
        total: bool = False,
    ):
        super().__init__(function, adjoints, domain=domain, total=total)
        self.counterpart, self.kind = counterpart, kind

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        if len(args) != len(self.operand_names) or kwargs:
            names = ", ".join(self.operand_names)
            raise TypeError(f"math.{self.name} takes {len(self.operand_names)} arguments: {names}")
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Scalar(self.kind)

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        return None

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if self.counterpart is None:
            raise CannotBatch
        operands = support.align_all(operation.operands, batched)
        result = batch.builder.call(self.counterpart, operands, {})
        return result if self.kind is not int else result.astype(int)


class Logarithm(OfNumber):
    """math.log(x), and math.log(x, base) as a quotient."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        if len(args) == 2:
            over, under = (builder.call(math.log, (each,), {}) for each in args)
            return over / under
        return super().bind(builder, args, kwargs)


#: functions of math -> NumPy's, where the names differ
COUNTERPARTS: dict[Callable, Callable] = {
    math.acos: np.arccos,
    math.acosh: np.arccosh,
    math.asin: np.arcsin,
    math.asinh: np.arcsinh,
    math.atan: np.arctan,
    math.atan2: np.arctan2,
    math.atanh: np.arctanh,
    math.degrees: np.rad2deg,
    math.pow: np.float_power,
    math.radians: np.deg2rad,
}
SAME = ("cbrt", "copysign", "cos", "cosh", "exp", "exp2", "expm1", "fabs", "fmod", "hypot")
SAME += ("log10", "log1p", "log2", "sin", "sinh", "sqrt", "tan", "tanh")
STEPS = {math.ceil: np.ceil, math.floor: np.floor, math.trunc: np.trunc}
TESTS = {math.isfinite: np.isfinite, math.isinf: np.isinf, math.isnan: np.isnan}

COUNTERPARTS |= {getattr(math, name): getattr(np, name) for name in SAME}
for _function, _counterpart in COUNTERPARTS.items():
    _row = RULES[_counterpart]
    register(OfNumber(_function, _row.adjoints, _counterpart, domain=_row.domain, total=_row.total))
for _function, _counterpart in STEPS.items():
    register(OfNumber(_function, (None,), _counterpart, kind=int, total=True))
for _function, _counterpart in TESTS.items():
    register(OfNumber(_function, (None,), _counterpart, kind=bool, total=True))
register(OfNumber(operator.not_, (None,), np.logical_not, kind=bool, total=True))
register(Logarithm(math.log, RULES[np.log].adjoints, np.log, domain="positive"))
register(OfNumber(math.erf, ("y_bar * (2 / math.sqrt(math.pi) * np.exp(-(x**2)))",), None))
register(OfNumber(math.erfc, ("-y_bar * (2 / math.sqrt(math.pi) * np.exp(-(x**2)))",), None))
