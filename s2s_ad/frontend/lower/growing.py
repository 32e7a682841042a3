"""Lists whose length is not known: one value of Core each, and each change an operation on it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.references import Box, View, settled
from s2s_ad.frontend.resolve import unwrap

ADVICE = "append to it, pop from its end, read and assign items by index, or make an array of it"


def is_growing(value: Any) -> bool:
    return isinstance(value, Box) and value.is_dynamic


def refuse(what: str) -> UnsupportedError:
    return UnsupportedError(
        "S2S201", f"{what} a list whose length is not known when code is generated", help=ADVICE
    )


def as_value(lowering: Lowering, value: Any) -> Any:
    """A number, an array, or a list of these, as one value of Core."""
    value = lowering.present(value)
    if isinstance(value, Tree) and value.kind is list:
        return value.content if is_growing(value) else list_value(lowering, value)
    held = settled(value)
    if isinstance(held, Symbol) or type(held) in values.PYTHON_NUMBERS:
        return held
    kind = held.kind.__name__ if isinstance(held, Tree) else type(unwrap(held)).__name__
    raise UnsupportedError(
        "S2S201",
        f"a {kind} in a list whose length is not known when code is generated",
        help="keep a list of numbers or arrays for each of its parts",
    )


def list_value(lowering: Lowering, value: Tree) -> Symbol:
    """A list of known length as one value of Core."""
    items = tuple(as_value(lowering, each) for each in value.items)
    return lowering.builder.call(runtime.list_of, items, {})


def is_uniform(lowering: Lowering, value: Tree) -> bool:
    """Whether the items are numbers, or arrays of one dtype and rank: one item may be any."""
    facts = [_fact(lowering, each) for each in value.items]
    if not facts or any(each is None for each in facts):
        return False
    numbers = [isinstance(each, values.Scalar) for each in facts]
    if any(numbers):
        return all(numbers) or all(values.shape_of(each) == () for each in facts)
    alike = {(each.dtype, each.rank) for each in facts if isinstance(each, values.Array)}
    return len(alike) == 1 and all(isinstance(each, values.Array) for each in facts)


def _fact(lowering: Lowering, value: Any) -> Any:
    if isinstance(value, Symbol) or type(value) in values.PYTHON_NUMBERS:
        return lowering.builder.fact(value)
    return None


def begin(lowering: Lowering, value: Tree) -> Symbol:
    """Make one value of a list, for an item is named by a number that is not known now."""
    if is_growing(value):
        return value.content
    content = list_value(lowering, value)
    if isinstance(value, Box) and value.kind is list and value.source is None:
        lowering.memory.assign(value, content)
    return content


def item(lowering: Lowering, value: Tree, index: Any) -> Any:
    """`items[i]`, which may be written to."""
    builder, content = lowering.builder, begin(lowering, value)
    place = settled(index)

    def read(whole: Symbol) -> Symbol:
        return builder.call(operator.getitem, (whole, place), {})

    def write(whole: Symbol, part: Any) -> Symbol:
        return builder.call(runtime.index_set, (whole, place, part), {})

    symbol = read(content)
    if isinstance(place, slice):
        made = Box(lowering.memory, content, list)
        made.content = symbol
        if isinstance(value, Box):
            lowering.memory.share_items(made, value)
        return made
    if not isinstance(value, Box):
        return lowering.memory.fresh(symbol)
    return lowering.memory.item_of(value, symbol, View(value, read, write))


def set_item(lowering: Lowering, box: Box, index: Any, value: Any) -> None:
    """`items[i] = value`."""
    if isinstance(index, slice):
        raise refuse("an assignment to a slice of")
    operands = (begin(lowering, box), settled(index), as_value(lowering, value))
    lowering.memory.change(box, lowering.builder.call(runtime.index_set, operands, {}), value)


def append(lowering: Lowering, box: Box, value: Any) -> None:
    operands = (box.content, as_value(lowering, value))
    lowering.memory.change(box, lowering.builder.call(runtime.list_append, operands, {}), value)


def extend(lowering: Lowering, box: Box, items: Tree) -> None:
    operands = (as_value(lowering, box), as_value(lowering, items))
    content = lowering.builder.call(runtime.list_join, operands, {})
    lowering.memory.change(box, content, None if is_growing(items) else items)
    if is_growing(items):
        lowering.memory.share_items(box, items)


def joined(lowering: Lowering, a: Tree, b: Tree) -> Box:
    """`a + b`."""
    made = copy(lowering, a)
    extend(lowering, made, b)
    return made


def insert(lowering: Lowering, box: Box, index: Any, value: Any) -> None:
    builder, content = lowering.builder, box.content
    made = builder.call(runtime.list_of, (as_value(lowering, value),), {})
    place = settled(index)
    before, after = (_part(lowering, content, each) for each in (slice(place), slice(place, None)))
    if type(place) is not int or place != 0:
        made = builder.call(runtime.list_join, (before, made), {})
    lowering.memory.change(box, builder.call(runtime.list_join, (made, after), {}), value)


def _part(lowering: Lowering, content: Symbol, part: slice) -> Symbol:
    return lowering.builder.call(operator.getitem, (content, part), {})


def pop(lowering: Lowering, box: Box, index: Any) -> Any:
    if isinstance(index, Symbol) or operator.index(index) != -1:
        return _pop_anywhere(lowering, box, settled(index))
    result = lowering.builder.call(runtime.list_pop, (box.content,), {})
    last, rest = (lowering.builder.emit_item(result, i) for i in range(2))
    popped = lowering.memory.popped(box, last)
    lowering.memory.change(box, rest)
    return popped


def _pop_anywhere(lowering: Lowering, box: Box, index: Any) -> Any:
    """`items.pop(0)`: the item, and the list of the others."""
    if isinstance(index, Symbol) or (index < 0):
        raise refuse("pop() from a place that is not counted from the start of")
    content = box.content
    popped = lowering.memory.popped(box, _part(lowering, content, index))
    rest = _part(lowering, content, slice(index + 1, None))
    if index:
        first = _part(lowering, content, slice(index))
        rest = lowering.builder.call(runtime.list_join, (first, rest), {})
    lowering.memory.change(box, rest)
    return popped


def copy(lowering: Lowering, value: Tree) -> Box:
    """A list of the same items."""
    if not is_growing(value):
        return lowering.memory.box(Tree(list, value.keys, value.items))
    made = Box(lowering.memory, value.content, list)
    lowering.memory.share_items(made, value)
    return made


def reverse(lowering: Lowering, box: Box) -> None:
    order = slice(None, None, -1)
    content = lowering.builder.call(operator.getitem, (box.content, order), {})
    lowering.memory.change(box, content)


def is_repeated(lowering: Lowering, value: Tree, count: Any) -> bool:
    """Whether `value * count` is a list of one number, repeated as often as the run says."""
    if value.kind is not list or is_growing(value) or len(value.items) != 1:
        return False
    fact = _fact(lowering, value.items[0])
    number = fact is not None and values.shape_of(fact) == ()
    whole = isinstance(count, Symbol) and count.shape == () and not values.is_inexact(count.fact)
    return number and whole


def repeated(lowering: Lowering, value: Tree, count: Symbol) -> Box:
    """`[x] * n`"""
    array = lowering.builder.call(np.full, (settled(count), settled(value.items[0])), {})
    return Box(lowering.memory, lowering.builder.call(runtime.list_rows, (array,), {}), list)


def length(lowering: Lowering, box: Box) -> Any:
    return lowering.builder.call(np.size, (box.content, 0), {})
