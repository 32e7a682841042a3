"""Blocks nested more deeply than anyone reads, or Python parses, become functions of their own.

A row of early returns with statements between is branches in branches. Python takes a hundred of
them, and lines of text end long before that.
"""

from __future__ import annotations

from s2s_ad.core import form, tree
from s2s_ad.core.builder import Builder, fresh_name
from s2s_ad.core.callee import Callee, item_of
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.regions import Branch, Region, block, region_of, with_blocks

DEEPEST = 12  # blocks inside of each other in one function


def with_parts(program: Program) -> Program:
    """Every so many blocks deep, a block with further ones in it becomes a call.

    Before: `if a: ..., else: if b: ..., else: <blocks in blocks>`;
    after: `if a: ..., else: if b: ..., else: y = f_part(x)`.
    """
    return _limited(program, program.name, 0)


def _limited(program: Program, name: str, depth: int) -> Program:
    """A block at a depth of the function of this name."""
    if not any(map(region_of, program.body)):
        return program
    if depth >= DEEPEST and (made := _as_call(program, name)) is not None:
        return made
    body = []
    for statement in program.body:
        region = region_of(statement)
        if region is not None:
            depths = [depth if _is_elif(region, each) else depth + 1 for each in region.blocks]
            pairs = zip(region.blocks, depths, strict=True)
            blocks = [_limited(each, name, inside) for each, inside in pairs]
            statement = with_blocks(statement, region, blocks)
        body.append(statement)
    return program.with_body(body)


def _is_elif(region: Region, inner: Program) -> bool:
    """Whether a block is no deeper in the text than its branch: it is a branch, and a condition."""
    if not isinstance(region, Branch) or inner is not region.orelse:
        return False
    regions = [each for each in inner.body if region_of(each) is not None]
    if len(regions) != 1 or not isinstance(region_of(regions[0]), Branch):
        return False
    wanted, others = {getattr(regions[0].operands[0], "id", None)}, []
    for each in reversed(inner.body):
        item = item_of(each)
        if each is regions[0] or (item is not None and item[0] == regions[0].target):
            continue
        others.append(each)
        if isinstance(each, form.Effect) or each.target not in wanted:
            return False
        wanted.update(each.reads)
    read = [name for each in (*others, regions[0]) for name in each.reads]
    return all(read.count(each.target) == 1 for each in others)


def _as_call(program: Program, name: str) -> Program | None:
    """The block as a call of a function; None where it hands nothing over."""
    leaves = program.leaves()
    made = {each.target for each in program.body if isinstance(each, form.Op)}
    handed = [getattr(each, "id", None) for each in program.outputs()]
    results = [name for name in dict.fromkeys(handed) if name in made]
    if not results:
        return None
    names = tuple(map(form.name, results))
    output = tree.one_or_tuple(names)
    part = program.with_(name=f"{name}_part", doc=f"a part of {name}", output=output)
    callee = Callee(_limited(part, name, 0))
    builder, atoms = Builder(), {}
    for leaf in leaves:
        hint = program.hints.get(leaf, TEMPORARY)
        atoms[leaf] = builder.adopt(fresh_name(), program.facts[leaf], hint)
    operands = list(atoms.values())
    for capture in program.captured():
        atoms[capture.name] = builder.import_name(program, capture.name)
    phase = "backward" if any(each.phase == "backward" for each in program.body) else "forward"
    with builder.at(program.body[0].origin, phase):
        values = callee.call(builder, operands)
    for result, value in zip(results, values, strict=True):
        atoms[result] = builder.named(value, program.hints.get(result, TEMPORARY))
    outputs = [builder.view(atom, atoms) for atom in program.outputs()]
    names = [each.name for each in operands]
    made = block(builder, names, outputs, captures=program.captures)
    return made.with_(tried=program.tried, origin=program.origin)


PARTS = Pass("parts", with_parts)
