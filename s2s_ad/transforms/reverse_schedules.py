"""Reverse mode of passes that keep few states: the binomial schedule, as a function of its own.

From the state before the first pass the function runs ahead to where the next state is kept, goes
back through the passes behind it, with one state less, and then through those before it. So no
more states are there at a time than there is memory for, and the text is the same for any number
of passes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from s2s_ad import runtime
from s2s_ad.analysis import activity
from s2s_ad.core import form
from s2s_ad.core.builder import Builder, Symbol, fresh_name
from s2s_ad.core.callee import Callee
from s2s_ad.core.custom import CheckpointCallee, ScheduledCallee
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.regions import Branch, Loop, block
from s2s_ad.core.tree import one_or_tuple
from s2s_ad.transforms.calls import Passes, derived_callee, with_inputs, without_effects
from s2s_ad.transforms.halves import adjoint_fact


def scheduled_passes(
    split: Callable[..., Passes],
    outer: Any,
    call: ScheduledCallee,
    active: tuple[bool, ...],
    seeds: tuple[int, ...],
) -> Passes:
    """The passes as they are, and the way back, which is given what they started from.

    `split` makes the two passes of a function, here of what runs in one pass.
    """
    whole, first = call.whole or call, ScheduledCallee.numbers
    loop = Loop(call.one_pass, call.carried)  # the facts of a loop hold for all passes
    seeds = tuple(index for index in seeds if index < call.carried)
    varied = activity.varied_carried(loop, active)
    carried = varied & activity.useful_carried(loop, seeds)
    useful = activity.useful_operands(loop, frozenset(seeds))
    moving = tuple(
        first + index in useful and active[first + index]
        if index >= call.carried
        else index in carried
        for index in range(len(active) - first)
    )
    key = ("scheduled", moving, call is whole, outer.repeated)
    if key not in whole.derived:
        _WayBack(split, outer, whole, moving, guarded=call is not whole).write(key)
    needs = [("argument", index) for index in range(len(active))]
    if call is not whole:
        needs[1] = ("output", call.carried)
    backward = whole.derived[key]
    given = (False,) * first + moving
    return Passes(call, backward, tuple(needs), tuple(sorted(carried)), given)


class _WayBack:
    """The function that goes back through the passes.

    Args:
        split: makes the two passes of a function.
        moving: which of the values that are carried or fixed have an adjoint.
        guarded: whether there may be no pass at all.
    """

    def __init__(
        self,
        split: Callable[..., Passes],
        outer: Any,
        call: ScheduledCallee,
        moving: tuple[bool, ...],
        *,
        guarded: bool,
    ):
        self.split, self.outer, self.call, self.guarded = split, outer, call, guarded
        self.program = call.program
        self.flags = (False, *moving)
        self.names = self.program.leaves()
        self.builder = self._builder()
        wanted = self.names[ScheduledCallee.numbers :]
        active = [name for name, flag in zip(wanted, moving, strict=True) if flag]
        kept = wanted[: call.carried]
        self.carried = [name for name in active if name in kept]
        self.fixed = [name for name in active if name not in kept]
        self.y_bars = [self._adjoint(name) for name in self.carried]

    def write(self, key: Any) -> None:
        inputs = [*self.names, *(each.name for each in self.y_bars)]
        self.stub = self.call.derived[key] = self._stub(inputs)
        builder = self.builder
        with builder.at(self.program.origin, "backward"):
            leaves = [Symbol(builder, name) for name in self.names]
            sweep = self.outer.inner(builder, self.program, [], ())
            zeros = [sweep.full(0.0, Symbol(builder, name)) for name in self.fixed]
            last, *bars = self._segments(leaves, [*self.y_bars, *zeros])
            results = self._first_pass(leaves, last, bars)
        made = derived_callee(
            with_inputs(self._program(builder), inputs, {}),
            results,
            name=f"{self.program.name}_backward",
            doc=f"backward pass of {self.program.doc}",
        )
        self.stub.define(without_effects(made.program))

    def _builder(self) -> Builder:
        builder = Builder()
        captured = [each.name for each in self.program.captured()]
        for name in (*self.names, *captured):
            builder.import_name(self.program, name)
        return builder

    def _adjoint(self, name: str) -> Symbol:
        fact = self.program.facts[name]
        return self.builder.symbol(adjoint_fact(fact, fact), self._hint(name))

    def _hint(self, name: str) -> Hint:
        return self.program.hints.get(name, TEMPORARY).derived("_bar")

    def _program(self, builder: Builder) -> Program:
        return builder.as_body_of(self.program, tried=False)

    def _stub(self, inputs: Sequence[str]) -> Callee:
        """The function, for its calls of itself: an adjoint is like the leaf that it is of."""
        facts = {
            fresh_name(): adjoint_fact(self.program.facts[name], self.program.facts[name])
            for name in (*self.carried, *self.fixed)
        }
        nodes = tuple(map(form.name, facts))
        output = one_or_tuple(nodes)
        made = self._program(self.builder).with_(body=(), output=output)
        made = made.with_(facts=made.facts | facts, name=f"{self.program.name}_backward")
        return Callee(with_inputs(made, inputs, {}), stub=True)

    def _inner(self, changing: Sequence[Symbol]) -> tuple[Builder, list[Symbol], list[Symbol]]:
        """(a builder for a block, leaves of it for what changes, for the values of the passes)."""
        builder = self._builder()
        builder.origin, builder.phase = self.builder.origin, self.builder.phase
        hints = [self.builder.hints[each.name] for each in changing]
        pairs = zip(changing, hints, strict=True)
        given = [builder.symbol(each.fact, hint) for each, hint in pairs]
        return builder, given, [Symbol(builder, name) for name in self.names]

    def _segments(self, leaves: list[Symbol], bars: list[Any]) -> list:
        """Go back through one segment after the other, the last first, but for the first pass.

        Returns the number after the pass that is left, and the adjoints.
        """
        changing = [leaves[1], *self._named(bars)]
        builder, (last, *given), inner = self._inner(changing)
        first, _, states, *state = inner
        middle = first + builder.call(runtime.passes_ahead, (last - first, states), {})
        builder.named(middle, Hint("middle", "derived"))
        reached = self._ahead(builder, [first, middle, states, *state])
        y_bars, sums = given[: len(self.carried)], given[len(self.carried) :]
        results = self.stub.call(builder, [middle, last, states - 1, *reached, *y_bars])
        numbers = [leaves[0], *leaves[2:]]
        names = [each.name for each in (last, *given, *numbers)]
        body = self._block(
            builder, names, [middle, *self._added(builder, [[each] for each in results], sums)]
        )
        tester, (last, *given), (first, *_) = self._inner(changing)
        names = [each.name for each in (last, *given, *numbers)]
        loop = Loop(body, len(changing), test=self._block(tester, names, [last - first > 1]))
        return loop.call(self.builder, [leaves[1], *bars, *numbers])

    def _ahead(self, builder: Builder, operands: list) -> list:
        """What is carried after some passes, and what is fixed."""
        states = self.call.call(builder, operands)
        for name, value in zip(self.names[ScheduledCallee.numbers :], states, strict=False):
            builder.named(value, Hint(self.program.hints[name].text, "derived"))
        return [*states, *operands[ScheduledCallee.numbers + self.call.carried :]]

    def _named(self, bars: list[Any]) -> list[Symbol]:
        """The adjoints as names with abstract values, also where they start from a number."""
        hints = [self._hint(name) for name in (*self.carried, *self.fixed)]
        facts = [self.builder.fact(each) for each in bars]
        return [self.builder.symbol(*pair) for pair in zip(facts, hints, strict=True)]

    def _block(self, builder: Builder, leaves: Sequence[str], outputs: Sequence[Any]) -> Program:
        return block(builder, leaves, outputs, captures=self.program.captures)

    def _first_pass(self, leaves: list[Symbol], last: Symbol, bars: list) -> list:
        if not self.guarded:
            return self._back(self.builder, leaves, bars)
        builder, given, inner = self._inner(bars)
        names = [*self.names, *(each.name for each in given)]
        then = self._block(builder, names, self._back(builder, inner, given))
        empty, given, _ = self._inner(bars)
        orelse = self._block(empty, [*self.names, *(each.name for each in given)], given)
        condition = last > leaves[0]
        return Branch(then, orelse).call(self.builder, [condition, *leaves, *bars])

    def _back(self, builder: Builder, leaves: list[Symbol], bars: list) -> list:
        """Go back through the pass with the first number."""
        once = self.call.derived.setdefault("one pass", CheckpointCallee(self.call.one_pass))
        count = len(self.carried)
        passes = self.split(self.outer, once, self.flags, self._places())
        operands = [leaves[0], *leaves[ScheduledCallee.numbers :]]
        results = passes.backward.call(builder, [*operands, *bars[:count]])
        adjoints = passes.adjoints(builder, operands, bars[:count], results)
        return self._added(builder, adjoints, bars[count:])

    def _places(self) -> tuple[int, ...]:
        flags = self.flags[1 : 1 + self.call.carried]
        return tuple(index for index, flag in enumerate(flags) if flag)

    def _added(self, builder: Builder, results: list[list], sums: list) -> list:
        """Adjoints of what is carried, and those of what is fixed added to their sums."""
        sweep = self.outer.inner(builder, self.program, [], ())
        before = [*([] for _ in self.carried), *([each] for each in sums)]
        pairs = zip(before, results, strict=True)
        outputs = [functools.reduce(sweep.sum, [*first, *more]) for first, more in pairs]
        for name, each in zip((*self.carried, *self.fixed), outputs, strict=True):
            builder.named(each, self._hint(name))
        return outputs
