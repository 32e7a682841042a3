"""Values that a loop carries twice: the same before it and after each pass, whatever its paths."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.core.builder import to_node
from s2s_ad.core.callee import item_of
from s2s_ad.core.regions import Branch
from s2s_ad.core.values import AbstractValue
from s2s_ad.frontend.lower.references import settled

#: a leaf, its value before the loop and at the end of a pass, what is known of it
Carried = tuple[str, Any, Any, AbstractValue]


def twins(body: Sequence[form.Statement], columns: Sequence[Carried]) -> dict[str, str]:
    """The leaves that are another one by another name, and which; that comes first in `columns`.

    All pairs with the same value before the loop are taken for one until their ends tell them
    apart. Where one has no value the other one may have any.
    """
    ends = {leaf: to_node(settled(end)) for leaf, _, end, _ in columns}
    kinds = {leaf: _kind(to_node(settled(x)), fact) for leaf, x, _, fact in columns}
    pairs = {(a, b) for a in ends for b in ends if a != b and kinds[a] == kinds[b]}
    while pairs:
        reader = _Reader(body, pairs)
        left = {(a, b) for a, b in pairs if reader.is_other(ends[a], ends[b])}
        if left == pairs:
            break
        pairs = left
    found: dict[str, str] = {}
    order = [leaf for leaf, *_ in columns]
    for a in reversed(order):
        others = [b for b in order if (a, b) in pairs and b not in found]
        if others:
            found[a] = others[0]
    return {a: _last(found, a) for a in found}


def _last(found: dict[str, str], leaf: str) -> str:
    """The one that stays: one that stands for another may be another one by another name, too."""
    while leaf in found:
        leaf = found[leaf]
    return leaf


def _kind(before: gast.AST, fact: AbstractValue) -> Hashable:
    """What two values have in common that may be one."""
    absent = getattr(fact, "absent", False)
    return _key(before), replace(fact, absent=False) if absent else fact


def _key(atom: gast.AST) -> Hashable:
    if isinstance(atom, gast.Name):
        return atom.id
    return (type(atom.value), repr(atom.value)) if isinstance(atom, gast.Constant) else id(atom)


class _Reader:
    """Compares values that a pass computes, where the leaves in `pairs` are the same."""

    def __init__(self, body: Sequence[form.Statement], pairs: set[tuple[str, str]]):
        self.pairs = pairs
        self.stands_for: dict[Hashable, Hashable] = {}  # leaves of blocks of branches
        self.chosen: dict[Hashable, list[gast.AST]] = {}  # what the sides of a branch give
        self.of: dict[Hashable, str] = {}  # and which branch
        self._enter(body)

    def _enter(self, body: Sequence[form.Statement]) -> None:
        branches: dict[str, Branch] = {}
        for statement in body:
            item = item_of(statement)
            if isinstance(statement.rule, Branch):
                branches[statement.target] = statement.rule
                for block in statement.rule.blocks:
                    pairs = zip(block.leaves(), statement.operands[1:], strict=True)
                    self.stands_for |= {leaf: self._key(atom) for leaf, atom in pairs}
                    self._enter(block.body)
            elif item is not None and item[0] in branches:
                blocks = branches[item[0]].blocks
                self.chosen[statement.target] = [each.outputs()[item[1]] for each in blocks]
                self.of[statement.target] = item[0]

    def _key(self, atom: gast.AST) -> Hashable:
        key = _key(atom)
        return self.stands_for.get(key, key)

    def is_other(self, one: gast.AST, other: gast.AST) -> bool:
        """Whether one value is certain to be the other, where it is there."""
        a, b = self._key(one), self._key(other)
        if form.is_undefined(one) or a == b or (a, b) in self.pairs:
            return True
        if a in self.chosen and self.of[a] == self.of.get(b):
            sides = zip(self.chosen[a], self.chosen[b], strict=True)
            return all(self.is_other(x, y) for x, y in sides)
        if a in self.chosen:
            return all(self.is_other(x, other) for x in self.chosen[a])
        return b in self.chosen and all(self.is_other(one, y) for y in self.chosen[b])
