"""Reading and adding to elements: `x[index]` and its adjoint `index_add(x, index, value)`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import METHODS, Operation, Rule, register
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.elementwise import broadcast_source
from s2s_ad.rules.index_batches import batched_index, laid_like_batch, moved_back
from s2s_ad.rules.index_layout import index_of, layout, may_repeat


class GetItem(Rule):
    """x[index]; the index is a parameter, for no derivative passes through it."""

    view = True
    varied_parameters = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        x, index = args
        if not isinstance(x, Symbol):
            return x[static(index, "the index")]
        return builder.emit(self, [x], {"index": _arrays(builder, index)})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if not isinstance(x, values.Array):
            return support.unknown(x)
        found = None if x.shape is None else layout(params["index"], x.shape)
        return values.Array(x.dtype, None if found is None else found.shape)

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        source = broadcast_source(builder, operands[0])
        if source and support.shape(source[0]) == () and operands[0].ndim is not None:
            found = layout(params["index"], operands[0].shape)
            if found is not None and found.shape == ():
                return source[0]
        return None

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        x = operation.operands[0]
        return [x.builder.call(runtime.index_add, (zeros_like(x), operation["index"], y_bar), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        (x_dot,) = tangents
        if x_dot is None:
            return None
        if _is_number(x_dot):
            arguments = (x_dot, operation.result)
            return operation.result.builder.call(runtime.broadcast_like, arguments, {})
        return x_dot[operation["index"]]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        index, found = batched_index(operation["index"], x, batched[0], batch)
        result = x[index]
        if not batched[0]:
            return np.moveaxis(result, found.place, 0) if found.place else result
        return moved_back(result, found, batch.is_batched(operation["index"]))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return gast.Subscript(value=call.args[0], slice=call.keywords[0].value, ctx=gast.Load())


def zeros_like(x: Symbol) -> Any:
    if isinstance(x.fact, values.Unknown):
        return x.builder.call(runtime.zeros_like, (x,), {})
    return np.zeros_like(x)


def _arrays(builder: Builder, index: Any) -> Any:
    """Lists in an index are arrays."""
    if isinstance(index, tuple):
        return tuple(_arrays(builder, item) for item in index)
    return builder.call(np.array, (index,), {}) if isinstance(index, list) else index


class IndexAdd(Rule):
    """index_add(x, index, value): x with value added at index. Emitted as `x[index] += value`."""

    varied_parameters = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        x, index, value = args
        return builder.emit(self, [x, value], {"index": _arrays(builder, index)})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return operands[0]

    def may_repeat(self, index: Any, builder: Builder) -> bool:
        """Whether an index may name an element twice, so that `x[index] += v` loses a term."""
        return may_repeat(index, builder)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        builder = operation.result.builder
        value_bar = None
        if operation.active[1]:
            value_bar = self._value_adjoint(builder, operation, y_bar)
        return [y_bar if operation.active[0] else None, value_bar]

    def _value_adjoint(self, builder: Builder, operation: Operation, y_bar: Any) -> Any:
        x, value = operation.operands
        if _is_number(y_bar):
            if x.shape == ():  # the index adds axes
                return builder.call(runtime.broadcast_like, (y_bar, value), {})
            y_bar = builder.call(np.full_like, (x, y_bar), {})
        return builder.call(runtime.unbroadcast, (y_bar[operation["index"]], value), {})

    def forward(self, operation: Operation, tangents: list) -> Any:
        x = operation.operands[0]
        x_dot, value_dot = tangents
        if value_dot is None:
            return x_dot
        x_dot = zeros_like(x) if x_dot is None else x_dot
        arguments = (x_dot, operation["index"], value_dot)
        return operation.result.builder.call(runtime.index_add, arguments, {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x, value = operation.operands
        support.sample_rank(x, batched[0])
        base = batch.spread(x, batched[0])
        index, found = batched_index(operation["index"], base, True, batch)
        index_batched = batch.is_batched(operation["index"])
        value = laid_like_batch(value, batched[1], found, index_batched)
        return batch.builder.call(runtime.index_add, (base, index, value), {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        x, value = call.args
        index = form.as_value(call.keywords[0].value)
        return gast.Call(func=call.func, args=[x, index, value], keywords=[])


def _is_number(value: Any) -> bool:
    """Whether an adjoint or tangent is one Python number, which no index can read."""
    return not isinstance(value, Symbol) or isinstance(value.fact, values.Scalar)


class ZerosLike(Rule):
    """zeros_like(value) of a value that may be a container."""

    flat = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Unknown(True)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, {})


def _take(x: Symbol, indices: Any, axis: Any) -> Any:
    if axis is None:
        return np.ravel(x)[indices]
    axis = support.normal_axis(static(axis, "axis of np.take"), x.ndim)
    return x[index_of((*(slice(None),) * axis, indices))]


class TakeAlongAxis(Rule):
    """np.take_along_axis(x, indices, axis): linear in x, which gets the adjoint added back."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, "x, indices, axis=-1", args, kwargs)
        axis = static(params["axis"], "axis of np.take_along_axis")
        return builder.emit(self, [params["x"], params["indices"]], {"axis": axis})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x, indices = operands
        if support.any_unknown(x, indices):
            return support.unknown(x)
        return values.with_shape(x, indices.shape)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        x, indices = operation.operands
        if x.ndim is None:
            raise support.CannotBatch
        axis = support.normal_axis(operation["axis"], x.ndim)
        index = []
        for each in range(x.ndim):
            if each == axis:
                index.append(indices)
                continue
            count = np.arange(support.length(indices, each), like=y_bar)
            after = x.ndim - 1 - each
            index.append(count[(slice(None), *(None,) * after)] if after else count)
        return [
            x.builder.call(
                runtime.index_add, (np.zeros_like(x), index_of(tuple(index)), y_bar), {}
            ),
            None,
        ]

    def forward(self, operation: Operation, tangents: list) -> Any:
        if tangents[0] is None:
            return None
        return np.take_along_axis(tangents[0], operation.operands[1], **operation.params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        pairs = list(zip(operation.operands, batched, strict=True))
        axis = support.normal_axis(operation["axis"], max(support.sample_rank(*p) for p in pairs))
        x, indices = (batch.spread(*pair) for pair in pairs)
        return np.take_along_axis(x, indices, axis=axis + 1)


register(GetItem(operator.getitem, "getitem"))
register(IndexAdd(runtime.index_add, "index_add"))
register(TakeAlongAxis(np.take_along_axis, "take_along_axis"))
register(ZerosLike(runtime.zeros_like, "zeros_like"))

composite(np.take, "x, indices, axis=None", _take)

METHODS["take"] = np.take
