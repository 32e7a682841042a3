"""A loop of which the samples make different passes: they go in lockstep.

In each pass the samples that still run are gathered, the body is run on them, and what it changes
is written back. So no sample runs on when it is done, and none runs a pass that it does not make.
What a pass appends to a list is appended for the samples that make it, and the list of their
places beside it: see `kept`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.regions import Loop, block
from s2s_ad.transforms.batch.blocks import adopted, filled, spread_as
from s2s_ad.transforms.batch.context import Batch, Kept, batched_fact, named_like
from s2s_ad.transforms.batch.gathers import empty, gathered, inverted, written
from s2s_ad.transforms.batch.kept import appended_to, kept_fact, places_fact, popped

RUNNING = Hint("running", "derived")
RUNNING_SAVED = Hint("running_saved", "derived")


class Lockstep:
    """A loop over passes, each for the samples that make it.

    Attributes:
        moved: which carried values differ from sample to sample, be it by the passes made.
        lists: which of these are lists that each pass appends to.
    """

    def __init__(self, context: Batch, region: Loop, operands: list, flags: list[bool]):
        context.needs_no_masks()  # a sample that is done would wait for all others
        self.context, self.region = context, region
        self.parts, self.given = region.parts(operands), region.parts(flags)
        names = region.leaves(region.body).carried
        self.moved = [
            flag or getattr(atom, "id", None) != name
            for flag, atom, name in zip(self.given.carried, region.results()[0], names, strict=True)
        ]
        self.lists = self._lists()
        self.dim = values.fresh_dim()

    def _lists(self) -> list[bool]:
        return appended_to(self.context, self.region, self.parts.carried, self.moved)

    def outputs(self) -> tuple[list, list[bool]]:
        if self.region.test is not None:
            results = self._while(self.region.test)
        elif any(self.given.bounds):
            results = self._for_with_bounds()
        else:
            results = self._for_with_exit()
        return results, self.alone()

    def alone(self) -> list[bool]:
        """Which carried values are batched: they differ, and are no list."""
        return [m and not own for m, own in zip(self.moved, self.lists, strict=True)]

    # ---- the kinds of loops

    def _while(self, test: Program) -> list:
        """`running` holds the samples that make the next pass; the loop runs until none is left."""
        context, builder = self.context, self.context.builder
        first = self._goes_on(test, context, self.parts.carried, self.parts.fixed)
        running = builder.named(np.flatnonzero(first), RUNNING)
        frame = Frame(self)
        places = frame.leaf(running.fact, RUNNING, self.dim)
        state = frame.run(places)
        left = frame.staying(state) if self.region.exits else places
        if left is places:
            fixed = list(state.samples.values())[self.region.carried :]
            mask = self._goes_on(test, state.context, state.outputs, fixed)
        else:
            again = context.like(frame.builder, left)
            full = state.full[len(state.full) - self.region.carried :]
            leaves = {**dict(zip(frame.carried, full, strict=True)), **frame.fixed}
            samples = list(gathered(again, leaves, frame.flags, left).values())
            mask = self._goes_on(test, again, samples, samples[self.region.carried :])
        after = frame.builder.named(left[mask], RUNNING)
        made = frame.block([places], [after], state)
        inner = Builder()
        leaves = [inner.symbol(made.facts[name], made.hints[name]) for name in made.leaves()]
        left_any = block(inner, [each.name for each in leaves], [np.size(leaves[0])])
        return self._call(frame, made, [running], test=left_any)

    def _for_with_exit(self) -> list:
        """All samples make the same passes, up to the one that they leave with."""
        builder = self.context.builder
        running = builder.named(builder.call(np.arange, (self.context.size,), {}), RUNNING)
        frame = Frame(self)
        index = frame.index()
        places = frame.leaf(running.fact, RUNNING, self.dim)
        state = frame.run(places, index)
        left = frame.builder.named(frame.staying(state), RUNNING)
        made = frame.block([index, places], [left], state, [np.size(left) == 0])
        return self._call(frame, made, [running], bounds=self.parts.bounds, exits=True)

    def _for_with_bounds(self) -> list:
        """A pass is for the samples whose range goes that far."""
        bounds, more, goes_on = self._bounds()
        frame = Frame(self)
        index = frame.index()
        leaves = [frame.leaf(self.context.builder.fact(each)) for each in more]
        done, start = [], []
        if self.region.exits:
            start = [filled(self.context, (), False, np.dtype(bool))]
            done = [frame.leaf(start[0].fact)]
        runs = goes_on(index, leaves[0])
        if done:
            runs = runs & ~done[0]
        places = frame.builder.named(np.flatnonzero(runs), RUNNING)
        frame.builder.facts[places.name] = values.Array(places.dtype, (self.dim,), selects=True)
        own = index if len(more) == 1 else leaves[1][places] + index * leaves[2][places]
        state = frame.run(places, own, batched=len(more) > 1)
        after = []
        if done:
            (leaves_now,) = state.outputs[self.region.carried :]
            after = [frame.builder.call(runtime.index_set, (done[0], places, leaves_now), {})]
        leaving = [np.all(after[0])] if done else []
        made = frame.block([index, *done], after, state, leaving, leaves)
        return self._call(frame, made, start, more, bounds=bounds, exits=bool(done))

    def _bounds(self) -> tuple[list, list, Callable]:
        """(the bounds of the loop, per sample what tells its passes, whether it makes one)."""
        start, stop, step = self.parts.bounds
        varied = self.given.bounds
        if not varied[0] and type(step) is int:
            if step > 0:
                return [start, np.max(stop), step], [stop], lambda index, stop: stop > index
            return [start, np.min(stop), step], [stop], lambda index, stop: stop < index
        start, stop, step = (
            spread_as(self.context, value, flag, values.Scalar(int))
            for value, flag in zip(self.parts.bounds, varied, strict=True)
        )
        count = -((start - stop) // step)
        more = [count, start, step]
        return [0, np.max(count), 1], more, lambda index, count: count > index

    # ---- parts of them

    def _goes_on(
        self, test: Program, context: Batch, carried: Sequence[Any], fixed: Sequence[Any]
    ) -> Symbol:
        """Which samples of `context` make another pass."""
        given = [*carried[: self.region.carried], *fixed]
        outputs, batched = context.walk(test, dict(zip(test.leaves(), given, strict=True)))
        holds = context.spread(outputs[0], batched[0])
        return holds if values.is_dtype(holds.dtype, bool) else holds != 0  # a count is no mask

    def _initial(self) -> list:
        """What is carried into the first pass, in memory for all samples."""
        context = self.context
        found = []
        for value, fact, moved, kept in zip(
            self.parts.carried, self.region.facts, self.moved, self.lists, strict=True
        ):
            if moved and value is values.UNDEFINED:
                value = empty(context, [fact], [*self.parts.carried, *self.parts.fixed])
            elif moved and not kept:
                value = spread_as(context, value, context.is_batched(value), fact)
            found.append(value)
        return found

    def _call(
        self,
        frame: Frame,
        made: Program,
        leading: Sequence[Any],
        more: Sequence[Any] = (),
        *,
        bounds: Sequence[Any] = (),
        **options: Any,
    ) -> list:
        """Run the loop; returns what the loop of one sample gives, for all samples."""
        builder = self.context.builder
        lists = [builder.call(runtime.list_of, (), {})] if frame.all_places is not None else []
        front, count = len(leading) + len(lists), len(lists) + len(leading) + self.region.carried
        if bounds:
            options["backwards"] = self.region.backwards
        whole = Loop(made, count, **options)
        operands = [*bounds, *leading, *lists, *self._initial(), *self.parts.fixed, *more]
        results = whole.call(builder, operands)
        for value, moved, kept in zip(results[front:], self.moved, self.lists, strict=True):
            if kept:
                places = builder.named(results[front - 1], RUNNING_SAVED)
                self.context.kept[value.name] = Kept(places, self.dim)
            else:
                self.context.mark(value, moved)
        return results[front:]


class Mirrored(Lockstep):
    """The loop that takes from the lists what a loop in lockstep appended, from their ends.

    Each pass takes the places of the samples that made the pass which it mirrors, and is for
    these samples. Their places in the ranges of the two loops are the same.
    """

    def __init__(self, context: Batch, region: Loop, operands: list, flags: list[bool], kept: Kept):
        self.kept = kept
        super().__init__(context, region, operands, flags)
        self.dim = kept.dim

    def _lists(self) -> list[bool]:
        return [
            isinstance(value, Symbol) and value.name in self.context.kept
            for value in self.parts.carried
        ]

    def outputs(self) -> tuple[list, list[bool]]:
        builder = self.context.builder
        frame = Frame(self)
        number = frame.index()
        all_places = frame.leaf(places_fact(self.dim), RUNNING_SAVED)
        own, more, given = self._index(frame, number)
        result = popped(frame.builder, all_places)
        places = frame.builder.named(result[0], RUNNING)
        frame.builder.named(result[1], RUNNING_SAVED)
        batched = any(self.given.bounds[::2])
        state = frame.run(places, own(places), batched)
        made = frame.block([number, all_places], [result[1]], state, more=more)
        whole = Loop(made, 1 + self.region.carried, backwards=True)
        operands = [0, np.size(self.kept.places, 0), 1, self.kept.places, *self._initial()]
        results = whole.call(builder, [*operands, *self.parts.fixed, *given])[1:]
        for value, flag in zip(results, self.alone(), strict=True):
            self.context.mark(value, flag)
        return results, self.alone()

    def _index(self, frame: Frame, number: Symbol) -> tuple[Callable, list[Symbol], list]:
        """(the index of the samples at some places, leaves that this needs, what they are)."""
        start, _, step = self.parts.bounds
        if any(self.given.bounds[::2]):
            given = [
                spread_as(self.context, each, self.context.is_batched(each), values.Scalar(int))
                for each in (start, step)
            ]
            more = [frame.leaf(each.fact) for each in given]
            return lambda places: more[0][places] + number * more[1][places], more, given
        given = [each for each in (start, step) if isinstance(each, Symbol)]
        more = [frame.leaf(each.fact) for each in given]
        rest = iter(more)
        first, by = (next(rest) if isinstance(each, Symbol) else each for each in (start, step))
        return lambda places: first + number * by, more, given


class Frame:
    """The body of the loop in lockstep, while it is written."""

    def __init__(self, lockstep: Lockstep):
        region, context = lockstep.region, lockstep.context
        self.region, self.like = region, context.like
        self.moved, self.lists = lockstep.moved, lockstep.lists
        self.builder = Builder()
        self.builder.origin, self.builder.phase = context.builder.origin, context.builder.phase
        self.names = region.leaves(region.body)
        facts = [
            kept_fact(fact, lockstep.dim)
            if kept
            else batched_fact(fact, context.dim)
            if moved
            else fact
            for fact, moved, kept in zip(region.facts, self.moved, self.lists, strict=True)
        ]
        self.carried = adopted(self.builder, region.body, self.names.carried, facts)
        outer = map(context.builder.fact, lockstep.parts.fixed)
        self.fixed = adopted(self.builder, region.body, self.names.fixed, outer)
        self.flags = [*lockstep.alone(), *lockstep.given.fixed]
        #: the leaf for the places of each pass, where lists are appended to
        self.all_places = None
        if any(self.lists) and not isinstance(lockstep, Mirrored):
            self.all_places = self.leaf(places_fact(lockstep.dim), RUNNING_SAVED)

    def leaf(self, fact: Any, hint: Hint = TEMPORARY, dim: values.Dim | None = None) -> Symbol:
        """A leaf more; with `dim` an array of this length."""
        return self.builder.symbol(
            fact if dim is None else values.Array(fact.dtype, (dim,), selects=True), hint
        )

    def index(self) -> Symbol:
        """The number of the pass: the index of the loop of one sample, or a name of our own."""
        (name,) = self.names.bounds
        hint = self.region.body.hints.get(name, TEMPORARY)
        if hint.text.startswith("_"):  # the user does not read it, and we do
            hint = Hint("i", "derived")
        return self.builder.symbol(values.Scalar(int), hint)

    def run(self, places: Symbol, index: Any = None, batched: bool = False) -> State:
        """The body for the samples at these places."""
        context = self.like(self.builder, places)
        leaves = {**self.carried, **self.fixed}
        samples = gathered(context, leaves, self.flags, places)
        for leaf, own in zip(self.carried.values(), self.lists, strict=True):
            context.mark(leaf, own)  # a list of batches, as long as this one at its end
        given = dict(zip(self.names.bounds, [context.mark(index, batched)], strict=False))
        outputs, flags = context.walk(self.region.body, {**given, **samples})
        for leaf, value in zip(self.carried.values(), outputs, strict=False):
            named_like(leaf, value)
        full = [
            value if own or not moved else written(context, leaf, places, value)
            for leaf, value, moved, own in zip(
                self.carried.values(), outputs, self.moved, self.lists, strict=False
            )
        ]
        if self.all_places is not None:
            append = self.builder.call(runtime.list_append, (self.all_places, places), {})
            full = [append, *full]
        return State(context, samples, outputs, flags, full)

    def staying(self, state: State) -> Symbol:
        """The places of the samples that do not leave with this pass."""
        context = state.context
        leaves = context.spread(state.outputs[-1], state.flags[-1])
        return context.example[inverted(leaves)]

    def block(
        self,
        leading: Sequence[Symbol],
        after: list,
        state: State,
        leaving: Sequence[Any] = (),
        more: Sequence[Symbol] = (),
    ) -> Program:
        """The body: the leaves `leading` before those of the loop of one sample, `more` after."""
        first = [*leading, *([] if self.all_places is None else [self.all_places])]
        names = [each.name for each in first]
        names += [*self.carried, *self.fixed, *(each.name for each in more)]
        body = self.region.body
        outputs = [*after, *state.full, *leaving]
        made = block(self.builder, names, outputs, captures=body.captures)
        return made.with_(name=body.name, doc=body.doc, origin=body.origin)


@dataclass(frozen=True, slots=True)
class State:
    """What a pass gives.

    Attributes:
        context: the batch of the samples that made it.
        samples: the leaves of the body for these samples.
        outputs, flags: the outputs of the body, and which of them are batched.
        full: what is carried on, for all samples.
    """

    context: Batch
    samples: dict[str, Any]
    outputs: list
    flags: list[bool]
    full: list
