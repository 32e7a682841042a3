"""The order of loops: the innermost goes up along memory of as many arrays as it may.

A loop whose passes are independent, but for sums that they add to, is put inside of the loops in
it. What a pass keeps in numbers, and nothing else reads, is written where it is read; a sum goes to
its element at once.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gast

from s2s_ad.emit.provenance import with_origin
from s2s_ad.native import affine
from s2s_ad.native.fusion import Kin, is_own, is_shared, uses_of
from s2s_ad.native.spelling import (
    Expression,
    assign,
    call,
    name,
    names_in,
    number,
    plus,
    same,
    unused,
    value_of,
)
from s2s_ad.native.support import SUPPORT

#: what an element costs that does not stand behind the one before, of those that do
GAP = 4
#: by how much another order has to be cheaper, and how much may be written several times
CLEARLY, MOST_NODES = 1.25, 400
#: how many pairs of rows LLVM compares before a loop
MOST_PAIRS = 8


def reordered(body: list[gast.stmt], parameters: Iterable[str]) -> list[gast.stmt]:
    """The statements of a function with their loops in the order of memory."""
    assigned = Counter(parameters)
    for node in (each for statement in body for each in gast.walk(statement)):
        if isinstance(node, gast.Assign | gast.AugAssign):
            for target in getattr(node, "targets", [getattr(node, "target", None)]):
                parts = target.elts if isinstance(target, gast.Tuple) else [target]
                assigned.update(each.id for each in parts if isinstance(each, gast.Name))
        elif isinstance(node, gast.For):
            assigned[node.target.id] += 0
    order = _Order(Kin(body, parameters), _of_floats(body), assigned, _reads(body))
    order.know(body)
    return order.block(body)


def _of_floats(body: list[gast.stmt]) -> set[str]:
    """The arrays of which the text says that they hold float64."""
    found: dict[str, bool] = {}
    for node in (each for statement in body for each in gast.walk(statement)):
        if isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Name):
            value, own = node.value, node.targets[0].id
            is_new = isinstance(value, gast.Call) and len(value.args) == 1
            is_new = is_new and getattr(value.func, "attr", "") in ("empty", "zeros")
            found[own] = bool(is_new) and found.get(own, True)
    return {each for each, is_one in found.items() if is_one}


@dataclass
class Nest:
    """A loop inside of another one, or (`head` is None) statements beside such loops."""

    head: gast.For | None
    body: list[gast.stmt]


@dataclass
class Body:
    """The body of a loop, taken apart.

    Attributes:
        ahead: numbers that are the same in each pass.
        meant: numbers that are written out where they are read.
    """

    ahead: list[gast.stmt] = field(default_factory=list)
    parts: list[Nest] = field(default_factory=list)
    meant: dict[str, Expression] = field(default_factory=dict)


class Refused(Exception):
    """A loop stays as it is."""


class _Order:
    def __init__(self, kin: Kin, of_floats: set[str], assigned: Counter[str], reads: Counter[str]):
        self.kin, self.of_floats, self.assigned, self.reads = kin, of_floats, assigned, reads
        self.meanings: dict[str, Expression] = {}  # of numbers that are assigned once
        self.taken = set(assigned)
        self.indices: set[str] = set()  # of all loops

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        made: list[gast.stmt] = []
        for each in body:
            for part in ("body", "orelse"):
                inner = getattr(each, part, None)
                if isinstance(inner, list) and inner:
                    setattr(each, part, self.block(inner))
            made += self._loop(each) if isinstance(each, gast.For) else [each]
        return made

    def know(self, body: Sequence[gast.stmt]) -> None:
        """Note the indices, and the numbers that are sums of others which stay as they are."""
        for each in (node for statement in body for node in gast.walk(statement)):
            if isinstance(each, gast.For):
                self.indices.add(each.target.id)
            if not isinstance(each, gast.Assign) or not isinstance(each.targets[0], gast.Name):
                continue
            own, form_ = each.targets[0].id, affine.form_of(each.value)
            if all(self._stays(atom) for atom, _ in form_) and self.assigned[own] == 1:
                self.meanings[own] = each.value

    def _stays(self, atom: str) -> bool:
        return (atom.isidentifier() and self.assigned[atom] <= 1) or atom == affine.ONE

    def _loop(self, loop: gast.For) -> list[gast.stmt]:
        inner = [each for each in loop.body if isinstance(each, gast.For)]
        deeper = any(isinstance(e, gast.For) for each in inner for e in each.body)
        if not inner or deeper or not _upwards(loop):
            return [loop]
        try:
            return self._turned(loop)
        except Refused:
            return [loop]

    def _turned(self, loop: gast.For) -> list[gast.stmt]:
        index = loop.target.id
        uses = uses_of(loop.body, self.meanings)
        if uses.is_opaque or any(isinstance(e, gast.If | gast.While) for e in gast.walk(loop)):
            raise Refused
        if any(_may_raise(each) for each in gast.walk(loop)):
            raise Refused
        self._check_numbers(loop, uses.writes)
        body = self._apart(loop, uses)
        parts = self._merged(body.parts)
        self._check_independent([e for p in parts for e in _as_statements(p)], index)
        orders = [self._is_outer(part, index) for part in parts]
        before = sum(_cost(each.body, each.target.id) for each in loop.body if _is_for(each))
        before += sum(_cost([each], index) for each in loop.body if not _is_for(each)) / 8
        after = sum(
            _cost(part.body, index if turned or part.head is None else part.head.target.id)
            for part, turned in zip(parts, orders, strict=True)
        )
        if not any(orders) or before <= CLEARLY * after:
            raise Refused
        made = [self._nest(part, loop, turned) for part, turned in zip(parts, orders, strict=True)]
        return [*body.ahead, *made]

    def _check_numbers(self, loop: gast.For, written: set[str]) -> None:
        """Refuse where a number of a pass is read by another pass, or behind the loop.

        Any other is written where it is read, and its assignment goes.
        """
        here = _reads([loop])
        indices = {each.target.id for each in gast.walk(loop) if _is_for(each)}
        for own in written - indices:
            outside = self.reads[own] > here[own]
            if outside or (self.reads[own] and not is_own(own, loop.body)):
                raise Refused

    # ---- the body of a loop without numbers ------------------------------------------------------

    def _apart(self, loop: gast.For, uses: Any) -> Body:
        """The body without the numbers that a pass has."""
        made, sums = Body(), {}
        for each in loop.body:
            if _is_for(each):
                if names_in(each.iter) & (uses.writes | {loop.target.id}):
                    raise Refused
                part = Nest(each, [self._written(e, made, uses) for e in each.body])
                made.parts.append(self._with_sums(part, sums))
            elif isinstance(each, gast.Assign) and isinstance(each.targets[0], gast.Name):
                self._number(each, loop, made, sums, uses)
            else:
                each = self._written(each, made, uses)
                if not self._is_sum_of(each, sums, uses):
                    made.parts.append(Nest(None, [each]))
        for total in {id(each): each for each in sums.values()}.values():
            total.finish()
        return made

    def _number(
        self, each: gast.Assign, loop: gast.For, made: Body, sums: dict[str, Sum], uses: Any
    ) -> None:
        own, value = each.targets[0].id, _substituted(each.value, made.meant)
        arrays = uses.stores.keys() | uses.loads.keys()
        if own in arrays or (isinstance(value, gast.Name) and value.id in arrays):
            raise Refused  # an array of each pass
        if value_of(value) == 0.0 and own not in made.meant and own not in sums:
            sums[own] = Sum(own)
            return
        if isinstance(value, gast.Name) and value.id in sums:
            sums[value.id].names.add(own)
            sums[own] = sums[value.id]
            return
        if own in made.meant or own in sums or names_in(value) & sums.keys():
            raise Refused
        if self._changes(value, uses):
            self._kept(each, loop, made)
            return
        names = names_in(value)
        if loop.target.id not in names and not names & uses.writes and not _loads(value):
            made.ahead.append(each)
            uses.writes.discard(own)
            return
        made.meant[own] = value

    def _changes(self, value: Expression, uses: Any) -> bool:
        """Whether a pass changes what a number is made of."""
        try:
            for load in _loads(value):
                self._check_unchanged(load, uses)
        except Refused:
            return True
        return False

    def _kept(self, each: gast.Assign, loop: gast.For, made: Body) -> None:
        """Keep a number of each pass in an array."""
        own, value, bounds = each.targets[0].id, each.value, _upwards(loop).args
        is_float = (
            isinstance(value, gast.Subscript) and getattr(value.value, "id", "") in self.of_floats
        )
        if not is_float or len(bounds) != 1:
            raise Refused
        text = unused(own, self.taken)
        made.ahead.append(
            _at(assign(text, call("np.empty", call("max", bounds[0], number(0)))), each)
        )
        stored = gast.Subscript(name(text), name(loop.target.id), gast.Store())
        made.parts.append(Nest(None, [_at(assign(stored, value), each)]))
        made.meant[own] = gast.Subscript(name(text), name(loop.target.id), gast.Load())

    def _written(self, each: gast.stmt, made: Body, uses: Any) -> gast.stmt:
        """A statement with numbers written out, which have to be the same there still."""
        names = names_in(each) & made.meant.keys()
        if not names:
            return each
        new = _substituted(each, made.meant)
        if sum(1 for _ in gast.walk(new)) > MOST_NODES:
            raise Refused
        for own in names:
            for load in _loads(made.meant[own]):
                self._check_unchanged(load, uses)
        return new

    def _check_unchanged(self, load: gast.Subscript, uses: Any) -> None:
        own = getattr(load.value, "id", None)
        forms = _forms(load, self.meanings)
        for stored, places in uses.stores.items():
            if own is None or not self.kin.are_apart(stored, own):
                if stored != own or forms is None:
                    raise Refused
                inner = sorted({each for form_ in places for each in _names(form_)})
                indices = [each for each in inner if each in uses.writes]
                if not self.indices.issuperset(indices):
                    raise Refused  # a number that may be another one in each pass
                for place in places:
                    if affine.distances(place, forms, indices) is not None:
                        raise Refused

    def _with_sums(self, part: Nest, sums: dict[str, Sum]) -> Nest:
        for k, each in enumerate(part.body):
            found = names_in(each) & sums.keys()
            if not found:
                continue
            (own,) = found if len(found) == 1 else (None,)
            if own is None or not sums[own].take(part, k, each):
                raise Refused
        return part

    def _is_sum_of(self, each: gast.stmt, sums: dict[str, Sum], uses: Any) -> bool:
        """Whether a statement adds a sum to an element, which each term then does."""
        found = names_in(each) & sums.keys()
        if not found:
            return False
        if not isinstance(each, gast.AugAssign) or not isinstance(each.op, gast.Add | gast.Sub):
            raise Refused
        if not isinstance(each.target, gast.Subscript) or names_in(each.target) & found:
            raise Refused
        factors = _factors(each.value)
        own = [k for k, e in enumerate(factors) if isinstance(e, gast.Name) and e.id in found]
        if len(own) != 1 or sum(bool(names_in(e) & found) for e in factors) != 1:
            raise Refused
        total = sums[factors[own[0]].id]
        for load in [load for e in factors for load in _loads(e)]:
            self._check_unchanged(load, uses)
        total.give(each, factors[: own[0]], factors[own[0] + 1 :])
        return True

    # ---- what may be done ------------------------------------------------------------------------

    def _merged(self, parts: list[Nest]) -> list[Nest]:
        """Loops behind each other over one space as one loop, where their passes allow that."""
        made: list[Nest] = []
        for each in parts:
            last = made[-1] if made else None
            if last is not None and each.head is not None and last.head is not None:
                alike = same(last.head.iter, each.head.iter)
                if alike and last.head.target.id == each.head.target.id:
                    both = Nest(last.head, [*last.body, *each.body])
                    if self._is_independent(both.body, each.head.target.id):
                        made[-1] = both
                        continue
            if last is not None and each.head is None and last.head is None:
                made[-1] = Nest(None, [*last.body, *each.body])
                continue
            made.append(each)
        return made

    def _check_independent(self, body: list[gast.stmt], index: str) -> None:
        if not self._is_independent(body, index):
            raise Refused

    def _is_independent(self, body: list[gast.stmt], index: str) -> bool:
        """Whether passes only store elements of their own, and add to others."""
        uses = uses_of(body, self.meanings)
        if uses.is_opaque:
            return False
        inner = {each.target.id for e in body for each in gast.walk(e) if _is_for(each)}
        if uses.writes - inner:
            return False
        added = _only_added_to(body)
        for stored, places in uses.stores.items():
            others = {*uses.loads, *uses.stores} - {stored}
            if any(not self.kin.are_apart(stored, each) for each in others):
                return False
            if any(not self.kin.are_apart(stored, each) for each in uses.reads - {stored}):
                return False
            if stored in added:
                continue
            places = [*places, *uses.loads.get(stored, ())]
            if not is_shared(places, index, inner):
                return False
        return True

    def _is_outer(self, part: Nest, index: str) -> bool:
        """Whether the outer loop is better the inner one."""
        if part.head is None:
            return False
        own = part.head.target.id
        if not self._is_independent(part.body, index):
            return False
        return _cost(part.body, own) > CLEARLY * _cost(part.body, index)

    # ---- the new loops ---------------------------------------------------------------------------

    def _nest(self, part: Nest, loop: gast.For, turned: bool) -> gast.stmt:
        outer = _like(loop, _upwards(loop))
        if part.head is None:
            outer.body = part.body
            return outer
        inner = _like(part.head, part.head.iter)
        if turned:
            outer, inner = inner, outer
        outer.body = []
        for body in _in_pieces(part.body, inner.target.id) if turned else [part.body]:
            piece = _like(inner, inner.iter)
            piece.body = body
            outer.body += self._with_numbers(piece)
        return outer

    def _with_numbers(self, loop: gast.For) -> list[gast.stmt]:
        """An innermost loop in which elements that it adds to in each pass are numbers."""
        uses, index = uses_of(loop.body), loop.target.id
        start: list[gast.stmt] = []
        end: list[gast.stmt] = []
        for k, each in enumerate(loop.body):
            target = getattr(each, "target", None)
            own = getattr(getattr(target, "value", None), "id", "")
            if not isinstance(each, gast.AugAssign) or own not in self.of_floats:
                continue
            if index in names_in(target.slice) or not isinstance(each.op, gast.Add | gast.Sub):
                continue
            if len(uses.stores[own]) > 1 or len(uses.loads.get(own, ())) > 1:
                continue
            if any(not self.kin.are_apart(own, e) for e in {*uses.loads, *uses.stores} - {own}):
                continue
            total = unused("total", self.taken)
            term = (
                each.value
                if isinstance(each.op, gast.Add)
                else gast.UnaryOp(gast.USub(), each.value)
            )
            loop.body[k] = _at(assign(total, call("plus", name(total), term)), each)
            start.append(_at(assign(total, number(0.0)), each))
            end.append(_at(gast.AugAssign(target, gast.Add(), name(total)), each))
        return [*start, loop, *end]


@dataclass
class Sum:
    """A sum of a pass: the terms, and the elements that it is added to."""

    own: str
    names: set[str] = field(default_factory=set)
    part: Nest | None = None
    at: int = 0
    term: Expression | None = None
    added: gast.AugAssign | None = None

    def take(self, part: Nest, k: int, each: gast.stmt) -> bool:
        """Note the statement that adds the terms; whether it does no more than that."""
        if self.term is not None or not isinstance(each, gast.Assign):
            return False
        (target,) = each.targets
        value = each.value
        is_sum = isinstance(value, gast.Call) and getattr(value.func, "id", "") == "plus"
        if not isinstance(target, gast.Name) or target.id != self.own or not is_sum:
            return False
        first, term = value.args
        if getattr(first, "id", "") != self.own or self.own in names_in(term):
            return False
        self.part, self.at, self.term = part, k, term
        return True

    def give(
        self, each: gast.AugAssign, before: list[Expression], behind: list[Expression]
    ) -> None:
        """Note the statement that adds the sum, with what it is multiplied by."""
        if self.added is not None or self.term is None:
            raise Refused
        self.added = each
        for factor in [*reversed(before)]:
            self.term = gast.BinOp(factor, gast.Mult(), self.term)
        for factor in behind:
            self.term = gast.BinOp(self.term, gast.Mult(), factor)

    def finish(self) -> None:
        """Add each term to the element that the sum is added to."""
        if self.part is None:  # by another name
            raise Refused
        if self.added is None:
            raise Refused
        made = gast.AugAssign(self.added.target, self.added.op, self.term)
        self.part.body[self.at] = _at(made, self.added)


def _as_statements(part: Nest) -> list[gast.stmt]:
    if part.head is None:
        return part.body
    made = _like(part.head, part.head.iter)
    made.body = part.body
    return [made]


def _factors(node: Expression) -> list[Expression]:
    """The factors of a product."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def _is_for(node: Any) -> bool:
    return isinstance(node, gast.For)


