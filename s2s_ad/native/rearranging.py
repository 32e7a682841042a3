"""Operations whose result is elements of other arrays: repeated, padded, found, sorted, counted."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.native.contracting import total
from s2s_ad.native.indexing import positions
from s2s_ad.native.nodes import Index, Length, Node, NotNative, Number, array
from s2s_ad.native.operations import CHEAP, WHOLE_NUMBER, Operation, moved, native
from s2s_ad.native.scalars import cast
from s2s_ad.native.spelling import (
    Expression,
    assign,
    binary,
    both,
    call,
    compare,
    either,
    element,
    minus,
    name,
    number,
    plus,
    times,
)
from s2s_ad.native.writer import Writer


def _whole_number(writer: Writer, given: Any, text: str) -> Expression:
    """The text of a count, which is not below 0."""
    if type(given) is int and given >= 0:
        return number(given)
    if not isinstance(given, Number):
        raise NotNative(f"a count that is {given!r}")
    node = writer.named(given.node, text)
    writer.refuse(compare(node.at(()), gast.Lt, number(0)))
    return node.at(())


def _source(writer: Writer, x: Any, text: str) -> Node:
    """An operand of which elements are read where the index says."""
    if not isinstance(x, Node) or not x.rank:
        raise NotNative("elements of what is no array")
    return writer.in_memory(x, text) if x.cost > CHEAP else x


@native(np.repeat)
def repeat(writer: Writer, operation: Operation) -> Node:
    x = _source(writer, operation.operands[0], operation.text)
    axis = operation.params.get("axis", 0 if x.rank == 1 else None)
    if type(axis) is not int:
        raise NotNative("np.repeat of all axes")
    axis %= x.rank
    many = _whole_number(writer, operation.params.get("repeats"), "repeats")
    length = writer.length(operation.shape[axis], times(x.shape[axis].text, many))

    def at(index: Index) -> Expression:
        own = gast.BinOp(index[axis], gast.FloorDiv(), many)
        return x.at((*index[:axis], own, *index[axis + 1 :]))

    shape = (*x.shape[:axis], length, *x.shape[axis + 1 :])
    return Node(x.dtype, shape, at, x.reads, x.cost + 1)


@native(np.tile)
def tile(writer: Writer, operation: Operation) -> Node:
    x = _source(writer, operation.operands[0], operation.text)
    reps = operation.params.get("reps")
    reps = reps if isinstance(reps, tuple) else (reps,)
    rank = max(len(reps), x.rank)
    reps = (1,) * (rank - len(reps)) + reps
    one = Length(number(1), 1)
    lengths = [one] * (rank - x.rank) + [*x.shape]
    shape = tuple(
        each if many == 1
        else writer.length(dim, times(each.text, _whole_number(writer, many, "repeats")))
        for each, many, dim in zip(lengths, reps, operation.shape, strict=True)
    )  # fmt: skip

    def at(index: Index) -> Expression:
        own = zip(index[rank - x.rank :], x.shape, reps[rank - x.rank :], strict=True)
        return x.at(
            tuple(i if many == 1 else binary(i, gast.Mod, length.text) for i, length, many in own)
        )

    return Node(x.dtype, shape, at, x.reads, x.cost + 1)


@native(np.pad)
def pad(writer: Writer, operation: Operation) -> Node:
    """With zeros, or with what stands at the edge."""
    x = _source(writer, operation.operands[0], operation.text)
    widths, mode = operation.params.get("pad_width"), operation.params.get("mode", "constant")
    if mode not in ("constant", "edge") or operation.params.keys() - {"pad_width", "mode"}:
        raise NotNative("np.pad with such arguments")
    if not isinstance(widths, tuple) or len(widths) != x.rank:
        raise NotNative("np.pad with such widths")
    sides = [[_whole_number(writer, each, "width") for each in pair] for pair in widths]
    shape = tuple(
        writer.length(dim, plus(plus(before, length.text), after))
        for dim, length, (before, after) in zip(operation.shape, x.shape, sides, strict=True)
    )
    zero = cast(number(0), WHOLE_NUMBER, x.dtype)

    def at(index: Index) -> Expression:
        own = [minus(i, before) for i, (before, _) in zip(index, sides, strict=True)]
        last = [minus(each.text, number(1)) for each in x.shape]
        if mode == "edge":
            pairs = zip(own, last, strict=True)
            return x.at(tuple(call("min", call("max", i, number(0)), end) for i, end in pairs))
        inside = [
            gast.Compare(number(0), [gast.LtE(), gast.LtE()], [i, end])
            for i, end in zip(own, last, strict=True)
        ]
        return either(both(*inside), x.at(tuple(own)), zero)

    return Node(x.dtype, shape, at, x.reads, x.cost + 3)


@native(np.flatnonzero)
def flatnonzero(writer: Writer, operation: Operation) -> Node:
    (x,) = operation.operands
    if not isinstance(x, Node) or x.rank != 1:
        raise NotNative("np.flatnonzero of several axes")
    return positions(writer, x, operation.text, operation.shape[0])


@native(np.count_nonzero)
def count_nonzero(writer: Writer, operation: Operation) -> Node:
    (x,) = operation.operands
    if operation.params or not isinstance(x, Node) or not x.rank or x.dtype.kind != "b":
        raise NotNative("np.count_nonzero with such arguments")
    return total(writer, x, {*range(x.rank)}, operation.dtype, operation.text)


@native(np.searchsorted)
def searchsorted(writer: Writer, operation: Operation) -> Node:
    items, values_ = operation.operands
    side = operation.params.get("side", "left")
    nodes = isinstance(items, Node) and isinstance(values_, Node) and items.rank == 1
    if operation.params.keys() - {"side"} or not nodes or side not in ("left", "right"):
        raise NotNative("np.searchsorted with such arguments")
    if {items.dtype.kind, values_.dtype.kind} - {"f", "i"} or items.dtype != values_.dtype:
        raise NotNative("np.searchsorted of such numbers")
    whole = writer.in_memory(items, f"{operation.text}_items")
    right = gast.Constant(side == "right", None)

    def at(index: Index) -> Expression:
        return call("first_beyond", whole.whole(), values_.at(index), right)

    return Node(WHOLE_NUMBER, values_.shape, at, whole.reads | values_.reads, values_.cost + 30)


@native(np.bincount)
def bincount(writer: Writer, operation: Operation) -> Node:
    x = operation.operands[0]
    weights = operation.params.get("weights", [None, *operation.operands[1:]][-1])
    least = operation.params.get("minlength", 0)
    if not isinstance(x, Node) or x.rank != 1 or x.dtype.kind != "i":
        raise NotNative("np.bincount of such numbers")
    if weights is not None:
        if not isinstance(weights, Node) or weights.rank != 1:
            raise NotNative("np.bincount with such weights")
        writer.check_equal(x.shape[0], weights.shape[0])
    x = writer.in_memory(x, f"{operation.text}_items")
    many = writer.fresh("count_of")
    writer.emit(assign(many, call("bins_of", x.whole(), _whole_number(writer, least, "least"))))
    length = Length(name(many), operation.shape[0])
    writer.know(length.dim, length.text)
    made = writer.allocated(operation.dtype, (length,), operation.text, "zeros")
    with writer.loops(x.shape) as index:
        one = number(1) if weights is None else weights.at(index)
        source = WHOLE_NUMBER if weights is None else weights.dtype
        place = element(name(made.kept), (x.at(index),), store=True)
        writer.emit(gast.AugAssign(place, gast.Add(), cast(one, source, operation.dtype)))
    return made


@native(np.convolve)
def convolve(writer: Writer, operation: Operation) -> Node:
    x, y = operation.operands
    mode = operation.params.get("mode", "full")
    floats = all(isinstance(e, Node) and e.rank == 1 and e.dtype == float for e in (x, y))
    if not floats or mode not in ("full", "same", "valid"):
        raise NotNative("np.convolve with such arguments")
    given = [writer.in_memory(each, f"{operation.text}_of").whole() for each in (x, y)]
    own = writer.fresh(operation.text)
    writer.emit(assign(own, call("convolved", *given, gast.Constant(mode, None))))
    return array(own, operation.dtype, writer.lengths_of(own, operation.shape), own=True)


@native(np.polyval)
def polyval(writer: Writer, operation: Operation) -> Node:
    x, p = operation.operands
    if not isinstance(p, Node) or p.rank != 1 or {x.dtype, p.dtype} != {np.dtype(float)}:
        raise NotNative("np.polyval of such numbers")
    whole = writer.in_memory(p, f"{operation.text}_coefficients")
    cost = x.cost + 10
    reads = x.reads | whole.reads
    return Node(
        p.dtype, x.shape, lambda at: call("polynomial", whole.whole(), x.at(at)), reads, cost
    )


@native(runtime.is_last)
def is_last(writer: Writer, operation: Operation) -> Node:
    """Whether no later item of an index has the same place."""
    index, like = operation.params.get("index"), operation.operands[0]
    if not isinstance(index, Node) or index.rank != 1 or index.dtype.kind != "i":
        raise NotNative("is_last of such an index")
    if not isinstance(like, Node) or not like.rank:
        raise NotNative("is_last of no array")
    index = writer.in_memory(index, "places")
    last = writer.allocated(WHOLE_NUMBER, like.shape[:1], "last", "empty")

    def place(at: Index, *, store: bool = False) -> Expression:
        own = call("within", index.at(at[:1]), like.shape[0].text)
        return element(name(last.kept), (own,), store=store)

    with writer.loops(index.shape) as at:
        writer.emit(assign(place(at, store=True), at[0]))
    shape = (*index.shape, *like.shape[1:])
    return Node(
        np.dtype(bool), shape, lambda at: compare(place(at), gast.Eq, at[0]),
        last.reads | index.reads, 3,
    )  # fmt: skip


@native(runtime.cholesky_adjoint)
def cholesky_adjoint(writer: Writer, operation: Operation) -> Node:
    lower, bar = operation.operands
    if lower.rank != 2 or {lower.dtype, bar.dtype} != {np.dtype(float)}:
        raise NotNative("the adjoint of such Cholesky factors")
    given = [writer.contiguous(each, f"{operation.text}_of").whole() for each in (lower, bar)]
    own = writer.fresh(operation.text)
    writer.emit(assign(own, call("cholesky_adjoint", *given)))
    return array(own, operation.dtype, lower.shape, own=True)


# ---- sorting -------------------------------------------------------------------------------------


def with_axis_last(x: Node, axis: int) -> Node:
    """A value turned so that an axis is the last one."""
    axis %= x.rank
    if axis == x.rank - 1:
        return x
    shape = (*x.shape[:axis], *x.shape[axis + 1 :], x.shape[axis])
    return moved(x, shape, lambda index: (*index[:axis], index[-1], *index[axis:-1]))


@native(np.sort, np.argsort)
def sort(writer: Writer, operation: Operation) -> Node:
    x, axis = operation.operands[0], operation.params.get("axis", -1)
    known = operation.params.keys() <= {"axis", "kind"}
    if not known or operation.params.get("kind") not in (None, "stable", "mergesort"):
        raise NotNative("sorting with such arguments")
    if x.dtype.kind == "c" or type(axis) is not int:
        raise NotNative("sorting with such arguments")
    stable = {"kind": gast.Constant("mergesort", None)} if operation.function is np.argsort else {}
    function = f"np.{operation.function.__name__}"
    if x.rank != 1:
        raise NotNative("sorting along an axis, which NumPy does faster")
    whole = writer.contiguous(x, f"{operation.text}_of").whole()
    text = writer.fresh(operation.text)
    writer.emit(assign(text, call(function, whole, **stable)))
    return array(text, operation.dtype, x.shape, own=True)


@native(np.median)
def median(writer: Writer, operation: Operation) -> Node:
    return _of_sorted(writer, operation, 0.5, "linear")


@native(np.quantile)
def quantile(writer: Writer, operation: Operation) -> Node:
    q = operation.params.get("q", [None, *operation.operands][-1])
    q = q.constant if isinstance(q, Node) else q
    method = operation.params.get("method", "linear")
    if not isinstance(q, int | float) or not 0 <= q <= 1 or not isinstance(method, str):
        raise NotNative("np.quantile with such arguments")
    return _of_sorted(writer, operation, float(q), method)


def _of_sorted(writer: Writer, operation: Operation, q: float, method: str) -> Node:
    """The number that a part of all elements is below."""
    x, params = operation.operands[0], operation.params
    if params.keys() - {"axis", "keepdims", "method", "q"} or not isinstance(x, Node):
        raise NotNative("np.quantile with such arguments")
    if x.dtype != float or not x.rank or method not in ("lower", "higher", "linear"):
        raise NotNative("np.quantile of such numbers")
    axis, keep = params.get("axis"), params.get("keepdims", False)
    if not (axis is None or (x.rank == 1 and axis in (0, -1))) or type(keep) is not bool:
        raise NotNative("np.quantile along an axis")
    whole = writer.contiguous(x, f"{operation.text}_of").whole()
    own = writer.fresh(operation.text)
    kind = gast.Constant({"lower": -1, "higher": 1, "linear": 0}[method], None)
    ordered = call("np.sort", gast.Call(gast.Attribute(whole, "ravel", gast.Load()), [], []))
    writer.emit(assign(own, call("sorted_at", ordered, number(q), kind)))
    one = (Length(number(1), 1),) * (x.rank if keep else 0)
    return Node(x.dtype, one, lambda _: name(own), frozenset({own}), 0)
