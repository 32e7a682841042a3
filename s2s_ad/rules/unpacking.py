"""Unpacking: `a, b, c = x`, an operation with as many results as there are names."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import tree, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.magnitudes import may_be_steep
from s2s_ad.core.registry import rule_of
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.rules import support
from s2s_ad.rules.indexing import zeros_like

FEW = 4  # numbers that are added one by one in less time than as an array


class Unpack(Rule):
    """The items of an array along its first axis, or of a tuple; there have to be `count`.

    The text is the assignment itself, so Python sees to it that there are as many. Items of a
    vector are numbers; those of an array with more axes are views of it.
    """

    of_complex = view = True

    def __init__(self, count: int, *, checks: bool = True):
        super().__init__(self, "unpacking")
        self.count, self.checks = count, checks
        self.unchecked = Unpack(count, checks=False) if checks else None

    def items(self, builder: Builder, x: Symbol) -> list:
        """The items of an array."""
        result = builder.emit(self, [x], {})
        return [builder.emit_item(result, index) for index in range(self.count)]

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> tree.Tree:
        x = operands[0]
        if isinstance(x, values.Row):
            return tree.tuple_of(map(values.Scalar, x.kinds))
        known = isinstance(x, values.Array) and x.shape
        item = values.Array(x.dtype, x.shape[1:]) if known else support.unknown(x)
        return tree.tuple_of((item,) * self.count)

    def may_raise(self, operands: list, result: Any) -> bool:
        if isinstance(operands[0], values.Row):
            return False
        shape = values.shape_of(operands[0])
        return not shape or shape[0] != self.count

    def reverse(self, operation: Operation, y_bar: Mapping[int, Any]) -> list:
        """One array of the adjoints of all items; of few items of a row, sums into its elements."""
        x = operation.operands[0]
        known = isinstance(x.fact, values.Array) and x.dtype is not None
        few = len(y_bar) <= (FEW if _is_row(x) else 1)
        whole = len(y_bar) == self.count or not may_be_steep(x.builder, x)
        if known and whole and not few:
            items = self.items(x.builder, x)
            parts = [_full(y_bar.get(i), item) for i, item in enumerate(items)]
            if any(isinstance(each, Symbol) for each in parts):
                return [np.stack(parts)]
        adjoint = zeros_like(x)
        for index, part in sorted(y_bar.items()):
            adjoint = x.builder.call(runtime.index_add, (adjoint, index, part), {})
        return [adjoint]

    def forward(self, operation: Operation, tangents: list) -> Any:
        (x_dot,) = tangents
        x = operation.operands[0]
        if x_dot is None:
            return None
        if not isinstance(x_dot, Symbol) or isinstance(x_dot.fact, values.Scalar):
            x_dot = x.builder.call(runtime.broadcast_like, (x_dot, x), {})
        return self.items(x.builder, x_dot)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        support.sample_rank(x, True)
        return batch.builder.emit(self, [np.moveaxis(x, 1, 0)], {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return call.args[0]


def _is_row(x: Symbol) -> bool:
    """Whether it is read from a larger array, to whose adjoint elements are added one by one."""
    rule, _, _ = x.builder.definition(x)
    return rule is not None and rule.function is operator.getitem


def _full(adjoint: Any, item: Symbol) -> Any:
    """The adjoint of an item in its shape and dtype; zeros where it has none."""
    adjoint = 0.0 if adjoint is None else adjoint
    if item.shape != ():
        return item.builder.call(runtime.broadcast_like, (adjoint, item), {})
    weak = values.may_be_python(item.builder.fact(adjoint))
    if not weak or values.is_dtype(item.dtype, float) or values.is_complex(item.fact):
        return adjoint
    if not isinstance(adjoint, Symbol):
        return item.dtype.type(adjoint)
    return item.builder.emit(rule_of(item.dtype.type), [adjoint], {})


@functools.cache
def unpacking(count: int) -> Unpack:
    """The operation with so many results."""
    return Unpack(count)
