"""sorted() and list.sort(): decided now where the order is known, else by np.argsort."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower import growing, slots
from s2s_ad.frontend.lower.builtin import evaluates
from s2s_ad.frontend.lower.calls import apply, known_object
from s2s_ad.frontend.lower.comprehensions import consumed, generator_over
from s2s_ad.frontend.lower.conditions import asked, known_truth, truth_of
from s2s_ad.frontend.lower.containers import changeable, new_list, sequence
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.entries import may_lack_items
from s2s_ad.frontend.lower.growing import is_growing
from s2s_ad.frontend.lower.lengths import items_needed
from s2s_ad.frontend.lower.lists import iterated, method
from s2s_ad.frontend.lower.objects import NOTHING, class_of
from s2s_ad.frontend.lower.operators import compared_objects
from s2s_ad.frontend.lower.picking import in_order
from s2s_ad.frontend.lower.references import Box, settled, symbols
from s2s_ad.frontend.lower.string_unions import word
from s2s_ad.frontend.resolve import unwrap

HERE = gast.Constant(value=None, kind=None)


@method(list.sort)
def sort(lowering: Lowering, value: Any, *, key: Any = None, reverse: Any = False) -> None:
    made = sorted_items(lowering, value, key=key, reverse=reverse)
    lowering.memory.change(changeable(value), made.content)


@evaluates(sorted)
def sorted_items(lowering: Lowering, items: Any, *, key: Any = None, reverse: Any = False) -> Any:
    """A list of the items in order; which of two equal ones is first stays."""
    found = iterated(lowering, items)
    key, backwards = None if unwrap(key) is None else key, bool(known_object(reverse))
    if may_lack_items(found):
        return _of_those_there(lowering, found, key, backwards)
    if is_growing(found):
        keys = _keys_of_any(lowering, found, key)
        return _in_order(lowering, found, growing.copy(lowering, found), keys, backwards)
    keys = [each if key is None else apply(lowering, key, [each], {}) for each in found.items]
    keys = _places(lowering, keys)
    known = _known_keys(keys)
    if known is not None:
        order = sorted(range(len(known)), key=known.__getitem__, reverse=backwards)
        return new_list(lowering, [found.items[i] for i in order])
    by_itself = key is None and not (_are_tuples(keys) or _are_objects(found.items))
    columns = None if by_itself else _columns(lowering, keys)
    if columns is not None and lowering.memory.tells_apart and growing.holds_objects(found):
        return new_list(lowering, in_order(lowering, found.items, _order(columns, backwards)))
    lowering.lumped |= growing.holds_objects(found)
    texts = _Texts(lowering)
    numbered = Tree(list, found.keys, tuple(texts.numbered([*found.items])))
    whole = Box(lowering.memory, growing.list_value(lowering, numbered), list)
    lowering.memory.hold_items(whole, Tree(list, found.keys, found.items))
    if _have_kinds(whole.content):
        keys = columns or [lowering.builder.call(np.array, (whole.content,), {})]
        return new_list(
            lowering, _picked(lowering, whole, _order(keys, backwards), len(found.items))
        )
    made = _in_order(lowering, found, whole, columns, backwards)
    items = [texts.back(growing.item(lowering, made, i)) for i in range(len(keys))]
    growing.change_with(whole, items)
    return new_list(lowering, items)


def _have_kinds(content: Any) -> bool:
    """Whether some items are Python's numbers and some NumPy's: an array would make them alike,
    and what is computed with one in single precision depends on which it is."""
    item = content.fact.item if isinstance(content, Symbol) else None
    return isinstance(item, values.Array) and values.may_be_python(item)


def _picked(lowering: Lowering, whole: Box, order: Symbol, count: int) -> list[Any]:
    """The items of a list at the indices that an array has."""
    with lowering.builder.trusting([0]):
        places = [lowering.call(operator.getitem, order, slot) for slot in range(count)]
    return [growing.item(lowering, whole, place) for place in places]


def _of_those_there(lowering: Lowering, found: Box, key: Any, backwards: bool) -> Any:
    """A list in order of which a branch decides what it holds: what is missing comes last."""
    _, missing, items = zip(*slots.places(lowering, found), strict=True)
    keys = [each if key is None else apply(lowering, key, [each], {}) for each in items]
    if key is None and _are_objects(items):
        raise _refusal()
    last = [lowering.call(operator.sub, 1, each) if backwards else each for each in missing]
    columns = _columns(lowering, [sequence(tuple, pair) for pair in zip(last, keys, strict=True)])
    order = _order(columns, backwards)
    return slots.in_order(lowering, found, in_order(lowering, items, order))


def _are_objects(keys: Sequence[Any]) -> bool:
    """Whether these are objects of classes of the user's, and not all of them known."""
    kinds = [class_of(each) for each in keys]
    own = all(each is not None and not issubclass(each, tuple) for each in kinds)
    return own and any(isinstance(each, Tree) for each in keys)


