"""Tuples, lists, dicts and starred items."""

from __future__ import annotations

import enum
import operator
from collections.abc import Mapping
from typing import Any

import gast

from s2s_ad.core.builder import NeedStatic, Symbol, constant_value
from s2s_ad.core.tree import ITEMS_VIEW, KEYS_VIEW, VIEWS, Tree, is_namedtuple
from s2s_ad.diagnostics import SharedMemoryError, UnsupportedError
from s2s_ad.frontend.lower.classes import is_iterated_by_class, is_written
from s2s_ad.frontend.lower.core import HANDLERS, Lowering, expression
from s2s_ad.frontend.lower.entries import may_lack_entries
from s2s_ad.frontend.lower.entries_in_turn import in_turn
from s2s_ad.frontend.lower.heap import Box
from s2s_ad.frontend.lower.iteration import Deferred, Items, Iterator, is_iterator
from s2s_ad.frontend.lower.lengths import items_needed
from s2s_ad.frontend.lower.optional import is_partial
from s2s_ad.frontend.lower.picked import EACH, is_picked, one_of_several
from s2s_ad.frontend.lower.string_unions import is_open_text, is_word, text_needed, texts_differ
from s2s_ad.frontend.resolve import Captured, unwrap


def sequence(kind: type, items: list) -> Tree:
    return Tree(kind, tuple(range(len(items))), tuple(items))


def mapping(entries: Mapping[Any, Any]) -> Tree:
    return Tree(dict, tuple(entries), tuple(entries.values()))


def new_list(lowering: Lowering, items: list) -> Box:
    """A list that the function makes."""
    return lowering.memory.box(sequence(list, items))


def new_dict(lowering: Lowering, entries: Mapping[Any, Any]) -> Box:
    """A dict that the function makes."""
    return lowering.memory.box(mapping(entries))


def new_set(lowering: Lowering, members: set) -> Box:
    """A set that the function makes, of objects that are known."""
    found = tuple(members)
    return lowering.memory.box(Tree(set, found, found))


def changeable(value: Any) -> Box:
    """The list, dict or object as one that may be changed; an error where it may not."""
    if isinstance(value, Box):
        return value
    kind = value.kind.__name__ if isinstance(value, Tree) else type(unwrap(value)).__name__
    raise SharedMemoryError(
        "S2S207",
        f"a {kind} that is not the function's own is changed",
        why="it stands outside the function, and who calls the function would see the change",
        help=RETURN_IT + "; or make a copy in the function",
    )


#: instead of a change that who calls the function would have to see
RETURN_IT = "return it beside the value, `return y, log`, and say grad(f, has_aux=True)"


#: what Python reckons with as with sets
SET_LIKE = (set, frozenset, KEYS_VIEW, ITEMS_VIEW)


def is_set_like(value: Any) -> bool:
    kind = value.kind if isinstance(value, Tree) else type(unwrap(value))
    return kind in SET_LIKE


def set_of(lowering: Lowering, value: Any) -> set:
    """The members of a set, or of what is like one, which are known."""
    if not isinstance(value, Tree):
        return {*unwrap(value)}
    return {known_key(lowering, each) for each in known_items(lowering, value)}


def is_sequence(value: Any) -> bool:
    return isinstance(value, Tree) and (value.kind in (tuple, list) or is_namedtuple(value.kind))


@expression(gast.Tuple)
def tuple_display(lowering: Lowering, node: gast.Tuple) -> Any:
    """`(a, *items)`"""
    return sequence(tuple, spread(lowering, node.elts))


@expression(gast.List)
def list_display(lowering: Lowering, node: gast.List) -> Any:
    """`[a, *items]`"""
    return new_list(lowering, spread(lowering, node.elts))


@expression(gast.Dict)
def dict_display(lowering: Lowering, node: gast.Dict) -> Any:
    """`{key: value, **entries}` The keys have to be known."""
    entries: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            with lowering.placed(key):
                known = known_key(lowering, lowering.evaluate(key))
            entries[known] = lowering.evaluate_any(value)
            continue
        more = entries_given(lowering, lowering.evaluate(value))
        if more is None:
            raise lowering.refuse(node, "'**' of something that is not a known dict")
        entries.update(more)
    return new_dict(lowering, entries)


@expression(gast.Set)
def set_display(lowering: Lowering, node: gast.Set) -> Any:
    """`{a, *items}` Of objects that are known."""
    return new_set(lowering, {known_key(lowering, each) for each in spread(lowering, node.elts)})


def known_key(lowering: Lowering, value: Any) -> Any:
    """The object that is a key or a position in a container: it has to be known now."""
    value = constant_value(value)
    if isinstance(value, Symbol):
        try:
            return operator.index(value)
        except NeedStatic as need:
            raise NeedStatic(
                need.name, need.purpose, need.error or _computed(), need.names
            ) from None
    if is_sequence(value):
        return tuple(known_key(lowering, item) for item in value.items)
    if is_word(value):
        raise text_needed(value.items[0]) if is_open_text(value) else texts_differ("a key")
    if is_picked(value):
        raise one_of_several(value, "as a key")
    known = unwrap(value)
    hash(known)
    return known


