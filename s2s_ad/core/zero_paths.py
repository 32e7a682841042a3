"""On which paths of a branch a value is zero, for it gives something else there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callee import item_of
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch
from s2s_ad.core.rule import ITEM

FARTHEST = 8  # operations between a value and the branch that it comes from


@dataclass(frozen=True, slots=True)
class Paths:
    """Where a value is zero: on the paths of a branch for which `then` and `orelse` say so.

    Each of these is a truth, or says on which paths of a branch in the block.
    """

    branch: str  # the name of its result
    condition: str
    then: Paths | bool
    orelse: Paths | bool

    @property
    def is_nested(self) -> bool:
        return not isinstance(self.then, bool) or not isinstance(self.orelse, bool)

    def same_as(self, other: Paths) -> bool:
        """Whether these are the same paths."""
        if self.is_nested:
            return self == other
        return replace(self, branch=other.branch) == other


def zero_paths(builder: Builder, values: Iterable[Any]) -> Paths | None:
    """The paths on which each of the values is zero; None where none are known."""
    found = [_zero_on(builder, each, FARTHEST) for each in values]
    if not found or found[0] is None:
        return None
    same = all(each is not None and found[0].same_as(each) for each in found)
    return found[0] if same else None


def _zero_on(builder: Builder, value: Any, farthest: int) -> Paths | None:
    rule, operands, params = builder.definition(value)
    if rule is None or not farthest:
        return None
    if rule is ITEM:
        branch, inner, _ = builder.definition(operands[0])
        if not isinstance(branch, Branch) or not isinstance(inner[0], Symbol):
            return None
        return _where(operands[0].name, inner[0].name, branch, params["index"])
    paths = (_zero_on(builder, operands[i], farthest - 1) for i in rule.vanishes_with())
    return next(filter(None, paths), None)


def _where(result: str, condition: str, branch: Branch, index: int) -> Paths | None:
    """On which paths of a branch an output is zero; None where that is all or none of them."""
    sides = [_zero_in(each, each.outputs()[index]) for each in branch.blocks]
    return None if sides in ([True, True], [False, False]) else Paths(result, condition, *sides)


def _zero_in(program: Program, atom: gast.AST) -> Paths | bool:
    """Whether an output of a block is zero, or on which paths in it."""
    if _is_zero(program, atom):
        return True
    defined = {each.target: each for each in program.body if isinstance(each, form.Op)}
    item = item_of(defined[atom.id]) if getattr(atom, "id", None) in defined else None
    inner = None if item is None else defined.get(item[0])
    if item is None or inner is None or not isinstance(inner.rule, Branch):
        return False
    if not isinstance(inner.operands[0], gast.Name):
        return False
    return _where(inner.target, inner.operands[0].id, inner.rule, item[1]) or False


def _is_zero(program: Program, atom: gast.AST) -> bool:
    """Whether an output of a block is the number 0, or an array of it."""
    if isinstance(atom, gast.Name):
        made = next((each for each in program.body if each.target == atom.id), None)
        if not isinstance(made, form.Op):
            return False
        return made.rule.filled_with([getattr(each, "value", each) for each in made.operands]) == 0
    return type(getattr(atom, "value", None)) in (int, float) and atom.value == 0
