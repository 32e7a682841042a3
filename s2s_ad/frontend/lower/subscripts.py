"""x[i], x[1:, None], params["w"]."""

from __future__ import annotations

import enum
import operator
import types
import typing
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol, constant_value
from s2s_ad.core.registry import rule_for
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower import growing, slots
from s2s_ad.frontend.lower.attributes import read_attribute
from s2s_ad.frontend.lower.calls import apply
from s2s_ad.frontend.lower.classes import is_written, method_of
from s2s_ad.frontend.lower.conditions import asked_of_each, for_each_picked, for_each_text
from s2s_ad.frontend.lower.containers import (
    changeable,
    is_sequence,
    known_key,
    new_list,
    sequence,
)
from s2s_ad.frontend.lower.core import HANDLERS, Lowering, expression
from s2s_ad.frontend.lower.entries import drop_entry, may_lack_items, put_entry
from s2s_ad.frontend.lower.growing import is_growing
from s2s_ad.frontend.lower.iterables import part_of_range
from s2s_ad.frontend.lower.iteration import Range
from s2s_ad.frontend.lower.kinds import class_name, with_article
from s2s_ad.frontend.lower.lists import entry, known, set_items
from s2s_ad.frontend.lower.picked import is_picked
from s2s_ad.frontend.lower.picking import (
    MOST,
    entry_picked,
    picks,
    position_picked,
    with_one_replaced,
)
from s2s_ad.frontend.lower.references import Box, unknown_entries
from s2s_ad.frontend.lower.refused import refused_foreign
from s2s_ad.frontend.lower.stores import set_item, within_bounds
from s2s_ad.frontend.lower.string_unions import is_word
from s2s_ad.frontend.resolve import unwrap

#: of what the compiler makes in the place of an object: kind -> (lowering, value, index)
ITEMS: dict[type, Callable[[Lowering, Any, Any], Any]] = {Range: part_of_range}
#: what sets an item of these, and deletes it where it is given no value
CHANGES: dict[type, Callable[..., None]] = {}


@expression(gast.Subscript)
def subscript(lowering: Lowering, node: gast.Subscript) -> Any:
    """`x[i, 1:, None, ..., mask]`, `params["w"]`, `layers[k]` Keys of dicts have to be known,
    or be numbers. A number that depends on data picks one of the items, of whatever kind."""
    return read_item(lowering, lowering.evaluate(node.value), lowering.evaluate(node.slice))


def read_item(lowering: Lowering, value: Any, index: Any) -> Any:
    """`value[index]`"""
    if is_picked(value):
        return for_each_picked(lowering, value, lambda each: read_item(lowering, each, index))
    if is_picked(index):
        return asked_of_each(lowering, index, lambda each: read_item(lowering, value, each))
    return _item(lowering, value, index)


def _item(lowering: Lowering, value: Any, index: Any) -> Any:
    if is_word(value):
        return for_each_text(lowering, value, lambda text: read_item(lowering, text, index))
    if is_word(index) and isinstance(value, Tree):
        return for_each_text(lowering, index, lambda text: read_item(lowering, value, text))
    if isinstance(value, Symbol):
        return _of_array(lowering, value, index)
    if isinstance(value, Tree):
        return _of_container(lowering, value, index)
    if type(value) in ITEMS:
        return ITEMS[type(value)](lowering, value, index)
    known = unwrap(value)
    if isinstance(known, str) and isinstance(constant_value(index), Symbol):
        return HANDLERS[gast.Subscript](lowering, [known, index], {})
    if isinstance(known, str | bytes | range):
        return known[known_position(lowering, index)]
    if isinstance(known, enum.EnumMeta):  # Mode["fast"]
        return lowering.captures.held(known[known_key(lowering, index)], known.__name__)
    if _has_rule(known):  # np.r_[...], np.mgrid[...]
        return apply(lowering, value, [index], {})
    return _of_an_object(lowering, value, index)


#: what `class Stack(Generic[T])` has of typing
GENERIC = vars(typing.Generic)["__class_getitem__"]


def _takes_types(kind: type) -> bool:
    """Whether what stands in the brackets behind the class says nothing but of what types it is."""
    getter = method_of(kind, "__class_getitem__")
    return getter is GENERIC or isinstance(getter, types.ClassMethodDescriptorType)


