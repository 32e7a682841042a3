"""Reading, adding to and setting elements: `x[index]`, `index_add` (its adjoint), `index_set`."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, is_same, key_of, static
from s2s_ad.core.dependence import (
    EVERYTHING,
    Dependence,
    Undecided,
    Use,
    broadcast,
    from_pairs,
    numbers,
    same_elements,
)
from s2s_ad.core.parts import of_one_number
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.core.sizes import Size
from s2s_ad.rules import support
from s2s_ad.rules.arithmetic import elements_in_zeros, is_zeros
from s2s_ad.rules.elementwise import broadcast_source, one_number
from s2s_ad.rules.index_batches import (
    batched_index,
    index_at,
    index_of_lists,
    laid_like_batch,
    moved_back,
)
from s2s_ad.rules.index_layout import (
    cover,
    dtype_kind,
    index_of,
    is_integer,
    is_mask,
    joined_index,
    layout,
    may_repeat,
    required,
    required_along,
    selects,
)
from s2s_ad.rules.list_lengths import required_of_list
from s2s_ad.rules.masks import Write, inside_mask, is_zero, restricted


class GetItem(Rule):
    """x[index]; the index is a parameter, for no derivative passes through it."""

    of_complex = view = written_short = True
    lists = of_one_number = typed = True
    varied_parameters = True
    in_c_order = "indices"

    def grows_with(self, operands: list) -> tuple[int, ...]:
        return (0,)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        x, index = args
        if not isinstance(x, Symbol):
            return x[static(index, "the index")]
        return builder.emit(self, [x], {"index": _arrays(builder, index)})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if isinstance(x, values.List):
            return x if isinstance(params["index"], slice) else values.one_item(x.item)
        if not isinstance(x, values.Array):
            return support.unknown(x)
        index = params["index"]
        found = None if x.shape is None else layout(index, x.shape)
        some = x.selects and (is_mask(index) or isinstance(index, slice) or selects(index))
        return values.Array(x.dtype, None if found is None else found.shape, some)

    def item_count(
        self, operands: list, params: dict[str, Any], of: Callable[[Any], Size | None]
    ) -> Size | None:
        """A slice of a list is as long as that of an array."""
        whole = of(operands[0]) if isinstance(params["index"], slice) else None
        if whole is None:
            return None
        found = layout(params["index"], (values.dim_of_size(whole),))
        return None if found is None else values.size_of_dim(found.shape[0])

    def required(self, builder: Builder, operands: list, params: dict[str, Any]) -> list[Size]:
        return _required(builder, params["index"], operands[0])

    def fits(self, operands: list, result: Any, params: dict[str, Any]) -> bool:
        """Slices are never out of range."""
        items = params["index"] if isinstance(params["index"], tuple) else (params["index"],)
        slices = all(isinstance(each, gast.Slice) and each.step is None for each in items)
        return slices and bool(values.shape_of(operands[0]))

    def picks(self, known: list[bool]) -> bool:
        return True

    def of_items(self, args: list, params: dict[str, Any], add: Callable[[Any, Any], Any]) -> Any:
        return args[0][params["index"]] if isinstance(args[0], list) else NotImplemented

    def turned(self, rank: int, params: Mapping[str, Any]) -> tuple[int, ...]:
        index = params["index"]
        items = index if isinstance(index, tuple) else (index,)
        turned = tuple(axis for axis, each in enumerate(items) if _is_turned_axis(each))
        rest = len(items) <= rank and sum(map(is_whole_axis, items)) + len(turned) == len(items)
        return turned if rest else ()

    def axes_from(self, rank: int, params: Mapping[str, Any]) -> Sequence[int | None] | None:
        """None and whole axes: the former are new ones, of length one."""
        index = params["index"]
        items = index if isinstance(index, tuple) else (index,)
        if Ellipsis not in items:
            items = (*items, Ellipsis)
        at, count = items.index(Ellipsis), len(items) - items.count(None) - 1
        laid = (*items[:at], *[slice(None)] * (rank - count), *items[at + 1 :])
        if not all(each is None or is_whole_axis(each) for each in laid):
            return None
        old = iter(range(rank))
        return [None if each is None else next(old) for each in laid]

    def inside_mask(
        self, builder: Builder, operands: list, params: dict, write: Write, others: tuple
    ) -> Any:
        """What an axis is turned of is multiplied before that, by what is turned as well."""
        (x,), index = operands, params["index"]
        if isinstance(x.fact, values.List) or not self.turned(x.ndim or 0, params):
            return None
        part = restricted(others, x, lambda each: each[index])
        inner = None if part is None else inside_mask(builder, x, write, tuple(part))
        return None if inner is None else inner[index]

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        if _is_everything(builder, operands[0], params["index"]):
            return operands[0]
        if builder.derived and isinstance(builder.fact(operands[0]), values.Array):
            axes = self.turned(operands[0].ndim or 0, params)
            before = support.turned_back(builder, operands[0], axes)
            if before is not None:
                return before
        written = _set_there(builder, operands[0], params["index"])
        if written is not None:
            return written
        axes = _axes_added(builder, operands[0], params["index"])
        if axes:
            return builder.call(np.expand_dims, (operands[0], axes), {})
        joined = joined_index(builder, operands[0], params["index"])
        if joined is not None:
            return builder.emit(self, [joined[0]], {"index": index_of(joined[1])})
        source = broadcast_source(builder, operands[0])
        if source is None or support.shape(source[0]) != () or operands[0].ndim is None:
            return None
        found = layout(params["index"], operands[0].shape)
        if found is None or found.shape == ():
            return None if found is None else source[0]
        if not builder.derived or not source[1].shape:
            return None
        part = builder.emit(self, [source[1]], params)
        return builder.call(runtime.broadcast_like, (source[0], part), {})

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        x, index = operation.operands[0], operation["index"]
        if isinstance(operation.result.fact, values.List):
            if _takes_all_items(index):
                return [y_bar]
            y_bar = of_one_number(x.builder, y_bar, operation.result)
        added = _axes_of_none(x, index)
        if added and not _is_number(y_bar):
            index = index_of(tuple(each for each in index if each is not None))
            y_bar = np.squeeze(y_bar, added[0] if len(added) == 1 else added)
        dropped = _axes_of_one(x, index)
        filling = one_number(x.builder, y_bar) if dropped else None
        if filling is not None:
            return [x.builder.call(runtime.broadcast_like, (filling, x), {})]
        if dropped and y_bar.shape:
            return [np.expand_dims(y_bar, support.axis_of(dropped))]
        if not added and _is_turned(self, x, operation.params):
            if _is_number(y_bar):
                return [x.builder.call(runtime.broadcast_like, (y_bar, x), {})]
            return [y_bar[index]]
        return [x.builder.call(runtime.index_add, (zeros_like(x), index, y_bar), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        (x_dot,) = tangents
        if x_dot is None:
            return None
        if _is_number(x_dot):
            arguments = (x_dot, operation.result)
            return operation.result.builder.call(runtime.broadcast_like, arguments, {})
        return x_dot[operation["index"]]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        if isinstance(x.fact, values.List):
            return x[index_of_lists(operation["index"], batch)]
        index, found = batched_index(operation["index"], x, batched[0], batch)
        result = x[index]
        if not batched[0]:
            return np.moveaxis(result, found.place, 0) if found.place else result
        return moved_back(result, found, batch.is_batched(operation["index"]))

    def of_some(self, operation: Operation, batched: list[bool], places: Any, batch: Any) -> Any:
        found = index_at(places, operation["index"], operation.operands[0], batch)
        return None if found is None else operation.operands[0][found[0]]

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return gast.Subscript(value=call.args[0], slice=call.keywords[0].value, ctx=gast.Load())


def _set_there(builder: Builder, x: Any, index: Any) -> Any:
    """The 0 that was set at this very element; None where none was, as far as is known.

    So a branch sees that on one of its sides an adjoint is zero, whatever it is multiplied by.
    """
    rule, operands, params = builder.definition(x)
    if not builder.derived or rule is None or rule.function is not runtime.index_set:
        return None
    is_there = is_zero(operands[1]) and _is_one_element(x, index, params["index"])
    return operands[1] if is_there else None


def _is_one_element(x: Symbol, *indices: Any) -> bool:
    """Whether the indices are the same, into a list of numbers or of one element of an array."""
    if len({*map(key_of, indices)}) > 1:
        return False
    if isinstance(x.fact, values.List):
        return not isinstance(indices[0], slice) and values.shape_of(x.fact.item) == ()
    found = None if x.shape is None else layout(indices[0], x.shape)
    return found is not None and found.shape == ()


def _axes_added(builder: Builder, x: Any, index: Any) -> tuple[int, ...]:
    """The axes of length one that an index adds, where it does nothing else."""
    items = index if isinstance(index, tuple) else (index,)
    whole = all(each is None or is_whole_axis(each) for each in items)
    if not whole or values.shape_of(builder.fact(x)) is None:
        return ()
    return tuple(slot for slot, each in enumerate(items) if each is None)


def _axes_of_none(x: Symbol, index: Any) -> tuple[int, ...]:
    """The axes that an index of numbers, slices and None adds to what it takes."""
    items = index if isinstance(index, tuple) else (index,)
    if not any(each is None for each in items) or not support.shape(x):
        return ()
    found = layout(index, x.shape)
    if found is None or found.advanced:
        return ()
    kept = [item for item in found.items if item is None or isinstance(item, slice)]
    return tuple(axis for axis, item in enumerate(kept) if item is None)


def _axes_of_one(x: Symbol, index: Any) -> tuple[int, ...]:
    """The axes of length one that an index takes away, where it takes all elements: m[:, 0]."""
    items = index if isinstance(index, tuple) else (index,)
    shape = support.shape(x)
    if not shape or len(items) > len(shape) or isinstance(x.fact, values.List):
        return ()
    taken = [axis for axis, each in enumerate(items) if not is_whole_axis(each)]
    single = all(type(items[axis]) is int and shape[axis] == 1 for axis in taken)
    return tuple(taken) if single else ()


def _required(builder: Builder, index: Any, x: Any) -> list[Size]:
    """What is not below 0 where the numbers of an index are in range."""
    if isinstance(builder.fact(x), values.List):
        return required_of_list(builder, index, x)
    return required(builder, index, support.shape(x))


def _takes_all_items(index: Any) -> bool:
    """Whether an index of a list is a slice from the first item to the last."""
    if not isinstance(index, slice) or index.stop is not None or index.step is not None:
        return False
    return index.start is None or (type(index.start) is int and index.start == 0)


def is_whole_axis(item: Any) -> bool:
    return isinstance(item, slice) and item.start is None and item.stop is None is item.step


def _is_turned_axis(item: Any) -> bool:
    if not isinstance(item, slice) or item.start is not None or item.stop is not None:
        return False
    return type(item.step) is int and item.step == -1


def _is_turned(rule: Rule, x: Symbol, params: Mapping[str, Any]) -> bool:
    """Whether a read takes all elements of an array, in another order."""
    return isinstance(x.fact, values.Array) and bool(rule.turned(x.ndim or 0, params))


def _is_everything(builder: Builder, x: Any, index: Any) -> bool:
    """Whether an index takes the whole of an array, and adds no axes."""
    fact = builder.fact(x)
    if index is Ellipsis and values.shape_of(fact) == ():
        return True
    if not isinstance(fact, values.Array) or not fact.shape:
        return False
    items = index if isinstance(index, tuple) else (index,)
    return all(each is Ellipsis or is_whole_axis(each) for each in items)


def _adds_axes_alone(index: Any) -> bool:
    """Whether an index leaves out no element of an array without axes."""
    items = index if isinstance(index, tuple) else (index,)
    return all(each is None or each is Ellipsis for each in items)


def zeros_like(x: Symbol) -> Any:
    if isinstance(x.fact, values.Unknown | values.List):
        return x.builder.call(runtime.zeros_like, (x,), {})
    return np.zeros_like(x)


def _arrays(builder: Builder, index: Any) -> Any:
    """Lists in an index, and tuples among its items, are arrays."""
    items = index if isinstance(index, tuple) else (index,)
    arrays = tuple(
        builder.call(np.array, (item,), {} if item else {"dtype": np.intp})
        if isinstance(item, list | tuple)
        else item
        for item in items
    )
    return arrays if isinstance(index, tuple) else arrays[0]


class Update(Rule):
    """A copy of x with elements changed by a value; the index is a parameter."""

    lists = of_complex = updates = keeps_array = typed = True
    varied_parameters = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        x, index, value = args
        return builder.emit(self, [x, value], {"index": _arrays(builder, index)})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x, value = operands
        if not isinstance(x, values.List):
            shape = values.shape_of(x)
            found = None if shape is None else layout(params["index"], shape)
            values.check_stored(found and found.shape, values.shape_of(value))
            return x
        several = isinstance(params["index"], slice) and isinstance(value, values.List)
        return values.List(values.join_items((x.item, value.item if several else value)))

    def item_count(
        self, operands: list, params: dict[str, Any], of: Callable[[Any], Size | None]
    ) -> Size | None:
        """One item in place of another leaves a list as long as it is."""
        return None if isinstance(params["index"], slice) else of(operands[0])

    def required(self, builder: Builder, operands: list, params: dict[str, Any]) -> list[Size]:
        return _required(builder, params["index"], operands[0])

    def of_items(self, args: list, params: dict[str, Any], add: Callable[[Any, Any], Any]) -> Any:
        if not isinstance(args[0], list):
            return NotImplemented
        return runtime.index_set(args[0], params["index"], args[1])

    def dependence(self, use: Use, position: int) -> Dependence:
        """Each element stays what it is, but that it may also be, or have added, what is stored."""
        if position == 0:
            return same_elements(use.shape)
        index = use.params["index"]
        if isinstance(index, Undecided):
            return EVERYTHING
        targets = numbers(use.shape)[index]
        sources = broadcast(use.shapes[1], targets.shape)
        return from_pairs(targets.reshape(-1), sources.sources, math.prod(use.shape))

    def may_repeat(self, index: Any, builder: Builder) -> bool:
        """Whether an index may name an element twice."""
        return may_repeat(index, builder)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        x, _ = operation.operands
        builder = operation.result.builder
        if _is_number(y_bar) and x.shape != ():
            y_bar = builder.call(runtime.broadcast_like, (y_bar, x), {})
        elif _is_number(y_bar) and not _adds_axes_alone(operation["index"]):  # it is a mask
            y_bar = builder.call(np.full, ((), y_bar), {})
        of_x, of_value = operation.active
        # the elements are read before they are changed, so that they can be changed in place
        of_value = self.value_adjoint(builder, operation, y_bar) if of_value else None
        return [self.array_adjoint(builder, operation, y_bar) if of_x else None, of_value]

    def array_adjoint(self, builder: Builder, operation: Operation, y_bar: Any) -> Any:
        raise NotImplementedError

    def value_adjoint(self, builder: Builder, operation: Operation, y_bar: Any) -> Any:
        x, value = operation.operands
        if _is_number(y_bar):  # x has no axes, and the index adds some
            return builder.call(runtime.broadcast_like, (y_bar, value), {})
        index = operation["index"]
        if value.shape == () and _is_mask_of(x, index):
            return np.sum(np.where(index, y_bar, 0.0))  # has a batched form: as many elements
        part = y_bar[index]
        if isinstance(x.fact, values.List):
            return part
        return builder.call(runtime.unbroadcast, (part, value), {})

    def inside_mask(
        self, builder: Builder, operands: list, params: dict, write: Write, others: tuple
    ) -> Any:
        """Of an array of zeros only the elements that are changed are multiplied.

        Where each element is, there is nothing left out: they are multiplied as a whole, unless
        what is added has left something out itself.
        """
        x, value = operands
        if x.shape is None or isinstance(x.fact, values.List):
            return None
        _, before = builder.applied(x, runtime.index_add)
        if before and cover([params["index"], *(each["index"] for _, each in before)], x.shape):
            added = value, *(each[1] for each, _ in before)
            if not any(_is_selection(builder, each) for each in added):
                return None
        base = x if is_zeros(builder, x) else inside_mask(builder, x, write, others)
        part = restricted(others, x, lambda each: each[params["index"]])
        if base is None or part is None:
            return None
        return self._like(builder, x, base, params, write(value, *part))

    def _like(self, builder: Builder, x: Symbol, base: Any, params: dict, value: Any) -> Any:
        """This update of a base, where that is an array like x."""
        facts = builder.fact(base), builder.fact(value)
        dtypes = [values.strong_dtype(each) for each in facts if isinstance(each, values.Array)]
        if values.missing(dtypes) or any(each != x.dtype for each in dtypes):
            return None
        return builder.call(self.function, (base, params["index"], value), {})

    def updated(self, operation: Operation, x_dot: Any, value_dot: Any) -> Any:
        """This update of a tangent; one that is a number gets the shape of x."""
        x, builder = operation.operands[0], operation.result.builder
        if x_dot is None:
            x_dot = zeros_like(x)
        elif _is_number(x_dot) and not isinstance(x.fact, values.List):
            x_dot = builder.call(runtime.broadcast_like, (x_dot, x), {})
        return builder.call(self.function, (x_dot, operation["index"], value_dot), {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x, value = operation.operands
        index = operation["index"]
        if isinstance(x.fact, values.List):
            operands = (batch.spread(x, batched[0]), index_of_lists(index, batch))
            value = _spread_as_item(batch, x.fact.item, value, batched[1])
            return batch.builder.call(self.function, (*operands, value), {})
        support.sample_rank(x, batched[0])
        base = batch.spread(x, batched[0])
        if _is_batched_mask(index, base, batch) and support.sample_rank(value, batched[1]) == 0:
            rank = support.sample_rank(base, True)
            value = support.align(value, batched[1], rank)
            axes = tuple(range(index.ndim, rank + 1))  # a mask is of the first axes
            mask = np.expand_dims(index, axes) if axes else index
            return np.where(mask, _in_dtype_of(base, self.where(base, value)), base)
        index_batched = batch.is_batched(index)
        index, found = batched_index(index, base, True, batch)
        value = laid_like_batch(value, batched[1], found, index_batched)
        return batch.builder.call(self.function, (base, index, value), {})

    def of_some(self, operation: Operation, batched: list[bool], places: Any, batch: Any) -> Any:
        x, value = operation.operands
        found = index_at(places, operation["index"], x, batch)
        if found is None or support.rank(value) is None:
            return None
        index, rank = found
        value = support.align(value, batched[1], rank)
        return batch.builder.call(self.function, (x, index, value), {})

    def where(self, base: Any, value: Any) -> Any:
        """The new elements, as an array."""
        raise NotImplementedError

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        x, value = call.args
        index = form.as_value(call.keywords[0].value)
        return gast.Call(func=call.func, args=[x, index, value], keywords=[])


class IndexAdd(Update):
    """index_add(x, index, value): x with value added at index. Emitted as `x[index] += value`."""

    identity = MappingProxyType({1: 0})  # what adds nothing goes into the other side of a branch

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        x, index, value = args
        base = _set_to_zero(builder, x, index)
        if base is not None:
            return builder.call(runtime.index_set, (base, index, value), {})
        if isinstance(x, Symbol) and isinstance(x.fact, values.List):
            rule, _, _ = builder.definition(x)
            untouched = rule is not None and rule.function is runtime.zeros_like
            total = value if untouched else builder.call(runtime.accumulate, (x[index], value), {})
            return builder.call(runtime.index_set, (x, index, total), {})
        return super().bind(builder, args, kwargs)

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        """What is one number in the shape of the elements is added to each of them."""
        x, value = operands
        if _is_one_number(builder, x, value, params["index"]):
            return x + value
        if builder.derived and _is_whole(builder, x, value, params["index"]):
            return x + value
        if builder.derived and (elements := self._of_row(builder, x, value, params["index"])):
            for index, part in elements:
                x = builder.emit(self, [x, part], {"index": index})
            return x
        source = broadcast_source(builder, value) if builder.derived else None
        if source is None or values.shape_of(builder.fact(source[0])) != ():
            return None
        return builder.emit(self, [x, source[0]], params)

    def symmetric_with(
        self, builder: Builder, operands: list, params: dict[str, Any]
    ) -> list | None:
        """What is added to the diagonal leaves it symmetric."""
        index = params["index"]
        names = [getattr(each, "name", None) for each in index] if type(index) is tuple else []
        diagonal = len(names) == 2 and names[0] == names[1] is not None
        return operands[:1] if diagonal else None

    def _of_row(self, builder: Builder, x: Any, row: Any, index: Any) -> list[tuple[Any, Any]]:
        """What is added to single elements of a row, each with its index into the array."""
        elements = elements_in_zeros(builder, row)
        if not elements:
            return []
        first = index if isinstance(index, tuple) else (index,)
        indices = [each if isinstance(each, tuple) else (each,) for each, _ in elements]
        same = x.shape is not None and values.same_shape(x.shape[len(first) :], row.shape)
        if not same or not all(map(is_integer, (*first, *(i for slot in indices for i in slot)))):
            return []
        parts = (value for _, value in elements)
        return [((*first, *slot), value) for slot, value in zip(indices, parts, strict=True)]

    def array_adjoint(self, builder: Builder, operation: Operation, y_bar: Any) -> Any:
        return y_bar

    def forward(self, operation: Operation, tangents: list) -> Any:
        x_dot, value_dot = tangents
        return x_dot if value_dot is None else self.updated(operation, x_dot, value_dot)

    def where(self, base: Any, value: Any) -> Any:
        return base + value


def _set_to_zero(builder: Builder, x: Any, index: Any) -> Any:
    """What an adjoint was before just these elements were set to 0; None of anything else."""
    rule, operands, params = builder.definition(x)
    if not builder.derived or rule is None or rule.function is not runtime.index_set:
        return None
    same = key_of(params["index"]) == key_of(index) and not may_repeat(index, builder)
    return operands[0] if same and is_zero(operands[1]) else None


def _is_one_number(builder: Builder, x: Any, value: Any, index: Any) -> bool:
    """Whether a number that took the place of an array without axes is all that is changed."""
    nowhere = index is Ellipsis or (isinstance(index, tuple) and not index)
    return nowhere and _is_number(x) and values.shape_of(builder.fact(value)) == ()


def _is_whole(builder: Builder, x: Any, value: Any, index: Any) -> bool:
    """Whether the value, of the same dtype and shape, is all that the array then holds."""
    facts = builder.fact(x), builder.fact(value)
    if not all(isinstance(each, values.Array) for each in facts):
        return False
    if not _is_everything(builder, x, index):
        return False
    known = not values.missing(each.dtype for each in facts) and facts[0].dtype == facts[1].dtype
    return known and values.are_equal(facts[0].shape, facts[1].shape)


def _is_read_there(builder: Builder, x: Any, value: Any, index: Any) -> bool:
    """Whether the value is what the array holds at the index."""
    rule, operands, params = builder.definition(value)
    if rule is None or rule.function is not operator.getitem or not is_same(operands[0], x):
        return False
    return not isinstance(x.fact, values.List) and key_of(params["index"]) == key_of(index)


def _spread_as_item(batch: Any, item: Any, value: Any, batched: bool) -> Any:
    """What is stored in a list, for all samples: derivatives have the dtype of the other items."""
    spread, dtype = batch.spread(value, batched), values.strong_dtype(item)
    weak = isinstance(batch.builder.fact(value), values.Scalar) and values.is_inexact(spread.fact)
    if batched or not (weak and batch.builder.derived) or dtype is None or dtype.kind not in "fc":
        return spread
    kind = batch.builder.fact(value).kind(0)  # the number is weak, its type would not be
    return spread.astype(np.result_type(dtype, kind).type)


class IndexSet(Update):
    """index_set(x, index, value): x with value at index. Emitted as `x[index] = value`."""

    gives_array = True

    def picks(self, known: list[bool]) -> bool:
        return True

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        x, value = operands
        if _is_one_number(builder, x, value, params["index"]):
            return value
        if builder.derived and is_zero(value) and is_zeros(builder, x):
            return x
        if builder.derived and _is_read_there(builder, x, value, params["index"]):
            return x
        rule, before, others = builder.definition(x)
        twice = rule is self and is_zero(value) and is_zero(before[1])
        if twice and is_mask(params["index"]) and is_same(others["index"], params["index"]):
            return x
        return value if _is_whole(builder, x, value, params["index"]) else None

    def inside_mask(
        self, builder: Builder, operands: list, params: dict, write: Write, others: tuple
    ) -> Any:
        """What is set to zero is set so after the multiplication."""
        x, value = operands
        if not is_zero(value) or is_zeros(builder, x) or isinstance(x.fact, values.List):
            return super().inside_mask(builder, operands, params, write, others)
        inner = inside_mask(builder, x, write, others)
        inner = write(x, *others) if inner is None else inner
        same = values.same_shape(values.shape_of(builder.fact(inner)), x.shape)
        return self._like(builder, x, inner, params, value) if same else None

    def array_adjoint(self, builder: Builder, operation: Operation, y_bar: Any) -> Any:
        x, index = operation.operands[0], operation["index"]
        if _is_number(y_bar) or _is_everything(builder, x, index):
            return 0.0
        zero: Any = 0.0
        if self.stores_arrays(operation):
            zero = zeros_like(x[index])
        elif self.stores_items(operation):
            zero = zeros_like(y_bar[index])
        return builder.call(runtime.index_set, (y_bar, index, zero), {})

    def stores_arrays(self, operation: Operation) -> bool:
        """Whether it puts an array, or several, into a list."""
        fact = operation.operands[0].fact
        return isinstance(fact, values.List) and values.shape_of(fact.item) != ()

    def stores_items(self, operation: Operation) -> bool:
        """Whether it puts several items into a list, so that zeros are a list too."""
        is_list = isinstance(operation.operands[0].fact, values.List)
        return is_list and isinstance(operation["index"], slice)

    def value_adjoint(self, builder: Builder, operation: Operation, y_bar: Any) -> Any:
        """Where an index names an element twice only the last value counts."""
        x, value = operation.operands
        index = operation["index"]
        if _is_number(y_bar) or not self.may_repeat(index, builder):
            return super().value_adjoint(builder, operation, y_bar)
        last = builder.call(runtime.is_last, (x, index), {})
        part = np.where(last, y_bar[index], 0.0)
        return builder.call(runtime.unbroadcast, (part, value), {})

    def forward(self, operation: Operation, tangents: list) -> Any:
        x_dot, value_dot = tangents
        if value_dot is not None:
            return self.updated(operation, x_dot, value_dot)
        builder, x = operation.result.builder, operation.operands[0]
        if x_dot is None or _is_everything(builder, x, operation["index"]):
            return None
        filled = self.stores_arrays(operation) or self.stores_items(operation)
        value = operation.operands[1]
        zero = zeros_like(value) if filled and isinstance(value, Symbol) else 0.0
        return self.updated(operation, x_dot, zero)

    def where(self, base: Any, value: Any) -> Any:
        return value


def _is_number(value: Any) -> bool:
    """Whether an adjoint or tangent is one Python number, which no index can read."""
    return not isinstance(value, Symbol) or isinstance(value.fact, values.Scalar)


def _is_mask_of(x: Symbol, index: Any) -> bool:
    """Whether the index is one mask over all axes."""
    single = isinstance(index, Symbol) and dtype_kind(index) == "b"
    return single and index.ndim is not None and index.ndim == x.ndim


def _in_dtype_of(base: Symbol, value: Any) -> Any:
    """What is stored into an array takes its dtype; Python's numbers do so by themselves."""
    dtype = values.dtype_argument(base.builder.fact(value))
    if base.dtype is None or isinstance(dtype, type) or dtype == base.dtype:
        return value
    return value.astype(base.dtype.type)


