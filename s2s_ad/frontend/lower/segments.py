"""checkpoint(range(n), ...): a loop cut into segments, of which each is a checkpoint.

With `every=k` the segments have k passes each. With `memory=m` the first ones are longer, and each
is cut again on the way back: `transforms/reverse_schedules.py`. Here the passes are numbered from
`first` to `last`, whatever the loop runs over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.custom import CheckpointCallee, ScheduledCallee
from s2s_ad.core.program import TEMPORARY, Hint, Input, Program
from s2s_ad.core.regions import Loop, block
from s2s_ad.diagnostics import UnsupportedError

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering

INTEGER = values.Scalar(int)


@dataclass(frozen=True, slots=True)
class Segmented:
    """What a loop runs over, and the passes of a segment or the number of states to be kept."""

    items: Any
    every: Any = None
    memory: Any = None


def segmented(lowering: Lowering, loop: Loop, operands: Sequence[Any], schedule: Segmented) -> list:
    """Emit the loop as a loop over segments; returns the carried values after it."""
    if not loop.is_for:
        raise UnsupportedError(
            "S2S201", "a checkpoint around a while loop", origin=lowering.builder.origin
        )
    numbered = Numbered(lowering.builder, loop, operands)
    if schedule.memory is None:
        return _every(numbered, schedule.every)
    if loop.exits:
        return _until(numbered, schedule.memory)
    return _bounded(numbered, schedule.memory)


class Numbered:
    """A loop whose passes have numbers that grow by one.

    Where the loop's own indices do, they are the numbers. Where not the numbers count from 0, and
    the index is `origin + number * stride`.
    """

    def __init__(self, builder: Builder, loop: Loop, operands: Sequence[Any]):
        self.builder, self.loop = builder, loop
        parts = loop.parts(list(operands))
        start, stop, step = parts.bounds
        self.carried, self.fixed = _bound(builder, loop, parts.carried), parts.fixed
        self.first, self.stop = start, stop
        self.origin = self.stride = None
        if not _is_one(step) or loop.backwards:
            self.first, self.stop = 0, _count(start, stop, step)
            self.origin, self.stride = start, step
            if loop.backwards:
                self.origin, self.stride = start + (self.stop - 1) * step, -step
            if isinstance(self.origin, Symbol):
                builder.named(self.origin, Hint("start", "derived"))
        self.more = [each for each in (self.origin, self.stride) if isinstance(each, Symbol)]

    @property
    def operands(self) -> list:
        """What is handed to each segment."""
        return [*self.carried, *self.fixed, *self.more]

    def start(self, *texts: str) -> tuple[Builder, list[Symbol], list[Symbol], list[Symbol]]:
        """(a builder, leaves of it for whole numbers, for what is carried, for what is fixed)."""
        builder = Builder(merge=False)
        builder.origin = self.builder.origin
        numbers = [builder.symbol(INTEGER, Hint(each, "derived")) for each in texts]
        body, names = self.loop.body, self.loop.leaves(self.loop.body)
        for each in body.captured():
            builder.import_name(body, each.name)
        carried = [_leaf(builder, body, each) for each in names.carried]
        fixed = [_leaf(builder, body, each) for each in names.fixed]
        fixed += [builder.symbol(each.fact, self.builder.hints[each.name]) for each in self.more]
        return builder, numbers, carried, fixed

    def one_pass(self) -> Program:
        """The pass with a number, as a function of it and of what is carried and fixed."""
        builder, (number,), carried, fixed = self.start("number")
        results = self._pass(builder, number, carried, fixed)
        leaves = [number, *carried, *fixed]
        return self._function(builder, leaves, results[: len(carried)], "one_pass", "one pass")

    def passes(self, *texts: str, ended: bool = False, reached: bool = False) -> Program:
        """The passes from `first` to `last`, the first two of the numbers, as a function.

        Args:
            ended: it also returns whether the loop was left.
            reached: it also returns the number after the last pass that ran.
        """
        builder, numbers, carried, fixed = self.start(*texts)
        first, last = numbers[:2]
        more = [False] if ended else [first] if reached else []
        body = self._body(more, reached)
        inner = Loop(body, len(carried) + len(more), exits=self.loop.exits)
        results = inner.call(builder, [first, last, 1, *carried, *more, *fixed])
        leaves = [*numbers, *carried, *fixed]
        return self._function(builder, leaves, results, "segment", "some passes of a loop")

    def _body(self, more: list, reached: bool) -> Program:
        builder, (number,), carried, fixed = self.start("number")
        if self.origin is None:
            builder.hints[number.name] = self._index_hint
        results = self._pass(builder, number, carried, fixed)
        leaves = [number, *carried]
        if more:
            after = number + 1 if reached else results[-1]
            fact = values.join(builder.fact(more[0]), builder.fact(after))
            leaves.append(builder.symbol(fact, Hint("reached" if reached else "ended", "derived")))
            results.insert(len(carried), after)
        return self.block(builder, [*leaves, *fixed], results)

    def block(self, builder: Builder, leaves: Sequence[Symbol], results: Sequence[Any]) -> Program:
        """What the builder holds as a block."""
        captures = self.loop.body.captures
        return block(builder, [each.name for each in leaves], results, captures=captures)

    def _function(
        self, builder: Builder, leaves: list[Symbol], results: list, name: str, doc: str
    ) -> Program:
        """What the builder holds as a function; one result is not put into a tuple."""
        made = self.block(builder, leaves, results)
        output = made.output if len(results) != 1 else made.output.items[0]
        return made.with_(name=name, doc=doc, inputs=_inputs(builder, leaves), output=output)

    @property
    def _index_hint(self) -> Hint:
        (index,) = self.loop.leaves(self.loop.body).bounds
        return self.loop.body.hints.get(index, TEMPORARY)

    def _pass(self, builder: Builder, number: Symbol, carried: list, fixed: list) -> list:
        """Write one pass; returns what it carries on, and whether the loop ends."""
        count = len(fixed) - len(self.more)
        rest = iter(fixed[count:])
        index = number
        if self.origin is not None:
            origin, stride = (
                next(rest) if isinstance(each, Symbol) else each
                for each in (self.origin, self.stride)
            )
            index = builder.named(origin + number * stride, self._index_hint)
        leaves = [index, *carried, *fixed[:count]]
        arguments = dict(zip(self.loop.body.leaves(), leaves, strict=True))
        return list(builder.splice(self.loop.body, arguments).items)


# ---- the loop over segments ----------------------------------------------------------------------


def _every(numbered: Numbered, every: Any) -> list:
    """What is carried is kept every few passes: a loop over segments of as many passes."""
    loop, around = numbered.loop, numbered.builder
    builder, (first,), carried, fixed = numbered.start("first")
    stop, stride = (_like(builder, around, each) for each in (numbered.stop, every))
    last = np.minimum(first + stride, stop)
    builder.named(last, Hint("last", "derived"))
    callee = CheckpointCallee(numbered.passes("first", "last", ended=loop.exits))
    results = callee.call(builder, [first, last, *carried, *fixed])
    given = [each for each in (stop, stride) if isinstance(each, Symbol)]
    leaves = [first, *carried, *fixed, *given]
    body = numbered.block(builder, leaves, results)
    outer = Loop(body, loop.carried, exits=loop.exits)
    more = [each for each in (numbered.stop, every) if isinstance(each, Symbol)]
    bounds = [numbered.first, numbered.stop, every]
    return outer.call(around, [*bounds, *numbered.operands, *more])


def _bounded(numbered: Numbered, memory: Any) -> list:
    """As many states are kept as there is memory for: a loop over them, the longest segment first.

    Of the last segment, of one pass, what it starts from is only kept until it is needed.
    """
    around = numbered.builder
    passes = _difference(numbered.stop, numbered.first)
    most = around.call(runtime.states_kept, (passes, memory), {})
    around.named(most, Hint("most", "derived"))
    builder, (states, first), carried, fixed = numbered.start("states", "first")
    stop = _like(builder, around, numbered.stop)
    ahead = builder.call(runtime.passes_ahead, (stop - first, states), {})
    last = builder.named(first + ahead, Hint("last", "derived"))
    results = _scheduled(numbered).call(builder, [first, last, states, *carried, *fixed])
    leaves = [states, first, *carried, *fixed]
    leaves += [stop] if isinstance(stop, Symbol) else []
    body = numbered.block(builder, leaves, [last, *results])
    outer = Loop(body, 1 + len(carried))
    more = [numbered.stop] if isinstance(stop, Symbol) else []
    operands = [most, -1, -1, numbered.first, *numbered.operands, *more]
    return outer.call(around, operands)[1:]


def _until(numbered: Numbered, memory: Any) -> list:
    """How many passes there are shows when they have run: then they are cut into segments."""
    program = numbered.passes("first", "last", "states", reached=True)
    callee = ScheduledCallee(program, numbered.one_pass(), _scheduled(numbered))
    operands = [numbered.first, numbered.stop, memory, *numbered.operands]
    return callee.call(numbered.builder, operands)[:-1]


def _scheduled(numbered: Numbered) -> ScheduledCallee:
    """All passes from one number to another."""
    exits, numbered.loop = numbered.loop, _without_exits(numbered.loop)
    made = ScheduledCallee(numbered.passes("first", "last", "states"), numbered.one_pass())
    numbered.loop = exits
    return made


def _without_exits(loop: Loop) -> Loop:
    if not loop.exits:
        return loop
    outputs = loop.body.outputs()[: loop.carried]
    several = type(loop.body.output)(tuple, tuple(range(len(outputs))), tuple(outputs))
    return Loop(loop.body.with_(output=several), loop.carried)


def _inputs(builder: Builder, leaves: Sequence[Symbol]) -> tuple[Input, ...]:
    """An input for each leaf, under names that are apart."""
    seen: dict[str, int] = {}
    found = []
    for each in leaves:
        text = builder.hints[each.name].text or "x"
        seen[text] = seen.get(text, 0) + 1
        found.append(Input(text if seen[text] == 1 else f"{text}_{seen[text]}", each.name))
    return tuple(found)


def _count(start: Any, stop: Any, step: Any) -> Any:
    """The number of integers in a range."""
    if not any(isinstance(each, Symbol) for each in (start, stop, step)):
        return len(range(start, stop, step))
    passes = _difference(stop, start)
    passes = passes if _is_one(step) else -(-passes // step)
    return np.maximum(passes, 0)


def _difference(a: Any, b: Any) -> Any:
    return a if type(b) is int and b == 0 else a - b


def _is_one(value: Any) -> bool:
    return type(value) is int and value == 1


def _bound(builder: Builder, loop: Loop, carried: Sequence[Any]) -> list:
    """What is carried into the first segment: any number for one that no pass has assigned yet."""
    missing = [value is values.UNDEFINED for value in carried]
    numbers = [values.shape_of(fact) == () for fact in loop.facts]
    arrays = [lacks and not number for lacks, number in zip(missing, numbers, strict=True)]
    if loop.exits and any(arrays):
        raise UnsupportedError(
            "S2S201",
            "a loop under checkpoint() that is left with an array that no pass before has assigned",
            origin=builder.origin,
            help="assign an array of the same shape before the loop, and use break",
        )
    triples = zip(carried, missing, numbers, strict=True)
    return [0.0 if lacks and number else value for value, lacks, number in triples]


def _leaf(builder: Builder, program: Program, name: str) -> Symbol:
    return builder.symbol(program.facts[name], program.hints.get(name, TEMPORARY))


def _like(builder: Builder, around: Builder, value: Any) -> Any:
    """A leaf for a value from outside; a number that is known stays one."""
    if not isinstance(value, Symbol):
        return value
    return builder.symbol(value.fact, around.hints.get(value.name, TEMPORARY))
