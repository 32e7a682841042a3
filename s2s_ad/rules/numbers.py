"""float(x), np.float32(x) and their kin: a number as a number of another type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.registry import Operation, Rule, register
from s2s_ad.rules import support


class Conversion(Rule):
    """A type called as a function; of arrays NumPy's types are `astype`."""

    def __init__(self, function: Callable):
        super().__init__(function, function.__name__)
        self.flat = np.dtype(function).kind not in "fc"

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        (x,) = support.bind_call(builder, self, "x=0", args, kwargs).values()
        of_array = isinstance(x, Symbol) and isinstance(x.fact, values.Array)
        if of_array and self.function is not float:
            return x.astype(self.function)
        return builder.emit(self, [x], {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if self.function is float:
            return values.Scalar(float)
        return values.Array(np.dtype(self.function), ())

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        builder = operation.result.builder
        return [builder.call(runtime.unbroadcast, (y_bar, operation.operands[0]), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        if tangents[0] is None:
            return None
        return operation.result.builder.call(self.function, (tangents[0],), {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return operation.operands[0].astype(self.function)


for each in (float, np.float16, np.float32, np.float64, np.int32, np.int64):
    register(Conversion(each))
