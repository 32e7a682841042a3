"""Reading and adding to elements: `x[index]` and its adjoint `index_add(x, index, value)`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import METHODS, Operation, Rule, register
from s2s_ad.diagnostics import BatchError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite


@dataclass(frozen=True, slots=True)
class Layout:
    """What an index does to the axes of an array.

    items: one per step, Ellipsis written out as slices.
    advanced: positions in `items` that take part in advanced indexing.
    block: the shape that the advanced items broadcast to; None without any.
    place: where that block stands in the result.
    shape: the shape of the result.
    """

    items: tuple
    advanced: tuple[int, ...]
    block: values.Shape | None
    place: int
    shape: values.Shape


def fact_of(item: Any) -> values.AbstractValue:
    if isinstance(item, Symbol):
        return item.fact
    if type(item) in values.PYTHON_NUMBERS:
        return values.Scalar(type(item))
    return values.Static(item)


def is_integer(item: Any) -> bool:
    """A single integer, of Python's or NumPy's."""
    fact = fact_of(item)
    if isinstance(fact, values.Scalar):
        return fact.kind is int
    return isinstance(fact, values.Array) and fact.shape == () and _kind(fact) in "iu"


def is_array(item: Any) -> bool:
    fact = fact_of(item)
    return isinstance(fact, values.Array) and fact.shape not in (None, ()) and _kind(fact) in "biu"


def _kind(fact: values.Array) -> str:
    return "?" if fact.dtype is None else fact.dtype.kind


def consumed(item: Any) -> int:
    """How many axes of the array the item takes."""
    if item is None:
        return 0
    return fact_of(item).rank if is_array(item) and _kind(item.fact) == "b" else 1


def layout(index: Any, shape: values.Shape) -> Layout | None:
    """The layout of an index into an array of this shape; None where facts do not tell."""
    items = list(index) if isinstance(index, tuple) else [index]
    for item in items:
        plain = item is None or item is Ellipsis or isinstance(item, slice)
        if not (plain or is_integer(item) or is_array(item)):
            return None
    taken = sum(consumed(item) for item in items if item is not Ellipsis)
    if taken > len(shape):
        raise IndexError(f"too many indices: {taken} for an array of rank {len(shape)}")
    gap = [slice(None)] * (len(shape) - taken)
    at = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    items[at : at + 1] = gap
    return _laid_out(tuple(items), shape)


def _laid_out(items: tuple, shape: values.Shape) -> Layout:
    has_arrays = any(is_array(item) for item in items)
    advanced = [
        i for i, item in enumerate(items) if is_array(item) or (has_arrays and is_integer(item))
    ]
    dims: list[Any] = []
    place, axis = None, 0
    for i, item in enumerate(items):
        if i in advanced:
            place = len(dims) if place is None else place
        elif item is None:
            dims.append(1)
        elif isinstance(item, slice):
            dims.append(slice_dim(shape[axis], item))
        axis += consumed(item)
    if not advanced:
        return Layout(items, (), None, 0, tuple(dims))
    place = 0 if apart(advanced) else place
    block = values.broadcast(_block_shape(items[i]) for i in advanced)
    return Layout(items, tuple(advanced), block, place, (*dims[:place], *block, *dims[place:]))


def apart(advanced: Sequence[int]) -> bool:
    """Whether something stands between advanced indices: then their block comes first."""
    return any(after != before + 1 for before, after in pairwise(advanced))


def _block_shape(item: Any) -> values.Shape:
    fact = fact_of(item)
    return (values.fresh_dim(),) if _kind_of(fact) == "b" else fact.shape


def _kind_of(fact: Any) -> str:
    return _kind(fact) if isinstance(fact, values.Array) else "i"


def slice_dim(dim: Any, item: slice) -> Any:
    """The length of a slice, as far as it follows from its bounds."""
    bounds = (item.start, item.stop, item.step)
    if any(isinstance(each, Symbol) for each in bounds):
        return values.fresh_dim()
    if isinstance(dim, int):
        return len(range(*item.indices(dim)))
    start, stop = item.start or 0, item.stop
    if item.step == -1 and item.start is None and stop is None:
        return dim
    if item.step not in (None, 1) or start < 0 or (stop is not None and stop >= 0):
        return values.fresh_dim()
    return dim.less(start - (stop or 0))


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
        rule, inner, _ = builder.definition(operands[0])
        repeated = rule is not None and rule.function is runtime.broadcast_like
        if repeated and support.shape(inner[0]) == () and operands[0].ndim is not None:
            found = layout(params["index"], operands[0].shape)
            if found is not None and found.shape == ():
                return inner[0]
        return None

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        x = operation.operands[0]
        return [x.builder.call(runtime.index_add, (zeros_like(x), operation["index"], y_bar), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return None if tangents[0] is None else tangents[0][operation["index"]]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        index, found = batched_index(operation["index"], x, batched[0], batch)
        result = x[index]
        if not batched[0]:
            return np.moveaxis(result, found.place, 0) if found.place else result
        return _moved_back(result, found, batch.is_batched(operation["index"]))

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


# ---- batches -------------------------------------------------------------------------------------


def batched_index(index: Any, x: Symbol, x_batched: bool, batch: Any) -> tuple[Any, Layout]:
    """The index into a batch, and the layout of the sample's own."""
    items = index if isinstance(index, tuple) else (index,)
    moved = [batch.is_batched(item) for item in items]
    sample_shape = x.shape[1:] if x_batched and x.shape is not None else x.shape
    samples = tuple(
        batch.sample(item) if flag else item for item, flag in zip(items, moved, strict=True)
    )
    found = None if sample_shape is None else layout(samples, sample_shape)
    if found is None:
        raise support.CannotBatch
    if not any(moved):
        return ((slice(None), *items) if x_batched else index), found
    for item, flag in zip(items, moved, strict=True):
        if flag and _kind_of(fact_of(item)) == "b":
            raise BatchError(
                "S2S402",
                "a boolean index that differs from sample to sample",
                origin=x.builder.origin,
                why="each sample would select another number of elements",
                help="use np.where(mask, x, other) instead of x[mask]",
            )
    rank = len(found.block or ())
    aligned = tuple(
        support.align(item, flag, rank) for item, flag in zip(items, moved, strict=True)
    )
    if not x_batched:
        whole = layout(aligned, sample_shape)
        return index_of(aligned), whole
    samples_of = batch.positions
    if rank:
        samples_of = np.expand_dims(samples_of, 1 if rank == 1 else tuple(range(1, rank + 1)))
    return (samples_of, *aligned), found


