"""What each operation of Core is in loop text: a value of which any element can be written down."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import sizes, values
from s2s_ad.core.registry import rule_for
from s2s_ad.native import scalars
from s2s_ad.native.contracting import contraction, extreme, total
from s2s_ad.native.indexing import compressed, layout_of, taken
from s2s_ad.native.nodes import (
    Index,
    Length,
    Node,
    NotNative,
    Number,
    constant,
    constant_of,
    variable,
)
from s2s_ad.native.scalars import cast, spelled
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
    names_in,
    number,
    plus,
    times,
    value_of,
)
from s2s_ad.native.writer import DTYPE_OF_PYTHON, Writer, constant_node, has_gaps

#: what an operation may cost, in additions, and still be written wherever it is read
CHEAP = 3
WHOLE_NUMBER = np.dtype(int)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation.

    Attributes:
        operands: Nodes, lists of Nodes, or Python objects.
        params: by name, the same.
        fact: the abstract value of the result.
        text: what the result is called.
    """

    function: Callable
    operands: list
    params: dict[str, Any]
    fact: Any
    text: str

    @property
    def dtype(self) -> np.dtype:
        if isinstance(self.fact, values.Scalar):
            if self.fact.kind not in DTYPE_OF_PYTHON:
                raise NotNative(f"a {self.fact.kind.__name__} number")
            return DTYPE_OF_PYTHON[self.fact.kind]
        dtype = getattr(self.fact, "dtype", None)
        if dtype is None:
            raise NotNative("a value of which the dtype is not known")
        return dtype

    @property
    def shape(self) -> Sequence:
        shape = values.shape_of(self.fact)
        if shape is None:
            raise NotNative("a value of which the shape is not known")
        return shape

    @property
    def is_python(self) -> bool:
        return isinstance(self.fact, values.Scalar)


Native = Callable[[Writer, Operation], Node]
TABLE: dict[Callable, Native] = {}


def native(*functions: Callable) -> Callable[[Native], Native]:
    """Say what these functions are in loop text."""

    def entered(form: Native) -> Native:
        TABLE.update(dict.fromkeys(functions, form))
        return form

    return entered


def node_of_operation(writer: Writer, operation: Operation) -> Node:
    """The value of an operation.

    Raises:
        NotNative: it has no native form.
    """
    return form_of(operation.function)(writer, operation)


def form_of(function: Callable) -> Native:
    """What a function is in loop text.

    Raises:
        NotNative: it has no native form.
    """
    form = TABLE.get(function)
    if form is None:
        rule = rule_for(function)
        if rule is None or not rule.elementwise:
            named = getattr(function, "__name__", None) or getattr(rule, "name", "?")
            raise NotNative(f"{named} has no native form")
        form = elementwise
    return form


# ---- elementwise ---------------------------------------------------------------------------------


@native(builtins.max, builtins.min)
def extreme_of_numbers(writer: Writer, operation: Operation) -> Node:
    """The largest, or smallest, of numbers, two by two: what is read twice has a name."""
    if any(not isinstance(each, Node) or each.rank for each in operation.operands):
        return elementwise(writer, operation)
    found, *others = (_by_name(writer, each, operation.text) for each in operation.operands)
    for k, other in enumerate(others):
        found = writer.named(found, operation.text) if k else found
        found = elementwise(writer, replace(operation, operands=[found, other]))
    return found


def _by_name(writer: Writer, node: Node, text: str) -> Node:
    """A number that is compared, and chosen, which takes more than to read it."""
    return writer.named(node, text) if node.cost > 1 else node


