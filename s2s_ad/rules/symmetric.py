"""Matrices that are their own transposes, as it follows from how they are computed."""

from __future__ import annotations

from typing import Any

from s2s_ad.core import values
from s2s_ad.core.builder import Builder
from s2s_ad.core.rule import Rule

MOST = 40  # operations that are looked at


def is_symmetric(builder: Builder, matrix: Any) -> bool:
    """Whether a matrix is its own transpose but for rounding: each rule says when its result is."""
    waiting, met = [matrix], set()
    while waiting:
        value = waiting.pop()
        rank = values.rank_of(builder.fact(value))
        if rank == 0 or getattr(value, "name", "") in met:
            continue
        rule, operands, params = builder.definition(value)
        met.add(getattr(value, "name", ""))
        if rank != 2 or rule is None or len(met) > MOST:
            return False
        needed = rule.symmetric_with(builder, operands, params)
        if needed is None:
            return False
        waiting += needed
    return True


def unscaled(builder: Builder, value: Any) -> Any:
    """What a value is a multiple of, by numbers."""
    while (scaling := _scaling(builder, value)) is not None:
        _, operands, index = scaling
        value = operands[index]
    return value


def scaled_like(builder: Builder, value: Any, other: Any) -> Any:
    """The multiple of another value that `value` is of the one that `unscaled` gives."""
    scaling = _scaling(builder, value)
    if scaling is None:
        return other
    rule, operands, index = scaling
    operands = [*operands]
    operands[index] = scaled_like(builder, operands[index], other)
    return builder.call(rule.function, operands, {})


def _scaling(builder: Builder, value: Any) -> tuple[Rule, list, int] | None:
    """(rule, operands, position) of an operation that multiplies the array there by numbers."""
    rule, operands, params = builder.definition(value)
    if rule is None or not rule.elementwise or params:
        return None
    arrays = [i for i, x in enumerate(operands) if values.rank_of(builder.fact(x)) != 0]
    alone = len(arrays) == 1 and arrays[0] in rule.linear
    return (rule, operands, arrays[0]) if alone else None
