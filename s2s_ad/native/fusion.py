"""Loops over one index space become one, and arrays that only this one uses numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import gast

from s2s_ad.native import affine
from s2s_ad.native.spelling import names_in

ALLOCATIONS = {"empty", "zeros"}
MOST_BETWEEN = 24  # statements between two loops that become one
MOST_SCATTERED = 8  # arrays that one loop goes through with gaps


def fused(body: list[gast.stmt], parameters: Iterable[str]) -> list[gast.stmt]:
    """The statements of a function with as few loops as there may be."""
    kin = Kin(body, parameters)
    body = _fused(body, kin)
    return _without_arrays(body)


# ---- what may be one array -----------------------------------------------------------------------


class Kin:
    """Which names may be one array in memory: those of which one is a view of the other."""

    def __init__(self, body: list[gast.stmt], parameters: Iterable[str]):
        self.parent: dict[str, str] = {}
        self.fresh: list[set[str]] = [set()]
        self.join(["", *parameters])
        assignments = [each for each in every_statement(body) if isinstance(each, gast.Assign)]
        arrays = _arrays(body, assignments)
        for node in assignments:
            targets = arrays.intersection(_stored_names(node))
            names = {each.id for each in gast.walk(node.value) if isinstance(each, gast.Name)}
            if targets and not _is_allocation(node.value):
                self.join([*targets, *(names & arrays)])

    @contextmanager
    def block(self) -> Iterator[None]:
        self.fresh.append(set())
        yield
        self.fresh.pop()

    def enter(self, statement: gast.stmt) -> None:
        """Note which arrays a statement of a block makes, so that nothing else can be one of them.

        They are, until a statement of the block names them as a whole.
        """
        for node in gast.walk(statement):
            if isinstance(node, gast.AST) and not is_inside(node):
                for each in gast.iter_child_nodes(node):
                    if isinstance(each, gast.Name):
                        self._forget(each.id)
        if isinstance(statement, gast.Assign) and _is_allocation(statement.value):
            self.fresh[-1].update(_stored_names(statement))

    def _forget(self, name: str) -> None:
        for each in self.fresh:
            each.discard(name)

    def are_apart(self, one: str, other: str) -> bool:
        """Whether two names are two arrays, where both have been assigned."""
        if one != other and any(one in each or other in each for each in self.fresh):
            return True
        return self.of(one) != self.of(other)

    def of(self, name: str) -> str:
        while name in self.parent:
            name = self.parent[name]
        return name

    def all_of(self, names: Iterable[str]) -> set[str]:
        return set(map(self.of, names))

    def join(self, names: Sequence[str]) -> None:
        for each in names[1:]:
            one, other = self.of(names[0]), self.of(each)
            if one != other:
                self.parent[other] = one


def _arrays(body: list[gast.stmt], assignments: list[gast.Assign]) -> set[str]:
    """The names of arrays: what has elements or a shape, and what these are called otherwise."""
    found = set()
    for node in (each for statement in body for each in gast.walk(statement)):
        if isinstance(node, gast.Subscript | gast.Attribute) and isinstance(node.value, gast.Name):
            found.add(node.value.id)
        elif isinstance(node, gast.Call) and getattr(node.func, "id", "") == "len":
            found |= {each.id for each in node.args if isinstance(each, gast.Name)}
    pairs = [(e.targets[0], e.value) for e in assignments]
    pairs += [
        pair for target, value in pairs
        if isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple)
        for pair in zip(target.elts, value.elts, strict=True)
    ]  # fmt: skip
    aliases = [
        (t.id, v.id) for t, v in pairs if isinstance(t, gast.Name) and isinstance(v, gast.Name)
    ]
    before = -1
    while len(found) != before:
        before = len(found)
        for pair in aliases:
            if found.intersection(pair):
                found.update(pair)
    return found - MODULES


def is_inside(node: gast.AST) -> bool:
    """Whether it uses elements or lengths of the arrays that it names, and not these."""
    is_length = isinstance(node, gast.Attribute) and node.attr == "shape"
    is_count = isinstance(node, gast.Call) and getattr(node.func, "id", "") == "len"
    is_element = isinstance(node, gast.Subscript) and not any(
        isinstance(each, gast.Slice) for each in gast.walk(node.slice)
    )
    return is_length or is_count or is_element


def _is_allocation(node: gast.AST) -> bool:
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Attribute):
        return False
    return node.func.attr in ALLOCATIONS or node.func.attr == "copy"


# ---- loops that become one -----------------------------------------------------------------------


@dataclass
class Uses:
    """What statements read and write.

    Attributes:
        reads, writes: numbers, by name.
        loads, stores: elements: the name of an array -> the indices, as forms.
        whole: arrays that are used as a whole.
    """

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    loads: dict[str, list[tuple]] = field(default_factory=dict)
    stores: dict[str, list[tuple]] = field(default_factory=dict)
    is_opaque: bool = False
    meanings: Mapping[str, Any] = field(default_factory=dict)

    def look(self, node: Any) -> None:
        """Note what a tree reads and writes."""
        if isinstance(node, list):
            for each in node:
                self.look(each)
        elif isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name):
            self._element(node)
        elif isinstance(node, gast.AugAssign):
            for context in (gast.Load(), gast.Store()):
                self.look(_in_context(node.target, context))
            self.look(node.value)
        elif isinstance(node, gast.Name):
            (self.writes if isinstance(node.ctx, gast.Store) else self.reads).add(node.id)
        elif isinstance(node, gast.Attribute):
            self._attribute(node)
        elif isinstance(node, gast.AST):
            self.is_opaque |= isinstance(node, gast.Raise | gast.Break | gast.Expr | gast.While)
            is_length = isinstance(node, gast.Call) and getattr(node.func, "id", "") == "len"
            for each in () if is_length else node._fields:
                self.look(getattr(node, each, None))

    def _element(self, node: gast.Subscript) -> None:
        index = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
        self.is_opaque |= any(isinstance(each, gast.Slice) for each in index)
        kind = self.stores if isinstance(node.ctx, gast.Store) else self.loads
        kind.setdefault(node.value.id, []).append(
            tuple(affine.form_of(each, self.meanings) for each in index)
        )
        self.look(list(index))

    def _attribute(self, node: gast.Attribute) -> None:
        if node.attr != "shape" and getattr(node.value, "id", "") not in MODULES:
            self.is_opaque = True  # a method of an array, or an array turned
            self.look(node.value)


def _in_context(node: gast.AST, context: gast.AST) -> gast.AST:
    if isinstance(node, gast.Name):
        return gast.Name(node.id, context, None, None)
    return gast.Subscript(node.value, node.slice, context)


MODULES = {"np", "math"}


def _fused(body: list[gast.stmt], kin: Kin) -> list[gast.stmt]:
    made: list[gast.stmt] = []
    for statement in body:
        kin.enter(statement)
        for block in ("body", "orelse"):
            inner = getattr(statement, block, None)
            if isinstance(inner, list) and inner:
                with kin.block():
                    setattr(statement, block, _fused(inner, kin))
        place = _place(made, statement, kin) if getattr(statement, "is_nest", False) else None
        if place is None:
            made.append(statement)
            continue
        place, before, behind = place
        first = made[place]
        first.body = _fused([*first.body, *statement.body], kin)
        made[place:] = [*before, first, *behind]
    return made


def _place(
    made: list[gast.stmt], loop: gast.For, kin: Kin
) -> tuple[int, list[gast.stmt], list[gast.stmt]] | None:
    """The loop before that this one can be put into, and what then stands before and behind both.

    What stands between goes before them where it does not need the first loop, and else behind
    them, where the second does not need it.
    """
    between: list[gast.stmt] = []
    for index in range(len(made) - 1, max(len(made) - MOST_BETWEEN, -1), -1):
        one = made[index]
        if getattr(one, "is_nest", False):
            parted = _parted(one, between, loop, kin) if _alike(one, loop) else None
            return (index, *parted) if parted and _fit(one, loop, kin) else None
        if not isinstance(one, gast.Assign | gast.AugAssign):
            return None
        between.insert(0, one)
    return None


def _parted(
    one: gast.For, between: list[gast.stmt], other: gast.For, kin: Kin
) -> tuple[list[gast.stmt], list[gast.stmt]] | None:
    """What stands between two loops: what may go before them, and what may go behind them."""
    before: list[gast.stmt] = []
    behind: list[gast.stmt] = []
    for each in between:
        if _may_swap(each, [one, *behind], kin):
            before.append(each)
        else:
            behind.append(each)
    return (before, behind) if all(_may_swap(e, [other], kin) for e in behind) else None


def _alike(one: gast.For, other: gast.For) -> bool:
    heads = (gast.dump(each.target) + gast.dump(each.iter) for each in (one, other))
    return len(set(heads)) == 1


def _may_swap(statement: gast.stmt, others: list[gast.stmt], kin: Kin) -> bool:
    """Whether a statement may as well stand on the other side of some others."""
    own, them = uses_of([statement]), uses_of(others)
    if own.is_opaque:
        return False
    touched = kin.all_of(own.reads | own.loads.keys() | own.writes | own.stores.keys())
    if touched & kin.all_of(them.writes | them.stores.keys()):
        return False
    stored = kin.all_of(own.stores)
    if stored & kin.all_of(them.reads | them.loads.keys()):
        return False
    return not own.writes & (them.reads | them.loads.keys())


def uses_of(statements: list[gast.stmt], meanings: Mapping[str, Any] | None = None) -> Uses:
    """What statements read and write.

    Args:
        meanings: numbers that are written out in indices.
    """
    uses = Uses(meanings=meanings or {})
    uses.look(statements)
    return uses


def _fit(one: gast.For, other: gast.For, kin: Kin) -> bool:
    """Whether each pass of the second loop needs no more than the same pass of the first."""
    a, b, index = uses_of(one.body), uses_of(other.body), one.target.id
    if a.is_opaque or b.is_opaque or _scattered([*one.body, *other.body]) > MOST_SCATTERED:
        return False
    numbers = (a.writes & (b.reads | b.writes)) | (b.writes & a.reads)
    if not all(is_own(each, one.body) and is_own(each, other.body) for each in numbers):
        return False
    for left, right in ((a.stores, b.loads | b.stores), (b.stores, a.loads | a.stores)):
        for name in left:
            for alike in (each for each in right if not kin.are_apart(each, name)):
                indices = [*_all_of(a, name), *_all_of(b, name)]
                if alike != name or not is_shared(indices, index, a.writes | b.writes):
                    return False
    arrays = [(a.reads, b.stores), (b.reads, a.stores)]
    return not any(kin.all_of(reads) & kin.all_of(stores) for reads, stores in arrays)


def _scattered(body: list[gast.stmt], innermost: str = "") -> int:
    """How many arrays are read or written with gaps by the innermost loops, at most by one.

    Large arrays begin at addresses that are alike, so that their elements at one index are rivals
    for the same lines of the cache: what the next pass could have found there is gone.
    """
    most, here = 0, set()
    for each in body:
        if isinstance(each, gast.For):
            most = max(most, _scattered(each.body, each.target.id))
            continue
        for node in gast.walk(each):
            if isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Tuple):
                last = node.slice.elts[-1]
                if innermost and innermost not in names_in(last):
                    here.add(getattr(node.value, "id", ""))
    return max(most, len(here))


def _all_of(uses: Uses, name: str) -> list[tuple]:
    return [*uses.loads.get(name, ()), *uses.stores.get(name, ())]


def is_shared(indices: Sequence[tuple], index: str, written: set[str]) -> bool:
    """Whether all are the same at one axis, and another element there in each pass.

    Args:
        written: numbers that may differ from pass to pass.
    """
    shortest = min(map(len, indices))
    return any(
        affine.tells_apart(indices[0][k], index, written)
        and all(e[k] == indices[0][k] for e in indices)
        for k in range(shortest)
    )


def is_own(name: str, body: list[gast.stmt]) -> bool:
    """Whether a pass assigns a number before it reads it, or does not read it at all."""
    for each in body:
        if isinstance(each, gast.For) and each.target.id == name:
            return True
        uses = uses_of([each])
        if name in uses.reads:
            inner = isinstance(each, gast.For) and name in uses.writes and is_own(name, each.body)
            return inner
        if name in uses.writes:
            return isinstance(each, gast.Assign)
    return True


# ---- arrays that become numbers ------------------------------------------------------------------


def _without_arrays(body: list[gast.stmt]) -> list[gast.stmt]:
    """The statements in which an array of which one pass reads what it stored is a number."""
    made = {}
    for node in every_statement(body):
        if isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Name):
            name = node.targets[0].id
            empty = _is_allocation(node.value) and node.value.func.attr == "empty"
            made[name] = None if name in made or not empty else node
    known = {name: node for name, node in made.items() if node is not None}
    found = {name: Places() for name in known}
    _find(body, (), known, found)
    gone = {name: node for name, node in known.items() if found[name].is_one_number}
    if not gone:
        return body
    body = _without(body, {id(node) for node in gone.values()})
    return [_as_numbers(each, gone) for each in body]


@dataclass
class Places:
    """Where elements of an array are used.

    Attributes:
        first: the block with the first use, which has to store the element.
        indices: at which indices.
        is_elsewhere: it is used otherwise, too.
    """

    first: int = 0
    indices: set[str] = field(default_factory=set)
    is_elsewhere: bool = False

    def add(self, node: gast.Subscript, blocks: tuple[int, ...]) -> None:
        if not self.indices:
            self.first = blocks[-1]
            self.is_elsewhere |= not isinstance(node.ctx, gast.Store)
        self.is_elsewhere |= self.first not in blocks
        self.indices.add(gast.dump(node.slice))

    @property
    def is_one_number(self) -> bool:
        """Whether each pass uses the element alone that it has stored."""
        return len(self.indices) == 1 and not self.is_elsewhere


def _find(node: Any, blocks: tuple[int, ...], known: dict, found: dict[str, Places]) -> None:
    """Note where elements of the arrays are used, in the order of the text."""
    if isinstance(node, list):
        is_block = bool(node) and isinstance(node[0], gast.stmt)
        for each in node:
            _find(each, (*blocks, id(node)) if is_block else blocks, known, found)
    elif isinstance(node, gast.Subscript) and getattr(node.value, "id", "") in known:
        found[node.value.id].add(node, blocks)
        _find(node.slice, blocks, known, found)
    elif isinstance(node, gast.Name) and node.id in known:
        found[node.id].is_elsewhere = True
    elif isinstance(node, gast.AST):
        # the allocation of an array is no use of it, but of those whose lengths it asks for
        is_allocation = any(node is each for each in known.values())
        for each in [node.value] if is_allocation else _in_order(node):
            _find(each, blocks, known, found)


def _in_order(node: gast.AST) -> list[Any]:
    """The parts of a statement in the order in which they are used."""
    if isinstance(node, gast.Assign):
        return [node.value, node.targets]
    if isinstance(node, gast.AugAssign):
        return [node.value, _in_context(node.target, gast.Load()), node.target]
    return [getattr(node, each, None) for each in node._fields]


def _without(body: list[gast.stmt], gone: set[int]) -> list[gast.stmt]:
    made = []
    for each in body:
        if id(each) in gone:
            continue
        for block in ("body", "orelse"):
            inner = getattr(each, block, None)
            if isinstance(inner, list):
                setattr(each, block, _without(inner, gone))
        made.append(each)
    return made


def _as_numbers(node: Any, gone: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_as_numbers(each, gone) for each in node]
    if isinstance(node, gast.Subscript) and getattr(node.value, "id", "") in gone:
        return gast.Name(node.value.id, node.ctx, None, None)
    if isinstance(node, gast.AST):
        for each in node._fields:
            setattr(node, each, _as_numbers(getattr(node, each, None), gone))
    return node


def every_statement(body: Sequence[gast.stmt]) -> Iterator[gast.stmt]:
    """The statements of a block, and those in their blocks."""
    for each in body:
        yield each
        for block in ("body", "orelse"):
            inner = getattr(each, block, None)
            if isinstance(inner, list):
                yield from every_statement(inner)


def _stored_names(node: gast.Assign) -> list[str]:
    return [
        each.id
        for target in node.targets
        for each in gast.walk(target)
        if isinstance(each, gast.Name) and isinstance(each.ctx, gast.Store)
    ]
