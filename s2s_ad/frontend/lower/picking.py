"""Items picked by a number that is not known: `layers[k]`, `rates[k]`, k computed from data."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form, values
from s2s_ad.core.builder import Symbol, constant_value
from s2s_ad.core.tree import Tree
from s2s_ad.frontend.lower.conditions import asked_here, choose
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.exits import Raises
from s2s_ad.frontend.lower.picked import is_picked, may_be_picked, picked
from s2s_ad.frontend.lower.poisons import may_be_known
from s2s_ad.frontend.lower.references import settled

MOST = 64  # items that are told apart


def picks(lowering: Lowering, index: Any) -> bool:
    """Whether it is a number that depends on data, so that no code is made for each that it is."""
    index = constant_value(index)
    if not isinstance(index, Symbol) or index.shape != ():
        return False
    return not values.is_inexact(index.fact) and not may_be_known(lowering, index)


def position_picked(lowering: Lowering, items: Sequence[Any], index: Symbol) -> Any:
    """`items[index]` of a list or tuple whose items are known, but not alike."""
    return of_flags(lowering, _flags_of_places(lowering, len(items), index), items)


def with_one_replaced(
    lowering: Lowering, items: Sequence[Any], index: Symbol, item: Any
) -> list[Any]:
    """The items after `items[index] = item`."""
    flags = _flags_of_places(lowering, len(items), index, "list assignment index out of range")
    return [
        choose(lowering, flag, lambda: item, lambda old=old: old)
        for flag, old in zip(flags, items, strict=True)
    ]


def in_order(lowering: Lowering, items: Sequence[Any], order: Symbol) -> list[Any]:
    """The items at the indices that an array has: each is one of them."""
    found = []
    for slot in range(len(items)):
        with lowering.builder.trusting([0]):
            index = lowering.call(operator.getitem, order, slot)
        flags = [lowering.call(operator.eq, index, each) for each in range(len(items))]
        found.append(of_flags(lowering, flags, items))
    return found


def _flags_of_places(
    lowering: Lowering, count: int, index: Symbol, message: str = "list index out of range"
) -> list[Symbol]:
    """For each of so many places whether it is the index."""
    if index.fact == values.Scalar(bool):
        index = lowering.call(int, index)
    elif values.strong_dtype(index.fact) == np.bool_:
        text = "list indices must be integers or slices, not numpy.bool"
        raise lowering.there_is_none(TypeError(text))
    if not _is_position(index, count):
        outside = lowering.call(operator.ge, index, count)
        below = lowering.call(operator.lt, index, -count)
        wrong = lowering.call(operator.or_, below, outside)
        lowering.raise_where(wrong, IndexError(message))
        index = lowering.call(operator.mod, index, count)
    return [lowering.call(operator.eq, index, slot) for slot in range(count)]


def _is_position(index: Symbol, count: int) -> bool:
    """Whether a number is certain to be the position of one of so many items."""
    rule, operands, params = index.builder.definition(index)
    if rule is None:
        return False
    if rule.function is int and isinstance(operands[0], Symbol):
        return _is_position(operands[0], count)
    if rule.remainder:
        return type(operands[1]) is int and 0 < operands[1] <= count
    axis, shape = params.get("axis"), getattr(operands[0], "shape", None) if operands else None
    if not rule.locates or not shape or not all(isinstance(each, int) for each in shape):
        return False
    return (math.prod(shape) if axis is None else shape[axis]) <= count


def entry_picked(
    lowering: Lowering, value: Tree, key: Symbol, other: Callable[[], Any] | None = None
) -> Any:
    """`table[key]` of a dict some of whose keys are numbers; where there is no such key what
    `other` gives, or else the function raises KeyError."""
    pairs = zip(value.keys, value.items, strict=True)
    numbers = [(k, item) for k, item in pairs if isinstance(k, int | float)]
    flags = [lowering.call(operator.eq, key, k) for k, _ in numbers]
    items = [item for _, item in numbers]
    if not numbers:
        return other() if other else _no_key(lowering, key)
    found = flags[0]
    for each in flags[1:]:
        found = lowering.call(operator.or_, found, each)
    if other is not None:
        return choose(lowering, found, lambda: of_flags(lowering, flags, items), other)
    test = gast.UnaryOp(gast.Not(), form.name(found.name))
    check = gast.If(test, [_raises(key)], [])
    lowering.builder.effect(check, {each.name: each for each in settled((found, key))})
    return of_flags(lowering, flags, items)


def _no_key(lowering: Lowering, key: Symbol) -> Any:
    lowering.builder.effect(_raises(key), {key.name: settled(key)})
    raise Raises


def _raises(key: Symbol) -> gast.Raise:
    """As Python does: the error shows the key."""
    return gast.Raise(gast.Call(form.constant(KeyError), [form.name(key.name)], []), None)


def of_flags(lowering: Lowering, flags: Sequence[Symbol], items: Sequence[Any]) -> Any:
    """The item whose flag is true, which one of them is."""
    if all(map(may_be_picked, items)) and not any(map(is_picked, items)):
        return picked(list(zip(flags, items, strict=True)))

    def among(index: int) -> Any:
        if index + 1 == len(items):
            return items[index]
        test = asked_here(lowering, flags[index]) if index else flags[index]
        return choose(lowering, test, lambda: items[index], lambda: among(index + 1))

    return among(0)