def _may_raise(node: Any) -> bool:
    return isinstance(node, gast.Call) and getattr(node.func, "id", "") in MAY_RAISE


#: the helpers that raise, as the text of each tells
MAY_RAISE = {each for each, text in SUPPORT.items() if re.search(r"^ +raise\b", text, re.MULTILINE)}


def _reads(body: Sequence[gast.stmt]) -> Counter[str]:
    """How often each name is read."""
    nodes = (node for statement in body for node in gast.walk(statement))
    return Counter(
        node.id for node in nodes if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load)
    )


def _upwards(loop: gast.For) -> Expression | None:
    """The range of a loop from the least index to the largest."""
    bounds = loop.iter.args
    if len(bounds) < 3:
        return loop.iter
    if value_of(bounds[2]) != -1:
        return None
    one = number(1)
    return call("range", *_without_zero(plus(bounds[1], one), plus(bounds[0], one)))


def _without_zero(start: Expression, stop: Expression) -> list[Expression]:
    return [stop] if value_of(start) == 0 else [start, stop]


def _like(loop: gast.For, iter_: Expression) -> gast.For:
    made = gast.For(loop.target, iter_, loop.body, [], None)
    if getattr(loop, "is_nest", False):
        made.is_nest = True
    return _at(made, loop)


def _at(node: gast.stmt, like: gast.stmt) -> gast.stmt:
    return with_origin(node, getattr(like, "origin", None), getattr(like, "phase", ""))


