"""The text of one function as it grows: names, blocks, lengths, and values put into memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2s_ad.core import sizes, values
from s2s_ad.core.sizes import Size
from s2s_ad.core.values import Dim
from s2s_ad.emit.provenance import with_origin
from s2s_ad.native.nodes import (
    Length,
    ListNode,
    Node,
    NotNative,
    RowNode,
    SavedNode,
    array,
    constant,
    variable,
)
from s2s_ad.native.scalars import cast
from s2s_ad.native.spelling import (
    Expression,
    assign,
    call,
    compare,
    element,
    if_,
    loop,
    minus,
    name,
    names_in,
    number,
    plus,
    raised,
    same,
    times,
    unused,
)

INDICES = ("i", "j", "k", "l", "m", "p", "q", "r")
DTYPE_OF_PYTHON = {each: np.dtype(each) for each in (bool, int, float, complex)}


class Writer:
    """Collects the statements of one function.

    Args:
        taken: names that mean something already.
    """

    def __init__(self, taken: set[str], facts: Mapping[str, Any]):
        self.taken, self.facts = taken, facts
        self.blocks: list[list[gast.stmt]] = [[]]
        self.lengths: list[dict[Any, Expression]] = [{}]  # of atoms, for each block
        self.stored: list[dict[int, tuple[Node, Node]]] = [{}]  # what was put into memory
        self.ages: dict[str, int] = {}  # of lengths, in the order in which they were met
        self.alike: list[dict[str, Expression]] = [{}]  # lengths that are equal to others
        self.refused: list[set[str]] = [set()]  # conditions that do not hold, for each block
        self.carried: set[str] = set()  # variables that are assigned several times
        self.shared: list[dict[str, str]] = [{}]  # numbers that have a name, for each block
        self.meanings: dict[str, Expression] = {}  # of numbers that have a name and stay
        self.spaces: list[list[tuple[Size, Expression]]] = [[]]  # of loops, for each block
        self.place: tuple[Any, str] = (None, "")  # where the statement comes from
        self.one_by_one: set[str] = set()  # functions of elements that no loop computes at once

    # ---- names and statements

    def fresh(self, text: str) -> str:
        return unused(text, self.taken)

    def emit(self, statement: gast.stmt) -> None:
        if not hasattr(statement, "origin"):
            with_origin(statement, *self.place)
        self.blocks[-1].append(statement)

    @contextmanager
    def block(self) -> Iterator[list[gast.stmt]]:
        """The statements that are emitted meanwhile, as a list of their own."""
        self.blocks.append([])
        self.lengths.append({})
        self.refused.append(set())
        self.alike.append({})
        self.stored.append({})
        self.spaces.append([])
        self.shared.append({})
        try:
            yield self.blocks[-1]
        finally:
            self.blocks.pop()
            self.lengths.pop()
            self.refused.pop()
            self.alike.pop()
            self.stored.pop()
            self.spaces.pop()
            self.shared.pop()

    @contextmanager
    def loops(self, lengths: Sequence[Length]) -> Iterator[tuple[Expression, ...]]:
        """A nest of loops over an index space; gives the indices. Of one element 0 is the index."""
        longer = [each for each in lengths if each.dim != 1]
        names = [each for each in INDICES if each not in self.taken][: len(longer)]
        if len(names) < len(longer):
            raise NotNative("too many nested loops")
        self.taken.update(names)
        free = iter(names)
        with self.block() as body:
            yield tuple(number(0) if each.dim == 1 else name(next(free)) for each in lengths)
        for index, length in reversed([*zip(names, longer, strict=True)]):
            nest = with_origin(loop(index, [self._bound(length)], body), *self.place)
            nest.is_nest = True
            body = [nest]
        self.blocks[-1] += body
        self.taken.difference_update(names)

    def require(self, condition: Expression) -> None:
        """Leave the native code where a condition does not hold."""
        self.emit(if_(gast.UnaryOp(gast.Not(), condition), [self._placed(raised())]))

    def refuse(self, condition: Expression) -> None:
        """Leave the native code where a condition holds, unless it was asked before."""
        key = gast.dump(condition)
        if not any(key in each for each in self.refused):
            self.emit(if_(condition, [self._placed(raised())]))
        if not _reads_elements(condition) and not self._changes(condition):
            self.refused[-1].add(key)

    def _placed(self, statement: gast.stmt) -> gast.stmt:
        return with_origin(statement, *self.place)

    # ---- lengths

    def know(self, dim: int | Dim, text: Expression) -> None:
        """Let a length be what an expression says, where nothing is known of it yet."""
        if isinstance(dim, Dim) and len(dim.size.terms) == 1 and dim.size.constant == 0:
            ((factor, coefficient),) = dim.size.terms
            if coefficient == 1 and not any(factor in each for each in self.lengths):
                self.lengths[-1][factor] = text

    def _know_anew(self, dim: Dim, text: Expression) -> None:
        """Let a length that may be another one in each pass of a loop be this one here."""
        if len(dim.size.terms) == 1 and dim.size.constant == 0:
            ((factor, coefficient),) = dim.size.terms
            if coefficient == 1:
                self.lengths[-1][factor] = text

    def _changes(self, text: Expression) -> bool:
        """Whether a length is that of a variable which is assigned again."""
        return not self.carried.isdisjoint(names_in(text))

    def size_text(self, size: Size) -> Expression | None:
        """A whole number as an expression over what is known; None where it does not follow."""
        found: Expression = number(size.constant)
        for factor, coefficient in sorted(
            size.terms, key=lambda each: sizes.order(sizes.of(each[0]))
        ):
            part = self._factor(factor)
            if part is None:
                return None
            scaled = times(part, number(abs(coefficient)))
            found = plus(scaled, found) if coefficient > 0 else minus(found, scaled)
        return found

    def _factor(self, factor: Any) -> Expression | None:
        for known in reversed(self.lengths):
            if factor in known:
                return known[factor]
        inner = [self.size_text(each) for each in sizes.sizes_inside(factor)]
        if not inner or None in inner:
            return None
        if isinstance(factor, sizes.Quotient):
            return gast.BinOp(inner[0], gast.FloorDiv(), number(factor.divisor))
        if isinstance(factor, sizes.Clamped):
            return call("max", inner[0], number(0))
        if isinstance(factor, sizes.Least):
            return call("min", *inner)
        if isinstance(factor, sizes.Product):
            return times(*inner)
        return None

    def length(self, dim: int | Dim, otherwise: Expression | None = None) -> Length:
        """The length of an axis; `otherwise` says it where its form does not."""
        if isinstance(dim, int):
            return Length(number(dim), dim)
        text = self.size_text(dim.size)
        if text is None:
            if otherwise is None:
                raise NotNative("a length that is not known")
            return Length(otherwise, dim)
        natural = sizes.is_natural(dim.size) or sizes.is_natural(dim.size, assumed=True)
        return Length(text if natural else call("max", text, number(0)), dim)

    def lengths_of(self, text: str, shape: Sequence[int | Dim]) -> tuple[Length, ...]:
        """The lengths of an array that has a name."""
        found = []
        for axis, dim in enumerate(shape):
            own = element(gast.Attribute(name(text), "shape", gast.Load()), (number(axis),))
            own = call("len", name(text)) if axis == 0 else own
            if isinstance(dim, Dim):
                known = self.size_text(dim.size)
                self.ages.setdefault(gast.dump(own), len(self.ages))
                if known is not None and self._changes(known):
                    self._know_anew(dim, own)
                elif known is not None:
                    self.alike[-1].setdefault(gast.dump(own), known)
                self.know(dim, own)
            found.append(Length(number(dim) if isinstance(dim, int) else own, dim))
        return tuple(found)

    def check_equal(self, one: Length, other: Length) -> None:
        """Leave the native code where two lengths differ, unless they are known to be equal."""
        if same(one.text, other.text):
            return
        self._call_alike(self.canonical(one.text), self.canonical(other.text))
        if one.dim == other.dim or values._are_equal(one.dim, other.dim):
            return
        self.refuse(compare(one.text, gast.NotEq, other.text))

    def _call_alike(self, one: Expression, other: Expression) -> None:
        """Let the length that was known first stand for one that is equal."""
        ages = [self.ages.setdefault(gast.dump(each), len(self.ages)) for each in (one, other)]
        if ages[0] != ages[1]:
            old, new = (one, other) if ages[0] < ages[1] else (other, one)
            self.alike[-1][gast.dump(new)] = old

    def canonical(self, text: Expression) -> Expression:
        """The length by which lengths are called that are equal."""
        seen: set[str] = set()
        while True:
            key = gast.dump(text)
            self.ages.setdefault(key, len(self.ages))
            known = self.alike[-1].get(key)
            if known is None and not self._changes(text):
                outer = (each[key] for each in reversed(self.alike) if key in each)
                known = next((each for each in outer if not self._changes(each)), None)
            if known is None or key in seen:
                return text
            seen.add(key)
            text = known

    def steady(self, length: Length) -> Expression:
        """The length, by a name that arrays of this length have in common and that stays."""
        dim = length.dim
        is_plain = isinstance(dim, Dim) and sizes.atom_of(dim.size) is not None
        known = self.size_text(dim.size) if is_plain else None
        stays = known is not None and not self._changes(known)
        return known if stays else self.canonical(length.text)

    def _bound(self, length: Length) -> Expression:
        """The length of a loop, called alike in all loops that are equally long."""
        if isinstance(length.dim, int):
            return self.canonical(length.text)
        for spaces in self.spaces:
            for size, text in spaces:
                stays = spaces is self.spaces[-1] or not self._changes(text)
                if stays and sizes.are_taken_for_equal(size, length.dim.size):
                    return text
        text = self.canonical(length.text)
        self.spaces[-1].append((length.dim.size, text))
        return text

    def broadcast(self, shapes: Sequence[tuple[Length, ...]]) -> tuple[Length, ...]:
        """The lengths that NumPy broadcasts to."""
        rank = max(map(len, shapes), default=0)
        found = []
        for axis in range(-rank, 0):
            column = [each[axis] for each in shapes if len(each) >= -axis]
            several = [each for each in column if each.dim != 1]
            found.append(several[0] if several else column[0])
            for each in several[1:]:
                self.check_equal(found[-1], each)
        return tuple(found)

    # ---- values in memory

    def named(self, node: Node, text: str) -> Node:
        """A number that has a name, or is no more than one."""
        node = self.latest(node)
        if node.whole is not None or not node.reads:
            return node
        value = node.at(())
        own = self.once(value, text, lambda own: self.emit(assign(own, value)))
        if any(own in each.values() for each in self.shared):
            self.meanings[own] = value
        made = variable(own, node.dtype, is_python=node.is_python)
        self.stored[-1][id(node)] = node, made
        return made

    def once(self, value: Expression, text: str, emit: Callable[[str], None]) -> str:
        """The name of a number that is written down once, as long as what it reads stays.

        Args:
            emit: writes it down by a name.
        """
        key = gast.dump(value)
        known = next((each[key] for each in reversed(self.shared) if key in each), None)
        if known is not None:
            return known
        own = self.fresh(text)
        emit(own)
        if not names_in(value) & self.carried and not _reads_elements(value):
            self.shared[-1][key] = own
        return own

    def carry(self, names: Iterable[str]) -> None:
        """From now on these variables may be assigned again."""
        new = set(names) - self.carried
        self.carried |= new
        for refused in self.refused if new else ():
            refused -= {each for each in refused if _mentions(each, new)}
        for known in self.shared if new else ():
            for key in [key for key, own in known.items() if own in new or _mentions(key, new)]:
                self.meanings.pop(known.pop(key), None)

    def allocated(self, dtype: np.dtype, shape: tuple[Length, ...], text: str, how: str) -> Node:
        """A new array: np.empty or np.zeros."""
        own = self.fresh(text)
        self.emit(assign(own, self.allocation(dtype, shape, how)))
        return array(own, dtype, shape, own=True)

    def allocation(self, dtype: np.dtype, shape: tuple[Length, ...], how: str) -> Expression:
        lengths = [self.canonical(each.text) for each in shape]
        at = lengths[0] if len(lengths) == 1 else gast.Tuple(lengths, gast.Load())
        kind = (
            []
            if dtype.name == "float64"
            else [gast.Attribute(name("np"), _dtype_name(dtype), gast.Load())]
        )
        return call(f"np.{how}", at, *kind)

    def in_memory(self, node: Node, text: str, *, own: bool = False) -> Node:
        """The value as an array that has a name; `own`: one that nobody else has."""
        if node.rank == 0:
            return self.named(node, text)
        if own:
            return self._own(node, text)
        node = self.latest(node)
        if node.whole is not None:
            return node
        made = self._own(node, text)
        self.stored[-1][id(node)] = node, made
        return made

    def latest(self, node: Node) -> Node:
        """The value as it was put into memory, if it was."""
        for known in reversed(self.stored):
            if id(node) in known:
                return known[id(node)][1]
        return node

    def forget_views(self, changed: Collection[str]) -> None:
        """Views of arrays that change show it: what was put into memory is what they were."""
        for known in self.stored:
            for key, (node, _) in [*known.items()]:
                if node.is_view and not node.reads.isdisjoint(changed):
                    del known[key]

    def _own(self, node: Node, text: str) -> Node:
        """The value as an array that nobody else has."""
        if node.constant == 0:
            return self.allocated(node.dtype, node.shape, text, "zeros")
        if node.whole is not None and isinstance(node.whole(), gast.Name):
            target = self.fresh(text)
            copied = gast.Call(gast.Attribute(node.whole(), "copy", gast.Load()), [], [])
            self.emit(assign(target, copied))
            return array(target, node.dtype, node.shape, own=True)
        made = self.allocated(node.dtype, node.shape, text, "empty")
        self.fill(made, node)
        return made

    def fill(self, target: Node, node: Node) -> None:
        """Store each element."""
        with self.loops(target.shape) as index:
            self.emit(assign(element(name(target.kept), index, store=True), node.at(index)))

    def whole(self, node: Node, text: str) -> Expression:
        """The value as what a function can be given."""
        if node.rank == 0:
            return node.at(())
        return self.in_memory(node, text).whole()

    def contiguous(self, node: Node, text: str) -> Node:
        """The value as a C-contiguous array."""
        node = self.in_memory(node, text)
        if node.kept:
            return node
        if not isinstance(node.whole(), gast.Name) and not node.is_contiguous:
            return self._own(node, text)
        own = self.fresh(text)
        self.emit(assign(own, call("np.ascontiguousarray", node.whole())))
        return array(own, node.dtype, node.shape, own=True)

    def side_by_side(self, node: Node, text: str) -> Node:
        """The value as a new array, where its elements stand with gaps between them."""
        known = self.latest(node)
        if known is not node and not has_gaps(known):
            return known
        made = self._own(node, text)
        self.stored[-1][id(node)] = node, made
        return made

    def cast(self, node: Node, dtype: np.dtype) -> Node:
        if node.dtype == dtype:
            return node
        source = node.dtype
        known = node.constant
        return replace(
            node,
            dtype=dtype,
            at=lambda index: cast(node.at(index), source, dtype),
            whole=None,
            is_view=False,
            kept="",
            cost=node.cost,
            constant=known,
        )


def has_gaps(node: Node) -> bool:
    """Whether a loop over the last axis would not go along the rows that it reads."""
    index = [f"_{k}" for k in range(node.rank)]
    reads = [each for each in gast.walk(node.at(tuple(map(name, index)))) if _is_element(each)]
    return any(
        isinstance(each.slice, gast.Tuple)
        and index[-1] in names_in(each.slice)
        and index[-1] not in names_in(each.slice.elts[-1])
        for each in reads
    )


def _is_element(node: Expression) -> bool:
    return isinstance(node, gast.Subscript) and not isinstance(node.value, gast.Attribute)


def _reads_elements(value: Expression) -> bool:
    """Whether it reads elements of arrays, which may change."""
    found = (each for each in gast.walk(value) if isinstance(each, gast.Subscript))
    return any(not isinstance(each.value, gast.Attribute) for each in found)


def _mentions(key: str, names: set[str]) -> bool:
    return any(f"Name(id='{each}'" in key for each in names)


def _dtype_name(dtype: np.dtype) -> str:
    return "bool_" if dtype.kind == "b" else dtype.name


def node_of(writer: Writer, text: str, fact: Any) -> Any:
    """What a name of the text is, by its abstract value."""
    if isinstance(fact, values.List):
        return ListNode(text, fact.item)
    if isinstance(fact, values.Scalar):
        if fact.kind not in DTYPE_OF_PYTHON:
            raise NotNative(f"a {fact.kind.__name__} number")
        if fact.size is not None and fact.kind is int:
            writer.know(Dim(fact.size), name(text))
        return variable(text, DTYPE_OF_PYTHON[fact.kind], is_python=True)
    if isinstance(fact, values.Saved):
        return SavedNode(text)
    if isinstance(fact, values.Row):
        return RowNode(text)
    if not isinstance(fact, values.Array) or values.missing((fact.dtype, fact.shape)):
        raise NotNative(f"a value of which is known {type(fact).__name__}")
    if fact.shape == ():
        return variable(text, fact.dtype)
    return array(text, fact.dtype, writer.lengths_of(text, fact.shape))


def constant_node(value: Any) -> Node:
    """A number that stands in the code."""
    if type(value) in DTYPE_OF_PYTHON:
        return replace(
            constant(value, DTYPE_OF_PYTHON[type(value)], (), number(value)), is_python=True
        )
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        text = cast(number(value), np.result_type(value.item()), value.dtype)
        return constant(value.item(), value.dtype, (), text)
    raise NotNative(f"{value!r} as a value")
