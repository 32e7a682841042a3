"""The structural kind: linear functions of one array that move its elements."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.rules import support


class Structural(Rule):
    """A linear function of one array: its tangent is itself, applied to the tangent.

    Subclasses give `text` (the signature), `infer`, `transposed` (the adjoint) and `batch`.
    """

    text = "x"
    conjugates = (0,)
    of_complex = view = typed = True
    cost = 1

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, self.text, args, kwargs)
        x = support.as_operand(builder, params.pop("x"))
        if not isinstance(x, Symbol):
            x = builder.call(np.array, (x,), {})
        return builder.emit(self, [x], self.prepare(x, params))

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        return support.given(support.static_params(params, self), self.text)

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        raise NotImplementedError

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        x = operation.operands[0]
        if not isinstance(y_bar, Symbol) and x.ndim != 0:  # the one element of x
            return [x.builder.call(runtime.broadcast_like, (y_bar, x), {})]
        return [self.transposed(operation, y_bar)]

    def forward(self, operation: Operation, tangents: list) -> Any:
        if tangents[0] is None:
            return None
        return operation.result.builder.call(self.function, (tangents[0],), operation.params)


def leading(call: gast.Call) -> gast.Call:
    """The call with its first parameter by position."""
    first = [each.value for each in call.keywords[:1]]
    return gast.Call(func=call.func, args=[*call.args, *first], keywords=call.keywords[1:])


def positional(call: gast.Call) -> gast.Call:
    """The call with its parameters by position."""
    values_ = [keyword.value for keyword in call.keywords]
    return gast.Call(func=call.func, args=[*call.args, *values_], keywords=[])
