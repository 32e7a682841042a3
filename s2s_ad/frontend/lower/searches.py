"""`in`, `index`, `count` and `remove`: decided now where all is known, else when the code runs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import NeedStatic, Symbol, constant_value
from s2s_ad.core.tree import KEYS_VIEW, Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower import growing, rows
from s2s_ad.frontend.lower.calls import known_object
from s2s_ad.frontend.lower.comprehensions import consumed, generator_over
from s2s_ad.frontend.lower.conditions import choose, lazily
from s2s_ad.frontend.lower.containers import is_sequence, known_items, sequence
from s2s_ad.frontend.lower.core import HANDLERS, Lowering
from s2s_ad.frontend.lower.entries import has_entry
from s2s_ad.frontend.lower.growing import is_growing
from s2s_ad.frontend.lower.iteration import Range
from s2s_ad.frontend.lower.lengths import items_needed
from s2s_ad.frontend.lower.objects import class_of
from s2s_ad.frontend.lower.references import settled, symbols
from s2s_ad.frontend.lower.string_unions import is_text, is_word, text_of
from s2s_ad.frontend.resolve import unwrap

HERE = gast.Constant(value=None, kind=None)
PLAIN = (str, bytes, type(None))
EQUAL = "whether two values are equal"

Equal = Callable[[Any, Any], Any]


def is_known(*operands: Any) -> bool:
    return not any(True for _ in symbols(operands))


#: what says what it contains: kind -> (lowering, items, value)
ASKED: dict[type, Callable[[Lowering, Any, Any], Any]] = {}


def constants(value: Any) -> Any:
    """A number, or a tuple of these, with what is computed of nothing but constants known."""
    if is_sequence(value) and value.kind is tuple:
        return sequence(tuple, [*map(constants, value.items)])
    return constant_value(value)


def contains(lowering: Lowering, items: Any, value: Any, equal: Equal) -> Any:
    """`value in items`: a truth, known or not; None where that cannot be asked.

    Args:
        equal: what `==` gives for a pair of values.
    """
    value = constants(value)
    if type(items) in ASKED:
        return ASKED[type(items)](lowering, items, value)
    if is_known(value):
        known = _in_known(lowering, items, value)
        if known is not None:
            return known
    number = is_number(value)
    if isinstance(items, Symbol):
        several = number and items.shape not in (None, ())
        return lowering.call(np.any, lowering.call(operator.eq, items, value)) if several else None
    if is_growing(items):
        return _in_growing(lowering, items, value)
    if isinstance(items, range | Range):
        return _in_range(lowering, items, value) if number else None
    found = known_items(lowering, items) if isinstance(items, Tree) else None
    if found is None or not (number or is_sequence(value) or is_word(value)):
        return None
    _ask_for_places(lowering, found, value)
    return _is_one_of(lowering, value, found, equal)


def _ask_for_places(lowering: Lowering, items: Sequence[Any], value: Any) -> None:
    """Whether a known whole number is among captured ones decides what is made: `i in argnums`."""
    captured = [each for each in items if isinstance(each, Symbol)]
    if type(value) is int and all(_is_captured_int(lowering, each) for each in captured):
        for each in captured:
            raise NeedStatic(each.name, "a whole number that is looked for")


def _is_captured_int(lowering: Lowering, item: Symbol) -> bool:
    return item.fact == values.Scalar(int) and item.name in lowering.captures.numbers


def _in_known(lowering: Lowering, items: Any, value: Any) -> Any:
    """Whether a known value is among known items; None where these are not known."""
    entries = lowering.captures.entries(items)
    items = items if entries is None else entries
    if isinstance(items, Tree) and items.kind in (dict, set):
        return has_entry(lowering, items, known_object(value))
    if isinstance(items, Tree) and items.kind is KEYS_VIEW:
        return known_object(value) in [*map(known_object, known_items(lowering, items) or ())]
    if is_sequence(items) and not is_growing(items) and is_known(items):
        return known_object(value) in known_object(items)
    if isinstance(unwrap(items), str | bytes | range | frozenset):
        return known_object(value) in unwrap(items)
    return None


def is_number(value: Any) -> bool:
    """Whether a value is one number, known or not."""
    if isinstance(value, Symbol):
        return value.shape == ()
    return type(value) in values.PYTHON_NUMBERS or isinstance(value, np.generic)


def _in_growing(lowering: Lowering, items: Any, value: Any) -> Any:
    if is_number(value) and _holds_numbers(items):
        return lowering.builder.call(runtime.list_contains, (items.content, settled(value)), {})
    each = "if E == X:\n    T = True\n    break"
    found = generator_over(lowering, items, HERE)
    return consumed(lowering, found, "T = False", each, values={"X": value})


def _holds_numbers(items: Any) -> bool:
    content = items.content
    return isinstance(content, Symbol) and values.shape_of(content.fact.item) == ()


def _in_range(lowering: Lowering, items: range | Range, value: Any) -> Any:
    """Whether a number is one of those of a range, whose step is 1."""
    if items.step != 1 or (isinstance(value, Symbol) and values.is_inexact(value.fact)):
        return None
    enough = lowering.call(operator.ge, value, items.start)
    return lazily(lowering, False, enough, lambda: lowering.call(operator.lt, value, items.stop))


def _is_one_of(lowering: Lowering, value: Any, items: Sequence[Any], equal: Equal) -> Any:
    """Whether a value equals one of some items, which are compared in turn."""
    if not items:
        return False
    first, *rest = items
    truth = _is_same(value, first, equal)
    if truth is True or truth is None:
        return truth
    if truth is False:
        return _is_one_of(lowering, value, rest, equal)
    return lazily(lowering, True, truth, lambda: _is_one_of(lowering, value, rest, equal))


def _is_same(value: Any, item: Any, equal: Equal) -> Any:
    """Whether an item is the value; None where that cannot be asked."""
    if item is value:
        return True
    if is_word(value) and is_word(item):
        return equal(value, item)
    if is_word(value) or is_word(item):
        return equal(value, item) if type(item) is str or type(value) is str else False
    if isinstance(unwrap(item), PLAIN) or is_sequence(item) is not is_sequence(value):
        return False
    return equal(value, item) if is_number(item) or is_sequence(item) else None


# ---- index, count, remove ------------------------------------------------------------------------


def position(lowering: Lowering, items: Any, value: Any) -> Any:
    """`items.index(value)`"""
    if is_growing(items):
        return _searched(lowering, runtime.list_index, items, value)
    if is_sequence(value) or class_of(value) is not None:
        return _compared_in_turn(lowering, list(enumerate(items.items)), value)
    for index, each in enumerate(items.items):
        if each is value and is_known(sequence(tuple, list(items.items[:index]))):
            return index
        if not is_known(each, value):
            return _searched(lowering, runtime.list_index, items, value)
        if known_object(each) == known_object(value):
            return index
    raise lowering.there_is_none(_not_found(value))


def _compared_in_turn(lowering: Lowering, places: Sequence[tuple[int, Any]], value: Any) -> Any:
    """The first of these places whose item equals the value, an object or a sequence."""
    if not places:
        raise lowering.there_is_none(_not_found(value))
    (place, item), *rest = places
    alike = is_sequence(item) or class_of(item) is not None
    same = item is value or (alike and HANDLERS[EQUAL](lowering, [value, item], {}))
    if isinstance(same, bool):
        return place if same else _compared_in_turn(lowering, rest, value)
    return choose(lowering, same, lambda: place, lambda: _compared_in_turn(lowering, rest, value))


def _not_found(value: Any) -> ValueError:
    return ValueError(
        f"{known_object(value)!r} is not in list" if is_known(value) else "not in list"
    )


def count(lowering: Lowering, items: Any, value: Any) -> Any:
    """`items.count(value)`"""
    if is_growing(items) or not is_known(items, value):
        return _searched(lowering, runtime.list_count, items, value)
    return sum(known_object(each) == known_object(value) for each in items.items)


def _searched(lowering: Lowering, function: Callable, items: Any, value: Any) -> Any:
    """A search among numbers, or texts, when the code runs."""
    known = not is_growing(items)
    if is_text(value) and (not known or all(map(is_text, items.items))):
        texts = rows.texts_of(items.content) if not known else None
        if known:
            parts = tuple(map(text_of, items.items))
            texts = lowering.builder.call(runtime.list_of, parts, {})
        if texts is not None:
            return lowering.builder.call(function, (texts, text_of(value)), {})
    numbers = all(map(is_number, items.items)) if known else _holds_numbers(items)
    if not numbers or not is_number(value):
        error = UnsupportedError(
            "S2S205",
            "a search among values that are not known, and are not numbers",
            help="write a loop over the items",
        )
        raise error if known else items_needed(items.content, error)
    content = growing.list_value(lowering, items) if known else items.content
    return lowering.builder.call(function, (content, settled(value)), {})
