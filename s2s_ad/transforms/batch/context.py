"""The batch that a program is written for: its facts, and which values have a batch axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, measure, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callee import draws, is_watched
from s2s_ad.core.program import Hint, Program
from s2s_ad.core.regions import Loop, block
from s2s_ad.core.rule import Apart, Ragged


def batched_fact(fact: values.AbstractValue, dim: int | values.Dim) -> values.AbstractValue:
    """The abstract value of a batch of such values; of lists it is a list of batches."""
    if isinstance(fact, values.List):
        return values.List(batched_fact(fact.item, dim))
    if fact == values.Static(values.UNDEFINED):
        return fact
    return values.add_axis(fact, 0, dim)


def sample_fact(fact: values.AbstractValue) -> values.AbstractValue:
    """The abstract value of one sample of a batch."""
    if isinstance(fact, values.List):
        return values.List(sample_fact(fact.item))
    shape = values.shape_of(fact)
    return fact if not shape else values.with_shape(fact, shape[1:])


@dataclass(frozen=True, slots=True)
class Kept:
    """What belongs to a list of items for some of the samples each.

    Attributes:
        places: the list of the places of these samples.
        dim: the number of samples of an item.
    """

    places: Symbol
    dim: values.Dim


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
        shape, some = self.array.shape, self.places.shape
        known = None if shape is None or some is None else (*some, *shape[1:])
        return values.Array(self.array.dtype, known)

    def gathered(self) -> Symbol:
        return named_like(self.array, self.array[self.places])


def named_like(leaf: Symbol, part: Any) -> Any:
    """A value for some of the samples is called after the one for all: x_i."""
    hint = leaf.builder.hints[leaf.name]
    if hint.text and isinstance(part, Symbol) and part.name != leaf.name:
        leaf.builder.hints[part.name] = Hint(f"{hint.text}_i", "temporary")
    return part


class NotMasked(Exception):
    """A program through which samples cannot go together, what is not theirs being masked."""


#: (batch, program, a value for each leaf) -> the outputs of the program
Writer = Callable[["Batch", Program, Mapping[str, Any]], list]


class Batch:
    """The batch that a program is being written for, as batching rules see it.

    Args:
        builder: where the batched program is written.
        example: a Symbol whose first axis is as long as the batch.
        writer: writes a program for a batch; blocks are written by it.
        seeded: the function sets the state that its random numbers come from: each sample draws
            what it would draw by itself.
        masked: all samples take both sides of a branch, and what is not theirs is masked, however
            much it is; NotMasked where it has to be otherwise. It is for native code.
    """

    def __init__(
        self,
        builder: Builder,
        example: Symbol,
        writer: Writer,
        *,
        masked: bool = False,
        seeded: bool = False,
    ):
        self.builder, self.example, self.writer = builder, example, writer
        self.masked, self.seeded = masked, seeded
        self.batched: set[str] = set()
        self.kept: dict[str, Kept] = {}  # lists of which an item is for some samples
        self.counts: dict[str, Kept] = {}  # their lengths
        self.dim = example.shape[0] if example.shape else values.fresh_dim()

    def like(self, builder: Builder, example: Symbol) -> Batch:
        """Another batch, whose programs are written as those of this one are."""
        return Batch(builder, example, self.writer, masked=self.masked, seeded=self.seeded)

    def needs_no_masks(self) -> None:
        """Give up where not all samples do the same, in a batch that is masked."""
        if self.masked:
            raise NotMasked

    def walk(
        self, program: Program, arguments: Mapping[str, Any], *, in_place: bool = False
    ) -> tuple[list, list[bool]]:
        """Write a program for this batch: its outputs, and which of them are batched.

        A program that is written `in_place` may hand on lists of items for some samples.
        """
        outputs = self.writer(self, program, arguments)
        if not in_place and any(map(self.kept_of, outputs)):
            raise Ragged
        return outputs, [self.is_batched(each) for each in outputs]

    @property
    def size(self) -> Any:
        """The number of samples."""
        return np.size(self.example, 0)

    @property
    def positions(self) -> Symbol:
        """0, 1, ... for each sample."""
        numbers = self.builder.call(np.arange, (self.size,), {})
        return self.builder.named(numbers, Hint("batch", "derived"))

    def is_batched(self, value: Any) -> bool:
        if isinstance(value, tuple | list):
            return any(map(self.is_batched, value))
        if isinstance(value, slice):
            if self.is_batched((value.start, value.stop, value.step)):
                raise Ragged  # the samples' slices could have different lengths
            return False
        return isinstance(value, Whole) or (
            isinstance(value, Symbol) and value.name in self.batched
        )

    def draw_alike(self, operands: Iterable[Any], blocks: Sequence[Program]) -> None:
        """Give up where these blocks, which run for some samples only, may draw random numbers."""
        if self.seeded and draws(blocks):
            raise Apart
        names = [each.name for each in operands if isinstance(each, Symbol)]
        if any(isinstance(self.builder.facts[name], values.Generator) for name in names):
            raise Apart

    def gathered(self, value: Any) -> Any:
        """A value that an operation can take."""
        if isinstance(value, tuple | list):
            return type(value)(map(self.gathered, value))
        return self.mark(value.gathered()) if isinstance(value, Whole) else value

    def kept_of(self, value: Any) -> Kept | None:
        return self.kept.get(value.name) if isinstance(value, Symbol) else None

    def mark(self, value: Any, batched: bool = True) -> Any:
        """Note that the value has a batch axis."""
        if batched and isinstance(value, Symbol):
            self.batched.add(value.name)
        return value

    def is_varied(self, statement: form.Statement) -> bool:
        """Whether an operation that was written reads what differs from sample to sample."""
        return any(name in self.batched for name in statement.reads)

    def is_elementwise(self, statement: form.Statement) -> bool:
        """Whether a statement that was written acts on each element by itself, so that it raises
        nothing and an empty batch is no case of its own."""
        if isinstance(statement, form.Effect) or is_watched(statement):
            return False
        rule, operands, _ = self.builder.definitions[statement.target]
        return rule.is_total(operands) or (rule.elementwise and self.is_varied(statement))

    def sample(self, value: Symbol) -> Symbol:
        """A stand-in with the abstract value of one sample."""
        return self.builder.symbol(sample_fact(value.fact))

    def spread(self, value: Any, batched: bool) -> Any:
        """`value` with a batch axis, the same for every sample where it had none."""
        if batched or value is values.UNDEFINED:
            return value
        if not isinstance(value, Symbol):
            return self.builder.call(np.full, ((self.size,), value), {})
        fact = value.fact
        if isinstance(fact, values.List):
            return self._spread_list(value, fact)
        if value.ndim is None:
            return self._spread_any(value)
        shape = (self.size, *measure.all_lengths(value))
        rule, _, _ = self.builder.definition(value)
        if rule is not None and rule.zeros and value.dtype is not None:
            return self.builder.call(np.zeros, (shape,), {"dtype": value.dtype})
        return np.broadcast_to(value, shape)

    def _spread_any(self, value: Symbol) -> Symbol:
        """A value with a batch axis, whose rank only the run will tell."""
        call = self.builder.call
        ones = call(np.ones, (self.size,), {})
        ones = call(runtime.pad_samples, (ones, np.ndim(value) + 1), {})
        return call(runtime.broadcast_like, (value, ones * value), {})

    def _spread_list(self, items: Symbol, fact: values.List) -> Symbol:
        """A list whose items are the same for every sample, as a list of batches."""
        builder, call = self.builder, self.builder.call
        rule, known, _ = builder.definition(items)
        if rule is not None and rule.function is runtime.list_of:
            return call(runtime.list_of, [self.spread(each, False) for each in known], {})
        inner = Builder()
        inner.origin, inner.phase = builder.origin, builder.phase
        index = inner.symbol(values.Scalar(int))
        spread = inner.symbol(values.List(batched_fact(fact.item, self.dim)))
        leaf, example = inner.symbol(fact), inner.symbol(self.example.fact)
        more = self.like(inner, example).spread(leaf[index], False)
        outputs = [inner.call(runtime.list_append, (spread, more), {})]
        body = block(inner, [each.name for each in (index, spread, leaf, example)], outputs)
        start, count = call(runtime.list_of, (), {}), np.size(items, 0)
        return Loop(body, 1).call(builder, [0, count, 1, start, items, self.example])[0]
