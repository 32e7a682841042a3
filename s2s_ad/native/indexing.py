"""Reading and storing elements: an index as, for each axis, which element of it is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2s_ad.core import sizes, values
from s2s_ad.native.nodes import Index, Length, Node, NotNative, Number, array
from s2s_ad.native.spelling import (
    Expression,
    assign,
    call,
    compare,
    element,
    minus,
    name,
    number,
    plus,
    times,
    value_of,
)
from s2s_ad.native.writer import Writer


@dataclass(frozen=True, slots=True)
class Layout:
    """What an index takes of an array.

    Attributes:
        shape: the lengths of what is taken.
        at: for an index into what is taken, the index into the array.
        whole: the items as NumPy takes them, for a view.
        is_plain: no array is among the items, so that what is taken is a view.
        reads: the variables that the indices read.
        mask: a mask that is the whole index.
    """

    shape: tuple[Length, ...]
    at: Callable[[Index], Index]
    items: tuple[Expression, ...]
    is_plain: bool
    reads: frozenset[str]
    mask: Node | None = None


Axis = Callable[[Index], Expression]


def layout_of(writer: Writer, items: Sequence[Any], base: Node, shape: Sequence | None) -> Layout:
    """The layout of an index; `shape`: the dimensions of what it takes, where they are known."""
    if len(items) == 1 and _is_mask(items[0]) and items[0].rank == base.rank:
        return _masked(writer, items[0], base)
    items = _written_out(items, base.rank)
    items = [*_with_positions(writer, items, base)]
    block = [each for each in items if isinstance(each, Node)]
    return _Layouts(writer, base, shape).of(items, block)


class _Layouts:
    def __init__(self, writer: Writer, base: Node, shape: Sequence | None):
        self.writer, self.base, self.dims = writer, base, shape
        self.shape: list[Length] = []
        self.axes: list[Axis] = []
        self.texts: list[Expression] = []
        self.reads: set[str] = set()

    def of(self, items: list, block: list[Node]) -> Layout:
        advanced = [
            k
            for k, each in enumerate(items)
            if isinstance(each, Node) or (block and isinstance(each, Number | int))
        ]
        lengths = self.writer.broadcast([each.shape for each in block]) if block else ()
        together = advanced == [*range(advanced[0], advanced[-1] + 1)] if advanced else True
        start: int | None = None if together else 0
        if start == 0:
            self.shape += lengths
        axis = 0
        for k, item in enumerate(items):
            if item is None:
                self.shape.append(Length(number(1), 1))
                self.texts.append(form_none())
                continue
            if k in advanced and start is None:
                start = len(self.shape)
                self.shape += lengths
            length = self.base.shape[axis]
            if isinstance(item, slice):
                self._slice(item, length)
            elif k in advanced:
                self._advanced(item, length, start, len(lengths))
            else:
                self._element(item, length)
            axis += 1
        axes = tuple(self.axes)
        return Layout(
            tuple(self.shape),
            lambda index: tuple(each(index) for each in axes),
            tuple(self.texts),
            not advanced,
            frozenset(self.reads),
        )

    def _element(self, item: Any, length: Length) -> None:
        text = self._checked(item, length)
        self.axes.append(lambda _: text)
        self.texts.append(text)

    def _whole_number(self, item: int | Number) -> tuple[sizes.Size | None, Expression]:
        """What is known of a whole number in an index, and its text."""
        if isinstance(item, int):
            return sizes.of(item), number(item)
        self.reads |= item.node.reads
        return item.size, item.node.at(())

    def _checked(self, item: Any, length: Length) -> Expression:
        """An index that is certain to be in range, and not below 0."""
        size, text = self._whole_number(item)
        count = values.size_of_dim(length.dim)
        if size is not None:
            if sizes.is_natural(size) and _is_below(size, count):
                return text
            negative = size.known is not None and size.known < 0
            if negative and _is_below(-size - 1, count):
                return plus(length.text, text)
        writer = self.writer
        checked = call("within", text, writer.steady(length))
        own = writer.once(checked, "at_index", lambda own: writer.emit(assign(own, checked)))
        self.reads.add(own)
        return name(own)

    def _advanced(self, item: Any, length: Length, start: int, rank: int) -> None:
        if not isinstance(item, Node):
            self._element(item, length)
            return
        self.reads |= item.reads
        ones = [each.dim == 1 for each in item.shape]

        def axis(index: Index) -> Expression:
            own = index[start : start + rank][rank - item.rank :]
            at = tuple(number(0) if one else i for i, one in zip(own, ones, strict=True))
            return call("within", item.at(at), length.text)

        self.axes.append(axis)
        self.texts.append(name("_"))

    def _slice(self, item: slice, length: Length) -> None:
        slot = len(self.shape)
        dim = _slice_dim(item, length) if self.dims is None else self.dims[slot]
        step = 1 if item.step is None else item.step
        if type(step) is not int:
            raise NotNative("a slice with a step that is not known")
        if step < 0:
            self._reversed(item, step, length, dim)
            return
        start = self._bound(item.start, length, number(0))
        if item.start is None and item.stop is None and step == 1:
            count = length
        else:
            stop = self._bound(item.stop, length, length.text)
            otherwise = call("count", start, stop, number(step))
            count = self._counted(dim, otherwise)
        self.shape.append(count)
        self.axes.append(lambda index: plus(start, times(index[slot], number(step))))
        self.texts.append(
            gast.Slice(
                None if value_of(start) == 0 else start,
                plus(start, count.text) if step == 1 and count is not length else None,
                None if step == 1 else number(step),
            )
        )
        if step != 1 and count is not length:
            self.texts[-1].upper = self._bound(item.stop, length, length.text)

    def _counted(self, dim: Any, otherwise: Expression) -> Length:
        writer = self.writer
        dim = values.fresh_dim() if dim is None else dim
        length = writer.length(dim, otherwise)
        if length.text is otherwise:
            own = writer.fresh("count_of")
            writer.emit(assign(own, otherwise))
            length = Length(name(own), dim)
            writer.know(dim, length.text)
        return length

    def _reversed(self, item: slice, step: int, length: Length, dim: Any) -> None:
        if step != -1 or item.start is not None or item.stop is not None:
            raise NotNative("a slice backwards from or to an index")
        slot = len(self.shape)
        self.shape.append(length)
        self.axes.append(lambda index: minus(minus(length.text, number(1)), index[slot]))
        self.texts.append(gast.Slice(None, None, number(-1)))

    def _bound(self, bound: Any, length: Length, otherwise: Expression) -> Expression:
        """Where a slice starts or stops, between 0 and the length."""
        if bound is None:
            return otherwise
        size, text = self._whole_number(bound)
        count = values.size_of_dim(length.dim)
        if size is not None:
            if sizes.is_natural(size) and sizes.at_least(count, size):
                return text
            negative = size.known is not None and size.known < 0
            if negative and sizes.at_least(count, -size):
                return plus(length.text, text)
        return call("bound", text, length.text)


def _slice_dim(item: slice, length: Length) -> Any:
    """The length of a slice, where it follows from its bounds."""
    ends = [each if each is None else _size(each) for each in (item.start, item.stop)]
    if item.step not in (None, 1) or any(each is NotImplemented for each in ends):
        return None
    if not isinstance(length.dim, int) or any(each is not None and each.terms for each in ends):
        return values.dim_of_size(sizes.between(values.size_of_dim(length.dim), *ends))
    start, stop = (each if each is None else each.known for each in ends)
    return len(range(*slice(start, stop).indices(length.dim)))


def _size(bound: Any) -> Any:
    size = sizes.of(bound) if isinstance(bound, int) else bound.size
    return NotImplemented if size is None else size


def form_none() -> Expression:
    return gast.Constant(None, None)


def _is_below(size: sizes.Size, count: sizes.Size) -> bool:
    return sizes.is_natural(count - size - 1) or sizes.at_least(count, size + 1)


def _written_out(items: Sequence[Any], rank: int) -> list:
    taken = sum(each is not None and each is not Ellipsis for each in items)
    gap = [slice(None)] * (rank - taken)
    at = next((k for k, each in enumerate(items) if each is Ellipsis), len(items))
    return [*items[:at], *gap, *items[at + 1 :]]


def _is_mask(item: Any) -> bool:
    return isinstance(item, Node) and item.dtype.kind == "b"


def _with_positions(writer: Writer, items: Sequence[Any], base: Node) -> Iterator[Any]:
    """The items with the positions where a mask is true in its place."""
    axis = 0
    for item in items:
        if _is_mask(item):
            if item.rank != 1:
                raise NotNative("a mask of several axes among other indices")
            writer.check_equal(item.shape[0], base.shape[axis])
            yield positions(writer, item, "positions")
        else:
            yield item
        axis += item is not None


def positions(writer: Writer, mask: Node, text: str, dim: Any = None) -> Node:
    """The indices at which the elements of an array with one axis are true."""
    mask = writer.in_memory(mask, f"{text}_mask")

    def is_true(index: Index) -> Expression:
        one = mask.at(index)
        return one if mask.dtype.kind == "b" else compare(one, gast.NotEq, number(0))

    return compressed(writer, mask.shape, np.dtype(int), is_true, lambda index: index[0], text, dim)


def compressed(
    writer: Writer,
    space: Sequence[Length],
    dtype: np.dtype,
    is_true: Callable[[Index], Expression],
    value: Callable[[Index], Expression],
    text: str,
    dim: Any = None,
) -> Node:
    """The values at the indices where something is true, side by side.

    Each is stored where the next one belongs, and counts only then: a loop without branches.
    """
    room: Expression = number(1)
    for each in space:
        room = times(room, each.text)
    made = writer.allocated(dtype, (Length(room, values.fresh_dim()),), text, "empty")
    many = writer.fresh("count_of")
    writer.emit(assign(many, number(0)))
    with writer.loops(space) as index:
        place = element(name(made.kept), (name(many),), store=True)
        writer.emit(assign(place, value(index)))
        writer.emit(gast.AugAssign(name(many), gast.Add(), call("int", is_true(index))))
    length = Length(name(many), values.fresh_dim() if dim is None else dim)
    writer.know(length.dim, length.text)
    own = writer.fresh(text)
    part = gast.Slice(None, name(many), None)
    writer.emit(assign(own, gast.Subscript(name(made.kept), part, gast.Load())))
    return array(own, dtype, (length,), own=True)


def _masked(writer: Writer, mask: Node, base: Node) -> Layout:
    if mask.rank != base.rank:
        raise NotNative("a mask of some axes")
    for one, other in zip(mask.shape, base.shape, strict=True):
        writer.check_equal(one, other)
    return Layout((), lambda index: index, (), False, mask.reads, mask)


def taken(base: Node, layout: Layout) -> Node:
    """What an index takes of an array."""
    whole, is_contiguous = None, False
    if layout.is_plain and base.whole is not None:
        items = list(layout.items)
        while len(items) > 1 and _is_everything(items[-1]):
            items.pop()
        whole = lambda: element(base.whole(), tuple(items))  # noqa: E731
        is_contiguous = not any(isinstance(each, gast.Slice) or is_none(each) for each in items)
    return Node(
        base.dtype,
        layout.shape,
        lambda index: base.at(layout.at(index)),
        base.reads | layout.reads,
        base.cost if layout.is_plain else base.cost + 1,
        whole if layout.shape else None,
        base.is_view and layout.is_plain and bool(layout.shape),
        constant=base.constant,
        is_contiguous=is_contiguous,
    )


def _is_everything(item: Expression) -> bool:
    return isinstance(item, gast.Slice) and not (item.lower or item.upper or item.step)


def is_none(item: Expression) -> bool:
    return isinstance(item, gast.Constant) and item.value is None