def _places(lowering: Lowering, keys: list) -> list:
    """Of objects, how many of them come before each, as their class compares them; other keys as
    they are."""
    if not _are_objects(keys):
        return keys

    def comes_before(a: Any, b: Any) -> Any:
        found = compared_objects(lowering, HERE, gast.Lt, a, b)
        if found is NOTHING:
            names = " and ".join(class_of(each).__name__ for each in (a, b))
            raise TypeError(f"'<' not supported between instances of {names}")
        said = asked(lowering, found)
        truth = known_truth(said)
        return truth_of(lowering, said) if truth is None else truth

    def place(i: int) -> Any:
        before = [comes_before(each, keys[i]) for j, each in enumerate(keys) if j != i]
        unknown = [each for each in before if isinstance(each, Symbol)]
        known = sum(each for each in before if not isinstance(each, Symbol))
        return functools.reduce(lambda a, b: lowering.call(operator.add, a, b), unknown, known)

    return [place(i) for i in range(len(keys))]


class _Texts:
    """Texts that differ from item to item: they are sorted as numbers, of what they are is looked
    up afterwards."""

    def __init__(self, lowering: Lowering):
        self.lowering = lowering
        self.places: dict[tuple, list[str]] = {}

    def numbered(self, items: list) -> list:
        """The tuples and objects with the number of the item for each such text."""
        plain = [each for each in items if isinstance(each, Tree) and not is_growing(each)]
        if len(plain) < len(items) or any(each.kind is list for each in plain):
            return items
        if len({(each.kind, each.keys) for each in plain}) > 1:
            return items
        for index, column in enumerate(zip(*(each.items for each in plain), strict=True)):
            if all(type(each) is str for each in column) and len(set(column)) > 1:
                self.places[index,] = list(column)
        if not self.places:
            return items
        return [self._with_number(i, each) for i, each in enumerate(plain)]

    def _with_number(self, number: int, item: Tree) -> Tree:
        parts = [
            number if (index,) in self.places else each for index, each in enumerate(item.items)
        ]
        return Tree(item.kind, item.keys, tuple(parts))

    def back(self, item: Any) -> Any:
        """An item with the texts that the numbers stand for."""
        if not self.places:
            return item
        call = self.lowering.builder.call
        parts = list(item.items)
        for (place,), texts in self.places.items():
            words = call(runtime.list_of, tuple(texts), {})
            parts[place] = word(call(operator.getitem, (words, settled(parts[place])), {}))
        made = Tree(item.kind, item.keys, tuple(parts))
        if issubclass(item.kind, tuple):
            return made
        box = self.lowering.memory.box(made)
        box.refusal = item.refusal
        return box


def _known_keys(keys: list) -> list | None:
    """What decides on the order, where that is known: of tuples what they begin with is enough,
    where no two begin with the same."""
    if not any(True for _ in symbols(tuple(keys))):
        return [known_object(each) for each in keys]
    if not all(isinstance(each, Tree) and each.kind is tuple for each in keys):
        return None
    for count in range(1, min(len(each.items) for each in keys)):
        heads = [each.items[:count] for each in keys]
        if any(True for _ in symbols(tuple(heads))):
            return None
        known = [tuple(map(known_object, head)) for head in heads]
        if not any(a == b for i, a in enumerate(known) for b in known[:i]):
            return known
    return None


