"""Lengths of what is computed, by the lengths of inputs."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form, sizes, values
from s2s_ad.core.builder import fresh_name
from s2s_ad.core.program import Program


def is_array(fact: Any) -> bool:
    return isinstance(fact, values.Array) and bool(fact.shape) and fact.dtype is not None


def axis_of(program: Program, dim: values.Dim, inputs: list[str]) -> tuple[str, int, int] | None:
    """(an input, which axis of it, how much longer than that a length is by a known number)."""
    found = [
        (abs(more), name, axis, more)
        for name in inputs
        for axis, own in enumerate(program.facts[name].shape)
        if isinstance(own, values.Dim) and (more := _more(dim, own)) is not None
    ]
    nearest = min(found, key=lambda each: each[0], default=None)
    return None if nearest is None else nearest[1:]


def _more(dim: values.Dim, own: values.Dim) -> int | None:
    """How much longer than another a length is, where that is known.

    A size below 0 stands for a length of 0, to which nothing may be added.
    """
    if values.are_taken_for_equal((dim,), (own,)):
        return 0
    more = (dim.size - own.size).known
    return more if more is None or more < 0 or sizes.is_natural(own.size) else None


def lengths(
    program: Program,
    statement: form.Statement,
    dims: Sequence[int | values.Dim],
    inputs: list[str],
) -> tuple[list[form.Op], list[gast.AST]] | None:
    """What reads lengths off inputs, before a statement, and the lengths; None: not all are."""
    before: list[form.Op] = []
    nodes: list[gast.AST] = []
    for dim in dims:
        if isinstance(dim, int):
            nodes.append(form.constant(dim))
            continue
        found = axis_of(program, dim, inputs)
        if found is None:
            return None
        array, axis, more = found
        name = fresh_name()
        before.append(
            statement.beside(name, np.size, [form.name(array)], {"axis": form.constant(axis)})
        )
        if more:
            pair = [form.name(name), form.constant(abs(more))]
            name, function = fresh_name(), operator.add if more > 0 else operator.sub
            before.append(statement.beside(name, function, pair))
        if more < 0 and not sizes.at_least(dim.size, sizes.of(0)):
            pair = [form.name(name), form.constant(0)]
            name = fresh_name()
            before.append(statement.beside(name, max, pair))
        nodes.append(form.name(name))
    return before, nodes


def counted_late(program: Program) -> set[str]:
    """What the backward sweep reads of the other one for its lengths alone."""
    early = {each.target for each in program.body if each.phase != "backward"}
    read = {atom.id for atom in program.outputs() if isinstance(atom, gast.Name)}
    needed, counted = set(read), set()
    for statement in reversed(program.body):
        is_op = isinstance(statement, form.Op)
        if is_op and statement.target not in needed and not statement.rule.effects:
            continue
        needed.update(statement.reads)
        if statement.phase == "backward":
            (counted if is_op and statement.rule.length else read).update(statement.reads)
    return (counted & early) - read


def by_lengths_of_inputs(
    program: Program, statement: form.Statement, inputs: list[str], counted: Collection[str]
) -> list[form.Statement]:
    """In the backward sweep a length of what is `counted`, or the product of all, by lengths of
    inputs; as it is where these do not tell.

    Before: `y = np.sum(x[:, None] * x, axis=-1); n = np.size(y)`; after: `n = len(x) ** 2`.
    """
    params, fact = form.literals(statement), program.fact(statement.operands[0])
    wanted = statement.phase == "backward" and getattr(statement.operands[0], "id", "") in counted
    if not wanted or not is_array(fact):
        return [statement]
    dims = [fact.shape[params["axis"]]] if "axis" in params else fact.shape
    found = lengths(program, statement, dims, inputs)
    if found is None or not found[0]:
        return [statement]
    before, nodes = found
    count = math.prod(each.value for each in nodes if isinstance(each, gast.Constant))
    factors = [each for each in nodes if isinstance(each, gast.Name)]
    factors += [form.constant(count)] * (count != 1)
    if len(factors) == 1:
        return [*before[:-1], _renamed(before[-1], statement.target)]
    if len(factors) == 2 and _is_square(before):
        return [before[0], statement.with_call(operator.pow, [factors[0], form.constant(2)])]
    product = factors[0]
    for each in factors[1:-1]:
        before.append(statement.beside(fresh_name(), operator.mul, [product, each]))
        product = form.name(before[-1].target)
    return [*before, statement.with_call(operator.mul, [product, factors[-1]])]


def _is_square(lengths: Sequence[form.Op]) -> bool:
    """Whether two lengths are read off one axis."""
    keys = [(each.operands[0].id, form.literals(each)) for each in lengths]
    return len(keys) == 2 and keys[0] == keys[1]


def _renamed(statement: form.Op, target: str) -> form.Op:
    return statement.beside(target, statement.function, statement.operands, statement.parameters)
