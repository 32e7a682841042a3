"""Which value another one is, but for updates of its elements: through branches and loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import gast

from s2s_ad.core import form
from s2s_ad.core.callee import item_of
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch, Loop, region_of

Makers = Mapping[str, form.Op]


def makers_in(body: Iterable[form.Statement]) -> Makers:
    """The operations that make values, by the name of the value."""
    return {each.target: each for each in body if isinstance(each, form.Op)}


def root_of(makers: Makers, atom: gast.AST, goal: str = "") -> str | None:
    """The value that this one is what updates make of: the goal, or one that no operation makes."""
    name = getattr(atom, "id", None)
    while name != goal and (statement := makers.get(name or "")) is not None:
        item = item_of(statement)
        if item is not None:
            return _before_region(makers, *item, goal)
        if not statement.rule.updates or statement.rule.at_end:
            return None
        name = getattr(statement.operands[0], "id", None)
    return name


def place_of(block: Program, atom: gast.AST) -> int | None:
    """The place of the leaf that a value of a block is an update of."""
    root, leaves = root_of(makers_in(block.body), atom), block.leaves()
    return leaves.index(root) if root in leaves else None


def _before_region(makers: Makers, result: str, index: int, goal: str) -> str | None:
    """What an output of a branch or loop is an update of."""
    if result not in makers:
        return None
    statement = makers[result]
    region, operands = region_of(statement), statement.operands
    if isinstance(region, Branch):
        indices = [place_of(side, side.outputs()[index]) for side in region.blocks]
        roots = {None if p is None else root_of(makers, operands[1 + p], goal) for p in indices}
        return roots.pop() if len(roots) == 1 else None
    if isinstance(region, Loop):
        own = place_of(region.body, region.body.outputs()[index]) == region.indices + index
        return root_of(makers, region.parts(operands).carried[index], goal) if own else None
    return None
