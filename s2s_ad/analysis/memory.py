"""Memory: which names may share it, through views, lists, branches and loops.

What a name stands for are *cells*: the array or list itself (`own`), and all that is inside of a
list (`items`). Two cells are related where they may share memory at a moment when both are there;
so a cell of a loop's body is that of one pass, and what an earlier pass had is met only where it
was carried over. Memory that the function did not allocate is the cell OUTSIDE.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import gast

from s2s_ad.analysis.cells import NUMBER, OUTSIDE, Edge, Held, Site
from s2s_ad.analysis.operations import Operations, Place, is_copyable
from s2s_ad.core import form
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Attempt, Branch, Loop, Path, Region


class Memory(Operations):
    """The cells of a program's names.

    Args:
        program: names may be the same in a block and around it.
        in_place: the statements whose result takes over the memory of an operand, and which one.
        cuts: where copies are put.

    Attributes:
        held: (block, name) -> cells.
        carried: cell of a carried value -> the cell that holds it at the end of a pass.
        outputs: what the program hands out.
    """

    def __init__(
        self,
        program: Program,
        in_place: Mapping[Site, int] | None = None,
        cuts: Collection[Edge] = (),
    ):
        super().__init__(in_place or {}, cuts)
        self.held: dict[tuple[Path, str], Held] = {}
        self.carried: dict[int, int | None] = {}
        self._captured = {each.name: Held(OUTSIDE, OUTSIDE) for each in program.captured()}
        leaves = [self._input(program, *each) for each in enumerate(program.leaves())]
        self.outputs = self._block(program, (), leaves)
        for site, cell in list(self.same.items()):
            if self.meet(cell, OUTSIDE):
                self.changed[site] = self.same.pop(site)

    def _input(self, program: Program, slot: int, name: str) -> Held:
        fact = program.facts[name]
        held = self._new((), name, fact)
        edge = Edge("input", (), -1, slot) if is_copyable(fact) else None
        if held.own is not None and edge not in self.cuts:
            self._pair(held.own, OUTSIDE, (edge,), None)
        if held.items is not None:
            self._pair(held.items, OUTSIDE, (), None)
        return held

    def _block(self, program: Program, path: Path, leaves: Sequence[Held]) -> list[Held]:
        """Walk a block; returns what its outputs hold."""
        held = dict(self._captured)
        for name, cells in zip(program.leaves(), leaves, strict=True):
            self._bind(held, path, name, cells)
        for position, statement in enumerate(program.body):
            if not form.is_effect(statement):
                place = Place(program, path, position, statement, held)
                self._bind(held, path, place.target, self._statement(place))
        last = Place(program, path, len(program.body), None, held)
        return [last.atom(each) for each in program.outputs()]

    def _bind(self, held: dict[str, Held], path: Path, name: str, cells: Held) -> None:
        held[name] = cells
        if (path, name) not in self.held:
            self.held[path, name] = cells
            for cell in cells.cells:
                if cell != OUTSIDE:
                    self.names[cell].append((path, name))

    def _statement(self, place: Place) -> Held:
        function = form.function_of(place.statement)
        if not isinstance(function, Region):
            return self.result(place)
        walk = {Branch: self._branch, Loop: self._loop, Attempt: self._attempt}[type(function)]
        return walk(place, function)

    # ---- regions

    def _ends(self, program: Program, path: Path, count: int) -> Iterator[Edge | None]:
        """The places for copies at the end of a block."""
        for slot, atom in enumerate(program.outputs()[:count]):
            fine = isinstance(atom, gast.Name) and is_copyable(program.facts[atom.id])
            yield Edge("end", path, len(program.body), slot) if fine else None

    def _results(self, place: Place, region: Region) -> list[Held]:
        keys = enumerate(region.facts)
        return [self._new(place.path, (place.target, slot), fact) for slot, fact in keys]

    def _branch(self, place: Place, region: Branch) -> Held:
        operands = [place.atom(each) for each in place.operands[1:]]
        return self._joined(place, region, operands, region.count)

    def _attempt(self, place: Place, region: Attempt) -> Held:
        operands = [place.atom(each) for each in place.operands]
        return self._joined(place, region, operands, region.count - 1)

    def _joined(self, place: Place, region: Region, operands: list[Held], count: int) -> Held:
        results = self._results(place, region)
        for number, block in enumerate(region.blocks):
            inner = (*place.path, (place.position, number))
            handed = self._block(block, inner, operands)[:count]
            edges = self._ends(block, inner, count)
            self._hand_over(_flows(results[:count], handed, edges), place.path)
        return Held(parts=tuple(results))

    def _loop(self, place: Place, region: Loop) -> Held:
        parts = region.parts(place.operands)
        initial = [place.atom(each) for each in parts.carried]
        fixed = [place.atom(each) for each in parts.fixed]
        inner = [(*place.path, (place.position, i)) for i in range(len(region.blocks))]
        carried = [
            [self._new(path, name, block.facts[name]) for name in region.leaves(block).carried]
            for block, path in zip(region.blocks, inner, strict=True)
        ]  # of the test, if there is one, and of the body
        starts = [
            place.edge("init", slot) if is_copyable(place.fact(each)) else None
            for slot, each in enumerate(parts.carried)
        ]
        for each in carried:
            self._hand_over(_flows(each, initial, starts), place.path)
        ends = list(self._ends(region.body, inner[-1], region.carried))
        before = -1
        while self._growth != before:
            before = self._growth
            if region.test is not None:
                self._block(region.test, inner[0], [*carried[0], *fixed])
            indices = [NUMBER] * region.indices
            handed = self._block(region.body, inner[-1], [*indices, *carried[-1], *fixed])
            handed = handed[: region.carried]
            for each in carried:
                self._hand_over(_flows(each, handed, ends), place.path)
        for leaf, last in zip(carried[-1], handed, strict=True):
            if leaf.own is not None:
                self.carried[leaf.own] = last.own
        results = self._results(place, region)
        self._hand_over(_flows(results, initial, starts), place.path)
        self._hand_over(_flows(results, handed, ends), place.path)
        return Held(parts=tuple(results))


def _flows(to: Sequence[Held], source: Sequence[Held], edges: Iterable[Edge | None]) -> list[tuple]:
    """(cell, the cell it comes from, the place for a copy) for each value that is handed over."""
    found = []
    for made, given, edge in zip(to, source, edges, strict=True):
        found += [(made.own, given.own, edge), (made.items, given.items, None)]
        if made.items is not None and given.items is None:
            found.append((made.items, given.own, None))  # of a type that is not known
        if made.own is not None and made.items is None:
            found.append((made.own, given.items, None))
    return found
