"""A loop in a loop puts what it saves on one stack, where it filled a list in each pass.

The loops of the backward pass empty the stack in the opposite order, so that each inner loop finds
its own items on top of it.
"""

from __future__ import annotations

from typing import Any

from s2s_ad import runtime
from s2s_ad.analysis.slots import Block, Corresponding, Slot, appended, taken_item
from s2s_ad.core import form, tree
from s2s_ad.core.builder import fresh_name
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Loop, everywhere_inwards
from s2s_ad.core.rule import ITEM


def use_one_stack(program: Program) -> Program:
    """A list of lists that a loop fills and another one empties becomes one list of their items.

    Example:
        >>> import numpy as np
        >>> from s2s_ad import grad
        >>> from s2s_ad.check.passes import after
        >>> def f(x):
        ...     for i in range(3):
        ...         for j in range(2):
        ...             x = np.sin(x)
        ...     return x
        >>> print(after(ONE_STACK, grad(f), 1.1))
        f_grad(x: float):
            t1 = list_of()
            _, x_lists.2 = for i in range(3) with x.2 = x, x_lists = t1:
                x.5, x_saved.3 = for j in range(2) with x.3 = x.2, x_saved = x_lists:
                    x_saved.2 = list_append(x_saved, x.3)
                    x.4 = np.sin(x.3)
                    next x.4, x_saved.2
                next x.5, x_saved.3
            x_bar.5, _ = for i in range(3) with x_bar = 1.0, x_lists.3 = x_lists.2:
                x_bar.4, x_lists.4 = for j in range(2) with x_bar.2 = x_bar, x_saved.4 = x_lists.3:
                    x.3, x_saved.5 = list_pop(x_saved.4)
                    t2 = np.cos(x.3)
                    x_bar.3 = x_bar.2 * t2
                    next x_bar.3, x_saved.5
                next x_bar.4, x_lists.4
            return x_bar.5
    """
    rules = ((each.target, each.rule) for each in program.body)
    loops = [(name, rule) for name, rule in rules if isinstance(rule, Loop)]
    if len(loops) < 2:
        return program
    block = Block(program)
    for name, loop in loops[1:]:
        for index in range(loop.carried):
            block = _with_one_stack(block, Slot(block, name, index))
    return block.program


def _with_one_stack(block: Block, empty: Slot) -> Block:
    """The block where a loop empties one stack at an index, if that can be."""
    fill = block.slot_after(empty.start)
    if fill is None or empty.is_read:
        return block
    made = _stacked(fill, empty, Corresponding(block, block))
    if made is None:
        return block
    block = Block(fill.replaced(made[0]))
    return Block(Slot(block, empty.name, empty.index).replaced(made[1]))


def _stacked(fill: Slot, empty: Slot, alike: Corresponding) -> tuple[form.Op, form.Op] | None:
    """Two loops with one stack where the one fills a list with lists and the other empties it.

    Each inner loop of the second has to take as many items as that of the first has put there: in
    each of their passes one, between the same bounds.
    """
    filling, emptying = Block(fill.loop.body), Block(empty.loop.body)
    append = appended(fill.loop, fill.index, filling)
    taken = taken_item(empty.loop, empty.index, emptying)
    if append is None or taken is None:
        return None
    inner, other = filling.slot_after(append.operands[1]), emptying.slot_from(taken[1])
    if inner is None or other is None or other.is_read:
        return None
    begun = filling.maker(inner.start)
    if begun is None or begun.function is not runtime.list_of or begun.operands:
        return None
    around = fill, empty, alike
    if not _are_as_many(inner, other, Corresponding(filling, emptying, around)):
        return None
    if (inner.fact, other.fact) != (fill.fact.item, empty.fact.item):
        return None
    bodies = _filling(fill, filling, inner, append, begun), _emptying(empty, emptying, other, taken)
    blocks = [*map(Block, bodies)]
    inner = Slot(blocks[0], inner.name, inner.index)
    other = Slot(blocks[1], other.name, other.index)
    deeper = _stacked(inner, other, Corresponding(inner.block, other.block, around))
    if deeper is not None:
        bodies = inner.replaced(deeper[0], fill.leaf), other.replaced(deeper[1], empty.leaf)
    return fill.with_body(bodies[0]), empty.with_body(bodies[1])


def _are_as_many(fill: Slot, empty: Slot, alike: Corresponding) -> bool:
    """Whether a loop takes as many items from a list as another one puts there."""
    if not all(each.loop.is_for and not each.loop.exits for each in (fill, empty)):
        return False
    if appended(fill.loop, fill.index) is None or taken_item(empty.loop, empty.index) is None:
        return False
    bounds = (each.loop.parts(each.statement.operands).bounds for each in (fill, empty))
    return all(map(alike, *bounds))


def _filling(fill: Slot, block: Block, inner: Slot, append: form.Op, begun: form.Op) -> Program:
    """The body of the first loop, of which the inner one puts its items on the stack."""
    body, output = block.program, [*block.outputs]
    output[fill.index] = append.operands[1]
    instead = {inner.name: [_begun_with(inner, fill.leaf)], append.target: [], begun.target: []}
    return _changed(body, instead, output, {fill.leaf: inner.fact})


def _emptying(empty: Slot, block: Block, inner: Slot, taken: tuple[str, ...]) -> Program:
    """The body of the second loop, of which the inner one takes its items off the stack."""
    body, output, name = block.program, [*block.outputs], fresh_name()
    output[empty.index] = form.name(name)
    index = {"index": form.constant(inner.index)}
    rest = inner.statement.beside(name, ITEM, [form.name(inner.name)], index)
    instead: dict[Any, list] = {each: [] for each in taken}
    instead[inner.name] = [_begun_with(inner, empty.leaf), rest]
    made = _changed(body, instead, output, {empty.leaf: inner.fact, name: inner.fact})
    return made.with_(hints={**body.hints, name: body.hints[empty.leaf]})


def _begun_with(slot: Slot, name: str) -> form.Op:
    """The loop with another value to begin with."""
    loop, operands = slot.loop, [*slot.statement.operands]
    operands[len(loop.parts(operands).bounds) + slot.index] = form.name(name)
    return slot.statement.with_operands(operands)


def _changed(body: Program, instead: dict[Any, list], output: list, facts: dict) -> Program:
    made = [new for each in body.body for new in instead.get(each.target, [each])]
    return body.with_(body=tuple(made), output=tree.tuple_of(output), facts=body.facts | facts)


ONE_STACK = Pass("one-stack", everywhere_inwards(use_one_stack))
