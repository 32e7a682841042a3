"""Lists whose length is not known: one value of Core each, and each change an operation on it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.program import TEMPORARY
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower import rows
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.kinds import (
    Kinds,
    Leaf,
    contents,
    hint_of,
    is_leaf,
    is_list,
    is_same,
)
from s2s_ad.frontend.lower.lengths import OfOpenList
from s2s_ad.frontend.lower.may_alias import link, may_be_same
from s2s_ad.frontend.lower.optional import is_optional
from s2s_ad.frontend.lower.picked import is_picked
from s2s_ad.frontend.lower.references import (
    Box,
    View,
    changing,
    holds_numbers,
    is_open,
    is_rows,
    settled,
)
from s2s_ad.frontend.resolve import unwrap
from s2s_ad.rules.unpacking import unpacking

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
    if isinstance(held, Symbol) or type(held) in (*values.PYTHON_NUMBERS, str):
        return held
    kind = held.kind.__name__ if isinstance(held, Tree) else type(unwrap(held)).__name__
    what = "one of several objects" if is_picked(value) else f"a {kind}"
    raise UnsupportedError(
        "S2S201",
        f"{what} in a list whose length is not known when code is generated",
        help="keep a list of numbers or arrays for each of its parts",
    )


def list_value(lowering: Lowering, value: Tree) -> Any:
    """A list of known length as one value of Core, or as one for each part of its items."""
    if value.items and all(map(rows.is_row, value.items)):
        return _list_of_rows(lowering, value)
    items = tuple(as_value(lowering, each) for each in value.items)
    return lowering.builder.call(runtime.list_of, items, {})


def _list_of_rows(lowering: Lowering, value: Tree) -> Any:
    """A list of containers, as one value for each part of these; of lists, one list of lists."""
    if all(map(is_list, map(contents, value.items))):
        items = tuple(as_value(lowering, each) for each in value.items)
        return lowering.builder.call(runtime.list_of, items, {})
    try:
        template = rows.general_rows(lowering.builder, [sequence_of(value)], TEMPORARY)
    except Kinds as kinds:
        raise UnsupportedError("S2S201", str(kinds), help=ADVICE) from None
    parts = rows.transposed(template.items[0], value.items)
    return rows.rows(_listed(lowering, template.items[0], parts))


def sequence_of(value: Tree) -> Tree:
    """The items of a list or tuple as those of a list."""
    return Tree(list, value.keys, value.items)


def _listed(lowering: Lowering, template: Any, parts: Any) -> Any:
    """The parts of lists of known length as values of Core."""
    if isinstance(template, Leaf):
        items = tuple(as_value(lowering, each) for each in parts.items)
        return lowering.builder.call(runtime.list_of, items, {})
    if not isinstance(template, Tree):
        return template
    made = tuple(_listed(lowering, *each) for each in zip(template.items, parts.items, strict=True))
    return Tree(template.kind, template.keys, made)


def each_column(function: Callable[..., Any], content: Any, *others: Any) -> Any:
    """What a list holds after the same change of each of its columns."""
    if isinstance(content, Symbol):
        return function(content, *others)
    inner = [each.items[0] if rows.is_rows(each) else each for each in others]
    return rows.rows(rows.over(function, content.items[0], *inner))


def is_uniform(lowering: Lowering, value: Tree) -> bool:
    """Whether the items are numbers, or arrays of one dtype and rank: one item may be any."""
    if value.items and all(isinstance(each, Tree) for each in value.items):
        return _has_uniform_parts(lowering, value)
    facts = [_fact(lowering, each) for each in value.items]
    if not facts or any(each is None for each in facts):
        return False
    numbers = [isinstance(each, values.Scalar) for each in facts]
    if any(numbers):
        return all(numbers) or all(values.shape_of(each) == () for each in facts)
    alike = {(each.dtype, each.rank) for each in facts if isinstance(each, values.Array)}
    return len(alike) == 1 and all(isinstance(each, values.Array) for each in facts)


def _has_uniform_parts(lowering: Lowering, value: Tree) -> bool:
    """Whether containers have one structure, and each of its parts is uniform over them."""
    opened = [contents(each) for each in value.items]
    if not all(isinstance(each, Tree) for each in opened) or not opened[0].items:
        return False
    if any((each.kind, each.keys) != (opened[0].kind, opened[0].keys) for each in opened):
        return False
    columns = zip(*(each.items for each in opened), strict=True)
    return all(
        is_uniform(lowering, Tree(list, value.keys, column))
        or all(is_same(column[0], each) for each in column)
        for column in columns
    )


def holds_objects(value: Tree) -> bool:
    """Whether among the items are some that may change."""
    return any(True for each in value.items for _ in changing(each))


def may_hold(value: Tree, item: Any) -> bool:
    """Whether an item is of one kind with those of a list, so that it may be any of them."""
    return len({_kind(contents(each)) for each in (*value.items, item)}) == 1


def _kind(content: Any) -> Any:
    held = content.items[1] if is_optional(content) else content
    if is_list(held):
        return list
    if isinstance(held, Tree):
        return held.kind, held.keys
    return Symbol if is_leaf(held) else type(held)


def _fact(lowering: Lowering, value: Any) -> Any:
    if isinstance(value, Symbol) or type(value) in values.PYTHON_NUMBERS:
        return lowering.builder.fact(value)
    return None


def begin(lowering: Lowering, value: Tree) -> Any:
    """Make one value of a list, for an item is named by a number that is not known now."""
    if is_growing(value):
        return value.content
    lowering.lumped |= holds_objects(value)
    content = list_value(lowering, value)
    lowering.builder.named(content, hint_of(lowering, value))
    if isinstance(value, Box) and value.kind is list and value.source is None:
        lowering.memory.assign(value, content)
    return content


def item(lowering: Lowering, value: Tree, index: Any) -> Any:
    """`items[i]`, which may be written to."""
    builder, content = lowering.builder, begin(lowering, value)
    place = settled(index)
    if rows.is_rows(content):
        return _row(lowering, value, content, place)

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


def _row(lowering: Lowering, value: Tree, content: Tree, place: Any) -> Any:
    """`items[i]` of a list of containers: made of an item of each of its columns."""
    own = isinstance(value, Box) and value.distinct and not isinstance(place, slice)
    if own and _are_objects_of_numbers(content):
        return _object(lowering, value, content, place)
    part = each_column(lambda column: _part(lowering, column, place), content)
    if isinstance(place, slice):
        made = Box(lowering.memory, part, list)
        if isinstance(value, Box):
            lowering.memory.share_items(made, value)
        return made
    made = _made_of(lowering, part.items[0], lambda each: _item_of(lowering, value, each))
    if isinstance(value, Box):
        change_with(value, made)
    return made


def _are_objects_of_numbers(content: Tree) -> bool:
    """Whether the items are objects, lists or dicts, and what these hold are numbers."""
    structure = content.items[0]
    if not isinstance(structure, Tree) or issubclass(structure.kind, tuple):
        return False
    return holds_numbers(content) and not any(isinstance(e, Tree) for e in structure.items)


def _object(lowering: Lowering, value: Box, content: Tree, place: Any) -> Box:
    """`items[i]` that is an object of numbers: a view of the list, whose columns have them."""
    known: dict[str, Any] = {}  # by the column what the object holds of it

    def part_of(column: Symbol) -> Symbol:
        known[column.name] = _part(lowering, column, place)
        return _item_of(lowering, value, known[column.name])

    def read(whole: Tree) -> Tree:
        return rows.over(part_of, whole.items[0])

    def set_column(column: Symbol, part: Any) -> Symbol:
        new = as_value(lowering, part)
        old = known.get(column.name)
        if isinstance(new, Symbol) and isinstance(old, Symbol) and old.name == new.name:
            return column
        changed = lowering.builder.call(runtime.index_set, (column, place, new), {})
        lowering.builder.named(changed, lowering.builder.hints.get(column.name, TEMPORARY))
        known[changed.name] = new
        return changed

    def write(whole: Tree, part: Tree) -> Tree:
        matched(whole, part)
        return each_column(set_column, whole, part)

    return lowering.memory.row_of(value, read(content), View(value, read, write))


def change_with(box: Box, items: Any) -> None:
    """The objects that were read of a list are those that were put into it: who changes one of
    these changes one of them, which nobody may read then."""
    held = [each for each in box.kin if isinstance(each, Box)]
    for part in changing(items):
        if isinstance(part, Box):
            link(part, box.root)
        for each in held if isinstance(part, Box) else ():
            may_be_same(part, each)


def _item_of(lowering: Lowering, value: Tree, symbol: Symbol) -> Any:
    if isinstance(value, Box):
        return lowering.memory.item_of(value, symbol)
    return lowering.memory.fresh(symbol)


def _made_of(lowering: Lowering, part: Any, leaf: Callable[[Symbol], Any]) -> Any:
    """The container that is an item; what could be changed in it may not be."""
    if isinstance(part, Symbol):
        return leaf(part)
    if not isinstance(part, Tree):
        return part
    made = Tree(part.kind, part.keys, tuple(_made_of(lowering, each, leaf) for each in part.items))
    if issubclass(part.kind, tuple):
        return made
    box = lowering.memory.box(made)
    kind = part.kind.__name__
    box.refusal = OfOpenList(f"a {kind} in a list whose length is not known is changed")
    return box


def change(lowering: Lowering, box: Box, content: Any, added: Any = None) -> None:
    """Let a list hold something else, which is called as what it held."""
    if is_growing(box) and is_open(content):
        pairs = zip(rows.columns(box.content), rows.columns(content), strict=True)
        for old, new in pairs:
            lowering.builder.named(new, lowering.builder.hints.get(old.name, TEMPORARY))
    lowering.memory.change(box, content, added)


def set_item(lowering: Lowering, box: Box, index: Any, value: Any) -> None:
    """`items[i] = value`."""
    if isinstance(index, slice):
        return _set_slice(lowering, box, index, value)
    content, place = begin(lowering, box), settled(index)
    matched(content, value)

    def set_column(column: Symbol, part: Any) -> Symbol:
        operands = (column, place, as_value(lowering, part))
        return lowering.builder.call(runtime.index_set, operands, {})

    change(lowering, box, each_column(set_column, content, value), value)


def _set_slice(lowering: Lowering, box: Box, part: slice, items: Tree) -> None:
    """`items[a:b] = others`: what stands before them, the others, and what stands after."""
    start, stop = part.start or 0, part.stop
    plain = part.step in (None, 1) and all(type(x) is int and x >= 0 for x in (start, stop or 0))
    if not plain or not isinstance(items, Tree) or items.kind not in (list, tuple):
        raise refuse("such an assignment to a slice of")
    made = begin(lowering, box)
    pieces = [each_column(lambda c: _part(lowering, c, slice(start)), made)] if start else []
    if is_growing(items) or items.items:
        pieces.append(as_value(lowering, items if is_growing(items) else sequence_of(items)))
    if stop is not None:
        after = slice(max(start, stop), None)
        pieces.append(each_column(lambda c: _part(lowering, c, after), made))
    if not pieces:
        raise refuse("an assignment that empties")
    content = pieces[0]
    for each in pieces[1:]:
        content = each_column(lambda *pair: _join(lowering, *pair), *_alike(content, each))
    change(lowering, box, content, None if is_growing(items) else items)
    if is_growing(items):
        lowering.memory.share_items(box, items)


def matched(content: Any, value: Any) -> None:
    """Refuse an item of another structure than the others."""
    if rows.is_rows(content):
        rows.check(content.items[0], value)


def append(lowering: Lowering, box: Box, value: Any) -> None:
    matched(box.content, value)

    def append_to(column: Symbol, part: Any) -> Symbol:
        operands = (column, as_value(lowering, part))
        return lowering.builder.call(runtime.list_append, operands, {})

    change(lowering, box, each_column(append_to, box.content, value), value)


def extend(lowering: Lowering, box: Box, items: Tree) -> None:
    if not is_growing(items) and not items.items:
        return
    content, more = _alike(*(as_value(lowering, each) for each in (box, items)))
    content = each_column(lambda *pair: _join(lowering, *pair), content, more)
    change(lowering, box, content, None if is_growing(items) else items)
    if is_growing(items):
        lowering.memory.share_items(box, items)


def _alike(a: Any, b: Any) -> tuple[Any, Any]:
    """What two lists hold, which have to be of one structure."""
    pair = [each.items[0] if rows.is_rows(each) else each for each in (a, b)]
    if rows.is_rows(a) is not rows.is_rows(b) or not rows.are_alike(*pair):
        raise refuse("items of another structure than those of")
    return a, b


def _join(lowering: Lowering, a: Symbol, b: Symbol) -> Symbol:
    return lowering.builder.call(runtime.list_join, (a, b), {})


def joined(lowering: Lowering, a: Tree, b: Tree) -> Box:
    """`a + b`."""
    made = copy(lowering, a)
    extend(lowering, made, b)
    return made


def insert(lowering: Lowering, box: Box, index: Any, value: Any) -> None:
    place, content = settled(index), begin(lowering, box)
    matched(content, value)

    def insert_into(column: Symbol, part: Any) -> Symbol:
        made = lowering.builder.call(runtime.list_of, (as_value(lowering, part),), {})
        if type(place) is not int or place != 0:
            made = _join(lowering, _part(lowering, column, slice(place)), made)
        return _join(lowering, made, _part(lowering, column, slice(place, None)))

    change(lowering, box, each_column(insert_into, content, value), value)


def delete(lowering: Lowering, box: Box, index: Any) -> None:
    """`del items[i]`."""
    if isinstance(index, slice):
        raise refuse("'del' of such items of")
    if isinstance(index, Symbol):
        _pop_anywhere(lowering, box, index)
        return
    needed = index + 1 if index >= 0 else -index
    missing = lowering.builder.call(operator.lt, (length(lowering, box), needed), {})
    require(lowering, missing, IndexError("list index out of range"))
    _pop_anywhere(lowering, box, index)


def _part(lowering: Lowering, content: Symbol, part: Any) -> Symbol:
    rows_ = lowering.builder.operands_of(content, runtime.list_parts)
    if rows_ and not isinstance(part, slice):
        row = lowering.builder.call(operator.getitem, (*rows_, part), {})  # no list of parts
        return unpacking(len(row.fact.kinds)).items(lowering.builder, row)[_part_of(content)]
    return lowering.builder.call(operator.getitem, (content, part), {})


def _part_of(column: Symbol) -> int:
    """Which part of each row a list of parts holds."""
    _, _, params = column.builder.definition(column)
    return params["part"]


def pop(lowering: Lowering, box: Box, index: Any) -> Any:
    if isinstance(index, Symbol) or operator.index(index) != -1:
        return _pop_anywhere(lowering, box, settled(index))
    last: dict[str, Symbol] = {}

    def pop_from(column: Symbol) -> Symbol:
        result = lowering.builder.call(runtime.list_pop, (column,), {})
        last[column.name], rest = (lowering.builder.emit_item(result, i) for i in range(2))
        return rest

    rest = each_column(pop_from, box.content)
    popped = _popped(lowering, box, lambda column: last[column.name])
    change(lowering, box, rest)
    return popped


def _popped(lowering: Lowering, box: Box, item: Callable[[Symbol], Symbol]) -> Any:
    """The item that leaves a list; `item` gives that of a column."""
    content = box.content.items[0] if rows.is_rows(box.content) else box.content
    return _made_of(lowering, content, lambda each: lowering.memory.popped(box, item(each)))


def _pop_anywhere(lowering: Lowering, box: Box, index: Any) -> Any:
    """`items.pop(0)`: the item, and the list of the others."""
    content = begin(lowering, box)
    if not is_growing(box):  # an argument: now it is changed
        lowering.memory.assign(box, content)
    if isinstance(index, Symbol):
        index = _counted_from_start(lowering, box, index)

    def without(column: Symbol) -> Symbol:
        known = not isinstance(index, Symbol)
        pieces = [slice(index)] if not known or index else []
        pieces += [slice(index + 1, None)] if not known or index != -1 else []
        parts = [_part(lowering, column, each) for each in pieces]
        return parts[0] if len(parts) == 1 else _join(lowering, *parts)

    popped = _popped(lowering, box, lambda column: _part(lowering, column, index))
    change(lowering, box, each_column(without, box.content))
    return popped


def _counted_from_start(lowering: Lowering, box: Box, index: Symbol) -> Symbol:
    """A place that is not known as one that is not negative; IndexError where there is none."""
    rule, _, _ = lowering.builder.definition(index)
    if rule is not None and rule.function is runtime.list_index:
        return index
    call, count = lowering.builder.call, length(lowering, box)
    beyond = call(operator.ge, (index, count), {})
    before = call(operator.lt, (index, call(operator.neg, (count,), {})), {})
    missing = call(np.logical_or, (beyond, before), {})
    require(lowering, missing, IndexError("pop index out of range"))
    return call(operator.mod, (index, count), {})


def require(lowering: Lowering, missing: Symbol, error: Exception) -> None:
    """Where the condition is true the function raises this error."""
    made = gast.Call(form.constant(type(error)), [*map(form.constant, error.args)], [])
    check = gast.If(form.name(missing.name), [gast.Raise(made, None)], [])
    lowering.builder.effect(check, {missing.name: missing})


def as_array(lowering: Lowering, content: Any) -> Any:
    """The list as an argument of NumPy's: of containers it is an array, as np.array makes it."""
    if isinstance(content, Symbol):
        return content
    structure = content.items[0] if rows.is_rows(content) else content
    if not isinstance(structure, Tree) or not issubclass(structure.kind, tuple | list):
        raise refuse("an array of")
    whole = _of_tuples(lowering, structure)
    if whole is not None:
        return whole
    columns = [as_array(lowering, each) for each in structure.items]
    call = lowering.builder.call
    arrays = [call(np.array, (c,), {}) if isinstance(c.fact, values.List) else c for c in columns]
    return call(np.stack, (arrays,), {"axis": 1})