def _of_an_object(lowering: Lowering, value: Any, index: Any) -> Any:
    """An item of an object whose class says what that is, or an entry of a captured mapping."""
    known = unwrap(value)
    if is_written(type(known), "__getitem__"):
        return apply(lowering, read_attribute(lowering, value, "__getitem__"), [index], {})
    if isinstance(known, type) and _takes_types(known):  # Stack[float](), list[float]()
        return value
    entries = lowering.captures.entries(value)
    if entries is not None:
        return _of_mapping(lowering, type(known), entries, index)
    if type(known) in (*values.PYTHON_NUMBERS, type(None)):
        text = f"'{type(known).__name__}' object is not subscriptable"
        raise lowering.there_is_none(TypeError(text))
    foreign = refused_foreign([type(known)])
    raise foreign or UnsupportedError("S2S201", f"a subscript of {with_article(class_name(known))}")


def _of_array(lowering: Lowering, value: Symbol, index: Any) -> Any:
    """An element, or a part; what is certain to fail is raised where the path is taken."""
    if isinstance(value.fact, values.Scalar):
        text = f"'{value.fact.kind.__name__}' object is not subscriptable"
        raise lowering.there_is_none(TypeError(text))
    found = as_index(lowering, index)
    within_bounds(lowering, value, found)
    try:
        return lowering.call(operator.getitem, value, found)
    except IndexError as error:
        raise lowering.there_is_none(error) from None


def _of_mapping(lowering: Lowering, kind: type, entries: Tree, index: Any) -> Any:
    """An entry of a captured mapping, whose class may say what stands for one that is missing, or
    an item of a sequence."""
    if is_word(index) or entries.kind is not dict:
        return read_item(lowering, entries, index)
    key = known_key(lowering, index)
    if key not in entries.keys and hasattr(kind, "__missing__"):
        raise UnsupportedError(
            "S2S201",
            f"an entry {key!r} that a captured {kind.__name__} makes when it is asked for",
            why="the function would change what stands outside of it",
            help="say .get(key, default)",
        )
    return read_item(lowering, entries, index)


def _has_rule(known: Any) -> bool:
    return not isinstance(known, type) and rule_for(known) is not None


def _of_container(lowering: Lowering, value: Tree, index: Any) -> Any:
    """An item of a container."""
    if may_lack_items(value):
        return _of_slots(lowering, value, _as_position(lowering, index))
    if is_growing(value) or (is_sequence(value) and _any_item(lowering, value, index)):
        return growing.item(lowering, value, _as_position(lowering, index))
    if is_sequence(value):
        return _of_sequence(lowering, value, index)
    if value.kind is dict and picks(lowering, index) and getattr(value, "factory", None) is None:
        return entry_picked(lowering, value, index)
    if value.kind is dict:
        return entry(lowering, value, known_key(lowering, index))
    if is_written(value.kind, "__getitem__"):
        return apply(lowering, read_attribute(lowering, value, "__getitem__"), [index], {})
    raise UnsupportedError("S2S201", f"a subscript of {with_article(class_name(value))}")


def _of_slots(lowering: Lowering, value: Box, index: Any) -> Any:
    """An item, or a part, of a list of which a branch decides what it holds."""
    if not isinstance(index, slice):
        return slots.item_of(lowering, value, index)
    found = known_position(lowering, index)
    bounds = [each for each in (found.start, found.stop) if each is not None]
    if found.step not in (None, 1) or any(each < 0 for each in bounds):
        raise unknown_entries(value.content)
    return slots.part(lowering, value, found.start or 0, found.stop)


def _of_sequence(lowering: Lowering, value: Tree, index: Any) -> Any:
    """An item of a list or a tuple whose items are known."""
    if not value.items and isinstance(index, Symbol):  # whatever the number is
        raise lowering.there_is_none(_out_of_range(value))
    if isinstance(index, Symbol) and index.shape == () and values.is_inexact(index.fact):
        error = TypeError(f"{value.kind.__name__} indices must be integers or slices, not float")
        raise lowering.there_is_none(error)
    if picks(lowering, index) and len(value.items) <= MOST:
        return position_picked(lowering, value.items, index)
    if _tells_apart(lowering, value, index):
        return position_picked(lowering, value.items, index)
    position = known_position(lowering, index)
    if isinstance(position, slice):
        items = list(value.items[position])
        return new_list(lowering, items) if value.kind is list else sequence(tuple, items)
    if not -len(value.items) <= position < len(value.items):
        raise lowering.there_is_none(_out_of_range(value))
    return value.items[position]


