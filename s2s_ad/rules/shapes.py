"""The same elements in another shape: reshape, ravel, broadcast_to."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import sizes, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.registry import METHODS, register
from s2s_ad.core.rule import Operation
from s2s_ad.diagnostics import ArgumentValueError, UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.structure import Structural, positional


class Reshape(Structural):
    """np.reshape(x, shape); -1 stands for what is left."""

    written_back = "reshape"

    text = "x, shape, order='C', *, copy=None"
    moves = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Order F is order C of the transposed arrays."""
        given = support.bind_call(builder, self, self.text, args, kwargs)
        order, copy = given.pop("order"), given.pop("copy")
        if order not in ("C", "F") or copy is False:
            what = f"order={order!r}" if order not in ("C", "F") else "copy=False"
            raise ArgumentValueError(
                "S2S203",
                f"np.reshape with {what}",
                why="it depends on how the array stands in memory",
            )
        x, shape = given["x"], given["shape"]
        if order == "F":
            sizes = tuple(shape)[::-1] if isinstance(shape, tuple | list) else shape
            result = np.transpose(np.reshape(np.transpose(x), sizes))
        else:
            result = super().bind(builder, (x, shape), {})
        return np.copy(result) if copy else result

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        shape = params["shape"]
        if isinstance(shape, Symbol) and isinstance(shape.fact, values.Unknown):
            return {"shape": shape}  # the shape of something whose rank is not known
        return {"shape": tuple(shape) if isinstance(shape, tuple | list) else (shape,)}

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if isinstance(x, values.Unknown):
            return support.unknown(x)
        if isinstance(params["shape"], Symbol):
            return values.with_shape(x, None)
        dims = [dim_of(each) for each in params["shape"]]
        self._check_total(x.shape, dims, params["shape"])
        left = [i for i, each in enumerate(params["shape"]) if type(each) is int and each == -1]
        others = [each for i, each in enumerate(dims) if i not in left]
        whole = [values.size_of_dim(dim) for dim in x.shape or ()]
        numbers = x.shape is not None and all(isinstance(each, int) for each in others)
        if left and numbers and 0 not in others:
            total = functools.reduce(sizes.product, whole, sizes.of(1))
            dims[left[0]] = values.dim_of_size(sizes.quotient(total, math.prod(others)))
        return values.with_shape(x, tuple(dims))

    def _check_total(self, old: values.Shape | None, new: list, asked: tuple) -> None:
        """There are as many elements as before; -1 stands for a whole number of them."""
        open_ = [type(each) is int and each == -1 for each in asked]
        if old is None or sum(open_) > 1:
            return
        counted = [dim for dim, is_open in zip(new, open_, strict=True) if not is_open]
        before, after = (
            functools.reduce(sizes.product, map(values.size_of_dim, dims), sizes.of(1))
            for dims in (old, counted)
        )
        if not any(open_):
            help = "keep as many elements; -1 stands for the length that is left: x.reshape(2, -1)"
            what = "a reshape to another number of elements"
            values.check_sizes(before, after, what, help=help)
        elif after.known:
            whole = sizes.quotient(before, after.known).times(after.known)
            values.check_sizes(before, whole, "a reshape whose -1 is no whole number")

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        shape = params["shape"]
        if isinstance(shape, Symbol):
            return None
        if builder.derived:
            before = builder.operands_of(operands[0], np.reshape)
            if before:
                return np.reshape(before[0], shape)
            old = values.shape_of(builder.fact(operands[0]))
            if old is not None and values.are_taken_for_equal(old, tuple(map(dim_of, shape))):
                return operands[0]
        if len(shape) != 1 or type(shape[0]) is not int or shape[0] != -1:
            return None
        if values.rank_of(builder.fact(operands[0])) == 1:
            return operands[0]
        rule, rows, params = builder.definition(operands[0])
        stacked = rule is not None and rule.function is np.stack and operands[0].ndim == 2
        if not (builder.derived and stacked and params["axis"] == 0):
            return None
        return np.concatenate(rows)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        x, shape = call.args[0], call.keywords[0].value
        has_methods = isinstance(facts(x), values.Array) and not values.may_be_python(facts(x))
        if not has_methods or not isinstance(shape, gast.Tuple):
            return gast.Call(func=call.func, args=[x, shape], keywords=[])
        flat = len(shape.elts) == 1 and getattr(shape.elts[0], "value", None) == -1
        method = gast.Attribute(value=x, attr="ravel" if flat else "reshape", ctx=gast.Load())
        args = [] if flat else shape.elts or [shape]
        return gast.Call(func=method, args=args, keywords=[])

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        return reshape_like(y_bar, operation.operands[0])

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        if isinstance(operation["shape"], Symbol):
            return np.reshape(x, _with_samples(operation["shape"]))
        rank = support.sample_rank(x, True)
        shape = list(operation["shape"])
        whole = [i for i, each in enumerate(shape) if type(each) is int and each == -1]
        if whole:  # -1 is ambiguous for an empty batch
            total = support.product(support.lengths(x, range(1, rank + 1)))
            others = support.product([each for i, each in enumerate(shape) if i not in whole])
            known_one = type(others) is int and others == 1
            shape[whole[0]] = total if known_one else total // others
        return np.reshape(x, (batch.size, *shape))


def _with_samples(shape: Symbol) -> Symbol:
    """The shape of a batch of unknown rank, from that of a sample: `np.shape(x)[1:]`."""
    rule, operands, params = shape.builder.definition(shape)
    whole = operands[0] if operands else None
    if isinstance(whole, Symbol) and params.get("index") == slice(1, None, None):
        rule = shape.builder.definition(whole)[0]
        if rule is not None and rule.function is np.shape:
            return whole
    raise UnsupportedError("S2S203", "a reshape to a shape whose rank is not known")


def dim_of(length: Any) -> int | values.Dim:
    """The dimension that a length gives."""
    if isinstance(length, Symbol):
        size = length.builder.size(length)
        return values.fresh_dim() if size is None else values.dim_of_size(size)
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

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return support.unknown(operands[0])

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        return np.reshape(y_bar, np.shape(operation.operands[0]))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return positional(call)


class BroadcastTo(Structural):
    """np.broadcast_to(x, shape)."""

    overlapping = total = True

    text = "x, shape, subok=False"

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        shape = params["shape"]
        return {"shape": shape if isinstance(shape, tuple) else (shape,)}

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x, shape = operands[0], tuple(dim_of(each) for each in params["shape"])
        if isinstance(x, values.Unknown):
            return support.unknown(x)
        values.check_stored(shape, x.shape)
        return values.with_shape(x, shape)

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        x = operation.operands[0]
        return x.builder.call(runtime.unbroadcast, (y_bar, x), {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return positional(call)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        shape = operation["shape"]
        x = support.align(operation.operands[0], True, len(shape))
        return np.broadcast_to(x, (batch.size, *shape))


def _ravel(x: Symbol, order: str) -> Any:
    return np.reshape(x, -1, order=order)


def _reshape_method(x: Symbol, shape: tuple, order: str, copy: Any) -> Any:
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    return np.reshape(x, sizes, order=order, copy=copy)


register(BroadcastTo(np.broadcast_to, "broadcast_to"))
register(PadSamples(runtime.pad_samples, "pad_samples"))
register(Reshape(np.reshape, "reshape"))

composite(
    np.ndarray.reshape,
    "x, *shape, order='C', copy=None",
    _reshape_method,
    written_back="reshape",
)
composite(np.ravel, "x, order='C'", _ravel, written_back="reshape")

METHODS |= {"flatten": np.ravel, "ravel": np.ravel, "reshape": np.ndarray.reshape}
