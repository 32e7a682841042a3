"""Branches and loops, and the values that they hand over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form, values
from s2s_ad.core.program import TEMPORARY
from s2s_ad.core.regions import Loop, region_of
from s2s_ad.emit.lines import Line
from s2s_ad.emit.provenance import with_origin
from s2s_ad.native.entries import dtype_of
from s2s_ad.native.nodes import (
    Length,
    ListNode,
    Node,
    NotNative,
    constant_of,
)
from s2s_ad.native.spelling import (
    Expression,
    assign,
    call,
    if_,
    loop,
    minus,
    name,
    negation,
    number,
    plus,
    same,
    times,
    value_of,
)
from s2s_ad.native.state import State
from s2s_ad.native.writer import node_of


class Blocks(State):
    """Writes branches and loops."""

    def _moves(self, line: Line) -> None:
        """Assignments that happen at once."""
        pairs: list[tuple[str, Expression]] = []
        counts: list[tuple[str, Expression]] = []
        contiguous: dict[str, bool] = {}
        self._settle()
        for core, atom in line.moves:
            if core in self.nests:  # the variables of the one stack
                self.nodes[core] = self._node(atom)
                continue
            is_missing = form.is_undefined(atom) or is_none(atom)
            if is_missing and not self._stands_in(core):
                if form.is_undefined(atom):
                    continue
                raise NotNative("None as a value")
            node = self._missing(self.program.facts[core]) if is_missing else self._node(atom)
            node, value = self._handed(core, atom, node)
            if core in self.stacks:
                self._move_count(core, node, counts)
                if node.is_exact:
                    self.exact.add(core)
            if core not in self.shown:
                self.shown[core] = self.writer.fresh(self._text(core))
            pairs.append((self.shown[core], value))
            contiguous[core] = isinstance(value, gast.Name) or not getattr(node, "rank", 0)
        pairs = [(target, value) for target, value in pairs if not same(name(target), value)]
        self.writer.carry([self.shown[core] for core, _ in line.moves if core in self.shown])
        if pairs or counts:
            self._assigned([*pairs, *counts])
        for core, is_contiguous in contiguous.items():
            self._enter(core, self.shown[core], contiguous=is_contiguous)

    def _handed(self, core: str, atom: gast.AST, node: Any) -> tuple[Any, Expression]:
        """A value as the variable of a name takes it."""
        fact = self.program.facts[core]
        if isinstance(node, ListNode):
            room = self.rooms.get(core)
            node = self._as_list(node, fact, stack=core in self.stacks, room=room)
            return node, name(node.text)
        if not isinstance(node, Node):
            raise NotNative(f"{node!r} as a value")
        dtype = dtype_of(fact)
        if dtype is None or node.rank != values.rank_of(fact):
            raise NotNative("values of several dtypes or ranks")
        if values.may_be_wider(fact) and not _is_exact_in(node, dtype):
            raise NotNative("a number of Python's that is wider than NumPy's of another path")
        node = self.writer.cast(node, dtype)
        return node, self._item(node, atom)

    def _move_count(self, core: str, node: ListNode, pairs: list) -> None:
        """Hand on how many items a stack has, with the array that holds them."""
        count = self.counts.get(core)
        if count is None:
            count = self.counts[core] = self.writer.fresh("filled")
        if count != node.count:
            pairs.append((count, name(node.count)))

    def _stands_in(self, core: str) -> bool:
        """Whether a value that a path lacks has a kind, so that something can stand in for it."""
        fact = self.program.facts[core]
        known = dtype_of(fact) is not None and values.rank_of(fact) is not None
        return known or isinstance(fact, values.List)

    def _missing(self, fact: Any) -> Any:
        """What stands for a value that a path does not have: nobody reads it there."""
        if isinstance(fact, values.List):
            return ListNode("", fact.item)
        dims = values.shape_of(fact) or (None,) * values.rank_of(fact)
        return constant_of(0, dtype_of(fact), tuple(map(self._length_or_none, dims)))

    def _length_or_none(self, dim: Any) -> Length:
        """A length where it is known: what keeps values side by side reads as many elements."""
        is_known = isinstance(dim, int) or (dim and self.writer.size_text(dim.size) is not None)
        return self.writer.length(dim) if is_known else Length(number(0), 0)

    def _assigned(self, pairs: list[tuple[str, Expression]]) -> None:
        names = {each for each, _ in pairs}
        read = {each.id for _, v in pairs for each in gast.walk(v) if isinstance(each, gast.Name)}
        if len(pairs) == 1 or not names & read:
            for target, value in pairs:
                self.writer.emit(assign(target, value))
            return
        target = gast.Tuple([form.name(t, gast.Store) for t, _ in pairs], gast.Store())
        self.writer.emit(assign(target, gast.Tuple([v for _, v in pairs], gast.Load())))

    def _block(self, lines: Sequence[Line]) -> list[gast.stmt]:
        with self.writer.block() as body:
            self._statements(lines)
        return body

    def _if(self, line: Line) -> None:
        condition = self._truth(line.expression)
        self._settle()
        place = self.writer.place
        then, orelse = (self._block(each) for each in line.blocks)
        self.writer.place = place
        if not then and not orelse:
            return
        if not then:
            then, orelse, condition = orelse, [], negation(condition)
        self.writer.emit(if_(condition, then, orelse))
        self._hand_over(line)

    def _hand_over(self, line: Line) -> None:
        """What blocks assign is known behind them, in the terms that hold there."""
        after = self._facts_after(line)
        for each in (e for block in line.blocks for e in block):
            for core, _ in each.moves if each.kind == "moves" else ():
                if core in self.shown:
                    self._enter(core, self.shown[core], fact=after.get(core))

    def _facts_after(self, line: Line) -> dict[str, Any]:
        """What holds for the variables of a loop behind it: lengths are those of the last pass."""
        region = None if line.statement is None else region_of(line.statement)
        if not isinstance(region, Loop):
            return {}
        leaves = region.leaves(region.body).carried
        before = map(self.program.fact, line.statement.operands)
        after = values.of_last_pass(map(self.program.facts.__getitem__, leaves), before)
        return dict(zip(leaves, after, strict=True))

    def _for(self, line: Line) -> None:
        writer = self.writer
        bounds = [self._node(each) for each in line.expression]
        texts = [each.at(()) for each in bounds]
        self._settle()
        place = writer.place
        text = writer.fresh(self._text(line.name) if self._is_named(line.name) else "step")
        start, stop, step = texts
        with writer.block() as body:
            self.nodes[line.name] = node_of(writer, text, self.program.facts[line.name])
            self._statements(line.blocks[0])
        writer.place = place
        if line.backwards:
            bounds_ = _reversed(start, stop, step)
        else:
            plain = value_of(step) == 1
            bounds_ = [start, stop] if plain else texts
            bounds_ = [stop] if plain and value_of(start) == 0 else bounds_
        writer.emit(loop(text, bounds_, body or [gast.Pass()]))
        writer.taken.discard(text)
        self._hand_over(line)

    def _is_named(self, core: str) -> bool:
        return bool(self.program.hints.get(core, TEMPORARY).text)

    def _while(self, line: Line) -> None:
        self._settle()
        place = self.writer.place
        test, body = line.blocks
        with self.writer.block() as statements:
            self._statements(test, [line.expression])
            condition = self._truth(line.expression)
            self._settle()
            self.pending.pop()
            tested = len(statements)
            self.writer.place = place
            if tested:
                self.writer.emit(if_(negation(condition), [with_origin(gast.Break(), *place)]))
            self._statements(body)
        self.writer.place = place
        head = form.constant(True) if tested else condition
        if getattr(head, "value", None) is True:
            head = self._always()
        self.writer.emit(gast.While(head, statements or [gast.Pass()], []))
        self._hand_over(line)

    def _always(self) -> gast.AST:
        """A variable that is true: Numba 0.68 never leaves `while True` where what leads to a break
        assigns a variable that the rest of the pass assigns, too."""
        text = self.writer.fresh("goes_on")
        self.writer.emit(assign(text, form.constant(True)))
        return name(text)

    def _break(self, line: Line) -> None:
        self.writer.emit(gast.Break())

    def _try(self, line: Line) -> None:
        """The body alone: where that raises, the text for NumPy answers, handlers and all."""
        self._settle()
        self._statements(line.blocks[0])
        self._hand_over(line)


def _reversed(start: Expression, stop: Expression, step: Expression) -> list[Expression]:
    """The bounds of a range from the last to the first."""
    if value_of(step) == 1:
        return [minus(stop, number(1)), minus(start, number(1)), number(-1)]
    if value_of(step) == -1:
        return [plus(stop, number(1)), plus(start, number(1))]
    many = call("len", call("range", start, stop, step))
    last = plus(start, times(minus(many, number(1)), step))
    return [last, minus(start, step), times(number(-1), step)]


def is_none(atom: gast.AST) -> bool:
    return isinstance(atom, gast.Constant) and atom.value is None


def _is_exact_in(node: Node, dtype: np.dtype) -> bool:
    """Whether a value is the same number in this dtype."""
    known = node.constant
    return node.dtype == dtype or (known is not None and dtype.type(known).item() == known)
