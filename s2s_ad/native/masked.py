"""What a mask takes from arrays, to put it back by the same mask or to sum it, is computed for all.

Loops over all elements choose by the mask and become one with the loops around them; what is taken
is an array of its own, which one loop fills and another one empties.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator, Sequence

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import fresh_name
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere
from s2s_ad.simplify.dead import remove_dead

FLOATS = "fc"  # their arithmetic raises nothing in loops, whatever the elements are


def chosen_by_masks(program: Program) -> Program:
    """The program with `np.where` where elements are taken and put back by one mask, or summed.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> from s2s_ad.core.passes import Pass
        >>> def f(x):
        ...     y = x * 2.0
        ...     mask = y > 1.0
        ...     y[mask] = np.exp(y[mask])
        ...     return y
        >>> print(after(Pass("masked", chosen_by_masks), f, np.ones(3)))
        f(x: f64[n]):
            y = x * 2.0
            mask = y > 1.0
            t1 = np.exp(y)
            y.2 = np.where(mask, t1, y)
            return y.2
    """
    made = everywhere(_chosen)(program)
    return program if made is program else remove_dead(made)


def _chosen(program: Program) -> Program:
    taken, ends = _taken(program)
    names = _closed(program, taken, ends)
    if not any(each.target in names for each in ends):
        return program
    facts, whole = dict(program.facts), {}
    body: list[form.Statement] = []
    for each in program.body:
        if not isinstance(each, form.Op) or each.target not in names:
            body.append(each)
        elif each.target not in taken:
            body += _end(each, taken, whole, facts)
        elif each.function is operator.getitem:
            whole[each.target] = each.operands[0]
        else:
            operands = [whole.get(getattr(e, "id", ""), e) for e in each.operands]
            body.append(each.with_operands(operands))
            whole[each.target] = form.name(each.target)
            shape = values.shape_of(facts[taken[each.target]])
            facts[each.target] = values.with_shape(facts[each.target], shape)
    return program.with_(body=tuple(body), facts=facts)


def _end(op: form.Op, taken: dict[str, str], whole: dict, facts: dict) -> Iterator[form.Op]:
    """An update by the mask, or a sum, of values for all elements."""
    name = op.operands[-1].id
    mask, value, other = form.name(taken[name]), whole[name], fresh_name()
    if op.rule.sums:
        facts[other] = facts[value.id]
        yield op.beside(other, np.where, [mask, value, form.constant(0.0)])
        yield op.with_operands([form.name(other)])
        return
    base = op.operands[0]
    if op.function is runtime.index_add:
        facts[other] = facts[op.target]
        yield op.beside(other, operator.add, [base, value])
        value = form.name(other)
    yield op.with_call(np.where, [mask, value, base])


def _taken(program: Program) -> tuple[dict[str, str], list[form.Op]]:
    """The values of elements that a mask takes, each with its mask, and what these end in."""
    taken: dict[str, str] = {}
    ends = []
    for each in program.body:
        if isinstance(each, form.Op) and not each.required:
            mask = _mask_of_result(program, each, taken)
            if mask:
                taken[each.target] = mask
            elif _is_end(program, each, taken):
                ends.append(each)
    return taken, ends


def _mask_of_result(program: Program, op: form.Op, taken: dict[str, str]) -> str:
    """The mask that took the elements of which the result is computed; empty where none did."""
    if op.function is operator.getitem:
        return _mask_of(program, op)
    if not op.rule.elementwise or op.parameters or not _is_floating(program, op.target):
        return ""
    masks = {taken.get(e.id) for e in _arrays(program, op.operands)}
    return masks.pop() or "" if len(masks) == 1 else ""


def _is_end(program: Program, op: form.Op, taken: dict[str, str]) -> bool:
    """Whether the operation is an update by the mask, of what this took, or the sum of that."""
    value = getattr(op.operands[-1], "id", "") if op.operands else ""
    if value not in taken or op.rule.sums:
        return value in taken and not op.parameters
    if op.function not in (runtime.index_set, runtime.index_add):
        return False
    same = program.facts[value].dtype == program.facts[op.target].dtype
    return same and taken[value] == _mask_of(program, op)


def _mask_of(program: Program, op: form.Op) -> str:
    """The mask over all axes that is the index; empty where it is something else."""
    index, base = op.parameters["index"], getattr(op.operands[0], "id", "")
    if not isinstance(index, gast.Name) or not _is_floating(program, base):
        return ""
    mask = program.fact(index)
    if not isinstance(mask, values.Array) or mask.dtype != np.bool_ or not mask.shape:
        return ""
    return index.id if values.are_equal(mask.shape, program.facts[base].shape) else ""


def _arrays(program: Program, operands: Sequence[gast.AST]) -> list[gast.Name]:
    return [e for e in operands if isinstance(e, gast.Name) and values.rank_of(program.fact(e))]


def _is_floating(program: Program, name: str) -> bool:
    fact = program.facts.get(name)
    return isinstance(fact, values.Array) and fact.dtype is not None and fact.dtype.kind in FLOATS


def _closed(program: Program, taken: dict[str, str], ends: list[form.Op]) -> set[str]:
    """Those of the names that are read by each other and by the ends alone, and these."""
    readers: dict[str, list[str]] = {name: [] for name in taken}
    reads: Counter[str] = Counter(getattr(e, "id", "") for e in program.outputs())
    found = {*taken, *(each.target for each in ends)}
    operands = {}
    for each in program.body:
        reads.update(each.reads)
        if each.target in found:
            operands[each.target] = [e for e in each.reads if e in taken]
            for name in operands[each.target]:
                readers[name].append(each.target)
    before = None
    while before != found:
        before = set(found)
        for name in before & taken.keys():
            if len(readers[name]) != reads[name] or not found.issuperset(readers[name]):
                found.discard(name)
        for name, own in operands.items():
            if not found.issuperset(own):
                found.discard(name)
    return found