def _out_of_range(value: Tree) -> IndexError:
    return IndexError(f"{value.kind.__name__} index out of range")


def _any_item(lowering: Lowering, value: Tree, index: Any) -> bool:
    """Whether the index is a number that is not known, and the items are alike."""
    if not isinstance(index, Symbol) or values.is_inexact(index.fact) or index.shape != ():
        return False
    return growing.is_uniform(lowering, value) and not _tells_apart(lowering, value, index)


def _tells_apart(lowering: Lowering, value: Tree, index: Any) -> bool:
    """Whether a number that is not known picks one of few objects, which stay what they are."""
    known = not is_growing(value)
    if not (lowering.memory.tells_apart and known and len(value.items) <= MOST):
        return False
    is_number = isinstance(index, Symbol) and index.shape == ()
    return is_number and not values.is_inexact(index.fact) and growing.holds_objects(value)


def _as_position(lowering: Lowering, index: Any) -> Any:
    return index if isinstance(index, Symbol | slice) else _known_integer(lowering, index)


def _known_integer(lowering: Lowering, index: Any) -> int:
    try:
        return operator.index(unwrap(index))
    except TypeError:
        text = f"indices must be integers or slices, not {class_name(index)}"
        raise lowering.there_is_none(TypeError(text)) from None


# ---- stores --------------------------------------------------------------------------------------


def write_item(lowering: Lowering, value: Any, index: Any, item: Any) -> None:
    """`value[index] = item`"""
    if is_picked(value):
        for_each_picked(lowering, value, lambda each: write_item(lowering, each, index, item))
    elif is_picked(index):
        for_each_picked(lowering, index, lambda each: write_item(lowering, value, each, item))
    elif is_word(index) and isinstance(value, Tree):
        for_each_text(lowering, index, lambda text: write_item(lowering, value, text, item))
    elif isinstance(value, Symbol):
        set_item(lowering, value, as_index(lowering, index), item)
    elif is_growing(value) or (
        isinstance(value, Box) and _becomes_growing(lowering, value, index, item)
    ):
        growing.set_item(lowering, value, _as_position(lowering, index), item)
    elif isinstance(value, Tree) and value.kind is list and _tells_apart(lowering, value, index):
        set_items(lowering, value, with_one_replaced(lowering, value.items, index, item))
    elif isinstance(value, Tree) and value.kind is list:
        _set_position(lowering, value, known_position(lowering, index), item)
    elif isinstance(value, Tree) and value.kind is dict:
        put_entry(lowering, changeable(value), known_key(lowering, index), item)
    else:
        _by_method(lowering, value, "__setitem__", [index, item])


def _becomes_growing(lowering: Lowering, value: Box, index: Any, item: Any) -> bool:
    if value.kind is not list or not _any_item(lowering, value, index):
        return False
    return growing.may_hold(value, item)


def _set_position(lowering: Lowering, value: Tree, position: Any, item: Any) -> None:
    items = list(value.items)
    written = known(lowering, item) if isinstance(position, slice) else item
    with lowering.as_python():
        items[position] = written
    set_items(lowering, value, items)


def delete_item(lowering: Lowering, value: Any, index: Any) -> None:
    """`del value[index]`"""
    if is_picked(value):
        for_each_picked(lowering, value, lambda each: delete_item(lowering, each, index))
    elif is_growing(value):
        growing.delete(lowering, value, _as_position(lowering, index))
    elif isinstance(value, Tree) and value.kind is list:
        items = list(value.items)
        place = known_position(lowering, index)
        with lowering.as_python():
            del items[place]
        set_items(lowering, value, items)
    elif isinstance(value, Tree) and value.kind is dict:
        key = known_key(lowering, index)
        drop_entry(lowering, changeable(value), key, KeyError(key))
    elif isinstance(value, Symbol):
        raise lowering.python_raises(ValueError("cannot delete array elements"))
    else:
        _by_method(lowering, value, "__delitem__", [index])