def index_of(items: tuple) -> Any:
    return items[0] if len(items) == 1 else items


def _moved_back(result: Symbol, found: Layout, index_batched: bool) -> Any:
    """The batch axis first, and the block of advanced indexing where the sample has it."""
    rank = len(found.block or ())
    if not rank or result.ndim is None:
        return result
    if not index_batched:  # separated advanced indices put their block before the batch axis
        return np.moveaxis(result, rank, 0) if apart(found.advanced) else result
    if not found.place:
        return result
    block = tuple(range(1, rank + 1))
    return np.moveaxis(result, block, tuple(axis + found.place for axis in block))


def _laid_like_batch(value: Any, batched: bool, found: Layout, index_batched: bool) -> Any:
    """A value to be added at the index, with its axes as the index into the batch has them.

    It undoes what `_moved_back` does.
    """
    rank, block = len(found.shape), len(found.block or ())
    value = support.align(value, batched, rank)
    moves = found.place if index_batched else apart(found.advanced)
    if not block or not moves or (not batched and not support.sample_rank(value, False)):
        return value
    if not batched:  # a batch axis of length one, in front of all the sample's axes
        value = np.expand_dims(value, tuple(range(1 + rank - support.sample_rank(value, False))))
    if not index_batched:
        return np.moveaxis(value, 0, block)
    places = tuple(range(1, block + 1))
    return np.moveaxis(value, tuple(place + found.place for place in places), places)


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
        x, value = operation.operands
        builder = operation.result.builder
        value_bar = None
        if operation.active[1]:
            taken = _as_symbol(builder, y_bar, x)[operation["index"]]
            value_bar = builder.call(runtime.unbroadcast, (taken, value), {})
        return [y_bar if operation.active[0] else None, value_bar]

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
        value = _laid_like_batch(value, batched[1], found, index_batched)
        return batch.builder.call(runtime.index_add, (base, index, value), {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        x, value = call.args
        index = form.as_value(call.keywords[0].value)
        return gast.Call(func=call.func, args=[x, index, value], keywords=[])


def _as_symbol(builder: Builder, value: Any, like: Any) -> Symbol:
    if isinstance(value, Symbol):
        return value
    return builder.call(np.full_like, (like, value), {})


class ZerosLike(Rule):
    """zeros_like(value) of a value that may be a container."""

    flat = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Unknown(True)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, {})


def may_repeat(index: Any, builder: Builder) -> bool:
    """Whether an index may name an element twice, so that `x[index] += v` would lose a term."""
    items = index if isinstance(index, tuple) else (index,)
    arrays = [item for item in items if is_array(item) and _kind(item.fact) != "b"]
    unsure = [i for i in items if isinstance(i, Symbol) and not is_integer(i) and not is_array(i)]
    if not arrays:
        return bool(unsure)
    block = values.broadcast(item.shape for item in arrays)
    return not any(
        _is_count(builder, item) and len(block) == 1 and values.same_shape(item.shape, block)
        for item in arrays
    )


def _is_count(builder: Builder, item: Symbol) -> bool:
    """np.arange(n): every element differs, and none counts from the end."""
    rule, _, params = builder.definition(item)
    return rule is not None and rule.function is np.arange and set(params) == {"start"}


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
