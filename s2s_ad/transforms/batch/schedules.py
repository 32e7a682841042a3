"""Passes that keep few states, for a batch: one schedule for all samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from s2s_ad.core.custom import ScheduledCallee
from s2s_ad.transforms.batch.blocks import spread_as
from s2s_ad.transforms.batch.context import Batch, batched_fact


def has_schedule(call: ScheduledCallee, flags: Sequence[bool]) -> bool:
    """Whether it keeps few states, and the same passes run for all samples."""
    return call.whole is None and not any(flags[: call.numbers])


def batch_schedule(
    context: Batch,
    call: ScheduledCallee,
    operands: list,
    flags: Sequence[bool],
    batched_program: Callable,
) -> tuple[list, list[bool]]:
    """Call the passes of all samples; a carried value is batched before all passes or in none."""
    first, last = ScheduledCallee.numbers, ScheduledCallee.numbers + call.carried
    names = call.one_pass.leaves()
    facts = [call.one_pass.facts[name] for name in names[1 : 1 + call.carried]]
    given = list(map(context.builder.fact, operands))
    carried = list(flags[first:last])
    while True:
        now = [
            batched_fact(f, context.dim) if b else f for f, b in zip(facts, carried, strict=True)
        ]
        kinds = [call.one_pass.facts[names[0]], *now, *given[last:]]
        varied = [False, *carried, *flags[last:]]
        one_pass, after = batched_program(call.one_pass, kinds, varied, carried)
        more = [a or b for a, b in zip(carried, after, strict=True)]
        if more == carried:
            break
        carried = more
    kinds, varied = [*given[:first], *kinds[1:]], [*flags[:first], *varied[1:]]
    program, _ = batched_program(call.program, kinds, varied, carried)
    states: list[Any] = [
        spread_as(context, value, context.is_batched(value), fact) if flag else value
        for value, fact, flag in zip(operands[first:last], facts, carried, strict=True)
    ]
    made = ScheduledCallee(program.program, one_pass.program)
    return made.call(context.builder, [*operands[:first], *states, *operands[last:]]), carried
