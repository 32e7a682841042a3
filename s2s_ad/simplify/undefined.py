"""Values that a path does not have, where code reads them all the same: they become None,
or a list without items.

A value of one side of a branch is read where the same side runs again; nothing is to be done then.
But it may also be put into a list, be handed to another function, or lend its shape to zeros that
nobody reads; then its name has to be bound on the other side too.
"""

from __future__ import annotations

import gast

from s2s_ad import runtime
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import fresh_name
from s2s_ad.core.callee import item_of
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch, Loop, Region, everywhere, region_of

NONE = form.constant(None)


def bind_undefined(program: Program) -> Program:
    """Bind what is undefined on one path and read on all.

    Before: `if c: t = np.sin(x)`, `t_saved.append(t)`; after: `if c: ... else: t = None`.
    """
    if not any(map(region_of, program.body)):
        return program
    items: dict[tuple[str, int], str] = {}
    for statement in program.body:
        if (item := item_of(statement)) is not None:
            items[item] = form.target(statement)
    body: list[form.Statement] = []
    facts: dict[str, values.AbstractValue] = {}
    for statement in program.body:
        region = region_of(statement)
        if isinstance(region, Loop):
            body += _bound_at_start(statement, region, facts)
        elif region is not None:
            body.append(_bound_after(program, statement, region, items))
        else:
            body.append(statement)
    return program.with_(body=tuple(body), facts=program.facts | facts)


def is_undefined(atom: gast.AST) -> bool:
    return isinstance(atom, gast.Constant) and atom.value is values.UNDEFINED


def _bound_after(program: Program, statement: gast.Assign, region: Region, items: dict) -> gast.AST:
    """A branch or attempt whose blocks have all of its outputs that are read by all."""
    condition = statement.value.args[0] if isinstance(region, Branch) else None
    blocks = []
    for side, block in enumerate(region.blocks):
        for place, atom in enumerate(block.outputs()):
            name = items.get((form.target(statement), place))
            if name and is_undefined(atom) and _is_read(program, name, condition, side):
                block = _with_output(block, place, region.facts[place])
        blocks.append(block)
    return _replaced(statement, region.with_blocks(blocks), statement.value.args)


def _is_read(program: Program, name: str, condition: gast.AST | None, side: int) -> bool:
    """Whether anything reads a name where the side of a branch that does not have it ran."""
    if any(getattr(atom, "id", None) == name for atom in program.outputs()):
        return True
    return any(
        name in form.reads(each) and not _is_other_side(each, name, condition, side)
        for each in program.body
    )


def _is_other_side(
    statement: form.Statement, name: str, condition: gast.AST | None, side: int
) -> bool:
    """Whether the statement is a branch on the same condition whose same side ignores the name."""
    region = region_of(statement)
    if not isinstance(region, Branch) or condition is None:
        return False
    first, *operands = statement.value.args
    if getattr(first, "id", None) != getattr(condition, "id", None):
        return False
    block = region.blocks[side]
    leaves = [
        leaf
        for leaf, operand in zip(block.leaves(), operands, strict=True)
        if getattr(operand, "id", None) == name
    ]
    read = {each for inner in block.body for each in form.reads(inner)}
    read |= {getattr(atom, "id", None) for atom in block.outputs()}
    return not read.intersection(leaves)


def _bound_at_start(statement: gast.Assign, loop: Loop, facts: dict) -> list[gast.Assign]:
    """A loop whose first pass finds what it reads of values that are not there yet.

    The facts of what is put before the loop go into `facts`.
    """
    parts, leaves = loop.parts(statement.value.args), loop.leaves(loop.body).carried
    read = {name for each in loop.body.body if region_of(each) is None for name in form.reads(each)}
    carried, made = [], []
    for atom, leaf, fact in zip(parts.carried, leaves, loop.facts, strict=True):
        if is_undefined(atom) and leaf in read:
            atom = _stand_in(fact, statement, made, facts)
        carried.append(atom)
    return [*made, _replaced(statement, loop, [*parts.bounds, *carried, *parts.fixed])]


def _with_output(block: Program, place: int, fact: values.AbstractValue) -> Program:
    """The block with something for the output at `place`."""
    atoms, made, facts = list(block.outputs()), [], {}
    atoms[place] = _stand_in(fact, block, made, facts)
    output = tree.Tree(tuple, tuple(range(len(atoms))), tuple(atoms))
    return block.with_(body=(*block.body, *made), facts=block.facts | facts, output=output)


def _stand_in(
    fact: values.AbstractValue, near: gast.Assign | Program, made: list, facts: dict
) -> gast.AST:
    """None, or a list without items, which `made` and `facts` tell of."""
    if not isinstance(fact, values.List):
        return NONE
    name = fresh_name()
    call = form.operation(runtime.list_of, [], {})
    made.append(form.assign(name, call, near.origin, "forward"))
    facts[name] = fact
    return form.name(name)


def _replaced(statement: gast.Assign, region: Region, operands: list[gast.AST]) -> gast.Assign:
    call = form.operation(region, operands, {})
    return form.assign(form.target(statement), call, statement.origin, statement.phase)


BIND = Pass("bind undefined", everywhere(bind_undefined))
