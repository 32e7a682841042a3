"""The structural kind: functions that move, join and reshape elements without changing them."""

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
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules import support
from s2s_ad.rules.reductions import composite, flatten_samples


class Structural(Rule):
    """A linear function of one array: its tangent is itself, applied to the tangent.

    Subclasses give `text` (the signature), `infer`, `transposed` (the adjoint) and `batch`.
    """

    text = "x"
    view = True

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
        return [self.transposed(operation, y_bar)]

    def forward(self, operation: Operation, tangents: list) -> Any:
        if tangents[0] is None:
            return None
        return operation.result.builder.call(self.function, (tangents[0],), operation.params)


# ---- shapes --------------------------------------------------------------------------------------


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


def leading(call: gast.Call) -> gast.Call:
    """The call with its first parameter by position."""
    first = [each.value for each in call.keywords[:1]]
    return gast.Call(func=call.func, args=[*call.args, *first], keywords=call.keywords[1:])


def positional(call: gast.Call) -> gast.Call:
    """The call with its parameters by position."""
    values_ = [keyword.value for keyword in call.keywords]
    return gast.Call(func=call.func, args=[*call.args, *values_], keywords=[])


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
        if builder.derived and rule is not None and rule.function is operator.neg:
            return -np.expand_dims(inner[0], **params)
        return None

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


class Along(Structural):
    """Functions of an array and an axis that undo themselves or have a simple inverse."""

    text = "x, axis=None"

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return operands[0]

    def shift(self, params: dict[str, Any], rank: int) -> dict[str, Any]:
        axes = tuple(axis + 1 for axis in support.normal_axes(params.get("axis"), rank))
        return params | {"axis": axes[0] if len(axes) == 1 else axes}


