"""Lists whose length is not known: made, appended to, popped from, and turned into arrays.

Append and pop are each other's adjoint, and so are an array of the items and a list of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, sizes, tree, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.parts import as_dtype, is_one_number, of_one_number
from s2s_ad.core.registry import register, rule_of
from s2s_ad.core.rule import Operation, Ragged, Rule
from s2s_ad.core.sizes import Size
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.indexing import zeros_like
from s2s_ad.rules.list_lengths import length

#: how many items another list has
Count = Callable[[Any], Size | None]


def _list_with(items: Sequence[values.AbstractValue]) -> values.List:
    """The list whose items may be any of these."""
    known = [each for each in items if each != values.Static(values.UNDEFINED)]
    lists = [isinstance(each, values.List) for each in known]
    if any(lists) and not all(lists):
        raise UnsupportedError(
            "S2S201",
            "lists and numbers in one list whose length is not known when code is generated",
            help="keep the lists and the numbers in lists of their own",
        )
    return values.List(values.join_items(items))


class OfLists(Rule):
    """An operation on lists, linear in its operands; they are the arguments by position."""

    lists = of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), kwargs)

    def forward(self, operation: Operation, tangents: list) -> Any:
        if all(each is None for each in tangents):
            return None
        builder = operation.result.builder
        filled = [
            _zeros(builder, operand) if tangent is None else tangent
            for operand, tangent in zip(operation.operands, tangents, strict=True)
        ]
        return builder.emit(self, filled, operation.params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        """A list of batches."""
        pairs = zip(operation.operands, batched, strict=True)
        operands = [_spread(batch, value, flag) for value, flag in pairs]
        return batch.builder.emit(self, operands, operation.params)


def _zeros(builder: Builder, value: Any) -> Any:
    """A zero tangent or adjoint of a value."""
    array = isinstance(value, Symbol) and value.shape != ()
    return zeros_like(value) if array else 0.0


def _spread(batch: Any, value: Any, batched: bool) -> Any:
    is_list = isinstance(value, Symbol) and isinstance(value.fact, values.List)
    return value if is_list and _is_empty(value) else batch.spread(value, batched)


def _is_empty(value: Symbol) -> bool:
    rule, operands, _ = value.builder.definition(value)
    return rule is not None and rule.function is runtime.list_of and not operands


class ListOf(OfLists):
    """list_of(*items): `[a, b]`."""

    distinct = hands_on = of_one_number = True

    def of_items(self, args: list, params: dict[str, Any], add: Callable[[Any, Any], Any]) -> Any:
        return self.function(*args)

    def item_count(self, operands: list, params: dict[str, Any], of: Count) -> Size | None:
        return sizes.of(len(operands))

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return _list_with(operands)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        """Items of single precision may stand beside others: each adjoint is of its item's type."""
        builder = operation.result.builder
        mixed = any(map(values.is_single, builder.facts.values()))
        if is_one_number(y_bar):
            every = operation.operands
            return [_typed(_of_item(builder, y_bar, each), each, mixed) for each in every]
        return [
            _typed(y_bar[i], item, mixed) if wanted else None
            for i, (item, wanted) in enumerate(
                zip(operation.operands, operation.active, strict=True)
            )
        ]

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return gast.List(call.args, gast.Load())


def _typed(adjoint: Any, item: Any, mixed: bool) -> Any:
    """The adjoint of a number in a list, which is of one of NumPy's types where the number is."""
    fact = item.fact
    is_number = isinstance(fact, values.Array) and fact.shape == () and not fact.weak
    if not mixed or not is_number or not values.is_inexact(fact) or fact.dtype is None:
        return adjoint
    return as_dtype(adjoint, fact.dtype) if isinstance(adjoint, Symbol) else adjoint


class ListAppend(OfLists):
    """list_append(items, value): emitted as `items.append(value)`."""

    hands_on = at_end = appends = quiet = of_one_number = True

    def of_items(self, args: list, params: dict[str, Any], add: Callable[[Any, Any], Any]) -> Any:
        return self.function(*args)

    def item_count(self, operands: list, params: dict[str, Any], of: Count) -> Size | None:
        count = of(operands[0])
        return None if count is None else count + 1

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        items, value = operands
        return _list_with((items.item, value))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        builder, value = operation.result.builder, operation.operands[1]
        if is_one_number(y_bar):
            return [y_bar, _of_item(builder, y_bar, value)]
        last, rest = popped(builder, y_bar)
        if isinstance(last.fact, values.Array | values.Unknown):
            last = builder.call(runtime.unbroadcast, (last, value), {})
        of_items, of_value = operation.active
        return [rest if of_items else None, last if of_value else None]


def _of_item(builder: Builder, number: Any, item: Any) -> Any:
    """The adjoint of an item, of whose elements each has this number as its own."""
    if not isinstance(item, Symbol) or item.shape == () or isinstance(item.fact, values.List):
        return number
    return builder.call(runtime.broadcast_like, (number, item), {})


