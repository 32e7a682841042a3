"""Lists that grow in passes which not all samples make.

Each item holds a value for the samples that made its pass, and a second list holds the places of
these samples. That is all of it: there is no list for each sample. So such a list can be taken
from by a loop that mirrors the passes, and its length be counted; anything else is Ragged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callee import item_of
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Loop, block
from s2s_ad.core.rule import Operation, Ragged
from s2s_ad.transforms.batch.blocks import filled
from s2s_ad.transforms.batch.context import Batch, Kept, batched_fact


def places_fact(dim: values.Dim) -> values.List:
    return values.List(values.Array(np.dtype(np.intp), (dim,), selects=True))


def kept_fact(fact: values.List, dim: values.Dim) -> values.List:
    """The abstract value of the items, where a list of one sample has this one."""
    return values.List(batched_fact(fact.item, dim))


def popped(builder: Builder, items: Symbol) -> list[Symbol]:
    """(the last item, the rest)."""
    result = builder.call(runtime.list_pop, (items,), {})
    return [builder.emit_item(result, index) for index in range(2)]


# ---- appended to ---------------------------------------------------------------------------------


def appended_to(
    context: Batch, region: Loop, carried: Sequence[Any], moved: Sequence[bool]
) -> list[bool]:
    """Which carried values are lists that each pass appends one item to, and nothing else."""
    atoms, names = region.results()[0], region.leaves(region.body).carried
    found = []
    for fact, value, atom, name, flag in zip(
        region.facts, carried, atoms, names, moved, strict=True
    ):
        is_list = flag and isinstance(fact, values.List)
        if is_list and not (_is_empty(context, value) and _is_appended(region, atom, name)):
            raise Ragged
        found.append(is_list)
    return found


def _is_empty(context: Batch, value: Any) -> bool:
    rule, operands, _ = context.builder.definition(value)
    return rule is not None and rule.function is runtime.list_of and not operands


def _is_appended(region: Loop, atom: gast.AST, name: str) -> bool:
    made = _maker(region.body, atom)
    if made is None or made.function is not runtime.list_append:
        return False
    base = getattr(made.operands[0], "id", "")
    return base == name and _alone(region, name, atom) and not _is_tested(region, name)


def _is_tested(region: Loop, name: str) -> bool:
    """Whether the test of a `while` reads what this leaf of the body stands for."""
    if region.test is None:
        return False
    index = region.leaves(region.body).carried.index(name)
    return _reads(region.test, region.leaves(region.test).carried[index]) > 0


# ---- taken from ----------------------------------------------------------------------------------


def mirrored(context: Batch, region: Any, operands: Sequence[Any]) -> Kept | None:
    """What belongs to the lists that a loop takes one item from in each pass.

    None where it is given no such list; Ragged where it does anything else with one.
    """
    lists = [kept for each in operands if (kept := context.kept_of(each)) is not None]
    if not lists:
        return None
    if not isinstance(region, Loop) or not region.is_for or region.exits:
        raise Ragged
    parts, first = region.parts(operands), lists[0]
    same = all(kept.places.name == first.places.name for kept in lists)
    if not same or any(context.kept_of(each) for each in (*parts.bounds, *parts.fixed)):
        raise Ragged
    atoms, names = region.results()[0], region.leaves(region.body).carried
    taken = [
        _is_taken(region, atom, name)
        for value, atom, name in zip(parts.carried, atoms, names, strict=True)
        if context.kept_of(value) is not None
    ]
    if not all(taken) or not _as_long(context, region, parts.bounds, first):
        raise Ragged
    return first


def _is_taken(region: Loop, atom: gast.AST, name: str) -> bool:
    made = _maker(region.body, atom)
    item = None if made is None else item_of(made)
    if item is None or item[1] != 1:
        return False
    pop = _maker(region.body, form.name(item[0]))
    of_it = pop is not None and pop.function is runtime.list_pop and pop.operands[0].id == name
    return of_it and _alone(region, name, atom)


def _as_long(context: Batch, region: Loop, bounds: Sequence[Any], kept: Kept) -> bool:
    """Whether each sample makes as many passes as it has items.

    The loops of the backward pass do by their construction, and they run the other way round.
    """
    start, stop, step = bounds
    if not region.backwards and _reads(region.body, region.body.leaves()[0]):
        return False
    counted = context.counts.get(getattr(stop, "name", ""))
    if counted is not None and counted.places.name == kept.places.name:
        return type(start) is int and type(step) is int and (start, step) == (0, 1)
    return {each.phase for each in region.body.body if _is_pop(each)} == {"backward"}


def _is_pop(statement: form.Statement) -> bool:
    return isinstance(statement, form.Op) and statement.function is runtime.list_pop


def count_of(context: Batch, operation: Operation) -> Symbol:
    """For each sample the length of its list."""
    kept = context.kept_of(operation.operands[0])
    if kept is None or not operation.rule.length or operation.params.get("axis") != 0:
        raise Ragged
    inner = Builder()
    start = filled(context, (), 0, np.dtype(int))
    index, before = inner.symbol(values.Scalar(int)), inner.symbol(start.fact)
    places = inner.symbol(kept.places.fact)
    after = inner.call(runtime.index_add, (before, places[index], 1), {})
    body = block(inner, [each.name for each in (index, before, places)], [after])
    number = np.size(kept.places, 0)
    (found,) = Loop(body, 1).call(context.builder, [0, number, 1, start, kept.places])
    context.counts[found.name] = kept
    return context.mark(found)


# ---- reading blocks ------------------------------------------------------------------------------


def _maker(program: Program, atom: gast.AST) -> form.Op | None:
    """The operation that computes an atom."""
    name = getattr(atom, "id", "")
    ops = (each for each in program.body if isinstance(each, form.Op))
    return next((each for each in ops if each.target == name), None)


def _reads(program: Program, name: str) -> int:
    read = [each for statement in program.body for each in statement.reads]
    read += [getattr(atom, "id", "") for atom in program.outputs()]
    return read.count(name)


def _alone(region: Loop, name: str, atom: gast.AST) -> bool:
    """Whether the list is read once, and what becomes of it is handed on and not read."""
    return _reads(region.body, name) == 1 and _reads(region.body, atom.id) == 1
