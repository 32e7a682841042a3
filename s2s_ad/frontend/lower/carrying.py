"""What a loop carries, once its last round is known: the columns of its region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gast

from s2s_ad.core import form, values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.program import Hint
from s2s_ad.core.sizes import Atom
from s2s_ad.core.tree import Tree
from s2s_ad.core.values import UNDEFINED
from s2s_ad.frontend.lower.joins import joined_array
from s2s_ad.frontend.lower.kinds import Leaf, hint_of_name, inner_hint, is_leaf, list_of
from s2s_ad.frontend.lower.paths import Path, at_the_end
from s2s_ad.frontend.lower.picked import is_told_apart
from s2s_ad.frontend.lower.poisons import after_pass, is_unreadable
from s2s_ad.frontend.lower.references import Box, Reference
from s2s_ad.frontend.lower.templates import holds_content
from s2s_ad.frontend.lower.twins import twins

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


@dataclass(frozen=True, slots=True)
class Column:
    """A carried value: before the loop, its leaf in a pass, at the end of one, after the loop."""

    before: Any
    leaf: str
    end: Any
    after: Symbol
    hint: Hint


class Carrying:
    """The columns of a loop, and the values after it.

    Args:
        path: the last pass.
        leaves, entered: the name and the value that it started from, by place in the templates.
        clock, newest: when the loop began, and a size that is older than those of its passes.

    `fixed` are the leaves that no pass changes, and what they are.
    """

    def __init__(
        self,
        lowering: Lowering,
        path: Path,
        leaves: Mapping[tuple, str],
        entered: Mapping[tuple, Any],
        clock: int,
        newest: Atom,
    ):
        self.lowering, self.path, self.clock, self.newest = lowering, path, clock, newest
        self.leaves, self.entered = leaves, entered
        self.columns: list[Column] = []
        self.fixed: dict[str, Any] = {}
        self._arrays: list = []
        self._twins: list[tuple[Column, Column]] = []  # what is carried once for two, and for what
        self._first: dict[int, Any] = {}

    def column(self, place: tuple, leaf: Leaf, before: Any, end: Any) -> Any:
        """A carried value after the loop."""
        if isinstance(leaf.fact, values.List):
            return self._list(place, leaf, before, end)
        name, now = self.leaves[place], self.path.now(end)
        if is_unreadable(now):
            return after_pass(now)
        if self.path.stops or (isinstance(end, Symbol) and now.name == name):
            self.fixed[name] = before
            return before if self.path.stops else self._unchanged(place, before, end)
        after = joined_array(self.lowering, [before, end], self._arrays)
        self.columns.append(Column(before, name, now, after, leaf.hint))
        return after

    def _list(self, place: tuple, leaf: Leaf, before: Any, end: Any) -> Any:
        """A list whose length is not known, or what such a list holds."""
        name, path = self.leaves[place], self.path
        start = before.content if isinstance(before, Box) else before
        if isinstance(start, Tree):
            start = self.lowering.builder.named(list_of(self.lowering, start), leaf.hint)
        held = path.content(end, end.content) if isinstance(end, Box) else end
        now = self._as_list(held) if isinstance(held, Tree) else path.now(held)
        if is_unreadable(now):
            return after_pass(now)
        if path.stops or now.name == name:
            self.fixed[name] = after = start
            if path.stops or end is before or end is self.entered[place]:
                return start if holds_content(place) else before
        else:
            after = self.lowering.builder.symbol(leaf.fact, leaf.hint)
            self.columns.append(Column(start, name, now, after, leaf.hint))
        if holds_content(place):
            return after
        memory = self.lowering.memory  # it may be another list of the same items
        return memory.joined_box(after, [before, end], list, [before, held])

    def _as_list(self, held: Tree) -> Symbol:
        with at_the_end(self.lowering, self.path):
            return list_of(self.lowering, self.path.whole(held))

    def _unchanged(self, place: tuple, before: Any, end: Symbol) -> Any:
        """A value that no pass changes; it may be another array with the same elements."""
        if not isinstance(before, Reference) or end is self.entered[place] or before.number:
            return before
        after = joined_array(self.lowering, [before, end], self._arrays)
        after.name = before.name
        return after

    def first_assigned(self, end: Any, hint: Hint) -> Any:
        """A value after the loop that only the passes assign."""
        if id(end) not in self._first:
            self._first[id(end)] = self._first_assigned(end, hint)
        return self._first[id(end)]

    def _first_assigned(self, end: Any, hint: Hint) -> Any:
        builder, now = self.lowering.builder, self.path.now(end)
        if is_unreadable(now):
            return after_pass(now)
        if is_told_apart(end) and end.born <= self.clock:
            return end
        if is_leaf(end):
            fact = values.of_any_pass(builder.fact(end), self.newest)
            leaf = builder.symbol(values.as_absent(fact), hint)
            result = joined_array(self.lowering, [UNDEFINED, end], self._arrays)
            self.columns.append(Column(UNDEFINED, leaf.name, now, result, hint))
            return result
        if isinstance(end, Box):
            if end.born <= self.clock:
                return end
            content = self.first_assigned(end.content, hint)
            return self.lowering.memory.joined_box(content, [end], end.kind, [end.content])
        if not isinstance(end, Tree):
            return end
        pairs = zip(end.keys, end.items, strict=True)
        items = tuple(self.first_assigned(each, inner_hint(hint, key)) for key, each in pairs)
        return Tree(end.kind, end.keys, items)

    def missing(self) -> Any:
        """A flag that says after the loop whether it had no pass."""
        hint, builder = Hint("missing", "derived"), self.lowering.builder
        leaf, after = builder.symbol(values.Scalar(bool), hint), Symbol(builder, "")
        self.columns.append(Column(True, leaf.name, False, after, hint))
        return after

    def flag(self, name: str, end: Any) -> Any:
        """A flag of a pass as a value that is there after the loop."""
        if end is False:
            return False
        hint, builder = hint_of_name(name), self.lowering.builder
        fact = values.join(values.Scalar(bool), builder.fact(end))
        after = Symbol(builder, "")
        leaf = builder.symbol(fact, hint)
        self.columns.append(Column(False, leaf.name, end, after, hint))
        return after

    def join_twins(self) -> dict[str, gast.AST]:
        """Carry once what is the same before the loop and after each pass: a name is another's.

        Returns:
            What is read in a pass for the leaves that are no longer carried.
        """
        facts = self.lowering.builder.facts
        named_first = self.columns[::-1]
        named_first.sort(key=lambda each: each.hint.kind != "user")
        ends = [(each.leaf, each.before, each.end, facts[each.leaf]) for each in named_first]
        found = twins(self.path.body, ends)
        by_leaf = {each.leaf: each for each in self.columns}
        self._twins = [(by_leaf[each], by_leaf[other]) for each, other in found.items()]
        self.columns = [each for each in self.columns if each.leaf not in found]
        return {each: form.name(other) for each, other in found.items()}

    @property
    def shares(self) -> bool:
        """Whether an array after the loop may share memory with another, which a pass decides."""
        return any(after.kin and not after.number for after, _ in self._arrays)

    def bind(self, results: Sequence[Symbol]) -> None:
        """Give the values after the loop the names of the region's outputs."""
        for result, column in zip(results, self.columns, strict=True):
            self.lowering.builder.named(result, column.hint)
            column.after.name = result.name
        for twin, column in self._twins:
            twin.after.name = column.after.name
