"""Elements that are set to zero and that nothing reads again: they stay what they are."""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush

import gast

from s2s_ad import runtime
from s2s_ad.analysis.elements import (
    ONCE,
    Access,
    Level,
    Position,
    atoms_of_fact,
    level,
    meets,
    spans,
)
from s2s_ad.core import form
from s2s_ad.core.callee import item_of
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch, Loop, map_blocks, region_of
from s2s_ad.core.rewriting import rewritten
from s2s_ad.core.sizes import Atom
from s2s_ad.simplify.sums import clears

MOST = 100  # reads that an element is compared with; where there are more it is set to zero


def keep_unread(program: Program) -> Program:
    """Without the zeros of derivatives that nobody reads.

    The adjoint of elements that the user's code has overwritten is zero from there on; most often
    it is in an array of which those elements are not read any more.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.check.passes import after
        >>> def f(a, n):
        ...     b = np.zeros(5)
        ...     b[:4] = a
        ...     for i in range(n):
        ...         a[i] = 3.0 * b[i]
        ...         b[i] = 0.0
        ...     return a
        >>> print(after(KEEP_UNREAD, f, np.ones(4), 4, derived=True))
        f(a: f64[4], n: int):
            b = np.zeros(shape=5)
            b.2 = index_set(b, a, index=:4)
            a.4, b.4 = for i in range(n) with a.2 = a, b.3 = b.2:
                t1 = b.3[i]
                t2 = 3.0 * t1
                a.3 = index_set(a.2, t2, index=i)
                next a.3, b.3
            return a.4
    """
    cleared = list(_cleared(program))
    if not cleared:
        return program
    names = [*program.leaves(), *(each.target for each in program.body if each.target)]
    facts = [program.facts[name] for name in names]
    fixed = frozenset(atom for fact in facts for atom in atoms_of_fact(fact))
    blocks = _Blocks()
    uses: dict[str | None, _Uses | None] = {}
    gone = set()
    for path, statement in cleared:
        root = blocks.root(path, statement.operands[0])
        if root not in uses:
            uses[root] = _Uses.of(program, root, blocks)
        found = uses[root]
        if found is not None and not found.may_read(statement.target, fixed):
            gone.add(statement.target)
    return _without(program, gone) if gone else program


def _cleared(program: Program, around: tuple = ()) -> Iterator[tuple[tuple, form.Statement]]:
    """What clears elements for a derivative, each with the blocks that it stands in.

    A block is given with the statement of which it is a part.
    """
    path = around or ((program, None),)
    for statement in program.body:
        region = region_of(statement)
        if isinstance(region, Loop | Branch):
            for block in region.blocks:
                yield from _cleared(block, (*path, (block, statement)))
        elif clears(program, statement) and statement.phase == "backward":
            yield path, statement


class _Block:
    """Who makes a value of a block, and who reads it.

    Attributes:
        made: the operations, by the name of the value.
        readers: the indices of the statements that read a name.
        items: the name of an item, by the name of the tuple and its place there.
    """

    def __init__(self, block: Program):
        self.made = {each.target: each for each in block.body if isinstance(each, form.Op)}
        self.items = {found: name for name, op in self.made.items() if (found := item_of(op))}
        self.readers: dict[str, list[int]] = {}
        for slot, statement in enumerate(block.body):
            for name in dict.fromkeys(statement.reads):
                self.readers.setdefault(name, []).append(slot)


class _Blocks:
    """The blocks of a function, each looked at once."""

    def __init__(self) -> None:
        self._blocks: dict[int, _Block] = {}
        self._roots: dict[str, str | None] = {}

    def of(self, block: Program) -> _Block:
        if id(block) not in self._blocks:
            self._blocks[id(block)] = _Block(block)
        return self._blocks[id(block)]

    def root(self, path: Sequence[tuple[Program, form.Op | None]], array: gast.AST) -> str | None:
        """The name, in the function itself, of the array that one in a block of it is."""
        name, passed = getattr(array, "id", None), []
        for block, around in reversed(path):
            made = self.of(block).made
            while name in made and name not in self._roots:
                passed.append(name)
                source = _updated(made, made[name])
                if source is None:
                    break
                name = source
            if name is None or name in self._roots or around is None:
                break
            passed.append(name)
            name = _handed_in(around, block, name)
        root = self._roots.get(name, name) if name is not None else None
        self._roots |= dict.fromkeys(passed, root)
        return root


