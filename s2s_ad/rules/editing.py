"""Elements put in, left out, chosen and repeated: gathers by places that are found first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import METHODS, register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.index_layout import is_integer


class Places(Rule):
    """np.insert and np.delete applied to places: which elements stand where afterwards."""

    flat = True

    def __init__(self, function: Callable, plain: Callable, *, selects: bool = False):
        super().__init__(function, plain.__name__)
        self.plain, self.selects = plain, selects

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Array(np.dtype(int), (values.fresh_dim(),), selects=self.selects)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise support.CannotBatch

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return gast.Call(form.constant(self.plain), call.args, call.keywords)


def _flattened(x: Symbol, axis: Any) -> tuple[Symbol, int]:
    """The array and its axis; None stands for all elements in a row."""
    axis = static(axis, "axis")
    if axis is None:
        return np.ravel(x), 0
    return x, support.normal_axis(axis, support.known_rank(x, "insert or delete"))


class Delete(Rule):
    """np.delete(x, obj, axis): what is left of x, and its adjoint, which puts that back."""

    linear = conjugates = (0,)
    of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, "x, obj, axis=None", args, kwargs)
        x, obj = support.as_operand(builder, given["x"]), given["obj"]
        if not isinstance(x, Symbol):
            x = builder.call(np.array, (x,), {})
        x, axis = _flattened(x, given["axis"])
        if isinstance(obj, slice):
            obj = np.arange(support.length(x, axis), like=x)[obj]
        return builder.emit(self, [x, support.as_operand(builder, obj)], {"axis": axis})

    def picks(self, known: list[bool]) -> bool:
        return all(known[1:])

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(operands[0])
        shape = list(operands[0].shape)
        shape[params["axis"]] = values.fresh_dim()
        return values.with_shape(operands[0], tuple(shape))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (x, obj), axis = operation.operands, operation["axis"]
        y_bar = x.builder.call(runtime.broadcast_like, (y_bar, operation.result), {})
        params = {"length": support.length(x, axis), "axis": axis}
        found = x.builder.call(runtime.put_back, (y_bar, obj), params)
        x.builder.facts[found.name] = values.with_shape(found.fact, x.shape)
        return [found, None]

    def forward(self, operation: Operation, tangents: list) -> Any:
        if tangents[0] is None:
            return None
        operands = [tangents[0], operation.operands[1]]
        return operation.result.builder.emit(self, operands, operation.params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if batched[1]:
            raise support.CannotBatch
        params = operation.params | {"axis": operation["axis"] + 1}
        return batch.builder.emit(self, operation.operands, params)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        axis = call.keywords[0].value
        vector = values.rank_of(facts(call.args[0])) == 1
        return gast.Call(call.func, [*call.args, *[axis] * (not vector)], [])


class PutBack(Delete):
    """put_back(left, places, length, axis): the adjoint of np.delete, and that is its own."""

    moves = leaves_zeros = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), kwargs)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(operands[0])
        shape, length = list(operands[0].shape), params["length"]
        shape[params["axis"]] = length if isinstance(length, int) else values.fresh_dim()
        return values.with_shape(operands[0], tuple(shape))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        left, indices = operation.operands
        y_bar = left.builder.call(runtime.broadcast_like, (y_bar, operation.result), {})
        return [np.delete(y_bar, indices, axis=operation["axis"]), None]

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return call


def _insert(x: Symbol, obj: Any, values_: Any, axis: Any) -> Any:
    """The new elements stand after x, and indices say where each goes."""
    x, axis = _flattened(x, axis)
    count = support.length(x, axis)
    if isinstance(obj, slice):
        obj = np.arange(count, like=x)[obj]
    new = _slabs(x, support.as_operand(x.builder, values_), obj, axis)
    obj = support.as_operand(x.builder, obj)
    builder, more = x.builder, np.size(new, axis)
    indices = builder.call(np.arange, (count,), {})
    after = builder.call(np.arange, (count, count + more), {})
    order = builder.call(runtime.places_joined, (indices, obj, after), {})
    return np.concatenate([x, new], axis=axis)[support.at(axis, order)]


def _slabs(x: Symbol, new: Any, obj: Any, axis: int) -> Any:
    """What is put in, in the type of x, one slab for each place."""
    shape = list(support.lengths(x, range(x.ndim)))
    rank = support.known_rank(new, "np.insert")
    single = is_integer(obj)
    if single and rank and rank <= x.ndim:  # NumPy: at one place the first axis is the inserted one
        missing = tuple(range(x.ndim - rank))
        new = np.moveaxis(np.expand_dims(new, missing) if missing else new, 0, axis)
        shape[axis] = support.length(new, axis)
    elif single:
        shape[axis] = 1
    else:
        shape[axis] = len(obj) if isinstance(obj, tuple | list) else np.size(obj, 0)
    dtypes = x.dtype, values.strong_dtype(x.builder.fact(new))
    if not values.missing(dtypes) and dtypes[0].kind != "c" == dtypes[1].kind:
        raise TypeError("complex numbers are put into an array of real ones")
    if not isinstance(new, Symbol):
        return x.builder.call(np.full, (tuple(shape), new), {"dtype": x.dtype})
    new = np.broadcast_to(new, tuple(shape))
    return new if values.missing(dtypes) else support.as_dtype(x.builder, new, dtypes[0])


def _compress(condition: Any, x: Symbol, axis: Any, out: Any) -> Any:
    x, axis = _flattened(x, axis)
    return x[support.at(axis, np.flatnonzero(support.as_operand(x.builder, condition)))]


def _extract(condition: Any, x: Symbol) -> Any:
    return np.ravel(x)[np.flatnonzero(condition)]


def _resize(x: Symbol, new_shape: Any) -> Any:
    """The elements over and over, until the new shape is full."""
    shape = tuple(new_shape) if isinstance(new_shape, tuple | list) else (new_shape,)
    flat = np.ravel(x)
    order = x.builder.call(np.arange, (support.product(list(shape)),), {})
    return np.reshape(flat[order % np.size(flat, 0)], shape)


def _trim_zeros(x: Symbol, trim: Any, axis: Any) -> Any:
    """Along each axis what is left between the first and the last slab that is not all zero."""
    trim = static(trim, "trim of np.trim_zeros").lower()
    axis = static(axis, "the axis of np.trim_zeros")
    rank = support.known_rank(x, "np.trim_zeros")
    parts = [slice(None)] * rank
    for each in support.normal_axes(axis, rank):
        others = tuple(i for i in range(rank) if i != each)
        kept = np.any(x != 0, axis=others) if others else x != 0
        start = np.sum(np.cumsum(kept) == 0) if "f" in trim else None
        stop = np.size(x, each) - np.sum(np.cumsum(kept[::-1]) == 0) if "b" in trim else None
        parts[each] = slice(start, stop)
    return x[tuple(parts) if rank > 1 else parts[0]]


def _choose_mode(indices: Any, length: Any, mode: str) -> Any:
    """Places that are counted around, or kept inside."""
    if mode == "raise":
        return indices
    if mode not in ("clip", "wrap"):
        raise UnsupportedError("S2S203", f"np.take with mode={mode!r}")
    return indices % length if mode == "wrap" else np.clip(indices, 0, length - 1)


def _take(x: Symbol, indices: Any, axis: Any, out: Any, mode: Any) -> Any:
    axis = static(axis, "axis of np.take")
    if axis is None:
        x, axis = np.ravel(x), 0
    mode = static(mode, "the mode of np.take")
    if mode != "raise":
        indices = _choose_mode(support.as_operand(x.builder, indices), np.size(x, axis), mode)
    return x[support.at(axis, indices)]


register(Places(runtime.places_joined, np.insert, selects=True))
register(Delete(np.delete, "delete"))
register(PutBack(runtime.put_back, "put_back"))

composite(np.compress, "condition, x, axis=None, out=None", _compress)
composite(np.extract, "condition, x", _extract)
composite(np.insert, "x, obj, values_, axis=None", _insert)
composite(np.resize, "x, new_shape", _resize)
composite(np.take, "x, indices, axis=None, out=None, mode='raise'", _take)
composite(np.trim_zeros, "x, trim='fb', axis=None", _trim_zeros)

METHODS["take"] = np.take
