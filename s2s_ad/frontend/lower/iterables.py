"""range, zip, enumerate, reversed, map: taken apart where all is known, else read by position."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2s_ad.core import sizes, values
from s2s_ad.core.builder import NeedStatic, Symbol, constant_value
from s2s_ad.core.tree import VIEWS, Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower import growing, slots
from s2s_ad.frontend.lower.builtin import evaluates
from s2s_ad.frontend.lower.calls import apply
from s2s_ad.frontend.lower.comprehensions import run_through
from s2s_ad.frontend.lower.containers import (
    count_now,
    is_sequence,
    item_now,
    known_items,
    opened,
    sequence,
)
from s2s_ad.frontend.lower.core import HANDLERS, Lowering
from s2s_ad.frontend.lower.effects import require
from s2s_ad.frontend.lower.entries import entries_there, may_lack_items
from s2s_ad.frontend.lower.iteration import (
    ENDLESS,
    Generator,
    Items,
    Iterator,
    Produced,
    Range,
    Reversed,
    deferred,
    is_iterator,
)
from s2s_ad.frontend.lower.kinds import class_name, with_article
from s2s_ad.frontend.lower.poisons import is_unreadable, may_be_known, unreadable
from s2s_ad.frontend.lower.references import Box
from s2s_ad.frontend.resolve import unwrap


@dataclass(frozen=True, slots=True)
class Passes:
    """The bounds of a loop, the item of the pass with an index, and what is read for it."""

    bounds: tuple[Any, Any, Any]
    item: Callable[[Any], Any]
    backwards: bool = False
    sources: tuple = ()

    def known(self) -> range | None:
        """The indices in the order of the passes, where they are known."""
        if any(isinstance(each, Symbol) for each in self.bounds):
            return None
        indices = range(*self.bounds)
        return indices[::-1] if self.backwards else indices


def passes_of(lowering: Lowering, value: Any) -> Passes:
    """The passes of a loop over a value whose items are not taken apart."""
    if isinstance(value, range | Range):
        return Passes((value.start, value.stop, value.step), lambda index: index)
    if isinstance(value, Reversed):
        inner = passes_of(lowering, value.items)
        return Passes(inner.bounds, inner.item, not inner.backwards)  # from where it ended then
    items = items_of(lowering, value)
    return Passes((0, items.length, 1), items.at, sources=items.sources)


def items_of(lowering: Lowering, value: Any) -> Items:
    """The number of items of any iterable, and how each is computed from its position."""
    if is_iterator(value):
        value = HANDLERS[Iterator](lowering, value)
    if is_unreadable(value):
        raise unreadable(value).error(lowering)
    if isinstance(value, Generator):
        value = run_through(lowering, value)
    if isinstance(value, Produced):
        return replace(items_of(lowering, value.items), sources=(value,))
    return _items_of(lowering, value)


def _items_of(lowering: Lowering, value: Any) -> Items:
    inner = value if isinstance(value, Items) else opened(lowering, value)
    if inner is not value:
        value = items_of(lowering, inner)
    if isinstance(value, Items):
        return value
    if isinstance(value, Box) and value.is_dynamic:
        return Items(growing.length(lowering, value), lambda i: item(lowering, value, i), (value,))
    if may_lack_items(value):
        count = entries_there(lowering, value)
        return Items(count, lambda i: slots.item_of(lowering, value, i, inside=True), (value,))
    if isinstance(value, Symbol):
        if value.shape == ():
            error = TypeError("a number cannot be iterated over")
            error.add_note("count up to it: for i in range(n)")
            raise lowering.python_raises(error)
        return Items(length(lowering, value), lambda i: item(lowering, value, i), (value,))
    if isinstance(value, range | Range):
        return _of_range(lowering, value)
    if isinstance(value, Reversed):
        return _backwards(lowering, items_of(lowering, value.items))
    found = known_items(lowering, value)
    if found is None:
        raise _not_taken_apart(value)
    return Items(len(found), lambda i: found[operator.index(i)], (value,))


def _not_taken_apart(value: Any) -> UnsupportedError:
    if not isinstance(value, Box):
        return UnsupportedError("S2S201", f"a loop over {with_article(class_name(value))}")
    return UnsupportedError(
        "S2S201",
        f"the items of an iterator of class {class_name(value)}, all at once",
        why="where it ends shows when it is run, and Python reads it only as far as somebody asks",
        help="loop over it, or make a list of all that it gives: [x for x in ...]",
    )


def length(lowering: Lowering, value: Symbol) -> Any:
    return lowering.call(np.size, value, 0)


def item(lowering: Lowering, value: Any, index: Any) -> Any:
    """A row of an array, or an item of a list whose length is not known; there is one."""
    if isinstance(value, Box):
        return growing.item(lowering, value, index)
    with lowering.builder.trusting([0]):
        return lowering.call(operator.getitem, value, index)


def _of_range(lowering: Lowering, value: range | Range) -> Items:
    start, stop, step = value.start, value.stop, value.step

    def at(index: Any) -> Any:
        offset = index if is_number(step, 1) else lowering.call(operator.mul, index, step)
        return offset if is_number(start, 0) else lowering.call(operator.add, start, offset)

    if isinstance(value, range):
        return Items(len(value), at, ())
    bounds = (start, stop, step)
    return Items(_count(lowering, *bounds), at, bounds)


def _count(lowering: Lowering, start: Any, stop: Any, step: Any) -> Any:
    """The number of integers in a range: max(0, ceil((stop - start) / step))."""
    passes = stop if is_number(start, 0) else lowering.call(operator.sub, stop, start)
    if not is_number(step, 1):
        backwards = lowering.call(operator.floordiv, lowering.call(operator.neg, passes), step)
        passes = lowering.call(operator.neg, backwards)
    size = lowering.builder.size(passes)
    if size is not None and sizes.is_natural(size):
        return passes
    return lowering.call(np.maximum, passes, 0)


def is_number(value: Any, number: int) -> bool:
    return isinstance(value, int) and value == number


def _backwards(lowering: Lowering, items: Items) -> Items:
    def at(index: Any) -> Any:
        last = lowering.call(operator.sub, items.length, 1)
        return items.at(lowering.call(operator.sub, last, index))

    return Items(items.length, at, items.sources)


def _length_of_range(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    return _of_range(lowering, args[0]).length


HANDLERS[Range] = _length_of_range


def part_of_range(lowering: Lowering, value: Range, index: Any) -> Any:
    """`range(n)[k]`, `range(n)[-2::-1]`: one of the numbers, or a range of some of them."""
    items = _of_range(lowering, value)
    if not isinstance(index, slice):
        place = lowering.enter(_place, {"index": index, "count": items.length})
        return items.at(place)
    step = 1 if index.step is None else operator.index(unwrap(index.step))
    ends = {"count": items.length, "first": index.start, "last": index.stop}
    first, last = lowering.enter(_upwards if step > 0 else _downwards, ends).items
    by = lowering.call(operator.mul, value.step, step)
    return make_range(lowering, items.at(first), items.at(last), by)


def _place(index, count):
    place = index + count if index < 0 else index
    if not 0 <= place < count:
        raise IndexError("range object index out of range")
    return place


def _upwards(count, first, last):
    first = 0 if first is None else first
    last = count if last is None else last
    first = max(first + count, 0) if first < 0 else min(first, count)
    last = max(last + count, 0) if last < 0 else min(last, count)
    return first, last


def _downwards(count, first, last):
    first = -1 if first is None else first
    first = max(first + count, -1) if first < 0 else min(first, count - 1)
    if last is None:
        return first, -1
    last = max(last + count, -1) if last < 0 else min(last, count - 1)
    return first, last


# ---- Python's own functions ----------------------------------------------------------------------


@evaluates(range)
def make_range(lowering: Lowering, *bounds: Any) -> Any:
    known = [_whole(constant_value(each)) for each in bounds]
    if not any(isinstance(each, Symbol) for each in known):
        return range(*known)
    if len(known) == 1:
        known = [0, *known]
    return Range(*known, *[1] * (3 - len(known)))


def _whole(value: Any) -> Any:
    """A bound of a range: an integer, known or not."""
    if not isinstance(value, Symbol):
        return operator.index(unwrap(value))
    if values.is_inexact(value.fact) and not isinstance(value.fact, values.Unknown):
        raise TypeError("'float' object cannot be interpreted as an integer")
    return value


def is_apart(value: Any) -> bool:
    """Whether iterating over the value gives items that the frontend holds one by one."""
    if isinstance(value, Box) and (value.is_dynamic or may_lack_items(value)):
        return False
    if isinstance(value, Tree):
        return is_sequence(value) or value.kind in (dict, set, *VIEWS)
    return isinstance(value, str | bytes)


def zip_columns(lowering: Lowering, *columns: Any, strict: Any = False) -> Any:
    """What zip() gives of columns that are no iterators."""
    if all(map(is_apart, columns)):
        counts = {count_now(each) for each in columns}
        if strict and len(counts) > 1:
            raise ValueError("zip() arguments have different lengths")
        return deferred(
            lambda i: sequence(tuple, [item_now(each, i) for each in columns]),
            lambda: min(map(count_now, columns), default=0),
            *columns,
        )
    turned = all(isinstance(each, Reversed) for each in columns)
    parts = [_items_now(lowering, each.items if turned else each) for each in columns]
    lengths = [each.length for each in parts]
    count = shortest(lowering, lengths, strict, any(map(is_apart, columns)))
    as_long = isinstance(count, Symbol) and all(_are_equal(lowering, count, e) for e in lengths)
    if turned and not as_long:  # their last items are not beside each other
        turned, parts = False, [items_of(lowering, each) for each in columns]

    def at(index: Any) -> Any:
        return sequence(tuple, [each.at(index) for each in parts])

    items = Items(count, at, tuple(each for part in parts for each in part.sources))
    return Reversed(items) if turned else items


def _items_now(lowering: Lowering, column: Any) -> Items:
    """The items of a column, each as it is when it is read: a loop may change a list it reads."""
    items = items_of(lowering, column)
    if not is_apart(column):
        return items

    def at(index: Any) -> Any:
        if type(index) is not int:
            return items.at(index)
        if count_now(column) != items.length:
            raise UnsupportedError(
                "S2S201",
                "a list that gets longer or shorter while it is read beside an array",
                help="loop over a copy of it: list(...)",
            )
        return item_now(column, index)

    return Items(items.length, at, items.sources)


def shortest(lowering: Lowering, lengths: list, strict: Any, decided: bool) -> Any:
    """The length of the shortest of several columns.

    Where it has to be `decided` now, for the items of one are known, the lengths of arrays count by
    value; any other length has to be as large as that, or larger: this is checked.
    """
    known = {each for each in lengths if isinstance(each, int) and each != ENDLESS}
    unknown = {each.name: each for each in lengths if isinstance(each, Symbol)}
    if strict and len(known) > 1:
        raise lowering.there_is_none(ValueError("zip() arguments have different lengths"))
    if known and (decided or strict or not unknown):
        for each in unknown.values():
            if not strict and counts_by_value(lowering, each):
                raise NeedStatic(each.name, "the number of items that zip() or map() reads")
            _require_items(lowering, each, min(known), strict)
        return min(known)
    if not known and not unknown:
        return ENDLESS
    first, *others = [*unknown.values(), *([min(known)] if known else ())]
    for each in others:
        if strict:
            differ = lowering.call(operator.ne, first, each)
            lowering.raise_where(differ, ValueError("zip() arguments have different lengths"))
        else:
            first = _shorter(lowering, first, each)
    return first


def _shorter(lowering: Lowering, one: Any, other: Any) -> Any:
    """The smaller of two lengths; one of them where forms, or what is assumed, tell which."""
    if _is_longer(lowering, other, one):
        return one
    if _is_longer(lowering, one, other):
        return other
    same = _are_equal(lowering, one, other)
    return one if same else lowering.call(np.minimum, one, other)


def _is_longer(lowering: Lowering, longer: Any, shorter: Any) -> bool:
    """Whether a length is certain not to be below another one."""
    known = [lowering.builder.size(each) for each in (longer, shorter)]
    return not values.missing(known) and sizes.is_natural(known[0] - known[1])


def _are_equal(lowering: Lowering, *lengths: Any) -> bool:
    """Whether two lengths are equal, by their forms or in the calls that are served."""
    known = [lowering.builder.size(each) for each in lengths]
    return not values.missing(known) and sizes.equals(*known)


def _require_items(lowering: Lowering, length: Symbol, known: int, strict: Any) -> None:
    """Append a check that a column has the number of items that is known, or is longer."""
    if strict:
        error: Exception = ValueError("zip() arguments have different lengths")
    else:  # Python would end with the shorter one
        error = NotImplementedError(f"zip() of {known} items with an array that has fewer")
    require(lowering, length, known, error, at_least=not strict)


def counts_by_value(lowering: Lowering, number: Symbol) -> bool:
    """Whether code can be made for each value of a number: of the lengths of arguments it can, and
    of what is read of a list that is captured.

    Where they are known already, the number depends on what the arrays hold.
    """
    builder = lowering.builder
    names = builder.ancestors(number.name)
    if not names.isdisjoint(lowering.captures.lists):
        return True  # its items can be taken apart
    facts = [builder.facts[each] for each in names]
    given = [builder.facts[each] for each in names if each not in builder.definitions]
    return (
        any(map(values.atoms_of, given))
        and not any(isinstance(fact, values.Unknown) for fact in facts)
        and may_be_known(lowering, number)
    )


@evaluates(enumerate)
def enumerated(lowering: Lowering, items: Any, start: Any = 0) -> Any:
    if is_apart(items) and not isinstance(start, Symbol):
        first = operator.index(start)
        return deferred(
            lambda i: sequence(tuple, [first + i, item_now(items, i)]),
            lambda: count_now(items),
            items,
        )
    inner = items_of(lowering, items)

    def at(index: Any) -> Any:
        number = index if is_number(start, 0) else lowering.call(operator.add, index, start)
        return sequence(tuple, [number, inner.at(index)])

    return Items(inner.length, at, (*inner.sources, start))


@evaluates(reversed)
def backwards(lowering: Lowering, items: Any) -> Any:
    if is_apart(items):
        count = count_now(items)
        return deferred(lambda i: item_now(items, count - 1 - i), lambda: count, items)
    if isinstance(items, range):
        return items[::-1]
    return Reversed(items)


@evaluates(map)
def mapped(lowering: Lowering, function: Any, *columns: Any) -> Any:
    if all(map(is_apart, columns)):
        rows = zip(*(known_items(lowering, each) for each in columns), strict=False)
        return sequence(list, [apply(lowering, function, [*row], {}) for row in rows])
    parts = [_items_now(lowering, each) for each in columns]

    def at(index: Any) -> Any:
        return apply(lowering, function, [each.at(index) for each in parts], {})

    count = shortest(lowering, [each.length for each in parts], False, any(map(is_apart, columns)))
    return Items(count, at, (function, *(each for part in parts for each in part.sources)))
