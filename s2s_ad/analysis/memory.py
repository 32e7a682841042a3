"""Memory: which names may share it, through views, lists, branches and loops.

What a name stands for are *cells*: the array or list itself (`own`), and all that is inside of a
list (`items`). Two cells are related where they may share memory at a moment when both are there;
so a cell of a loop's body is that of one pass, and what an earlier pass had is met only where it
was carried over. Memory that the function did not allocate is the cell OUTSIDE.

The program is walked from its first statement to its last, and what is known of the cells of some
statements never changes by what comes after them. So where a copy is put at a statement, or taken
away, only what comes from there on is walked again, and only as far as somebody asks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import gast

from s2s_ad.analysis.cells import NUMBER, OUTSIDE, Edge, Held, Site, outermost
from s2s_ad.analysis.liveness import Contents
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
        contents: where names are read, for who asks which names are read of a cell.
        by_parts: whether an array changes when a part of it does, as NumPy's do.

    Attributes:
        held: (block, name) -> cells.
    """

    def __init__(
        self,
        program: Program,
        in_place: Mapping[Site, int] | None = None,
        cuts: Collection[Edge] = (),
        contents: Contents | None = None,
        by_parts: bool = True,
    ):
        super().__init__(in_place or {}, cuts, by_parts)
        self.held: dict[tuple[Path, str], Held] = {}
        self._program, self._contents = program, contents
        self._captured = {each.name: Held(OUTSIDE, OUTSIDE) for each in program.captured()}
        self._around: dict[str, Held] = {}  # what the names of the program hold
        self._walked: dict[Site, tuple[list, Held]] = {}  # what it depended on, what came of it
        self._marks: list[tuple[int, ...]] = []  # before each statement, the inputs being the first
        self.reach()

    @property
    def outputs(self) -> list[Held]:
        """What the program hands out."""
        self.reach()
        last = Place(self._program, (), len(self._program.body), None, self._around)
        return [last.atom(each) for each in self._program.outputs()]

    def outside(self, cell: int) -> tuple[str, str]:
        """Whose memory a cell may be that need not be the function's own: see `CopyReason`."""
        for name in self._program.leaves():
            if any(self.meet(cell, each) for each in self._around[name].cells):
                return name, "argument"
        return "", "foreign"

    def reach(self, position: int | None = None) -> None:
        """Walk the statements up to this one, if that is not done; all of them without one."""
        last = len(self._program.body) - 1 if position is None else position
        while len(self._marks) - 2 < last:
            self._marks.append(tuple(map(len, self._grown())))
            if len(self._marks) == 1:
                self._inputs()
            else:
                self._walk(self._program, (), len(self._marks) - 2, self._around)
                self._part_from_outside(self._marks[-1][4])

    def revise(self, in_place: Mapping[Site, int], cuts: Collection[Edge]) -> None:
        """Take other updates in place and copies; forget what these may change."""
        cuts = frozenset(cuts)
        sites = [each.site for each in cuts ^ self.cuts]
        sites += [site for site, _ in in_place.items() ^ self.in_place.items()]
        self.in_place, self.cuts = in_place, cuts
        first = min(map(outermost, sites), default=len(self._program.body)) + 1
        if first >= len(self._marks):
            return
        count, names, *others = self._marks[first]
        for entries, length in zip(self._grown()[2:], others, strict=True):
            while len(entries) > length:
                entries.popitem()
        while len(self.held) > names:
            (path, _), held = self.held.popitem()
            for cell in self._named(held):
                self.names[cell].remove_last(path)
        self._forget(count)
        del self._marks[first:]

    def _grown(self) -> tuple[dict, ...]:
        """What grows from statement to statement, and shrinks again where some are forgotten."""
        entries = self._cells, self.held, self.changed, self.spared, self.same
        return *entries, self._walked, self.withheld

    def _part_from_outside(self, known: int) -> None:
        """What is in memory of ours already is so of ours alone: see what is new of `same`."""
        for site, cell in list(self.same.items())[known:]:
            if self.meet(cell, OUTSIDE):
                self.changed[site] = self.same.pop(site)

    def _inputs(self) -> None:
        self._around.update(self._captured)
        for slot, name in enumerate(self._program.leaves()):
            self._bind(self._around, (), name, self._input(self._program, slot, name))

    def _input(self, program: Program, slot: int, name: str) -> Held:
        fact = program.facts[name]
        held = self._new((), name, fact)
        edge = Edge("input", (), -1, slot) if is_copyable(fact) else None
        if held.own is not None and edge not in self.cuts and name not in program.own:
            self._pair(held.own, OUTSIDE, (edge,), None)
        if held.items is not None:
            self._pair(held.items, OUTSIDE, (), None)
        return held

    def _block(self, program: Program, path: Path, leaves: Sequence[Held]) -> list[Held]:
        """Walk a block; returns what its outputs hold."""
        held = dict(self._captured)
        for name, cells in zip(program.leaves(), leaves, strict=True):
            self._bind(held, path, name, cells)
        for position in range(len(program.body)):
            self._walk(program, path, position, held)
        last = Place(program, path, len(program.body), None, held)
        return [last.atom(each) for each in program.outputs()]

    def _walk(self, program: Program, path: Path, position: int, held: dict[str, Held]) -> None:
        statement = program.body[position]
        if isinstance(statement, form.Effect):
            return
        site, given = (path, position), self._given(statement, held)
        known = self._walked.get(site)
        if known is None or known[0] != given:
            result = self._statement(Place(program, path, position, statement, held))
            known = self._walked[site] = given, result
        self._bind(held, path, statement.target, known[1])

    def _given(self, statement: form.Op, held: Mapping[str, Held]) -> list[Any]:
        """All that the cells of a statement's result depend on: where it is the same, so are they.

        What shares memory with a cell only grows while it is walked, so its number says it all.
        """
        found: list[Any] = []
        for operand in statement.operands:
            if type(operand) is gast.Name and operand.id in held:
                cells = held[operand.id]
                found.append(cells)
                for cell in cells.cells:
                    found.append(len(self.sharing[cell]))
                    found.append(cell in self._repeating)
                    found.append(self.parts.get(cell))
        return found

    def _bind(self, held: dict[str, Held], path: Path, name: str, cells: Held) -> None:
        held[name] = cells
        if (path, name) not in self.held:
            self.held[path, name] = cells
            contents: Any = self._contents
            for cell in self._named(cells):
                defined, last = contents.span(path, name)
                self.names[cell].add(path, defined, name, last)

    def _named(self, held: Held) -> list[int]:
        """The cells whose names are noted."""
        return [] if self._contents is None else [each for each in held.cells if each != OUTSIDE]

    def _statement(self, place: Place) -> Held:
        function = place.statement.function
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