class ListPop(OfLists):
    """list_pop(items): the last item and the rest; emitted as `value = items.pop()`."""

    count = 2
    hands_on = at_end = True

    def of_items(self, args: list, params: dict[str, Any], add: Callable[[Any, Any], Any]) -> Any:
        return self.function(*args)

    def infer(self, operands: list, params: dict[str, Any]) -> Any:
        (items,) = operands
        return tree.Tree(tuple, (0, 1), (values.one_item(items.item), items))

    def reverse(self, operation: Operation, y_bar: dict[int, Any]) -> list:
        """`y_bar` holds the adjoints of the outputs that have one."""
        builder = operation.result.builder
        item, rest = (builder.emit_item(operation.result, i) for i in range(2))
        last = y_bar[0] if 0 in y_bar else _zeros(builder, item)
        others = of_one_number(builder, y_bar[1], rest) if 1 in y_bar else zeros_like(rest)
        return [builder.call(runtime.list_append, (others, last), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return None if tangents[0] is None else operation.result.builder.emit(self, tangents, {})


class ListJoin(OfLists):
    """list_join(a, b): `a + b` of lists."""

    of_one_number = True

    def of_items(self, args: list, params: dict[str, Any], add: Callable[[Any, Any], Any]) -> Any:
        return self.function(*args)

    def item_count(self, operands: list, params: dict[str, Any], of: Count) -> Size | None:
        one, other = map(of, operands)
        return None if one is None or other is None else one + other

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return _list_with([each.item for each in operands])

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        if is_one_number(y_bar):
            return [y_bar, y_bar]
        length = np.size(operation.operands[0], 0)
        return [y_bar[:length], y_bar[length:]]

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return gast.BinOp(call.args[0], gast.Add(), call.args[1])


class Accumulate(OfLists):
    """accumulate(a, b): the sum of two adjoints, which are lists."""

    def of_items(self, args: list, params: dict[str, Any], add: Callable[[Any, Any], Any]) -> Any:
        return add(*args)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        lists = [isinstance(builder.fact(each), values.List) for each in args]
        return builder.emit(self, list(args), {}) if any(lists) else args[0] + args[1]

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        """An item that was added to zeros is added to the other list."""
        for one, other in (operands, operands[::-1]):
            rule, inner, given = builder.definition(other)
            if rule is None or rule.function is not runtime.index_set:
                continue
            source, _, _ = builder.definition(inner[0])
            if source is not None and source.function is runtime.zeros_like:
                return builder.call(runtime.index_add, (one, given["index"], inner[1]), {})
        return None

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.join_all(operands)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        return [y_bar, y_bar]


class ListArray(OfLists):
    """list_array(items, axis=0): the items side by side; `np.array(items)`."""

    double_if_empty = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        items, axis = args
        axis = static(axis, "the axis of np.stack")
        if axis < 0:
            axis += 1 + support.known_rank(items[0], "np.stack")
        if isinstance(items.fact.item, values.List):
            raise UnsupportedError(
                "S2S203",
                "an array of a list of lists whose lengths are not known",
                help="make an array of each list first",
            )
        return builder.emit(self, [items], {} if axis == 0 else {"axis": axis})

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        item, axis = values.one_item(operands[0].item), params.get("axis", 0)
        if isinstance(item, values.Row):  # the list is longer than none
            return values.Array(np.result_type(*item.kinds), (values.fresh_dim(), len(item.kinds)))
        if support.any_unknown(item):
            return support.unknown(item)
        shape = (*item.shape[:axis], values.fresh_dim(), *item.shape[axis:])
        if values.may_be_wider(item):  # a number of Python's makes doubles of all
            return values.Array(None, shape, real=values.is_real(item))
        return values.with_shape(item, shape)

    def inferred(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        fact, size = super().inferred(builder, operands, params), length(builder, operands[0])
        shape, axis = values.shape_of(fact), params.get("axis", 0)
        if size is None or shape is None:
            return fact
        return replace(fact, shape=(*shape[:axis], values.dim_of_size(size), *shape[axis + 1 :]))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        builder = operation.result.builder
        filling = builder.operands_of(y_bar, runtime.broadcast_like)
        y_bar = filling[0] if filling and is_one_number(filling[0]) else y_bar
        if is_one_number(y_bar):
            return [y_bar]
        axis = operation.params.get("axis", 0)
        moved = np.moveaxis(y_bar, axis, 0) if axis else y_bar
        return [builder.call(runtime.list_rows, (moved,), {})]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        """Of no items np.array makes an array without elements, where np.stack raises."""
        (items,) = operation.operands
        if "axis" in operation.params or not _may_be_empty(items):
            axis = operation.params.get("axis", 0)
            return batch.builder.emit(self, [items], {"axis": axis + 1})
        return batch.builder.call(runtime.samples_array, (items, batch.example), {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return form.operation(
            np.stack if call.keywords else np.array,
            call.args,
            {each.arg: each.value for each in call.keywords},
        )


class SamplesArray(OfLists):
    """samples_array(items, example): list_array(items, 1), of as many samples as the example has.

    Each item is that of all samples; where there is none, each sample is an array without elements.
    """

    shape_position = 1

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return ListArray.infer(self, operands[:1], {"axis": 1})

    def forward(self, operation: Operation, tangents: list) -> Any:
        items_dot, _ = tangents
        if items_dot is None:
            return None
        return items_dot.builder.emit(self, [items_dot, operation.operands[1]], {})

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        return [*ListArray.reverse(self, replace(operation, params={"axis": 1}), y_bar), None]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        items, _ = operation.operands
        return batch.builder.emit(rule_of(runtime.list_array), [items], {"axis": 2})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        """np.stack(items, axis=1) if items else np.empty((len(example), 0))"""
        items, example = call.args
        if not isinstance(items, gast.Name):
            return call
        stack = form.operation(np.stack, [items], {"axis": form.constant(1)})
        shape = gast.Tuple([form.operation(len, [example], {}), form.constant(0)], gast.Load())
        return gast.IfExp(items, stack, form.operation(np.empty, [shape], {}))


class Stacked(ListArray):
    """stacked(items, axis=0): the same of samples, whose shapes may turn out to differ."""

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return call


def _may_be_empty(items: Symbol) -> bool:
    """Whether a list may have no items, by how it is made."""
    rule, operands, _ = items.builder.definition(items)
    made = rule is not None and rule.function is runtime.list_of
    return not (made and operands)


class ListParts(Rule):
    """list_parts(rows, part): one number of each tuple of a list that is an input."""

    lists = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), kwargs)

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.List(values.Scalar(operands[0].item.kinds[params["part"]]))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        part = next(each.value for each in call.keywords if each.arg == "part")
        row = gast.Subscript(form.name("row"), part, gast.Load())
        every = gast.comprehension(form.name("row", gast.Store), call.args[0], [], 0)
        return gast.ListComp(row, [every])


class ListRows(OfLists):
    """list_rows(x): `list(x)`, the rows of an array; of `numbers` it is `x.tolist()`."""

    lists = False

    def picks(self, known: list[bool]) -> bool:
        return True

    def item_count(self, operands: list, params: dict[str, Any], of: Count) -> Size | None:
        return values.size_of_dim(operands[0].shape[0]) if operands[0].shape else None

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        (x,) = operands
        known = isinstance(x, values.Array) and x.shape
        if params and known and x.dtype is not None:
            return values.List(values.Scalar(type(x.dtype.type(0).item())))
        return values.List(values.Array(x.dtype, x.shape[1:]) if known else support.unknown(x))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        return [operation.result.builder.call(runtime.list_array, (y_bar, 0), {})]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        return batch.builder.emit(self, [np.moveaxis(x, 1, 0)], {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        if not call.keywords:
            return form.operation(list, call.args, {})
        return gast.Call(gast.Attribute(call.args[0], "tolist", gast.Load()), [], [])


class ListConcatenate(OfLists):
    """list_concatenate(items): one after the other along the first axis."""

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        item = operands[0].item
        if support.any_unknown(item) or not item.shape:
            return support.unknown(item)
        return values.with_shape(item, (values.fresh_dim(), *item.shape[1:]))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        builder, items = operation.result.builder, operation.operands[0]
        if not isinstance(y_bar, Symbol) or y_bar.shape == ():
            y_bar = builder.call(runtime.broadcast_like, (y_bar, operation.result), {})
        return [builder.call(runtime.list_split, (y_bar, items), {})]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        (items,) = operation.operands
        shape = values.shape_of(items.fact.item)
        if shape is None or not isinstance(shape[1], int):
            raise Ragged
        side_by_side = batch.builder.emit(rule_of(runtime.list_array), [items], {"axis": 1})
        samples, count, each, *rest = support.lengths(side_by_side, range(len(shape) + 1))
        return np.reshape(side_by_side, (samples, count * each, *rest))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return form.operation(np.concatenate, call.args, {})


class ListSplit(Rule):
    """list_split(x, items): x cut into pieces as long as the items."""

    lists = of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return operands[1]

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        return [operation.result.builder.call(runtime.list_concatenate, (y_bar,), {}), None]

    def forward(self, operation: Operation, tangents: list) -> Any:
        if tangents[0] is None:
            return None
        builder = operation.result.builder
        return builder.emit(self, [tangents[0], operation.operands[1]], {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise Ragged


def popped(builder: Builder, items: Symbol) -> list:
    """(the last item, the rest)."""
    result = builder.call(runtime.list_pop, (items,), {})
    return [builder.emit_item(result, i) for i in range(2)]


register(Accumulate(runtime.accumulate, "accumulate"))
register(ListAppend(runtime.list_append, "list_append"))
register(ListArray(runtime.list_array, "list_array"))
register(ListConcatenate(runtime.list_concatenate, "list_concatenate"))
register(ListJoin(runtime.list_join, "list_join"))
register(ListOf(runtime.list_of, "list_of"))
register(ListParts(runtime.list_parts, "list_parts"))
register(ListPop(runtime.list_pop, "list_pop"))
register(ListRows(runtime.list_rows, "list_rows"))
register(ListSplit(runtime.list_split, "list_split"))
register(SamplesArray(runtime.samples_array, "samples_array"))
register(Stacked(runtime.stacked, "stacked"))
