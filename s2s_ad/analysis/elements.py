"""Elements of an array that a loop fills: what a pass reads or writes, and no later one changes.

Such a value is still there after the loop, in the array itself. This is known where all indices
along the first axis are the loop's own, moved by a number: `h[t + 1] = f(h[t])`.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import gast

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.regions import Loop

UPDATES = (runtime.index_set, runtime.index_add)


@dataclass(frozen=True, slots=True)
class Element:
    """A value of a pass that stands in a carried array when the loop has ended.

    Attributes:
        place: which of the carried values the array is.
        index: where in the array.
        statement: what computes the value in the pass.
    """

    place: int
    index: gast.AST
    statement: gast.Assign


@dataclass(frozen=True, slots=True)
class _Store:
    """An update of the array: its position in the body, and by how much its index is moved."""

    position: int
    moved: int


def lasting(
    loop: Loop,
    bounds: Sequence[object],
    body: Sequence[form.Statement],
    outputs: Sequence[str | None],
    facts: Mapping[str, values.AbstractValue],
) -> dict[str, Element]:
    """The values of a pass that the arrays hold which the loop carries, when it has ended.

    Args:
        bounds: start, stop and step, as far as they are known.
        body: of the loop.
        outputs: the names of what it carries on.
    """
    if not loop.is_for or type(bounds[0]) is not int or type(bounds[2]) is not int:
        return {}
    if bounds[2] < 1:
        return {}
    names = loop.leaves(loop.body)
    found: dict[str, Element] = {}
    for place, (leaf, out) in enumerate(zip(names.carried, outputs, strict=True)):
        if isinstance(facts[leaf], values.Array) and values.shape_of(facts[leaf]):
            filled = _Filled(loop, bounds, body, facts, place, leaf)
            if filled.last == out and filled.stores:
                found |= filled.elements()
    return found


class _Filled:
    """One carried array, as a pass goes over it."""

    def __init__(
        self,
        loop: Loop,
        bounds: Sequence[int],
        body: Sequence[form.Statement],
        facts: Mapping[str, values.AbstractValue],
        place: int,
        leaf: str,
    ):
        self.loop, self.first, self.step = loop, bounds[0], bounds[2]
        self.body, self.facts, self.place = body, facts, place
        self.computed = {form.target(each): each for each in body if not form.is_effect(each)}
        self.index = loop.leaves(loop.body).bounds[0]
        self.last = leaf
        self.versions = {leaf}
        self.stores: list[_Store] = []
        for position, each in enumerate(body):
            if self._is(each, UPDATES) and _operand(each) == self.last:
                self.last = form.target(each)
                self.versions.add(self.last)
                moved = self._moved(each)
                if moved is None:
                    self.last = ""  # an index of another kind
                    return
                self.stores.append(_Store(position, moved))

    def elements(self) -> dict[str, Element]:
        found = {}
        for position, each in enumerate(self.body):
            if form.is_effect(each) or _operand(each) not in self.versions:
                continue
            if self._is(each, (operator.getitem,)):
                name = form.target(each)
            elif self._is(each, (runtime.index_set,)) and self._is_whole(each):
                name = each.value.args[1].id
            else:
                continue
            moved = self._moved(each)
            if moved is not None and self._stays(position, moved):
                found.setdefault(name, Element(self.place, _index(each), each))
        return found

    def _is(self, statement: form.Statement, functions: tuple) -> bool:
        return not form.is_effect(statement) and form.function_of(statement) in functions

    def _moved(self, statement: gast.Assign) -> int | None:
        """By how much the first index is the loop's own and more; None where that is not known."""
        index = _index(statement)
        moved = self._more(index.elts[0] if isinstance(index, gast.Tuple) else index)
        return None if moved is None or self.first + moved < 0 else moved

    def _more(self, atom: gast.AST) -> int | None:
        if not isinstance(atom, gast.Name):
            return None
        if atom.id == self.index:
            return 0
        statement = self.computed.get(atom.id)
        if statement is None or form.function_of(statement) not in (operator.add, operator.sub):
            return None
        a, b = statement.value.args
        if form.function_of(statement) is operator.add and isinstance(a, gast.Constant):
            a, b = b, a
        if not isinstance(b, gast.Constant) or type(b.value) is not int:
            return None
        before = self._more(a)
        sign = 1 if form.function_of(statement) is operator.add else -1
        return None if before is None else before + sign * b.value

    def _stays(self, position: int, moved: int) -> bool:
        """Whether neither the rest of the pass nor a later one writes there."""
        for store in self.stores:
            if store.position > position and store.moved == moved:
                return False
            ahead = store.moved - moved if not self.loop.backwards else moved - store.moved
            if ahead <= -self.step:
                return False
        return True

    def _is_whole(self, statement: gast.Assign) -> bool:
        """Whether what is stored is just what is read there."""
        array, value = (self.facts.get(getattr(x, "id", None)) for x in statement.value.args)
        if not isinstance(value, values.Array) or not isinstance(array, values.Array):
            return False
        index = _index(statement)
        count = len(index.elts) if isinstance(index, gast.Tuple) else 1
        atoms = index.elts if isinstance(index, gast.Tuple) else [index]
        single = all(isinstance(each, gast.Name | gast.Constant) for each in atoms)
        numbers = single and all(self._is_number(each) for each in atoms)
        alike = value.dtype is not None and values.is_dtype(array.dtype, value.dtype)
        return numbers and alike and values.same_shape(value.shape, array.shape[count:])

    def _is_number(self, atom: gast.AST) -> bool:
        if isinstance(atom, gast.Constant):
            return type(atom.value) is int
        return self.facts[atom.id] == values.Scalar(int)


def _operand(statement: form.Statement) -> str | None:
    if form.is_effect(statement) or not statement.value.args:
        return None
    return getattr(statement.value.args[0], "id", None)


def _index(statement: gast.Assign) -> gast.AST:
    return statement.value.keywords[0].value
