"""Lists of which known objects are there on some paths only: `if a.balance > 1: rich.append(a)`.

Where objects are told apart, such a list has a place for each of them, as a dict for its entries;
an item is one of those that are there (see `joins`, `entries`).
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from s2s_ad import runtime
from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.frontend.lower import growing
from s2s_ad.frontend.lower.conditions import choose
from s2s_ad.frontend.lower.core import HANDLERS, Lowering
from s2s_ad.frontend.lower.entries import (
    GATHERED,
    entries_there,
    held,
    may_lack,
    may_lack_items,
)
from s2s_ad.frontend.lower.optional import MISSING, Lacking, optional, partial_of
from s2s_ad.frontend.lower.picking import of_flags
from s2s_ad.frontend.lower.references import Box


def places(lowering: Lowering, value: Box) -> Iterator[tuple[Any, Any, Any]]:
    """(how many items stand before it, whether it is missing, the item) of each place."""
    count: Any = 0
    for key in value.content.keys:
        found = held(lowering, value, key)
        if found is MISSING:
            continue
        missing, item = found.items if may_lack(found) else (False, found)
        yield count, missing, item
        here = 1 if missing is False else lowering.call(operator.sub, 1, missing)
        count = lowering.call(operator.add, count, here)


def item_of(lowering: Lowering, value: Box, index: Any, *, inside: bool = False) -> Any:
    """`items[index]`, of those that are there; `inside` where there are so many for certain."""
    if not inside:
        index = _counted(lowering, value, index, "list index out of range")
    flags, items = [], []
    for count, missing, item in places(lowering, value):
        flags.append(_both(lowering, missing, lowering.call(operator.eq, count, index)))
        items.append(item)
    return of_flags(lowering, flags, items)


def _counted(lowering: Lowering, value: Box, index: Any, message: str) -> Any:
    """An index as one from the start; IndexError where there is no such item."""
    call, total = lowering.call, entries_there(lowering, value)
    beyond = call(operator.ge, index, total)
    before = call(operator.lt, index, call(operator.neg, total))
    lowering.raise_where(call(operator.or_, beyond, before), IndexError(message))
    if isinstance(index, Symbol):
        return call(operator.mod, index, total)
    return index if index >= 0 else call(operator.add, total, index)


def _both(lowering: Lowering, missing: Any, here: Any) -> Any:
    """Whether an item is there, and is the one that is asked for."""
    if missing is False:
        return here
    return lowering.call(operator.and_, lowering.call(operator.not_, missing), here)


def append(lowering: Lowering, value: Box, item: Any) -> None:
    lowering.memory.change(value, _content([*_items(value), item]))


def put_first(lowering: Lowering, value: Box, item: Any) -> None:
    lowering.memory.change(value, _content([item, *_items(value)]))


def extend(lowering: Lowering, value: Box, more: Tree) -> None:
    lowering.memory.change(value, _content([*_items(value), *_items(more)]))


def joined(lowering: Lowering, a: Tree, b: Tree) -> Box:
    """`a + b`, of which one at least may lack items."""
    return Box(lowering.memory, _content([*_items(a), *_items(b)]), list)


def pop(lowering: Lowering, value: Box, index: int) -> Any:
    """An item that the list holds no longer."""
    place = _counted(lowering, value, index, "pop index out of range")
    popped = item_of(lowering, value, place, inside=True)
    left = []
    for count, missing, item in places(lowering, value):
        taken = _both(lowering, missing, lowering.call(operator.eq, count, place))
        left.append(_unless(lowering, missing, taken, item))
    lowering.memory.change(value, _content(left))
    return popped


def part(lowering: Lowering, value: Box, start: int, stop: int | None) -> Box:
    """`items[start:stop]`, of numbers that are not negative."""
    left = []
    for count, missing, item in places(lowering, value):
        outside = lowering.call(operator.lt, count, start)
        if stop is not None:
            beyond = lowering.call(operator.ge, count, stop)
            outside = lowering.call(operator.or_, outside, beyond)
        left.append(_unless(lowering, missing, outside, item))
    return Box(lowering.memory, _content(left), list)


def in_order(lowering: Lowering, value: Box, items: list) -> Box:
    """The list of what is there, where `items` begin with that."""
    total = entries_there(lowering, value)
    beyond = (lowering.call(operator.ge, index, total) for index in range(len(items)))
    left = [optional(each, item, Lacking) for each, item in zip(beyond, items, strict=True)]
    return Box(lowering.memory, _content(left), list)


def _unless(lowering: Lowering, missing: Any, taken: Any, item: Any) -> Any:
    """An item that is missing now where it was before, or is taken away."""
    if isinstance(taken, bool):
        return MISSING if taken else optional(missing, item, Lacking)
    gone = taken if missing is False else lowering.call(operator.or_, missing, taken)
    return optional(gone, item, Lacking)


def copy(lowering: Lowering, value: Box) -> Box:
    """A list of the same items."""
    return Box(lowering.memory, value.content, list)


def gathered(lowering: Lowering, value: Box) -> Box:
    """The list of what is there as one value of Core, for which it has numbers or arrays."""
    content = lowering.builder.call(runtime.list_of, (), {})
    for _, missing, item in places(lowering, value):
        content = choose(
            lowering,
            missing,
            lambda before=content: before,
            lambda before=content, item=item: _appended(lowering, before, item),
        )
    return Box(lowering.memory, content, list)


def _appended(lowering: Lowering, content: Symbol, item: Any) -> Symbol:
    return lowering.builder.call(
        runtime.list_append, (content, growing.as_value(lowering, item)), {}
    )


HANDLERS[GATHERED] = lambda lowering, args, kwargs: gathered(lowering, *args)


def _items(value: Tree) -> tuple:
    return value.content.items if may_lack_items(value) else value.items


def _content(items: list) -> Tree:
    found = tuple(each for each in items if each is not MISSING)
    return Tree(partial_of(list), tuple(range(len(found))), found)
