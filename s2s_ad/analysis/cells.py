"""Cells: pieces of memory, and which of them may be the same."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from s2s_ad.core import values
from s2s_ad.core.regions import Path

OUTSIDE = 0

Site = tuple[Path, int]  # a statement: its block, its position


def outermost(site: Site) -> int:
    """The position, in the program itself, of the statement or of what it is inside of."""
    path, position = site
    return path[0][0] if path else position


@dataclass(frozen=True, slots=True)
class Edge:
    """A place where memory is handed on, and where a copy would make it memory of its own.

    Kinds: "view" (the result of the statement is a view), "item" (operand `slot` goes into a list),
    "update" (the operand that the statement changes), "init" (the initial value of carried value
    `slot` of the loop), "end" (output `slot` of the block), "input" (leaf `slot` of the program).
    """

    kind: str
    path: Path
    position: int
    slot: int = 0
    size: float = field(default=1.0, compare=False)  # of what is copied, an array being 1

    @property
    def site(self) -> Site:
        return self.path, self.position

    @property
    def place(self) -> tuple:
        """In the order of the text, the outermost first."""
        return outermost(self.site), repr(self)


@dataclass(frozen=True, slots=True)
class Held:
    """The cells of a name: none for a number; `parts` for a tuple of results."""

    own: int | None = None
    items: int | None = None
    parts: tuple[Held, ...] = ()

    @property
    def cells(self) -> list[int]:
        return [each for each in (self.own, self.items) if each is not None]


NUMBER = Held()
Reason = tuple[tuple[Edge, ...], tuple | None]


@dataclass
class Names:
    """The names that have a cell, each block's in the order in which they are defined.

    An entry is (where the name is defined, the name, where it is read last, the nearest entry
    before it that is read later). So of names that are read no more few are looked at.
    """

    blocks: dict[Path, list[tuple[int, str, float, int]]] = field(default_factory=dict)

    def add(self, path: Path, defined: int, name: str, last: float) -> None:
        entries = self.blocks.setdefault(path, [])
        longer = len(entries) - 1
        while longer >= 0 and entries[longer][2] <= last:
            longer = entries[longer][3]
        entries.append((defined, name, last, longer))

    def remove_last(self, path: Path) -> None:
        self.blocks[path].pop()
        if not self.blocks[path]:
            del self.blocks[path]

    def defined_before(self, path: Path, position: int, start: int = 0) -> list[str]:
        """The names of a block that are there before a statement of it, from the start-th on."""
        entries = self.blocks.get(path, [])
        return [entries[i][1] for i in range(start, bisect_left(entries, (position,)))]

    def read_after(self, path: Path, position: int) -> Iterator[str]:
        """The names of a block that are there before a statement of it and are read after it."""
        entries = self.blocks.get(path, [])
        at = bisect_left(entries, (position,)) - 1
        while at >= 0:
            _, name, last, longer = entries[at]
            if last > position:
                yield name
                at -= 1
            else:
                at = longer


class Cells:
    """A relation between cells: which may share memory, and why.

    Args:
        cuts: where copies are put, so that nothing is shared there.

    Attributes:
        sharing: cell -> the other cells that may share its memory, each with the reason: the edges
            on the way, and the pair of cells that shared memory before.
        names: cell -> the names that have it.
        parts: cell -> (cell, index): the memory that it is a certain part of.
        carried: cell of a carried value -> the cell that holds it at the end of a pass.
        withheld: copy -> the cells that have memory of their own by it, each with cells whose
            memory it would share without.
    """

    def __init__(self, cuts: Collection[Edge]):
        self.cuts = frozenset(cuts)
        self.parts: dict[int, tuple[int, str]] = {}
        self.carried: dict[int, int | None] = {}
        self.withheld: dict[Edge, dict[int, set[int]]] = {}
        self.sharing: dict[int, dict[int, Reason]] = {OUTSIDE: {}}
        self.names: dict[int, Names] = {}
        self._homes: dict[int, Path] = {OUTSIDE: ()}  # the block that a cell is of
        self._cells: dict[Any, int] = {}
        self._repeating: set[int] = set()  # items of which two may share memory
        self._growth = 0

    def meet(self, a: int | None, b: int | None) -> bool:
        """Whether two cells may share memory."""
        return a is not None and b is not None and (a == b or b in self.sharing[a])

    def between(self, a: int, b: int) -> list[Edge]:
        """The places at any of which a copy would end one way for two cells to share memory."""
        found: list[Edge] = []
        pair: tuple | None = (a, b)
        while pair is not None and pair[0] != pair[1]:
            edges, pair = self.sharing[pair[0]][pair[1]]
            found += edges
        return found

    def _cell(self, key: Any, home: Path) -> int:
        if key not in self._cells:
            cell = len(self._homes)
            self._cells[key] = cell
            self._homes[cell], self.sharing[cell], self.names[cell] = home, {}, Names()
            self._growth += 1
        return self._cells[key]

    def _forget(self, count: int) -> None:
        """Leave the first cells alone: those made later share memory with no cell any more."""
        while len(self._cells) > count:
            _, cell = self._cells.popitem()
            for other in self.sharing.pop(cell):
                del self.sharing[other][cell]
            del self._homes[cell], self.names[cell]
            self.parts.pop(cell, None)
            self.carried.pop(cell, None)
            self._repeating.discard(cell)

    def _new(self, path: Path, key: Any, fact: Any) -> Held:
        """Cells of their own for a value."""
        if isinstance(fact, values.Scalar | values.Static):
            return NUMBER
        own = self._cell((path, key, "own"), path)
        if isinstance(fact, values.Array):
            return Held(own)
        return Held(own, self._cell((path, key, "items"), path))

    def _pair(self, a: int, b: int, edges: Iterable[Edge | None], before: tuple | None) -> None:
        if a != b and b not in self.sharing[a]:
            reason = tuple(each for each in edges if each is not None), before
            self.sharing[a][b] = self.sharing[b][a] = reason
            self._growth += 1

    def _link(
        self,
        to: int | None,
        source: int | None,
        edge: Edge | None = None,
        around: Path | None = None,
        apart: Collection[int] = (),
    ) -> None:
        """`to` may be memory of `source`, and so of what came before it and shares with that.

        `around` is the block in which `to` lives on when the block of `source` has ended; the cells
        of `apart` are known to be other memory.
        """
        if to is None or source is None or to == source:
            return
        if edge is not None and edge in self.cuts:
            return
        if self._lives(source, around):
            self._pair(to, source, (edge,), None)
        if source == OUTSIDE:
            return
        sharing, own = self.sharing, self.sharing[to]
        edges = () if edge is None else (edge,)
        for cell in [c for c in sharing[source] if c < to and c not in own and c not in apart]:
            if around is None or self._lives(cell, around):
                own[cell] = sharing[cell][to] = edges, (source, cell)
                self._growth += 1
        if source in self._repeating:
            self._repeat(to)

    def _lives(self, cell: int, around: Path | None) -> bool:
        home = self._homes[cell]
        return around is None or around[: len(home)] == home

    def _repeat(self, items: int) -> None:
        if items not in self._repeating:
            self._repeating.add(items)
            self._growth += 1

    def _hand_over(self, flows: Sequence[tuple], around: Path) -> None:
        """Several values at once: those that share memory before do so after."""
        flows = [flow for flow in flows if flow[0] is not None]
        apart = {to for to, _, _ in flows}
        known = [flow for flow in flows if flow[1] is not None and flow[2] not in self.cuts]
        for to, source, edge in known:
            self._link(to, source, edge, around, apart)
        self._pair_alike([flow for flow in known if flow[1] != OUTSIDE])
        for to, source, edge in flows:
            if edge in self.cuts and source is not None:
                kept = self.withheld.setdefault(edge, {})
                kept[to] = self._without_copy(to, source, known, around, apart)

    def _pair_alike(self, flows: Sequence[tuple]) -> None:
        """Pair what comes from the same memory."""
        for index, (a, from_a, edge_a) in enumerate(flows):
            near = self.sharing[from_a]
            for b, from_b, edge_b in flows[index + 1 :]:
                if from_a == from_b:
                    self._pair(a, b, (edge_a, edge_b), None)
                elif from_b in near:
                    self._pair(a, b, (edge_a, edge_b), (from_a, from_b))

    def _without_copy(
        self, to: int, source: int, known: Sequence[tuple], around: Path, apart: Collection[int]
    ) -> set[int]:
        """The cells that `to` would share memory with if there were no copy on its way."""
        if source == OUTSIDE:
            return {OUTSIDE}
        near = {source, *self.sharing[source]}
        found = {each for each in near - {*apart} if each < to and self._lives(each, around)}
        return found | {each for each, other, _ in known if other in near and other != OUTSIDE}
