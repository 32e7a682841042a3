"""Some of the samples of a batch: gathered, computed with, written back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.rule import Ragged
from s2s_ad.transforms.batch.blocks import filled
from s2s_ad.transforms.batch.context import Batch, Whole, batched_fact


def gathered(
    context: Batch, leaves: Mapping[str, Symbol], batched: Iterable[bool], places: Symbol
) -> dict[str, Any]:
    """The leaves for the samples at these places, which are the batch of `context`."""
    found = {}
    for (name, leaf), flag in zip(leaves.items(), batched, strict=True):
        if flag and isinstance(leaf.fact, values.List):
            raise Ragged
        found[name] = Whole(leaf, places, leaf) if flag else leaf
        if flag and leaf.ndim == 1:
            found[name] = context.mark(found[name].gathered())
    return found


def inverted(mask: Symbol) -> Any:
    """Where a condition does not hold."""
    return ~mask if values.is_dtype(mask.dtype, bool) else np.logical_not(mask)


def written(context: Batch, base: Symbol, places: Symbol, value: Any) -> Symbol:
    """`base` with the samples at these places replaced; all samples have one shape."""
    if isinstance(value, Whole):
        if value.start.name == base.name:
            return value.array
        value = context.gathered(value)
    shape, own = base.shape, values.shape_of(context.builder.fact(value))
    if shape is None or own is None or base.dtype is None:
        raise Ragged
    if not _takes(base.dtype, context.builder.fact(value)):
        raise Ragged
    sample = own[1:] if context.is_batched(value) else own
    if len(sample) != len(shape) - 1 or not all(map(values.stored_whole, sample, shape[1:])):
        raise Ragged
    return context.builder.call(runtime.index_set, (base, places, value), {})


def _takes(dtype: np.dtype, value: Any) -> bool:
    """Whether an array of this dtype holds such values as they are."""
    given = values.dtype_argument(value)
    return given is not None and np.result_type(dtype, given) == dtype


def empty(context: Batch, facts: Sequence[Any], known: Sequence[Any]) -> Symbol:
    """An array for the results of all samples; each of the facts holds for one of them."""
    fact, dtype = facts[0], values.strong_dtype(facts[0])
    for each in facts:
        lengths = lengths_of(values.shape_of(each), known)
        if lengths is not None and dtype is not None:
            found = filled(context, lengths, 0, dtype)
            shape = values.shape_of(batched_fact(fact, context.dim))
            context.builder.facts[found.name] = values.Array(dtype, shape)
            return context.mark(found)
    raise Ragged


def lengths_of(shape: values.Shape | None, known: Sequence[Any]) -> list | None:
    """The lengths of one sample, read off values that are at hand."""
    lengths = [_length(dim, known) for dim in shape or ()]
    return None if shape is None or values.missing(lengths) else lengths


def _length(dim: int | values.Dim, known: Sequence[Any]) -> Any:
    if isinstance(dim, int):
        return dim
    for value in known:
        shape = value.shape if isinstance(value, Symbol) else None
        if shape and dim in shape:
            return np.size(value, shape.index(dim))
    return None
