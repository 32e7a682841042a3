"""Branches on one condition that become one."""

from __future__ import annotations

from typing import Any

from s2s_ad.core import form, tree
from s2s_ad.core.builder import Builder
from s2s_ad.core.callee import has_effect, item_of
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.regions import Branch, block, blocks_of, everywhere_inwards, region_of


def merge(program: Program) -> Program:
    """Two branches on one condition are one, unless what is between them keeps them apart.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(a, b, c):
        ...     above = c > 0
        ...     y = a if above else b
        ...     z = y if above else 0.0
        ...     return y, z
        >>> print(after(MERGE, f, 1.0, 2.0, 3.0, derived=True))
        f(a: float, b: float, c: float):
            above = c > 0
            t1, t2 = if above:
                give a, a
            else:
                give b, 0.0
            return (t1, t2)
    """
    if program.tried:
        return program  # what may raise first decides on what happens next
    while True:
        merged = _merged_once(program)
        if merged is None:
            return program
        program = merged


def _merged_once(program: Program) -> Program | None:
    seen: dict[str, int] = {}  # condition -> the place of the last branch on it
    for index, statement in enumerate(program.body):
        if not isinstance(region_of(statement), Branch):
            continue
        condition = getattr(statement.operands[0], "id", None)
        if condition in seen:
            merged = _merged(program, seen[condition], index)
            if merged is not None:
                return merged
        if condition is not None:
            seen[condition] = index
    return None


def _merged(program: Program, one: int, two: int) -> Program | None:
    """The program with its branches at these places made one; None where that cannot be."""
    body = program.body
    first, second, between = body[one], body[two], body[one + 1 : two]
    effects = [each for each in (first, second) if has_effect(each)]
    if effects and any(map(has_effect, between)):
        return None
    depends, early, late = {first.target}, [], []
    for each in between:
        is_late = bool(depends & set(each.reads))
        (late if is_late else early).append(each)
        if is_late and isinstance(each, form.Op):
            depends.add(each.target)
    items = {
        each.target: item[1]
        for each in late
        if (item := item_of(each)) is not None and item[0] == first.target
    }
    needed = set(second.reads) & depends
    if not needed <= items.keys():
        return None
    made = _joined(program, first, second, items)
    count: Any = first.rule.count
    target = first.target
    rest = [_renumbered(each, second.target, target, count) for each in body[two + 1 :]]
    facts = program.facts | {target: made.function.infer([], {})}
    return program.with_(body=(*body[:one], *early, made, *late, *rest), facts=facts)


def _joined(
    program: Program, first: form.Statement, second: form.Statement, items: dict[str, int]
) -> form.Op:
    """One branch with the outputs of both."""
    condition, *one = first.operands
    two = [each for each in second.operands[1:] if getattr(each, "id", None) not in items]
    operands = [*one, *two]
    blocks = []
    for a, b in zip(blocks_of(first), blocks_of(second), strict=True):
        builder = Builder()
        given = [
            builder.symbol(
                program.fact(each), program.hints.get(getattr(each, "id", ""), TEMPORARY)
            )
            for each in operands
        ]
        own = dict(zip(a.leaves(), given[: len(one)], strict=True))
        for leaf, symbol in own.items():
            builder.facts[symbol.name] = a.facts[leaf]
        outputs = tree.leaves(builder.splice(a, own))
        shared = {getattr(each, "id", None): given[i] for i, each in enumerate(one)}
        others = iter(given[len(one) :])
        passed = {}
        for leaf, operand in zip(b.leaves(), second.operands[1:], strict=True):
            name = getattr(operand, "id", None)
            passed[leaf] = outputs[items[name]] if name in items else next(others)
            if name in shared and shared[name].fact == b.facts[leaf]:
                passed[leaf] = shared[name]  # so that what both compute of it is computed once
            if name not in items:
                builder.facts[passed[leaf].name] = b.facts[leaf]
        outputs += tree.leaves(builder.splice(b, passed))
        captures = {id(each): each for each in (*a.captures, *b.captures)}
        names = [each.name for each in given]
        blocks.append(block(builder, names, outputs, captures=list(captures.values())))
    made = first.with_call(Branch(*blocks), [condition, *operands])
    return made.at(first.origin, second.phase)


def _renumbered(each: form.Statement, old: str, new: str, count: int) -> form.Statement:
    item = item_of(each)
    if item is None or item[0] != old:
        return each
    params = {"index": form.constant(item[1] + count)}
    return each.with_call(each.function, [form.name(new)], params)


MERGE = Pass("merge", everywhere_inwards(merge))
