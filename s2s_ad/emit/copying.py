"""Where copies are put, so that updates happen in place and nobody sees it."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import gast

from s2s_ad import runtime
from s2s_ad.analysis.cells import OUTSIDE, Edge, Site, outermost
from s2s_ad.analysis.copies import Costs
from s2s_ad.analysis.indices import index_text
from s2s_ad.analysis.liveness import Contents
from s2s_ad.analysis.memory import Memory
from s2s_ad.core import form, values
from s2s_ad.core.builder import DERIVED
from s2s_ad.core.program import TEMPORARY, CopyReason, Program
from s2s_ad.core.regions import Path
from s2s_ad.emit.updates import Update

WRITTEN_BACK = 3  # a copy of a part that is written back leads to a copy of the whole


@dataclass
class CopyPlan:
    """Looks for the copies that let each update happen in place.

    Attributes:
        by_parts: whether an array changes when a part of it does, as NumPy's do.
        chosen: the updates that happen in place: first those that are stores in any case.
        needed: copies that nothing else can stand for: of what is read again under its own name.
        cuts: where copies are put.
        others: places for a copy that would have served as well, and what they would have served.
        reasons: why copies were put, as soon as they were.
    """

    program: Program
    updates: Mapping[Site, Update]
    by_parts: bool = True
    chosen: dict[Site, int] = field(init=False)
    needed: frozenset[Edge] = field(init=False)
    cuts: frozenset[Edge] = field(init=False)
    others: dict[Edge, set[Edge]] = field(default_factory=dict)
    reasons: dict[Edge, CopyReason] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.contents = Contents(self.program)
        self.costs = Costs(self.program)
        self.chosen = {
            site: each.index for site, each in self.updates.items() if each.kind != "update"
        }
        self.needed = self.cuts = frozenset(
            Edge("update", *site) for site in self.chosen if self._reads_again(site)
        )
        self.memory = Memory(self.program, self.chosen, self.cuts, self.contents, self.by_parts)
        for edge in self.needed:
            name = self.updates[edge.site].base
            self.reasons[edge] = self._reason_to_keep(edge.site, edge.path, name)

    def _reads_again(self, site: Site) -> bool:
        """Whether the old value is read later, and the update is certain to change it."""
        update = self.updates[site]
        path, position = site
        if update.kind == "set" and isinstance(update.statement.operands[1], gast.Name):
            value = update.program.facts[update.statement.operands[1].id]
            if isinstance(value, values.Array | values.Unknown | values.List):
                return False  # it may be in memory already
        return self.contents.live(path, update.base, path, position)

    def _put(self, cuts: frozenset[Edge]) -> None:
        self.cuts = cuts
        self.memory.revise(self.chosen, cuts)

    def put_copies(self) -> None:
        """Put copies until nothing that is read again is changed."""
        waiting = deque(self.chosen)
        while waiting:
            if self._conflicts(waiting[0]):
                before = self.cuts
                self._resolve(waiting[0])
                first = min(outermost(each.site) for each in self.cuts - before)
                waiting = deque(site for site in self.chosen if outermost(site) >= first)
            else:
                waiting.popleft()

    def _resolve(self, site: Site) -> None:
        """The copies that let one update happen in place: of what is changed, or on the way."""
        base, before = Edge("update", *site), self.cuts
        limit, spent = self.costs.of(base), 0.0
        writes_back = bool(self._written_back(self.memory.changed[site], site))
        if writes_back:
            limit *= WRITTEN_BACK
        while conflicts := self._conflicts(site):
            reason = self._reason(site, conflicts[0])
            edges = self.memory.between(self.memory.changed[site], conflicts[0])
            if writes_back:
                edges = [each for each in edges if each.kind != "view"]
            best = min(edges, key=self.costs.of, default=None)
            spent += 0.0 if best is None else self.costs.of(best)
            if best is None or spent >= limit:
                for edge in edges:
                    self.others.setdefault(edge, set()).add(base)
                self.reasons[base] = reason
                self._put(before | {base})
                return
            self.reasons[best] = reason
            self._put(self.cuts | {best})

    def join_copies(self) -> None:
        """Put one copy where it serves several updates, instead of one for each."""
        for edge, served in list(self.others.items()):
            served = served & self.cuts
            before = self.cuts
            if len(served) < 2 or edge in self.cuts:
                continue
            self.reasons[edge] = self.reasons[min(served, key=lambda each: each.place)]
            self._put((self.cuts - served) | {edge})
            self.put_copies()
            if self._cost(self.cuts) >= self._cost(before):
                self._put(before)

    def _cost(self, cuts: frozenset[Edge]) -> float:
        return sum(sorted(map(self.costs.of, cuts)))

    def drop_copies(self) -> None:
        """Take copies away that others have made needless."""
        free = self.cuts - self.needed
        if len(self.cuts) < 2:
            return
        for edge in sorted(free, key=lambda each: (-self.costs.of(each), each.place)):
            if self._is_needed(edge):
                continue
            before = self.cuts
            self._put(before - {edge})
            if any(self._conflicts(site) for site in self._from(edge)):
                self._put(before)

    def _from(self, edge: Edge) -> list[Site]:
        """The updates that a copy may serve: what is before it knows nothing of it."""
        sites = list(self.chosen)
        return sites[bisect_left(sites, outermost(edge.site), key=outermost) :]

    def _is_needed(self, edge: Edge) -> bool:
        """Whether the update would change what is read again: with fewer copies more is shared."""
        if edge.kind == "update":
            self.memory.reach(outermost(edge.site))
            spared = self.memory.spared.get(edge.site)
            return spared is not None and bool(self._read_again(spared, edge.site))
        self.memory.reach(outermost(edge.site))
        return edge in self.memory.withheld and any(
            self._is_served(site, edge) for site in self._from(edge)
        )

    def _is_served(self, site: Site, edge: Edge) -> bool:
        self.memory.reach(outermost(site))
        changed = self.memory.changed.get(site)
        withheld = self.memory.withheld.get(edge, {})
        return changed in withheld and self._reads_one(withheld[changed], changed, site)

    def update_whole_arrays(self) -> None:
        """`x += y` where no copy is needed for it, and where x is one variable all the time."""
        self._update_freely()
        for site, update in self.updates.items():
            derived = site[0] and update.statement.phase in DERIVED  # the user's text stays his
            if derived and site not in self.chosen and self._is_one_name(site):
                self._update_after_copies(site, update.index)

    def _update_freely(self) -> None:
        stores = dict(self.chosen)
        wanted = {s: each.index for s, each in self.updates.items() if each.kind == "update"}
        while wanted:
            self._choose(stores | wanted)
            wrong = {site for site in wanted if self._conflicts(site) or not self._stays(site)}
            if not wrong and any(self._conflicts(site) for site in stores):
                wrong = set(wanted)
            if not wrong:
                return
            in_the_way = {site for site in wrong if not self._is_one_name(site)}
            wanted = {s: index for s, index in wanted.items() if s not in (in_the_way or wrong)}
        self._choose(stores)

    def _update_after_copies(self, site: Site, index: int) -> None:
        """`x += y` in a loop where copies before the loop let that be."""
        chosen, before, reasons = self.chosen, self.cuts, dict(self.reasons)
        self._choose({**chosen, site: index})
        while conflicts := self._conflicts(site):
            edges = self.memory.between(self.memory.changed[site], conflicts[0])
            best = min(edges, key=self.costs.of, default=None)
            if best is None or self.costs.runs[best.path] >= self.costs.runs[site[0]]:
                break
            self.reasons[best] = self._reason(site, conflicts[0])
            self._put(self.cuts | {best})
        self.memory.reach()
        if any(map(self._conflicts, self.chosen)):
            self.cuts, self.reasons = before, reasons
            self._choose(chosen)

    def _choose(self, updates: dict[Site, int]) -> None:
        self.chosen = updates
        self.memory.revise(updates, self.cuts)
        self.memory.reach()

    def part_outputs(self) -> None:
        """Arrays that are handed out share memory only where they did so before the stores.

        Of `row = A[i]; row[j] = v` the row and A would, where both are handed out.
        """
        if not self.memory.same:
            return
        before, now = Memory(self.program), self.memory
        outputs = self.program.outputs()
        taken: list[tuple[int, int, int | None]] = []
        for slot, (was, held) in enumerate(zip(before.outputs, now.outputs, strict=True)):
            if held.own is None or held.items is not None:
                continue
            shared = [
                index
                for index, other, earlier in taken
                if now.meet(held.own, other) and not before.meet(was.own, earlier)
            ]
            if shared:
                edge = Edge("end", (), len(self.program.body), slot)
                self.cuts |= {edge}
                self.reasons[edge] = CopyReason(_name_of(outputs[shared[0]]), "result")
            else:
                taken.append((slot, held.own, was.own))

    def _stays(self, site: Site) -> bool:
        """Whether what is updated bears the name of the result, or comes round to be it."""
        if self._is_one_name(site):
            return True
        cell = self.memory.changed[site]
        return self.memory.carried.get(cell, -1) == cell

    def _is_one_name(self, site: Site) -> bool:
        """Whether what is updated bears the name of the result."""
        update = self.updates[site]
        hints = update.program.hints
        result, base = (
            hints.get(each, TEMPORARY) for each in (update.statement.target, update.base)
        )
        return bool(result.text) and result.text == base.text

    def _reason(self, site: Site, cell: int) -> CopyReason:
        """Why an update must not change what it changes: this cell may be the same memory."""
        changed = self.memory.changed[site]
        if cell == OUTSIDE:
            update = self.updates[site].statement
            name, kind = self.memory.outside(changed)
            return CopyReason(name, kind, (update.origin, update.phase))
        back = self._written_back(changed, site)
        path, name = next(each for each in self._live(cell, site) if each not in back)
        return self._reason_to_keep(site, path, name)

    def _reason_to_keep(self, site: Site, path: Path, name: str) -> CopyReason:
        """The reason that a name of a block around an update is read again after it."""
        update, (at, position) = self.updates[site].statement, site
        place = at[len(path)][0] if len(at) > len(path) else position
        block, after = self.costs.blocks[path], self.contents.after(path, name, place)
        first, end = (after[0] if after else math.inf), len(block.body)
        kind = "read" if first < end else "result" if first == end and not path else "next"
        where = None
        if kind == "read":
            reader = block.body[int(first)]
            where = reader.origin, reader.phase
        return CopyReason(name, kind, (update.origin, update.phase), where)

    def _conflicts(self, site: Site) -> list[int]:
        """The cells that are read again and may share memory with what the update changes."""
        self.memory.reach(outermost(site))
        changed = self.memory.changed.get(site)
        return [] if changed is None else self._read_again(changed, site)

    def _read_again(self, changed: int, site: Site) -> list[int]:
        if changed == OUTSIDE:
            return [OUTSIDE]
        cells = sorted({changed, *self.memory.sharing[changed]})
        return [each for each in cells if each == OUTSIDE or self._is_read(each, changed, site)]

    def _reads_one(self, cells: Collection[int], changed: int, site: Site) -> bool:
        """Whether one of the cells is read again after this cell was changed."""
        return any(each == OUTSIDE or self._is_read(each, changed, site) for each in cells)

    def _is_read(self, cell: int, changed: int, site: Site) -> bool:
        back: set[tuple[Path, str]] | None = None
        for name in self._live(cell, site):
            back = self._written_back(changed, site) if back is None else back
            if name not in back:
                return True
        return False

    def _live(self, cell: int, site: Site) -> Iterator[tuple[Path, str]]:
        """The names of a cell whose contents are read again after the statement."""
        at, position = site
        names = self.memory.names[cell]
        for depth in range(len(at) + 1):
            path, place = at[:depth], at[depth][0] if depth < len(at) else position
            yield from ((path, name) for name in names.read_after(path, place))
            handled = self.contents.to_handle(path, at, position)
            if handled:
                before = names.defined_before(path, place)
                yield from ((path, name) for name in before if name in handled)

    def _written_back(self, changed: int, site: Site) -> set[tuple[Path, str]]:
        """The names of an array of which the update changes a part that is written anew later.

        Of `row = A[i]; row[j] = v; A = index_set(A, i, row)` the last does not read `A[i]`.
        """
        path, position = site
        part = self.memory.parts.get(changed)
        if part is None:
            return set()
        cell, index = part
        if cell == OUTSIDE:
            return set()
        body = self.costs.blocks[path].body
        return {
            (path, name)
            for name in self.memory.names[cell].read_after(path, position)
            if all(
                each < len(body) and _sets(body[int(each)], name, index)
                for each in self.contents.after(path, name, position)
            )
        }


def _name_of(atom: gast.AST) -> str:
    return atom.id if isinstance(atom, gast.Name) else ""


def _sets(statement: form.Statement, name: str, index: str) -> bool:
    """Whether the statement is `index_set(name, index, value)`, and reads `name` for that alone."""
    if isinstance(statement, form.Effect) or statement.function is not runtime.index_set:
        return False
    base = getattr(statement.operands[0], "id", None)
    same = index_text(statement.parameters["index"]) == index
    return base == name and same and form.reads(statement).count(name) == 1
