"""Arrays whose columns the innermost loops go along are kept by columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import gast

from s2s_ad.native import affine
from s2s_ad.native.spelling import Expression, call

#: how often a loop is taken to run, and what an element with a gap before it costs
PASSES, GAP = 8, 4
#: by how much columns have to be cheaper
CLEARLY = 1.25


def by_columns(body: list[gast.stmt], parameters: Iterable[str]) -> list[gast.stmt]:
    """The statements of a function, with the arrays kept by columns for which that is cheaper."""
    uses = Uses()
    for each in parameters:
        uses.fix(each)
    uses.look(body, ())
    for names in uses.groups():
        if uses.are_by_columns(names):
            for made, target in [each for own in names for each in uses.made[own]]:
                made.value = _turned(made.value, target)
            for each in [each for own in names for each in uses.returned.get(own, ())]:
                each.replace(call("np.ascontiguousarray", each.node()))
    return body


@dataclass
class Returned:
    """Where an array is returned: the node that holds it, and the index there."""

    holder: Any
    index: int | None

    def node(self) -> Expression:
        return self.holder.value if self.index is None else self.holder.elts[self.index]

    def replace(self, node: Expression) -> None:
        if self.index is None:
            self.holder.value = node
        else:
            self.holder.elts[self.index] = node


@dataclass
class Uses:
    """How the arrays of a function are used.

    Attributes:
        made: the statements that make an array, by name, with the kind of each.
        returned: where it is returned.
        rows, columns: what its elements cost, by name, where it is kept by rows or by columns.
        fixed: names whose memory has to be as it is.
        alias: names that are one array with another one.
    """

    made: dict[str, list[tuple[gast.Assign, str]]] = field(default_factory=dict)
    returned: dict[str, list[Returned]] = field(default_factory=dict)
    rows: dict[str, float] = field(default_factory=dict)
    columns: dict[str, float] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    alias: dict[str, set[str]] = field(default_factory=dict)

    def fix(self, own: str) -> None:
        self.fixed.add(own)

    def groups(self) -> Iterator[list[str]]:
        """The arrays that may be kept by columns, each with all names that it has."""
        left = dict.fromkeys(self.made)
        while left:
            group, waiting = dict.fromkeys([next(iter(left))]), [next(iter(left))]
            while waiting:
                for each in sorted(self.alias.get(waiting.pop(), ())):
                    if each not in group:
                        group[each] = None
                        waiting.append(each)
            for each in group:
                left.pop(each, None)
            if not self.fixed & group.keys() and group.keys() <= self.made.keys():
                yield [*group]

    def are_by_columns(self, names: Sequence[str]) -> bool:
        rows, columns = (sum(of.get(e, 0.0) for e in names) for of in (self.rows, self.columns))
        turned = PASSES**2 * (1 + GAP)
        columns += turned * sum(len(self.returned.get(each, ())) for each in names)
        columns += turned * sum(kind == "copy" for each in names for _, kind in self.made[each])
        return rows > CLEARLY * columns

    def look(self, node: Any, loops: tuple[str, ...]) -> None:
        """Note what a tree does with arrays.

        Args:
            loops: the indices of the loops around it.
        """
        if isinstance(node, list):
            for each in node:
                self.look(each, loops)
        elif isinstance(node, gast.For):
            self.look(node.iter, loops)
            self.look(node.body, (*loops, node.target.id))
        elif isinstance(node, gast.While):
            self.look([node.test, node.body], (*loops, "*"))
        elif isinstance(node, gast.Name):
            self.fix(node.id)
        elif isinstance(node, gast.AST) and not _asks_for_lengths(node):
            self._other(node, loops)

    def _other(self, node: gast.AST, loops: tuple[str, ...]) -> None:
        if isinstance(node, gast.Assign):
            self._assigned(node, loops)
        elif isinstance(node, gast.Return):
            self._returned(node, loops)
        elif isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name):
            self._element(node, loops)
        else:
            for each in node._fields:
                self.look(getattr(node, each, None), loops)

    def _element(self, node: gast.Subscript, loops: tuple[str, ...]) -> None:
        own, index = node.value.id, node.slice
        self.look(index, loops)
        if not isinstance(index, gast.Tuple) or len(index.elts) != 2 or _is_part(index):
            self.fix(own)
            return
        if not loops:
            return
        first, last = (
            affine.factor_of(affine.form_of(each), loops[-1]) != 0 for each in index.elts
        )
        passes = PASSES ** len(loops)
        self.rows[own] = self.rows.get(own, 0.0) + passes * (GAP if first else 1)
        self.columns[own] = self.columns.get(own, 0.0) + passes * (GAP if last else 1)

    def _assigned(self, node: gast.Assign, loops: tuple[str, ...]) -> None:
        (target,) = node.targets
        if not isinstance(target, gast.Name):
            self.look([*_parts(target)], loops)
            self.look([*_parts(node.value)], loops)
            return
        kind = _kind(node.value)
        if isinstance(node.value, gast.Name):
            self.alias.setdefault(target.id, set()).add(node.value.id)
            self.alias.setdefault(node.value.id, set()).add(target.id)
            self.made.setdefault(target.id, [])
            return
        if kind:
            self.made.setdefault(target.id, []).append((node, kind))
            if kind == "copy":
                self._copied(node.value, loops)
            else:
                self.look(node.value, loops)
            return
        self.fix(target.id)
        self.look(node.value, loops)

    def _copied(self, value: gast.Call, loops: tuple[str, ...]) -> None:
        source = value.func.value if not value.args else value.args[0]
        if not isinstance(source, gast.Name):
            self.look(source, loops)

    def _returned(self, node: gast.Return, loops: tuple[str, ...]) -> None:
        many = node.value.elts if isinstance(node.value, gast.Tuple) else [node.value]
        for k, each in enumerate(many):
            if isinstance(each, gast.Name):
                place = (
                    Returned(node.value, k) if many[0] is not node.value else Returned(node, None)
                )
                self.returned.setdefault(each.id, []).append(place)
            else:
                self.look(each, loops)


def _asks_for_lengths(node: gast.AST) -> bool:
    is_shape = isinstance(node, gast.Attribute) and node.attr == "shape"
    return is_shape or (isinstance(node, gast.Call) and getattr(node.func, "id", "") == "len")


def _parts(node: gast.AST) -> list[gast.AST]:
    return node.elts if isinstance(node, gast.Tuple) else [node]


def _is_part(index: gast.Tuple) -> bool:
    return any(
        isinstance(each, gast.Slice) or (isinstance(each, gast.Constant) and each.value is None)
        for each in index.elts
    )


def _kind(value: Expression) -> str:
    """How an array of two axes is made: anew, or as a copy."""
    if not isinstance(value, gast.Call) or not isinstance(value.func, gast.Attribute):
        return ""
    if value.func.attr in ("empty", "zeros"):
        shape = value.args[0]
        return "new" if isinstance(shape, gast.Tuple) and len(shape.elts) == 2 else ""
    if value.func.attr == "copy" and isinstance(value.func.value, gast.Name):
        return "copy"
    return "copy" if value.func.attr == "ascontiguousarray" else ""


def _turned(value: gast.Call, kind: str) -> Expression:
    """The call that makes the array, kept by columns."""
    if kind == "new":
        shape = gast.Tuple([*reversed(value.args[0].elts)], gast.Load())
        value = gast.Call(value.func, [shape, *value.args[1:]], value.keywords)
    else:
        source = value.func.value if not value.args else value.args[0]
        source = gast.Attribute(source, "T", gast.Load())
        value = gast.Call(gast.Attribute(source, "copy", gast.Load()), [], [])
    return gast.Attribute(value, "T", gast.Load())
