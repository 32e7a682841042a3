"""np.emath: functions that go over to complex numbers where real ones have no value.

Which of both the result is depends on the values. Of complex numbers they are NumPy's own; of real
ones they are these of real numbers, and where the code runs it is checked that they stay real.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.dependence import Dependence, Use, broadcast
from s2s_ad.core.magnitudes import least
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation
from s2s_ad.rules.composite import composite
from s2s_ad.rules.support import HandedOn


class StaysReal(HandedOn):
    """stays_real(x, low=, high=): x, which is refused where a function of it would be complex."""

    checks = view = True

    def dependence(self, use: Use, position: int) -> Dependence:
        return broadcast(use.shapes[position], use.shape)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), kwargs)

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        known = least(builder, operands[0]) if params["high"] == math.inf else None
        return operands[0] if known is not None and known >= params["low"] else None

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, operation.params)


register(StaysReal(runtime.stays_real, "stays_real"))


def _real(x: Any, low: float, high: float) -> Any:
    """What is handed to a function that is real between these bounds."""
    if isinstance(x, Symbol) and not values.is_complex(x.fact):
        return x.builder.call(runtime.stays_real, (x,), {"low": low, "high": high})
    return x


def _within(function: Callable, low: float, high: float) -> Callable:
    return lambda x: function(_real(x, low, high))


def _power(x: Any, p: Any) -> Any:
    """The exponent counts with its own type, and a negative whole one as a float."""
    whole = type(p) is int or (isinstance(p, Symbol) and values.is_inexact(p.fact) is False)
    if not whole:
        x = _real(x, 0.0, math.inf)
    return np.power(x, np.float64(p) if type(p) is float or (type(p) is int and p < 0) else p)


def _logn(n: Any, x: Any) -> Any:
    return np.log(_real(x, 0.0, math.inf)) / np.log(_real(n, 0.0, math.inf))


for _function in (np.emath.sqrt, np.emath.log, np.emath.log2, np.emath.log10):
    composite(_function, "x", _within(getattr(np, _function.__name__), 0.0, math.inf))
for _function in (np.emath.arccos, np.emath.arcsin, np.emath.arctanh):
    composite(_function, "x", _within(getattr(np, _function.__name__), -1.0, 1.0))
composite(np.emath.power, "x, p", _power)
composite(np.emath.logn, "n, x", _logn)
