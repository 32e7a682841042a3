"""Operations that make, join, reorder or factor arrays, and lists as arrays."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.native.contracting import total
from s2s_ad.native.nodes import Index, Length, ListNode, Node, NotNative, Number, array
from s2s_ad.native.operations import (
    CHEAP,
    WHOLE_NUMBER,
    Operation,
    broadcast_at,
    elementwise,
    moved,
    native,
)
from s2s_ad.native.rearranging import with_axis_last
from s2s_ad.native.scalars import cast
from s2s_ad.native.spelling import (
    Expression,
    assign,
    binary,
    call,
    compare,
    either,
    element,
    minus,
    name,
    number,
    plus,
)
from s2s_ad.native.writer import Writer, constant_node


@native(np.array, np.asarray)
def array_of(writer: Writer, operation: Operation) -> Node:
    """An array of numbers and arrays in nested lists."""
    given = operation.params.get("object", operation.operands[0] if operation.operands else None)
    dtype, shape = operation.dtype, tuple(operation.shape)
    if isinstance(given, Node):
        copied = writer.in_memory(given, operation.text, own=True) if given.rank else given
        return writer.cast(copied, dtype)
    if not shape:
        raise NotNative("np.array of such an object")
    first = _first_array(given)
    lengths = tuple(
        Length(number(dim), dim) if isinstance(dim, int)
        else first.shape[k - len(shape) + first.rank] if first is not None
        else writer.length(dim)
        for k, dim in enumerate(shape)
    )  # fmt: skip
    made = writer.allocated(dtype, lengths, operation.text, "empty")
    _fill(writer, made, given, (), dtype)
    return made


def _first_array(given: Any) -> Node | None:
    if isinstance(given, Node):
        return given if given.rank else None
    found = [_first_array(each) for each in given] if isinstance(given, tuple | list) else []
    return next((each for each in found if each is not None), None)


def _fill(writer: Writer, made: Node, given: Any, at: Index, dtype: np.dtype) -> None:
    if isinstance(given, tuple | list):
        for place, each in enumerate(given):
            _fill(writer, made, each, (*at, number(place)), dtype)
        return
    node = given.node if isinstance(given, Number) else given
    node = node if isinstance(node, Node) else constant_node(node)
    rest = made.shape[len(at) :]
    if node.rank != len(rest):
        raise NotNative("np.array of parts of several ranks")
    for one, other in zip(node.shape, rest, strict=True):
        writer.check_equal(one, other)
    with writer.loops(rest) as index:
        place = element(name(made.kept), (*at, *index), store=True)
        writer.emit(assign(place, cast(node.at(index), node.dtype, dtype)))


@native(runtime.list_array)
def list_array(writer: Writer, operation: Operation) -> Node:
    """The items of a list side by side, along a new first axis."""
    (items,) = operation.operands
    if not isinstance(items, ListNode) or not items.text or operation.params.get("axis", 0):
        raise NotNative("an array of such items")
    rank = values.rank_of(items.item)
    if rank is None or rank != len(operation.shape) - 1:
        raise NotNative("an array of lists")
    many = Length(call("len", name(items.text)), operation.shape[0])

    def item(at):
        return gast.Subscript(name(items.text), at, gast.Load())

    inner: list[Length] = []
    if rank:  # as long as the first one
        writer.refuse(compare(many.text, gast.Eq, number(0)))
        first = writer.fresh("first")
        writer.emit(assign(first, item(number(0))))
        inner = [*writer.lengths_of(first, operation.shape[1:])]
    elif operation.dtype != float:
        writer.refuse(compare(many.text, gast.Eq, number(0)))
    made = writer.allocated(operation.dtype, (many, *inner), operation.text, "empty")
    dtype = values.strong_dtype(items.item)
    with writer.loops((many,)) as (at,):
        if rank:
            own = writer.fresh("item")
            writer.emit(assign(own, item(at)))
            for length, other in zip(
                inner, writer.lengths_of(own, operation.shape[1:]), strict=True
            ):
                writer.refuse(compare(length.text, gast.NotEq, other.text))
        with writer.loops(inner) as index:
            value = element(name(own), index) if rank else item(at)
            place = element(name(made.kept), (at, *index), store=True)
            writer.emit(assign(place, cast(value, dtype, operation.dtype)))
    writer.know(many.dim, call("len", name(made.kept)))
    return made


@native(runtime.list_index)
def list_index(writer: Writer, operation: Operation) -> Node:
    """Where a number stands first among the items of a list."""
    items, value = operation.operands
    is_plain = isinstance(items, ListNode) and items.text and not items.count
    if not is_plain or not isinstance(value, Node) or value.rank:
        raise NotNative("the place of such an item")
    made = call("position_of", name(items.text), value.at(()))
    return writer.named(Node(WHOLE_NUMBER, (), lambda _: made, value.reads | {items.text}, 30,
                             is_python=True), operation.text)  # fmt: skip


@native(runtime.accumulate)
def accumulate(writer: Writer, operation: Operation) -> Node:
    made = Operation(operator.add, operation.operands, {}, operation.fact, operation.text)
    return elementwise(writer, made)


@native(runtime.unbroadcast)
def unbroadcast(writer: Writer, operation: Operation) -> Node:
    """The sum over the axes along which an array was stretched."""
    value, like = operation.operands
    if not isinstance(value, Node) or not isinstance(like, Node):
        raise NotNative("an adjoint of a list")
    more = value.rank - like.rank
    axes = set(range(more))
    for axis, length in enumerate(like.shape):
        own = value.shape[axis + more]
        if length.dim == 1 and own.dim != 1:
            axes.add(axis + more)
        elif own.dim != 1:
            writer.check_equal(own, length)
    if axes:
        sums = total(writer, value, axes, value.dtype, operation.text)
        rest = iter(sums.shape)
        shape = tuple(
            Length(number(1), 1) if k + more in axes else next(rest) for k in range(like.rank)
        )
        kept = [k for k in range(like.rank) if k + more not in axes]
        value = moved(sums, shape, lambda index: tuple(index[k] for k in kept))
    known = isinstance(operation.fact, values.Array) and operation.fact.dtype is not None
    return writer.cast(value, operation.dtype) if known else value


def converted(writer: Writer, operation: Operation) -> Node:
    """A value in another dtype."""
    operand = operation.operands[0]
    if not isinstance(operand, Node):
        raise NotNative("a conversion of what is no number")
    if operand.dtype.kind == "f" and operation.dtype.kind in "iu":
        if operation.dtype != WHOLE_NUMBER:
            raise NotNative("short whole numbers made of an array of floats")
        operand = _truncated(operand)
    made = writer.cast(operand, operation.dtype)
    return replace(made, is_view=False, whole=None, kept="") if made.rank else made


def _truncated(x: Node) -> Node:
    def at(index: Index) -> Expression:
        return call("truncated", x.at(index))

    return Node(WHOLE_NUMBER, x.shape, at, x.reads, x.cost + 2)


native(np.float64, np.float32, np.int64, np.int32, np.bool_, np.ndarray.astype)(converted)
native(np.complex128, np.complex64)(converted)


@native(np.roll)
def roll(writer: Writer, operation: Operation) -> Node:
    x, shift = operation.operands[0], operation.params.get("shift")
    axis = operation.params.get("axis", 0 if x.rank == 1 else None)
    if type(axis) is not int or isinstance(shift, tuple):
        raise NotNative("np.roll along several axes")
    axis %= x.rank
    by = number(shift) if type(shift) is int else shift.node.at(())
    count = x.shape[axis].text

    def at(index: Index) -> Index:
        source = binary(minus(index[axis], by), gast.Mod, count)
        return (*index[:axis], source, *index[axis + 1 :])

    x = writer.in_memory(x, operation.text) if x.cost > CHEAP else x
    return Node(x.dtype, x.shape, lambda index: x.at(at(index)), x.reads, x.cost + 1)


@native(np.cross, np.linalg.cross)
def cross(writer: Writer, operation: Operation) -> Node:
    """a[i + 1] * b[i + 2] - a[i + 2] * b[i + 1], counted round the three elements."""
    axis, dtype, text = operation.params.get("axis", -1), operation.dtype, operation.text
    a, b = (writer.in_memory(x, text) if x.cost > CHEAP else x for x in operation.operands)
    shape = writer.broadcast([a.shape, b.shape])
    for each in (a, b):
        writer.check_equal(each.shape[axis], Length(number(3), 3))

    def at(index: Index) -> Expression:
        place = index[axis]
        behind, last = (binary(plus(place, number(k)), gast.Mod, number(3)) for k in (1, 2))

        def of(x: Node, item: Expression) -> Expression:
            own = [*index]
            own[axis] = item
            return cast(broadcast_at(x, tuple(own)), x.dtype, dtype)

        products = (
            binary(of(a, i), gast.Mult, of(b, j)) for i, j in ((behind, last), (last, behind))
        )
        return binary(next(products), gast.Sub, next(products))

    return Node(dtype, shape, at, a.reads | b.reads, a.cost + b.cost + 5)


@native(np.diagonal)
def diagonal(writer: Writer, operation: Operation) -> Node:
    (x,) = operation.operands
    if operation.params or x.rank != 2:
        raise NotNative("a diagonal with such arguments")
    writer.check_equal(*x.shape)
    return moved(x, x.shape[:1], lambda index: (index[0], index[0]))


@native(np.diag)
def diag(writer: Writer, operation: Operation) -> Node:
    (x,) = operation.operands
    if operation.params.get("k", 0) != 0 or x.rank != 1:
        raise NotNative("np.diag beside the diagonal")
    zero = cast(number(0.0), np.dtype(float), x.dtype)
    shape = (x.shape[0], x.shape[0])

    def at(index: Index) -> Expression:
        return either(compare(index[0], gast.Eq, index[1]), x.at(index[:1]), zero)

    return Node(x.dtype, shape, at, x.reads, x.cost + 1)


@native(np.linspace)
def linspace(writer: Writer, operation: Operation) -> Node:
    start, stop = operation.operands
    num = operation.params.get("num", 50)
    if start.rank or stop.rank or operation.dtype != float:
        raise NotNative("np.linspace with such arguments")
    if operation.params.keys() - {"num", "dtype"} or (type(num) is int and num < 2):
        raise NotNative("np.linspace with such arguments")
    if type(num) is int:
        count = Length(number(num), num)
    else:
        many = writer.named(num.node, "num")
        writer.refuse(compare(many.at(()), gast.Lt, number(2)))
        count = writer.length(operation.shape[0], many.at(()))
    ends = minus(count.text, number(1))
    first, last = (writer.named(writer.cast(e, np.dtype(float)), "bound") for e in (start, stop))
    step = writer.fresh("step")
    difference = binary(last.at(()), gast.Sub, first.at(()))
    writer.emit(assign(step, binary(difference, gast.Div, ends)))

    def at(index: Index) -> Expression:
        inner = binary(binary(index[0], gast.Mult, name(step)), gast.Add, first.at(()))
        return either(compare(index[0], gast.Eq, ends), last.at(()), inner)

    reads = first.reads | last.reads | {step}
    return Node(np.dtype(float), (count,), at, reads, 3)


@native(np.cumsum, np.cumprod)
def cumsum(writer: Writer, operation: Operation) -> Node:
    (x,) = operation.operands
    axis = operation.params.get("axis", 0 if x.rank == 1 else None)
    if type(axis) is not int or operation.params.keys() - {"axis"}:
        raise NotNative("a scan of all axes")
    axis %= x.rank
    made = writer.allocated(operation.dtype, x.shape, operation.text, "empty")
    with writer.loops(x.shape) as index:
        before = (*index[:axis], minus(index[axis], number(1)), *index[axis + 1 :])
        own = cast(x.at(index), x.dtype, operation.dtype)
        operator_ = gast.Add if operation.function is np.cumsum else gast.Mult
        sums = binary(element(name(made.kept), before), operator_, own)
        first = compare(index[axis], gast.Eq, number(0))
        place = element(name(made.kept), index, store=True)
        writer.emit(assign(place, either(first, own, sums)))
    return made


@native(np.argmax, np.argmin)
def argmax(writer: Writer, operation: Operation) -> Node:
    (x,) = operation.operands
    axis = operation.params.get("axis")
    if x.rank != 1 or axis not in (None, 0, -1) or operation.params.keys() - {"axis"}:
        return _argmax_along(writer, operation, x, axis)
    whole = writer.contiguous(x, f"{operation.text}_of")
    made = call(f"np.{operation.function.__name__}", whole.whole())
    node = Node(WHOLE_NUMBER, (), lambda _: made, whole.reads, 1)
    return writer.named(node, operation.text)


def _argmax_along(writer: Writer, operation: Operation, x: Node, axis: Any) -> Node:
    """The index of the largest element along an axis."""
    if type(axis) is not int or operation.params.keys() - {"axis"}:
        raise NotNative("np.argmax along such an axis")
    if x.dtype.kind not in "fi":
        raise NotNative("np.argmax of such numbers")
    x = with_axis_last(writer.in_memory(x, f"{operation.text}_of"), axis)
    writer.refuse(compare(x.shape[-1].text, gast.Eq, number(0)))
    made = writer.allocated(WHOLE_NUMBER, x.shape[:-1], operation.text, "zeros")
    order = gast.Gt if operation.function is np.argmax else gast.Lt
    with writer.loops(x.shape) as index:
        best = element(name(made.kept), index[:-1])
        old, new = x.at((*index[:-1], best)), x.at(index)
        is_better = gast.BoolOp(
            gast.Or(), [compare(new, order, old), compare(new, gast.NotEq, new)]
        )
        known = compare(old, gast.Eq, old)
        with writer.block() as body:
            place = element(name(made.kept), index[:-1], store=True)
            writer.emit(assign(place, index[-1]))
        writer.emit(gast.If(gast.BoolOp(gast.And(), [known, is_better]), body, []))
    return made


def _by_numba(writer: Writer, operation: Operation) -> Node:
    """What Numba has for whole arrays."""
    operands = operation.operands
    ranks = [each.rank if isinstance(each, Node) else None for each in operands]
    if operation.params or None in ranks or max(ranks) > 2 or ranks[0] != 2:
        raise NotNative(f"{operation.function.__name__} of stacks")
    if {each.dtype for each in operands} != {operation.dtype} or operation.dtype.kind not in "fc":
        raise NotNative(f"{operation.function.__name__} of such numbers")
    given = [writer.contiguous(each, f"{operation.text}_of").whole() for each in operands]
    part = OF_SLOGDET.get(operation.function)
    called = operation.function.__name__ if part is None else "slogdet"
    made = call(f"np.linalg.{called}", *given)
    text = writer.fresh(operation.text)
    writer.emit(assign(text, made if part is None else element(made, (number(part),))))
    if not operation.shape:
        return Node(
            operation.dtype, (), lambda _: name(text), frozenset({text}), whole=lambda: name(text)
        )
    return array(text, operation.dtype, operands[-1].shape)


#: which result of np.linalg.slogdet a function is
OF_SLOGDET = {runtime.sign_of_det: 0, runtime.log_abs_det: 1}

native(np.linalg.solve, np.linalg.inv, np.linalg.det, np.linalg.cholesky, *OF_SLOGDET)(_by_numba)


@native(np.interp)
def interp(writer: Writer, operation: Operation) -> Node:
    x, xp, fp = operation.operands
    if operation.params or any(each.dtype != float for each in (x, xp, fp)) or x.rank > 1:
        raise NotNative("np.interp with such arguments")
    given = [writer.whole(x, "x"), *(writer.contiguous(e, "points").whole() for e in (xp, fp))]
    made = call("np.interp", *given)
    if not x.rank:
        return writer.named(
            Node(operation.dtype, (), lambda _: made, xp.reads | fp.reads, 9), operation.text
        )
    text = writer.fresh(operation.text)
    writer.emit(assign(text, made))
    return array(text, operation.dtype, x.shape, own=True)
