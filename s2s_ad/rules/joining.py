"""Joining arrays: concatenate, stack, and what is written as these."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, NeedStatic, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.diagnostics import ArgumentValueError, UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import Composite, composite

TYPED = "*, dtype=None, casting='same_kind'"


class Joining(Rule):
    """A function of a list of arrays and an axis.

    Subclasses give `joined` (the shape of the result) and `places` (where each array stands in it).
    """

    lists = of_complex = typed = True
    in_c_order = "operands"
    cost = 1
    #: how many axes the result has more than the arrays
    new_axes = 0
    #: the operation on a list whose length is not known
    of_list: Callable
    #: the operation on the items of one array
    of_array: Callable

    def joined(self, shapes: list[values.Shape], axis: int) -> values.Shape:
        raise NotImplementedError

    def places(self, arrays: list, axis: int) -> Iterator[Any]:
        raise NotImplementedError

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, f"arrays, axis=0, {TYPED}", args, kwargs)
        arrays = params["arrays"]
        _check_axis(self.name, params["axis"])
        if isinstance(arrays, Symbol) and isinstance(arrays.fact, values.List):
            result = self.of_list(builder, arrays, params["axis"])
            return support.in_dtype(builder, [result], params["dtype"], params["casting"])[0]
        if isinstance(arrays, Symbol):
            axis = static(params["axis"], f"axis of np.{self.name}")
            result = self.of_array(arrays, axis)
            return support.in_dtype(builder, [result], params["dtype"], params["casting"])[0]
        if not isinstance(arrays, tuple | list) or not arrays:
            raise ArgumentValueError(
                "S2S205",
                f"np.{self.name} of something that is not a list of arrays",
                origin=builder.origin,
            )
        arrays = [support.as_operand(builder, each) for each in arrays]
        arrays = support.in_dtype(builder, arrays, params["dtype"], params["casting"])
        axis = static(params["axis"], f"axis of np.{self.name}")
        ranks = [support.rank(each) for each in arrays]
        if axis is None:
            arrays, axis = [np.ravel(each) for each in arrays], 0
        elif None not in ranks:
            axis = support.normal_axis(axis, max(ranks) + self.new_axes)
        return builder.emit(self, arrays, {"axis": axis})

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(*operands)
        kinds = [values.strong_dtype(each) for each in operands]
        shapes = [values.shape_of(each) for each in operands]
        shape = self.joined(shapes, params["axis"])
        if values.missing(kinds) or any(map(values.may_be_wider, operands)):
            return values.Array(None, shape, real=all(map(values.is_real, operands)))
        return values.Array(np.result_type(*kinds), shape)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        axis, builder = operation["axis"], operation.result.builder
        adjoints = []
        indices = self.places(operation.operands, axis)
        for operand, index, wanted in zip(
            operation.operands, indices, operation.active, strict=True
        ):
            part = y_bar[support.at(axis, index)]
            adjoints.append(
                builder.call(runtime.unbroadcast, (part, operand), {}) if wanted else None
            )
        return adjoints

    def forward(self, operation: Operation, tangents: list) -> Any:
        if all(each is None for each in tangents):
            return None
        filled = [
            _zeros(operand) if tangent is None else tangent
            for operand, tangent in zip(operation.operands, tangents, strict=True)
        ]
        return operation.result.builder.call(self.function, (filled,), operation.params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        for pair in zip(operation.operands, batched, strict=True):
            support.sample_rank(*pair)
        arrays = [batch.spread(*pair) for pair in zip(operation.operands, batched, strict=True)]
        return batch.builder.call(self.function, (arrays,), {"axis": operation["axis"] + 1})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        arrays = gast.List(elts=call.args, ctx=gast.Load())
        keywords = [each for each in call.keywords if each.value.value != 0]
        return gast.Call(func=call.func, args=[arrays], keywords=keywords)


def _check_axis(name: str, axis: Any) -> None:
    """Refuse an array where an axis is meant, as in np.concatenate(a, b)."""
    if not isinstance(axis, Symbol) or isinstance(axis.fact, values.Unknown):
        return
    if axis.shape or values.is_inexact(axis.fact):
        raise UnsupportedError(
            "S2S203",
            f"the axis of np.{name} is an array",
            why="Python raises a TypeError here",
            help=f"give the arrays in one tuple or list: np.{name}((a, b))",
        )


def _zeros(operand: Any) -> Any:
    """The tangent of an array, or of a number that stands in the code."""
    return np.zeros_like(operand) if isinstance(operand, Symbol) else 0.0


class Concatenate(Joining):
    """np.concatenate(arrays, axis): one after the other along an axis that they have."""

    gathers = True

    def of_list(self, builder: Builder, items: Symbol, axis: Any) -> Any:
        rank, axis = values.rank_of(items.fact.item), static(axis, "the axis of np.concatenate")
        if axis not in (0, None if rank is None else -rank):
            error = ArgumentValueError(
                "S2S205",
                f"np.concatenate along axis {axis} of a list whose length is not known",
                origin=builder.origin,
                help="transpose the items, join them along axis 0, and transpose the result",
            )
            raise NeedStatic(items.name, "the number of items", error)
        return builder.call(runtime.list_concatenate, (items,), {})

    def of_array(self, x: Symbol, axis: int | None) -> Any:
        rank = support.known_rank(x, "np.concatenate")
        if axis is None and rank:
            return np.copy(np.ravel(x))
        if rank < 2:
            raise ValueError("zero-dimensional arrays cannot be concatenated")
        axis = support.normal_axis(axis, rank - 1)
        moved = np.moveaxis(x, 0, axis)
        merged = support.product(support.lengths(moved, (axis, axis + 1)))
        others = [support.lengths(moved, each) for each in (range(axis), range(axis + 2, rank))]
        return np.copy(np.reshape(moved, (*others[0], merged, *others[1])))

    def joined(self, shapes: list[values.Shape], axis: int) -> values.Shape:
        lengths = (values.size_of_dim(shape[axis]) for shape in shapes)
        total = values.dim_of_size(functools.reduce(operator.add, lengths))
        others = [(*shape[:axis], 1, *shape[axis + 1 :]) for shape in shapes]
        values.check_joined(others, "arrays that are concatenated differ in another axis")
        rest = values.broadcast(others)
        return (*rest[:axis], total, *rest[axis + 1 :])

    def fits(self, operands: list, result: Any, params: dict[str, Any]) -> bool:
        axis, shapes = params["axis"], [values.shape_of(each) for each in operands]
        if values.missing(shapes) or values.rank_of(result) != len(shapes[0]):
            return False
        others = [(*shape[:axis], *shape[axis + 1 :]) for shape in shapes]
        return all(values.are_equal(each, others[0]) for each in others)

    def places(self, arrays: list, axis: int) -> Iterator[slice]:
        lengths = [np.size(array, axis) for array in arrays]
        ends = [None, *(_end(lengths, position) for position in range(1, len(lengths))), None]
        yield from itertools.starmap(slice, itertools.pairwise(ends))


def _end(lengths: list, position: int) -> Any:
    """Where the parts before a position end: counted from the end where that is a number, and
    from the start none."""
    before, after = lengths[:position], lengths[position:]
    if all(type(each) is int for each in after) and sum(after):
        return sum(before) if all(type(each) is int for each in before) else -sum(after)
    return functools.reduce(operator.add, before)


class Stack(Joining):
    """np.stack(arrays, axis): side by side along a new axis."""

    new_axes = 1
    gathers = True

    def of_list(self, builder: Builder, items: Symbol, axis: Any) -> Any:
        return builder.call(runtime.list_array, (items, axis), {})

    def of_array(self, x: Symbol, axis: int) -> Any:
        return np.copy(np.moveaxis(x, 0, axis))

    def joined(self, shapes: list[values.Shape], axis: int) -> values.Shape:
        values.check_joined(shapes, "items of an array that differ in length")
        first = values.broadcast(shapes)
        return (*first[:axis], len(shapes), *first[axis:])

    def places(self, arrays: list, axis: int) -> Iterator[int]:
        yield from range(len(arrays))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        """Along the first axis np.array, which takes half of the time; a fifth of numbers."""
        ranks = {values.rank_of(facts(each)) for each in call.args}
        if len(ranks) > 1 or None in ranks or call.keywords[0].value.value:
            return super().surface(call, facts)
        items = gast.List(elts=call.args, ctx=gast.Load())
        return gast.Call(func=form.constant(np.array), args=[items], keywords=[])


def _at_least(rank: int, arrays: Any) -> list:
    """The arrays with axes in front where they have fewer."""
    missing = [rank - support.known_rank(each, "stacking") for each in arrays]
    return [
        np.expand_dims(each, support.axis_of(range(count))) if count > 0 else each
        for each, count in zip(arrays, missing, strict=True)
    ]


def _append(x: Any, values: Any, axis: Any = None) -> Any:
    if axis is None:
        x, values = np.ravel(x), np.ravel(values)
    return np.concatenate([x, values], axis=0 if axis is None else axis)


def of_items(x: Symbol, axis: int, few: Sequence[Callable]) -> Any:
    """The items of one array, joined along an axis: where they have too few axes, as `few` says."""
    rank = support.known_rank(x, "stacking")
    if rank == 0:
        raise TypeError("iteration over a 0-d array")
    if rank <= len(few):
        return np.copy(few[rank - 1](x))
    return x.builder.call(np.concatenate, (x,), {"axis": axis})


def _column_stack(arrays: Any) -> Any:
    if isinstance(arrays, Symbol):
        return of_items(arrays, 1, [lambda x: np.reshape(x, (1, -1)), lambda x: x.T])
    columns = [np.expand_dims(x, 1) if support.rank(x) == 1 else x for x in _at_least(1, arrays)]
    return np.concatenate(_at_least(2, columns), axis=1)


def _hstack(arrays: Any, **typed: Any) -> Any:
    if isinstance(arrays, Symbol):
        joined = of_items(arrays, 1, [np.ravel, np.ravel])
        return support.in_dtype(arrays.builder, [joined], **typed)[0]
    arrays = _at_least(1, arrays)
    vectors = support.rank(arrays[0]) == 1
    return np.concatenate(arrays, axis=0 if vectors else 1, **typed)


def _vstack(arrays: Any, **typed: Any) -> Any:
    if isinstance(arrays, Symbol):
        joined = of_items(arrays, 0, [lambda x: np.reshape(x, (-1, 1)), lambda x: x])
        return support.in_dtype(arrays.builder, [joined], **typed)[0]
    return np.concatenate(_at_least(2, arrays), **typed)


register(Concatenate(np.concatenate, "concatenate"))
register(Stack(np.stack, "stack"))


class StackedItems(Composite):
    """Lists whose length is not known: items that already have the axis are joined along it, so
    that they may differ in length; others are the items of one array."""

    lists = True

    def __init__(self, *args: Any, joined: Callable[[int], bool]):
        super().__init__(*args, in_c_order="operands")
        self.joined = joined

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        arguments = support.bind_call(builder, self, self.text, args, kwargs)
        arrays = arguments.pop("arrays")
        if isinstance(arrays, Symbol) and isinstance(arrays.fact, values.List):
            rank = values.rank_of(arrays.fact.item)
            if rank is not None and self.joined(rank):
                return builder.call(np.concatenate, (arrays,), arguments)
            arrays = builder.call(np.array, (arrays,), {})
        elif not isinstance(arrays, Symbol):
            arrays = [
                each if isinstance(each, Symbol) else builder.call(np.array, (each,), {})
                for each in arrays
            ]
        return self.meaning(arrays, **arguments)


composite(np.append, "x, values, axis=None", _append)
composite(np.column_stack, "arrays", _column_stack)
register(StackedItems(np.hstack, f"arrays, {TYPED}", _hstack, joined=lambda rank: rank == 1))
for _name in ("row_stack", "vstack"):  # the old name, which NumPy is about to drop, and the new
    if hasattr(np, _name):
        _stack = getattr(np, _name)
        register(StackedItems(_stack, f"arrays, {TYPED}", _vstack, joined=lambda rank: rank > 1))
