"""Which lists are stacks: their items are kept side by side in one array, with a count.

What a loop keeps for the backward pass is such a list: it is appended to in one loop and popped
from in another one. Its items are numbers, or arrays of which the lengths are known before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.emit.lines import Line, flat
from s2s_ad.native.entries import dtype_of, is_number


def stacks_of(
    lines: Sequence[Line],
    escaped: Iterable[str],
    facts: Mapping[str, Any],
    is_known: Callable[[Any], bool],
) -> dict[str, frozenset[str]]:
    """The lists that are appended to, popped from and counted, and nothing else: all names of each.

    Args:
        escaped: names that others know, too.
        is_known: whether a length is known from the start of the function on.
    """
    kin = kin_of(lines)
    lines_but_counts = [each for each in flat(lines) if not _is_count(each)]
    escaped = {*escaped, *(each for line in lines_but_counts for each in used_otherwise(line))}
    lists = {each for each, fact in facts.items() if isinstance(fact, values.List)}
    kept = lists - closed(escaped, kin)
    found: dict[str, frozenset[str]] = {}
    for group in groups_of(kept, kin):
        items = [facts[each].item for each in group if each in lists]
        items = [each for each in items if not isinstance(each, values.Static)]  # of empty lists
        is_stack = is_pushed_before(lines, group, group) or all(map(is_number, items))
        if are_items(items, is_known) and is_stack:
            found |= dict.fromkeys(group & lists, frozenset(group))
    return found


def with_empty_lists(lines: Sequence[Line]) -> list[Line]:
    """The lines in which a copy of a list that is still empty is an empty list of its own.

    Equal operations are one, so two empty lists are one until something is appended to either.
    """
    found: list[Line] = []
    empty: set[str] = set()
    for each in lines:
        blocks = tuple(map(with_empty_lists, each.blocks))
        made = replace(each, blocks=blocks) if blocks else each
        if each.kind == "assign" and _is_copy(each) and not empty.isdisjoint(each.reads()):
            made = replace(each, expression=form.operation(runtime.list_of, [], {}))
        if made.kind == "assign" and _is_empty_list(made):
            empty.add(made.name)
        elif empty:
            empty.difference_update(name for line in flat([made]) for name in line.reads())
        found.append(made)
    return found


def _is_copy(line: Line) -> bool:
    """Whether it copies a list, or takes a slice of it: of an empty list that is empty, too."""
    keywords = line.expression.keywords
    return line.statement.rule.copy or any(isinstance(e.value, gast.Slice) for e in keywords)


def _is_empty_list(line: Line) -> bool:
    return line.expression.func.value is runtime.list_of and not line.expression.args


def kin_of(lines: Sequence[Line]) -> dict[str, set[str]]:
    """What each name is handed on as, or was before."""
    kin: dict[str, set[str]] = {}
    for line in flat(lines):
        for core, atom in line.moves:
            for each in form.reads(atom):
                kin.setdefault(core, set()).add(each)
                kin.setdefault(each, set()).add(core)
    return kin


def are_items(items: Sequence[Any], is_known: Callable[[Any], bool]) -> bool:
    """Whether one array can hold the items of a list side by side."""
    of_one_dtype = len({dtype_of(each) for each in items}) == 1
    return of_one_dtype and (all(map(is_number, items)) or _are_rows(items, is_known))


def _are_rows(items: Sequence[Any], is_known: Callable[[Any], bool]) -> bool:
    """Whether all items are arrays of one dtype, and of lengths that are known from the start."""
    if dtype_of(items[0]) is None or not values.rank_of(items[0]):
        return False
    kinds = {(dtype_of(each), values.shape_of(each)) for each in items}
    return len(kinds) == 1 and all(map(is_known, values.shape_of(items[0])))


def is_pushed_before(lines: Sequence[Line], group: set[str], made: set[str]) -> bool:
    """Whether nothing is pushed once something was popped, as far as the array is the same one.

    What was popped is a view of the array, where the next item that is pushed would stand.

    Args:
        group: the names of the list.
        made: those that an array is made for, each time that they are assigned.
    """
    kinds = [*_of_group(lines, group, made)]
    popped = "pop" in kinds
    if popped and "append" in kinds[kinds.index("pop") :]:
        return False
    loops = [each for each in flat(lines) if each.kind in ("for", "while")]
    for each in loops:
        inside = [kind for block in each.blocks for kind in _of_group(block, group, made)]
        if {"append", "pop"} <= {*inside} and "new" not in inside:
            return False
    return True


def _of_group(lines: Sequence[Line], group: set[str], made: set[str]) -> Iterator[str]:
    """What happens to the lists of a group, in the order of the text."""
    for each in flat(lines):
        if each.kind == "store" and each.store.base in group:
            yield each.store.kind
        elif each.kind == "assign" and each.name in made:
            yield "new"


def pushes(lines: Sequence[Line], group: frozenset[str]) -> int:
    """How often something is pushed at most while statements run once; many: in a loop."""
    many = 2
    found = 0
    for each in lines:
        if each.kind == "store":
            found += each.store.kind == "append" and each.store.base in group
        elif each.kind == "if":
            found += max(pushes(block, group) for block in each.blocks)
        elif each.kind in ("for", "while", "try"):
            found += many * sum(pushes(block, group) for block in each.blocks)
    return found


def groups_of(names: set[str], kin: Mapping[str, set[str]]) -> Iterator[set[str]]:
    """The names by what they are handed on as."""
    left = set(names)
    while left:
        group = closed({min(left)}, kin)
        yield group
        left -= group


def _is_count(line: Line) -> bool:
    """Whether it asks how long something is."""
    return line.kind == "assign" and line.expression.func.value in (np.size, len)


def used_otherwise(line: Line) -> set[str]:
    """The names that a line uses for more than to append to a list or to pop from it."""
    if line.kind == "assign" and line.expression.func.value is runtime.list_of:
        return {line.name} if line.expression.args else set()
    if line.kind in ("assign", "unpack", "effect"):
        return {*line.reads(), *filter(None, (line.name, *line.names))}
    if line.kind != "store":
        return set()
    if line.store.kind == "append":
        return set(form.reads(line.expression))
    # a list that is popped is an item of another one
    return {line.name} if line.store.kind == "pop" else {line.store.base}


def closed(names: set[str], kin: Mapping[str, set[str]]) -> set[str]:
    """The names and all that they are handed on as."""
    found, waiting = set(names), list(names)
    while waiting:
        more = kin.get(waiting.pop(), set()) - found
        found |= more
        waiting += more
    return found
