"""Sums, extremes and contractions as loops that accumulate."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast
import numpy as np

from s2s_ad.core import sizes, values
from s2s_ad.native.nodes import Index, Length, Node, NotNative, array, variable
from s2s_ad.native.scalars import cast
from s2s_ad.native.spelling import (
    Expression,
    add_to,
    assign,
    binary,
    call,
    compare,
    either,
    element,
    name,
    number,
    times,
    value_of,
)
from s2s_ad.native.writer import Writer, has_gaps


def total(writer: Writer, x: Node, axes: set[int], dtype: np.dtype, text: str) -> Node:
    """The sum over some axes."""
    zero = cast(number(0), np.dtype(int), dtype)

    def add(target: Expression, index: Index) -> None:
        _add(writer, target, cast(x.at(index), x.dtype, dtype), dtype)

    return _accumulated(writer, x.shape, axes, dtype, text, zero, add)


def _add(writer: Writer, target: Expression, value: Expression, dtype: np.dtype) -> None:
    """Add to a sum, whose terms may be added in any order."""
    if isinstance(target, gast.Name) and dtype.kind in "fc":
        add = "plus" if dtype.kind == "f" else "complex_plus"
        writer.emit(assign(target.id, call(add, target, value)))
    else:
        writer.emit(add_to(target, value))


def _accumulated(
    writer: Writer,
    space: Sequence[Length],
    axes: set[int],
    dtype: np.dtype,
    text: str,
    start: Expression,
    step: Callable[[Expression, Index], None],
) -> Node:
    """What steps over an index space come to, for each index of the axes that stay."""
    stay = [k for k in range(len(space)) if k not in axes]
    shape = tuple(space[k] for k in stay)
    own = writer.fresh(text)
    if not stay:
        writer.emit(assign(own, start))
        with writer.loops(space) as index:
            step(name(own), index)
        return variable(own, dtype)
    writer.taken.discard(own)
    if max(stay) < min(axes):  # what is summed is innermost: a number accumulates
        made = writer.allocated(dtype, shape, text, "empty")
        with writer.loops(shape) as outer:
            one = writer.fresh(f"{text}_element")
            writer.emit(assign(one, start))
            with writer.loops([space[k] for k in sorted(axes)]) as inner:
                step(name(one), (*outer, *inner))
            writer.emit(assign(element(name(made.kept), outer, store=True), name(one)))
            writer.taken.discard(one)
        return made
    made = writer.allocated(dtype, shape, text, "zeros")
    if value_of(start) != 0:
        with writer.loops(shape) as outer:
            writer.emit(assign(element(name(made.kept), outer, store=True), start))
    with writer.loops(space) as index:
        step(element(name(made.kept), tuple(index[k] for k in stay)), index)
    return made


def extreme(
    writer: Writer, x: Node, axes: set[int], function: Callable, dtype: np.dtype, text: str
) -> Node:
    """The largest, the smallest, the product, or whether any or all are true."""
    steps: dict[Callable, tuple[Expression, Callable[[Expression, Expression], Expression]]] = {
        np.max: (number(-np.inf), lambda best, e: _better(best, e, gast.Gt)),
        np.min: (number(np.inf), lambda best, e: _better(best, e, gast.Lt)),
        np.prod: (number(1.0), lambda best, e: binary(best, gast.Mult, e)),
        np.any: (gast.Constant(False, None), lambda best, e: binary(best, gast.BitOr, e)),
        np.all: (gast.Constant(True, None), lambda best, e: binary(best, gast.BitAnd, e)),
    }
    start, combine = steps[function]
    if dtype.kind not in "fbi" or dtype.kind != x.dtype.kind:
        raise NotNative(f"{function.__name__} of such numbers")
    if dtype.kind == "i":
        start = _first_of_whole_numbers(function, dtype)
    if dtype.kind == "f" and function in (np.any, np.all):
        raise NotNative(f"{function.__name__} of numbers")
    if function in (np.max, np.min):
        for axis in axes:
            length = x.shape[axis]
            size = values.size_of_dim(length.dim)
            if not sizes.is_natural(size - 1) and not sizes.is_natural(size - 1, assumed=True):
                writer.refuse(compare(length.text, gast.Eq, number(0)))
    start = cast(start, np.dtype(float), dtype) if dtype.kind == "f" else start

    def step(target: Expression, index: Index) -> None:
        one = writer.fresh("one")
        writer.emit(assign(one, x.at(index)))
        stored = gast.Subscript(target.value, target.slice, gast.Store()) if isinstance(
            target, gast.Subscript
        ) else target.id  # fmt: skip
        writer.emit(assign(stored, combine(target, name(one))))
        writer.taken.discard(one)

    return _accumulated(writer, x.shape, axes, dtype, text, start, step)


def _first_of_whole_numbers(function: Callable, dtype: np.dtype) -> Expression:
    """What a product or an extreme of whole numbers starts from."""
    most = np.iinfo(dtype).max
    known = {np.prod: 1, np.min: most, np.max: -most}
    if function not in known:
        raise NotNative(f"{function.__name__} of such numbers")
    start = number(known[function])
    return binary(start, gast.Sub, number(1)) if function is np.max else start


def _better(best: Expression, one: Expression, order: type) -> Expression:
    """The better of two numbers; nan is better than any."""
    is_better = gast.BoolOp(gast.Or(), [compare(one, order, best), compare(one, gast.NotEq, one)])
    return either(is_better, one, best)


# ---- contractions --------------------------------------------------------------------------------


def contraction(
    writer: Writer, spec: str, operands: Sequence[Node], dtype: np.dtype, text: str
) -> Node:
    """The sum of products that an einsum specification names."""
    ins, out = spec.split("->")
    letters = ins.split(",")
    if "." in spec or len(letters) != len(operands):
        raise NotNative(f"the contraction {spec}")
    if any(len(set(each)) != len(each) for each in letters):
        raise NotNative(f"the contraction {spec}")
    lengths = _lengths(writer, letters, operands)
    summed = [each for each in dict.fromkeys("".join(letters)) if each not in out]
    product = _by_blas(writer, letters, out, summed, operands, lengths, dtype, text)
    if product is not None:
        return product
    order = _order(letters, out, summed)
    operands = [
        _read_often(writer, each, own, lengths, order[-1], text)
        for each, own in zip(operands, letters, strict=True)
    ]

    def term(at: dict[str, Expression]) -> Expression:
        found = None
        for node, own in zip(operands, letters, strict=True):
            index = tuple(
                number(0) if each.dim == 1 else at[letter]
                for letter, each in zip(own, node.shape, strict=True)
            )
            factor = cast(node.at(index), node.dtype, dtype)
            found = factor if found is None else binary(found, gast.Mult, factor)
        return found

    if not summed:
        shape = tuple(lengths[each] for each in out)
        reads = frozenset().union(*(each.reads for each in operands))
        cost = sum(each.cost for each in operands) + 1
        return Node(
            dtype, shape, lambda index: term(dict(zip(out, index, strict=True))), reads, cost
        )
    zero = cast(number(0), np.dtype(int), dtype)
    space = [lengths[each] for each in order]
    axes = {k for k, each in enumerate(order) if each in summed}

    def step(target: Expression, index: Index) -> None:
        _add(writer, target, term(dict(zip(order, index, strict=True))), dtype)

    made = _accumulated(writer, space, axes, dtype, text, zero, step)
    stay = [each for each in order if each not in summed]
    if stay == [*out]:
        return made
    shape = tuple(lengths[each] for each in out)
    return Node(
        dtype,
        shape,
        lambda index: made.at(tuple(index[out.index(each)] for each in stay)),
        made.reads,
        is_view=True,
    )


def _lengths(writer: Writer, letters: Sequence[str], operands: Sequence[Node]) -> dict[str, Length]:
    lengths: dict[str, Length] = {}
    for own, node in zip(letters, operands, strict=True):
        if len(own) != node.rank:
            raise NotNative("a contraction of unequal ranks")
        for letter, length in zip(own, node.shape, strict=True):
            known = lengths.get(letter)
            if known is None or known.dim == 1:
                lengths[letter] = length
            elif length.dim != 1:
                writer.check_equal(known, length)
    return lengths


def _read_often(
    writer: Writer, node: Node, own: str, lengths: dict[str, Length], innermost: str, text: str
) -> Node:
    """An operand of which each element is read several times is put into memory.

    So is one that the innermost loop would go along with gaps.
    """
    several = any(letter not in own and each.dim != 1 for letter, each in lengths.items())
    if several and own == innermost and node.shape[-1].dim != 1 and has_gaps(node):
        return writer.side_by_side(node, f"{text}_part")
    return writer.in_memory(node, f"{text}_part") if several and node.cost else node


def _order(letters: Sequence[str], out: str, summed: Sequence[str]) -> list[str]:
    """The order of loops: the innermost goes along memory of as many arrays as possible.

    Where that is an axis that stays, rows are added to rows; else a number accumulates.
    """
    arrays = [each for each in (*letters, out) if len(each) > 1]
    order = [*out, *summed] if not arrays else [*dict.fromkeys("".join(letters))]

    def gaps(letter: str) -> int:
        return sum(letter in each[:-1] for each in arrays) - sum(letter == e[-1] for e in arrays)

    last = min(reversed(order), key=gaps)
    if last in out:
        return [*(each for each in order if each != last), last]
    return [*out, *(each for each in summed if each != last), last]


def _by_blas(
    writer: Writer,
    letters: Sequence[str],
    out: str,
    summed: Sequence[str],
    operands: Sequence[Node],
    lengths: dict[str, Length],
    dtype: np.dtype,
    text: str,
) -> Node | None:
    """A product of matrices, whose rows and columns may be several axes each."""
    if len(operands) != 2 or not summed or dtype.kind not in "fc":
        return None
    if any(each.dtype != dtype for each in operands):
        return None
    shared = "".join(each for each in letters[0] if each in letters[1])
    if {*shared} != {*summed} or len(shared) != len(summed):
        return None
    (a, x), (b, y) = zip(letters, operands, strict=True)
    rows, columns = (each.translate(dict.fromkeys(map(ord, shared))) for each in (a, b))
    if rows + columns != out:
        a, b, x, y, rows, columns = b, a, y, x, columns, rows
        shared = "".join(each for each in a if each in b)
    forms = (rows + shared, shared + rows), (shared + columns, columns + shared)
    if not rows or not columns or rows + columns != out or a not in forms[0] or b not in forms[1]:
        return None
    if any(length.dim == 1 for node in (x, y) for length in node.shape):
        return None
    left = _as_matrix(writer, x, (a, rows), f"{text}_left", turned=a != forms[0][0])
    right = _as_matrix(writer, y, (b, columns), f"{text}_right", turned=b != forms[1][0])
    own = writer.fresh(text)
    writer.emit(assign(own, call("product", left, right)))
    shape = tuple(lengths[each] for each in out)
    if len(out) > 2:
        return _as_shape(writer, own, dtype, shape)
    return array(own, dtype, shape, own=True)


def _as_matrix(
    writer: Writer, node: Node, axes: tuple[str, str], text: str, *, turned: bool
) -> Expression:
    """An operand as a matrix: the axes that stay are one, and those that are summed the other."""
    own, stay = axes
    whole = writer.contiguous(node, text).whole()
    if node.rank > 2:
        first = len(stay) if own.startswith(stay) else len(own) - len(stay)
        counts = [_product(node.shape[:first]), _product(node.shape[first:])]
        shaped = writer.fresh(text)
        writer.emit(assign(shaped, _reshaped(whole, counts)))
        whole = name(shaped)
    return gast.Attribute(whole, "T", gast.Load()) if turned else whole


def _as_shape(writer: Writer, own: str, dtype: np.dtype, shape: tuple[Length, ...]) -> Node:
    """A matrix with its axes apart again."""
    made = writer.fresh(own)
    writer.emit(assign(made, _reshaped(name(own), [each.text for each in shape])))
    return array(made, dtype, shape, own=True)


def _product(lengths: Sequence[Length]) -> Expression:
    found: Expression = number(1)
    for each in lengths:
        found = times(found, each.text)
    return found


def _reshaped(whole: Expression, lengths: Sequence[Expression]) -> Expression:
    shape = gast.Tuple([*lengths], gast.Load())
    return gast.Call(gast.Attribute(whole, "reshape", gast.Load()), [shape], [])
