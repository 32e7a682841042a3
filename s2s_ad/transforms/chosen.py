"""Which elements a selection takes, for the functions that are given its adjoint.

Inside of a function an adjoint is an input, of which nobody sees that it is zero where a mask left
something out, or on a path of a branch. Where the function is steep it is given the mask, or the
condition, as well: see `rules/masks.py` and `left_out`.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, filling_of, is_same
from s2s_ad.core.regions import Branch, block
from s2s_ad.core.zero_paths import Paths, zero_paths


def chosen_of(builder: Builder, value: Any) -> Symbol | None:
    """Which elements the selection that a value is takes: a mask, or numbers that are 0 elsewhere;
    the condition of a branch that takes all or none of them.

    None where it is no selection, or where not each element is known to have an answer.
    """
    rule, operands, params = builder.definition(value)
    if rule is None:
        return None
    where = zero_paths(builder, [value])
    if where is not None:
        return None if where.is_nested else _taken(builder, where)
    if value.shape is None:
        return None
    for one in (lambda x, *others: 1.0, lambda x, *others: np.ones_like(x)):
        found = _mask_of(builder, rule.inside_mask(builder, operands, params, one, ()))
        if isinstance(found, Symbol) and values.same_shape(found.shape, value.shape):
            return found
    return None


def _taken(builder: Builder, where: Paths) -> Symbol:
    """Whether a branch is not on the paths."""
    condition = Symbol(builder, where.condition)
    return builder.call(operator.not_ if where.then else bool, (condition,), {})


def kind_of_chosen(chosen: Symbol | None) -> Any:
    """What a function is told that is given it: the fact of a condition, the dtype of a mask."""
    if chosen is None:
        return None
    return chosen.fact if isinstance(chosen.fact, values.Scalar) else chosen.dtype


def selected_by(builder: Builder, chosen: Symbol, value: Symbol) -> Any:
    """The value where it is chosen, as elements or as a whole, and zeros elsewhere."""
    if not isinstance(chosen.fact, values.Scalar):
        return np.where(chosen, value, 0.0)
    inner = Builder()
    leaf = inner.symbol(value.fact, builder.hints[value.name])
    taken = block(inner, [leaf.name], [leaf])
    with inner.at(builder.origin, builder.phase):
        none = 0.0 if value.shape == () else inner.call(runtime.zeros_like, (leaf,), {})
    nothing = block(inner, [leaf.name], [none])
    return Branch(taken, nothing).call(builder, [chosen, value])[0]


def _mask_of(builder: Builder, ones: Any) -> Any:
    """The mask that ones and zeros are written by, where that is all of it."""
    rule, operands, params = builder.definition(ones)
    if rule is None:
        return ones
    if rule.elementwise and len(operands) == 3 and all(map(is_same, operands[1:], (1.0, 0.0))):
        return operands[0] if _is_mask(operands[0]) else ones
    index = params.get("index")
    if not isinstance(index, Symbol) or not _is_mask(index):
        return ones
    alone = values.same_shape(index.shape, ones.shape)
    return index if alone and filling_of(builder, operands[0]) == 0 else ones


def _is_mask(value: Any) -> bool:
    dtype = values.strong_dtype(value.fact) if isinstance(value, Symbol) else None
    return values.is_dtype(dtype, bool)
