"""The order of operations, where another one saves a copy."""

from __future__ import annotations

import operator

from s2s_ad.analysis.indices import index_kind
from s2s_ad.core import form, tree, values
from s2s_ad.core.callee import compound_of
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere

MOST = 4  # operations that are moved for one view


def readers_first(program: Program) -> Program:
    """What reads an array, or a part of it, goes before an update of the array, where it can.

    What is read after the update has to be a copy, once the update is in place; and an element that
    is read once needs no name.

    Example:
        >>> import numpy as np
        >>> from s2s_ad import runtime
        >>> from s2s_ad.check.passes import after
        >>> def f(a):
        ...     part = a[1:]
        ...     b = runtime.index_set(a, slice(1, None), 0.0)
        ...     return 2 * part, b
        >>> print(after(READERS_FIRST, f, np.ones(3)))
        f(a: f64[n]):
            part = a[1:]
            t1 = 2 * part
            b = index_set(a, 0.0, index=1:)
            return (t1, b)
    """
    if program.tried or not any(map(_is_update, program.body)):
        return program  # in `tried`, what may raise first decides on what happens next
    return program.with_(body=tuple(_Order(program).moved()))


def _is_update(statement: form.Statement) -> bool:
    return statement.rule.updates


class _Order:
    """The statements of a body while some of them move forward."""

    def __init__(self, program: Program):
        self.program = program
        self.body = list(program.body)
        self.handed_out = {getattr(atom, "id", None) for atom in program.outputs()}
        self.views: dict[str, list[str]] = {}  # an array -> the views of it so far
        self.definitions: dict[str, form.Statement] = {}
        self.readers: dict[str, list[form.Statement]] = {}
        self.positions: dict[form.Statement, int] = {}
        for position, statement in enumerate(self.body):
            self.positions[statement] = position
            for name in statement.reads:
                self.readers.setdefault(name, []).append(statement)
            if isinstance(statement, form.Op):
                self.definitions[statement.target] = statement

    def moved(self) -> list[form.Statement]:
        position = 0
        while position < len(self.body):
            statement = self.body[position]
            moved = self._movable(position) if _is_update(statement) else []
            self._note_view(statement)
            for offset, slot in enumerate(moved):
                self.body.insert(position + offset, self.body.pop(slot))
            for slot in range(position, moved[-1] + 1) if moved else ():
                self.positions[self.body[slot]] = slot
            position += 1 + len(moved)
        return self.body

    def _note_view(self, statement: form.Statement) -> None:
        if isinstance(statement, form.Op) and statement.operands:
            base = getattr(statement.operands[0], "id", None)
            single = statement.function is operator.getitem and self._has_one_reader(statement)
            if base is not None and (single or _may_be_view(self.program, statement)):
                self.views.setdefault(base, []).append(statement.target)

    def _has_one_reader(self, statement: form.Op) -> bool:
        """Whether a value is read once, where it may stand if nothing comes between."""
        name = statement.target
        return len(self.readers.get(name, ())) == 1 and name not in self.handed_out

    def _movable(self, position: int) -> list[int]:
        """The places of what reads the array as it was, or a view of it, after the update."""
        base = getattr(self.body[position].operands[0], "id", "")
        found: set[int] = set()
        for view in (base, *self.views.get(base, ())):
            needed = self._needed_by_readers(position, view)
            if needed and len(found | needed) <= MOST:
                found |= needed
        return sorted(found)

    def _needed_by_readers(self, position: int, view: str) -> set[int]:
        """The places after the update of what reads the view, and of what that reads in turn.

        Empty where one of them cannot move, or where they are too many.
        """
        if view in self.handed_out:
            return set()
        update = self.body[position].target
        waiting = [self.positions[each] for each in self.readers.get(view, ())]
        waiting = [slot for slot in waiting if slot > position]
        found: set[int] = set()
        while waiting:
            slot = waiting.pop()
            statement = self.body[slot]
            reads = statement.reads
            found.add(slot)
            if len(found) > MOST or update in reads or not _may_move(self.program, statement):
                return set()
            made = [self.positions[self.definitions[n]] for n in reads if n in self.definitions]
            waiting += [each for each in made if each > position]
        return found


def _may_be_view(program: Program, statement: form.Statement) -> bool:
    """Whether the result may share memory with the first operand: an element does not."""
    if statement.function is operator.getitem:
        index, fact = statement.parameters["index"], program.fact(statement.operands[0])
        return index_kind(index, fact, program.fact) not in ("number", "new")
    return statement.rule.is_view(statement.operands, program.fact)


def _may_move(program: Program, statement: form.Statement) -> bool:
    """Whether it computes new memory of arrays and numbers, and does nothing else."""
    if compound_of(statement) is not None or _is_update(statement):
        return False
    if statement.rule.effects or _may_be_view(program, statement):
        return False
    facts = [program.facts[statement.target], *map(program.fact, statement.operands)]
    return not any(isinstance(each, values.List | tree.Tree) for each in facts)


READERS_FIRST = Pass("readers-first", everywhere(readers_first))
