"""Liveness: where each name is read last, and how often."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence

import gast

from s2s_ad.core import form, values
from s2s_ad.core.callee import compound_of, may_raise
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Attempt, Branch, Loop, Path, Region, region_of


def counts(body: Sequence[form.Statement], outputs: Sequence[gast.AST]) -> Counter[str]:
    """How often each name is read."""
    found: Counter[str] = Counter()
    for statement in body:
        found.update(statement.reads)
    found.update(atom.id for atom in outputs if isinstance(atom, gast.Name))
    return found


class Contents:
    """Where the contents of each name are read: what is read for its shape alone does not count.

    Names are told apart by the block that they belong to. A position is that of a statement in
    the block, or the number of its statements for its outputs; a leaf that the next pass of a
    loop reads again is read "for ever".

    Attributes:
        reads: (block, name) -> positions, in order.
        defined: (block, name) -> position; -1 for a leaf.
        handled: for the place of each Attempt the operands that its handlers read.
        raises: for the place of each Attempt the last position of its body that may raise.
    """

    def __init__(self, program: Program):
        self.reads: dict[tuple[Path, str], list[float]] = {}
        self.defined: dict[tuple[Path, str], int] = {}
        self.handled: dict[tuple[Path, int], set[str]] = {}
        self.raises: dict[tuple[Path, int], int] = {}
        self._scan(program, ())

    def live(self, path: Path, name: str, at: Path, position: int) -> bool:
        """Whether the contents are read again after the statement at `position` of block `at`."""
        if at[: len(path)] != path:
            return False  # of a block that is not running
        defined, last = self.span(path, name)
        place = at[len(path)][0] if len(at) > len(path) else position
        return defined < place and (last > place or name in self.to_handle(path, at, position))

    def span(self, path: Path, name: str) -> tuple[int, float]:
        """(where a name is defined, where it is read last): -1 for a leaf, and for never."""
        reads = self.reads.get((path, name))
        return self.defined.get((path, name), -1), reads[-1] if reads else -1

    def to_handle(self, path: Path, at: Path, position: int) -> Collection[str]:
        """The names of a block that handlers read, where they may still come to run."""
        if len(at) == len(path) or at[len(path)][1] != 0:
            return ()
        place = at[len(path)][0]
        handled = self.handled.get((path, place), ())
        inside = len(at) > len(path) + 1
        return handled if inside or (handled and self.raises[path, place] > position) else ()

    def after(self, path: Path, name: str, position: int) -> list[float]:
        """The later places of the same block where the name is read."""
        reads = self.reads.get((path, name), [])
        return reads[bisect_right(reads, position) :]

    def _scan(self, program: Program, path: Path) -> None:
        self.defined.update(((path, leaf), -1) for leaf in program.leaves())
        for position, statement in enumerate(program.body):
            for name in self._read_by(program, statement, path, position):
                self._read(path, name, position)
            if isinstance(statement, form.Op):
                self.defined[path, statement.target] = position
        for atom in program.outputs():
            if isinstance(atom, gast.Name):
                self._read(path, atom.id, len(program.body))

    def _read(self, path: Path, name: str, position: float) -> None:
        self.reads.setdefault((path, name), []).append(position)

    def _read_by(
        self, program: Program, statement: form.Statement, path: Path, position: int
    ) -> Sequence[str]:
        region = region_of(statement)
        if region is not None:
            return self._read_by_region(region, statement, path, position)
        if isinstance(statement, form.Effect) or compound_of(statement) is not None:
            return statement.reads
        skipped = shape_operands(statement, program)
        operands = [each for i, each in enumerate(statement.operands) if i not in skipped]
        nodes = [*operands, *statement.parameters.values()]
        return [name for node in nodes for name in form.reads(node)]

    def _read_by_region(
        self, region: Region, statement: form.Statement, path: Path, position: int
    ) -> Sequence[str]:
        inner = [(*path, (position, number)) for number in range(len(region.blocks))]
        for block, own in zip(region.blocks, inner, strict=True):
            self._scan(block, own)
        operands = statement.operands
        if isinstance(region, Attempt):
            may = [i for i, s in enumerate(region.body.body) if may_raise(s, region.body.fact)]
            self.raises[path, position] = max(may, default=-1)
        if isinstance(region, Loop):
            return self._read_by_loop(region, operands, inner)
        first = 1 if isinstance(region, Branch) else 0
        read = [name for operand in operands[:first] for name in form.reads(operand)]
        for index, operand in enumerate(operands[first:]):
            blocks = [
                number
                for number, (block, own) in enumerate(zip(region.blocks, inner, strict=True))
                if (own, block.leaves()[index]) in self.reads
            ]
            names = form.reads(operand) if blocks else []
            read += names
            if isinstance(region, Attempt) and any(blocks):
                self.handled.setdefault((path, position), set()).update(names)
        return read

    def _read_by_loop(
        self, region: Loop, operands: Sequence[gast.AST], inner: list[Path]
    ) -> list[str]:
        """What is fixed is read again by the next pass; what the test reads, the body does too."""
        parts = region.parts(operands)
        read = [name for each in [*parts.bounds, *parts.carried] for name in form.reads(each)]
        for index, operand in enumerate(parts.fixed):
            leaves = [
                (own, region.leaves(block).fixed[index])
                for block, own in zip(region.blocks, inner, strict=True)
            ]
            if any(leaf in self.reads for leaf in leaves):
                read += form.reads(operand)
                for own, leaf in leaves:
                    self._read(own, leaf, math.inf)
        if region.test is not None:
            for leaf in region.leaves(region.test).carried:
                self._read(inner[0], leaf, math.inf)
        return read


def shape_operands(statement: form.Op, program: Program) -> set[int]:
    """The positions of the operands that are read for their shape alone."""
    rule = statement.rule
    if rule.like_position is not None:
        return {rule.like_position}
    if rule.length or rule.uniform:
        operands = enumerate(statement.operands)
        return {i for i, each in operands if isinstance(program.fact(each), values.Array)}
    return set()
