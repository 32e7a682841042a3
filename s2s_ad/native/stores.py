"""Updates in place: of elements, of slices and under masks."""

from __future__ import annotations

from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.emit.lines import Line
from s2s_ad.emit.stores import Store
from s2s_ad.native import affine
from s2s_ad.native.indexing import Layout, layout_of
from s2s_ad.native.nodes import Index, ListNode, Node, NotNative
from s2s_ad.native.operations import broadcast_at
from s2s_ad.native.scalars import OPERATORS as OPERATORS_OF
from s2s_ad.native.scalars import cast
from s2s_ad.native.spelling import (
    Expression,
    add_to,
    assign,
    call,
    if_,
    name,
    number,
)
from s2s_ad.native.state import State


class Stores(State):
    """Writes updates in place."""

    def _store(self, line: Line) -> None:
        store, writer = line.store, self.writer
        if store.kind in ("append", "pop"):
            getattr(self, f"_{store.kind}")(line)
            return
        base = self._node(form.name(store.base))
        if isinstance(base, ListNode):
            self._store_item(line, base)
            return
        if not isinstance(base, Node) or not base.is_view:
            raise NotNative("an update of a value that no memory holds")
        changed = self._memory_of({store.base, *store.changed}) | base.reads
        layout, atom = _everything(base), line.expression
        if store.kind != "update":
            index = self._param(line.index)
            items = index if isinstance(index, tuple) else (index,)
            layout = layout_of(writer, items, base, None)
        value = self._node(atom)
        if not isinstance(value, Node):
            raise NotNative("a store of what is no value")
        if layout.mask is not None:
            self._settle(frozenset(changed))
            self._store_masked(base, layout, value, store.kind, changed)
            return
        value = self._apart(value, base, layout, changed, self._text(atom))
        self._settle(frozenset(changed))
        self._store_all(store, base, layout, value)

    def _store_all(self, store: Store, base: Node, layout: Layout, value: Node) -> None:
        """Store each element of a value at its index."""
        operator_ = store.operator if store.kind == "update" else None
        if not layout.shape:
            self._store_one(store.kind, operator_, layout.at(()), value, base)
            return
        if value.rank > len(layout.shape):
            raise NotNative("a store of more axes than there are")
        for one, other in zip(reversed(value.shape), reversed(layout.shape), strict=False):
            if one.dim != 1:
                self.writer.check_equal(one, other)
        with self.writer.loops(layout.shape) as index:
            at = broadcast_at(value, index)
            self._store_one(store.kind, operator_, layout.at(index), value, base, at)

    def _store_one(
        self, kind: str, operator_: Any, index: Index, value: Node, base: Node,
        at: Expression | None = None,
    ) -> None:  # fmt: skip
        at = value.at(()) if at is None else at
        at = cast(at, value.dtype, base.dtype)
        place = base.at(index)
        if not isinstance(place, gast.Subscript):
            raise NotNative("an update of a value that no memory holds")
        place = gast.Subscript(place.value, place.slice, gast.Store())
        if kind == "set":
            self.writer.emit(assign(place, at))
        elif kind in ("add", "add at"):
            self.writer.emit(add_to(place, at))
        else:
            operator_ = gast.Add if operator_ is None else OPERATORS_OF.get(operator_)
            if operator_ is None or base.dtype.kind == "b":
                raise NotNative("an update by such an operator")
            self.writer.emit(gast.AugAssign(place, operator_(), at))

    def _apart(self, value: Node, base: Node, layout: Layout, changed: set[str], text: str) -> Node:
        """The value, computed before where it reads other elements of what is changed."""
        if value.rank == 0:
            return self.writer.named(value, text) if layout.shape else value
        if not value.reads & changed:
            return value
        if layout.is_plain and self._reads_before(value, base, layout, changed):
            return value
        return self._copied(value, text)

    def _reads_before(self, value: Node, base: Node, layout: Layout, changed: set[str]) -> bool:
        """Whether a loop reads each element of what is changed before it stores it."""
        if value.rank > len(layout.shape):
            return False
        indices = [f"_{k}" for k in range(len(layout.shape))]
        at = tuple(map(name, indices))
        stored = self._forms(base.at(layout.at(at)))
        for each in gast.walk(broadcast_at(value, at)):
            if isinstance(each, gast.Subscript) and _root(each) in changed:
                read = self._forms(each)
                if stored is None or read is None or stored[0] != read[0]:
                    return False
                if not affine.comes_no_later(affine.distances(stored[1], read[1], indices)):
                    return False
        return True

    def _forms(self, node: gast.AST) -> tuple[str, list[affine.Form]] | None:
        """The array and the index of an element."""
        if not isinstance(node, gast.Subscript) or not isinstance(node.value, gast.Name):
            return None
        items = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
        if any(isinstance(each, gast.Slice) for each in items):
            return None
        return node.value.id, [affine.form_of(each, self.writer.meanings) for each in items]

    def _copied(self, value: Node, text: str) -> Node:
        """The value in memory that what is changed has no part in."""
        return self.writer.in_memory(value, text, own=value.whole is not None)

    def _store_masked(
        self, base: Node, layout: Layout, value: Node, kind: str, changed: set[str]
    ) -> None:
        """x[mask] = value"""
        writer = self.writer
        mask = layout.mask
        if mask.cost:
            mask = writer.in_memory(mask, "mask")
        if value.rank and value.cost:
            value = writer.in_memory(value, "value")
        if value.rank == 0:
            value = writer.named(value, "value")
        elif value.reads & changed:
            value = self._copied(value, "value")
        at = None
        if value.rank == 1:
            at = writer.fresh("filled")
            writer.emit(assign(at, number(0)))
        elif value.rank:
            raise NotNative("a store of several axes by a mask")
        with writer.loops(base.shape) as index:
            with writer.block() as body:
                read = value.at(())if at is None else value.at(
                    (call("within", name(at), value.shape[0].text),)
                )  # fmt: skip
                self._store_one(kind, None, index, value, base, read)
                if at is not None:
                    writer.emit(gast.AugAssign(form.name(at), gast.Add(), number(1)))
            writer.emit(if_(mask.at(index), body))
        if at is not None and value.shape[0].dim != 1:
            writer.refuse(gast.Compare(name(at), [gast.NotEq()], [value.shape[0].text]))


def _everything(base: Node) -> Layout:
    return Layout(base.shape, lambda index: index, (), True, frozenset())


def _root(node: gast.AST) -> str:
    while isinstance(node, gast.Subscript | gast.Attribute):
        node = node.value
    return getattr(node, "id", "")
