"""One entry of a dict, or one attribute of an object, which may be there on some paths only."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from s2s_ad.core.tree import Tree
from s2s_ad.frontend.lower.optional import (
    MISSING,
    Partial,
    entry_in,
    is_optional,
    is_ordered,
    is_partial,
    is_uncertain,
    partial_of,
    whole,
)
from s2s_ad.frontend.lower.picked import is_told_apart, members
from s2s_ad.frontend.lower.references import Box

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


def held(lowering: Lowering, value: Tree, key: Any) -> Any:
    """The entry as far as it is known here: it may be Lacking, or MISSING."""
    return lowering.assumptions.settled(entry_in(_content(value), key))


def _content(value: Tree) -> Tree:
    partial = isinstance(value, Box) and is_partial(value.content)
    return value.content if partial else value


def may_lack(found: Any) -> bool:
    """Whether an entry, or the value of a local, is there on some paths only."""
    return is_uncertain(found) and not is_optional(found)


def has_entry(lowering: Lowering, value: Tree, key: Any) -> Any:
    """Whether the entry is there: known now, or a condition."""
    found = held(lowering, value, key)
    if may_lack(found):
        return lowering.call(operator.not_, found.items[0])
    return found is not MISSING


def read_entry(lowering: Lowering, value: Tree, key: Any, error: Exception) -> Any:
    """The entry; where it is missing the function raises the error, as Python does."""
    found = held(lowering, value, key)
    if found is MISSING:
        raise lowering.there_is_none(error)
    return there_for_sure(lowering, found, error)


def there_for_sure(lowering: Lowering, found: Any, error: Exception) -> Any:
    """What is held; where it is missing when the code runs the function raises the error."""
    if not may_lack(found):
        return found
    lowering.raise_where(found.items[0], error)
    return lowering.noted(found.items[1], found)


def put_entry(lowering: Lowering, box: Box, key: Any, item: Any) -> None:
    """Let a dict or an object have an entry."""
    content, found = _content(box), held(lowering, box, key)
    entries = dict(zip(content.keys, content.items, strict=True))
    if found is MISSING:
        entries.pop(key, None)  # it is the last one now
    ordered = is_ordered(content) and not (may_lack(found) and key != content.keys[-1])
    _change(lowering, box, entries | {key: item}, ordered)


def drop_entry(lowering: Lowering, box: Box, key: Any, error: Exception) -> Any:
    """The entry, which the dict or the object no longer has."""
    dropped = read_entry(lowering, box, key, error)
    content = _content(box)
    entries = dict(zip(content.keys, content.items, strict=True))
    del entries[key]
    _change(lowering, box, entries, is_ordered(content))
    return dropped


def _change(lowering: Lowering, box: Box, entries: dict, ordered: bool) -> None:
    kind = _content(box).kind
    if issubclass(kind, Partial):
        kind = partial_of(whole(kind), ordered)
    lowering.memory.change(box, Tree(kind, tuple(entries), tuple(entries.values())))


def may_lack_entries(value: Any) -> bool:
    """Whether it is a dict, and a branch or a loop decides which entries it has."""
    return isinstance(value, Box) and value.type is dict and is_partial(value.content)


def are_of_objects(contents: Sequence[Any]) -> bool:
    """Whether these are what lists hold whose items are all told apart."""
    if not all(isinstance(each, Tree) and whole(each.kind) is list for each in contents):
        return False
    items = [item for each in contents for item in each.items if item is not MISSING]
    known = (item.items[1] if may_lack(item) else item for item in items)
    return bool(items) and all(is_told_apart(one) for item in known for one in members(item))


#: the handler that makes one value of such a list
GATHERED = "what a list holds, of which a branch decides that"


def may_lack_items(value: Any) -> bool:
    """Whether it is a list of objects, and a branch decides which of them it holds: `slots`."""
    return isinstance(value, Box) and value.type is list and is_partial(value.content)


def entries_there(lowering: Lowering, value: Box) -> Any:
    """The number of the entries that a dict has, or of the items of a list."""
    count: Any = 0
    for key in value.content.keys:
        found = held(lowering, value, key)
        here = lowering.call(operator.sub, 1, found.items[0]) if may_lack(found) else 1
        count = lowering.call(operator.add, count, 0 if found is MISSING else here)
    return count