class Flip(Along):
    """np.flip: its own inverse."""

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        return np.flip(y_bar, **operation.params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        rank = support.sample_rank(operation.operands[0], True)
        return np.flip(operation.operands[0], **self.shift(operation.params, rank))


class Roll(Along):
    """np.roll: rolled back by the adjoint."""

    text = "x, shift, axis=None"
    view = False

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        axis = static(params["axis"], "axis of np.roll")
        return {"shift": params["shift"]} | ({} if axis is None else {"axis": axis})

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        shift = operation["shift"]
        back = tuple(-each for each in shift) if isinstance(shift, tuple) else -shift
        return np.roll(y_bar, **operation.params | {"shift": back})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        rank = support.sample_rank(x, True)
        if operation.params.get("axis") is None and rank != 1:
            rolled = np.roll(flatten_samples(x), operation["shift"], axis=1)
            return np.reshape(rolled, tuple(support.lengths(x, range(rank + 1))))
        return np.roll(x, **self.shift(operation.params, rank))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return leading(call)


class Identity(Along):
    """Copies: the identity of values."""

    text = "x"
    view = False

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        return x if isinstance(x, values.Unknown) else values.with_shape(x, x.shape)

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        return y_bar

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        if not isinstance(facts(call.args[0]), values.Array):
            return call
        method = gast.Attribute(value=call.args[0], attr="copy", ctx=gast.Load())
        return gast.Call(func=method, args=[], keywords=[])


class AsType(Along):
    """x.astype(dtype); the adjoint goes back to the dtype of x."""

    text = "x, dtype"
    view = False

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        return {"dtype": np.dtype(static(params["dtype"], "the dtype of astype")).type}

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        dtype = np.dtype(params["dtype"])
        x = operands[0]
        if isinstance(x, values.Unknown):
            return values.Unknown(dtype.kind in "fc")
        return values.Array(dtype, values.shape_of(x))

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        same = builder.derived and values.is_dtype(operands[0].dtype, params["dtype"])
        return operands[0] if same else None

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        x = operation.operands[0]
        return x.builder.call(runtime.unbroadcast, (y_bar, x), {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, operation.params)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        method = gast.Attribute(value=call.args[0], attr="astype", ctx=gast.Load())
        return gast.Call(func=method, args=[call.keywords[0].value], keywords=[])


class Triangle(Along):
    """np.tril and np.triu of the last two axes: their own adjoints."""

    text = "x, k=0"
    view = False

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        if x.ndim is not None and x.ndim < 2:
            raise ArgumentValueError(
                "S2S203",
                f"np.{self.name} of an array of rank {x.ndim}",
                origin=x.builder.origin,
                help="it takes a matrix, or a stack of matrices",
            )
        return super().prepare(x, params)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return leading(call)

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        return self.function(y_bar, **operation.params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        support.sample_rank(operation.operands[0], True)
        return self.function(operation.operands[0], **operation.params)


class Diagonal(Structural):
    """np.diagonal(x, offset, axis1, axis2): the adjoint adds along the diagonal."""

    text = "x, offset=0, axis1=0, axis2=1"

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if support.any_unknown(x):
            return support.unknown(x)
        rank = len(x.shape)
        axes = support.normal_axes((params.get("axis1", 0), params.get("axis2", 1)), rank)
        rest = tuple(dim for i, dim in enumerate(x.shape) if i not in axes)
        square = params.get("offset", 0) == 0 and x.shape[axes[0]] == x.shape[axes[1]]
        return values.with_shape(x, (*rest, x.shape[axes[0]] if square else values.fresh_dim()))

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        x = operation.operands[0]
        if x.ndim is None:
            raise support.CannotBatch
        axes = support.normal_axes(
            (operation.params.get("axis1", 0), operation.params.get("axis2", 1)), x.ndim
        )
        offset = operation.params.get("offset", 0)
        count = np.arange(support.length(y_bar, y_bar.ndim - 1), like=y_bar)
        places: list[Any] = [slice(None)] * x.ndim
        places[axes[0]] = count - offset if offset < 0 else count
        places[axes[1]] = count + offset if offset > 0 else count
        if x.ndim > 2:  # adjacent indices stay in place, others come first
            place = min(axes) if abs(axes[0] - axes[1]) == 1 else 0
            y_bar = np.moveaxis(y_bar, -1, place)
        zeros = np.zeros_like(x)
        return x.builder.call(runtime.index_add, (zeros, tuple(places), y_bar), {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        rank = support.sample_rank(operation.operands[0], True)
        axes = support.normal_axes(
            (operation.params.get("axis1", 0), operation.params.get("axis2", 1)), rank
        )
        shifted = {"axis1": axes[0] + 1, "axis2": axes[1] + 1}
        return batch.builder.call(
            self.function, (operation.operands[0],), operation.params | shifted
        )


# ---- joining -------------------------------------------------------------------------------------


class Joining(Rule):
    """np.concatenate and np.stack: functions of a list of arrays and an axis."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, "arrays, axis=0", args, kwargs)
        arrays = params["arrays"]
        if not isinstance(arrays, tuple | list) or not arrays:
            raise ArgumentValueError(
                "S2S205",
                f"np.{self.name} of something that is not a list of arrays",
                origin=builder.origin,
            )
        arrays = [support.as_operand(builder, each) for each in arrays]
        axis = static(params["axis"], f"axis of np.{self.name}")
        ranks = [support.rank(each) for each in arrays]
        if axis is None:
            arrays, axis = [np.ravel(each) for each in arrays], 0
        elif None not in ranks:
            axis = support.normal_axis(axis, max(ranks) + (self.function is np.stack))
        return builder.emit(self, arrays, {"axis": axis})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(*operands)
        axis = params["axis"]
        kinds = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(kinds) else np.result_type(*kinds)
        shapes = [values.shape_of(each) for each in operands]
        if self.function is np.stack:
            first = values.broadcast(shapes)
            return values.Array(dtype, (*first[:axis], len(operands), *first[axis:]))
        joined = [shape[axis] for shape in shapes]
        total = sum(joined) if all(isinstance(dim, int) for dim in joined) else values.fresh_dim()
        rest = values.broadcast((*shape[:axis], 1, *shape[axis + 1 :]) for shape in shapes)
        return values.Array(dtype, (*rest[:axis], total, *rest[axis + 1 :]))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        axis, builder = operation["axis"], operation.result.builder
        if axis < 0:
            raise support.CannotBatch
        adjoints, start = [], 0
        for position, operand in enumerate(operation.operands):
            if self.function is np.stack:
                place, start = start, start + 1
            else:
                stop = start + np.size(operand, axis)
                last = position == len(operation.operands) - 1
                place, start = slice(start if position else None, None if last else stop), stop
            index = (*(slice(None),) * axis, place)
            part = y_bar[index[0] if len(index) == 1 else index]
            wanted = operation.active[position]
            adjoints.append(
                builder.call(runtime.unbroadcast, (part, operand), {}) if wanted else None
            )
        return adjoints

    def forward(self, operation: Operation, tangents: list) -> Any:
        if all(each is None for each in tangents):
            return None
        filled = [
            np.zeros_like(operand) if tangent is None else tangent
            for operand, tangent in zip(operation.operands, tangents, strict=True)
        ]
        return operation.result.builder.call(self.function, (filled,), operation.params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        for pair in zip(operation.operands, batched, strict=True):
            support.sample_rank(*pair)
        arrays = [batch.spread(*pair) for pair in zip(operation.operands, batched, strict=True)]
        return batch.builder.call(self.function, (arrays,), {"axis": operation["axis"] + 1})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        arrays = gast.List(elts=call.args, ctx=gast.Load())
        keywords = [each for each in call.keywords if each.value.value != 0]
        return gast.Call(func=call.func, args=[arrays], keywords=keywords)


# ---- what is written as one of these -------------------------------------------------------------


def _ravel(x: Symbol) -> Any:
    return np.reshape(x, -1)


def _swapaxes(x: Symbol, axis1: int, axis2: int) -> Any:
    order = list(range(_rank(x, "np.swapaxes")))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return np.transpose(x, tuple(order))


def _moveaxis(x: Symbol, source: Any, destination: Any) -> Any:
    rank = _rank(x, "np.moveaxis")
    sources = support.normal_axes(source, rank)
    destinations = support.normal_axes(destination, rank)
    order = [axis for axis in range(rank) if axis not in sources]
    for place, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(place, axis)
    return np.transpose(x, tuple(order))


def _rank(x: Any, name: str) -> int:
    rank = support.rank(x)
    if rank is None:
        raise ArgumentValueError(
            "S2S205",
            f"{name} of an array whose rank is not known",
            origin=x.builder.origin,
            help="give example arguments, or --like on the command line",
        )
    return rank


def _at_least_2d(arrays: list) -> list:
    return [x[None] if _rank(x, "stacking") == 1 else x for x in arrays]


def _vstack(arrays: Any) -> Any:
    return np.concatenate(_at_least_2d(list(arrays)))


def _hstack(arrays: Any) -> Any:
    return np.concatenate(list(arrays), axis=0 if _rank(arrays[0], "np.hstack") == 1 else 1)


def _column_stack(arrays: Any) -> Any:
    columns = [x[:, None] if _rank(x, "np.column_stack") == 1 else x for x in arrays]
    return np.concatenate(columns, axis=1)


def _fliplr(x: Symbol) -> Any:
    return np.flip(x, axis=1)


def _flipud(x: Symbol) -> Any:
    return np.flip(x, axis=0)


def _trace(x: Symbol) -> Any:
    return np.sum(np.diagonal(x), axis=-1)


def _diag(x: Symbol, k: int) -> Any:
    if _rank(x, "np.diag") == 2:
        return np.diagonal(x, offset=k)
    if k != 0:
        raise ArgumentValueError("S2S203", "np.diag of a vector with k other than 0")
    return np.expand_dims(x, 1) * np.eye(support.length(x, 0), dtype=x.dtype, like=x)


register(AsType(np.ndarray.astype, "astype"))
register(BroadcastTo(np.broadcast_to, "broadcast_to"))
register(Diagonal(np.diagonal, "diagonal"))
register(ExpandDims(np.expand_dims, "expand_dims"))
register(Flip(np.flip, "flip"))
register(Identity(np.copy, "copy"))
register(Joining(np.concatenate, "concatenate"))
register(Joining(np.stack, "stack"))
register(PadSamples(runtime.pad_samples, "pad_samples"))
register(Reshape(np.reshape, "reshape"))
register(Roll(np.roll, "roll"))
register(Squeeze(np.squeeze, "squeeze"))
register(Transpose(np.transpose, "transpose"))
register(Triangle(np.tril, "tril"))
register(Triangle(np.triu, "triu"))


def _reshape_method(x: Symbol, shape: tuple) -> Any:
    return np.reshape(x, shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape)


def _transpose_method(x: Symbol, axes: tuple) -> Any:
    if not axes:
        return np.transpose(x)
    return np.transpose(x, axes[0] if isinstance(axes[0], tuple) else axes)


composite(np.column_stack, "arrays", _column_stack)
composite(np.diag, "x, k=0", _diag)
composite(np.fliplr, "x", _fliplr)
composite(np.flipud, "x", _flipud)
composite(np.hstack, "arrays", _hstack)
composite(np.moveaxis, "x, source, destination", _moveaxis)
composite(np.ndarray.reshape, "x, *shape", _reshape_method)
composite(np.ndarray.transpose, "x, *axes", _transpose_method)
composite(np.ravel, "x", _ravel)
composite(np.swapaxes, "x, axis1, axis2", _swapaxes)
composite(np.trace, "x", _trace)
composite(np.vstack, "arrays", _vstack)

METHODS |= {
    "astype": np.ndarray.astype,
    "copy": np.copy,
    "diagonal": np.diagonal,
    "flatten": np.ravel,
    "ravel": np.ravel,
    "reshape": np.ndarray.reshape,
    "squeeze": np.squeeze,
    "swapaxes": np.swapaxes,
    "trace": np.trace,
    "transpose": np.ndarray.transpose,
}
