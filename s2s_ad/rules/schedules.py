"""Whole numbers that say which states of a loop are kept: checkpoint(range(n), memory=m)."""

from __future__ import annotations

from typing import Any

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder
from s2s_ad.core.registry import register
from s2s_ad.core.rule import CannotBatch, Operation, Rule


class WholeNumber(Rule):
    """A whole number computed from whole numbers."""

    flat = True
    cost = 3

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), kwargs)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Scalar(int)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise CannotBatch


register(WholeNumber(runtime.passes_ahead, "passes_ahead"))
register(WholeNumber(runtime.states_kept, "states_kept"))