def elementwise(writer: Writer, operation: Operation) -> Node:
    """A function of the elements of its broadcast operands."""
    operands = list(operation.operands)
    if operation.params or not all(isinstance(each, Node) for each in operands):
        raise NotNative(f"{scalars.called(operation.function)} with such arguments")
    if operation.is_python:
        return _of_python(writer, operation)
    function, dtype = operation.function, operation.dtype
    shape = writer.broadcast([each.shape for each in operands])
    if shape:
        operands = [_ready(writer, each, shape, operation.text) for each in operands]
    dtypes = [each.dtype for each in operands]
    weak = [each.is_python for each in operands]
    made = spelled(function, list(map(_example, operands)), dtypes, weak, dtype)  # raises here
    bound = scalars.BOUNDED.get(function) if shape and dtypes == [np.dtype(float)] else None
    if bound is not None:
        operands = [_within(writer, operands[0], bound, operation.text)]
    elif shape and not scalars.is_at_once(made):
        writer.one_by_one.add(scalars.called(function))

    def at(index: Index) -> Expression:
        texts = [broadcast_at(each, index) for each in operands]
        if bound is not None:
            return call(function.__name__, *texts)
        return spelled(function, texts, dtypes, weak, dtype)

    cost = sum(each.cost for each in operands) + (rule_for(function).cost or 1)
    return Node(dtype, shape, at, frozenset().union(*(e.reads for e in operands)), cost)


@native(np.round, np.around)
def rounded(writer: Writer, operation: Operation) -> Node:
    """NumPy scales by a power of ten, rounds to whole numbers, and scales back."""
    (x,), decimals = operation.operands, operation.params.get("decimals", 0)
    if not isinstance(x, Node) or operation.dtype.kind != "f" or type(decimals) is not int:
        raise NotNative("np.round with such arguments")

    def of(function: Callable, *operands: Node) -> Node:
        return elementwise(
            writer, replace(operation, function=function, operands=[*operands], params={})
        )

    if not decimals:
        return of(np.rint, x)
    scale, back = (np.multiply, np.divide) if decimals > 0 else (np.divide, np.multiply)
    power = constant_node(10.0 ** abs(decimals))
    return of(back, of(np.rint, of(scale, x, power)), power)


def _example(node: Node) -> Expression:
    """A number in the place of an element; where all are known to be one, that."""
    known = node.constant is not None
    return constant_of(node.constant, node.dtype, ()).at(()) if known else number(2.0)


def _within(writer: Writer, node: Node, bound: float, text: str) -> Node:
    """An array no element of which is larger, in absolute value; nan is not."""
    if node.cost > CHEAP:
        node = writer.in_memory(node, f"{text}_part")
    own = writer.fresh(f"{text}_is_large")
    writer.emit(assign(own, number(0)))
    with writer.loops(node.shape) as index:
        is_large = compare(call("abs", node.at(index)), gast.Gt, number(bound))
        writer.emit(assign(own, binary(name(own), gast.BitOr, call("int", is_large))))
    writer.refuse(compare(name(own), gast.NotEq, number(0)))
    return node


def _ready(writer: Writer, node: Node, shape: tuple[Length, ...], text: str) -> Node:
    """An operand that is read at each index of a larger space."""
    if node.rank == 0:
        return writer.named(node, f"{text}_factor" if node.cost else text)
    ones = sum(each.dim == 1 for each in node.shape)
    repeats = node.rank - ones < len(shape) - sum(each.dim == 1 for each in shape)
    if repeats and node.shape[-1].dim != 1 and has_gaps(node):
        return writer.side_by_side(node, f"{text}_part")
    return writer.in_memory(node, f"{text}_part") if repeats and node.cost > CHEAP else node


def broadcast_at(node: Node, index: Index) -> Expression:
    """The element of an operand that belongs to an index of the whole."""
    own = index[len(index) - node.rank :]
    ones = [each.dim == 1 for each in node.shape]
    return node.at(tuple(number(0) if one else i for i, one in zip(own, ones, strict=True)))


