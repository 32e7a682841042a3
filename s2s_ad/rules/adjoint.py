"""Rules of the helpers that derivatives are written with: (un)broadcasting and stop_gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.dependence import Dependence, Use, broadcast, unbroadcast
from s2s_ad.core.parts import real_part
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.rules import support
from s2s_ad.rules.elementwise import broadcast_source
from s2s_ad.rules.shapes import reshape_like


class TwoOperands(Rule):
    """Helpers called with (value, array), where only shape and dtype of `array` matter."""

    linear = conjugates = (0,)
    of_complex = total = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def forward(self, operation: Operation, tangents: list) -> Any:
        if tangents[0] is None:
            return None
        builder = operation.result.builder
        return builder.call(self.function, (tangents[0], operation.operands[1]), {})


class Unbroadcast(TwoOperands):
    """unbroadcast(value, array): shapes and dtypes that are known make it direct or nothing."""

    view = True
    shape_position = 1

    def dependence(self, use: Use, position: int) -> Dependence:
        return None if position else unbroadcast(use.shapes[0], use.shape)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        value, array = operands
        if isinstance(array, values.Unknown):
            return values.as_inexact(array)
        dtype = values.strong_dtype(array)
        kept = values.is_dtype(values.strong_dtype(value), dtype)
        either = values.is_of_two_kinds(array)  # a number of Python's leaves the value as it is
        weak = either and values.may_be_python(value)
        if either and not kept:
            return values.Array(None, array.shape, real=values.is_real(array), weak=weak)
        return values.Array(dtype, values.shape_of(array), weak=weak)

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        value, array = operands
        if values.is_real(builder.fact(array)) and values.is_complex(builder.fact(value)):
            real = real_part(builder, value)
            return builder.call(runtime.unbroadcast, (real, array), {})
        shapes = support.shape(value), support.shape(array)
        if None in shapes:
            return self._of_unknown(builder, value, array)
        axes = axes_to_sum(*shapes)
        if axes is None or _dtype_is_open(builder, value, array):
            return None
        lead = len(shapes[0]) - len(shapes[1])
        total = value
        if lead:
            total = np.sum(total, axis=_plain(tuple(range(lead)), len(shapes[0])))
        if axes:
            total = np.sum(total, axis=_plain(axes, None), keepdims=True)
        return support.cast(builder, total, array)

    def _of_unknown(self, builder: Builder, value: Any, array: Any) -> Any:
        source = broadcast_source(builder, value)
        same = source and isinstance(array, Symbol) and source[1].name == array.name
        same = same or values.same_form(builder.fact(value), builder.fact(array))
        return value if same else None

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        value = operation.operands[0]
        return [operation.result.builder.call(runtime.broadcast_like, (y_bar, value), {}), None]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if any(support.rank(each) is None for each in operation.operands):
            return self._of_unknown_ranks(operation, batched, batch)
        value, array = (
            batch.spread(*pair) for pair in zip(operation.operands, batched, strict=True)
        )
        rank, wanted = support.sample_rank(value, True), support.sample_rank(array, True)
        aligned = support.align(array, True, rank)
        summed = batch.builder.call(runtime.unbroadcast, (value, aligned), {})
        if rank == wanted:
            return summed
        return np.reshape(summed, tuple(support.lengths(array, range(wanted + 1))))

    def _of_unknown_ranks(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        value, array = operation.operands
        if not all(batched):
            raise support.CannotBatch
        padded = array.builder.call(runtime.pad_samples, (array, np.ndim(value)), {})
        return reshape_like(batch.builder.call(runtime.unbroadcast, (value, padded), {}), array)


class InDtypeOf(Unbroadcast):
    """in_dtype_of(value, array): of one shape; the dtype of the array only the run tells."""

    shape_position = None

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        return None

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        pairs = zip(operation.operands, batched, strict=True)
        return batch.builder.call(self.function, [batch.spread(*pair) for pair in pairs], {})


def _dtype_is_open(builder: Builder, value: Any, array: Any) -> bool:
    """Whether only the run will tell if the value has the dtype that the array asks for."""
    fact, wanted = builder.fact(value), builder.fact(array)
    known = isinstance(fact, values.Scalar) or values.strong_dtype(fact) is not None
    return not known and isinstance(wanted, values.Array) and wanted.dtype is not None


def axes_to_sum(full: values.Shape, small: values.Shape) -> tuple[int, ...] | None:
    """The axes of `small` along which it was broadcast to `full`; None where facts do not tell."""
    lead = len(full) - len(small)
    if lead < 0:
        return None
    axes = []
    for axis, (wide, narrow) in enumerate(zip(full[lead:], small, strict=True)):
        if values.same_dim(wide, narrow) or values.known_not_one(narrow):
            continue
        if narrow != 1:
            return None
        axes.append(axis)
    return tuple(axes)


def _plain(axes: tuple[int, ...], ndim: int | None) -> Any:
    if len(axes) == ndim:
        return None
    return support.axis_of(axes)


class BroadcastLike(TwoOperands):
    """broadcast_like(value, array): nothing where the shapes are the same already."""

    like_position = 1
    overlapping = True
    cost = 1

    def dependence(self, use: Use, position: int) -> Dependence:
        return None if position else broadcast(use.shapes[0], use.shape)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        value, array = operands
        if isinstance(array, values.Unknown):
            return values.as_inexact(array)
        dtype = values.strong_dtype(value)
        if isinstance(value, values.Scalar) and values.is_inexact(array):
            dtype = values.strong_dtype(array)
            if value.kind is complex and not values.missing([dtype]):
                dtype = np.result_type(dtype, 0j)
        return values.Array(dtype, values.shape_of(array))

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        value, array = operands
        target = support.shape(array)
        if target == () or not isinstance(array, Symbol):
            return value
        if values.same_shape(support.shape(value), target):
            return value
        if values.same_form(builder.fact(value), builder.fact(array)):
            return value
        source = broadcast_source(builder, value)
        if source is not None:
            return builder.call(runtime.broadcast_like, (source[0], array), {})
        return None

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        value = operation.operands[0]
        return [operation.result.builder.call(runtime.unbroadcast, (y_bar, value), {}), None]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        value, array = operation.operands
        if batched == [False, True] and support.rank(value) == 0:
            return batch.builder.call(runtime.broadcast_like, (value, array), {})
        if all(batched) and array.ndim is None:
            value = value.builder.call(runtime.pad_samples, (value, np.ndim(array)), {})
            return batch.builder.call(runtime.broadcast_like, (value, array), {})
        rank = support.sample_rank(array, batched[1])
        value = support.align(value, batched[0], rank)
        if batched[1]:
            return batch.builder.call(runtime.broadcast_like, (value, array), {})
        shape = (batch.size, *support.lengths(array, range(rank)))
        return batch.builder.call(np.broadcast_to, (value, shape), {})

    def filled_with(self, operands: list) -> Any:
        return operands[0] if type(operands[0]) in values.PYTHON_NUMBERS else None

    def is_view(self, operands: Sequence[gast.AST], fact: Callable) -> bool:
        return not _fills(*map(fact, operands))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        """np.zeros_like(x), np.ones_like(x), np.full_like(x, 2.0), np.broadcast_to(s, x.shape)."""
        value, array = call.args
        fact = facts(array)
        if not isinstance(fact, values.Array):
            return call
        shape = gast.Attribute(value=array, attr="shape", ctx=gast.Load())
        if fact.weak:
            shape = form.operation(np.shape, [array], {})
        if not _fills(facts(value), fact):
            if fact.weak or values.may_be_python(facts(value)):
                return call  # both may be numbers of Python's
            return form.operation(np.broadcast_to, [value, shape], {})
        if not values.is_inexact(fact):
            return form.operation(np.full, [shape, value], {})
        if values.is_complex(facts(value)) and not values.is_complex(fact):
            wide = values.is_dtype(fact.dtype, np.float64)
            dtype = {} if wide else {"dtype": form.constant(np.result_type(fact.dtype, 0j).type)}
            return form.operation(np.full, [shape, value], dtype)
        named = {0: np.zeros_like, 1: np.ones_like}.get(getattr(value, "value", None))
        if named is not None:
            return form.operation(named, [array], {})
        return form.operation(np.full_like, [array, value], {})


def _fills(value: values.AbstractValue, array: values.AbstractValue) -> bool:
    """Whether a new array of the dtype that the other one has is filled with the value: a number
    of Python's, or what may be one and is of that dtype where it is not."""
    if isinstance(value, values.Scalar):
        return True
    either = values.may_be_python(value) and not values.may_be_python(array)
    dtype = values.strong_dtype(value) if either else None
    return dtype is not None and dtype == getattr(array, "dtype", None)


class StopGradient(Rule):
    """The identity, through which no derivative passes; it leaves no trace in the text."""

    flat = True
    marker = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        (value,) = support.bind_call(builder, self, "value", args, kwargs).values()
        return _stop(builder, self, value)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return operands[0]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, {})


def _stop(builder: Builder, rule: Rule, value: Any) -> Any:
    """Containers are taken apart; numbers pass."""
    if isinstance(value, tuple | list):
        return type(value)(_stop(builder, rule, item) for item in value)
    return builder.emit(rule, [value], {}) if isinstance(value, Symbol) else value


register(Unbroadcast(runtime.unbroadcast, "unbroadcast"))
register(InDtypeOf(runtime.in_dtype_of, "in_dtype_of"))
register(BroadcastLike(runtime.broadcast_like, "broadcast_like"))
register(StopGradient(runtime.stop_gradient, "stop_gradient"))
