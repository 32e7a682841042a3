"""Dead code: operations whose result nobody reads go; effects, and what they read, stay."""

from __future__ import annotations

from collections.abc import Sequence

import gast

from s2s_ad.core import form, tree
from s2s_ad.core.callee import captured_names, has_effect, item_of, may_raise
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Attempt, Branch, Loop, Region, region_of


def remove_dead(program: Program) -> Program:
    """Drop what neither the outputs nor an effect need.

    Before: `a = np.sin(x); b = np.cos(x); return b`; after: `b = np.cos(x); return b`.
    In the body of a `try` what may raise stays, for it decides on what happens next.
    Of a branch or loop what nobody reads is no longer an output, and what it no longer reads no
    longer an operand.
    """
    live = {atom.id for atom in program.outputs() if isinstance(atom, gast.Name)}
    kept: list[form.Statement] = []
    items: dict[str, list[int]] = {}  # the places in `kept` of the items of each region's result
    for statement in reversed(program.body):
        if not _is_needed(statement, program, live):
            continue
        region = region_of(statement)
        if region is not None:
            statement = _pruned(statement, region, items.pop(form.target(statement), []), kept)
        item = item_of(statement)
        if item is not None:
            items.setdefault(item[0], []).append(len(kept))
        live.update(form.reads(statement))
        live.update(captured_names(statement))
        kept.append(statement)
    captures = tuple(each for each in program.captures if each.name is None or each.name in live)
    body = tuple(reversed(kept))
    regions = {form.target(each): region for each in body if (region := region_of(each))}
    if not regions:
        return program.with_(body=body, captures=captures)
    facts = program.facts | {name: each.infer([], {}) for name, each in regions.items()}
    return program.with_(body=body, captures=captures, facts=facts)


def _is_needed(statement: form.Statement, program: Program, live: set[str]) -> bool:
    """Whether the statement has to run; in a `try` whether it raises counts."""
    if has_effect(statement) or form.target(statement) in live:
        return True
    return program.tried and statement.phase != "backward" and may_raise(statement, program.fact)


def _pruned(
    statement: gast.Assign, region: Region, places: Sequence[int], kept: list
) -> gast.Assign:
    """The region with the outputs that items in `kept` take; these items are renumbered."""
    used = {item_of(kept[place])[1] for place in places}
    prune = {Branch: _branch, Loop: _loop, Attempt: _attempt}[type(region)]
    made, operands, outputs = prune(region, statement.value.args, used)
    numbers = {old: new for new, old in enumerate(outputs)}
    for place in places:
        each = kept[place]
        name, index = item_of(each)
        params = {"index": form.constant(numbers[index])}
        call = form.operation(form.function_of(each), [form.name(name)], params)
        kept[place] = form.assign(form.target(each), call, each.origin, each.phase)
    call = form.operation(made, operands, {})
    return form.assign(form.target(statement), call, statement.origin, statement.phase)


Pruned = tuple[Region, list[gast.AST], list[int]]


def _branch(region: Branch, operands: list[gast.AST], used: set[int]) -> Pruned:
    outputs = sorted(used)
    blocks = [_with_outputs(block, outputs) for block in region.blocks]
    blocks, read = _without_leaves(blocks, range(len(operands) - 1))
    return Branch(*blocks), [operands[0], *(operands[1 + i] for i in read)], outputs


def _attempt(region: Attempt, operands: list[gast.AST], used: set[int]) -> Pruned:
    last = region.count - 1
    outputs = sorted(used - {last})
    blocks = [_with_outputs(block, outputs) for block in region.blocks]
    blocks, read = _without_leaves(blocks, range(len(operands)))
    body, *handlers = blocks
    made = Attempt(body, region.errors, handlers)
    return made, [operands[i] for i in read], [*outputs, last]


def _loop(region: Loop, operands: list[gast.AST], used: set[int]) -> Pruned:
    """What a carried value is needed for may be another carried value."""
    needed = set(used)
    while True:
        outputs = sorted(needed)
        chosen = [*outputs, region.carried] if region.exits else outputs
        body = _with_outputs(region.body, chosen)
        blocks = [body] if region.test is None else [remove_dead(region.test), body]
        read = [
            (region.leaves(old), _names_read(block))
            for block, old in zip(blocks, region.blocks, strict=True)
        ]
        more = {
            place
            for leaves, names in read
            for place, name in enumerate(leaves.carried)
            if name in names
        }
        if more <= needed:
            break
        needed |= more
    count = region.carried
    parts = region.parts(operands)
    dropped = [place for place in range(count) if place not in needed]
    fixed = [
        place
        for place in range(len(parts.fixed))
        if any(leaves.fixed[place] in names for leaves, names in read)
    ]
    made_blocks = []
    for block, old in zip(blocks[::-1], region.blocks[::-1], strict=True):
        names = region.leaves(old)
        gone = {names.carried[i] for i in dropped}
        gone |= {name for i, name in enumerate(names.fixed) if i not in fixed}
        inputs = tuple(each for each in block.inputs if each.tree not in gone)
        made_blocks.append(block.with_(inputs=inputs))
    test = made_blocks[1] if region.test is not None else None
    made = Loop(
        made_blocks[0], len(outputs), test=test, backwards=region.backwards, exits=region.exits
    )
    values = [*parts.bounds, *(parts.carried[i] for i in outputs), *(parts.fixed[i] for i in fixed)]
    return made, values, outputs


def _with_outputs(block: Program, outputs: Sequence[int]) -> Program:
    """The block with these of its outputs, and without what only the others need."""
    atoms = block.outputs()
    items = tuple(atoms[place] for place in outputs)
    return remove_dead(block.with_(output=tree.Tree(tuple, tuple(range(len(items))), items)))


def _names_read(block: Program) -> set[str]:
    read = {name for statement in block.body for name in form.reads(statement)}
    return read | {atom.id for atom in block.outputs() if isinstance(atom, gast.Name)}


def _without_leaves(
    blocks: list[Program], places: Sequence[int]
) -> tuple[list[Program], list[int]]:
    """The blocks without the leaves that none of them reads, and the places of those that stay."""
    read = [(block.leaves(), _names_read(block)) for block in blocks]
    stay = [place for place in places if any(leaves[place] in names for leaves, names in read)]
    made = [block.with_(inputs=tuple(block.inputs[place] for place in stay)) for block in blocks]
    return made, stay


DEAD = Pass("dead", remove_dead)
