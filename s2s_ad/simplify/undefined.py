"""Values that a path does not have, where code reads them all the same: they become None,
or a list without items.

A value of one side of a branch is read where the same side runs again, however deep inside of
other branches; nothing is to be done then. But it may also be put into a list, be handed to another
function, or lend its shape to zeros that nobody reads; then its name has to be bound on the other
side too. What a block hands on is not read by that.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import fresh_name
from s2s_ad.core.callee import callee_of, has_effect, item_of
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch, Loop, Region, region_of, with_blocks

NONE = form.constant(None)


class Path:
    """The sides of branches that were taken, by what the conditions mean.

    Attributes:
        meanings: what values mean on this path, where that was asked.
    """

    def __init__(self, taken: Mapping[Hashable, int]):
        self.taken = taken
        self.meanings: dict[tuple[_Scope, str, int], Hashable] = {}

    def going_on(self, condition: Hashable, side: int) -> Path:
        return Path({**self.taken, condition: side})


Output = tuple[int, int, int]  # a region, by its id; a block of it; the position of an output

DEEPEST = 4  # operations by which two conditions are seen to be the same


def bind_undefined(program: Program) -> Program:
    """Bind what is undefined on one path and read on all.

    Before: `if c: t = np.sin(x)`, `t_saved.append(t)`; after: `if c: ... else: t = None`.
    """
    if not any(map(region_of, program.body)):
        return program
    scope = _Scope(program, None, {}, Path({}))
    reads = _Reads()
    reads.of_block(scope)
    for atom in program.outputs():
        reads.of(scope, atom)
    return _bound(program, reads)


# ---- where what is undefined is read -------------------------------------------------------------


class _Scope:
    """A program or block where it runs.

    Attributes:
        outer: the scope around it.
        operands: what its leaves stand for, atoms of that scope; others stand for themselves.
        path: the sides of branches that have been taken when it runs.
        inner: by the result of a region the scopes of its blocks.
        may_lack: by name whether some path does not have it.
    """

    def __init__(
        self, program: Program, outer: _Scope | None, operands: dict[str, gast.AST], path: Path
    ):
        self.program, self.outer, self.operands, self.path = program, outer, operands, path
        self.made = {s.target: s for s in program.body if isinstance(s, form.Op)}
        self.outputs = program.outputs()
        self.inner: dict[str, list[_Scope]] = {}
        self.may_lack: dict[str, bool] = {}

    def source(self, atom: gast.AST) -> tuple[_Scope, gast.AST]:
        """The scope whose code made it, and what it is called there."""
        scope: Any = self
        while isinstance(atom, gast.Name) and atom.id in scope.operands:
            atom, scope = scope.operands[atom.id], scope.outer
        return scope, atom


class _Reads:
    """Walks all blocks in the order in which they run.

    Attributes:
        undefined: outputs of blocks that are undefined and that something reads.
        counts: those with which something computes: None would not do where it wants an integer.
    """

    def __init__(self) -> None:
        self.undefined: set[Output] = set()
        self.counts: set[Output] = set()

    def of_block(self, scope: _Scope) -> None:
        """What the statements of a block read."""
        for statement in scope.program.body:
            region = region_of(statement)
            if region is not None:
                self._of_region(scope, statement, region)
                continue
            if item_of(statement) is None:
                self._of_names(scope, statement.reads, counts=_computes(scope, statement))

    def of(self, scope: _Scope, atom: gast.AST, *, counts: bool = False) -> None:
        """The atom is read: it is there on the path, or has to be bound."""
        if isinstance(atom, gast.Name) and _may_lack(scope, atom):
            lacking = set(_lacking(scope, atom, scope.path))
            self.undefined |= lacking
            self.counts |= lacking if counts else set()

    def _of_names(self, scope: _Scope, names: Iterable[str], *, counts: bool) -> None:
        for name in names:
            self.of(scope, form.name(name), counts=counts)

    def _of_region(self, scope: _Scope, statement: form.Statement, region: Region) -> None:
        operands, blocks = statement.operands, region.blocks
        scopes = scope.inner[statement.target] = []
        if isinstance(region, Loop):
            parts = region.parts(operands)
            for atom in (*parts.bounds, *parts.carried):
                self.of(scope, atom)
            for block in blocks:
                fixed = dict(zip(region.leaves(block).fixed, parts.fixed, strict=True))
                scopes.append(_Scope(block, scope, fixed, scope.path))
        else:
            condition = _condition(statement)
            if condition is not None:
                self.of(scope, condition)
                operands = operands[1:]
            for side, block in enumerate(blocks):
                leaves = dict(zip(block.leaves(), operands, strict=True))
                taken = _taken(scope, condition, side, scope.path)
                scopes.append(_Scope(block, scope, leaves, taken))
        for inner in scopes:
            self.of_block(inner)
            if isinstance(region, Loop):
                for atom in inner.outputs:
                    self.of(inner, atom)


def _computes(scope: _Scope, statement: form.Statement) -> bool:
    """Whether a statement looks at what it reads, as neither a list nor a call does."""
    listed = isinstance(scope.program.facts.get(statement.target), values.List)
    return not listed and callee_of(statement) is None


def _condition(statement: form.Statement) -> gast.AST | None:
    """On what a branch decides; None of an attempt."""
    return statement.operands[0] if isinstance(region_of(statement), Branch) else None


def _taken(scope: _Scope, condition: gast.AST | None, side: int, path: Path) -> Path:
    """A path, and that it goes on with one side of a branch."""
    if condition is None:
        return path
    return path.going_on(_meaning(scope, condition, path), side)


def _may_lack(scope: _Scope, atom: gast.AST) -> bool:
    """Whether there is a path on which a name has no value."""
    scope, atom = scope.source(atom)
    if not isinstance(atom, gast.Name):
        return form.is_undefined(atom)
    if atom.id not in scope.may_lack:
        scope.may_lack[atom.id] = any(_may_lack(*each) for each in _sides(scope, atom.id))
    return scope.may_lack[atom.id]


def _sides(scope: _Scope, name: str) -> list[tuple[_Scope, gast.AST]]:
    """What stands for an output of a branch or attempt, in each of its blocks."""
    item = item_of(scope.made[name]) if name in scope.made else None
    scopes = scope.inner.get(item[0], []) if item is not None else []
    region = region_of(scope.made[item[0]]) if item is not None and scopes else None
    if item is None or region is None or isinstance(region, Loop):
        return []
    # the position of the block that ran is an output of an attempt, too
    return [(each, each.outputs[item[1]]) for each in scopes if item[1] < len(each.outputs)]


def _item(scope: _Scope, name: str) -> Any:
    """(result, index) of a name that is an output of a region."""
    return item_of(scope.made[name])


def _lacking(scope: _Scope, atom: gast.AST, path: Path) -> Iterator[Output]:
    """The undefined outputs of blocks for which a name may stand on a path."""
    scope, atom = scope.source(atom)
    if not isinstance(atom, gast.Name) or not _may_lack(scope, atom):
        return
    result, position = _item(scope, atom.id)
    statement = scope.made[result]
    region = region_of(statement)
    for side, (inner, output) in _open_sides(scope, atom.id, path).items():
        if form.is_undefined(output):
            yield id(region), side, position
        else:
            taken = _taken(scope, _condition(statement), side, path)
            yield from _lacking(inner, output, taken)


def _open_sides(scope: _Scope, name: str, path: Path) -> dict[int, tuple[_Scope, gast.AST]]:
    """`_sides`, by the number of the block, for those blocks that may have run on a path."""
    sides = dict(enumerate(_sides(scope, name)))
    condition = _condition(scope.made[_item(scope, name)[0]]) if sides else None
    taken = None if condition is None else path.taken.get(_meaning(scope, condition, path))
    return sides if taken is None else {taken: sides[taken]}


def _meaning(scope: _Scope, atom: gast.AST, path: Path, depth: int = DEEPEST) -> Hashable:
    """What a value is: equal for names that have the same value on a path."""
    scope, atom = scope.source(atom)
    if isinstance(atom, gast.Constant):
        return _constant(atom.value)
    if not isinstance(atom, gast.Name):
        return id(scope), id(atom)
    key = scope, atom.id, depth
    if key not in path.meanings:
        path.meanings[key] = _meaning_of_name(scope, atom.id, path, depth)
    return path.meanings[key]


def _meaning_of_name(scope: _Scope, name: str, path: Path, depth: int) -> Hashable:
    itself = id(scope), name
    statement = scope.made.get(name)
    if statement is None or depth == 0:
        return itself
    if item_of(statement) is not None:
        sides = [*_open_sides(scope, name, path).values()]
        return _meaning(*sides[0], path, depth) if len(sides) == 1 else itself
    rule, params = statement.rule, statement.parameters
    if has_effect(statement) or rule.distinct or not all(map(_is_constant, params.values())):
        return itself
    operands = [_meaning(scope, each, path, depth - 1) for each in statement.operands]
    return id(rule), *operands, *((key, _constant(each.value)) for key, each in params.items())


def _is_constant(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant)


def _constant(value: Any) -> Hashable:
    """What a constant is: itself, and numbers that are written alike."""
    plain = value is None or isinstance(value, int | float | complex | str)
    return (type(value), repr(value)) if plain else id(value)


# ---- what is bound -------------------------------------------------------------------------------


def _bound(program: Program, reads: _Reads) -> Program:
    """A program or block in which these outputs of blocks are bound."""
    body: list[form.Statement] = []
    facts: dict[str, values.AbstractValue] = {}
    for statement in program.body:
        region = region_of(statement)
        if region is None:
            body.append(statement)
            continue
        blocks = [_bound(each, reads) for each in region.blocks]
        if isinstance(region, Loop):
            statement = with_blocks(statement, region, blocks)
            body += _bound_at_start(statement, statement.rule, facts)
            continue
        for output in sorted(each for each in reads.undefined if each[0] == id(region)):
            _, side, position = output
            fact, counts = region.facts[position], output in reads.counts
            blocks[side] = _with_output(blocks[side], position, fact, counts=counts)
        body.append(with_blocks(statement, region, blocks))
    made = program.with_body(body)
    return made.with_(facts=made.facts | facts) if facts else made


def _bound_at_start(statement: form.Op, loop: Loop, facts: dict) -> list[form.Op]:
    """A loop whose first pass finds what it reads of values that are not there yet.

    The facts of what is put before the loop go into `facts`.
    """
    parts, leaves = loop.parts(statement.operands), loop.leaves(loop.body).carried
    read = _read_at_top(loop.body) | _handed_to_calls(loop.body)
    carried, made = [], []
    for atom, leaf, fact in zip(parts.carried, leaves, loop.facts, strict=True):
        if form.is_undefined(atom) and leaf in read:
            atom = _stand_in(fact, statement, made, facts)
        carried.append(atom)
    return [*made, _replaced(statement, loop, [*parts.bounds, *carried, *parts.fixed])]


def _read_at_top(block: Program) -> set[str]:
    return {name for each in block.body if region_of(each) is None for name in each.reads}


def _handed_to_calls(block: Program) -> set[str]:
    """The names of a block that calls are handed, in blocks inside, too.

    Such a function is told by a flag that a value is not there; its argument has to be bound.
    """
    found: set[str] = set()
    for statement in block.body:
        region = region_of(statement)
        if region is None:
            found.update(statement.reads if callee_of(statement) is not None else ())
            continue
        handed = set.union(*map(_handed_to_calls, region.blocks))
        for inner, names in zip(region.blocks, _operands_of_blocks(statement, region), strict=True):
            pairs = zip(inner.leaves(), names, strict=True)
            found |= {
                atom.id for leaf, atom in pairs if leaf in handed and isinstance(atom, gast.Name)
            }
    return found


def _operands_of_blocks(statement: form.Statement, region: Region) -> Iterator[Sequence[gast.AST]]:
    """For each block what its leaves stand for when it runs for the first time."""
    for block in region.blocks:
        if isinstance(region, Loop):
            parts = region.parts(statement.operands)
            index = len(region.leaves(block).bounds)
            yield [NONE] * index + [*parts.carried, *parts.fixed]
        else:
            yield list(statement.operands[1 if _condition(statement) is not None else 0 :])


def _with_output(
    block: Program, index: int, fact: values.AbstractValue, *, counts: bool
) -> Program:
    """The block with something for the output at `index`."""
    atoms, made, facts = list(block.outputs()), [], {}
    whole = counts and values.rank_of(fact) == 0 and values.is_inexact(fact) is False
    atoms[index] = form.constant(0) if whole else _stand_in(fact, block, made, facts)
    output = tree.tuple_of(atoms)
    return block.with_(body=(*block.body, *made), facts=block.facts | facts, output=output)


def _stand_in(
    fact: values.AbstractValue, near: form.Op | Program, made: list, facts: dict
) -> gast.AST:
    """None, or a list without items, which `made` and `facts` tell of."""
    if not isinstance(fact, values.List):
        return NONE
    name = fresh_name()
    made.append(form.op(name, runtime.list_of, [], origin=near.origin, phase="forward"))
    facts[name] = fact
    return form.name(name)


def _replaced(statement: form.Op, region: Region, operands: list[gast.AST]) -> form.Op:
    return statement.with_call(region, operands)


BIND = Pass("bind", bind_undefined)
