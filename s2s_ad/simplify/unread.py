"""Elements that are set to zero and that nothing reads again: they stay what they are."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

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
from s2s_ad.simplify.sums import clears


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
        f(a: f64[n], n: int):
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
    uses: dict[str | None, _Uses | None] = {}
    gone = set()
    for path, statement in cleared:
        root = _root(path, statement)
        if root not in uses:
            uses[root] = _Uses.of(program, root)
        found = uses[root]
        zeros = None if found is None else found.zeros.get(statement.target)
        if found and zeros and not any(meets(zeros, read, 1, fixed) for read in found.reads):
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


def _root(path: Sequence[tuple[Program, form.Op | None]], statement: form.Statement) -> str | None:
    """The name, in the function itself, of the array that elements are cleared in."""
    name = getattr(statement.operands[0], "id", None)
    for place in range(len(path) - 1, -1, -1):
        block, around = path[place]
        computed = {each.target: each for each in block.body if isinstance(each, form.Op)}
        while name in computed and (source := _updated(computed, computed[name])):
            name = source
        if around is None:
            return name
        name = _handed_in(around, block, name)
        if name is None:
            return None
    return None


def _updated(computed: dict[str, form.Op], statement: form.Op) -> str | None:
    """The array that an operation gives with other elements."""
    if statement.rule.updates:
        return getattr(statement.operands[0], "id", None)
    item = item_of(statement)
    source = computed.get(item[0]) if item else None
    region = None if source is None else region_of(source)
    if item and source and isinstance(region, Loop) and item[1] < region.carried:
        return getattr(region.parts(source.operands).carried[item[1]], "id", None)
    return None


def _handed_in(statement: form.Op, block: Program, leaf: str | None) -> str | None:
    """The operand of a region that a leaf of one of its blocks stands for."""
    region = region_of(statement)
    operands = statement.operands[1:]
    if isinstance(region, Loop):
        parts = region.parts(statement.operands)
        operands = [*parts.bounds[: region.indices], *parts.carried, *parts.fixed]
    found = dict(zip(block.leaves(), operands, strict=True)).get(leaf or "")
    return getattr(found, "id", None)


@dataclass(slots=True)
class _Uses:
    """What a function does with an array.

    Attributes:
        reads: where it reads elements.
        zeros: where it sets elements to zero, by the name of the result.
    """

    reads: list[Access] = field(default_factory=list)
    zeros: dict[str, Access] = field(default_factory=dict)

    @classmethod
    def of(cls, program: Program, root: str | None) -> _Uses | None:
        """None where more is done with it than to read and write elements."""
        made = cls()
        if root is None:
            return None
        outputs = made._follow(program, {root}, (ONCE,), ())
        return made if outputs == set() else None

    def _follow(
        self,
        block: Program,
        names: set[str],
        levels: tuple[Level, ...],
        position: Position,
        at: int | None = None,
    ) -> set[int] | None:
        """The outputs of a block that are the array, which it knows by these names at first.

        None where it does anything else with it.
        """
        names = set(names)
        items = {found: each.target for each in block.body if (found := item_of(each))}
        for place, statement in enumerate(block.body):
            where = (*position, place if at is None else at)
            if names.isdisjoint(statement.reads):
                continue
            region = region_of(statement)
            if isinstance(region, Loop) and at is None:
                found = self._loop(statement, region, names, levels, where)
            elif isinstance(region, Branch):
                found = self._branch(statement, region, names, levels, position, where[-1])
            else:
                found = self._access(block, statement, names, Access(levels, where, ()))
            if found is None:
                return None
            if region is None:
                names.update([statement.target] if found else [])
            else:
                names.update(items.get((statement.target, index), "") for index in found)
        outputs = [getattr(each, "id", None) for each in block.outputs()]
        return {index for index, name in enumerate(outputs) if name in names}

    def _access(
        self, block: Program, statement: form.Statement, names: set[str], access: Access
    ) -> set[int] | None:
        """{0} where the result is the array again."""
        rule = statement.rule
        if not rule.updates and statement.function is not operator.getitem:
            return None
        array, *others = statement.operands
        inside = form.reads([*others, *statement.parameters.values()])
        if getattr(array, "id", None) not in names or not names.isdisjoint(inside):
            return None
        index = statement.parameters["index"]
        access = Access(access.levels, access.position, spans(index, block.fact(array), block.fact))
        if clears(block, statement):
            self.zeros[statement.target] = access
        elif statement.function is not runtime.index_set:
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
        found = self._follow(loop.body, own, (*levels, level(statement, loop)), where)
        carried = {index for index, leaf in enumerate(leaves.carried) if leaf in own}
        return carried if found is not None and found == carried else None

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
        position: Position,
        at: int,
    ) -> set[int] | None:
        condition, *operands = statement.operands
        if getattr(condition, "id", None) in names:
            return None
        found: set[int] = set()
        for block in branch.blocks:
            pairs = zip(operands, block.leaves(), strict=True)
            own = {leaf for each, leaf in pairs if getattr(each, "id", None) in names}
            outputs = self._follow(block, own, levels, position, at)
            if outputs is None:
                return None
            found |= outputs
        return found


def _without(program: Program, gone: set[str]) -> Program:
    """The program without these updates: what read their result reads what they changed."""
    program = map_blocks(program, lambda block: _without(block, gone))
    return rewritten(program, lambda each: each.operands[0] if each.target in gone else each)


KEEP_UNREAD = Pass("keep-unread", keep_unread)
