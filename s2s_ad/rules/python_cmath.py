"""The cmath module: NumPy's functions of one complex number, which give Python's numbers."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.registry import RULES, register
from s2s_ad.core.rule import Operation
from s2s_ad.rules.composite import composite
from s2s_ad.rules.python_math import OfNumber


class OfComplexNumber(OfNumber):
    """A function of cmath. A real number is made complex first: cmath.sqrt(-1.0) is 1j."""

    def __init__(self, function: Callable, counterpart: Callable, *, kind: type = complex):
        row = RULES[counterpart]
        super().__init__(function, row.adjoints, counterpart, kind=kind)
        self.complex_adjoints, self.tangents = row.complex_adjoints, row.tangents
        self.flat = not any(row.adjoints)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        if len(args) != 1 or kwargs:
            raise TypeError(f"cmath.{self.name} takes one argument")
        (z,) = args
        if not isinstance(z, Symbol):
            return self.function(z)
        z = z if values.is_complex(z.fact) else builder.call(complex, (z,), {})
        return builder.emit(self, [z], {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Scalar(self.kind)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.call(self.counterpart, operation.operands, {})


class Logarithm(OfComplexNumber):
    """cmath.log(z), and cmath.log(z, base) as a quotient."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        if len(args) == 2:
            over, under = (builder.call(cmath.log, (each,), {}) for each in args)
            return over / under
        return super().bind(builder, args, kwargs)


def _polar(z: Any) -> tuple:
    phase = z.builder.call(cmath.phase, (z,), {}) if isinstance(z, Symbol) else cmath.phase(z)
    return abs_of(z), phase


def abs_of(z: Any) -> Any:
    return z.builder.call(abs, (z,), {}) if isinstance(z, Symbol) else abs(z)


def _rect(r: Any, phi: Any) -> Any:
    symbol = next((each for each in (r, phi) if isinstance(each, Symbol)), None)
    if symbol is None:
        return cmath.rect(r, phi)
    return symbol.builder.call(complex, (r * np.cos(phi), r * np.sin(phi)), {})


COUNTERPARTS: dict[Callable, Callable] = {
    cmath.acos: np.arccos,
    cmath.acosh: np.arccosh,
    cmath.asin: np.arcsin,
    cmath.asinh: np.arcsinh,
    cmath.atan: np.arctan,
    cmath.atanh: np.arctanh,
}
SAME = ("cos", "cosh", "exp", "log10", "sin", "sinh", "sqrt", "tan", "tanh")
COUNTERPARTS |= {getattr(cmath, name): getattr(np, name) for name in SAME}

for _function, _counterpart in COUNTERPARTS.items():
    register(OfComplexNumber(_function, _counterpart))
for _name in ("isfinite", "isinf", "isnan"):
    register(OfComplexNumber(getattr(cmath, _name), getattr(np, _name), kind=bool))
register(Logarithm(cmath.log, np.log))
register(OfComplexNumber(cmath.phase, np.angle, kind=float))

composite(cmath.polar, "z", _polar)
composite(cmath.rect, "r, phi", _rect)