def _of_tuples(lowering: Lowering, structure: Tree) -> Symbol | None:
    """The list of tuples that is an argument, if these are the lists of all their parts."""
    sources = [lowering.builder.operands_of(each, runtime.list_parts) for each in structure.items]
    if not all(sources) or len({whole.name for (whole,) in sources}) > 1:
        return None
    ((whole,), *_) = sources
    parts = [_part_of(each) for each in structure.items]
    return whole if parts == [*range(len(whole.fact.item.kinds))] else None


def copy(lowering: Lowering, value: Tree) -> Box:
    """A list of the same items."""
    if not is_growing(value):
        return lowering.memory.box(Tree(list, value.keys, value.items))
    made = Box(lowering.memory, value.content, list)
    lowering.memory.share_items(made, value)
    return made


def reverse(lowering: Lowering, box: Box) -> None:
    order = slice(None, None, -1)
    change(lowering, box, each_column(lambda c: _part(lowering, c, order), box.content))


def turned(lowering: Lowering, value: Any) -> list[Box] | None:
    """What zip(*value) gives of a list of tuples whose number is not known: a list for each of
    their places. None of anything else."""
    if not (isinstance(value, Box) and value.is_dynamic and is_rows(value.content)):
        return None
    (structure,) = value.content.items
    if not isinstance(structure, Tree) or structure.kind not in (tuple, list):
        return None
    none = lowering.call(operator.eq, length(lowering, value), 0)
    lowering.raise_where(none, ValueError("not enough values to unpack: zip() of no items"))
    parts = (each if isinstance(each, Symbol) else rows.rows(each) for each in structure.items)
    return [Box(lowering.memory, each, list) for each in parts]


def is_repeated(lowering: Lowering, value: Tree, count: Any) -> bool:
    """Whether `value * count` is a list of one number, repeated as often as the run says."""
    if value.kind is not list or is_growing(value) or len(value.items) != 1:
        return False
    fact = _fact(lowering, value.items[0])
    number = fact is not None and values.shape_of(fact) == ()
    whole = isinstance(count, Symbol) and count.shape == () and not values.is_inexact(count.fact)
    return number and whole


def several(lowering: Lowering, value: Box, count: int) -> Box:
    """`items * 2`"""
    made = copy(lowering, value)
    if count < 1:
        lowering.memory.change(made, sequence_of(Tree(list, (), ())))
    for _ in range(count - 1):
        extend(lowering, made, value)
    return made


def repeated(lowering: Lowering, value: Tree, count: Symbol) -> Box:
    """`[x] * n`"""
    array = lowering.builder.call(np.full, (settled(count), settled(value.items[0])), {})
    return Box(lowering.memory, lowering.builder.call(runtime.list_rows, (array,), {}), list)


def length(lowering: Lowering, box: Box) -> Any:
    first = rows.measure(box.content)
    return lowering.builder.call(np.size, (first, 0), {})