def _of_python(writer: Writer, operation: Operation) -> Node:
    """A function of Python's numbers, which raises where Python does."""
    function, operands = operation.function, operation.operands
    if any(each.rank for each in operands):
        raise NotNative("a Python number made of an array")
    texts, dtype = [each.at(()) for each in operands], operation.dtype
    dtypes = [each.dtype for each in operands]
    of_whole_numbers = all(each.kind in "bi" for each in dtypes)
    made = None
    if scalars.divisor_is_checked(function) and not value_of(texts[1]):
        texts[1] = _divisor(writer, operands[1], f"{operation.text}_divisor")
    if dtype == WHOLE_NUMBER and of_whole_numbers and function not in scalars.COMPARISONS:
        texts = [cast(x, d, WHOLE_NUMBER) for x, d in zip(texts, dtypes, strict=True)]
        if is_small(operation.fact) and function in scalars.OPERATORS:
            made = _plain(function, texts)
        else:
            made = scalars.whole_numbers(function, texts)
        if made is None:
            raise NotNative(f"{scalars.called(function)} of whole numbers without bounds")
    if made is None:
        made = spelled(function, texts, dtypes, [True] * len(texts), dtype)
    cost = sum(each.cost for each in operands) + (rule_for(function).cost or 1)
    reads = frozenset().union(*(each.reads for each in operands))
    node = Node(dtype, (), lambda _: made, reads, cost, is_python=True)
    of_complex = "c" in {each.kind for each in dtypes} and function in (operator.truediv, abs)
    if (scalars.is_checked(function) or of_complex) and dtype.kind in "fc":
        node = _finite(writer, node, operation.text)
    return node


def _divisor(writer: Writer, node: Node, text: str) -> Expression:
    """A number of Python's that has to be other than 0."""
    checked = compare(node.at(()), gast.Eq, number(0))
    if node.whole is None and node.reads:

        def emit(own: str) -> None:
            writer.emit(assign(own, node.at(())))
            writer.refuse(compare(name(own), gast.Eq, number(0)))

        return name(writer.once(checked, text, emit))
    if not any(gast.dump(checked) in each for each in writer.shared):
        writer.refuse(checked)
        if not names_in(checked) & writer.carried:
            writer.shared[-1][gast.dump(checked)] = ""
    return node.at(())


def _finite(writer: Writer, node: Node, text: str) -> Node:
    """A number of Python's that has to be finite: it would raise otherwise."""
    finite = "math.isfinite" if node.dtype.kind == "f" else "np.isfinite"

    def emit(own: str) -> None:
        writer.emit(assign(own, node.at(())))
        writer.require(call(finite, name(own)))

    return variable(writer.once(node.at(()), text, emit), node.dtype, is_python=True)


def _plain(function: Callable, texts: list[Expression]) -> Expression:
    short = {operator.add: plus, operator.sub: minus, operator.mul: times}.get(function)
    if short is not None:
        return short(*texts)
    return gast.BinOp(texts[0], scalars.OPERATORS[function](), texts[1])


def is_small(fact: Any) -> bool:
    """Whether a whole number is made of lengths and indices."""
    size = getattr(fact, "size", None)
    return size is not None and all(map(_is_bounded, sizes.atoms_of(size)))


def _is_bounded(atom: sizes.Atom) -> bool:
    return atom.is_length or (atom.low is not None and atom.high is not None)


@native(float)
def as_float(writer: Writer, operation: Operation) -> Node:
    (operand,) = operation.operands
    if operand.rank:
        raise NotNative("float() of an array with axes")
    return replace(writer.cast(operand, np.dtype(float)), is_python=True, whole=None)


@native(runtime.array_without_axes)
def array_without_axes(writer: Writer, operation: Operation) -> Node:
    """What is an array for the user is a number here; the function around makes it one."""
    (operand,) = operation.operands
    return replace(writer.cast(operand, operation.dtype), is_python=False)


@native(int, math.floor, math.ceil, math.trunc, round)
def as_int(writer: Writer, operation: Operation) -> Node:
    operand = operation.operands[0]
    if operand.rank or len(operation.operands) > 1 or operation.params:
        raise NotNative("a whole number made of an array")
    if operand.dtype.kind in "iub":
        return replace(writer.cast(operand, WHOLE_NUMBER), is_python=True, whole=None)
    operand = writer.named(operand, operation.text)
    writer.require(compare(call("abs", operand.at(())), gast.Lt, number(scalars.LARGEST)))
    spelling = {int: "int", round: "round"}.get(operation.function)
    spelling = spelling or f"math.{operation.function.__name__}"
    made = call("int", call(spelling, operand.at(())))
    return Node(WHOLE_NUMBER, (), lambda _: made, operand.reads, operand.cost + 1, is_python=True)


