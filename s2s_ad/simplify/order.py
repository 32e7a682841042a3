"""The order of operations, where another one saves a copy."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import gast

from s2s_ad import runtime
from s2s_ad.analysis.indices import index_kind
from s2s_ad.core import form, tree, values
from s2s_ad.core.callee import compound_of
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere
from s2s_ad.core.registry import rule_for

MOST = 4  # operations that are moved for one view


def readers_first(program: Program) -> Program:
    """What reads a part of an array goes before an update of the array, where it can.

    Before: `part = a[i:j]; b = index_set(a, i:j, 0.0); y = 2 * part`, where `part` has to be a copy
    once the update is in place; after: `part = a[i:j]; y = 2 * part; b = index_set(a, i:j, 0.0)`.
    """
    if program.tried:
        return program  # what may raise first decides on what happens next
    body = list(program.body)
    position = 0
    while position < len(body):
        moved = _movable(program, body, position) if _is_update(body[position]) else []
        for offset, place in enumerate(moved):
            body.insert(position + offset, body.pop(place))
        position += 1 + len(moved)
    return program.with_(body=tuple(body))


def _is_update(statement: form.Statement) -> bool:
    functions = (runtime.index_add, runtime.index_set)
    return not form.is_effect(statement) and form.function_of(statement) in functions


def _movable(program: Program, body: Sequence[form.Statement], position: int) -> list[int]:
    """The places of what reads views of the updated array after the update, if all can move."""
    base = getattr(body[position].value.args[0], "id", None)
    views = {
        form.target(each)
        for each in body[:position]
        if not form.is_effect(each) and _is_view_of(program, each, base)
    }
    found: set[int] = set()
    for view in views:
        needed = _needed_by_readers(program, body, position, view)
        if needed and len(found | needed) <= MOST:
            found |= needed
    return sorted(found)


def _is_view_of(program: Program, statement: gast.Assign, base: str | None) -> bool:
    """Whether it is a view of the array."""
    operands = statement.value.args
    of_base = bool(operands) and getattr(operands[0], "id", None) == base
    return of_base and _may_be_view(program, statement)


def _may_be_view(program: Program, statement: gast.Assign) -> bool:
    """Whether the result may share memory with the first operand: an element does not."""
    call = statement.value
    rule = rule_for(call.func.value)
    if call.func.value is operator.getitem:
        index, fact = call.keywords[0].value, program.fact(call.args[0])
        return index_kind(index, fact, program.fact) not in ("number", "new")
    return rule is None or rule.is_view(call, program.fact)


def _needed_by_readers(
    program: Program, body: Sequence[form.Statement], position: int, view: str
) -> set[int]:
    """The places after the update of all that reads the view, and of what that reads in turn."""
    if any(getattr(atom, "id", None) == view for atom in program.outputs()):
        return set()
    places = range(position + 1, len(body))
    defined = {form.target(body[i]): i for i in places if not form.is_effect(body[i])}
    readers = [i for i in places if view in form.reads(body[i])]
    waiting, found = list(readers), set()
    while waiting:
        place = waiting.pop()
        statement = body[place]
        reads = form.reads(statement)
        if not _may_move(program, statement) or form.target(body[position]) in reads:
            return set()
        found.add(place)
        waiting += [defined[name] for name in reads if defined.get(name, place) < place]
    return found


def _may_move(program: Program, statement: form.Statement) -> bool:
    """Whether it computes new memory of arrays and numbers, and does nothing else."""
    if form.is_effect(statement) or compound_of(statement) is not None or _is_update(statement):
        return False
    rule = rule_for(form.function_of(statement))
    if rule is None or rule.effects or _may_be_view(program, statement):
        return False
    facts = [program.facts[form.target(statement)], *map(program.fact, statement.value.args)]
    return not any(isinstance(each, values.List | tree.Tree) for each in facts)


READERS_FIRST = Pass("readers first", everywhere(readers_first))
