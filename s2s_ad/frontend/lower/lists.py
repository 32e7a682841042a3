"""Lists, dicts and sets that change: their methods, and `a += b` of them.

A list whose length is known holds its items one by one; `growing` has the others.
"""

from __future__ import annotations

import operator
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import gast

from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import ITEMS_VIEW, KEYS_VIEW, Tree
from s2s_ad.diagnostics import SharedMemoryError, UnsupportedError
from s2s_ad.frontend.lower import growing, searches, slots
from s2s_ad.frontend.lower.calls import HANDLERS, apply, known_object
from s2s_ad.frontend.lower.conditions import asked_of_each, choose, for_each_text
from s2s_ad.frontend.lower.containers import (
    RETURN_IT,
    changeable,
    known_key,
    mapping,
    new_dict,
    new_set,
    of_key,
    sequence,
    set_of,
)
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.entries import (
    drop_entry,
    has_entry,
    may_lack_items,
    put_entry,
    read_entry,
)
from s2s_ad.frontend.lower.growing import is_growing
from s2s_ad.frontend.lower.lengths import items_needed
from s2s_ad.frontend.lower.picked import is_picked
from s2s_ad.frontend.lower.picking import entry_picked, picks
from s2s_ad.frontend.lower.references import Box
from s2s_ad.frontend.lower.refused import did_you_mean
from s2s_ad.frontend.lower.string_unions import is_word
from s2s_ad.frontend.resolve import unwrap


def method(function: Any) -> Callable:
    """Register the handler of a method: handler(lowering, value, *args, **kwargs)."""

    def register(handler: Callable) -> Callable:
        HANDLERS[function] = lambda lowering, args, kwargs: handler(lowering, *args, **kwargs)
        return handler

    return register


def set_items(lowering: Lowering, value: Any, items: list) -> None:
    """Let a list hold these items."""
    lowering.memory.change(changeable(value), sequence(list, items))


def may_grow(value: Any) -> None:
    """Refuse to add to a list that the function was given: its caller would not see it."""
    if getattr(value, "source", None) is not None:
        raise SharedMemoryError(
            "S2S207",
            f"items are added to a list that was passed to the function: {value.source[0]}",
            why="what is passed stays as it is, so the caller's list would not have them",
            help=RETURN_IT,
        )


def iterated(lowering: Lowering, items: Any) -> Tree:
    """The items of any iterable, as a list."""
    if isinstance(items, Tree) and items.kind is list:
        return items
    return HANDLERS[list](lowering, [items], {})


def known(lowering: Lowering, items: Any) -> list:
    """The items of any iterable whose number is known."""
    found = iterated(lowering, items)
    if is_growing(found):
        error = UnsupportedError("S2S205", "items whose number is not known", help="make a list")
        raise items_needed(found, error)
    return list(found.items)


# ---- lists ---------------------------------------------------------------------------------------


@method(list.append)
def append(lowering: Lowering, value: Any, item: Any) -> None:
    may_grow(value)
    if may_lack_items(value):
        slots.append(lowering, changeable(value), item)
    elif is_growing(value):
        growing.append(lowering, value, item)
    else:
        set_items(lowering, value, [*value.items, item])


@method(list.extend)
def extend(lowering: Lowering, value: Any, items: Any) -> None:
    may_grow(value)
    more = iterated(lowering, items)
    if may_lack_items(value) or may_lack_items(more):
        slots.extend(lowering, changeable(value), more)
    elif is_growing(value) or is_growing(more):
        growing.extend(lowering, changeable(value), more)
    else:
        set_items(lowering, value, [*value.items, *more.items])


@method(deque.popleft)
def pop_left(lowering: Lowering, value: Any) -> Any:
    return pop(lowering, value, 0)


@method(deque.appendleft)
def append_left(lowering: Lowering, value: Any, item: Any) -> None:
    insert(lowering, value, 0, item)


@method(deque.rotate)
def rotate(lowering: Lowering, value: Any, n: Any = 1) -> None:
    steps = known_object(n) % max(len(value.items), 1)
    if steps:
        set_items(lowering, value, [*value.items[-steps:], *value.items[:-steps]])


