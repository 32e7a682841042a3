"""Which elements of an adjoint may be other than zero, where others were left out before.

What a mask, a store or a path of a loop leaves out has no part in a derivative, however steep the
function is there. In a loop nobody sees that an element of an adjoint is such a zero: so a mask of
the others goes beside the adjoint. A loop that makes such zeros is written once more, for the mask.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, filling_of, fresh_name
from s2s_ad.core.callee import has_effect
from s2s_ad.core.magnitudes import has_zeros_of_value, is_settled
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch, Loop, block
from s2s_ad.core.rule import ITEM, Rule

FARTHEST = 12  # operations between a value and what left elements of it out

#: the note of masks of values that a block is given, or what asks for one
GIVEN, ASKED, FOUND = "nonzero", "nonzero of a leaf", "nonzero found"


def nonzero(builder: Builder, value: Any, farthest: int = FARTHEST) -> Symbol | None:
    """A mask of the elements of a value that may be other than zero; None where all may be."""
    found = _nonzero(builder, value, farthest)
    return found if isinstance(found, Symbol) else None


def give(builder: Builder, leaf: str, mask: Symbol) -> None:
    """Say of a value that a block is given which elements of it may be other than zero."""
    builder.notes.setdefault(GIVEN, {})[leaf] = mask


def keeps_zeros(builder: Builder, value: Any, leaf: str) -> bool:
    """Whether a value is what a leaf is, but for elements that are set to zero."""
    if not isinstance(value, Symbol):
        return False
    rule, operands, params = builder.definition(value)
    if rule is None:
        return value.name == leaf
    if rule is not ITEM:
        return (
            rule.updates
            and filling_of(builder, operands[1]) == 0
            and keeps_zeros(builder, operands[0], leaf)
        )
    region, given, _ = builder.definition(operands[0])
    if isinstance(region, Branch):
        return all(_block_keeps(builder, each, given[1:], params, leaf) for each in region.blocks)
    if not isinstance(region, Loop) or params["index"] >= region.carried:
        return False
    start, own = (
        each.carried[params["index"]] for each in (region.parts(given), region.leaves(region.body))
    )
    inner = Builder.of(region.body)
    output = inner.view(region.body.outputs()[params["index"]], _atoms(inner, region.body))
    return keeps_zeros(builder, start, leaf) and keeps_zeros(inner, output, own)


def _block_keeps(
    builder: Builder, program: Program, given: Sequence[Any], params: dict, leaf: str
) -> bool:
    inner = Builder.of(program)
    output = inner.view(program.outputs()[params["index"]], _atoms(inner, program))
    return any(
        keeps_zeros(inner, output, own) and keeps_zeros(builder, value, leaf)
        for own, value in zip(program.leaves(), given, strict=True)
    )


def _atoms(builder: Builder, program: Program) -> dict[str, Any]:
    return {name: Symbol(builder, name) for name in program.facts}


# ---- masks: False where all elements are zero, None where all may be other than that -------------


def _nonzero(builder: Builder, value: Any, farthest: int) -> Any:
    if type(value) in (int, float) and value == 0:
        return False
    if not isinstance(value, Symbol) or value.shape is None or not farthest:
        return None
    if isinstance(value.fact, values.List):
        return None
    if filling_of(builder, value) == 0:
        return False
    if is_settled(builder, value) or has_zeros_of_value(builder, value):
        return None
    found = _mask_of(builder, value, farthest)
    apart = isinstance(found, Symbol) and not values.same_shape(found.shape, value.shape)
    return None if apart else found


def _mask_of(builder: Builder, value: Symbol, farthest: int) -> Any:
    given = builder.notes.get(GIVEN, {})
    if value.name in given:
        return given[value.name]
    rule, operands, params = builder.definition(value)
    if rule is None:
        ask = builder.notes.get(ASKED)
        return None if ask is None else ask(value.name)
    if rule is ITEM:
        return _of_region(builder, operands[0], params["index"], farthest)
    of = functools.partial(_nonzero, builder, farthest=farthest - 1)
    return rule.nonzero(builder, operands, params, of)


def _of_region(builder: Builder, result: Symbol, index: int, farthest: int) -> Any:
    region, operands, _ = builder.definition(result)
    if not isinstance(region, Loop | Branch) or any(map(_runs_once, region.blocks)):
        return None
    found = builder.notes.setdefault(FOUND, {})
    mask = found.get((result.name, index))
    if mask is None or all(each.target != mask.name for each in builder.body):
        of_kind: Any = _of_loop if isinstance(region, Loop) else _of_branch
        mask = of_kind(builder, region, operands, index, farthest)
    if isinstance(mask, Symbol):
        found[result.name, index] = mask
    return mask


def _runs_once(program: Program) -> bool:
    """Whether a block may not be written twice: it does what is seen from outside, or may fail."""
    return program.tried or any(map(has_effect, program.body))


#: what blocks are given besides: by the name of a value its mask, and what that is called inside
More = dict[str, tuple[str, Symbol]]


class _Inside:
    """A block that is written once more, for masks of what it hands over.

    Args:
        given: what some of its leaves are around it.
        more: filled with the masks of these that it is given.
    """

    def __init__(
        self, outer: Builder, program: Program, given: dict[str, Any], more: More, farthest: int
    ):
        self.outer, self.program, self.farthest = outer, program, farthest
        self.given, self.more = given, more
        self.builder = Builder()
        self.atoms: dict[str, Any] = {}
        captured = [each.name for each in program.captured()]
        for name in (*program.leaves(), *captured):
            self.atoms[name] = self.builder.import_name(program, name)
        for statement in program.body:
            with self.builder.at(statement.origin, statement.phase):
                self.builder.replay(statement, self.atoms, program)
        self.builder.notes[ASKED] = self._ask

    def _ask(self, leaf: str) -> Any:
        """The mask of a leaf, which is given to the block as well."""
        if leaf not in self.given:
            return None
        mask = _nonzero(self.outer, self.given[leaf], self.farthest - 1)
        if not isinstance(mask, Symbol):
            return mask
        name, _ = self.more.setdefault(self.given[leaf].name, (fresh_name(), mask))
        return self.builder.adopt(name, mask.fact)

    def output(self, index: int) -> Any:
        return self.builder.view(self.program.outputs()[index], self.atoms)

    def mask_of(self, index: int) -> Any:
        with self.builder.at(self.program.origin, "backward"):
            return _nonzero(self.builder, self.output(index), self.farthest - 1)

    def as_mask(self, mask: Any, index: int) -> Any:
        """The mask of an output, also where none or all of its elements are zero."""
        if isinstance(mask, Symbol):
            return mask
        with self.builder.at(self.program.origin, "backward"):
            return whole(self.output(index), mask is None)

    def written(self, leaves: Sequence[str], outputs: Sequence[Any]) -> Program:
        """The block with these leaves, and the masks."""
        for name, mask in self.more.values():
            self.builder.adopt(name, mask.fact)
        leaves = [*leaves, *(name for name, _ in self.more.values())]
        return block(self.builder, leaves, outputs, captures=[*self.program.captured()])


def _of_branch(builder: Builder, region: Branch, operands: list, index: int, farthest: int) -> Any:
    condition, *given = operands
    if not isinstance(condition, Symbol):
        return None
    more: More = {}
    sides = [
        _Inside(builder, each, dict(zip(each.leaves(), given, strict=True)), more, farthest)
        for each in region.blocks
    ]
    masks = [each.mask_of(index) for each in sides]
    if all(each is None for each in masks):
        return None
    if all(each is False for each in masks):
        return False
    blocks = [
        side.written(side.program.leaves(), [side.as_mask(mask, index)])
        for side, mask in zip(sides, masks, strict=True)
    ]
    operands = [condition, *given, *(mask for _, mask in more.values())]
    return Branch(*blocks).call(builder, operands)[0]


def _of_loop(builder: Builder, region: Loop, operands: list, index: int, farthest: int) -> Any:
    if not region.is_for or region.exits or index >= region.carried:
        return None
    parts, leaves = region.parts(operands), region.leaves(region.body)
    start, leaf = parts.carried[index], leaves.carried[index]
    if not isinstance(start, Symbol):
        return None
    fixed = dict(zip(leaves.fixed, parts.fixed, strict=True))
    inside = _Inside(builder, region.body, fixed, {}, farthest)
    shape = values.shape_of(region.body.facts[leaf])
    own = inside.builder.adopt(fresh_name(), values.Array(np.dtype(bool), shape))
    give(inside.builder, leaf, own)
    after, first = inside.mask_of(index), _nonzero(builder, start, farthest - 1)
    if after is own:
        return first
    if after is None:
        return None
    after = inside.as_mask(after, index)
    if not isinstance(first, Symbol):
        first = whole(start, first is None)
    names = [*leaves.bounds, *leaves.carried, own.name, *leaves.fixed]
    outputs = [*map(inside.output, range(region.carried)), after]
    made = Loop(inside.written(names, outputs), region.carried + 1, backwards=region.backwards)
    given = [*parts.bounds, *parts.carried, first, *parts.fixed]
    given += [mask for _, mask in inside.more.values()]
    return made.call(builder, given)[region.carried]


def whole(value: Any, truth: bool) -> Any:
    """A mask that says the same of all elements of a value."""
    if not isinstance(value, Symbol) or value.shape == ():
        return truth
    return (np.ones_like if truth else np.zeros_like)(value, dtype=bool)


def either(builder: Builder, a: Any, b: Any) -> Any:
    """Which elements of a sum may be other than zero."""
    if a is None or b is None:
        return None
    if a is False or b is False:
        return b if a is False else a
    return builder.call(np.logical_or, (a, b), {})


# ---- selections ----------------------------------------------------------------------------------


def taken_by(rule: Rule, builder: Builder, operands: list, params: dict[str, Any]) -> Symbol | None:
    """What a selection takes: a mask, or which of the numbers are 0 that it leaves of ones."""
    found = mask_of(builder, rule.inside_mask(builder, operands, params, _one, ()))
    return found if not isinstance(found, Symbol) or is_mask(found) else found != 0


def _one(value: Any, *others: Any) -> Any:
    if not isinstance(value, Symbol) or value.shape == ():
        return 1.0
    return value.builder.call(runtime.broadcast_like, (1.0, value), {})


def mask_of(builder: Builder, ones: Any) -> Any:
    """The mask that ones and zeros are written by, where that is all of it."""
    rule, operands, params = builder.definition(ones)
    if rule is None:
        return ones
    if rule.elementwise and [filling_of(builder, each) for each in operands[1:]] == [1.0, 0.0]:
        return operands[0] if is_mask(operands[0]) else ones
    index = params.get("index")
    if not isinstance(index, Symbol) or not is_mask(index):
        return ones
    alone = values.same_shape(index.shape, ones.shape)
    return index if alone and filling_of(builder, operands[0]) == 0 else ones


def is_mask(value: Any) -> bool:
    dtype = values.strong_dtype(value.fact) if isinstance(value, Symbol) else None
    return values.is_dtype(dtype, bool)
