"""The program as code on variables: blocks opened, what is carried and updated one variable each.

Core binds a name once. Here a name may be assigned several times: a carried value is one variable
before, in and after its loop, an output of a branch is assigned on both sides, and the result of an
update in place is the variable whose memory it takes over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.core import form
from s2s_ad.core.callee import item_of, items_of
from s2s_ad.core.callers import Caller
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Attempt, Branch, Loop, region_of
from s2s_ad.core.rule import Field
from s2s_ad.emit.lines import Line, Moves
from s2s_ad.emit.stores import Store


class Opening:
    """Opens the blocks of a program whose names are apart."""

    def __init__(self, stores: Mapping[str, Store]):
        self.stores = stores
        self.atoms: dict[str, gast.AST] = {}  # what stands for a name
        self.aliases: dict[str, list[str]] = {}  # variable -> the names that it stands for too
        self.objects: dict[str, tuple[str, ...]] = {}  # a result -> what its attributes are called

    def atom(self, node: Any) -> Any:
        return form.substitute(node, self.atoms)

    def _alias(self, name: str, variable: str) -> None:
        """From now on the variable holds what the name stands for."""
        self.atoms[name] = form.name(variable)
        self.aliases.setdefault(variable, []).append(name)

    def body(self, program: Program) -> list[Line]:
        """The lines of a program or block, its outputs apart."""
        items = items_of(program)
        found: list[Line] = []
        for statement in program.body:
            found += self._statement(statement, items)
        return found

    def _statement(
        self, statement: form.Statement, items: dict[str, dict[int, str]]
    ) -> Iterator[Line]:
        if isinstance(statement, form.Effect):
            yield Line("effect", statement, expression=self.atom(statement.node))
            return
        name = statement.target
        item = item_of(statement)
        if item is not None:
            source, index = item
            first = items[source][index]
            if first != name:
                self._alias(name, self._variable(first))
            elif source in self.objects:
                call = form.operation(Field(self.objects[source][index]), [form.name(source)], {})
                yield Line("assign", statement, name, self.atom(call))
            return
        region, rule = region_of(statement), statement.rule
        used = items.get(name, {})
        if region is not None:
            opened = {Branch: self._branch, Loop: self._loop, Attempt: self._attempt}
            yield from opened[type(region)](statement, region, used)
        elif statement.function is runtime.list_pop:
            yield self._pop(statement, used)
        elif name in self.stores:
            yield from self._store(statement, self.stores[name])
        elif isinstance(rule, Caller) and rule.fields:
            yield from self._object(statement, rule, used)
        elif rule.count is not None:
            names = tuple(used.get(i) for i in range(rule.count))
            yield Line("unpack", statement, expression=self.atom(statement.call), names=names)
        else:
            yield Line("assign", statement, name, self.atom(statement.call))

    def _object(self, statement: form.Op, rule: Caller, used: dict[int, str]) -> Iterator[Line]:
        """A call whose results are attributes of one object."""
        name, call, alone = statement.target, self.atom(statement.call), rule.alone()
        if set(used) == {0} and alone is not None:
            call = form.operation(alone, call.args, {})
            yield Line("assign", statement, used[0], call)
            return
        self.objects[name] = rule.fields
        yield Line("assign", statement, name, call)

    # ---- updates in place

    def _store(self, statement: form.Op, store: Store) -> Iterator[Line]:
        name = statement.target
        if store.kind != "same":
            made, index = self._with_base(store), statement.parameters.get("index")
            value = statement.operands[1] if store.value is None else store.value
            yield Line(
                "store", statement, made.base, self.atom(value), self.atom(index), store=made
            )
        self._alias(name, self._variable(store.base))

    def _with_base(self, store: Store) -> Store:
        changed = {self._variable(each) for each in store.changed}
        base = self._variable(store.base)
        return Store(store.kind, base, frozenset({*changed, base}), store.operator)

    def _variable(self, name: str) -> str:
        return getattr(self.atoms.get(name), "id", name)

    def _pop(self, statement: form.Op, used: dict[int, str]) -> Line:
        store = self.stores.get(statement.target)
        if store is None:
            names = (used.get(0), used.get(1))
            return Line("unpack", statement, expression=self.atom(statement.call), names=names)
        made = self._with_base(store)
        if 1 in used:
            self._alias(used[1], made.base)
        return Line("store", statement, used.get(0, ""), store=made)

    # ---- regions

    def _bind(self, leaves: Sequence[str], operands: Sequence[gast.AST]) -> None:
        for leaf, operand in zip(leaves, operands, strict=True):
            self.atoms[leaf] = self.atom(operand)

    def _block(self, statement: form.Op, block: Program, outputs: Mapping[int, str]) -> list:
        """A block of a branch: its lines, and the outputs assigned at its end."""
        lines = self.body(block)
        atoms = block.outputs()
        moves = [(name, self.atom(atoms[i])) for i, name in sorted(outputs.items())]
        return [*lines, Line("moves", statement, moves=moves)]

    def _branch(self, statement: form.Op, region: Branch, used: dict[int, str]) -> Iterator[Line]:
        condition, *operands = statement.operands
        blocks = []
        for block in region.blocks:
            self._bind(block.leaves(), operands)
            blocks.append(self._block(statement, block, used))
        yield Line("if", statement, expression=self.atom(condition), blocks=tuple(blocks))

    def _attempt(self, statement: form.Op, region: Attempt, used: dict[int, str]) -> Iterator[Line]:
        last = region.count - 1
        outputs = {i: name for i, name in used.items() if i != last}
        blocks = []
        for number, block in enumerate(region.blocks):
            self._bind(block.leaves(), statement.operands)
            lines = self._block(statement, block, outputs)
            if last in used:
                lines[-1].moves.append((used[last], form.constant(number)))
            blocks.append(lines)
        yield Line("try", statement, blocks=tuple(blocks), errors=region.errors)

    def _loop(self, statement: form.Op, region: Loop, used: dict[int, str]) -> Iterator[Line]:
        parts = region.parts(statement.operands)
        leaves = region.leaves(region.body)
        before = [
            (leaf, self.atom(init))
            for leaf, init in zip(leaves.carried, parts.carried, strict=True)
        ]
        yield Line("moves", statement, moves=before)
        self._bind(leaves.fixed, parts.fixed)
        test, condition = [], None
        if region.test is not None:
            inner = region.leaves(region.test)
            self._bind(inner.carried, [form.name(each) for each in leaves.carried])
            self._bind(inner.fixed, parts.fixed)
            test = self.body(region.test)
            condition = self.atom(region.test.outputs()[0])
        lines = self.body(region.body)
        atoms, stop = region.results()
        after = [(leaf, self.atom(atom)) for leaf, atom in zip(leaves.carried, atoms, strict=True)]
        end = Line("moves", statement, moves=after)
        lines.append(end)
        if stop is not None:
            _leave(lines, self.atom(stop), end, statement)
        for position, name in used.items():
            self._alias(name, leaves.carried[position])
        if region.is_for:
            bounds = [self.atom(each) for each in parts.bounds]
            yield Line(
                "for",
                statement,
                leaves.bounds[0],
                bounds,
                blocks=(lines,),
                backwards=region.backwards,
            )
        else:
            yield Line("while", statement, expression=condition, blocks=(test, lines))


def _leave(lines: list[Line], stop: gast.AST, end: Line, statement: form.Op) -> None:
    """Leave the loop where `stop` is true, as early as a branch knows it."""
    if isinstance(stop, gast.Constant):
        if stop.value:
            lines.append(Line("break", statement))
        return
    if _leave_inside(lines[:-1], stop, end, statement):
        return
    leaving = [Line("break", statement)]
    lines.append(Line("if", statement, expression=stop, blocks=(leaving, [])))


def _leave_inside(body: list[Line], stop: gast.AST, end: Line, statement: form.Op) -> bool:
    """Put `break` into the branch at the end of the body that says whether the loop ends."""
    last = body[-1] if body else None
    if last is None or last.kind != "if" or not isinstance(stop, gast.Name):
        return False
    values = [value for value in _said(last, stop) if value is not None]
    if len(values) < len(last.blocks) or not all(map(_is_decided, values, last.blocks)):
        return False
    handed_on = any(stop.id in form.reads(atom) for _, atom in end.moves)
    for block, value in zip(last.blocks, values, strict=True):
        moves = block[-1]
        if not handed_on:
            moves.moves = [each for each in moves.moves if each[0] != stop.id]
        known = isinstance(value, gast.Constant)
        if known and value.value is True:
            block += [Line("moves", statement, moves=list(end.moves)), Line("break", statement)]
        elif not known:
            inner = block[-2].blocks
            for each in inner:
                each[-1].moves += _resolved(moves.moves, each[-1].moves)
            moves.moves = []
            _leave_inside(block[:-1], value, end, statement)
    return True


def _said(branch: Line, stop: gast.Name) -> list[gast.AST | None]:
    """The value of `stop` on each side of a branch, where that is known."""
    if getattr(branch.expression, "id", None) == stop.id:
        return [form.constant(True), form.constant(False)]
    return [dict(block[-1].moves).get(stop.id) for block in branch.blocks]


def _is_decided(value: gast.AST, block: list[Line]) -> bool:
    """Whether a side knows if the loop ends, or a branch at its end does."""
    if isinstance(value, gast.Constant):
        return isinstance(value.value, bool)
    inner = block[-2] if len(block) > 1 else None
    if inner is None or inner.kind != "if" or not isinstance(value, gast.Name):
        return False
    values = _said(inner, value)
    return all(
        each is not None and _is_decided(each, b)
        for each, b in zip(values, inner.blocks, strict=True)
    )


def _resolved(moves: Moves, inner: Moves) -> Moves:
    """Moves that come after others, said in the terms before them."""
    atoms = dict(inner)
    return [(name, form.substitute(atom, atoms)) for name, atom in moves]


__all__ = ["Opening"]
