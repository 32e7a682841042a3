"""Dead code: operations whose result nobody reads go; effects, and what they read, stay.

What is needed is marked first, over all blocks at once and each name once; then what is not marked
is left out. A program without dead code remembers this, so that it is not looked into again when
it has become a block of a larger one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from s2s_ad.core import form, tree
from s2s_ad.core.callee import (
    captured_names,
    checks,
    has_effect,
    item_of,
    may_be_out_of_range,
    may_raise,
    required_by,
)
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Attempt, Branch, Loop, Region, region_of
from s2s_ad.core.sharing import lazy


def remove_dead(program: Program) -> Program:
    """Drop what neither the outputs nor an effect need.

    In the body of a `try` what may raise stays, for it decides on what happens next.
    Of a branch or loop what nobody reads is no longer an output, and what it no longer reads no
    longer an operand.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.check.passes import after
        >>> def f(x):
        ...     unused = np.sin(x)
        ...     return np.cos(x)
        >>> print(after(DEAD, f, 1.0))
        f(x: float):
            t1 = np.cos(x)
            return t1
    """
    if _is_clean(program):
        return program
    marks = _Marks()
    block = marks.enter(program, None)
    for atom in program.outputs():
        block.need(atom)
    marks.spread()
    return block.swept(program.output)


def _is_clean(program: Program) -> bool:
    """Whether the program came out of here: then nothing in it is dead."""
    return "has_no_dead_code" in program.__dict__


def _cleaned(program: Program) -> Program:
    """The program, marked; not in a `try`, where what is known of functions may still change."""
    blocks = (
        block for each in program.body if (region := region_of(each)) for block in region.blocks
    )
    if not program.tried and all(map(_is_clean, blocks)):
        program.__dict__["has_no_dead_code"] = True
    return program


# ---- what is needed ------------------------------------------------------------------------------


class _Marks:
    """What is still to be looked into, in all blocks."""

    def __init__(self) -> None:
        self.names: list[tuple[_Block, str]] = []  # needed, and not followed yet
        self.closed: list[_Use] = []  # regions without dead code, of which not all is needed yet
        self.indexed: list[tuple[_Block, form.Op]] = []  # raises where an index is out of range

    def enter(self, program: Program, use: _Use | None) -> _Block:
        """A block that runs: its effects are needed, whatever is read of it."""
        block = _Block(self, program, use)
        for statement in program.body:
            if has_effect(statement) or _decides(statement, program):
                block.need_statement(statement)
            elif isinstance(statement, form.Op) and required_by(statement):
                self.indexed.append((block, statement))
        return block

    def spread(self) -> None:
        """Mark all that is needed by what is needed."""
        while self.names or self.closed or self.indexed:
            while self.names:
                block, name = self.names.pop()
                block.follow(name)
            if self.closed:
                self.closed.pop().open()
            elif self.indexed:
                block, statement = self.indexed.pop()
                if statement.target not in block.needed and may_be_out_of_range(statement):
                    block.need_statement(statement)


def _decides(statement: form.Statement, program: Program) -> bool:
    """Whether it counts that the statement may raise: in a `try`, and of what checks arguments."""
    if program.tried:
        return statement.phase != "backward" and may_raise(statement, program.fact)
    return checks(statement, program.fact)


class _Block:
    """What is needed of a block: names, and the uses of its regions by the names of their results.

    Attributes:
        use: the region that it is a block of; None for the program itself.
    """

    def __init__(self, marks: _Marks, program: Program, use: _Use | None):
        self.marks, self.program, self.use = marks, program, use
        self.needed: set[str] = set()
        self.uses: dict[str, _Use] = {}
        self.definitions = {s.target: s for s in program.body if isinstance(s, form.Op)}

    @lazy
    def leaves(self) -> dict[str, int]:
        """The place of each leaf of a block."""
        return {name: index for index, name in enumerate(self.program.leaves())}

    @lazy
    def outputs(self) -> list[gast.AST]:
        return self.program.outputs()

    def need(self, atom: gast.AST) -> None:
        if isinstance(atom, gast.Name):
            self.need_name(atom.id)

    def need_name(self, name: str) -> None:
        if name not in self.needed:
            self.needed.add(name)
            self.marks.names.append((self, name))

    def need_statement(self, statement: form.Statement) -> None:
        """An effect, or an operation that has to run."""
        if isinstance(statement, form.Op):
            self.need_name(statement.target)
            return
        for name in statement.reads:
            self.need_name(name)

    def follow(self, name: str) -> None:
        """Mark what the value of a name needs."""
        statement = self.definitions.get(name)
        if statement is None:
            if self.use is not None:
                self.use.need_leaf(self, name)
            return
        region = region_of(statement)
        if region is not None:
            self._use_of(statement, region)
            return
        item = item_of(statement)
        source = None if item is None else self.definitions.get(item[0])
        for each in statement.reads:
            self.need_name(each)
        region = None if source is None else region_of(source)
        if item is not None and source is not None and region is not None:
            self._use_of(source, region).need_output(item[1])

    def _use_of(self, statement: form.Statement, region: Region) -> _Use:
        name = statement.target
        if name not in self.uses:
            kind = {Branch: _Sides, Loop: _Passes, Attempt: _Tries}[type(region)]
            self.uses[name] = kind(self, statement, region)
            self.uses[name].start()
        return self.uses[name]

    def swept(self, output: tree.Tree | gast.AST) -> Program:
        """The block without what is not needed, with this output."""
        program, body = self.program, []
        for statement in program.body:
            if isinstance(statement, form.Effect):
                body.append(statement)
            elif statement.target in self.needed:
                body.append(self._swept_statement(statement))
        same = len(body) == len(program.body) and all(map(_is, body, program.body))
        live = {name for each in body for name in (*each.reads, *captured_names(each))}
        live.update(atom.id for atom in tree.leaves(output) if isinstance(atom, gast.Name))
        captures = program.captures
        if not all(each.name is None or each.name in live for each in captures):
            captures, same = tuple(e for e in captures if e.name is None or e.name in live), False
        regions = {each.target: region for each in body if (region := region_of(each))}
        facts = program.with_(body=tuple(body), captures=captures).own_facts
        if same and output is program.output and not regions and facts is program.facts:
            return _cleaned(program)
        hints = program.hints
        if facts is not program.facts:
            hints = {name: hints[name] for name in facts if name in hints}
        if regions:
            facts = facts | {name: each.infer([], {}) for name, each in regions.items()}
        changes = {"captures": captures, "facts": facts, "hints": hints}
        return _cleaned(program.with_(body=tuple(body), output=output, **changes))

    def _swept_statement(self, statement: form.Op) -> form.Op:
        item = item_of(statement)
        if item is not None and item[0] in self.uses:
            use = self.uses[item[0]]
            number = use.swept().numbers[item[1]]
            if number == item[1]:
                return statement
            params = {"index": form.constant(number)}
            return statement.with_call(statement.function, [form.name(item[0])], params)
        if region_of(statement) is None:
            return statement
        return self.uses[statement.target].swept().statement


def _is(a: object, b: object) -> bool:
    return a is b


# ---- regions -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Swept:
    """A region without what is not needed: its statement, and the new number of each output."""

    statement: form.Op
    numbers: dict[int, int]


class _Use:
    """What is needed of a region that runs.

    A region that came out of here is not opened where all is needed that was needed then.

    Attributes:
        asked: the outputs that are taken.
        outputs: the outputs that are needed.
    """

    def __init__(self, outer: _Block, statement: form.Op, region: Region):
        self.outer, self.statement = outer, statement
        self.region: Any = region  # of the kind that the subclass is for
        self.operands = statement.operands
        self.asked: set[int] = set()
        self.outputs: set[int] = set()
        self.blocks: list[_Block] = []
        self._swept: _Swept | None = None

    def start(self) -> None:
        if self.region.whole_for is None:
            self._enter()
        elif not self._is_whole():
            self.outer.marks.closed.append(self)

    def need_output(self, number: int) -> None:
        """An output is taken from the result."""
        self.asked.add(number)
        self._need(number)

    def _is_whole(self) -> bool:
        """Whether all is needed without a look inside; then so are the operands."""
        whole = not self.blocks and self.region.whole_for <= self.asked
        if whole:
            for name in self.statement.reads:
                self.outer.need_name(name)
        return whole

    def open(self) -> None:
        """Look inside, unless all is needed by now."""
        if not self._is_whole():
            self._enter()

    def _enter(self) -> None:
        self.blocks = [self.outer.marks.enter(each, self) for each in self.region.blocks]
        self._begin()
        for number in self.outputs:
            self._need_inside(number)

    def _need(self, number: int) -> None:
        if number not in self.outputs:
            self.outputs.add(number)
            if self.blocks:
                self._need_inside(number)
            else:
                self._is_whole()

    def swept(self) -> _Swept:
        if self._swept is None:
            self._swept = self._sweep() if self.blocks else self._as_it_is()
        return self._swept

    def _as_it_is(self) -> _Swept:
        return _Swept(self.statement, {i: i for i in range(self.region.count)})

    def _made(self, region: Region, operands: list[gast.AST], outputs: list[int]) -> _Swept:
        numbers = {old: new for new, old in enumerate(outputs)}
        if all(map(_is_clean, region.blocks)):
            region.whole_for = frozenset(numbers[each] for each in self.asked)
        if "effects" in self.region.__dict__:
            region.__dict__["effects"] = self.region.effects  # no effect went
        return _Swept(self.statement.with_call(region, operands), numbers)

    def _begin(self) -> None:
        """Mark what the region needs in any case."""

    def _need_inside(self, number: int) -> None:
        """Mark what an output needs in the blocks."""
        raise NotImplementedError

    def need_leaf(self, block: _Block, name: str) -> None:
        """A block needs one of its leaves."""
        raise NotImplementedError

    def _sweep(self) -> _Swept:
        raise NotImplementedError


class _Sides(_Use):
    """Of a branch: the operands are the condition and the leaves of the blocks."""

    first = 1

    def __init__(self, outer: _Block, statement: form.Op, region: Region):
        super().__init__(outer, statement, region)
        self.read: set[int] = set()  # the leaves that a block needs

    def _begin(self) -> None:
        for operand in self.operands[: self.first]:
            self.outer.need(operand)

    def _need_inside(self, number: int) -> None:
        for block in self.blocks:
            block.need(block.outputs[number])

    def need_leaf(self, block: _Block, name: str) -> None:
        index = block.leaves.get(name)
        if index is not None:
            self.read.add(index)
            self.outer.need(self.operands[self.first + index])

    def _sweep(self) -> _Swept:
        outputs, stay = sorted(self.outputs), sorted(self.read)
        blocks = [_with_leaves(_with_outputs(each, outputs), stay) for each in self.blocks]
        first = self.operands[: self.first]
        operands = [*first, *(self.operands[self.first + index] for index in stay)]
        last = [self.region.count - 1] if isinstance(self.region, Attempt) else []
        return self._made(self.region.like(blocks), operands, [*outputs, *last])


class _Tries(_Sides):
    """Of an attempt, whose last output is the number of the block that came to its end."""

    first = 0

    def _need_inside(self, number: int) -> None:
        if number < self.region.count - 1:
            super()._need_inside(number)

    def _sweep(self) -> _Swept:
        self.outputs.discard(self.region.count - 1)
        return super()._sweep()


class _Passes(_Use):
    """Of a loop: what a carried value is needed for may be another carried value."""

    def __init__(self, outer: _Block, statement: form.Op, region: Loop):
        super().__init__(outer, statement, region)
        self.parts = region.parts(self.operands)
        self.fixed: set[int] = set()

    def _begin(self) -> None:
        for operand in self.parts.bounds:
            self.outer.need(operand)
        for block, atoms in self._conditions():
            for atom in atoms:
                block.need(atom)

    def _conditions(self) -> Iterator[tuple[_Block, list[gast.AST]]]:
        """What decides whether the loop goes on, by block."""
        if self.region.test is not None:
            yield self.blocks[0], self.region.test.outputs()
        if self.region.exits:
            yield self.blocks[-1], self.blocks[-1].outputs[self.region.carried :]

    def _need_inside(self, number: int) -> None:
        self.blocks[-1].need(self.blocks[-1].outputs[number])
        self.outer.need(self.parts.carried[number])

    def need_leaf(self, block: _Block, name: str) -> None:
        index = block.leaves.get(name)
        if index is None:
            return
        index -= self.region.indices if block is self.blocks[-1] else 0
        if 0 <= index < self.region.carried:
            self._need(index)
        elif index >= 0:
            self.fixed.add(index - self.region.carried)
            self.outer.need(self.parts.fixed[index - self.region.carried])

    def _sweep(self) -> _Swept:
        old = self.region
        outputs, fixed = sorted(self.outputs), sorted(self.fixed)
        after = [*outputs, old.carried] if old.exits else outputs
        blocks = [_with_leaves(_with_outputs(self.blocks[-1], after), self._stay(old.indices))]
        if old.test is not None:
            test = self.blocks[0].swept(old.test.output)
            blocks.insert(0, _with_leaves(test, self._stay(0)))
        made = old.like(blocks, len(outputs))
        carried = [self.parts.carried[i] for i in outputs]
        operands = [*self.parts.bounds, *carried, *(self.parts.fixed[i] for i in fixed)]
        return self._made(made, operands, outputs)

    def _stay(self, indices: int) -> list[int]:
        """The places of the leaves of a block that stay; `indices` of them come first."""
        first = indices + self.region.carried
        carried = (indices + each for each in sorted(self.outputs))
        return [*range(indices), *carried, *(first + each for each in sorted(self.fixed))]


def _with_outputs(block: _Block, numbers: Sequence[int]) -> Program:
    """The block with these of its outputs, and without what only the others need."""
    atoms = block.outputs
    if len(numbers) == len(atoms):
        return block.swept(block.program.output)
    items = tuple(atoms[number] for number in numbers)
    return block.swept(tree.tuple_of(items))


def _with_leaves(program: Program, indices: Sequence[int]) -> Program:
    """The block with these of its leaves; it reads no others."""
    if len(indices) == len(program.inputs):
        return program
    made = program.with_(inputs=tuple(program.inputs[index] for index in indices))
    return _cleaned(made) if _is_clean(program) else made


DEAD = Pass("dead", remove_dead)