def make_deque(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """collections.deque without maxlen: a list with two ends."""
    return HANDLERS[list](lowering, args, kwargs)


HANDLERS[deque] = make_deque


@method(list.pop)
def pop(lowering: Lowering, value: Any, index: Any = -1) -> Any:
    if may_lack_items(value) and not isinstance(index, Symbol):
        return slots.pop(lowering, changeable(value), operator.index(unwrap(index)))
    if is_growing(value) or isinstance(index, Symbol):
        return growing.pop(lowering, changeable(value), index)
    items = list(value.items)
    with lowering.as_python():
        popped = items.pop(operator.index(unwrap(index)))
    set_items(lowering, value, items)
    return popped


@method(list.insert)
def insert(lowering: Lowering, value: Any, index: Any, item: Any) -> None:
    may_grow(value)
    if may_lack_items(value) and unwrap(index) == 0:
        return slots.put_first(lowering, changeable(value), item)
    if is_growing(value) or isinstance(index, Symbol):
        return growing.insert(lowering, changeable(value), index, item)
    items = list(value.items)
    items.insert(operator.index(unwrap(index)), item)
    set_items(lowering, value, items)


@method(list.remove)
def remove(lowering: Lowering, value: Any, item: Any) -> None:
    pop(lowering, value, position(lowering, value, item))


@method(tuple.index)
@method(list.index)
def position(lowering: Lowering, value: Any, item: Any) -> Any:
    return searches.position(lowering, value, item)


@method(tuple.count)
@method(list.count)
def count(lowering: Lowering, value: Any, item: Any) -> Any:
    return searches.count(lowering, value, item)


@method(list.reverse)
def reverse(lowering: Lowering, value: Any) -> None:
    if is_growing(value):
        growing.reverse(lowering, value)
    else:
        set_items(lowering, value, list(value.items)[::-1])


@method(list.clear)
def clear(lowering: Lowering, value: Any) -> None:
    set_items(lowering, value, [])


@method(list.copy)
def copy(lowering: Lowering, value: Any) -> Any:
    return growing.copy(lowering, value)


# ---- dicts ---------------------------------------------------------------------------------------


def entries_of(value: Tree) -> dict[Any, Any]:
    return dict(zip(value.keys, value.items, strict=True))


def set_entries(lowering: Lowering, value: Any, entries: dict) -> None:
    lowering.memory.change(changeable(value), mapping(entries))


@method(dict.get)
def get(lowering: Lowering, value: Any, key: Any, default: Any = None) -> Any:
    if picks(lowering, key):
        return entry_picked(lowering, value, key, lambda: default)
    if is_picked(key):
        return asked_of_each(lowering, key, lambda each: get(lowering, value, each, default))
    if is_word(key):
        return for_each_text(lowering, key, lambda text: get(lowering, value, text, default))
    return _entry_or(lowering, value, known_key(lowering, key), lambda: default)


def _entry_or(lowering: Lowering, value: Tree, key: Any, other: Callable[[], Any]) -> Any:
    """The entry, or else what `other` gives, which is asked on that path only."""
    has = has_entry(lowering, value, key)
    return choose(lowering, has, lambda: read_entry(lowering, value, key, KeyError(key)), other)


@method(dict.setdefault)
def setdefault(lowering: Lowering, value: Any, key: Any, default: Any = None) -> Any:
    found = known_key(lowering, key)

    def made() -> Any:
        put_entry(lowering, changeable(value), found, default)
        return default

    return _entry_or(lowering, value, found, made)


def make_default_dict(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """collections.defaultdict"""
    factory, *rest = args or [None]
    made = HANDLERS[dict](lowering, rest, kwargs)
    made.factory = None if unwrap(factory) is None else factory
    return made


HANDLERS[defaultdict] = make_default_dict


def entry(lowering: Lowering, value: Tree, key: Any) -> Any:
    """`value[key]`, which a defaultdict makes where it is missing."""
    factory = value.factory if isinstance(value, Box) else None
    if factory is None:
        error = KeyError(key)
        content = value.content if isinstance(value, Box) else value
        is_known = isinstance(content, Tree) and content.kind is dict
        if isinstance(key, str) and is_known and key not in content.keys:
            texts = [each for each in content.keys if isinstance(each, str)]
            shown = ", ".join(map(repr, texts)) if len(texts) <= MOST_SHOWN else "others"
            error.add_note(did_you_mean(key, texts) or f"its keys are {shown}")
        return read_entry(lowering, value, key, error)

    def made() -> Any:
        item = apply(lowering, factory, [], {})
        put_entry(lowering, value, key, item)
        return item

    return _entry_or(lowering, value, key, made)


MOST_SHOWN = 8  # keys of a dict, in an error


@method(dict.update)
def update(lowering: Lowering, value: Any, *other: Any, **more: Any) -> None:
    made = HANDLERS[dict](lowering, list(other), more)
    set_entries(lowering, value, entries_of(value) | entries_of(made))


@method(dict.pop)
def pop_entry(lowering: Lowering, value: Any, key: Any, *default: Any) -> Any:
    found = known_key(lowering, key)
    has = not default or has_entry(lowering, value, found)
    sides = (
        lambda: drop_entry(lowering, changeable(value), found, KeyError(found)),
        lambda: default[0],
    )
    return choose(lowering, has, *sides)


@method(dict.popitem)
def pop_last(lowering: Lowering, value: Any, last: Any = True) -> Any:
    entries = OrderedDict(entries_of(value))
    with lowering.as_python():
        key, item = entries.popitem(known_object(last))
    set_entries(lowering, value, entries)
    return sequence(tuple, [of_key(key), item])


@method(OrderedDict.move_to_end)
def move_to_end(lowering: Lowering, value: Any, key: Any, last: Any = True) -> None:
    entries = OrderedDict(entries_of(value))
    with lowering.as_python():
        entries.move_to_end(known_key(lowering, key), known_object(last))
    set_entries(lowering, value, entries)


@method(dict.clear)
def clear_entries(lowering: Lowering, value: Any) -> None:
    set_entries(lowering, value, {})


@method(dict.copy)
def copy_entries(lowering: Lowering, value: Any) -> Any:
    return new_dict(lowering, entries_of(value))


@method(OrderedDict.fromkeys)
@method(dict.fromkeys)
def from_keys(lowering: Lowering, keys: Any, value: Any = None) -> Any:
    found = [known_key(lowering, each) for each in known(lowering, keys)]
    return new_dict(lowering, dict.fromkeys(found, value))


# ---- sets of what is known -----------------------------------------------------------------------


def members(lowering: Lowering, items: Any) -> set:
    if isinstance(items, Symbol):
        what, help = "a set of numbers that are not known", "np.unique(x) has each of them once"
        raise UnsupportedError("S2S205", what, help=help)
    return {known_key(lowering, each) for each in known(lowering, items)}


def set_members(lowering: Lowering, value: Any, found: set) -> None:
    lowering.memory.change(changeable(value), new_set(lowering, found).content)


@method(set)
def make_set(lowering: Lowering, items: Any = ()) -> Any:
    return new_set(lowering, set() if type(items) is tuple else members(lowering, items))


@method(frozenset)
def make_frozenset(lowering: Lowering, items: Any = ()) -> frozenset:
    return frozenset(() if type(items) is tuple else members(lowering, items))


@method(set.add)
def add(lowering: Lowering, value: Any, item: Any) -> None:
    set_members(lowering, value, {*value.keys, known_key(lowering, item)})


@method(set.discard)
def discard(lowering: Lowering, value: Any, item: Any) -> None:
    set_members(lowering, value, {*value.keys} - {known_key(lowering, item)})


@method(set.remove)
def remove_member(lowering: Lowering, value: Any, item: Any) -> None:
    found = {*value.keys}
    found.remove(known_key(lowering, item))
    set_members(lowering, value, found)


@method(set.pop)
def pop_member(lowering: Lowering, value: Any) -> Any:
    """Which of several comes first is not said, and differs from run to run."""
    if len(value.keys) > 1:
        raise UnsupportedError(
            "S2S201", "set.pop() of several elements", help="take one of sorted(...)"
        )
    found = {*value.keys}
    with lowering.as_python():
        member = found.pop()
    set_members(lowering, value, found)
    return member


@method(set.update)
def update_members(lowering: Lowering, value: Any, *others: Any) -> None:
    set_members(lowering, value, {*value.keys}.union(*(members(lowering, x) for x in others)))


@method(set.clear)
def clear_members(lowering: Lowering, value: Any) -> None:
    set_members(lowering, value, set())


@method(KEYS_VIEW.isdisjoint)
@method(ITEMS_VIEW.isdisjoint)
def is_disjoint(lowering: Lowering, value: Any, other: Any) -> bool:
    return set_of(lowering, value).isdisjoint(members(lowering, other))


@method(set.copy)
def copy_members(lowering: Lowering, value: Any) -> Any:
    return new_set(lowering, {*value.keys})


def _combines(name: str, kind: type) -> None:
    """Register a method that gives a set, or says something, of two sets."""
    function = getattr(kind, name)

    def handler(lowering: Lowering, value: Any, *others: Any) -> Any:
        found = [members(lowering, each) for each in others]
        result = function(kind(set_of(lowering, value)), *found)
        return new_set(lowering, result) if isinstance(result, set) else result

    method(function)(handler)


for kind in (set, frozenset):
    for each in ("difference", "intersection", "isdisjoint", "issubset", "issuperset", "union"):
        _combines(each, kind)
    _combines("symmetric_difference", kind)


# ---- a += b --------------------------------------------------------------------------------------


def in_place_container(lowering: Lowering, operation: gast.AST, old: Tree, value: Any) -> Any:
    """What `old op= value` leaves behind where old is a list, dict or set; None where it is not."""
    kind = type(operation)
    if old.kind is list and kind is gast.Add:
        extend(lowering, old, value)
    elif old.kind is list and kind is gast.Mult and not isinstance(value, Symbol | Tree):
        set_items(lowering, old, list(old.items) * operator.index(unwrap(value)))
    elif old.kind is dict and kind is gast.BitOr:
        update(lowering, old, value)
    elif old.kind is set and kind is gast.BitOr:
        update_members(lowering, old, value)
    elif old.kind is set and kind is gast.Sub:
        set_members(lowering, old, {*old.keys} - members(lowering, value))
    else:
        return None
    return old