def _by_method(lowering: Lowering, value: Any, name: str, args: list) -> None:
    """An item of an object whose class says what that means."""
    if type(value) in CHANGES:
        CHANGES[type(value)](lowering, value, *args)
        return
    kind = value.kind if isinstance(value, Tree) else type(unwrap(value))
    if not is_written(kind, name):
        if hasattr(kind, name):
            changeable(value)  # what a library's class does is not followed
        name = class_name(value)
        raise TypeError(f"{name!r} object does not support item assignment or deletion")
    apply(lowering, read_attribute(lowering, value, name), args, {})


# ---- indices -------------------------------------------------------------------------------------


def known_position(lowering: Lowering, index: Any) -> int | slice:
    """An index into a container, which has to be known when code is generated."""
    if isinstance(index, slice):
        bounds = (index.start, index.stop, index.step)
        return slice(*(each if each is None else operator.index(each) for each in bounds))
    if isinstance(index, Symbol) and isinstance(index.fact, values.Array) and index.shape:
        raise UnsupportedError(
            "S2S201",
            "an index into a list or tuple that is an array",
            help="put the items into an array: np.stack(items)[i]",
        )
    return _known_integer(lowering, index)


TO_INTEGER = "make it one: int(i), or i.astype(int) of an array"


def as_index(lowering: Lowering, index: Any) -> Any:
    """The index in the form that rules take: ints, slices, None, Ellipsis, Symbols, tuples."""
    if is_growing(index) and (dtype := _dtype_of_items(index.content)) is not None:
        index = lowering.builder.call(np.array, (index.content,), {"dtype": dtype})
    if isinstance(index, range | Range):
        bounds = [index.start, index.stop, index.step]
        bounds = bounds[:2] if bounds[2] == 1 else bounds
        bounds = bounds[1:] if bounds[0] == 0 and len(bounds) == 2 else bounds
        return lowering.builder.call(np.arange, tuple(bounds), {})
    if is_sequence(index):
        items = [as_index(lowering, each) for each in index.items]
        if index.kind is list:
            return items
        arrays = ([*each] if isinstance(each, tuple) else each for each in items)
        return tuple(arrays)
    if isinstance(index, Symbol):
        if values.is_inexact(index.fact) and not isinstance(index.fact, values.Unknown):
            what, help = "an index that is not an integer or a boolean", TO_INTEGER
            raise UnsupportedError("S2S203", what, help=help)
        return index
    if index is None or isinstance(index, int | slice) or index is Ellipsis:
        return index
    if isinstance(unwrap(index), enum.IntEnum):
        return int(unwrap(index))
    what = f"an index that is {with_article(class_name(index))}"
    help = TO_INTEGER if isinstance(index, float) else ""
    raise UnsupportedError("S2S203", what, help=help)


def _dtype_of_items(items: Any) -> np.dtype | None:
    """The dtype of a list of a length not known as the array that it is as an index.

    It is asked for, because an array without items is one of floats. Of lists whose items are not
    certain to be whole numbers or booleans it is None: these have to be written out.
    """
    item = values.one_item(items.fact.item) if isinstance(items, Symbol) else None
    if values.shape_of(item) is None or isinstance(item, values.Unknown | values.List):
        return None
    dtype = values.strong_dtype(item)
    return dtype if dtype is not None and dtype.kind in "biu" else None


@expression(gast.Slice)
def slice_(lowering: Lowering, node: gast.Slice) -> Any:
    """`x[a:b:c]` With bounds that are integers, known or not."""
    bounds = (node.lower, node.upper, node.step)
    return slice(*(None if each is None else _bound(lowering, each) for each in bounds))


def _bound(lowering: Lowering, node: gast.AST) -> Any:
    value = lowering.evaluate(node)
    if isinstance(unwrap(value), enum.IntEnum):
        return int(unwrap(value))
    known = isinstance(value, Symbol) and not isinstance(value.fact, values.Unknown)
    inexact = known and values.is_inexact(value.fact)
    if inexact or not isinstance(value, Symbol | int | None):
        raise UnsupportedError(
            "S2S203", "a slice bound that is not an integer", origin=lowering.origin(node)
        )
    return value