# ---- structure -----------------------------------------------------------------------------------


def moved(node: Node, shape: tuple[Length, ...], at: Callable[[Index], Index]) -> Node:
    """A value whose elements are those of another one."""
    return replace(node, shape=shape, at=lambda index: node.at(at(index)), whole=None, kept="")


@native(operator.getitem)
def getitem(writer: Writer, operation: Operation) -> Node:
    base, index = operation.operands[0], operation.params["index"]
    if not isinstance(base, Node):
        raise NotNative("an item of a list")
    items = index if isinstance(index, tuple) else (index,)
    shape = values.shape_of(operation.fact)
    layout = layout_of(writer, items, base, shape)
    if layout.mask is not None:
        return _compressed(writer, base, layout.mask, operation)
    return taken(base, layout)


def _compressed(writer: Writer, base: Node, mask: Node, operation: Operation) -> Node:
    """x[mask]"""
    mask = writer.in_memory(mask, f"{operation.text}_mask")
    return compressed(
        writer, base.shape, base.dtype, mask.at, base.at, operation.text, operation.shape[0]
    )


@native(np.transpose)
def transpose(writer: Writer, operation: Operation) -> Node:
    (x,) = operation.operands
    axes = operation.params.get("axes")
    axes = [*reversed(range(x.rank))] if axes is None else [each % x.rank for each in axes]
    shape = tuple(x.shape[each] for each in axes)

    def at(index: Index) -> Index:
        own: list = [None] * x.rank
        for slot, axis in enumerate(axes):
            own[axis] = index[slot]
        return tuple(own)

    made = moved(x, shape, at)
    if x.whole is not None and axes == [*reversed(range(x.rank))]:
        made = replace(made, whole=lambda: gast.Attribute(x.whole(), "T", gast.Load()))
    return made


@native(np.expand_dims)
def expand_dims(writer: Writer, operation: Operation) -> Node:
    (x,) = operation.operands
    axes = operation.params["axis"]
    axes = axes if isinstance(axes, tuple) else (axes,)
    rank = x.rank + len(axes)
    new = {each % rank for each in axes}
    rest = iter(x.shape)
    shape = tuple(Length(number(1), 1) if k in new else next(rest) for k in range(rank))
    return moved(x, shape, lambda index: tuple(i for k, i in enumerate(index) if k not in new))


@native(np.squeeze)
def squeeze(writer: Writer, operation: Operation) -> Node:
    (x,) = operation.operands
    axes = operation.params.get("axis")
    if axes is None:
        gone = {k for k, each in enumerate(x.shape) if each.dim == 1}
    else:
        gone = {each % x.rank for each in (axes if isinstance(axes, tuple) else (axes,))}
    if any(x.shape[k].dim != 1 for k in gone) or x.rank - len(gone) != len(operation.shape):
        raise NotNative("np.squeeze of axes that are not known")

    def at(index: Index) -> Index:
        rest = iter(index)
        return tuple(number(0) if k in gone else next(rest) for k in range(x.rank))

    return moved(x, tuple(each for k, each in enumerate(x.shape) if k not in gone), at)


@native(np.flip)
def flip(writer: Writer, operation: Operation) -> Node:
    (x,) = operation.operands
    axes = operation.params.get("axis")
    axes = range(x.rank) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    turned = {each % x.rank for each in axes}

    def at(index: Index) -> Index:
        return tuple(
            minus(minus(x.shape[k].text, number(1)), i) if k in turned else i
            for k, i in enumerate(index)
        )

    return moved(x, x.shape, at)


def _one_element(writer: Writer, x: Node, operation: Operation) -> Node:
    """An array with one element as a number, or the other way round."""
    one = Length(number(1), 1)
    for each in x.shape:
        writer.check_equal(one, each)
    if any(each != 1 for each in operation.shape):
        raise NotNative("np.reshape of a number to lengths that are not known")
    node = writer.named(x, operation.text) if x.rank == 0 else x
    first = (number(0),) * node.rank
    shape = (one,) * len(operation.shape)
    return Node(x.dtype, shape, lambda _: node.at(first), node.reads, node.cost)