def _computed() -> UnsupportedError:
    return UnsupportedError(
        "S2S205",
        "a key, or a member of a set, that is computed from values",
        why="the keys of a dict are part of the code, as names are",
        help="keep such items in a list or an array, by their place; leave out a cache of results; "
        "a whole number among the arguments is known where example arguments are given",
    )


def of_key(key: Any) -> Any:
    """A key of a dict, or a member of a set, as a value."""
    return sequence(tuple, [*map(of_key, key)]) if type(key) is tuple else key


def spread(lowering: Lowering, nodes: list[gast.AST]) -> list:
    """The items, with *starred ones spread out."""
    items: list = []
    for node in nodes:
        if isinstance(node, gast.Starred):
            items += items_of_starred(lowering, node, lowering.evaluate(node.value))
        else:
            items.append(lowering.evaluate_any(node))
    return items


def items_of_starred(lowering: Lowering, node: gast.AST, value: Any) -> list:
    """The items of what is spread out."""
    found = all_items(lowering, value)
    if found is None:
        what = "a value whose number of items is not known"
        error = lowering.refuse(node, what, "use a tuple or a list of known length")
        raise items_needed(value, error)
    return found


def all_items(lowering: Lowering, value: Any) -> list | None:
    """The items of any iterable, which is consumed; None where their number is not known."""
    value = HANDLERS[Iterator](lowering, opened(lowering, value))
    found = known_items(lowering, value)
    if found is not None or isinstance(value, Symbol | Box):
        return found
    made = HANDLERS[list](lowering, [value], {})
    found = known_items(lowering, made)
    if found is None:
        what = "an iterator whose number of items is not known"
        error = UnsupportedError("S2S201", what, help="use a tuple or a list of known length")
        raise items_needed(made, error)
    return found


def opened(lowering: Lowering, value: Any) -> Any:
    """What the user's own `__iter__` gives for an object, and the members of an Enum; other values
    as they are."""
    if is_picked(value):
        found = HANDLERS[EACH](lowering, [value, lambda each: _as_tuple(lowering, each)], {})
        if is_picked(found):
            raise one_of_several(found, "of several lengths, whose items are needed")
        return found
    if may_lack_entries(value):
        return in_turn(lowering, value, lambda key, _: of_key(key))
    if isinstance(value, enum.EnumMeta):
        members = [lowering.captures.held(each, value.__name__) for each in value]
        return sequence(tuple, members)
    if hasattr(value, "opened"):
        return value.opened(lowering)
    if not isinstance(value, Tree | Captured):
        return value
    kind = value.kind if isinstance(value, Tree) else type(value.value)
    if is_iterated_by_class(kind):
        return HANDLERS[iter](lowering, [value], {})
    entries = lowering.captures.entries(value)
    return value if entries is None else entries


def _as_tuple(lowering: Lowering, value: Any) -> Any:
    """The items that one of several objects gives."""
    items = all_items(lowering, value)
    return value if items is None else sequence(tuple, items)


def entries_given(lowering: Lowering, value: Any) -> dict[Any, Any] | None:
    """The entries of a dict that is known, which `**` and `dict()` take; None for other values.

    Of an object whose class has `keys` Python reads an entry for each of these.
    """
    if is_written(value.kind if isinstance(value, Tree) else type(unwrap(value)), "keys"):
        return HANDLERS[Mapping](lowering, [value], {})
    if isinstance(value, Captured) or hasattr(value, "opened"):
        value = opened(lowering, value)
    if not isinstance(value, Tree) or value.kind is not dict:
        return None
    return dict(zip(value.keys, value.items, strict=True))


def known_items(lowering: Lowering, value: Any) -> list | None:
    """The items that iterating over a value gives; None where their number is not known."""
    if is_word(value):
        raise texts_differ("what is iterated over")
    if is_iterator(value):
        return known_items(lowering, HANDLERS[Iterator](lowering, value))
    if isinstance(value, Box) and (value.is_dynamic or is_partial(value.content)):
        return None
    if isinstance(value, Items | Deferred):
        return value.known()
    if is_sequence(value) or (isinstance(value, Tree) and value.kind in VIEWS):
        return list(value.items)
    if isinstance(value, Tree) and value.kind in (dict, set):
        return [*map(of_key, value.keys)]
    if isinstance(unwrap(value), range | str | bytes | frozenset):
        return [*map(of_key, unwrap(value))]
    inner = opened(lowering, value)
    if inner is not value:
        return known_items(lowering, inner)
    if isinstance(value, Symbol) and value.shape and isinstance(value.shape[0], int):
        return rows(lowering, value, value.shape[0])
    return None


def item_now(value: Any, index: int) -> Any:
    """One of the items of a value that is taken apart, as it is now."""
    if isinstance(value, Deferred):
        return value.at(index)
    if isinstance(value, Tree) and value.kind in (dict, set):
        return of_key(value.keys[index])
    return value.items[index] if isinstance(value, Tree) else value[index]


def count_now(value: Any) -> int:
    """How many items it has now."""
    if isinstance(value, Deferred):
        return value.count()
    return len(value.keys) if isinstance(value, Tree) else len(value)


def rows(lowering: Lowering, value: Symbol, count: int) -> list[Any]:
    """The first rows of an array that has so many, which are views of it."""
    with lowering.builder.trusting([0]):
        return [lowering.call(operator.getitem, value, i) for i in range(count)]
