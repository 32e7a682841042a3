"""Searches in lists of numbers whose length is not known: `in`, `index` and `count`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder
from s2s_ad.core.registry import register
from s2s_ad.core.rule import CannotBatch, Operation, Rule


class Search(Rule):
    """A function of a list and a number that compares the number with the items.

    It is piecewise constant. `method` is the method of lists that it stands for, "" of `in`.
    """

    flat = lists = of_complex = True

    def __init__(self, function: Callable, kind: type, method: str):
        super().__init__(function, function.__name__)
        self.kind, self.method = kind, method

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Scalar(self.kind)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise CannotBatch

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        items, value = call.args
        if not self.method:
            return gast.Compare(value, [gast.In()], [items])
        return gast.Call(gast.Attribute(items, self.method, gast.Load()), [value], [])


register(Search(runtime.list_contains, bool, ""))
register(Search(runtime.list_count, int, "count"))
register(Search(runtime.list_index, int, "index"))