def _new_lengths(writer: Writer, x: Node, operation: Operation) -> list[Length]:
    """The lengths that an array is reshaped to; the one that is -1 follows from the others."""
    count: Expression = number(1)
    for each in x.shape:
        count = times(count, each.text)
    known: Expression = number(1)
    unknown = []
    lengths: list = []
    given = operation.params.get("shape", operation.operands[1:] or None)
    given = given[0] if isinstance(given, list) else given
    given = (-1,) if given is None else given if isinstance(given, tuple) else (given,)
    for index, (dim, each) in enumerate(zip(operation.shape, given, strict=True)):
        if each == -1 and not isinstance(each, Node):
            unknown.append(index)
            lengths.append(dim)
            continue
        text = number(each) if isinstance(each, int) else _node(each).at(())
        known = times(known, text)
        lengths.append(Length(text, dim))
    if unknown and value_of(known) is None:  # of no elements -1 says nothing, and NumPy raises
        writer.refuse(compare(known, gast.Eq, number(0)))
    for index in unknown:
        text = writer.size_text(values.size_of_dim(lengths[index]))
        if text is None or unknown:
            text = count if value_of(known) == 1 else gast.BinOp(count, gast.FloorDiv(), known)
        lengths[index] = Length(text, lengths[index])
    return lengths


@native(np.reshape, np.ravel)
def reshape(writer: Writer, operation: Operation) -> Node:
    x = operation.operands[0]
    if operation.params.get("order", "C") != "C" or not isinstance(x, Node):
        raise NotNative("np.reshape in another order")
    if x.rank == 0 or not operation.shape:
        return _one_element(writer, x, operation)
    lengths = _new_lengths(writer, x, operation)
    if x.rank == 1 and len(lengths) == 1:
        return x
    x = writer.contiguous(x, f"{operation.text}_whole")
    shape = [each.text for each in lengths]
    at = gast.Tuple(shape, gast.Load()) if len(shape) > 1 else shape[0]
    own = writer.fresh(operation.text)
    writer.emit(assign(own, gast.Call(gast.Attribute(x.whole(), "reshape", gast.Load()), [at], [])))
    given = writer.lengths_of(own, [each.dim for each in lengths])
    named = tuple(
        new if value_of(each.text) is None else each
        for each, new in zip(lengths, given, strict=True)
    )
    for each in named:
        writer.know(each.dim, each.text)
    return Node(x.dtype, named, lambda index: element(name(own), index), frozenset({own, x.kept}),
                whole=lambda: name(own), is_view=True, kept=own)  # fmt: skip


@native(np.copy, runtime.copied)
def copied(writer: Writer, operation: Operation) -> Node:
    (x,) = operation.operands
    return writer.in_memory(x, operation.text, own=True) if x.rank else x


@native(runtime.broadcast_like)
def broadcast_like(writer: Writer, operation: Operation) -> Node:
    value, like = operation.operands
    if not isinstance(value, Node) or not isinstance(like, Node):
        raise NotNative("broadcast_like of a list")
    dtype = operation.dtype
    value = writer.named(value, operation.text) if value.rank == 0 else value
    if value.rank and value.cost > CHEAP:
        value = writer.in_memory(value, operation.text)
    for one, other in zip(reversed(value.shape), reversed(like.shape), strict=False):
        if one.dim != 1:
            writer.check_equal(one, other)
    source = value.dtype
    return Node(
        dtype,
        like.shape,
        lambda index: cast(broadcast_at(value, index), source, dtype),
        value.reads,
        value.cost,
        constant=value.constant,
    )


@native(np.broadcast_to)
def broadcast_to(writer: Writer, operation: Operation) -> Node:
    (x,) = operation.operands[:1]
    shape = tuple(writer.length(each) for each in operation.shape)
    for one, other in zip(reversed(x.shape), reversed(shape), strict=False):
        if one.dim != 1:
            writer.check_equal(one, other)
    x = writer.in_memory(x, operation.text) if x.cost > CHEAP else x
    return Node(x.dtype, shape, lambda index: broadcast_at(x, index), x.reads, x.cost)


