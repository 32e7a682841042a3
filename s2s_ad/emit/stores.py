"""Which updates happen in place, and the copies that make this right.

Core knows values: `b = index_set(a, i, v)` leaves `a` as it is. The text says `a[i] = v` where the
function allocated the memory of `a` and nothing reads it again under any name; where something
does, the copy that costs least is put in the way.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile

import gast

from s2s_ad.analysis.cells import OUTSIDE, Site
from s2s_ad.analysis.copies import with_copies
from s2s_ad.analysis.elements import Span, are_apart, spans
from s2s_ad.core import form, tree
from s2s_ad.core.callee import items_of
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Path, map_blocks, region_of
from s2s_ad.emit.copying import CopyPlan
from s2s_ad.emit.updates import updates_in

Elements = tuple[Span | None, ...]  # which of an array, axis by axis


@dataclass(frozen=True, slots=True)
class Store:
    """What a statement is in the text where its result takes over memory.

    Attributes:
        kind: "set" (`base[index] = value`), "add" (`base[index] += value`), "add at"
            (np.add.at), "append", "pop" (of the result of list_pop), "update"
            (`base += value`, with the operator in place of +) or "same": nothing at all, for the
            memory holds the result already.
        base: the name whose memory the result takes over; nobody reads its old contents again.
        changed: the variables whose memory may change, of this block and of those around it, each
            by its first name: results of stores take over the memory of their base.
        operator: of an "update", the operator's function.
        value: of an "update", the other operand.
    """

    kind: str
    base: str
    changed: frozenset[str] = frozenset()
    operator: Callable | None = None
    value: gast.AST | None = None


def plan_stores(program: Program, *, by_parts: bool = True) -> tuple[Program, dict[str, Store]]:
    """The program with copies where updates in place need them, and what is a store in it.

    Without `by_parts` a change of a part is stored into the whole, which NumPy's views need not.

    Names are apart: no name of a block is one of another block. The stores are keyed by the name
    of the result; that of the rest of a list that is popped from is "same".
    """
    updates = dict(updates_in(program, ()))
    if not updates:
        return program, {}
    plan = CopyPlan(program, updates, by_parts)
    plan.put_copies()
    plan.join_copies()
    plan.drop_copies()
    plan.update_whole_arrays()
    plan.part_outputs()
    copied = _handed_out(with_copies(program, plan.cuts, plan.reasons), plan)
    stores = _Stores(plan, copied).stores
    return _renamed(copied, stores), stores


def _handed_out(program: Program, plan: CopyPlan) -> Program:
    """The program without copies for its outputs of what is memory of its own by now.

    Of `x = a` an output would be a copy; `x = a.copy()`, put there for an update, is none any more.
    """
    atoms = program.outputs()
    last = takewhile(_is_copy, reversed(program.body))  # what runs after them may change memory
    copies = {each.target: each.operands[0] for each in last}
    cells = {
        atom.id: held.cells
        for atom, held in zip(atoms, plan.memory.outputs, strict=True)
        if isinstance(atom, gast.Name)
    }
    instead: dict[str, gast.AST] = {}
    for name in [each for each in cells if each in copies]:
        source = getattr(copies[name], "id", "")
        reads = plan.contents.reads.get(((), source), [])
        held = plan.memory.held.get(((), source))
        if held is None or held.own is None or len(reads) != 1 or reads[0] == len(program.body):
            continue
        others = [each for other in cells.keys() - {name} for each in cells[other]]
        if not any(plan.memory.meet(held.own, each) for each in (OUTSIDE, *others)):
            instead[name], cells[name] = copies[name], held.cells
    if not instead:
        return program
    body = tuple(
        each for each in program.body if isinstance(each, form.Effect) or each.target not in instead
    )
    output = tree.tree_map(lambda atom: form.substitute(atom, instead), program.output)
    return program.with_(body=body, output=output)


def _is_copy(statement: form.Statement) -> bool:
    return statement.rule.copy


class _Stores:
    """The stores of a program whose copies have been written."""

    def __init__(self, plan: CopyPlan, program: Program):
        self.memory = plan.memory
        self.updates = {
            plan.updates[site].statement.target: (site, plan.updates[site]) for site in plan.chosen
        }
        self.known = {name for _, name in plan.contents.defined}
        self.known |= {each.name for each in plan.program.captured()}
        self.kin: list[tuple[str, str]] = []  # names that the copies brought, and names of others
        self._found: dict[tuple[int, Path], tuple[int, set[str]]] = {}  # see _variables_before
        self._roots: dict[str, str] = {}  # of the results of updates
        self._parts: dict[str, dict[Elements, set[str]]] = {}  # of an array, by elements: its views
        self.stores: dict[str, Store] = {}
        self._walk(program)
        self._add_kin()

    def _walk(self, program: Program) -> None:
        items = items_of(program)
        for statement in program.body:
            if isinstance(statement, form.Effect):
                continue
            region = region_of(statement)
            for block in () if region is None else region.blocks:
                self._walk(block)
            name = statement.target
            self._note_kin(statement, items.get(name, {}))
            if name in self.updates:
                self._enter(program, statement, items.get(name, {}))
            elif statement.function is operator.getitem:
                array = getattr(statement.operands[0], "id", "")
                parts = self._parts.setdefault(self._variable(array), {})
                parts.setdefault(_elements(program, statement), set()).add(name)

    def _note_kin(self, statement: form.Op, items: Mapping[int, str]) -> None:
        """A name that a copy brought may be memory of what it was read from or handed to."""
        name, region = statement.target, region_of(statement)
        if name not in self.known:
            self.kin += [(name, each) for each in form.reads(statement)]
        for each in form.reads(statement):
            if each not in self.known:
                leaves = (
                    [leaf for block in region.blocks for leaf in block.leaves()] if region else []
                )
                self.kin += [(each, other) for other in (name, *items.values(), *leaves)]

    def _add_kin(self) -> None:
        """What changes with memory, the names that the copies brought may be memory of as well."""
        kin: dict[str, list[str]] = {}
        for name, other in self.kin:
            kin.setdefault(self._variable(other), []).append(self._variable(name))
        for result, store in self.stores.items() if kin else ():
            waiting, changed = list(store.changed), set(store.changed)
            while waiting:
                new = set(kin.get(waiting.pop(), ())) - changed
                changed |= new
                waiting += new
            self.stores[result] = replace(store, changed=frozenset(changed))

    def _variable(self, name: str) -> str:
        """The name whose memory the results of updates before have taken over, one by one."""
        return self._roots.get(name, name)

    def _enter(self, program: Program, statement: form.Op, items: Mapping[int, str]) -> None:
        name = statement.target
        site, update = self.updates[name]
        base = statement.operands[update.index].id
        self._roots[name] = self._variable(base)
        if site in self.memory.same:
            self.stores[name] = Store("same", base)
            return
        changed = frozenset({self._variable(base), *self._changed(site)})
        if update.kind == "update":
            function, other = statement.function, statement.operands[1 - update.index]
            self.stores[name] = Store("update", base, changed, function, other)
            return
        self.stores[name] = Store(update.kind, base, changed - self._apart(program, statement))
        if update.kind == "pop" and 1 in items:
            self.stores[items[1]] = Store("same", base)
            self._roots[items[1]] = self._variable(base)

    def _apart(self, program: Program, statement: form.Op) -> set[str]:
        """The views of the array into which elements are stored that have none of these."""
        if "index" not in statement.parameters:
            return set()
        array, stored = self._variable(statement.operands[0].id), _elements(program, statement)
        parts = self._parts.get(array, {}).items()
        return set().union(*(names for taken, names in parts if are_apart(taken, stored)))

    def _changed(self, site: Site) -> set[str]:
        """The variables there are at this place whose memory the update may change."""
        cell = self.memory.changed.get(site)
        if cell is None:
            return set()
        cells = {cell, *self.memory.sharing[cell]} - {OUTSIDE}
        return set().union(*(self._variables_before(each, site) for each in cells))

    def _variables_before(self, cell: int, site: Site) -> set[str]:
        """The variables of a cell. Sites come in the order of the text: what was found still is."""
        at, position = site
        variables: set[str] = set()
        for depth in range(len(at) + 1):
            path, index = at[:depth], at[depth][0] if depth < len(at) else position
            start, found = self._found.setdefault((cell, path), (0, set()))
            names = self.memory.names[cell].defined_before(path, index, start)
            found.update(map(self._variable, names))
            self._found[cell, path] = start + len(names), found
            variables |= found
        return variables


def _elements(program: Program, statement: form.Op) -> Elements:
    """Which elements of an array a statement reads or writes."""
    array = program.fact(statement.operands[0])
    return tuple(spans(statement.parameters["index"], array, program.fact))


def _renamed(program: Program, stores: Mapping[str, Store]) -> Program:
    """What reads the shape of an array that was updated reads it off the result."""
    program = map_blocks(program, lambda block: _renamed(block, stores))
    results: dict[str, str] = {}  # of names that were updated
    body = []
    for statement in program.body:
        atoms = {
            name: form.name(_latest(results, name))
            for name in form.reads(statement)
            if name in results
        }
        body.append(form.substitute(statement, atoms) if atoms else statement)
        store = stores.get(statement.target)
        if store is not None and store.kind not in ("append", "pop"):
            results[store.base] = statement.target
    return program.with_(body=tuple(body))


def _latest(results: Mapping[str, str], name: str) -> str:
    while name in results:
        name = results[name]
    return name