def _substituted(node: Any, meant: dict[str, Expression]) -> Any:
    if not names_in(node) & meant.keys():
        return node
    if isinstance(node, gast.Name):
        return meant[node.id]
    made = copy.copy(node)
    for each in node._fields:
        value = getattr(node, each, None)
        if isinstance(value, list):
            setattr(made, each, [_substituted(e, meant) for e in value])
        elif isinstance(value, gast.AST):
            setattr(made, each, _substituted(value, meant))
    return made


def _loads(node: Expression) -> list[gast.Subscript]:
    return [
        each for each in gast.walk(node)
        if isinstance(each, gast.Subscript) and not isinstance(each.value, gast.Attribute)
    ]  # fmt: skip


def _forms(
    node: gast.Subscript, meanings: Mapping[str, Expression] | None = None
) -> tuple[affine.Form, ...] | None:
    items = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    if any(isinstance(each, gast.Slice) for each in items):
        return None
    return tuple(affine.form_of(each, meanings) for each in items)


def _names(forms: Sequence[affine.Form]) -> Iterable[str]:
    return (atom for each in forms for atom, _ in each)


def _only_added_to(body: list[gast.stmt]) -> set[str]:
    """The arrays whose elements are only added to."""
    added: set[str] = set()
    otherwise: set[str] = set()
    for node in (each for statement in body for each in gast.walk(statement)):
        is_sum = isinstance(node, gast.AugAssign) and isinstance(node.op, gast.Add | gast.Sub)
        if is_sum and isinstance(node.target, gast.Subscript):
            added.add(getattr(node.target.value, "id", ""))
            read: list[Any] = [node.value, node.target.slice]
        elif isinstance(node, gast.Assign | gast.AugAssign):
            read = [node]
        else:
            continue
        otherwise |= {
            getattr(e.value, "id", "") for part in read for e in gast.walk(part)
            if isinstance(e, gast.Subscript)
        }  # fmt: skip
    return added - otherwise


