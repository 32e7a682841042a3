"""The marker that says that an array is a Tensor in the user's code; text does not show it."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.dependence import Dependence, Use, same_elements
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation
from s2s_ad.rules import support


class AsTensor(support.HandedOn):
    """The identity: from now on operators have the dtypes that they have for Tensors."""

    marker = True
    conjugates = linear = (0,)
    of_complex = view = quiet = total = cheap = True
    cost = 0

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        (value,) = support.bind_call(builder, self, "value", args, kwargs).values()
        if not isinstance(value, Symbol):
            value = builder.call(np.array, (value,), {})
        return builder.emit(self, [value], {})

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        return operands[0] if values.is_tensor(builder.fact(operands[0])) else None

    def dependence(self, use: Use, position: int) -> Dependence:
        return same_elements(use.shape)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.as_tensor(values.with_shape(operands[0], values.shape_of(operands[0])))

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, {})


register(AsTensor(runtime.as_tensor, "as_tensor"))
