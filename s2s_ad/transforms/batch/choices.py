"""A branch whose condition differs from sample to sample.

Where both sides are total and cheap, both are computed for all samples, and `np.where` selects.
Otherwise each side is computed for the samples that take it: see `partition`.
"""

from __future__ import annotations

from collections.abc import Sequence

from s2s_ad.core.builder import Symbol
from s2s_ad.core.callee import item_of
from s2s_ad.core.regions import Branch, region_of
from s2s_ad.core.rule import Ragged
from s2s_ad.transforms.batch.blocks import Block, batched_block
from s2s_ad.transforms.batch.context import Batch, Whole
from s2s_ad.transforms.batch.partition import Partition
from s2s_ad.transforms.batch.selections import either, is_harmless, selectable

MOST_FOR_WHERE = 12  # operations of both sides that are computed for all samples
MOST_IN_LANES = 60  # the same where several samples are computed at once


def select(
    context: Batch, region: Branch, operands: list, flags: list[bool]
) -> tuple[list, list[bool]]:
    """The outputs of a branch that some samples take and others do not."""
    condition, *operands = operands
    if condition.ndim != 1:
        raise Ragged
    context.draw_alike(operands, region.blocks)
    facts = [
        each.fact if isinstance(each, Whole) else context.builder.fact(each) for each in operands
    ]
    found = None
    if context.masked or _is_short(region):
        blocks = [batched_block(context, each, facts, flags[1:]) for each in region.blocks]
        found = _where(context, region, condition, operands, blocks)
    if found is None:
        context.needs_no_masks()
        found = Partition(context, region, condition, operands, flags[1:]).outputs()
    return found, [context.is_batched(each) for each in found]


def _is_short(region: Branch) -> bool:
    """Whether `np.where` may come into question, which is asked of the batched blocks.

    Blocks are batched again where it does not; of branches in branches each would be, twice as
    often as the one around it.
    """
    count, waiting = 0, list(region.blocks)
    while waiting:
        for statement in waiting.pop().body:
            inner = region_of(statement)
            waiting += inner.blocks if inner is not None else ()
            count += inner is None and item_of(statement) is None
            if count > MOST_FOR_WHERE:
                return False
    return True


# ---- np.where ------------------------------------------------------------------------------------


def _where(
    context: Batch, region: Branch, condition: Symbol, operands: list, blocks: Sequence[Block]
) -> list | None:
    """The outputs by np.where; None where a side is not for all samples to compute."""
    statements = [(each, block) for block in blocks for each in block.context.builder.body]
    most = MOST_IN_LANES if context.masked else MOST_FOR_WHERE
    if len(statements) > most or not all(map(selectable, region.facts)):
        return None
    if not all(is_harmless(block.context, each) for each, block in statements):
        return None
    operands = [context.gathered(each) for each in operands]
    sides = []
    for each in blocks:
        made = each.program_with(each.leaves, each.outputs)
        values_ = [*operands, context.example]
        items = context.builder.splice(made, dict(zip(each.leaves, values_, strict=True))).items
        for value, flag in zip(items, each.batched, strict=True):
            context.mark(value, flag)
        sides.append(items)
    pairs = zip(*sides, region.facts, strict=True)
    return [either(context, condition, a, b, fact) for a, b, fact in pairs]
