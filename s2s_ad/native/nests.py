"""Which lists of lists are one stack: the items of all inner lists stand behind each other.

What nested loops keep for the backward pass is a list with a list for each pass of the outer loop.
It is filled and emptied from the end, so that one array holds all items; beside it stands where
each inner list ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from s2s_ad.core import form, values
from s2s_ad.emit.lines import Line, flat
from s2s_ad.native.nodes import ListNode
from s2s_ad.native.stacks import (
    are_items,
    closed,
    groups_of,
    is_pushed_before,
    kin_of,
    used_otherwise,
)


@dataclass(eq=False)
class Nest:
    """The names of a list of lists, and those of its items.

    Attributes:
        item: what the inner lists hold.
        stacks: the items, and how many of them there were when each inner list was put there.
    """

    outer: frozenset[str]
    inner: frozenset[str]
    item: Any
    stacks: tuple[ListNode, ...] = ()


def nests_of(
    lines: Sequence[Line],
    escaped: Iterable[str],
    facts: Mapping[str, Any],
    is_known: Callable[[Any], bool],
) -> dict[str, Nest]:
    """The lists of lists that are one stack, by each name of them and of their items.

    Args:
        escaped: names that others know, too.
        is_known: whether a length is known from the start of the function on.
    """
    kin, found = kin_of(lines), {}
    lists = {each for each, fact in facts.items() if isinstance(fact, values.List)}
    for group in groups_of({each for each in lists if _holds_lists(facts[each])}, kin):
        inner = closed(_inner(lines, group), kin)
        used = {each for line in flat(lines) for each in _used_otherwise(line, group)}
        nest = _nest(group, inner, facts)
        if nest is None or not are_items([nest.item], is_known):
            continue
        if not {*escaped, *used} & (group | inner) and _is_one_stack(lines, nest):
            found |= dict.fromkeys(group | inner, nest)
    return found


def _holds_lists(fact: values.List) -> bool:
    return isinstance(fact.item, values.List)


def _used_otherwise(line: Line, outer: set[str]) -> set[str]:
    """The names that a line uses for more than inner lists are used for.

    Args:
        outer: the names of the list of lists.
    """
    if line.kind == "store" and line.store.base in outer and line.store.kind in ("append", "pop"):
        return set()
    return used_otherwise(line) | {core for core, atom in line.moves if not form.reads(atom)}


def _nest(outer: set[str], inner: set[str], facts: Mapping[str, Any]) -> Nest | None:
    """The nest, where all inner lists hold items of one kind."""
    lists = [facts.get(each) for each in inner]
    if not lists or not all(isinstance(each, values.List) for each in lists):
        return None
    items = {each.item for each in lists if not isinstance(each.item, values.Static)}
    return Nest(frozenset(outer), frozenset(inner), items.pop()) if len(items) == 1 else None


def _inner(lines: Sequence[Line], outer: set[str]) -> set[str]:
    """The lists that are put on a list of lists, or come from it."""
    stores = [e for e in flat(lines) if e.kind == "store" and e.store.base in outer]
    put = (read for e in stores if e.store.kind == "append" for read in form.reads(e.expression))
    return {*put, *(e.name for e in stores if e.store.kind == "pop" and e.name)}


def _is_one_stack(lines: Sequence[Line], nest: Nest) -> bool:
    """Whether the inner lists are there one after the other, and the last is the first to go."""
    every = [*flat(lines)]
    outer = [each for each in every if each.kind == "assign" and each.name in nest.outer]
    inner = [each for each in every if each.kind == "assign" and each.name in nest.inner]
    stores = [each for each in every if each.kind == "store" and each.store.base in nest.outer]
    puts = [each for each in stores if each.store.kind == "append"]
    takes = [each for each in stores if each.store.kind == "pop"]
    if not len(outer) == len(inner) == len(puts) == len(takes) == 1:
        return False
    made, taken = (_behind(lines, each) for each in (*inner, *takes))
    inside = {id(each) for each in flat([*made, *taken])}
    mentions = (e for e in every if not nest.inner.isdisjoint([*e.reads(), *e.assigns()]))
    if not any(each is puts[0] for each in made) or any(id(e) not in inside for e in mentions):
        return False
    groups = {*nest.inner}, {*nest.outer}
    return all(is_pushed_before(lines, each, groups[1]) for each in groups)


def _behind(lines: Sequence[Line], line: Line) -> Sequence[Line]:
    """The rest of the block that a line stands in, from it on."""
    for k, each in enumerate(lines):
        if each is line:
            return lines[k:]
        for block in each.blocks:
            found = _behind(block, line)
            if found:
                return found
    return ()