@native(np.size, len)
def size(writer: Writer, operation: Operation) -> Node:
    x, axis = operation.operands[0], operation.params.get("axis")
    if not isinstance(x, Node):
        if not x.text:  # nothing was ever put there
            return constant_of(0, WHOLE_NUMBER, ())
        made = name(x.count) if x.count else call("len", name(x.text))
        reads = frozenset({x.text, x.count} - {""})
        many = Node(WHOLE_NUMBER, (), lambda _: made, reads, 1, is_python=True)
        return writer.named(many, operation.text) if x.count else many  # it is popped from later
    axis = 0 if operation.function is len else axis
    texts = [each.text for each in x.shape] if axis is None else [x.shape[axis].text]
    found: Expression = number(1)
    for each in texts:
        found = times(found, each)
    return Node(WHOLE_NUMBER, (), lambda _: found, x.reads, is_python=True)


# ---- creation ------------------------------------------------------------------------------------

FULL_OF: dict[Callable, float] = {
    np.zeros: 0.0,
    np.zeros_like: 0.0,
    runtime.zeros_like: 0.0,
    np.ones: 1.0,
    np.ones_like: 1.0,
}


def _made_shape(writer: Writer, operation: Operation) -> tuple[Length, ...]:
    """The lengths of what is made: of an array, or as given."""
    first = operation.operands[0] if operation.operands else None
    if isinstance(first, Node) and first.rank == len(operation.shape):
        return first.shape
    given = operation.params.get("shape", first)
    given = given if isinstance(given, tuple) else (given,)
    found = []
    for dim, each in zip(operation.shape, given, strict=True):
        if isinstance(each, int):
            found.append(Length(number(each), dim))
            continue
        node, size = _node(each), getattr(each, "size", None)
        if size is None or not sizes.is_natural(size):
            node = writer.named(node, "length")
            writer.refuse(compare(node.at(()), gast.Lt, number(0)))
        text = writer.size_text(values.size_of_dim(dim))
        found.append(Length(node.at(()) if text is None else text, dim))
        writer.know(dim, found[-1].text)
    return tuple(found)


def _node(each: Any) -> Node:
    return each.node if isinstance(each, Number) else each


@native(*FULL_OF)
def full_of(writer: Writer, operation: Operation) -> Node:
    value, dtype = FULL_OF[operation.function], operation.dtype
    text = cast(number(value), np.dtype(float), dtype)
    return constant(value, dtype, _made_shape(writer, operation), text)


@native(np.empty, np.empty_like)
def empty(writer: Writer, operation: Operation) -> Node:
    shape = _made_shape(writer, operation)
    if not shape:
        raise NotNative("np.empty without axes")
    return writer.allocated(operation.dtype, shape, operation.text, "empty")


@native(np.full, np.full_like)
def full(writer: Writer, operation: Operation) -> Node:
    given = operation.params.get("fill_value", [None, *operation.operands][-1])
    value = constant_node(given) if type(given) in DTYPE_OF_PYTHON else _node(given)
    if not isinstance(value, Node) or value.rank:
        raise NotNative("np.full of an array")
    value, dtype = writer.named(value, operation.text), operation.dtype
    text = cast(value.at(()), value.dtype, dtype)
    shape = _made_shape(writer, operation)
    return Node(dtype, shape, lambda _: text, value.reads, constant=value.constant)


@native(np.eye, np.identity)
def eye(writer: Writer, operation: Operation) -> Node:
    beside = operation.params.get("k", 0)
    if type(beside) is not int:
        raise NotNative("np.eye beside the diagonal")
    given = [operation.params.get(each) for each in ("N", "M", "n")]
    counts = [_node(each) for each in given if isinstance(each, Number)]
    otherwise = counts[0].at(()) if len(counts) == 1 else None
    shape = tuple(writer.length(each, otherwise) for each in operation.shape)
    one, zero = (cast(number(v), np.dtype(float), operation.dtype) for v in (1.0, 0.0))
    return Node(
        operation.dtype,
        shape,
        lambda at: either(compare(plus(at[0], number(beside)), gast.Eq, at[1]), one, zero),
        cost=1,
    )