def _are_tuples(keys: list) -> bool:
    """Whether the keys are tuples of one length."""
    tuples = all(isinstance(each, Tree) and each.kind is tuple for each in keys)
    return tuples and len({len(each.items) for each in keys}) == 1


def _columns(lowering: Lowering, keys: list) -> list[Symbol]:
    """The numbers to sort by, those that decide first before the others."""
    rows = [each.items for each in keys] if _are_tuples(keys) else [[each] for each in keys]
    columns = zip(*rows, strict=True)
    return [lowering.builder.call(np.array, ([*map(_number, e)],), {}) for e in columns]


def _keys_of_any(lowering: Lowering, items: Box, key: Any) -> list[Symbol] | None:
    """The numbers to sort by; None where the items themselves are the numbers."""
    if key is None:
        return None
    found = generator_over(lowering, items, HERE)
    made = consumed(lowering, found, "T = []", "T.append(G(E))", values={"G": key})
    if not is_growing(made) or not _holds_numbers(made):
        raise _refusal()
    return [lowering.builder.call(np.array, (made.content,), {})]


def _holds_numbers(items: Box) -> bool:
    content = items.content
    return isinstance(content, Symbol) and values.shape_of(content.fact.item) == ()


def _number(value: Any) -> Any:
    held = settled(value)
    if type(held) in values.PYTHON_NUMBERS or (isinstance(held, Symbol) and held.shape == ()):
        return held
    raise _refusal()


def _refusal(what: str = "values that are not known, and are not numbers") -> UnsupportedError:
    return UnsupportedError(
        "S2S205",
        f"sorting by {what}",
        help="sort by one number: sorted(items, key=lambda item: item[0])",
    )


def _in_order(
    lowering: Lowering, source: Tree, whole: Box, keys: list[Symbol] | None, backwards: bool
) -> Box:
    """The items of `whole`, a copy of the source, by the keys or by themselves."""
    call = lowering.builder.call
    if _have_kinds(whole.content):
        order = _order(keys or [call(np.array, (whole.content,), {})], backwards)
        places = generator_over(lowering, lowering.memory.fresh(order), HERE)
        return consumed(lowering, places, "T = []", "T.append(L[E])", values={"L": whole})
    if keys is None:
        if not _holds_numbers(whole):
            raise items_needed(source, _refusal())
        array = call(np.sort, (call(np.array, (whole.content,), {}),), {})
        array = array[::-1] if backwards else array
        return Box(lowering.memory, _items(array, whole.content), list)
    order = _order(keys, backwards)

    def gathered(column: Symbol) -> Symbol:
        if isinstance(column.fact.item, values.List):
            raise items_needed(source, _refusal("lists whose lengths are not known"))
        whole = call(np.array, (column,), {})
        with lowering.builder.trusting([0]):
            return _items(call(operator.getitem, (whole, order), {}), column)

    made = Box(lowering.memory, growing.each_column(gathered, whole.content), list)
    lowering.memory.share_items(made, whole)
    return made


def _items(array: Symbol, source: Symbol) -> Symbol:
    """The items of an array as a list; Python's numbers, where the list that it was had such."""
    numbers = isinstance(source.fact, values.List) and isinstance(source.fact.item, values.Scalar)
    options = {"numbers": True} if numbers else {}
    return array.builder.call(runtime.list_rows, (array,), options)


def _order(keys: list[Symbol], backwards: bool) -> Symbol:
    """The positions of the keys from the smallest to the largest, or the other way round."""
    if backwards:
        last = np.size(keys[0], 0) - 1
        return (last - _order([each[::-1] for each in keys], False))[::-1]
    if len(keys) == 1:
        return np.argsort(keys[0], kind="stable")
    return keys[0].builder.call(np.lexsort, (keys[::-1],), {})
