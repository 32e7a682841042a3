"""Lists that grow: of numbers, of arrays and of lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.emit.lines import Line, flat
from s2s_ad.emit.provenance import with_origin
from s2s_ad.native.entries import dtype_of
from s2s_ad.native.nests import Nest
from s2s_ad.native.nodes import (
    Length,
    ListNode,
    Node,
    NotNative,
    constant_of,
    variable,
)
from s2s_ad.native.scalars import cast
from s2s_ad.native.spelling import (
    Expression,
    assign,
    binary,
    call,
    compare,
    element,
    field,
    if_,
    listed,
    minus,
    name,
    number,
    value_of,
)
from s2s_ad.native.stacks import pushes
from s2s_ad.native.state import State, known_now

#: items that a stack has room for at first
ROOM = 16


class Lists(State):
    """Writes what is done to lists."""

    def _list(
        self, function: Callable, operands: list, params: dict[str, Any], fact: Any, text: str
    ) -> ListNode:
        """A list that is made of an array, or of other lists."""
        if function is runtime.list_rows and isinstance(operands[0], Node):
            return self._rows(operands[0], fact, text)
        if function is runtime.list_parts:
            return self._parts(operands[0], params["part"], fact, text)
        if not all(isinstance(each, ListNode) for each in operands):
            raise NotNative("a list that is computed")
        items = [name(self._as_list(each, fact).text) for each in operands]
        if function in (np.zeros_like, runtime.zeros_like):
            made = _zeros(items[0], fact)
        elif function is runtime.accumulate and not isinstance(fact.item, values.List):
            made = call("item_sums", *items)
        elif function is runtime.list_join:
            made = binary(items[0], gast.Add, items[1])
        elif function in (np.copy, runtime.copied, list):
            made = gast.Subscript(items[0], gast.Slice(None, None, None), gast.Load())
        else:
            raise NotNative("a list that is computed")
        own = self.writer.fresh(text)
        self.writer.emit(assign(own, made))
        return ListNode(own, fact.item)

    def _rows(self, array_: Node, fact: Any, text: str) -> ListNode:
        """A list of the rows of an array."""
        whole, own = self.writer.contiguous(array_, text), self.writer.fresh(text)
        one = element(whole.whole(), (name("_"),))
        one = (
            one if whole.rank == 1 else gast.Call(gast.Attribute(one, "copy", gast.Load()), [], [])
        )
        self.writer.emit(assign(own, listed(one, "_", call("range", whole.shape[0].text))))
        return ListNode(own, fact.item)

    def _parts(self, rows: ListNode, part: int, fact: Any, text: str) -> ListNode:
        """A list of a part of each tuple of a list."""
        own = self.writer.fresh(text)
        one = field(element(name(rows.text), (name("_"),)), part)
        source = call("range", call("len", name(rows.text)))
        self.writer.emit(assign(own, listed(one, "_", source)))
        return ListNode(own, fact.item)

    def _list_of(self, call_: gast.Call, core: str) -> Any:
        if core in self.nests:
            return self._nested(core)
        if not call_.args:
            return ListNode("", None)
        items = [self._node(each) for each in call_.args]
        if not all(isinstance(each, Node) for each in items):
            raise NotNative("a list of lists")
        texts = [self._item(e, a) for e, a in zip(items, call_.args, strict=True)]
        own = self.writer.fresh(self._text(core))
        self.writer.emit(assign(own, gast.List(texts, gast.Load())))
        return ListNode(own, self.program.facts[core].item)

    def _nested(self, core: str) -> ListNode:
        """A list of lists that is one stack, or one of its inner lists."""
        nest, writer = self.nests[core], self.writer
        if core in nest.outer:
            kinds = values.List(nest.item), values.List(values.Scalar(int))
            items, ends = (self._as_list(ListNode("", None), e, stack=True) for e in kinds)
            nest.stacks = items, ends
            writer.carry(text for each in nest.stacks for text in (each.text, each.count))
        return nest.stacks[core in nest.outer]

    def _append(self, line: Line) -> None:
        items = self._growing(line)
        value = self._node(line.expression)
        if (
            not isinstance(value, Node | ListNode)
            or not isinstance(items, ListNode)
            or not items.text
        ):
            raise NotNative("a list of such items")
        if items.count:
            value = variable(value.count, np.dtype(int)) if isinstance(value, ListNode) else value
            self._push(items, value)
            return
        if isinstance(value, ListNode):
            item: Expression = name(self._as_list(value, items.item).text)
        else:
            dtype = dtype_of(items.item)
            if values.rank_of(items.item) != value.rank:
                raise NotNative("a list of items of several ranks")
            if dtype is not None:
                value = self._as_item(value, self.program.facts[line.statement.target].item)
            item = self._item(value, line.expression)
        append = gast.Attribute(name(items.text), "append", gast.Load())
        made = gast.Call(append, [item], [])
        self.writer.emit(gast.Expr(made))

    def _push(self, items: ListNode, value: Any) -> None:
        """Put a value on a stack, which gets more room where it may be full."""
        writer, dtype = self.writer, dtype_of(items.item)
        if not isinstance(value, Node) or value.rank != values.rank_of(items.item):
            raise NotNative("a list of items of several ranks")
        value = writer.cast(value, dtype)
        count = name(items.count)
        if not items.is_exact:
            is_full = compare(count, gast.Eq, call("len", name(items.text)))
            more = assign(items.text, call("roomy", name(items.text)))
            writer.emit(if_(is_full, [with_origin(more, *writer.place)]))
        shape = [writer.length(each) for each in values.shape_of(items.item)]
        for one, other in zip(shape, value.shape, strict=True):
            writer.check_equal(one, other)
        with writer.loops(value.shape) as index:
            place = element(name(items.text), (count, *index), store=True)
            writer.emit(assign(place, value.at(index)))
        writer.emit(gast.AugAssign(form.name(items.count), gast.Add(), number(1)))

    def _copied_to_push(self, lines: Sequence[Line]) -> set[str]:
        """The copies that the next statements put on a stack, while nothing changes."""
        copies: set[str] = set()
        found: set[str] = set()
        for each in lines:
            if each.kind == "assign" and each.expression.func.value in (np.copy, runtime.copied):
                copies.add(each.name)
            elif each.kind == "store" and each.store.kind == "append":
                value = each.expression
                stacks = (self.stacks, self.nests)
                if any(each.store.base in e for e in stacks) and getattr(value, "id", "") in copies:
                    found.add(value.id)
            else:
                copies.clear()
        return found

    def _make_room(self, moves: Line, loop: Line) -> None:
        """Note how many items a loop puts on the stacks that come into it, where that is known."""
        start, stop, step = map(self._known_now, loop.expression)
        if start is None or stop is None or step is None or value_of(step) not in (1, -1):
            return
        many = minus(stop, start) if value_of(step) == 1 else minus(start, stop)
        many = many if value_of(many) is not None else call("max", many, number(0))
        for core, _ in moves.moves:
            group = self.stacks.get(core, frozenset())
            appended = [e for e in flat([loop]) if _is_append(e, group)]
            others = [e for e in flat(self.lines) if _is_append(e, group)]
            if pushes(loop.blocks[0], group) == 1 and len(appended) == len(others):
                self.rooms[core] = many

    def _known_now(self, atom: gast.AST) -> Expression | None:
        """The text of a number that is read, if it is known already."""
        if isinstance(atom, gast.Name) and atom.id not in self.nodes:
            return None
        node = known_now(atom.value) if isinstance(atom, gast.Constant) else self.nodes[atom.id]
        return node.at(()) if isinstance(node, Node) else None

    def _growing(self, line: Line) -> Any:
        """The list that a line appends to, which is made where it is the first item."""
        base = line.store.base
        items = self._node(form.name(base))
        if isinstance(items, ListNode):
            fact = self.program.facts[line.statement.target]
            items = self._as_list(items, fact, stack=base in self.stacks)
            self.nodes[base] = items
        return items

    def _pop(self, line: Line) -> None:
        items = self._node(form.name(line.store.base))
        if items.count:
            self.writer.emit(gast.AugAssign(form.name(items.count), gast.Sub(), number(1)))
            if line.name in self.nests:
                self._take(self.nests[line.name], line.name)
            elif line.name:
                text = self.writer.fresh(self._text(line.name))
                last = element(name(items.text), (name(items.count),))
                self.writer.emit(assign(text, last))
                self._enter(line.name, text)
            return
        made = gast.Call(gast.Attribute(name(items.text), "pop", gast.Load()), [], [])
        if not line.name:
            self.writer.emit(gast.Expr(made))
            return
        text = self.writer.fresh(self._text(line.name))
        self.writer.emit(assign(text, made))
        self._enter(line.name, text)

    def _take(self, nest: Nest, core: str) -> None:
        """Let a name be the inner list that was put on a list of lists last."""
        items, ends = nest.stacks
        last = element(name(ends.text), (name(ends.count),))
        self.writer.emit(assign(items.count, last))
        self.nodes[core] = items

    def _store_item(self, line: Line, items: ListNode) -> None:
        """items[i] = value"""
        index, value = self._param(line.index), self._node(line.expression)
        items = self._as_list(items, self.program.facts[line.statement.target])
        self.nodes[line.store.base] = items
        dtype = dtype_of(items.item)
        self._settle()
        at, is_slice = self._place(items, index), isinstance(index, slice)
        if isinstance(value, ListNode) and value.text and is_slice and line.store.kind == "set":
            given: Expression = name(value.text)
        elif not isinstance(value, Node) or dtype is None or is_slice:
            raise NotNative("such an item of a list")
        elif value.rank != values.rank_of(items.item):
            raise NotNative("a list of items of several ranks")
        elif value.dtype.kind == "b" != dtype.kind:
            raise NotNative("a truth among the numbers of a list")
        else:
            value = self._as_item(value, self.program.facts[line.statement.target].item)
            given = self._item(value, line.expression)
        if line.store.kind != "set":
            given = binary(gast.Subscript(name(items.text), at, gast.Load()), gast.Add, given)
        self.writer.emit(assign(gast.Subscript(name(items.text), at, gast.Store()), given))

    def _as_item(self, value: Node, item: Any) -> Node:
        """A value as an item of a list; of one that holds numbers of Python's beside NumPy's each
        stays what it is, which numbers of one dtype cannot."""
        dtype = dtype_of(item)
        differs = values.is_single(item) or values.is_complex(item)
        is_other = value.constant != 0 and value.dtype != dtype
        if values.is_of_two_kinds(item) and differs and is_other:
            raise NotNative("a list of numbers of Python's and of NumPy's")
        return self.writer.cast(value, dtype)

    def _place(self, items: ListNode, index: Any) -> Expression:
        """The index of an item, which there has to be."""
        if isinstance(index, slice):
            parts = (index.start, index.stop, index.step)
            return gast.Slice(*(None if each is None else whole_number(each) for each in parts))
        return call("within", whole_number(index), call("len", name(items.text)))

    def _item_of(self, items: ListNode, index: Any, core: str) -> None:
        """items[i] as a value: an item that is an array is no copy."""
        if not items.text:
            raise NotNative("an item of an empty list")
        text, at = self.writer.fresh(self._text(core)), self._place(items, index)
        self.writer.emit(assign(text, gast.Subscript(name(items.text), at, gast.Load())))
        self._enter(core, text)

    def _as_list(
        self, node: ListNode, fact: Any, *, stack: bool = False, room: Expression | None = None
    ) -> ListNode:
        """A list that has a name: an empty one is made for items of the kind that come.

        Args:
            room: how many items will come at most, where that is known.
        """
        if node.text:
            return self._with_items(node, fact.item)
        text = self.writer.fresh("saved")
        if stack:
            many = Length(number(ROOM), ROOM) if room is None else Length(room, values.fresh_dim())
            shape = (many, *map(self.writer.length, values.shape_of(fact.item)))
            made = self.writer.allocation(dtype_of(fact.item), shape, "empty")
            self.writer.emit(assign(text, made))
            count = self.writer.fresh("filled")
            self.writer.emit(assign(count, number(0)))
            return ListNode(text, fact.item, count, room is not None)
        self.writer.emit(assign(text, self._empty_list(fact)))
        return ListNode(text, fact.item)

    def _with_items(self, node: ListNode, item: Any) -> ListNode:
        """The list, or one of its items as another kind of numbers: [0] that will hold floats."""
        if node.count or _kinds(node.item) == _kinds(item):
            return node
        (own, rank), (dtype, same_rank) = _kinds(node.item), _kinds(item)
        if rank or same_rank or own is None or dtype is None or not np.can_cast(own, dtype):
            raise NotNative("a list of several kinds of items")
        one = cast(name("item"), own, dtype)
        text = self.writer.fresh(node.text)
        self.writer.emit(assign(text, listed(one, "item", name(node.text))))
        return ListNode(text, item)

    def _empty_list(self, fact: Any) -> Expression:
        """An empty list of a known type; a comprehension, which says it too, is slow to compile."""
        return binary(self._list_of_one(fact), gast.Mult, number(0))

    def _list_of_one(self, fact: Any) -> Expression:
        item = fact.item
        if isinstance(item, values.List):
            one = self._list_of_one(item)
        elif dtype_of(item) is None or values.rank_of(item) is None:
            raise NotNative("a list of which is not known what it holds")
        elif values.rank_of(item) == 0:
            one = cast(number(0), np.dtype(int), dtype_of(item))
            one = gast.Constant(False, None) if dtype_of(item).kind == "b" else one
        else:
            shape = (Length(number(0), 0),) * values.rank_of(item)
            one = self.writer.allocation(dtype_of(item), shape, "empty")
        return gast.List([one], gast.Load())


def _kinds(item: Any) -> tuple[Any, Any]:
    """The dtype and the rank of an item; of a list those of what it holds, in a tuple."""
    if isinstance(item, values.List):
        return _kinds(item.item), "list"
    return dtype_of(item), values.rank_of(item)


def _is_append(line: Line, group: frozenset[str]) -> bool:
    return line.kind == "store" and line.store.kind == "append" and line.store.base in group


def whole_number(index: Any) -> Expression:
    return number(index) if type(index) is int else getattr(index, "node", index).at(())


def _zeros(items: Expression, fact: Any) -> Expression:
    """A list like another one, of zeros."""
    item = fact.item
    if isinstance(item, values.List):
        one = _zeros(name("item"), item)
    elif values.rank_of(item) == 0 and dtype_of(item) is not None:
        one = constant_of(0, dtype_of(item), ()).at(())
    elif values.rank_of(item) and dtype_of(item) is not None:
        one = call("np.zeros_like", name("item"))
    else:
        raise NotNative("a list of which is not known what it holds")
    return listed(one, "item", items)
