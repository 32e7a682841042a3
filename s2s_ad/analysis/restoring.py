"""Arrays that a pass of a loop changes in some elements: what they were before, from what they are.

Where `b = index_set(a, i, v)`, so is `a = index_set(b, i, a[i])`. So the elements that a store
overwrites are kept, and not the array.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import gast

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, to_node
from s2s_ad.core.program import Program


@dataclass(frozen=True, slots=True)
class Restoring:
    """How the arrays are had again that passes change.

    Attributes:
        program: with statements that read what is overwritten.
        leaves: what a pass starts from.
        again: how that, and what is between two stores, is had again.
        after: what a pass leaves -> the place where the loop carries it.
        overwritten: the elements that are put back.
        indices: where they are put back, where that was computed from the array that is restored.
    """

    program: Program
    leaves: set[str]
    again: dict[str, form.Op]
    after: dict[str, int]
    overwritten: list[str]
    indices: list[str]


def restoring(
    program: Program, places: Mapping[int, tuple[str, str]], needed: Collection[str]
) -> Restoring | None:
    """The arrays of these places, (at the start, at the end of a pass), that can be restored.

    Args:
        needed: what the second half has in any case: of elements among them nothing else is kept.
    """
    computed = {e.target: e for e in program.body if isinstance(e, form.Op)}
    scratch = _writer(program)
    chains = {
        place: chain
        for place, (start, end) in places.items()
        if values.shape_of(program.facts[start])
        and (chain := _chain(computed, start, end))
        and not any(_overwrites_all(scratch, each) for each in chain)
    }
    if not chains:
        return None
    writer, before, read = _writer(program), {}, _reads_before(program, needed)
    instead: dict[str, form.Op] = {}
    overwritten: list[str] = []
    for statement in (each for chain in chains.values() for each in chain):
        array = statement.operands[0].id
        known = read.get(statement.target)
        reading, old = _old(writer, statement) if known is None else ([], known)
        before[statement.target], instead[array] = reading, _restored(statement, old)
        overwritten += [each.target for each in reading] if known is None else [known]
    body = [
        each
        for statement in program.body
        for each in (*before.get(statement.target, ()), statement)
    ]
    made = program.with_(body=tuple(body), facts=writer.facts, hints=writer.hints)
    starts = {places[place][0] for place in chains}
    after = {places[place][1]: place for place in chains}
    return Restoring(made, starts, instead, after, overwritten, _circular(computed, instead))


def _circular(computed: Mapping[str, form.Op], instead: Mapping[str, form.Op]) -> list[str]:
    """The indices that a store needs to be undone and that are known only when it is.

    `x[x > 1.0] *= 2.0` changes what the mask was computed from.
    """
    ways = {**computed, **instead}
    return [
        name
        for array, restored in instead.items()
        for name in form.reads(restored.parameters["index"])
        if array in _ancestors(name, ways)
    ]


def _ancestors(name: str, ways: Mapping[str, form.Op]) -> set[str]:
    """What a value is computed from."""
    waiting, found = [name], set()
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += ways[each].reads if each in ways else ()
    return found


def _chain(computed: Mapping[str, form.Op], start: str, end: str) -> Sequence[form.Op]:
    """The updates that lead from one name to the other; none where it is not so."""
    found = []
    while end != start:
        statement = computed.get(end)
        if statement is None or not statement.rule.updates:
            return ()
        found.append(statement)
        end = getattr(statement.operands[0], "id", "")
    return found[::-1]


def _overwrites_all(writer: Builder, statement: form.Op) -> bool:
    """Whether what a store overwrites is the array itself, so that nothing less could be kept."""
    _, old = _old(writer, statement)
    return old == statement.operands[0].id


def _reads_before(program: Program, needed: Collection[str]) -> dict[str, str]:
    """The updates before which the elements that they change were read: what these are called."""
    read: dict[tuple[str, str], str] = {}
    found: dict[str, str] = {}
    for each in program.body:
        if not isinstance(each, form.Op) or "index" not in each.parameters or not each.operands:
            continue
        elements = getattr(each.operands[0], "id", ""), gast.dump(each.parameters["index"])
        if each.rule.updates and elements in read:
            found[each.target] = read[elements]
        elif each.function is operator.getitem and each.target in needed:
            read.setdefault(elements, each.target)
    return found


def _writer(program: Program) -> Builder:
    builder = Builder()
    builder.facts, builder.hints = dict(program.facts), dict(program.hints)
    return builder


def _old(writer: Builder, statement: form.Op) -> tuple[list[form.Statement], str]:
    """(what reads the elements that a store changes before it does, what these are called)."""
    atoms = {name: Symbol(writer, name) for name in writer.facts}
    first, (array, *_) = len(writer.body), statement.operands
    with writer.at(statement.origin, statement.phase):
        index = writer.view(statement.parameters["index"], atoms)
        old = writer.call(operator.getitem, (atoms[array.id], index), {})
    return writer.body[first:], to_node(old).id


def _restored(statement: form.Op, old: str) -> form.Op:
    """The store that puts the elements back."""
    operands, index = [form.name(statement.target), form.name(old)], statement.parameters["index"]
    return statement.beside(statement.operands[0].id, runtime.index_set, operands, {"index": index})
