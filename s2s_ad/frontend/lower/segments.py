"""checkpoint(range(n), every=k): a loop cut into segments, of which each is a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.custom import CheckpointCallee
from s2s_ad.core.program import TEMPORARY, Hint, Input, Program
from s2s_ad.core.regions import Loop, block
from s2s_ad.diagnostics import UnsupportedError

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


@dataclass(frozen=True, slots=True)
class Segmented:
    """What a loop runs over, and how many passes of it make a segment."""

    items: Any
    every: Any


def segmented(lowering: Lowering, loop: Loop, operands: Sequence[Any], every: Any) -> list:
    """Emit the loop as a loop over segments; returns the carried values after it.

    The outer loop keeps what is carried once for each segment; the backward pass runs a segment
    again before it goes back through it.
    """
    start, stop, step = operands[:3]
    if loop.exits or not loop.is_for or type(step) is not int:
        raise UnsupportedError(
            "S2S201",
            "a checkpoint around a loop that may end early, or whose step is not known",
            origin=lowering.builder.origin,
            help="let it run over range(n), without break and return",
        )
    if loop.backwards:
        raise UnsupportedError(
            "S2S201",
            "a checkpoint around a reversed range",
            origin=lowering.builder.origin,
            help="checkpoint(range(n - 1, -1, -1), every=...)",
        )
    builder = lowering.builder
    stride = every if step == 1 else every * step
    parts = loop.parts(list(operands))
    more = [stop, stride, *parts.fixed]
    body = _outer(builder, loop, parts.carried, more, step)
    outer = Loop(body, loop.carried)
    return outer.call(builder, [start, stop, stride, *parts.carried, *more])


def _outer(
    around: Builder, loop: Loop, carried: Sequence[Any], more: Sequence[Any], step: int
) -> Program:
    """The body of the loop over segments: where the segment ends, and the segment."""
    names = loop.leaves(loop.body)
    builder = Builder(merge=False)
    builder.origin = around.origin
    first = builder.symbol(loop.body.facts[names.bounds[0]], Hint("first", "derived"))
    values_ = [_leaf(builder, loop.body, name) for name in names.carried]
    stop, stride, *fixed = (_like(builder, around, each) for each in more)
    nearer = np.minimum if step > 0 else np.maximum
    last = builder.call(nearer, (first + stride, stop), {})
    builder.named(last, Hint("last", "derived"))
    callee = CheckpointCallee(_segment(builder, loop, step))
    results = callee.call(builder, [first, last, *values_, *fixed])
    leaves = [first, *values_, stop, stride, *fixed]
    return block(builder, [each.name for each in leaves], results)


def _segment(around: Builder, loop: Loop, step: int) -> Program:
    """The passes from `first` to `last` as a function."""
    names = loop.leaves(loop.body)
    builder = Builder(merge=False)
    builder.origin = around.origin
    integer = loop.body.facts[names.bounds[0]]
    bounds = [builder.symbol(integer, Hint(text, "derived")) for text in ("first", "last")]
    inner = [_leaf(builder, loop.body, name) for name in (*names.carried, *names.fixed)]
    results = loop.call(builder, [*bounds, step, *inner])
    made = block(builder, [each.name for each in (*bounds, *inner)], results, name="segment")
    texts = _distinct([builder.hints[each.name].text or "x" for each in (*bounds, *inner)])
    inputs = tuple(Input(text, each.tree) for text, each in zip(texts, made.inputs, strict=True))
    return made.with_(inputs=inputs)


def _distinct(texts: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    found = []
    for text in texts:
        seen[text] = seen.get(text, 0) + 1
        found.append(text if seen[text] == 1 else f"{text}_{seen[text]}")
    return found


def _leaf(builder: Builder, program: Program, name: str) -> Symbol:
    return builder.symbol(program.facts[name], program.hints.get(name, TEMPORARY))


def _like(builder: Builder, around: Builder, value: Any) -> Symbol:
    hint = around.hints.get(getattr(value, "name", None), TEMPORARY)
    return builder.symbol(around.fact(value), hint)
