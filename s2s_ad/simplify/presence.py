"""Which names have a value whatever loops have run: what a pass makes need not be there."""

from __future__ import annotations

from collections.abc import Collection

import gast

from s2s_ad.core import form, values
from s2s_ad.core.callee import Compound
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch, Loop, LoopParts, region_of
from s2s_ad.core.rule import Item


def has_value(program: Program, statement: form.Statement) -> bool:
    """Whether the statement computes a number or an array: it hands on nothing of a loop."""
    if not isinstance(statement, form.Op) or isinstance(statement.rule, Compound | Item):
        return False
    return not any(isinstance(program.fact(each), values.List) for each in statement.operands)


def runs(loop: Loop, parts: LoopParts) -> bool:
    """Whether it is known that a loop has passes."""
    bounds = [getattr(each, "value", each) for each in parts.bounds] if loop.is_for else []
    return bool(bounds) and all(type(each) is int for each in bounds) and len(range(*bounds)) > 0


def present_inside(statement: form.Statement, block: Program, present: Collection[str]) -> set[str]:
    """The leaves of a block of a branch or loop that have a value there, as these names have."""
    region, args = region_of(statement), statement.operands
    pairs: list[tuple[gast.AST, str]] = []
    if isinstance(region, Branch):
        pairs = list(zip(args[1:], block.leaves(), strict=True))
    elif isinstance(region, Loop):
        pairs = list(zip(region.parts(args).fixed, region.leaves(block).fixed, strict=True))
    return {leaf for atom, leaf in pairs if all(name in present for name in form.reads(atom))}
