"""What one operation does to memory: views, lists, updates in place, calls of functions."""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.analysis.cells import NUMBER, OUTSIDE, Cells, Edge, Held, Site
from s2s_ad.analysis.indices import index_kind, index_text
from s2s_ad.core import tree, values
from s2s_ad.core.callee import Compound
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Path
from s2s_ad.core.rule import ITEM, Rule
from s2s_ad.core.saved import PACK


@dataclass(slots=True)
class Place:
    """A statement, and what the names of its block hold."""

    program: Program
    path: Path
    position: int
    statement: Any  # an operation; None at the end of a block
    held: Mapping[str, Held]

    @property
    def site(self) -> Site:
        return self.path, self.position

    @property
    def target(self) -> str:
        return self.statement.target

    @property
    def operands(self) -> tuple[gast.AST, ...]:
        return self.statement.operands

    @property
    def index(self) -> gast.AST:
        return self.statement.parameters["index"]

    def atom(self, node: gast.AST) -> Held:
        return self.held.get(node.id, NUMBER) if isinstance(node, gast.Name) else NUMBER

    def fact(self, node: gast.AST) -> Any:
        return self.program.fact(node)

    def edge(self, kind: str, slot: int = 0, size: float = 1.0) -> Edge:
        return Edge(kind, self.path, self.position, slot, size)


