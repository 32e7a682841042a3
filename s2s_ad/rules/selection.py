"""Functions that find elements: the length of their result depends on the values."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Builder
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Ragged, Rule
from s2s_ad.rules import support


class FlatNonzero(Rule):
    """np.flatnonzero(x): the places of the elements that are true, in order."""

    flat = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        x = support.bind_call(builder, self, "a", args, kwargs)["a"]
        return builder.emit(self, [support.as_operand(builder, x)], {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Array(np.dtype(np.intp), (values.fresh_dim(),), selects=True)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise Ragged


register(FlatNonzero(np.flatnonzero, "flatnonzero"))
