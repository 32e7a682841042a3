"""Comparison of texts that differ from path to path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Ragged, Rule


class CompareTexts(Rule):
    """same_text(a, b), `a == b` of two texts, and other_text(a, b), `a != b`."""

    flat = cheap = quiet = total = of_complex = True
    cost = 1

    def __init__(self, function: Callable, name: str, node: type[gast.cmpop]):
        super().__init__(function, name)
        self.node, self.same = node, node is gast.Eq

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Scalar(bool)

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        a, b = (values.options_of(builder.fact(each)) for each in operands)
        if not a or not b:
            return None
        if not a & b:
            return not self.same
        return self.same if a == b and len(a) == 1 else None

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise Ragged  # texts are not put into arrays

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return gast.Compare(call.args[0], [self.node()], [call.args[1]])


register(CompareTexts(runtime.other_text, "other_text", gast.NotEq))
register(CompareTexts(runtime.same_text, "same_text", gast.Eq))