def _is_batched_mask(index: Any, base: Symbol, batch: Any) -> bool:
    """One mask that differs from sample to sample."""
    single = isinstance(index, Symbol) and batch.is_batched(index)
    return single and dtype_kind(index) == "b" and index.ndim is not None


class IsLast(Rule):
    """is_last(x, index): where `x[index] = value` keeps what it wrote; x is there for its shape."""

    flat = of_shape = True
    varied_parameters = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        x, index = args
        return builder.emit(self, [x], {"index": index})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        shape = values.shape_of(operands[0])
        found = None if shape is None else layout(params["index"], shape)
        return values.Array(np.dtype(bool), None if found is None else found.shape)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x, index = operation.operands[0], operation["index"]
        support.sample_rank(x, batched[0])
        base = batch.spread(x, batched[0])
        whole, found = batched_index(index, base, True, batch)
        result = batch.builder.emit(self, [base], {"index": whole})
        return moved_back(result, found, batch.is_batched(index))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        index = form.as_value(call.keywords[0].value)
        return gast.Call(func=call.func, args=[*call.args, index], keywords=[])


class FilledLike(Rule):
    """A number in the structure of a value that may be a list, or be absent: zeros_like, ones_like.

    Args:
        number: the number; `of_array` makes an array of it.
    """

    flat = True
    of_shape = True
    lists = keeps_array = True

    def __init__(self, function: Callable, number: float, of_array: Callable):
        super().__init__(function, function.__name__)
        self.number, self.of_array = number, of_array

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        (value,) = operands
        if isinstance(value, values.Array):
            return values.Array(value.dtype, value.shape, absent=value.absent)
        return value if isinstance(value, values.List) else values.Unknown(True)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        """[0.0] * len(x) of numbers, zeros for each of arrays; 0.0 for a number on some path."""
        fact, (x,) = facts(call.args[0]), call.args
        if isinstance(fact, values.Array) and isinstance(x, gast.Name):
            is_array = form.operation(isinstance, [x, form.constant(np.ndarray)], {})
            made = form.operation(self.of_array, [x], {})
            return gast.IfExp(is_array, made, form.constant(self.number))
        return (self._of_list(x, fact) or call) if isinstance(fact, values.List) else call

    def _of_list(self, items: gast.AST, fact: values.List) -> gast.AST | None:
        item = fact.item
        if values.shape_of(item) == ():
            filled = gast.List([form.constant(self.number)], gast.Load())
            return gast.BinOp(filled, gast.Mult(), form.operation(len, [items], {}))
        made, text = None, "row" if isinstance(item, values.List) else "item"
        if isinstance(item, values.List):
            made = self._of_list(form.name(text), item)
        elif isinstance(item, values.Array) and values.is_inexact(item) and not item.absent:
            made = form.operation(self.of_array, [form.name(text)], {})
        every = gast.comprehension(form.name(text, gast.Store), items, [], 0)
        return None if made is None else gast.ListComp(made, [every])


