"""itertools, on items that are known one by one; pairwise on any."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower import growing
from s2s_ad.frontend.lower.builtin import evaluates
from s2s_ad.frontend.lower.calls import apply, as_argument
from s2s_ad.frontend.lower.containers import all_items, is_sequence, sequence
from s2s_ad.frontend.lower.core import HANDLERS, Lowering
from s2s_ad.frontend.lower.iterables import is_apart, is_number, items_of
from s2s_ad.frontend.lower.iteration import ENDLESS, Items, Iterator
from s2s_ad.frontend.lower.lengths import items_needed
from s2s_ad.frontend.resolve import unwrap

MOST = 10_000


def _items(lowering: Lowering, value: Any) -> list:
    found = all_items(lowering, value)
    if found is None:
        what = "itertools over items whose number is not known"
        raise items_needed(value, UnsupportedError("S2S205", what, help="write nested loops"))
    return found


def _combines(function: Callable) -> Callable:
    """The handler of a function that makes tuples of the items of its arguments."""

    def handler(lowering: Lowering, *args: Any, **kwargs: Any) -> Any:
        numbers = [operator.index(each) for each in args if isinstance(each, int)]
        columns = [_items(lowering, each) for each in args if not isinstance(each, int)]
        named = {key: unwrap(value) for key, value in kwargs.items()}
        found = list(itertools.islice(function(*columns, *numbers, **named), MOST + 1))
        if len(found) > MOST:
            raise UnsupportedError(
                "S2S201", f"itertools.{function.__name__} of so many items", help="write loops"
            )
        return sequence(list, [sequence(tuple, list(each)) for each in found])

    return evaluates(function)(handler)


every_known = _combines(itertools.product)
_combines(itertools.combinations)
_combines(itertools.combinations_with_replacement)
_combines(itertools.permutations)
_combines(itertools.zip_longest)


@evaluates(itertools.product)
def product(lowering: Lowering, *columns: Any, repeat: Any = 1) -> Any:
    """Every item of each with every item of the others, the last one fastest."""
    found = [all_items(lowering, each) for each in columns]
    if None not in found:
        return every_known(lowering, *columns, repeat=repeat)
    parts = [_column(lowering, each) for each in columns] * operator.index(unwrap(repeat))
    return Items(*_grid(lowering, [each.length for each in parts], parts), (columns,))


def _column(lowering: Lowering, value: Any) -> Items:
    """Items that are read at places that are not known."""
    if is_apart(value) and isinstance(value, Tree) and growing.is_uniform(lowering, value):
        return Items(len(value.items), lambda i: growing.item(lowering, value, i), (value,))
    return items_of(lowering, value)


def _grid(lowering: Lowering, lengths: list, parts: list[Items]) -> tuple[Any, Callable]:
    """(the number of places in a grid, the items at a place counted along its last axis first)."""
    count: Any = 1
    for each in lengths:
        count = each if is_number(count, 1) else lowering.call(operator.mul, count, each)

    def at(index: Any) -> Any:
        found, rest = [], index
        for length, part in reversed([*zip(lengths, parts, strict=True)][1:]):
            found.append(part.at(lowering.call(operator.mod, rest, length)))
            rest = lowering.call(operator.floordiv, rest, length)
        return sequence(tuple, [each.at(rest) for each in parts[:1]] + found[::-1])

    return count, at


@evaluates(itertools.count)
def counted(lowering: Lowering, start: Any = 0, step: Any = 1) -> Any:
    """Numbers without an end; a loop over them is left by a break or a return."""

    def at(index: Any) -> Any:
        offset = index if is_number(step, 1) else lowering.call(operator.mul, index, step)
        return offset if is_number(start, 0) else lowering.call(operator.add, start, offset)

    return Items(ENDLESS, at, (start, step))


@evaluates(itertools.cycle)
def cycled(lowering: Lowering, items: Any) -> Any:
    """The items over and over again, without an end."""
    items = sequence(list, _items(lowering, items)) if is_apart(items) else items
    inner = _column(lowering, items)
    if is_number(inner.length, 0):
        return sequence(list, [])
    return Items(
        ENDLESS,
        lambda index: inner.at(lowering.call(operator.mod, index, inner.length)),
        (items,),
    )


@evaluates(np.ndindex)
def places(lowering: Lowering, *shape: Any) -> Any:
    """The indices of an array of this shape."""
    lengths = [*shape[0].items] if len(shape) == 1 and is_sequence(shape[0]) else [*shape]
    return product(lowering, *(HANDLERS[range](lowering, [each], {}) for each in lengths))


@evaluates(np.ndenumerate)
def numbered(lowering: Lowering, array: Any) -> Any:
    """The indices of an array, each with the element."""
    array = lowering.call(np.asarray, array)
    shape = lowering.call(np.shape, array)
    grid = items_of(lowering, places(lowering, *shape))

    def at(index: Any) -> Any:
        place = grid.at(index)
        return sequence(tuple, [place, lowering.call(operator.getitem, array, place.items)])

    return Items(grid.length, at, (array,))


@evaluates(np.ix_)
def open_mesh(lowering: Lowering, *indices: Any) -> Any:
    """Index arrays that together select a grid."""
    made = []
    for axis, each in enumerate(indices):
        array = each
        if not isinstance(each, Symbol):
            array = lowering.call(np.array, as_argument(lowering, each))
        if values.rank_of(array.fact) != 1 or values.is_dtype(array.dtype, bool):
            raise UnsupportedError(
                "S2S205",
                "np.ix_ of masks, or of what is not an array of integers of one axis",
                help="np.flatnonzero(mask)",
            )
        place = [None] * len(indices)
        place[axis] = slice(None)
        made.append(lowering.call(operator.getitem, array, tuple(place)))
    return sequence(tuple, made)


@evaluates(itertools.chain)
def chained(lowering: Lowering, *columns: Any) -> Any:
    return sequence(list, [each for column in columns for each in _items(lowering, column)])


@evaluates(itertools.chain.from_iterable)
def flattened(lowering: Lowering, columns: Any) -> Any:
    return chained(lowering, *_items(lowering, columns))


@evaluates(itertools.islice)
def part(lowering: Lowering, items: Any, *bounds: Any) -> Any:
    known = [None if each is None else operator.index(each) for each in bounds]
    items = HANDLERS[Iterator](lowering, items)
    if isinstance(items, Items) and is_number(items.length, ENDLESS) and slice(*known).stop:
        indices = range(ENDLESS)[slice(*known)]
        return sequence(list, [items.at(each) for each in indices])
    return sequence(list, list(itertools.islice(_items(lowering, items), *known)))


@evaluates(itertools.repeat)
def repeated(lowering: Lowering, item: Any, times: Any = None) -> Any:
    if times is None:
        return Items(ENDLESS, lambda _: item, (item,))
    return sequence(list, [item] * operator.index(times))


@evaluates(itertools.accumulate)
def running(
    lowering: Lowering, items: Any, function: Any = operator.add, initial: Any = None
) -> Any:
    found = _items(lowering, items)
    found = found if initial is None else [initial, *found]
    result = found[:1]
    for each in found[1:]:
        result.append(apply(lowering, function, [result[-1], each], {}))
    return sequence(list, result)


@evaluates(itertools.pairwise)
def pairs(lowering: Lowering, items: Any) -> Any:
    if is_apart(items):
        found = _items(lowering, items)
        rows = itertools.pairwise(found)
        return sequence(list, [sequence(tuple, list(each)) for each in rows])
    inner = items_of(lowering, items)

    def at(index: Any) -> Any:
        after = lowering.call(operator.add, index, 1)
        return sequence(tuple, [inner.at(index), inner.at(after)])

    return Items(lowering.call(operator.sub, inner.length, 1), at, (items,))
