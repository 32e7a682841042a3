"""Axes moved, inserted and removed: transpose, expand_dims, squeeze and their kin."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import METHODS, register
from s2s_ad.core.rule import Operation
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules import support
from s2s_ad.rules.arithmetic import negated
from s2s_ad.rules.composite import composite
from s2s_ad.rules.elementwise import one_number
from s2s_ad.rules.shapes import reshape_like
from s2s_ad.rules.structure import Structural, positional
from s2s_ad.rules.symmetric import is_symmetric


class Transpose(Structural):
    """np.transpose(x, axes=None)."""

    written_short = True
    written_back = "permutation"

    text = "x, axes=None"
    moves = True

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        axes = static(params["axes"], "the axes of np.transpose")
        if axes is None:
            return {}
        axes = support.normal_axes(tuple(axes), len(axes))
        if x.ndim is not None and len(axes) != x.ndim:
            raise ValueError("axes don't match array")
        return {} if axes == tuple(reversed(range(len(axes)))) else {"axes": axes}

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if support.any_unknown(x):
            return support.unknown(x)
        axes = params.get("axes") or tuple(reversed(range(len(x.shape))))
        return values.with_shape(x, tuple(x.shape[axis] for axis in axes))

    def axes_from(self, rank: int, params: Mapping[str, Any]) -> Sequence[int]:
        return params.get("axes") or tuple(reversed(range(rank)))

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        x, axes = operands[0], params.get("axes")
        if x.ndim in (0, 1) or (axes is not None and axes == tuple(range(len(axes)))):
            return x
        rule, inner, options = builder.definition(x)
        wanted = inverse(None, x.ndim) if axes is None else axes
        if rule is self and inverse(options.get("axes"), x.ndim) == wanted:
            return inner[0]
        positive = negated(builder, x) if builder.derived else None
        if positive is not None:
            return -np.transpose(positive, **params)
        return x if builder.derived and is_symmetric(builder, x) else None

    def symmetric_with(self, builder: Builder, operands: list, params: dict[str, Any]) -> list:
        return operands

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        axes = operation.params.get("axes")
        return np.transpose(y_bar) if axes is None else np.transpose(y_bar, inverse(axes, None))

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        rank = support.sample_rank(x, True)
        axes = operation.params.get("axes") or tuple(reversed(range(rank)))
        return np.transpose(x, (0, *(axis + 1 for axis in axes)))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        if call.keywords:
            return positional(call)
        return gast.Attribute(value=call.args[0], attr="T", ctx=gast.Load())


def inverse(axes: tuple | None, ndim: int | None) -> tuple | None:
    """The axes that transpose back; None stands for all axes in reverse."""
    if axes is None:
        return None if ndim is None else tuple(reversed(range(ndim)))
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


class ExpandDims(Structural):
    """np.expand_dims(x, axis): an index with None where the rank is known."""

    inserts_axes = total = written_short = True
    written_back = "insertion"
    text = "x, axis"
    moves = True

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        axis = static(params["axis"], "axis of np.expand_dims")
        if x.ndim is None:
            return {"axis": axis}
        count = len(axis) if isinstance(axis, tuple) else 1
        axes = tuple(sorted(support.normal_axes(axis, x.ndim + count)))
        return {"axis": support.axis_of(axes)}

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if support.any_unknown(x):
            return support.unknown(x)
        axes, dims = support.as_tuple(params["axis"]), iter(x.shape)
        rank = len(x.shape) + len(axes)
        return values.with_shape(x, tuple(1 if i in axes else next(dims) for i in range(rank)))

    def axes_from(self, rank: int, params: Mapping[str, Any]) -> Sequence[int | None]:
        new, old = support.as_tuple(params["axis"]), iter(range(rank))
        return [None if axis in new else next(old) for axis in range(rank + len(new))]

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        if params["axis"] == ():
            return operands[0]
        rule, inner, _ = builder.definition(operands[0])
        if not builder.derived or rule is None:
            return None
        if rule.function is operator.neg:
            return -np.expand_dims(inner[0], **params)
        undone = rule.function is np.squeeze and builder.definition(operands[0])[2] == params
        return inner[0] if undone else None

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        return np.squeeze(y_bar, axis=operation["axis"])

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        support.sample_rank(operation.operands[0], True)
        axes = tuple(axis + 1 for axis in support.as_tuple(operation["axis"]))
        return np.expand_dims(operation.operands[0], support.axis_of(axes))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        fact = facts(call.args[0])
        rank = values.rank_of(fact)
        is_number = isinstance(fact, values.Scalar) or getattr(fact, "weak", False)
        if is_number or (rank == 0 and values.is_complex(fact)):
            return call  # a number has no index; complex * np.float64 is Python's complex
        axes = support.as_tuple(_literal(call.keywords[0].value))
        if rank is None:
            return call
        last = max(axes)
        items = [
            form.constant(None) if axis in axes else gast.Slice(None, None, None)
            for axis in range(last + 1)
        ]
        index = items[0] if len(items) == 1 else gast.Tuple(elts=items, ctx=gast.Load())
        return gast.Subscript(value=call.args[0], slice=index, ctx=gast.Load())


def _literal(node: gast.AST) -> Any:
    return tuple(map(_literal, node.elts)) if isinstance(node, gast.Tuple) else node.value


class Squeeze(Structural):
    """np.squeeze(x, axis=None)."""

    removes_axes = True
    written_back = "insertion"

    text = "x, axis=None"
    moves = True

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        axis = static(params["axis"], "axis of np.squeeze")
        if x.shape is None:
            return {} if axis is None else {"axis": axis}
        if axis is None:
            if not all(dim == 1 or values.known_not_one(dim) for dim in x.shape):
                raise ArgumentValueError(
                    "S2S205",
                    "np.squeeze without axis= of an array whose lengths are not known",
                    origin=x.builder.origin,
                    help="say which axis has length one",
                )
            axis = tuple(i for i, dim in enumerate(x.shape) if dim == 1)
        axes = support.normal_axes(axis, x.ndim)
        return {"axis": support.axis_of(axes)}

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if support.any_unknown(x):
            return support.unknown(x)
        axes = support.as_tuple(params["axis"])
        return values.with_shape(x, tuple(d for i, d in enumerate(x.shape) if i not in axes))

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        if params.get("axis") == ():
            return operands[0]
        rule, inner, kept = builder.definition(operands[0])
        if not builder.derived or rule is None or "axis" not in params:
            return None
        if rule.function is operator.neg:
            return -np.squeeze(inner[0], **params)
        if rule.inserts_axes and kept == params:
            return inner[0]
        if not rule.reduction:
            return None
        if kept.get("keepdims") is not True or kept.get("axis") != params["axis"]:
            return None
        rest = {key: value for key, value in kept.items() if key != "keepdims"}
        return builder.call(rule.function, (inner[0],), rest) if len(inner) == 1 else None

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        (x,), axis = operation.operands, operation.params.get("axis")
        number = one_number(x.builder, y_bar)
        if number is not None:
            return x.builder.call(runtime.broadcast_like, (number, x), {})
        return reshape_like(y_bar, x) if axis is None else np.expand_dims(y_bar, axis)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        support.sample_rank(operation.operands[0], True)
        axes = tuple(axis + 1 for axis in support.as_tuple(operation["axis"]))
        return np.squeeze(operation.operands[0], axis=support.axis_of(axes))


def _moveaxis(x: Symbol, source: Any, destination: Any) -> Any:
    rank = support.known_rank(x, "np.moveaxis")
    sources = support.normal_axes(source, rank)
    destinations = support.normal_axes(destination, rank)
    order = [axis for axis in range(rank) if axis not in sources]
    for index, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(index, axis)
    return np.transpose(x, tuple(order))


def _swapaxes(x: Symbol, axis1: int, axis2: int) -> Any:
    order = list(range(support.known_rank(x, "np.swapaxes")))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return np.transpose(x, tuple(order))


def _transpose_method(x: Symbol, axes: tuple) -> Any:
    if not axes:
        return np.transpose(x)
    return np.transpose(x, axes[0] if isinstance(axes[0], tuple | list | None) else axes)


register(ExpandDims(np.expand_dims, "expand_dims"))
register(Squeeze(np.squeeze, "squeeze"))
register(Transpose(np.transpose, "transpose"))

composite(np.moveaxis, "x, source, destination", _moveaxis, written_back="permutation")
composite(np.ndarray.transpose, "x, *axes", _transpose_method, written_back="permutation")
composite(np.swapaxes, "x, axis1, axis2", _swapaxes, written_back="permutation")

METHODS |= {
    "squeeze": np.squeeze,
    "swapaxes": np.swapaxes,
    "transpose": np.ndarray.transpose,
}
