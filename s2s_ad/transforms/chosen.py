"""Which elements a selection takes, for the functions that are given its adjoint.

Inside of a function an adjoint is an input, of which nobody sees that it is zero where a mask left
something out. Where the function is steep it is given the mask as well, see `rules/masks.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, filling_of


def chosen_of(builder: Builder, value: Any) -> Symbol | None:
    """Which elements the selection that a value is takes: a mask, or numbers that are 0 elsewhere.

    None where it is no selection, or where not each element is known to have an answer.
    """
    rule, operands, params = builder.definition(value)
    if rule is None or value.shape is None:
        return None
    for one in (lambda x, *others: 1.0, lambda x, *others: np.ones_like(x)):
        found = _mask_of(builder, rule.inside_mask(builder, operands, params, one, ()))
        if isinstance(found, Symbol) and values.same_shape(found.shape, value.shape):
            return found
    return None


def _mask_of(builder: Builder, ones: Any) -> Any:
    """The mask that ones and zeros are written by, where that is all of it."""
    rule, operands, params = builder.definition(ones)
    if rule is None:
        return ones
    if rule.elementwise and operands[1:] == [1.0, 0.0]:
        return operands[0] if _is_mask(operands[0]) else ones
    index = params.get("index")
    if not isinstance(index, Symbol) or not _is_mask(index):
        return ones
    alone = values.same_shape(index.shape, ones.shape)
    return index if alone and filling_of(builder, operands[0]) == 0 else ones


def _is_mask(value: Any) -> bool:
    dtype = values.strong_dtype(value.fact) if isinstance(value, Symbol) else None
    return values.is_dtype(dtype, bool)