def _in_pieces(body: Sequence[gast.stmt], index: str) -> list[list[gast.stmt]]:
    """The statements of an independent loop as those of several, which LLVM can make vectors of.

    Before such a loop LLVM looks whether any stored row overlaps any other, and does not begin to
    where there are many pairs.
    """
    made: list[list[gast.stmt]] = [[]]
    for each in body:
        if made[-1] and _pairs([*made[-1], each], index) > MOST_PAIRS:
            made.append([])
        made[-1].append(each)
    return made


def _pairs(body: Sequence[gast.stmt], index: str) -> int:
    """How many pairs of rows a loop goes along of which it stores at least one."""
    stored, read = set(), set()
    for node in (each for statement in body for each in gast.walk(statement)):
        if isinstance(node, gast.Subscript) and index in names_in(node.slice):
            row = gast.dump(node.value), _forms(node)
            (stored if isinstance(node.ctx, gast.Store) else read).add(row)
    return len(stored) * (len(stored) - 1) // 2 + len(stored) * len(read - stored)


def _cost(body: Sequence[gast.stmt], index: str) -> int:
    """What the elements cost that a loop over an index goes through."""
    found = 0
    for node in (each for statement in body for each in gast.walk(statement)):
        if not isinstance(node, gast.Subscript) or isinstance(node.value, gast.Attribute):
            continue
        forms = _forms(node)
        if forms is None:
            raise Refused
        *outer, last = (affine.factor_of(each, index) for each in forms)
        found += GAP if any(each != 0 for each in outer) else last != 0
    return found