def _updated(made: Mapping[str, form.Op], statement: form.Op) -> str | None:
    """The array that an operation gives with other elements."""
    if statement.rule.updates:
        return getattr(statement.operands[0], "id", None)
    item = item_of(statement)
    source = made.get(item[0]) if item else None
    region = None if source is None else region_of(source)
    if item and source and isinstance(region, Loop) and item[1] < region.carried:
        return getattr(region.parts(source.operands).carried[item[1]], "id", None)
    return None


def _handed_in(statement: form.Op, block: Program, leaf: str) -> str | None:
    """The operand of a region that a leaf of one of its blocks stands for."""
    region = region_of(statement)
    operands = statement.operands[1:]
    if isinstance(region, Loop):
        parts = region.parts(statement.operands)
        operands = [*parts.bounds[: region.indices], *parts.carried, *parts.fixed]
    found = dict(zip(block.leaves(), operands, strict=True)).get(leaf)
    return getattr(found, "id", None)


@dataclass(slots=True)
class _Uses:
    """What a function does with an array.

    Attributes:
        reads: where it reads elements, in the order of the text.
        at: the numbers of those reads, by the first index where that is known, else by None.
        zeros: where it sets elements to zero, by the name of the result, with the number of reads
            that stand before.
    """

    blocks: _Blocks
    reads: list[Access] = field(default_factory=list)
    at: dict[int | None, list[int]] = field(default_factory=dict)
    zeros: dict[str, tuple[Access, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, program: Program, root: str | None, blocks: _Blocks) -> _Uses | None:
        """None where more is done with it than to read and write elements."""
        if root is None:
            return None
        made = cls(blocks)
        return made if made._follow(program, {root}, (ONCE,), ()) == set() else None

    def may_read(self, name: str, fixed: frozenset[Atom]) -> bool:
        """Whether an element that was set to zero may be read when it is that."""
        if name not in self.zeros:
            return True
        access, before = self.zeros[name]
        slot = _first_index(access)
        groups = self.at.values() if slot is None else (self.at.get(e, []) for e in (slot, None))
        first = before if access.levels == (ONCE,) else 0
        numbers = [number for group in groups for number in group[bisect_left(group, first) :]]
        if len(numbers) > MOST:
            return True
        return any(meets(access, self.reads[number], 1, fixed) for number in numbers)

    def _follow(
        self,
        block: Program,
        names: set[str],
        levels: tuple[Level, ...],
        position: Position,
        at: int | None = None,
        sides: tuple[int, ...] = (),
    ) -> set[int] | None:
        """The outputs of a block that are the array, which it knows by these names at first.

        None where it does anything else with it.

        Args:
            at: of the side of a branch the position of the outermost branch around it.
            sides: and the way from there, as `Access` tells it.
        """
        names, known = set(names), self.blocks.of(block)
        waiting = [slot for name in names for slot in known.readers.get(name, ())]
        heapify(waiting)
        last = -1
        while waiting:
            slot = heappop(waiting)
            if slot == last:
                continue
            last, statement = slot, block.body[slot]
            where = (*position, slot if at is None else at)
            path = () if at is None else (*sides, slot)
            region = region_of(statement)
            if isinstance(region, Loop) and at is None:
                found = self._loop(statement, region, names, levels, where)
            elif isinstance(region, Branch):
                found = self._branch(statement, region, names, levels, where, path)
            else:
                access = Access(levels, where, (), path)
                found = self._access(block, statement, names, access)
            if found is None:
                return None
            results = [statement.target] if found else []
            if region is not None:
                results = [known.items.get((statement.target, index), "") for index in found]
            for name in (each for each in results if each not in names):
                names.add(name)
                for reader in known.readers.get(name, ()):
                    heappush(waiting, reader)
        outputs = [getattr(each, "id", None) for each in block.outputs()]
        return {index for index, name in enumerate(outputs) if name in names}

    def _access(
        self, block: Program, statement: form.Statement, names: set[str], access: Access
    ) -> set[int] | None:
        """{0} where the result is the array again."""
        rule = statement.rule
        if not rule.updates and statement.function is not operator.getitem:
            early = access.levels == (ONCE,) and not self.zeros
            return set() if early else None  # what is read before has all elements
        array, *others = statement.operands
        inside = form.reads([*others, *statement.parameters.values()])
        if getattr(array, "id", None) not in names or not names.isdisjoint(inside):
            return None
        index = statement.parameters["index"]
        access = replace(access, spans=spans(index, block.fact(array), block.fact))
        if clears(block, statement):
            self.zeros[statement.target] = access, len(self.reads)
        elif statement.function is not runtime.index_set:
            self.at.setdefault(_first_index(access), []).append(len(self.reads))
            self.reads.append(access)
        return {0} if rule.updates else set()

    def _loop(
        self,
        statement: form.Statement,
        loop: Loop,
        names: set[str],
        levels: tuple[Level, ...],
        where: Position,
    ) -> set[int] | None:
        parts, leaves = loop.parts(statement.operands), loop.leaves(loop.body)
        operands = [*parts.carried, *parts.fixed]
        inside = [*leaves.carried, *leaves.fixed]
        pairs = list(zip(operands, inside, strict=True))
        own = {leaf for each, leaf in pairs if getattr(each, "id", None) in names}
        if not names.isdisjoint(form.reads(parts.bounds)) or self._is_tested(
            loop, statement, names
        ):
            return None
        early = levels == (ONCE,) and not self.zeros
        reads, at = list(self.reads), {slot: list(each) for slot, each in self.at.items()}
        found = self._follow(loop.body, own, (*levels, level(statement, loop)), where)
        carried = {index for index, leaf in enumerate(leaves.carried) if leaf in own}
        if found is not None and found == carried:
            return carried
        if not early or self.zeros:
            return None
        self.reads, self.at = reads, at  # what such a loop reads is not zero yet
        return carried

    def _is_tested(self, loop: Loop, statement: form.Statement, names: set[str]) -> bool:
        """Whether the condition of a while reads the array."""
        if loop.test is None:
            return False
        operands = zip(statement.operands, loop.test.leaves(), strict=True)
        tested = {leaf for each, leaf in operands if getattr(each, "id", None) in names}
        read = {name for each in loop.test.body for name in each.reads}
        return not tested.isdisjoint({*read, *form.reads(loop.test.outputs())})

    def _branch(
        self,
        statement: form.Statement,
        branch: Branch,
        names: set[str],
        levels: tuple[Level, ...],
        where: Position,
        path: tuple[int, ...],
    ) -> set[int] | None:
        condition, *operands = statement.operands
        if getattr(condition, "id", None) in names:
            return None
        found: set[int] = set()
        for side, block in enumerate(branch.blocks):
            pairs = zip(operands, block.leaves(), strict=True)
            own = {leaf for each, leaf in pairs if getattr(each, "id", None) in names}
            outputs = self._follow(block, own, levels, where[:-1], where[-1], (*path, side))
            if outputs is None:
                return None
            found |= outputs
        return found


def _first_index(access: Access) -> int | None:
    """The index along the first axis, where it is one number that is known."""
    span = access.spans[0] if access.spans else None
    if span is None or span[1] is None or span[0].known is None:
        return None
    return span[0].known if span[1].known == span[0].known + 1 else None


def _without(program: Program, gone: set[str]) -> Program:
    """The program without these updates: what read their result reads what they changed."""
    program = map_blocks(program, lambda block: _without(block, gone))
    return rewritten(program, lambda each: each.operands[0] if each.target in gone else each)


KEEP_UNREAD = Pass("keep-unread", keep_unread)
