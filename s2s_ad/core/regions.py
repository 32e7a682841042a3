"""Branches and loops: operations whose blocks are programs of their own.

A block reads nothing but its leaves (and captured names); what it changes it hands over. So a loop
is a function from the values before it to the values after it, and every transform of it is a
transform of its blocks. The operation's outputs are always a tuple, which `ITEM` takes apart.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from s2s_ad.core import form, sizes, tree, values
from s2s_ad.core.builder import Builder, to_node
from s2s_ad.core.callee import Compound, callee_of
from s2s_ad.core.program import Capture, Input, Program
from s2s_ad.core.sizes import Size

#: A block in a program: for each region around it the region's position and the block's number.
Path = tuple[tuple[int, int], ...]


class Region(Compound):
    """An operation with blocks; `facts` are the abstract values of its outputs.

    `whole_for` are outputs for which all that is in the blocks is needed, if that is known.
    """

    whole_for: frozenset[int] | None = None

    def __init__(self, name: str, blocks: Sequence[Program], facts: Sequence[Any]):
        super().__init__(name, blocks)
        self.facts = tuple(facts)

    @property
    def count(self) -> int:
        return len(self.facts)

    def infer(self, operands: list, params: dict[str, Any]) -> Any:
        return tree.tuple_of(self.facts)

    def with_blocks(self, blocks: Sequence[Program], facts: Sequence[Any] | None = None) -> Region:
        """The region with other blocks; `facts` are those of their outputs where these differ."""
        facts = self.facts if facts is None else tuple(facts)
        made = self.like(blocks, len(facts))
        made.facts = facts
        return made

    def like(self, blocks: Sequence[Program], carried: int = 0) -> Region:
        """A region of this kind with other blocks; a loop then has so many carried values."""
        raise NotImplementedError


class Branch(Region):
    """`if condition: then, else: orelse`; the operands are the condition and the blocks' leaves.

    Both blocks have leaves for the same operands and the same number of outputs. An output that a
    block does not have is UNDEFINED there; nobody reads it when that block ran.
    """

    def __init__(self, then: Program, orelse: Program):
        facts = [
            values.join(then.fact(a), orelse.fact(b))
            for a, b in zip(then.outputs(), orelse.outputs(), strict=True)
        ]
        super().__init__("if", (then, orelse), facts)
        self.then, self.orelse = then, orelse

    def like(self, blocks: Sequence[Program], carried: int = 0) -> Branch:
        return Branch(*blocks)


class Attempt(Region):
    """`try: body, except errors[k].kinds: handlers[k]`; the operands are the blocks' leaves.

    The outputs are those of the block that came to its end, then the position of that block.
    """

    def __init__(self, body: Program, errors: Sequence[form.Handled], handlers: Sequence[Program]):
        body = tried(body)
        blocks = (body, *handlers)
        columns = zip(*(map(block.fact, block.outputs()) for block in blocks), strict=True)
        facts = [values.join_all(column) for column in columns]
        super().__init__("try", blocks, [*facts, values.Scalar(int)])
        self.body, self.errors, self.handlers = body, tuple(errors), tuple(handlers)

    def like(self, blocks: Sequence[Program], carried: int = 0) -> Attempt:
        return Attempt(blocks[0], self.errors, blocks[1:])


class Loop(Region):
    """A loop; the operands are its bounds, what it carries from pass to pass, and what is fixed.

    A `for` (`test` is None) has three bounds, `start, stop, step` of a range, and runs
    `carried = body(index, *carried, *fixed)` for each index, from the last to the first where
    `backwards`. A `while` has no bounds, and runs `carried = body(*carried, *fixed)` as long as
    `test(*carried, *fixed)` is true. Where the loop `exits`, the body has one more output, the
    last: whether the loop ends with this pass.

    The facts of the carried leaves of `body` hold before, between and after all passes.
    """

    def __init__(
        self,
        body: Program,
        carried: int,
        *,
        test: Program | None = None,
        backwards: bool = False,
        exits: bool = False,
    ):
        self.body, self.carried, self.test = body, carried, test
        self.backwards, self.exits = backwards, exits
        blocks = (body,) if test is None else (test, body)
        names = body.leaves()[self.indices : self.indices + carried]
        super().__init__("for" if self.is_for else "while", blocks, [body.facts[n] for n in names])

    def like(self, blocks: Sequence[Program], carried: int = 0) -> Loop:
        test = None if self.test is None else blocks[0]
        return Loop(blocks[-1], carried, test=test, backwards=self.backwards, exits=self.exits)

    @property
    def is_for(self) -> bool:
        return self.test is None

    @property
    def indices(self) -> int:
        """The number of leaves of the body before the carried ones."""
        return 1 if self.is_for else 0

    def parts(self, items: Sequence[Any]) -> LoopParts:
        """The operands of the loop, taken apart."""
        first = 3 if self.is_for else 0
        last = first + self.carried
        return LoopParts(list(items[:first]), list(items[first:last]), list(items[last:]))

    def leaves(self, block: Program) -> LoopParts:
        """The leaves of one of its blocks, taken apart; `bounds` holds the index of a `for`."""
        names = block.leaves()
        first = self.indices if block is self.body else 0
        last = first + self.carried
        return LoopParts(names[:first], names[first:last], names[last:])

    def infer(self, operands: list, params: dict[str, Any]) -> Any:
        """What holds after the loop: where a pass is certain, what it was before plays no part.

        So `s = 0` before a sum in single precision does not leave open which type the sum has.
        """
        facts = list(self.facts)
        if self.is_for and _runs([getattr(each, "size", None) for each in operands[:3]]):
            outputs, _ = self.results()
            after = [values.kind_of_number(self.body.fact(each)) for each in outputs]
            for index, fact in enumerate(after):
                if fact is not None and values.is_of_two_kinds(facts[index]):
                    facts[index] = fact
        return tree.tuple_of(values.of_last_pass(facts, operands))

    def results(self) -> tuple[list[gast.AST], gast.AST | None]:
        """(the carried outputs of the body, whether the loop ends)."""
        atoms = self.body.outputs()
        return atoms[: self.carried], atoms[self.carried] if self.exits else None


def _runs(bounds: Sequence[sizes.Size | None]) -> bool:
    """Whether a range with these bounds is certain not to be empty."""
    start, stop, step = bounds or [None] * 3
    if start is None or stop is None or step is None or not step.known:
        return False
    return sizes.is_natural((stop - start if step.known > 0 else start - stop) - 1)


def runs_once(program: Program, statement: form.Op) -> bool:
    """Whether a loop of a program is certain to make a pass."""
    loop: Any = region_of(statement)
    if loop.test is not None:
        (test,) = loop.test.outputs()
        return isinstance(test, gast.Constant) and test.value is True
    bounds = loop.parts(statement.operands).bounds
    return _runs([_size_in(program, each) for each in bounds])


def _size_in(program: Program, bound: gast.AST) -> sizes.Size | None:
    value = getattr(bound, "value", None)
    return sizes.of(value) if type(value) is int else getattr(program.fact(bound), "size", None)


def index_size(builder: Builder, bounds: Sequence[Any]) -> Size:
    """The index of a `for` as a size that is told apart from all others, with its bounds."""
    start, stop, step = bounds
    first, end = map(builder.size, (start, stop))
    if type(step) is not int:
        return sizes.of(sizes.fresh(is_length=False))
    low, high = first, end and end - 1
    if end and first and step > 0 and sizes.is_natural(first):  # in a pass the end is above 0
        high = sizes.above_zero(end) - 1
    if step < 0:
        low, high = end and end + 1, first
    return sizes.of(sizes.fresh(is_length=False, low=low, high=high))


@dataclass(frozen=True, slots=True)
class LoopParts:
    """The operands of a loop, or the leaves of its body."""

    bounds: list
    carried: list
    fixed: list


def region_of(statement: form.Statement) -> Region | None:
    """The function of a branch or loop."""
    return statement.rule if isinstance(statement.rule, Region) else None


def blocks_of(statement: form.Statement) -> tuple[Program, ...]:
    """The blocks of a branch or loop; nothing of other statements."""
    region = region_of(statement)
    return () if region is None else region.blocks


def map_blocks(program: Program, change: Callable[[Program], Program]) -> Program:
    """The program with each block of its regions changed; blocks inside blocks are not.

    What is not changed stays the object that it is, and with it what is known of it.
    """
    if not program.compounds:
        return program
    body = []
    for statement in program.body:
        region = region_of(statement)
        if region is not None:
            statement = with_blocks(statement, region, [change(each) for each in region.blocks])
        body.append(statement)
    return program.with_body(body)


def with_blocks(statement: form.Statement, region: Region, blocks: Sequence[Program]) -> Any:
    """The operation of a statement with other blocks; itself where they are its own."""
    if all(map(operator.is_, blocks, region.blocks)):
        return statement
    return statement.with_call(region.with_blocks(blocks), statement.operands)


def tried(program: Program) -> Program:
    """The program, and all that it runs, as what runs in the body of a `try`."""
    if program.tried:
        return program
    made = map_blocks(program, tried).with_(tried=True)
    body = [_with_tried_call(each) for each in made.body]
    return made.with_(body=tuple(body))


def _with_tried_call(statement: form.Statement) -> form.Statement:
    call = callee_of(statement)
    if call is None or call.is_stub or call.program.tried:
        return statement
    made = call.derived.get(tried) or call.with_program(tried)
    return statement.with_call(made, statement.operands)


def everywhere(change: Callable[[Program], Program]) -> Callable[[Program], Program]:
    """A change that is made in a program and in all blocks in it, the innermost first."""

    def changed(program: Program) -> Program:
        return change(map_blocks(program, changed))

    return changed


def everywhere_inwards(change: Callable[[Program], Program]) -> Callable[[Program], Program]:
    """A change that is made in a program and in all blocks in it, the outermost first."""

    def changed(program: Program) -> Program:
        return map_blocks(change(program), changed)

    return changed


def block(
    builder: Builder,
    leaves: Sequence[str],
    outputs: Sequence[Any],
    *,
    name: str = "block",
    captures: Sequence[Capture] = (),
) -> Program:
    """What a builder of its own has written, as a block with these leaves and outputs."""
    nodes = tuple(to_node(each) for each in outputs)
    return Program(
        name=name,
        doc=name,
        inputs=tuple(Input(each, each) for each in leaves),
        body=tuple(builder.body),
        output=tree.tuple_of(nodes),
        facts=builder.facts,
        hints=builder.hints,
        captures=tuple(captures),
        origin=builder.origin,
    )
