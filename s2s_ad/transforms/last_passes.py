"""What a loop carries, and nobody reads behind it, goes on in the last pass as in all others.

    for _ in range(100):
        new = step(x)
        if abs(new - x) < 1e-9:
            break
        x = new
    return new

Nobody asks what `x` is behind the loop: it may be `new` there, too. Then each pass is as all are,
and the backward sweep need not know which one was the last.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gast

from s2s_ad.analysis import liveness
from s2s_ad.core import form, tree
from s2s_ad.core.callee import item_of, items_of
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch, Loop, region_of, runs_once, with_blocks
from s2s_ad.core.rewriting import rewritten
from s2s_ad.core.rule import ITEM


def going_on(program: Program) -> Program:
    """The program with loops that go on in their last pass."""
    made = {each.target: each for each in program.body if isinstance(each, form.Op)}
    regions = {name: region_of(each) for name, each in made.items()}
    loops = {name: e for name, e in regions.items() if isinstance(e, Loop) and e.exits}
    if not loops:
        return program
    counts = liveness.counts(program.body, program.outputs())
    items = items_of(program)
    changed: dict[str, Loop] = {}
    moved: dict[tuple[str, int], int] = {}  # what is read of loops, and what it is read of now
    for name, loop in loops.items():
        read = {index for index, item in items.get(name, {}).items() if counts[item]}
        changed[name] = _going_on(loop, read)
        if changed[name] is not loop and runs_once(program, made[name]):
            others = _alike(changed[name], read)
            moved |= {(name, index): other for index, other in others.items()}

    def change(statement: form.Statement) -> form.Statement:
        item = item_of(statement)
        if item in moved:
            index = form.constant(moved[item])
            return statement.with_call(ITEM, statement.operands, {"index": index})
        if statement.target in changed:
            loop = changed[statement.target]
            return with_blocks(statement, loops[statement.target], loop.blocks)
        return statement

    return rewritten(program, change)


def _going_on(loop: Loop, read: set[int]) -> Loop:
    """The loop that goes on in its last pass with what is not read behind it.

    Where a branch is left that tells the last pass apart all the same, it stays as it is.
    """
    results, end = loop.results()
    made = {each.target: each for each in loop.body.body if isinstance(each, form.Op)}
    unread = [index for index in range(len(results)) if index not in read]
    found = {i: other for i in unread if (other := _in_other_passes(results[i], end, made))}
    atoms = [found[i][1] if i in found else atom for i, atom in enumerate(results)]
    counts = liveness.counts(loop.body.body, atoms)
    left = {
        name for name, items in items_of(loop.body).items() if any(map(counts.get, items.values()))
    }
    atoms = [
        found[i][1] if i in found and found[i][0] not in left else atom
        for i, atom in enumerate(results)
    ]
    if all(one is other for one, other in zip(atoms, results, strict=True)):
        return loop
    body = loop.body.with_(output=tree.tuple_of([*atoms, end]))
    made_anew: Any = loop.with_blocks([*loop.blocks[:-1], body])
    return made_anew


def _in_other_passes(
    atom: gast.AST, end: gast.AST | None, made: Mapping[str, form.Op]
) -> tuple[str, gast.AST] | None:
    """(the branch that gives it, what a result is where the loop does not end), if that is there
    in the last pass, too."""
    item = item_of(made[atom.id]) if getattr(atom, "id", "") in made else None
    if item is None or item[0] not in made:
        return None
    name, index = item
    branch = region_of(made[name])
    condition, *operands = made[name].operands
    if not isinstance(branch, Branch) or not _are_same(condition, end):
        return None
    value, leaves = branch.orelse.outputs()[index], branch.orelse.leaves()
    is_there = isinstance(value, gast.Name) and value.id in leaves
    return (name, operands[leaves.index(value.id)]) if is_there else None


def _alike(loop: Loop, read: set[int]) -> dict[int, int]:
    """What is read behind a loop, and what is the same from pass to pass, and of one kind."""
    results, _ = loop.results()
    found = {}
    for index in read:
        for other, atom in enumerate(results):
            same = other not in read and _are_same(atom, results[index])
            if same and loop.facts[other] == loop.body.fact(atom):
                found[index] = other
    return found


def _are_same(one: gast.AST, other: gast.AST | None) -> bool:
    return isinstance(one, gast.Name) and isinstance(other, gast.Name) and one.id == other.id
