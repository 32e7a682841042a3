"""Temporaries go back into the expressions that read them, where that reads better and is safe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.core import form, tree
from s2s_ad.core.callee import callee_of, has_effect, item_of, items_of
from s2s_ad.core.program import Program
from s2s_ad.core.registry import rule_for
from s2s_ad.emit.stores import Stores
from s2s_ad.emit.surface import Surface

LARGEST = 7  # operations in an expression that we compose; the user's own may be larger


@dataclass(slots=True)
class Line:
    """One statement to come: `name = expression`, a store into `name`, or an effect."""

    kind: str  # "assign", "alias", "store", "unpack", "effect"
    statement: form.Statement
    name: str = ""
    expression: Any = None
    index: Any = None
    names: tuple[str | None, ...] = ()  # of the outputs that a call is unpacked into


class Refold:
    """Walks the body once; what is folded waits in `pending` until it is read."""

    def __init__(self, program: Program, stores: Stores, surface: Surface):
        self.program, self.stores, self.surface = program, stores, surface
        self.counts = liveness.counts(program.body, program.outputs())
        self.pending: dict[str, gast.AST] = {}
        self.sizes: dict[str, int] = {}
        self.outputs = {a.id for a in program.outputs() if isinstance(a, gast.Name)}
        self.items = items_of(program)
        self.blocked = self._blocked()

    def _blocked(self) -> set[str]:
        """Names whose single reader lies behind a store that changes what they were computed of."""
        readers: dict[str, int] = {}
        position = {}
        for place, statement in enumerate(self.program.body):
            readers.update(dict.fromkeys(form.reads(statement), place))
            if not form.is_effect(statement):
                position[form.target(statement)] = place
        stores = [
            (place, self.stores.changed[form.target(statement)])
            for place, statement in enumerate(self.program.body)
            if not form.is_effect(statement) and form.target(statement) in self.stores.in_place
        ]
        blocked = set()
        for place, changed in stores:
            for statement in self.program.body[:place]:
                if form.is_effect(statement):
                    continue
                name = form.target(statement)
                late = readers.get(name, -1) > place or name in self.outputs
                if late and changed & self._sources(name, position):
                    blocked.add(name)
        return blocked

    def _sources(self, name: str, position: dict[str, int]) -> set[str]:
        """All names that folding `name` may move: its operands, and theirs."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            place = position.get(waiting.pop())
            if place is None:
                continue
            for each in form.reads(self.program.body[place]):
                if each not in found:
                    found.add(each)
                    waiting.append(each)
        return found

    def lines(self) -> list[Line]:
        found = []
        for statement in self.program.body:
            if form.is_effect(statement):
                found.append(Line("effect", statement, expression=self._effect(statement)))
                continue
            name = form.target(statement)
            if item_of(statement) is not None:
                continue  # named where the call is unpacked
            call = callee_of(statement)
            if call is not None and call.several:
                found.append(self._unpack(statement, len(call.program.outputs())))
                continue
            if name in self.stores:
                found += self._store(statement, name)
                continue
            expression, size = self._composed(statement)
            if self._folds(statement, name, size):
                self.pending[name], self.sizes[name] = expression, size
            else:
                found.append(Line("assign", statement, name, expression))
        return found

    def output(self) -> Any:
        """What is returned, with what was folded."""
        return tree.tree_map(
            lambda atom: self.surface.spelled(form.substitute(atom, self.pending)),
            self.program.output,
        )

    def _unpack(self, statement: gast.Assign, count: int) -> Line:
        """a, b = cell(x): the outputs that are used have a name."""
        used = self.items.get(form.target(statement), {})
        names = tuple(used.get(i) for i in range(count))
        expression, _ = self._composed(statement)
        return Line("unpack", statement, expression=expression, names=names)

    def _effect(self, statement: form.Statement) -> gast.AST:
        return self.surface.spelled(form.substitute(statement, self.pending))

    def _composed(self, statement: gast.Assign) -> tuple[gast.AST, int]:
        expression = self.surface.expression(statement.value)
        inner = [each for each in form.reads(expression) if each in self.pending]
        size = 1 + sum(self.sizes[each] for each in inner)
        return form.substitute(expression, self.pending), size

    def _store(self, statement: gast.Assign, name: str) -> list[Line]:
        base, value = statement.value.args
        lines = []
        if name in self.stores.copied:
            copy = gast.Attribute(self._folded(base), "copy", gast.Load())
            lines.append(Line("assign", statement, name, gast.Call(copy, [], [])))
        elif base.id in self.pending:
            lines.append(Line("assign", statement, name, self.pending.pop(base.id)))
        else:
            lines.append(Line("alias", statement, name, base))
        index = self._folded(statement.value.keywords[0].value)
        lines.append(Line("store", statement, name, self._folded(value), index))
        return lines

    def _folded(self, node: gast.AST) -> gast.AST:
        return form.substitute(self.surface.spelled(node), self.pending)

    def _folds(self, statement: gast.Assign, name: str, size: int) -> bool:
        """Whether the value is better read where it is used."""
        rule = rule_for(form.function_of(statement))
        if name in self.blocked or form.function_of(statement) is runtime.index_add:
            return False
        if has_effect(statement):
            return False  # where it stands is when it prints
        hint = self.program.hints.get(name)
        if hint is not None and hint.kind != "temporary":
            return False
        if name in self.outputs:
            return self.counts[name] == 1 and not self._is_tree() and size <= LARGEST
        again = rule.cheap or is_plain_view(statement)
        if again and not any(self.sizes.get(each, 0) for each in form.reads(statement)):
            return True  # shorter to write again than to name
        if self._read_by_effect(name):
            return False
        return self.counts[name] == 1 and (size < LARGEST or self._is_users(statement))

    def _is_users(self, statement: gast.Assign) -> bool:
        """Part of a larger expression that the user wrote as one."""
        return statement.phase in ("", "forward") and bool(statement.origin)

    def _is_tree(self) -> bool:
        return not isinstance(self.program.output, gast.AST)

    def _read_by_effect(self, name: str) -> bool:
        return any(form.is_effect(s) and name in form.reads(s) for s in self.program.body)


def is_plain_view(statement: gast.Assign) -> bool:
    """x[1:], x[:, None] or x.T of a name: cheaper to write again than to keep."""
    value = statement.value
    rule = rule_for(value.func.value)
    if not rule.view or not value.args or not isinstance(value.args[0], gast.Name):
        return False
    params: Sequence[gast.AST] = [each.value for each in value.keywords]
    atoms = [atom for each in params for atom in form.atoms_of(each)]
    plain = rule.name in ("getitem", "transpose", "expand_dims")
    return plain and all(isinstance(atom, gast.Constant) for atom in atoms)