class Operations(Cells):
    """The cells of the results of operations.

    Args:
        in_place: the statements whose result takes over the memory of an operand, and which one.
        cuts: where copies are put.
        by_parts: whether an array changes when a part of it does, as NumPy's do.

    Attributes:
        changed: statement in place -> the cell that it changes.
        same: statements in place whose result is in memory of ours already, `A = index_set(A, i,
            row)` where `row` is `A[i]` itself -> the cell of A.
        spared: statement in place that changes a copy -> the cell that it would change without.
    """

    def __init__(self, in_place: Mapping[Site, int], cuts: Collection[Edge], by_parts: bool):
        super().__init__(cuts)
        self.in_place, self.by_parts = in_place, by_parts
        self.changed: dict[Site, int] = {}
        self.same: dict[Site, Any] = {}
        self.spared: dict[Site, int] = {}

    def result(self, place: Place) -> Held:
        """What the result of an operation without blocks holds."""
        function = place.statement.function
        if isinstance(function, Compound) and not function.marker:
            return self._call(place, function)
        for special, walk in SPECIAL:
            if function is special:
                return walk(self, place)
        if isinstance(function, Rule) and function.view:
            return self._unpacked(place)
        if place.site in self.in_place:
            return Held(self._changed(place).own)
        return self._operation(place)

    def _fresh(self, place: Place) -> Held:
        """What an operation computes: a number, or new memory; or several of these."""
        fact = place.program.facts[place.target]
        if isinstance(fact, tree.Tree):
            keys = ((place.target, slot) for slot in range(len(fact.items)))
            return Held(parts=tuple(map(self._made, repeat(place), keys, fact.items)))
        return self._made(place, place.target, fact)

    def _made(self, place: Place, key: Any, fact: Any) -> Held:
        number = isinstance(fact, values.Array) and fact.shape == ()
        return NUMBER if number else self._new(place.path, key, fact)

    def _part(self, place: Place, base: Held) -> tuple[int, str] | None:
        """The part of an array or list that an index takes, where it is certain to be one."""
        is_list = isinstance(place.fact(place.operands[0]), values.List)
        cell = base.items if is_list else base.own
        if cell is None or (is_list and cell in self._repeating):
            return None
        return cell, index_text(place.index)

    def _operation(self, place: Place) -> Held:
        rule, operands = place.statement.rule, place.statement.operands
        is_view = rule.marker or rule.is_view(operands, place.program.fact)
        if not is_view or not operands:
            return self._fresh(place)
        return self._view(place, 0.9, overlapping=rule.overlapping)

    def _view(
        self, place: Place, size: float, *, overlapping: bool = False, of_items: bool = False
    ) -> Held:
        """A view of the first operand, or the operand itself; or of the items of a list alone."""
        source = place.atom(place.operands[0])
        if not source.cells and not overlapping:
            return self._fresh(place)  # of a number
        fact = place.program.facts[place.target]
        made = self._new(place.path, place.target, fact)
        edge = place.edge("view", size=size) if isinstance(fact, values.Array) else None
        if overlapping and made.own is not None and edge not in self.cuts:
            self._pair(made.own, OUTSIDE, (edge,), None)
        if not of_items:
            self._link(made.own, source.own, edge)
        self._link(made.own, source.items, edge)
        self._link(made.items, source.items)
        return made

    def _item(self, place: Place) -> Held:
        parts = place.atom(place.operands[0]).parts
        return parts[place.index.value] if parts else NUMBER

    def _unpacked(self, place: Place) -> Held:
        """Rows of an array, which are certain parts of it; of a vector numbers."""
        source, facts = place.atom(place.operands[0]), place.program.facts[place.target].items
        parts = []
        for slot, fact in enumerate(facts):
            made = self._made(place, (place.target, slot), fact)
            for cell in made.cells:
                self._link(cell, source.own)
                self._link(cell, source.items)
            if made.own is not None and source.own is not None:
                self.parts[made.own] = source.own, repr(slot)
            parts.append(made)
        return Held(parts=tuple(parts))

    def _getitem(self, place: Place) -> Held:
        base, index = place.operands[0], place.index
        fact, held = place.fact(base), place.atom(base)
        if isinstance(fact, values.List) and isinstance(index, gast.Slice):
            made = self._fresh(place)
            self._link(made.items, held.items)
            return made
        if isinstance(fact, values.List):
            made = self._view(place, 1.0, of_items=True)
            part = self._part(place, held)
        else:
            kind = index_kind(index, fact, place.program.fact)
            if kind in ("number", "new"):
                return self._fresh(place)
            made = self._view(place, 0.05 if kind == "row" else 0.8)
            known = kind in ("row", "slice")
            part = self._part(place, held) if known else None
        if part is not None and made.own is not None and place.edge("view") not in self.cuts:
            self.parts[made.own] = part
        return made

    def _call(self, place: Place, function: Compound) -> Held:
        """What a function returns is new; but lists may hold what it was given.

        What it saves may hold anything, its other results too; so may what is unpacked of that.
        """
        fact = place.program.facts[place.target]
        facts = fact.items if function.several else (fact,)
        given = [cell for each in place.operands for cell in place.atom(each).cells]
        results = []
        for slot, each in enumerate(facts):
            made = self._made(place, (place.target, slot), each)
            is_open = isinstance(each, values.Unknown | values.Saved) or not function.blocks
            beside = [cell for other in results for cell in other.cells]
            sources = [*given, *beside] if isinstance(each, values.Saved) else given
            for cell in made.cells if is_open else [made.items]:
                for source in [OUTSIDE, *sources]:
                    self._link(cell, source)
            results.append(made)
        return Held(parts=tuple(results)) if function.several else results[0]

    # ---- updates

    def _changed(self, place: Place, *, kept: bool = False) -> Held:
        """What the operand that is changed holds; a copy of it where one is put.

        `kept` says that only the copy is changed: the operand holds the result already.
        """
        base = place.atom(place.operands[self.in_place[place.site]])
        if place.edge("update") in self.cuts:
            fact = place.program.facts[place.target]
            if isinstance(fact, tree.Tree):
                fact = fact.items[1]  # of a pop
            if base.own is not None and not kept:
                self.spared[place.site] = base.own
            return Held(self._new(place.path, place.target, fact).own, base.items)
        if base.own is not None:
            self.changed[place.site] = base.own
        return base

    def _index_add(self, place: Place) -> Held:
        if place.site in self.in_place:
            return Held(self._changed(place).own)
        return self._with_items(place, self._fresh(place), place.operands, 1)

    def _index_set(self, place: Place) -> Held:
        if place.site not in self.in_place:
            return self._with_items(place, self._fresh(place), place.operands, 1)
        base, value = (place.atom(each) for each in place.operands)
        part = self._part(place, base)
        known = self.by_parts and part is not None
        kept = known and value.own is not None and self.parts.get(value.own) == part
        if kept and place.edge("update") not in self.cuts:
            self.same[place.site] = base.own
            return base
        own = self._changed(place, kept=kept).own
        if not isinstance(place.fact(place.operands[0]), values.List):
            return Held(own)
        return self._with_items(place, Held(own), place.operands, 1)

    def _append(self, place: Place) -> Held:
        known = place.site in self.in_place
        made = Held(self._changed(place).own) if known else self._fresh(place)
        return self._with_items(place, made, place.operands, 1)

    def _list(self, place: Place) -> Held:
        return self._with_items(place, self._fresh(place), place.operands, 0)

    def _join(self, place: Place) -> Held:
        return self._with_items(place, self._fresh(place), place.operands, 2)

    def _with_items(
        self, place: Place, made: Held, operands: Sequence[gast.AST], lists: int
    ) -> Held:
        """A list of the items of the first `lists` operands and of the other operands."""
        fact = place.program.facts[place.target]
        if isinstance(fact, values.Array | values.Scalar | values.Static):
            return made
        items = self._cell((place.path, place.target, "items"), place.path)
        entered: list[int] = []
        for slot, operand in enumerate(operands):
            source, edge = place.atom(operand), None
            if slot >= lists and is_copyable(place.fact(operand)):
                edge = place.edge("item", slot, 0.95)
            flows: list[tuple[int | None, Edge | None]] = [(source.items, None)]
            if slot >= lists:
                flows.append((source.own, edge))
            for cell, way in flows:
                if cell is None or way in self.cuts:
                    continue
                if any(cell == each or cell in self.sharing[each] for each in entered):
                    self._repeat(items)
                self._link(items, cell, way)
                entered.append(cell)
        return Held(made.own, items)

    def _rows(self, place: Place) -> Held:
        """A list of parts of an array."""
        made, operand = self._fresh(place), place.operands[0]
        edge = place.edge("item", 0) if is_copyable(place.fact(operand)) else None
        for cell in place.atom(operand).cells:
            self._link(made.items, cell, edge)
        return made

    def _pack(self, place: Place) -> Held:
        """What is saved holds what it is made of: none of that may be changed afterwards."""
        made = self._fresh(place)
        for cell in made.cells:
            for source in (
                each for operand in place.operands for each in place.atom(operand).cells
            ):
                self._link(cell, source)
        return made

    def _pop(self, place: Place) -> Held:
        """The item is not in the rest of the list, unless the list held it twice."""
        base = place.atom(place.operands[0])
        own = self._changed(place).own if place.site in self.in_place else None
        fact = place.program.facts[place.target].items[0]
        if own is None:
            own = self._cell((place.path, place.target, "own"), place.path)
        left = self._cell((place.path, place.target, "rest"), place.path)
        rest, item = Held(own, left), self._new(place.path, (place.target, 0), fact)
        self._link(left, base.items)
        apart = () if base.items in self._repeating else (left,)
        for cell in item.cells:
            self._link(cell, base.items, apart=apart)
        return Held(parts=(item, rest))


def is_copyable(fact: Any) -> bool:
    """Whether the value is certain to be an array with axes, or a list: what a copy is of."""
    return isinstance(fact, values.List) or (isinstance(fact, values.Array) and bool(fact.shape))


SPECIAL = (
    (ITEM, Operations._item),
    (operator.getitem, Operations._getitem),
    (runtime.index_add, Operations._index_add),
    (runtime.index_set, Operations._index_set),
    (runtime.list_append, Operations._append),
    (runtime.list_join, Operations._join),
    (runtime.list_of, Operations._list),
    (runtime.list_pop, Operations._pop),
    (runtime.list_rows, Operations._rows),
    (runtime.list_split, Operations._rows),
    (PACK, Operations._pack),
)
