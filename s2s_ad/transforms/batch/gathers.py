"""Some of the samples of a batch: gathered, computed with, written back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.rule import Ragged
from s2s_ad.transforms.batch.blocks import batched_fact, filled

if TYPE_CHECKING:
    from s2s_ad.transforms.batch.core import Batch


def adopted(
    builder: Builder, program: Program, names: Iterable[str], facts: Iterable[Any]
) -> dict[str, Symbol]:
    """Leaves of a program under their own names, with other facts."""
    return {
        name: builder.adopt(name, fact, program.hints.get(name, TEMPORARY))
        for name, fact in zip(names, facts, strict=True)
    }


@dataclass(frozen=True, slots=True)
class Whole:
    """An array of all samples that stands for those at some places, until it has to be copied.

    So a pass that reads or writes one element of each sample costs no copy of all of them.
    """

    array: Symbol
    places: Symbol
    start: Symbol  # the array before it was written to

    @property
    def fact(self) -> values.Array:
        """The abstract value of those at the places."""
        shape = self.array.shape
        return values.Array(self.array.dtype, shape and (*self.places.shape, *shape[1:]))

    def gathered(self) -> Symbol:
        return named_like(self.array, self.array[self.places])


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


def named_like(leaf: Symbol, part: Any) -> Any:
    """A value for some of the samples is called after the one for all: x_i."""
    hint = leaf.builder.hints[leaf.name]
    if hint.text and isinstance(part, Symbol) and part.name != leaf.name:
        leaf.builder.hints[part.name] = Hint(f"{hint.text}_i", "temporary")
    return part


def inverted(mask: Symbol) -> Symbol:
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