@native(np.arange)
def arange(writer: Writer, operation: Operation) -> Node:
    params = operation.params
    given = operation.operands or [params.get(each) for each in ("start", "stop", "step")]
    start, stop, step = (*given, None, None)[:3]
    if stop is None:
        start, stop = 0, start
    start, step = 0 if start is None else start, 1 if step is None else step
    if operation.dtype == float and any(_is_float(each) for each in (start, stop, step)):
        return _arange_of_floats(writer, operation, (start, stop, step))
    if type(step) is not int or step == 0 or operation.dtype.kind not in "if":
        raise NotNative("np.arange of such numbers")
    given = [each.node.dtype.kind for each in (start, stop) if isinstance(each, Number)]
    if not all(isinstance(each, int | Number) for each in (start, stop)) or "f" in given:
        raise NotNative("np.arange of such numbers")
    first, last = (number(e) if isinstance(e, int) else e.node.at(()) for e in (start, stop))
    ends = (first, last) if step > 0 else (last, first)
    length = writer.length(operation.shape[0], call("count", *ends, number(abs(step))))
    if length.text is not number and isinstance(length.text, gast.Call):
        own = writer.fresh("count_of")
        writer.emit(assign(own, length.text))
        length = Length(name(own), length.dim)
        writer.know(length.dim, length.text)
    dtype = operation.dtype

    def at(index: Index) -> Expression:
        return cast(plus(first, times(index[0], number(step))), WHOLE_NUMBER, dtype)

    return Node(dtype, (length,), at)


def _is_float(given: Any) -> bool:
    dtype = given.node.dtype if isinstance(given, Number) else np.result_type(type(given))
    return dtype.kind == "f"


def _arange_of_floats(writer: Writer, operation: Operation, given: Sequence) -> Node:
    """np.arange of floats: as many elements as NumPy gives, which counts by a quotient."""
    nodes = [each.node if isinstance(each, Number) else constant_node(each) for each in given]
    first, last, step = (writer.named(writer.cast(e, np.dtype(float)), "bound") for e in nodes)
    span = gast.BinOp(last.at(()), gast.Sub(), first.at(()))
    quotient = gast.BinOp(span, gast.Div(), step.at(()))
    own = writer.fresh("count_of")
    writer.refuse(compare(step.at(()), gast.Eq, number(0)))
    writer.emit(assign(own, call("max", call("int", call("math.ceil", quotient)), number(0))))
    length = Length(name(own), operation.shape[0])
    writer.know(length.dim, length.text)
    # the difference of the first two elements, as they are rounded
    second = gast.BinOp(first.at(()), gast.Add(), step.at(()))
    delta = writer.named(
        Node(np.dtype(float), (), lambda _: gast.BinOp(second, gast.Sub(), first.at(())),
             first.reads | step.reads | {own}, 2), "step",
    )  # fmt: skip

    def at(index: Index) -> Expression:
        return gast.BinOp(first.at(()), gast.Add(), gast.BinOp(index[0], gast.Mult(), delta.at(())))

    return Node(np.dtype(float), (length,), at, first.reads | delta.reads | {own}, 2)


@native(np.tril, np.triu)
def triangle(writer: Writer, operation: Operation) -> Node:
    (x,) = operation.operands[:1]
    k = operation.params.get("k", 0)
    if type(k) is not int or x.rank < 2:
        raise NotNative("a triangle with such arguments")
    order = gast.LtE if operation.function is np.tril else gast.GtE
    zero = cast(number(0.0), np.dtype(float), x.dtype)

    def at(index: Index) -> Expression:
        keep = compare(index[-1], order, plus(index[-2], number(k)))
        return either(keep, x.at(index), zero)

    return Node(x.dtype, x.shape, at, x.reads, x.cost + 1)


