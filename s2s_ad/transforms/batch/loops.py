"""Loops of a batch: which values differ from sample to sample, and whether the passes do."""

from __future__ import annotations

from s2s_ad.core import values
from s2s_ad.core.regions import Loop
from s2s_ad.core.rule import Ragged
from s2s_ad.transforms.batch.blocks import Block, batched_block, spread_as
from s2s_ad.transforms.batch.context import Batch, batched_fact
from s2s_ad.transforms.batch.gathers import empty
from s2s_ad.transforms.batch.lockstep import Lockstep


def batch_loop(
    context: Batch, region: Loop, operands: list, flags: list[bool]
) -> tuple[list, list[bool]]:
    """The outputs of a loop for a batch.

    A carried value is batched if it is before the loop or after a pass. Where all samples make
    the same passes, these are written for the batch; otherwise the samples go in lockstep, as
    long as each of them runs.
    """
    given = region.parts(flags)
    carried = list(given.carried)
    while True:
        body, test = _blocks(context, region, operands, carried)
        leaving = region.exits and body.batched[-1]
        if any(given.bounds) or leaving or (test is not None and test.batched[0]):
            if changes_shapes(region):
                raise Ragged  # samples that made other passes have other shapes
            context.draw_alike(operands, region.blocks)
            return Lockstep(context, region, operands, flags).outputs()
        after = [a or b for a, b in zip(carried, body.batched, strict=False)]
        if after == carried:
            break
        carried = after
    return _uniform(context, region, operands, carried, body, test), carried


def changes_shapes(region: Loop) -> bool:
    """Whether a pass gives a carried array another shape."""
    facts = region.body.facts
    pairs = zip(region.leaves(region.body).carried, region.results()[0], strict=True)
    shapes = [
        (values.shape_of(facts[name]), values.shape_of(region.body.fact(atom)))
        for name, atom in pairs
        if not isinstance(facts[name], values.List)
    ]
    return any(a and b is not None and a != b for a, b in shapes)


def _blocks(
    context: Batch, region: Loop, operands: list, carried: list[bool]
) -> tuple[Block, Block | None]:
    """The body and the test for carried values of which these are batched."""
    fixed = region.parts(operands).fixed
    varies = [context.is_batched(each) for each in fixed]
    facts = [
        batched_fact(fact, context.dim) if flag else fact
        for fact, flag in zip(region.facts, carried, strict=True)
    ]
    facts += map(context.builder.fact, fixed)
    index = [region.body.facts[name] for name in region.leaves(region.body).bounds]
    flags = [*carried, *varies]
    body = batched_block(context, region.body, [*index, *facts], [*(False for _ in index), *flags])
    if region.test is None:
        return body, None
    return body, batched_block(context, region.test, facts, flags)


def _uniform(
    context: Batch,
    region: Loop,
    operands: list,
    carried: list[bool],
    body: Block,
    test: Block | None,
) -> list:
    parts = region.parts(operands)
    outputs = body.spread(
        [*region.facts, *[None] * region.exits], [*carried, *[False] * region.exits]
    )
    blocks = [] if test is None else [test.program_with(test.leaves, test.outputs)]
    made = region.like([*blocks, body.program_with(body.leaves, outputs)], region.carried)
    read = {name for each in region.body.body for name in each.reads}
    columns = zip(
        region.leaves(region.body).carried, parts.carried, region.facts, carried, strict=True
    )
    initial = []
    for leaf, value, fact, flag in columns:
        if flag and value is values.UNDEFINED and leaf in read:
            value = empty(context, [fact], [*parts.carried, *parts.fixed])
        elif flag:
            value = spread_as(context, value, context.is_batched(value), fact)
        initial.append(value)
    fixed = [*parts.fixed, context.example]
    return made.call(context.builder, [*parts.bounds, *initial, *fixed])
