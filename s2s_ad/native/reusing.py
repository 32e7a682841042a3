"""An array that each pass of a loop makes anew from the one before is stored over that one.

`y = np.empty(n)`, a loop that stores `y[i]` and reads `x[i]`, and `x = y` at the end of the pass
need one array: half the memory goes through the cache, and no pass asks for any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import gast

from s2s_ad.emit.provenance import with_origin
from s2s_ad.native.fusion import ALLOCATIONS, every_statement, is_inside
from s2s_ad.native.spelling import assign, call, name, names_in, number, put, same, unused


def reused(body: list[gast.stmt], parameters: Iterable[str]) -> list[gast.stmt]:
    """The statements of a function in which loops carry as few arrays as they may."""
    while True:
        loops = [each for each in every_statement(body) if isinstance(each, gast.For | gast.While)]
        known = _Known(body, parameters)
        if not any(_reuse(loop, known) for loop in loops):
            return body


@dataclass
class _Reuse:
    """What may be one array: the new one, its allocation, the loop that stores it, and the move."""

    before: str
    new: str
    allocation: gast.Assign
    move: gast.Assign
    nest: gast.For


def _reuse(loop: gast.For | gast.While, known: _Known) -> bool:
    """Let a loop carry one array less; False where it may not."""
    for move in loop.body:
        for before, new in _moves(move):
            found = _of(loop, move, before, new, known)
            if found is not None:
                _read_first(found, known)
                _write(loop, found)
                known.copy(before)
                return True
    return False


def _of(
    loop: gast.For | gast.While, move: gast.Assign, before: str, new: str, known: _Known
) -> _Reuse | None:
    """Two arrays of a loop, where the second may be stored over the first."""
    allocation = next((each for each in loop.body if known.allocates(each, new)), None)
    if allocation is None or not known.are_alike(before, new, allocation.value, loop, move):
        return None
    places = {id(each): place for place, each in enumerate(loop.body)}
    start, end = places[id(allocation)], places[id(move)]
    users = [each for each in loop.body[start + 1 : end] if _elements(each, new)]
    if not users or start >= end or _elements(loop.body[:start], new):
        return None
    nest, place = users[0], places[id(users[0])]
    if _elements(loop.body[place + 1 : end], before) or _leaves(loop.body[start:end]):
        return None
    if known.count(new, known.body) != known.count(new, [loop]):
        return None
    is_one = isinstance(nest, gast.For) and _goes_along(nest, before, new)
    return _Reuse(before, new, allocation, move, nest) if is_one else None


# ---- what is known of a function -----------------------------------------------------------------


class _Known:
    """How names of a function are used."""

    def __init__(self, body: list[gast.stmt], parameters: Iterable[str]):
        self.body = body
        self.assigned: dict[str, list[gast.AST]] = {each: [] for each in parameters}
        self.parameters = set(self.assigned)
        self.names = {each for statement in body for each in names_in(statement)}
        self.fixed = {*self.parameters}
        self.whole = Counter(_whole(body[:-1] if isinstance(body[-1], gast.Return) else body))
        self.returned = set(_whole(body[-1:]))
        top = {id(each) for each in body}
        for node in every_statement(body):
            for each in _targets(node):
                self.assigned.setdefault(each, []).append(node)
                if id(node) in top and isinstance(node, gast.Assign):
                    self.fixed.add(each)
        self.fixed = {e for e in self.fixed if len(self.assigned[e]) + (e in self.parameters) == 1}

    def allocates(self, node: gast.stmt, own: str) -> bool:
        """Whether it is the only statement that assigns a name, and makes an empty array."""
        return self.assigned.get(own) == [node] and _kind(node) == "empty"

    def are_alike(
        self, before: str, new: str, value: gast.Call, loop: gast.stmt, move: gast.Assign
    ) -> bool:
        """Whether a name is a new array of the same kind and lengths each time a loop begins."""
        if before in self.parameters or new in self.returned:
            return False
        inner = {id(each) for each in every_statement([loop])}
        others = [each for each in self.assigned[before] if each is not move]
        if not others or any(id(each) in inner for each in others):
            return False
        if not all(_is_one_form(e, value) or self.is_given(e, value) for e in others):
            return False
        if names_in(value) & self.assigned.keys() - self.fixed:
            return False
        rank = len(value.args[0].elts) if isinstance(value.args[0], gast.Tuple) else 1
        if any(len(_index(each)) != rank for each in _elements(self.body, before, new)):
            return False  # a view, which would see what is stored
        return self.whole[before] == 0 and self.whole[new] == 1  # the move itself

    def is_given(self, node: gast.AST, value: gast.Call) -> bool:
        """Whether a statement names an argument with the lengths of a new array: it is copied."""
        own, lengths = _given(node), value.args[0]
        if own not in self.parameters or own not in self.fixed:
            return False
        found = lengths.elts if isinstance(lengths, gast.Tuple) else [lengths]
        shape = lambda k: gast.Subscript(  # noqa: E731
            gast.Attribute(name(own), "shape", gast.Load()), number(k), gast.Load()
        )
        wanted = [call("len", name(own)), *map(shape, range(1, len(found)))]
        return all(map(same, found, wanted))

    def count(self, own: str, body: list[gast.stmt]) -> int:
        nodes = (node for statement in body for node in gast.walk(statement))
        return sum(each.id == own for each in nodes if isinstance(each, gast.Name))

    def copy(self, own: str) -> None:
        """Copy an argument that has another name, which is stored over now."""
        for node in self.assigned[own]:
            given = _given(node)
            if given:
                node.value = gast.Call(gast.Attribute(name(given), "copy", gast.Load()), [], [])


def _kind(node: gast.stmt) -> str | None:
    """How a statement makes a new array: `empty` or `zeros`; None where it does not."""
    if not isinstance(node, gast.Assign) or not isinstance(node.targets[0], gast.Name):
        return None
    made = getattr(getattr(node.value, "func", None), "attr", "")
    return made if made in ALLOCATIONS and isinstance(node.value, gast.Call) else None


def _is_one_form(node: gast.AST, other: gast.Call) -> bool:
    """Whether a statement makes a new array of the dtype and the lengths of another one."""
    if _kind(node) is None:
        return False
    args = node.value.args
    return len(args) == len(other.args) and all(map(same, args, other.args))


def _given(node: gast.AST) -> str:
    """The array that a statement gives another name, in the order of C, perhaps without a copy."""
    value = node.value if isinstance(node, gast.Assign) else None
    if not isinstance(value, gast.Call) or not isinstance(node.targets[0], gast.Name):
        return ""
    is_one = getattr(value.func, "attr", "") == "ascontiguousarray"
    return getattr(value.args[0], "id", "") if is_one else ""


def _targets(node: gast.stmt) -> list[str]:
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    parts = [p for t in targets for p in (t.elts if isinstance(t, gast.Tuple) else [t])]
    return [each.id for each in parts if isinstance(each, gast.Name)]


def _moves(node: gast.stmt) -> Iterator[tuple[str, str]]:
    """The names that a statement only hands on: what they become, and what they were."""
    if not isinstance(node, gast.Assign):
        return
    target, value = node.targets[0], node.value
    is_pair = isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple)
    pairs = zip(target.elts, value.elts, strict=True) if is_pair else [(target, value)]
    for one, other in pairs:
        if isinstance(one, gast.Name) and isinstance(other, gast.Name):
            yield one.id, other.id


def _whole(node: object) -> Iterator[str]:
    """The names that are read as a whole, and not for an element or a length."""
    if isinstance(node, list):
        for each in node:
            yield from _whole(each)
    elif isinstance(node, gast.Name):
        if isinstance(node.ctx, gast.Load):
            yield node.id
    elif isinstance(node, gast.AST):
        for each in gast.iter_child_nodes(node):
            if not (is_inside(node) and isinstance(each, gast.Name)):
                yield from _whole(each)


# ---- one nest of loops ---------------------------------------------------------------------------


def _goes_along(nest: gast.For, before: str, new: str) -> bool:
    """Whether each pass of a nest stores one element, and reads no other one of the old array."""
    inner = _innermost(nest, new)
    if inner is None:
        return False
    loops, block = inner
    indices = {each.target.id for each in loops}
    elements = _elements([nest], before, new)
    if any(set(_index(each)) != indices or len(_index(each)) != len(loops) for each in elements):
        return False
    if len({gast.dump(each.slice) for each in elements}) != 1 or len(indices) != len(loops):
        return False
    if len(_elements(block, before, new)) != len(elements):
        return False  # some stand elsewhere
    if any(isinstance(each.ctx, gast.Store) for each in _elements([nest], before)):
        return False
    changed = {each for node in every_statement(block) for each in _targets(node)}
    first = next(each for each in block if _elements(each, new))
    return not changed & indices and _stores(first, new)


def _innermost(nest: gast.For, new: str) -> tuple[list[gast.For], list[gast.stmt]] | None:
    """The loops around the first use of an array in a nest, and the block that it stands in."""
    loops, block = [nest], nest.body
    while True:
        user = next((each for each in block if _elements(each, new)), None)
        if user is None or isinstance(user, gast.While | gast.If):
            return None
        if not isinstance(user, gast.For):
            return loops, block
        loops, block = [*loops, user], user.body


def _stores(node: gast.stmt, new: str) -> bool:
    """Whether a statement stores an element, and does not read it."""
    return isinstance(node, gast.Assign) and not _elements(node.value, new)


def _index(node: gast.Subscript) -> list[str]:
    parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    return [each.id if isinstance(each, gast.Name) else "" for each in parts]


def _elements(node: object, *arrays: str) -> list[gast.Subscript]:
    """Where elements of arrays are used."""
    nodes = node if isinstance(node, list) else [node]
    return [each for one in nodes for each in gast.walk(one) if _is_element_of(each, *arrays)]


def _is_element_of(node: object, *arrays: str) -> bool:
    return isinstance(node, gast.Subscript) and getattr(node.value, "id", "") in arrays


def _leaves(body: Sequence[gast.stmt]) -> bool:
    """Whether a pass may end there, or the function."""
    kinds = (gast.Break, gast.Continue, gast.Return)
    return any(isinstance(node, kinds) for each in body for node in gast.walk(each))


# ---- the text ------------------------------------------------------------------------------------


def _read_first(found: _Reuse, known: _Known) -> None:
    """Read the old element before it is stored over, where it is read again behind that."""
    inner = _innermost(found.nest, found.new)
    assert inner is not None
    block = inner[1]
    index = next(k for k, each in enumerate(block) if _elements(each, found.new))
    if not _elements(block[index + 1 :], found.before):
        return
    own = unused(f"{found.before}_element", known.names)
    element = _elements(block, found.before)[0]
    for each in block:
        put(own, each, lambda node: _is_element_of(node, found.before))
    first = block[index]
    read = assign(own, element)
    block.insert(0, with_origin(read, getattr(first, "origin", None), getattr(first, "phase", "")))


def _write(loop: gast.For | gast.While, found: _Reuse) -> None:
    """Call both arrays by the name of the first, without the allocation and the move."""
    for node in gast.walk(loop):
        if isinstance(node, gast.Name) and node.id == found.new:
            node.id = found.before
    target, value, left = found.move.targets[0], found.move.value, []
    if isinstance(target, gast.Tuple):
        pairs = zip(target.elts, value.elts, strict=True)
        left = [(one, other) for one, other in pairs if getattr(one, "id", "") != found.before]
    gone = [found.allocation, *([] if left else [found.move])]
    loop.body[:] = [each for each in loop.body if not any(each is one for one in gone)]
    if len(left) > 1:
        target.elts, value.elts = map(list, zip(*left, strict=True))
    elif left:
        found.move.targets, found.move.value = [left[0][0]], left[0][1]
