"""Branches, loops and try of a batch: which form each of them takes."""

from __future__ import annotations

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.regions import Attempt, Branch, Loop, Region
from s2s_ad.core.rule import Apart, Ragged
from s2s_ad.transforms.batch import samples
from s2s_ad.transforms.batch.blocks import Block, batched_block
from s2s_ad.transforms.batch.choices import select
from s2s_ad.transforms.batch.context import Batch
from s2s_ad.transforms.batch.kept import mirrored
from s2s_ad.transforms.batch.lockstep import Mirrored
from s2s_ad.transforms.batch.loops import batch_loop


def batch_region(
    context: Batch, region: Region, operands: list, flags: list[bool]
) -> tuple[list, list[bool]]:
    """The outputs of a region for a batch, and which of them are batched."""
    if any(isinstance(each, values.Word | values.Error) for each in region.facts):
        raise Ragged  # neither texts nor exceptions are put into arrays
    kept = mirrored(context, region, operands)
    if kept is not None and isinstance(region, Loop):
        context.draw_alike(operands, region.blocks)
        return Mirrored(context, region, operands, flags, kept).outputs()
    emit = {Attempt: _attempt, Branch: _branch, Loop: batch_loop}[type(region)]
    try:
        return emit(context, region, operands, flags)
    except Apart:
        raise
    except Ragged:
        context.draw_alike(operands, region.blocks)
        operands = [context.gathered(each) for each in operands]
        return samples.each_of_region(context, region, operands, flags)


def _branch(
    context: Batch, region: Branch, operands: list, flags: list[bool]
) -> tuple[list, list[bool]]:
    """A condition that is the same for all samples: both blocks are written for the batch."""
    if flags[0]:
        return select(context, region, operands, flags)
    if not isinstance(operands[0], Symbol):
        side = region.then if operands[0] else region.orelse
        return context.walk(side, dict(zip(side.leaves(), operands[1:], strict=True)))
    facts = [context.builder.fact(each) for each in operands[1:]]
    blocks = [batched_block(context, each, facts, flags[1:]) for each in region.blocks]
    return _for_all(context, region, blocks, operands)


def _attempt(
    context: Batch, region: Attempt, operands: list, flags: list[bool]
) -> tuple[list, list[bool]]:
    """Which block comes to its end is the same for all samples where nothing can be raised by
    what differs between them."""
    facts = [context.builder.fact(each) for each in operands]
    blocks = [batched_block(context, each, facts, flags) for each in region.blocks]
    if not blocks[0].is_quiet():
        raise Ragged
    results, varies = _for_all(context, region, blocks, operands)
    return results, [*varies, False]


def _for_all(
    context: Batch, region: Region, blocks: list[Block], operands: list
) -> tuple[list, list[bool]]:
    """The outputs of a region of which one block runs for all samples, and which are batched."""
    varies = [any(column) for column in zip(*(each.batched for each in blocks), strict=True)]
    facts = region.facts[: len(varies)]
    made = region.like([b.program_with(b.leaves, b.spread(facts, varies)) for b in blocks])
    return made.call(context.builder, [*operands, context.example]), varies
