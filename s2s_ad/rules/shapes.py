"""Shapes and axes: reshape, transpose, expand_dims, squeeze, broadcast_to and their kin."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import METHODS, Operation, register
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.structure import Structural, positional


class Reshape(Structural):
    """np.reshape(x, shape); -1 stands for what is left."""

    text = "x, shape, order='C'"

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        if params["order"] != "C":
            raise ArgumentValueError("S2S203", "np.reshape with order other than 'C'")
        shape = params["shape"]
        if isinstance(shape, Symbol) and isinstance(shape.fact, values.Unknown):
            return {"shape": shape}  # the shape of something whose rank is not known
        return {"shape": tuple(shape) if isinstance(shape, tuple | list) else (shape,)}

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if isinstance(x, values.Unknown):
            return support.unknown(x)
        if isinstance(params["shape"], Symbol):
            return values.with_shape(x, None)
        return values.with_shape(x, tuple(dim_of(each) for each in params["shape"]))

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        shape = params["shape"]
        if isinstance(shape, Symbol):
            return None
        if operands[0].ndim == 1 and len(shape) == 1 and type(shape[0]) is int and shape[0] == -1:
            return operands[0]
        return None

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        x, shape = call.args[0], call.keywords[0].value
        if not isinstance(facts(x), values.Array) or not isinstance(shape, gast.Tuple):
            return gast.Call(func=call.func, args=[x, shape], keywords=[])
        flat = len(shape.elts) == 1 and getattr(shape.elts[0], "value", None) == -1
        method = gast.Attribute(value=x, attr="ravel" if flat else "reshape", ctx=gast.Load())
        args = [] if flat else shape.elts or [shape]
        return gast.Call(func=method, args=args, keywords=[])

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        return reshape_like(y_bar, operation.operands[0])

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        rank = support.sample_rank(x, True)
        shape = list(operation["shape"])
        whole = [i for i, each in enumerate(shape) if type(each) is int and each == -1]
        if whole:  # -1 is ambiguous for an empty batch
            total = support.product(support.lengths(x, range(1, rank + 1)))
            others = support.product([each for i, each in enumerate(shape) if i not in whole])
            known_one = type(others) is int and others == 1
            shape[whole[0]] = total if known_one else total // others
        return np.reshape(x, (batch.size, *shape))


def dim_of(length: Any) -> int | values.Dim:
    """The dimension that a length gives; a Symbol that was read off a dimension gives it back."""
    if isinstance(length, Symbol):
        rule, operands, params = length.builder.definition(length)
        if rule is not None and rule.function is np.size and "axis" in params:
            shape = operands[0].shape
            if shape is not None:
                return shape[params["axis"]]
        return values.fresh_dim()
    return values.fresh_dim() if length == -1 else int(length)


def reshape_like(value: Any, x: Symbol) -> Any:
    """`value` in the shape of `x`."""
    if not isinstance(value, Symbol):
        return x.builder.call(runtime.broadcast_like, (value, x), {})
    if x.ndim == 1 and value.ndim is not None:
        return np.reshape(value, -1)
    if x.ndim is None:
        return np.reshape(value, np.shape(x))
    return np.reshape(value, tuple(support.lengths(x, range(x.ndim))))


class PadSamples(Structural):
    """pad_samples(x, rank): a batch whose samples get leading axes of length one."""

    text = "x, rank"

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        return params

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return support.unknown(operands[0])

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        return np.reshape(y_bar, np.shape(operation.operands[0]))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return positional(call)


class Transpose(Structural):
    """np.transpose(x, axes=None)."""

    text = "x, axes=None"

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        axes = static(params["axes"], "the axes of np.transpose")
        if axes is None:
            return {}
        axes = support.normal_axes(tuple(axes), len(axes))
        if x.ndim is not None and len(axes) != x.ndim:
            raise ValueError("axes don't match array")
        return {} if axes == tuple(reversed(range(len(axes)))) else {"axes": axes}

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if support.any_unknown(x):
            return support.unknown(x)
        axes = params.get("axes") or tuple(reversed(range(len(x.shape))))
        return values.with_shape(x, tuple(x.shape[axis] for axis in axes))

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        x, axes = operands[0], params.get("axes")
        if x.ndim in (0, 1) or (axes is not None and axes == tuple(range(len(axes)))):
            return x
        rule, inner, options = builder.definition(x)
        if rule is self and inverse(options.get("axes"), x.ndim) == inverse_of(axes, x.ndim):
            return inner[0]
        return None

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
    if axes is None:
        return None if ndim is None else tuple(reversed(range(ndim)))
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def inverse_of(axes: tuple | None, ndim: int | None) -> tuple | None:
    """The axes themselves, written out: what the inverse of the other has to be."""
    return inverse(inverse(axes, ndim), ndim)


class ExpandDims(Structural):
    """np.expand_dims(x, axis): an index with None where the rank is known."""

    text = "x, axis"

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        axis = static(params["axis"], "axis of np.expand_dims")
        if x.ndim is None:
            return {"axis": axis}
        count = len(axis) if isinstance(axis, tuple) else 1
        axes = tuple(sorted(support.normal_axes(axis, x.ndim + count)))
        return {"axis": axes[0] if len(axes) == 1 else axes}

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if support.any_unknown(x):
            return support.unknown(x)
        axes, dims = _tuple(params["axis"]), iter(x.shape)
        rank = len(x.shape) + len(axes)
        return values.with_shape(x, tuple(1 if i in axes else next(dims) for i in range(rank)))

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
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
        axes = tuple(axis + 1 for axis in _tuple(operation["axis"]))
        return np.expand_dims(operation.operands[0], axes[0] if len(axes) == 1 else axes)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        rank = values.rank_of(facts(call.args[0]))
        axes = _tuple(_static(call.keywords[0].value))
        if rank is None:
            return call
        last = max(axes)
        items = [
            form.constant(None) if axis in axes else gast.Slice(None, None, None)
            for axis in range(last + 1)
        ]
        index = items[0] if len(items) == 1 else gast.Tuple(elts=items, ctx=gast.Load())
        return gast.Subscript(value=call.args[0], slice=index, ctx=gast.Load())


def _static(node: gast.AST) -> Any:
    return tuple(map(_static, node.elts)) if isinstance(node, gast.Tuple) else node.value


def _tuple(axis: Any) -> tuple:
    return axis if isinstance(axis, tuple) else (axis,)


class Squeeze(Structural):
    """np.squeeze(x, axis=None)."""

    text = "x, axis=None"

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        axis = static(params["axis"], "axis of np.squeeze")
        if x.shape is None:
            return {} if axis is None else {"axis": axis}
        if axis is None:
            if any(isinstance(dim, values.Dim) and dim.maybe_one for dim in x.shape):
                raise ArgumentValueError(
                    "S2S205",
                    "np.squeeze without axis= of an array whose lengths are not known",
                    origin=x.builder.origin,
                    help="say which axis has length one",
                )
            axis = tuple(i for i, dim in enumerate(x.shape) if dim == 1)
        axes = support.normal_axes(axis, x.ndim)
        return {"axis": axes[0] if len(axes) == 1 else axes}

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if support.any_unknown(x):
            return support.unknown(x)
        axes = _tuple(params["axis"])
        return values.with_shape(x, tuple(d for i, d in enumerate(x.shape) if i not in axes))

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        return operands[0] if params.get("axis") == () else None

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        axis = operation.params.get("axis")
        if axis is None:
            return reshape_like(y_bar, operation.operands[0])
        return np.expand_dims(y_bar, axis)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        support.sample_rank(operation.operands[0], True)
        axes = tuple(axis + 1 for axis in _tuple(operation["axis"]))
        return np.squeeze(operation.operands[0], axis=axes[0] if len(axes) == 1 else axes)


class BroadcastTo(Structural):
    """np.broadcast_to(x, shape)."""

    overlapping = True

    text = "x, shape"

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        shape = params["shape"]
        return {"shape": shape if isinstance(shape, tuple) else (shape,)}

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if isinstance(x, values.Unknown):
            return support.unknown(x)
        return values.with_shape(x, tuple(dim_of(each) for each in params["shape"]))

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        return y_bar.builder.call(runtime.unbroadcast, (y_bar, operation.operands[0]), {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return positional(call)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        shape = operation["shape"]
        x = support.align(operation.operands[0], True, len(shape))
        return np.broadcast_to(x, (batch.size, *shape))


def _moveaxis(x: Symbol, source: Any, destination: Any) -> Any:
    rank = support.known_rank(x, "np.moveaxis")
    sources = support.normal_axes(source, rank)
    destinations = support.normal_axes(destination, rank)
    order = [axis for axis in range(rank) if axis not in sources]
    for place, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(place, axis)
    return np.transpose(x, tuple(order))


def _ravel(x: Symbol) -> Any:
    return np.reshape(x, -1)


def _reshape_method(x: Symbol, shape: tuple) -> Any:
    return np.reshape(x, shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape)


def _swapaxes(x: Symbol, axis1: int, axis2: int) -> Any:
    order = list(range(support.known_rank(x, "np.swapaxes")))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return np.transpose(x, tuple(order))


def _transpose_method(x: Symbol, axes: tuple) -> Any:
    if not axes:
        return np.transpose(x)
    return np.transpose(x, axes[0] if isinstance(axes[0], tuple) else axes)


register(BroadcastTo(np.broadcast_to, "broadcast_to"))
register(ExpandDims(np.expand_dims, "expand_dims"))
register(PadSamples(runtime.pad_samples, "pad_samples"))
register(Reshape(np.reshape, "reshape"))
register(Squeeze(np.squeeze, "squeeze"))
register(Transpose(np.transpose, "transpose"))


composite(np.moveaxis, "x, source, destination", _moveaxis)
composite(np.ndarray.reshape, "x, *shape", _reshape_method)
composite(np.ndarray.transpose, "x, *axes", _transpose_method)
composite(np.ravel, "x", _ravel)
composite(np.swapaxes, "x, axis1, axis2", _swapaxes)


METHODS |= {
    "flatten": np.ravel,
    "ravel": np.ravel,
    "reshape": np.ndarray.reshape,
    "squeeze": np.squeeze,
    "swapaxes": np.swapaxes,
    "transpose": np.ndarray.transpose,
}
