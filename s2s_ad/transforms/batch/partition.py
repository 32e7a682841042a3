"""Each side of a branch for the samples that take it: gathered, computed, written back.

So a side sees no sample that does not take it, and a side that no sample takes is not run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callee import has_effect
from s2s_ad.core.program import Hint, Program
from s2s_ad.core.regions import Branch, block
from s2s_ad.core.rule import Ragged
from s2s_ad.core.updates import place_of
from s2s_ad.transforms.batch.blocks import adopted, spread_as
from s2s_ad.transforms.batch.context import Batch, Whole, sample_fact
from s2s_ad.transforms.batch.gathers import empty, gathered, inverted, written
from s2s_ad.transforms.batch.selections import either, same, selectable

_MISSING = object()


class Partition:
    """A branch, some samples taking one side and the others the other.

    Attributes:
        arrays: the operands; an array that an output is an update of is updated in turn by
            both sides, each of which touches its own samples only.
        carriers: the outputs that are updates of an operand, and the operand's place.
        results: the other outputs, as far as they are known.
    """

    def __init__(
        self, context: Batch, region: Branch, condition: Symbol, operands: list, flags: list[bool]
    ):
        self.context, self.region, self.condition = context, region, condition
        self.operands, self.flags = operands, flags
        self.arrays = [each.array if isinstance(each, Whole) else each for each in operands]
        self.at_hand = [self._at_hand(side) for side in region.blocks]
        inside = [region.then.facts[name] for name in region.then.leaves()]
        self.lengths = values.Lengths(inside, map(self._sample_fact, operands, flags))
        self.carriers: dict[int, int] = {}
        self.results: dict[int, Any] = {}

    def _sample_fact(self, operand: Any, batched: bool) -> values.AbstractValue:
        if isinstance(operand, Whole):
            return sample_fact(operand.fact)
        fact = self.context.builder.fact(operand)
        return sample_fact(fact) if batched else fact

    def _at_hand(self, side: Program) -> dict[int, Any]:
        """The outputs of a side that need no computation."""
        known = dict(zip(side.leaves(), self.operands, strict=True))
        found = {}
        for position, atom in enumerate(side.outputs()):
            if isinstance(atom, gast.Constant):
                found[position] = atom.value
            elif atom.id in known:
                found[position] = known[atom.id]
        return found

    def outputs(self) -> list:
        for position, fact in enumerate(self.region.facts):
            self._start(position, self._promoted(position, self.lengths.translated(fact)))
        masks = (lambda: self.condition), (lambda: inverted(self.condition))
        for side, at_hand, mask, name in zip(
            self.region.blocks, self.at_hand, masks, ("taken", "others"), strict=True
        ):
            computed = [i for i in range(self.region.count) if i not in at_hand]
            if computed or any(map(has_effect, side.body)):
                found = self.context.builder.named(np.flatnonzero(mask()), Hint(name, "derived"))
                self._run(side, found, computed)
        return [self._result(position) for position in range(self.region.count)]

    def _result(self, position: int) -> Any:
        if position not in self.carriers:
            return self.results[position]
        operand = self.operands[self.carriers[position]]
        array = self.context.mark(self.arrays[self.carriers[position]])
        return Whole(array, operand.places, operand.start) if isinstance(operand, Whole) else array

    # ---- where the results go

    def _promoted(self, position: int, fact: Any) -> Any:
        """The fact of an output; sides of several dtypes give what NumPy makes of both."""
        if not isinstance(fact, values.Array) or fact.dtype is not None:
            return fact
        sides = [side.fact(side.outputs()[position]) for side in self.region.blocks]
        dtypes = [values.strong_dtype(each) for each in sides]
        return fact if values.missing(dtypes) else replace(fact, dtype=np.result_type(*dtypes))

    def _start(self, position: int, fact: Any) -> None:
        """What is at hand of an output; else an array for the sides to write to."""
        for found in self.at_hand:
            if position in found and not self._is_of_shape(found[position], fact):
                del found[position]
        then, orelse = (found.get(position, _MISSING) for found in self.at_hand)
        if then is _MISSING or orelse is _MISSING:
            carrier = self._carrier(position, fact)
            if carrier is not None:
                self.carriers[position] = carrier
            else:
                self.results[position] = self._array(
                    position, fact, orelse if then is _MISSING else then
                )
        elif then is values.UNDEFINED or orelse is values.UNDEFINED or same(then, orelse):
            self.results[position] = orelse if then is values.UNDEFINED else then
        elif selectable(fact):
            a, b = (self.context.gathered(each) for each in (then, orelse))
            self.results[position] = either(self.context, self.condition, a, b, fact)
        else:
            raise Ragged

    def _array(self, position: int, fact: Any, value: Any) -> Symbol:
        """An array that holds the values of the side that need no computation."""
        if value is _MISSING or value is values.UNDEFINED:
            sides = [side.fact(side.outputs()[position]) for side in self.region.blocks]
            facts = [fact, *map(self.lengths.translated, sides)]
            return empty(self.context, facts, self.arrays)
        value = self.context.gathered(value)
        start = spread_as(self.context, value, self.context.is_batched(value), fact)
        return self.context.mark(start)

    def _is_of_shape(self, value: Any, fact: Any) -> bool:
        """Whether a value is certain to have the shape of the samples' results, whoever takes
        which side."""
        known = value.fact if isinstance(value, Whole) else self.context.builder.fact(value)
        shape, wanted = values.shape_of(known), values.shape_of(fact)
        if shape and self.context.is_batched(value):
            shape = shape[1:]
        return not shape or wanted is None or values.are_equal(shape, wanted)

    def _carrier(self, position: int, fact: Any) -> int | None:
        """The operand that an output is an update of on both sides, or on the only one."""
        roots = {place_of(side, side.outputs()[position]) for side in self.region.blocks}
        root = roots.pop() if len(roots) == 1 else None
        if root is None or not self.flags[root] or root in self.carriers.values():
            return None
        array = self.arrays[root]
        if not isinstance(fact, values.Array) or array.shape is None:
            return None
        known = not values.missing((fact.dtype, array.dtype))
        alike = known and fact.dtype == array.dtype and fact.shape == array.shape[1:]
        return root if alike else None

    # ---- the sides

    def _run(self, side: Program, places: Symbol, computed: list[int]) -> None:
        """Compute these outputs of a side at these places, and enter them in the results."""
        outer = self.context.builder
        builder = Builder()
        builder.origin, builder.phase = outer.origin, outer.phase
        index = builder.symbol(places.fact, outer.hints[places.name])
        leaves = adopted(builder, side, side.leaves(), map(outer.fact, self.arrays))
        outside = self._places()
        inside = {name: builder.symbol(each.fact) for name, each in outside.items()}
        context = self.context.like(builder, index)
        samples = self._samples(context, leaves, index, inside)
        front = len(builder.body)
        outputs, _ = context.walk(side, samples)
        harmless = all(map(context.is_elementwise, builder.body[front:]))
        bases, more = [], []
        for position in computed:
            if position in self.carriers:
                bases.append(list(leaves.values())[self.carriers[position]])
            else:
                more.append(self.results[position])
                bases.append(builder.symbol(more[-1].fact))
        updated = [
            written(context, base, self._places_of(position, samples, index), outputs[position])
            for base, position in zip(bases, computed, strict=True)
        ]
        names = [index.name, *leaves, *(each.name for each in inside.values())]
        names += [each.name for each in bases if each.name not in leaves]
        operands = [places, *self.arrays, *outside.values(), *more]
        found = self._written_out(builder, side, names, bases, updated, operands, harmless)
        for position, value in zip(computed, found, strict=True):
            if position in self.carriers:
                self.arrays[self.carriers[position]] = self.context.mark(value)
            else:
                self.results[position] = self.context.mark(value)

    def _places(self) -> dict[str, Symbol]:
        """Where in arrays of more samples those of this batch stand."""
        return {each.places.name: each.places for each in self.operands if isinstance(each, Whole)}

    def _samples(
        self,
        context: Batch,
        leaves: dict[str, Symbol],
        index: Symbol,
        inside: dict[str, Symbol],
    ) -> dict[str, Any]:
        """The leaves for the samples that take the side."""
        found = gathered(context, leaves, self.flags, index)
        for (name, leaf), operand in zip(leaves.items(), self.operands, strict=True):
            if isinstance(operand, Whole):
                found[name] = Whole(leaf, inside[operand.places.name][index], leaf)
        return found

    def _places_of(self, position: int, samples: dict[str, Any], index: Symbol) -> Symbol:
        """Where in the array of an output the samples stand."""
        if position not in self.carriers:
            return index
        sample = list(samples.values())[self.carriers[position]]
        return sample.places if isinstance(sample, Whole) else index

    def _written_out(
        self,
        builder: Builder,
        side: Program,
        names: list[str],
        bases: list[Symbol],
        updated: list[Symbol],
        operands: list,
        harmless: bool,
    ) -> list:
        """The updated arrays; a side that no sample takes is run only if that is harmless."""
        outer = self.context.builder
        made = block(builder, names, updated, captures=side.captures)
        made = made.with_(name=side.name, doc=side.doc, origin=side.origin)
        if harmless:
            return list(outer.splice(made, dict(zip(names, operands, strict=True))).items)
        kept = block(Builder(), names, bases)
        kept = kept.with_(facts=dict(builder.facts), hints=dict(builder.hints))
        return Branch(made, kept).call(outer, [np.size(operands[0]), *operands])
