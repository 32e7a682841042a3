"""Arrays that a pass of a loop changes in some elements: what they were before, from what they are.

Where `b = index_set(a, i, v)`, so is `a = index_set(b, i, a[i])`. So the elements that a store
overwrites are kept, and not the array.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


def restoring(program: Program, places: Mapping[int, tuple[str, str]]) -> Restoring | None:
    """The arrays of these places, (at the start, at the end of a pass), that can be restored."""
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
    writer, before = _writer(program), {}
    instead: dict[str, form.Op] = {}
    for statement in (each for chain in chains.values() for each in chain):
        array = statement.operands[0].id
        before[statement.target], instead[array] = _restored(writer, statement, array)
    body = [
        each
        for statement in program.body
        for each in (*before.get(statement.target, ()), statement)
    ]
    made = program.with_(body=tuple(body), facts=writer.facts, hints=writer.hints)
    starts = {places[place][0] for place in chains}
    after = {places[place][1]: place for place in chains}
    overwritten = [each.target for reading in before.values() for each in reading]
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
    array = statement.operands[0].id
    _, restored = _restored(writer, statement, array)
    return getattr(restored.operands[1], "id", None) == array


def _writer(program: Program) -> Builder:
    builder = Builder()
    builder.facts, builder.hints = dict(program.facts), dict(program.hints)
    return builder


def _restored(
    writer: Builder, statement: form.Op, array: str
) -> tuple[list[form.Statement], form.Op]:
    """(what reads the elements before the store, what puts them back)."""
    index = statement.parameters["index"]
    atoms = {name: Symbol(writer, name) for name in writer.facts}
    first = len(writer.body)
    with writer.at(statement.origin, statement.phase):
        old = writer.call(operator.getitem, (atoms[array], writer.view(index, atoms)), {})
    reading = writer.body[first:]
    operands = [form.name(statement.target), to_node(old)]
    return reading, statement.beside(array, runtime.index_set, operands, {"index": index})