@native(np.stack)
def stack(writer: Writer, operation: Operation) -> Node:
    items = operation.operands[0] if isinstance(operation.operands[0], list) else operation.operands
    axis = operation.params.get("axis", 0)
    if not all(isinstance(each, Node) for each in items):
        raise NotNative("np.stack of a list that grows")
    axis %= items[0].rank + 1
    inner = writer.broadcast([each.shape for each in items])
    shape = (*inner[:axis], Length(number(len(items)), len(items)), *inner[axis:])
    made = writer.allocated(operation.dtype, shape, operation.text, "empty")
    for slot, each in enumerate(items):
        with writer.loops(inner) as index:
            at = (*index[:axis], number(slot), *index[axis:])
            value = cast(each.at(index), each.dtype, operation.dtype)
            writer.emit(assign(element(name(made.kept), at, store=True), value))
    return made


@native(np.concatenate)
def concatenate(writer: Writer, operation: Operation) -> Node:
    items = operation.operands[0] if isinstance(operation.operands[0], list) else operation.operands
    axis = operation.params.get("axis", 0)
    if axis is None or not all(isinstance(each, Node) for each in items):
        raise NotNative("np.concatenate of such arguments")
    axis %= items[0].rank
    for each in items[1:]:
        for k, (one, other) in enumerate(zip(items[0].shape, each.shape, strict=True)):
            if k != axis:
                writer.check_equal(one, other)
    starts: list[Expression] = [number(0)]
    for each in items:
        starts.append(plus(starts[-1], each.shape[axis].text))
    length = writer.length(operation.shape[axis], starts[-1])
    shape = (*items[0].shape[:axis], length, *items[0].shape[axis + 1 :])
    made = writer.allocated(operation.dtype, shape, operation.text, "empty")
    for start, each in zip(starts, items, strict=False):
        with writer.loops(each.shape) as index:
            at = (*index[:axis], plus(index[axis], start), *index[axis + 1 :])
            value = cast(each.at(index), each.dtype, operation.dtype)
            writer.emit(assign(element(name(made.kept), at, store=True), value))
    return made


# ---- reductions ----------------------------------------------------------------------------------


def _axes(operation: Operation, rank: int) -> tuple[set[int], bool]:
    axis, keep = operation.params.get("axis"), operation.params.get("keepdims", False)
    if operation.params.keys() - {"axis", "keepdims"} or not isinstance(keep, bool):
        raise NotNative(f"{operation.function.__name__} with such arguments")
    axes = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return {each % rank for each in axes}, keep


def _with_axes(node: Node, axes: set[int], keep: bool, rank: int) -> Node:
    if not keep:
        return node
    rest = iter(node.shape)
    shape = tuple(Length(number(1), 1) if k in axes else next(rest) for k in range(rank))
    return moved(node, shape, lambda index: tuple(i for k, i in enumerate(index) if k not in axes))


@native(np.sum, np.mean)
def sum_(writer: Writer, operation: Operation) -> Node:
    (x,) = operation.operands
    if not isinstance(x, Node):
        raise NotNative("the sum of a list")
    if x.rank == 0:
        return writer.cast(x, operation.dtype)
    axes, keep = _axes(operation, x.rank)
    made = total(writer, x, axes, operation.dtype, operation.text)
    if operation.function is np.mean:
        many: Expression = number(1)
        for axis in axes:
            many = times(many, x.shape[axis].text)
        sums = made
        made = Node(
            operation.dtype,
            sums.shape,
            lambda index: gast.BinOp(sums.at(index), gast.Div(), many),
            sums.reads,
            1,
        )
    return _with_axes(made, axes, keep, x.rank)


@native(np.max, np.min, np.prod, np.any, np.all)
def extreme_(writer: Writer, operation: Operation) -> Node:
    (x,) = operation.operands
    if not isinstance(x, Node) or x.rank == 0:
        raise NotNative("the extreme of a list or number")
    axes, keep = _axes(operation, x.rank)
    made = extreme(writer, x, axes, operation.function, operation.dtype, operation.text)
    return _with_axes(made, axes, keep, x.rank)


@native(runtime.contract)
def contract(writer: Writer, operation: Operation) -> Node:
    spec = operation.params.get("spec")
    if not isinstance(spec, str):
        raise NotNative("a contraction that is not known")
    return contraction(writer, spec, operation.operands, operation.dtype, operation.text)
