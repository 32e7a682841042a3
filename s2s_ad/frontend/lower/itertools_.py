"""itertools, on items that are known one by one; pairwise on any."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.builtin import evaluates
from s2s_ad.frontend.lower.calls import apply
from s2s_ad.frontend.lower.containers import all_items, sequence
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.iterables import is_apart, items_of
from s2s_ad.frontend.lower.iteration import Items
from s2s_ad.frontend.resolve import unwrap

MOST = 10_000


def _items(lowering: Lowering, value: Any) -> list:
    found = all_items(lowering, value)
    if found is None:
        raise UnsupportedError(
            "S2S205", "itertools over items whose number is not known", help="write nested loops"
        )
    return found


def _combines(function: Callable) -> None:
    """A function that makes tuples of the items of its arguments."""

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

    evaluates(function)(handler)


_combines(itertools.combinations)
_combines(itertools.combinations_with_replacement)
_combines(itertools.permutations)
_combines(itertools.product)
_combines(itertools.zip_longest)


@evaluates(itertools.chain)
def chained(lowering: Lowering, *columns: Any) -> Any:
    return sequence(list, [each for column in columns for each in _items(lowering, column)])


@evaluates(itertools.chain.from_iterable)
def flattened(lowering: Lowering, columns: Any) -> Any:
    return chained(lowering, *_items(lowering, columns))


@evaluates(itertools.islice)
def part(lowering: Lowering, items: Any, *bounds: Any) -> Any:
    known = [None if each is None else operator.index(each) for each in bounds]
    return sequence(list, list(itertools.islice(_items(lowering, items), *known)))


@evaluates(itertools.repeat)
def repeated(lowering: Lowering, item: Any, times: Any) -> Any:
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