def index_along(x: Symbol, indices: Symbol, axis: int) -> Any:
    """The index by which x[index] is np.take_along_axis(x, indices, axis)."""
    index = []
    axis = support.normal_axis(axis, x.ndim)
    for each in range(x.ndim):
        if each == axis:
            index.append(indices)
            continue
        count = np.arange(support.length(x, each), like=x)
        after = x.ndim - 1 - each
        index.append(count[(slice(None), *(None,) * after)] if after else count)
    return index_of(tuple(index))


class TakeAlongAxis(Rule):
    """np.take_along_axis(x, indices, axis): linear in x, which gets the adjoint added back."""

    of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, "x, indices, axis=-1", args, kwargs)
        axis = static(params["axis"], "axis of np.take_along_axis")
        x, indices = params["x"], params["indices"]
        if axis is None:
            x, axis = np.ravel(x), 0
        ranks = support.rank(x), support.rank(indices)
        if None not in ranks and ranks[0] != ranks[1]:
            raise ValueError("`indices` and `arr` must have the same number of dimensions")
        return builder.emit(self, [x, indices], {"axis": axis})

    def required(self, builder: Builder, operands: list, params: dict[str, Any]) -> list[Size]:
        x, indices = operands
        shape = support.shape(x)
        return [] if shape is None else required_along(builder, indices, shape[params["axis"]])

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x, indices = operands
        if support.any_unknown(x, indices):
            return support.unknown(x)
        pairs = enumerate(zip(x.shape, indices.shape, strict=True))
        axis = params["axis"] % len(x.shape)
        shape = (j if i == axis else values.broadcast_dims(n, j) for i, (n, j) in pairs)
        return values.with_shape(x, tuple(shape))

    def picks(self, known: list[bool]) -> bool:
        return known[1]

    def dependence(self, use: Use, position: int) -> Dependence:
        return None if position else EVERYTHING

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        x, indices = operation.operands
        if x.ndim is None:
            raise support.CannotBatch
        index = index_along(x, indices, operation["axis"])
        return [x.builder.call(runtime.index_add, (np.zeros_like(x), index, y_bar), {}), None]

    def forward(self, operation: Operation, tangents: list) -> Any:
        if tangents[0] is None:
            return None
        return np.take_along_axis(tangents[0], operation.operands[1], **operation.params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        pairs = list(zip(operation.operands, batched, strict=True))
        axis = support.normal_axis(operation["axis"], max(support.sample_rank(*p) for p in pairs))
        x, indices = (batch.spread(*pair) for pair in pairs)
        return np.take_along_axis(x, indices, axis=axis + 1)


register(GetItem(operator.getitem, "getitem"))
register(IndexAdd(runtime.index_add, "index_add"))


def _is_selection(builder: Builder, value: Any) -> bool:
    """Whether something could be written inside of what a value selects."""
    mark = builder.mark()
    found = inside_mask(builder, value, lambda x, *_: x, (value,))
    builder.undo(mark)
    return found is not None


register(IndexSet(runtime.index_set, "index_set"))
register(IsLast(runtime.is_last, "is_last"))
register(TakeAlongAxis(np.take_along_axis, "take_along_axis"))
register(FilledLike(runtime.ones_like, 1.0, np.ones_like))
register(FilledLike(runtime.zeros_like, 0.0, np.zeros_like))
