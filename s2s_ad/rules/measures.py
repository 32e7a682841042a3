"""np.ndim, np.shape and np.size: the same for every sample."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, sizes, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.rules import support
from s2s_ad.rules.list_lengths import length


class Measure(Rule):
    """A function of the shape of its argument."""

    flat = True
    uniform = total = of_shape = unasked = True
    cheap = True
    text = "x"

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, self.text, args, kwargs)
        x = params.pop("x")
        if not isinstance(x, Symbol):
            return self.function(x, **support.given(params, self.text))
        return self.of_array(builder, x, params)

    def of_array(self, builder: Builder, x: Symbol, params: dict[str, Any]) -> Any:
        return builder.emit(self, [x], support.given(params, self.text))

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Scalar(int)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        x = call.args[0]
        known = isinstance(facts(x), values.Array) and facts(x).rank
        return self.of_known_rank(x, call) if known else call

    def of_known_rank(self, x: gast.AST, call: gast.Call) -> gast.AST:
        """How it is written where the argument is an array for sure."""
        return gast.Attribute(value=x, attr=self.name, ctx=gast.Load())


class Rank(Measure):
    """np.ndim(x)."""

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        return operands[0].ndim

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        return np.ndim(x) - 1 if x.ndim is None else support.sample_rank(x, True)


class Shape(Measure):
    """np.shape(x): a tuple of lengths where the rank is known."""

    def of_array(self, builder: Builder, x: Symbol, params: dict[str, Any]) -> Any:
        if x.ndim is not None:
            return tuple(support.lengths(x, range(x.ndim)))
        return super().of_array(builder, x, params)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Unknown()

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return np.shape(operation.operands[0])[1:]


class Size(Measure):
    """np.size(x, axis=None)."""

    text = "x, axis=None"
    length = True
    lists = True

    def may_raise(self, operands: list, result: values.AbstractValue) -> bool:
        """An axis is checked while code is generated, where the rank is known."""
        return not isinstance(operands[0], values.List) and values.rank_of(operands[0]) is None

    def of_array(self, builder: Builder, x: Symbol, params: dict[str, Any]) -> Any:
        axis = params["axis"]
        if x.ndim is not None and axis is not None:
            params["axis"] = support.normal_axis(axis, x.ndim)
        elif x.ndim == 1:
            params["axis"] = 0
        return super().of_array(builder, x, params)

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        shape, axis = operands[0].shape, params.get("axis")
        rule, items, given = builder.definition(operands[0])
        if rule is not None and rule.function is runtime.list_parts:
            return builder.emit(self, items, params)
        whole = rule is not None and rule.function is runtime.list_array and not given
        if whole and axis == 0 and builder.derived:
            return builder.emit(self, items, params)
        if rule is not None and rule.function is runtime.list_of:
            return len(items)
        if shape is None:
            return None
        dims = shape if axis is None else (shape[axis],)
        known = all(isinstance(dim, int) for dim in dims)
        return support.product(list(dims)) if known else None

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x, axis = operation.operands[0], operation.params.get("axis")
        if isinstance(x.fact, values.List):
            return batch.builder.emit(self, [x], {"axis": 0})
        if x.ndim is None and axis is None:
            return np.size(x) // np.maximum(np.size(x, 0), 1)
        if x.ndim is None:
            return np.size(x, axis if axis < 0 else axis + 1)
        axes = range(1, x.ndim) if axis is None else (axis + 1,)
        return support.product(support.lengths(x, axes))

    def size(self, builder: Builder, operands: list, params: dict[str, Any]) -> sizes.Size | None:
        shape, axis = operands[0].shape, params.get("axis")
        if isinstance(builder.fact(operands[0]), values.List):
            return length(builder, operands[0])
        if shape is None:
            return None
        dims = shape if axis is None else (shape[axis],)
        return functools.reduce(sizes.product, map(values.size_of_dim, dims), sizes.of(1))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        if isinstance(facts(call.args[0]), values.List):
            return form.operation(len, call.args, {})
        return super().surface(call, facts)

    def of_known_rank(self, x: gast.AST, call: gast.Call) -> gast.AST:
        if not call.keywords:
            return super().of_known_rank(x, call)
        axis = call.keywords[0].value
        if axis.value == 0:
            return form.operation(len, [x], {})
        shape = gast.Attribute(value=x, attr="shape", ctx=gast.Load())
        return gast.Subscript(value=shape, slice=axis, ctx=gast.Load())


class Most(Rule):
    """max(m, n) or min(m, n): of two lengths, and in the text of numbers of any kind."""

    flat = cheap = quiet = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        if not any(isinstance(each, Symbol) for each in args):
            return self.function(args)
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.join_all(map(values.unsized, operands))

    def size(self, builder: Builder, operands: list, params: dict[str, Any]) -> sizes.Size | None:
        one, *others = map(builder.size, operands)
        if one is None or len(others) != 1 or values.missing(others):
            return None
        (other,) = others
        least = sizes.least(one, other)
        return least if self.function is min else one + other - least

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return functools.reduce(
            np.minimum if self.function is min else np.maximum, operation.operands
        )


register(Most(max, "max"))
register(Most(min, "min"))
register(Rank(np.ndim, "ndim"))
register(Shape(np.shape, "shape"))
register(Size(np.size, "size"))
