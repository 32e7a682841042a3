"""np.where over the samples of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.rule import Ragged
from s2s_ad.transforms.batch.context import Batch, Whole


def selectable(fact: Any) -> bool:
    """Whether arrays of such samples can be selected from: their shape is one and the same."""
    return isinstance(fact, values.Scalar | values.Array) and values.rank_of(fact) is not None


def either(context: Batch, condition: Symbol, a: Any, b: Any, fact: Any) -> Any:
    """`a` for the samples where the condition holds, `b` for the others."""
    if b is values.UNDEFINED or same(a, b):
        return a
    if a is values.UNDEFINED:
        return b
    shapes = [_sample_shape(context, each) for each in (a, b)]
    rank = values.rank_of(fact)
    if any(len(each) != rank for each in shapes) or not all(map(values.stored_whole, *shapes)):
        raise Ragged
    mask = np.expand_dims(condition, tuple(range(1, 1 + rank))) if rank else condition
    return context.mark(context.builder.call(np.where, (mask, a, b), {}))


def _sample_shape(context: Batch, value: Any) -> values.Shape:
    shape = values.shape_of(context.builder.fact(value))
    if shape is None:
        raise Ragged
    return shape[1:] if context.is_batched(value) else shape


def same(a: Any, b: Any) -> bool:
    a, b = (each.array if isinstance(each, Whole) else each for each in (a, b))
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        return isinstance(a, Symbol) and isinstance(b, Symbol) and a.name == b.name
    return type(a) is type(b) and a == b
