"""The forward loop of a reverse sweep: it puts what the backward loop needs into lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.program import TEMPORARY, Hint, Program, list_of
from s2s_ad.core.regions import Loop, LoopParts
from s2s_ad.core.values import UNDEFINED
from s2s_ad.transforms import halves
from s2s_ad.transforms.halves import Halves


@dataclass(frozen=True, slots=True)
class Carried:
    """An adjoint that the backward loop carries.

    Attributes:
        leaf: the leaf of the body whose adjoint it is after a pass.
        name: its own name in the body of the backward loop.
        start: what it is before the loop; None is zero.
        out: the place of the output whose adjoint it is before a pass; None for what is fixed,
            whose adjoint the passes add to.
        operand: the operand of the loop whose adjoint it is after the loop; None for a constant.
    """

    leaf: str
    name: str
    start: Any
    out: int | None
    operand: str | None


@dataclass(frozen=True, slots=True)
class Pass:
    """Both sweeps over the body.

    Attributes:
        adjoints: what is carried and changes, with what it is after a pass.
        shadows: values of a pass, other than those saved, that the backward half reads, with the
            place where the loop carries them on: the backward pass before has had them, as what
            its own pass started from.
        lasting: values that are the same in each pass: that of the last pass is still there.
    """

    sweep: Any
    adjoints: list[tuple[Carried, Any]]
    joint: Program
    halves: Halves
    saved: list[str]
    shadows: dict[str, int]
    lasting: list[str]


def list_leaf(writer: Builder, name: str) -> Symbol:
    """The leaf for the list of a value of each pass."""
    text = writer.hints.get(name, TEMPORARY).text
    hint = Hint(list_of(text) or "saved", "derived", saves=True)
    return writer.symbol(values.List(writer.facts[name]), hint)


class Saving:
    """Puts a loop that saves in the place of one that does not.

    Args:
        outer: the sweep over the program that the loop stands in.
        result: what the loop computes there.
        operands: of the loop.
    """

    def __init__(self, outer: Any, loop: Loop, result: Symbol, operands: LoopParts):
        self.outer, self.builder, self.loop = outer, outer.builder, loop
        self.result, self.operands = result, operands
        self.leaves = loop.leaves(loop.body)

    def write(self, made: Pass) -> tuple[list[Symbol], list[Symbol], Any]:
        """Let the forward loop keep what is saved.

        Returns the lists, the values that last, and how many passes it made.
        """
        loop, writer = self.loop, halves.writer(made.joint)
        counts = not made.saved and (loop.exits or not loop.is_for)
        same = all(any(each is s for s in made.joint.body) for each in made.halves.early)
        if not made.saved and not made.lasting and not counts and same:
            return [], [], None
        lists = {name: list_leaf(writer, name) for name in made.saved}
        fact, hint = values.Scalar(int), Hint("passes", "derived")
        passes = [writer.symbol(fact, hint)] if counts else []
        with writer.at(self.loop.body.origin, "forward"):
            after = self._first_half(writer, made, lists)
            after += [count + 1 for count in passes]
        outputs = [made.sweep.output(atom) for atom in self.loop.body.outputs()]
        after += [Symbol(writer, name) for name in made.lasting]
        before = [
            writer.symbol(values.as_absent(writer.facts[name]), writer.hints.get(name, TEMPORARY))
            for name in made.lasting
        ]
        leaves = [*lists.values(), *passes, *before]
        more = [each.name for each in leaves]
        names = [*self.leaves.bounds, *self.leaves.carried, *more, *self.leaves.fixed]
        outputs[loop.carried : loop.carried] = after
        body = halves.written(writer, made.joint, names, outputs)
        blocks = [self._test(loop.test, more, body), body] if loop.test is not None else [body]
        replaced = loop.like(blocks, loop.carried + len(more))
        return self._replace(replaced, made, lists, counts)

    def _start_of(self, fact: values.AbstractValue) -> Any:
        """What stands for the value of the last pass where there is none: nobody reads it then,
        but a list is handed on as any list is."""
        if isinstance(fact, values.List):
            return self.builder.call(runtime.list_of, (), {})
        return UNDEFINED

    def _first_half(self, writer: Builder, made: Pass, lists: Mapping[str, Symbol]) -> list:
        """The forward half, each value saved as soon as it is there; the lists after a pass."""
        after = {}

        def save(name: str) -> None:
            if name in lists:
                arguments = (lists[name], Symbol(writer, name))
                after[name] = writer.call(runtime.list_append, arguments, {})
                writer.named(after[name], writer.hints[lists[name].name])

        for name in self.leaves.carried:
            save(name)
        for statement in made.halves.early:
            writer.body.append(statement)
            with writer.at(statement.origin or writer.origin, "forward"):
                save(statement.target)
        return [after[name] for name in lists]

    def _test(self, test: Program, more: list[str], body: Program) -> Program:
        """The test of a `while`, which does not look at what else the loop carries."""
        parts = self.loop.leaves(test)
        facts = test.facts | {name: body.facts[name] for name in more}
        names = [*parts.carried, *more, *parts.fixed]
        return test.with_(inputs=halves.leaves(names), facts=facts)

    def _replace(
        self, loop: Loop, made: Pass, lists: Mapping[str, Symbol], counts: bool
    ) -> tuple[list[Symbol], list[Symbol], Any]:
        outer, parts = self.outer, self.operands
        with outer.instead_of(self.result):
            starts = [self.builder.call(runtime.list_of, (), {}) for _ in lists]
            starts += [0] if counts else []
            starts += [self._start_of(made.joint.facts[name]) for name in made.lasting]
            operands = [*parts.bounds, *parts.carried, *starts, *parts.fixed]
            outer.define(self.result.name, loop, operands)
            hints = [loop.body.hints[each.name] for each in lists.values()]
            hints += [Hint("passes", "derived")] if counts else []
            hints += [loop.body.hints.get(name, TEMPORARY) for name in made.lasting]
            first = self.loop.carried
            items = [outer.take(self.result, first + i, hint) for i, hint in enumerate(hints)]
        last = len(items) - len(made.lasting)
        passes = items[len(lists)] if counts else None
        return items[: len(lists)], items[last:], passes
