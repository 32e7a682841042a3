"""Functions along one axis that keep its length: running sums and products, and sorting."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, filling_of, static
from s2s_ad.core.dependence import EVERYTHING, Dependence, Undecided, Use, along, up_to
from s2s_ad.core.registry import METHODS, register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.index_layout import index_of
from s2s_ad.rules.indexing import index_along, is_whole_axis


class Scan(Rule):
    """A function of an array and an axis, of which None stands for the flattened array.

    Args:
        axis: the axis where none is given.
        options: keywords that change how the result is found and not what it is.
        first: what comes before the axis.
    """

    of_complex = True

    #: parameters whose value only the run need know
    open: tuple[str, ...] = ()

    def __init__(self, function: Any, axis: int | None, options: str = "", first: str = ""):
        super().__init__(function, function.__name__)
        self.text = f"x, {first}axis={axis}{options}"
        self.typed = "dtype" in options

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, self.text, args, kwargs)
        x = support.as_operand(builder, params.pop("x"))
        left = {name: params.pop(name) for name in self.open}
        params = left | support.static_params(params, self)
        axis = params.pop("axis")
        if self.typed:
            x = support.converted(x, params.pop("dtype"))
        if not isinstance(x, Symbol):
            x = builder.call(np.array, (x,), {})
        if axis is None:
            x, axis = np.ravel(x), 0
        axis = operator.index(axis) if x.ndim is None else support.normal_axis(axis, x.ndim)
        return builder.emit(self, [x], {"axis": axis} | support.given(params, self.text))

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if support.any_unknown(x):
            return values.Unknown() if self.flat else support.unknown(x)
        return values.Array(self.dtype(x), x.shape)

    def dtype(self, x: values.AbstractValue) -> np.dtype | None:
        return support.result_dtype(self.function, [x])

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        axis = support.normal_axis(operation["axis"], support.sample_rank(x, True)) + 1
        return batch.builder.emit(self, [x], operation.params | {"axis": axis})

    def dependence(self, use: Use, position: int) -> Dependence:
        same = use.shapes[position] == use.shape and bool(use.shape)
        return along(use.shape, use.shape, (use.params["axis"],)) if same else EVERYTHING


def so_far(use: Use, position: int) -> Dependence:
    """Of what is accumulated along an axis, from its end with `reverse`."""
    axis, reverse = use.params["axis"], use.params.get("reverse", False)
    if isinstance(reverse, Undecided) or use.shapes[position] != use.shape:
        return EVERYTHING
    return up_to(use.shape, axis, backwards=bool(reverse))


class Running(Scan):
    """A function for which the axis of a vector need not be said."""

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return support.without_axis(call, facts)


class RunningSum(Running):
    """np.cumsum: linear; its adjoint is the running sum from the other end."""

    def dependence(self, use: Use, position: int) -> Dependence:
        return so_far(use, position)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        found = _of_the_first(operation, y_bar)
        return [_sum_from_the_end(y_bar, operation["axis"]) if found is None else found]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return np.cumsum(tangents[0], **operation.params)


def _sum_from_the_end(y_bar: Any, axis: int) -> Any:
    return np.flip(np.cumsum(np.flip(y_bar, axis=axis), axis=axis), axis=axis)


def _of_the_first(operation: Operation, y_bar: Any) -> Any:
    """The adjoint of an array of whose running sums the first ones are read, or one: what comes
    after these has no part in it. None where others are read."""
    (x,), axis, builder = operation.operands, operation["axis"], operation.result.builder
    zeros, value = builder.operands_of(y_bar, runtime.index_add) or (None, None)
    if zeros is None or x.ndim is None or filling_of(builder, zeros) != 0:
        return None
    index = builder.definition(y_bar)[2]["index"]
    *before, item = index if isinstance(index, tuple) else (index,)
    if len(before) != axis or not all(map(is_whole_axis, before)):
        return None
    if type(item) is int:
        value = np.expand_dims(value, axis) if x.ndim > 1 and np.ndim(value) else value
        if item == -1:
            return builder.call(runtime.broadcast_like, (value, x), {})
        item = slice(None, item + 1)
    elif isinstance(item, slice) and item.start is item.step is None:
        part = x[(*before, item)]
        value = builder.call(runtime.broadcast_like, (value, part), {})
        value = _sum_from_the_end(value, axis)
    else:
        return None
    return builder.call(runtime.index_add, (zeros, index_of((*before, item)), value), {})


class RunningProduct(Running):
    """np.cumprod: y[i] = x[i] * y[i - 1], so its tangent is a linear recurrence of first order.

    Nothing is divided by: zeros are as good as other numbers, in derivatives of all orders.
    """

    def before(self, operation: Operation) -> Any:
        """The product of what stands before each element."""
        return moved_on(operation.result, operation["axis"], 1.0)

    def dependence(self, use: Use, position: int) -> Dependence:
        return so_far(use, position)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (x,), axis = operation.operands, operation["axis"]
        after = support.conj(np.roll(x, -1, axis=axis))
        later = recurrence(after, y_bar, axis, reverse=True)
        return [later * support.conj(self.before(operation))]

    def forward(self, operation: Operation, tangents: list) -> Any:
        (x,), axis = operation.operands, operation["axis"]
        return recurrence(x, tangents[0] * self.before(operation), axis)


def recurrence(a: Any, b: Any, axis: int, *, reverse: bool = False) -> Any:
    """y[i] = a[i] * y[i - 1] + b[i] along an axis; from its end with `reverse`."""
    params = {"axis": axis} | ({"reverse": True} if reverse else {})
    return a.builder.call(runtime.recurrence, (a, b), params)


def moved_on(x: Symbol, axis: int, first: float, step: int = 1) -> Any:
    """x moved by one place along an axis, with this number where nothing is moved to."""
    index = support.at(axis, slice(None, 1) if step == 1 else slice(-1, None))
    rolled = np.roll(x, step, axis=axis)
    return x.builder.call(runtime.index_set, (rolled, index, first), {})


class Recurrence(Rule):
    """recurrence(a, b, axis, reverse): the adjoint of b is the recurrence from the other end."""

    of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        a, b = (builder.call(runtime.broadcast_like, pair, {}) for pair in (args, args[::-1]))
        return builder.emit(self, [a, b], kwargs)

    def dependence(self, use: Use, position: int) -> Dependence:
        return so_far(use, position)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        a, b = operands
        if support.any_unknown(a, b):
            return support.unknown(a, b)
        kinds = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(kinds) else np.result_type(*kinds)
        return values.Array(dtype, values.broadcast([a.shape, b.shape]))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (a, _), axis = operation.operands, operation["axis"]
        back = operation.params.get("reverse", False)
        y_bar = a.builder.call(runtime.broadcast_like, (y_bar, operation.result), {})
        after = support.conj(np.roll(a, 1 if back else -1, axis=axis))
        b_bar = recurrence(after, y_bar, axis, reverse=not back)
        if not operation.active[0]:
            return [None, b_bar]
        return [b_bar * support.conj(_neighbours(operation)), b_bar]

    def forward(self, operation: Operation, tangents: list) -> Any:
        a_dot, b_dot = tangents
        terms = [] if a_dot is None else [a_dot * _neighbours(operation)]
        terms += [] if b_dot is None else [b_dot]
        total = functools.reduce(operator.add, terms)
        back = operation.params.get("reverse", False)
        return recurrence(operation.operands[0], total, operation["axis"], reverse=back)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        pairs = list(zip(operation.operands, batched, strict=True))
        axis = support.normal_axis(operation["axis"], max(support.sample_rank(*p) for p in pairs))
        operands = [batch.spread(*pair) for pair in pairs]
        return batch.builder.emit(self, operands, operation.params | {"axis": axis + 1})


def others(x: Symbol, axis: int) -> Any:
    """The product of all elements along an axis but each itself."""
    return x.builder.call(runtime.products_of_others, (x, axis), {})


class ProductsOfOthers(Scan):
    """The product of what stands before each element, times that of what stands after it."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, [args[0]], {"axis": args[1]})

    def dtype(self, x: values.AbstractValue) -> np.dtype | None:
        return values.strong_dtype(x)

    def _sides(self, operation: Operation) -> tuple[Symbol, Symbol, Any, Any]:
        """What is multiplied from both ends, and the products so far."""
        (x,), axis = operation.operands, operation["axis"]
        ends = moved_on(x, axis, 1.0), moved_on(np.flip(x, axis=axis), axis, 1.0)
        return *ends, *(np.cumprod(each, axis=axis) for each in ends)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        axis = operation["axis"]
        left, right, before, after = self._sides(operation)
        y_bar = y_bar.builder.call(runtime.broadcast_like, (y_bar, operation.result), {})
        bars = y_bar * support.conj(np.flip(after, axis=axis)), y_bar * support.conj(before)
        found = []
        for end, so_far, bar in (
            (left, before, bars[0]),
            (right, after, np.flip(bars[1], axis=axis)),
        ):
            later = recurrence(support.conj(np.roll(end, -1, axis=axis)), bar, axis, reverse=True)
            moved = later * support.conj(moved_on(so_far, axis, 1.0))
            found.append(moved_on(moved, axis, 0.0, -1))
        return [found[0] + np.flip(found[1], axis=axis)]

    def forward(self, operation: Operation, tangents: list) -> Any:
        axis, x_dot = operation["axis"], tangents[0]
        left, right, before, after = self._sides(operation)
        dots = []
        for end, so_far, dot in ((left, before, x_dot), (right, after, np.flip(x_dot, axis=axis))):
            moved = moved_on(dot, axis, 0.0) * moved_on(so_far, axis, 1.0)
            dots.append(recurrence(end, moved, axis))
        return dots[0] * np.flip(after, axis=axis) + before * np.flip(dots[1], axis=axis)


def _neighbours(operation: Operation) -> Any:
    """y[i - 1] for each i of a recurrence, or y[i + 1]; zero where there is none."""
    step = -1 if operation.params.get("reverse", False) else 1
    return moved_on(operation.result, operation["axis"], 0.0, step)


class Sort(Scan):
    """np.sort: what np.argsort takes from x; the adjoint goes where each element came from."""

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (x,), axis = operation.operands, operation["axis"]
        order = np.argsort(x, **operation.params)
        if x.ndim is None:
            indices = np.argsort(order, **operation.params)
            return [np.take_along_axis(y_bar, indices, axis=axis)]
        whole = (np.zeros_like(x), index_along(x, order, axis), y_bar)
        return [x.builder.call(runtime.index_set, whole, {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        order = np.argsort(operation.operands[0], **operation.params)
        return np.take_along_axis(tangents[0], order, axis=operation["axis"])


class ArgSort(Scan):
    """np.argsort: integers, which move in steps; those of a vector are all different."""

    flat = positions = permutes = True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        found = super().infer(operands, params)
        vector = isinstance(found, values.Array) and found.rank == 1
        return values.Array(found.dtype, found.shape, selects=True) if vector else found

    def dtype(self, x: values.AbstractValue) -> np.dtype | None:
        return np.dtype(np.intp)


class Partition(Scan):
    """np.partition: what stands where is found by the order of its elements and of x."""

    open = ("kth",)

    def dtype(self, x: values.AbstractValue) -> np.dtype | None:
        return values.strong_dtype(x)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (x,), axis = operation.operands, operation["axis"]
        return [moved_with(y_bar, operation.result, x, axis)]

    def forward(self, operation: Operation, tangents: list) -> Any:
        (x,), axis = operation.operands, operation["axis"]
        return moved_with(tangents[0], x, operation.result, axis)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return _with_kth(call)


def moved_with(items: Any, source: Symbol, target: Symbol, axis: int) -> Any:
    """Items moved from where the elements of `source` stand to where they stand in `target`."""
    return source.builder.call(runtime.moved_with, (items, source, target), {"axis": axis})


class Alongside(Scan):
    """A function of items and of arrays of their shape, which say what is done with the items."""

    linear = conjugates = (0,)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        items = builder.call(runtime.broadcast_like, args[:2], {})
        return builder.emit(self, [items, *args[1:]], kwargs)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        items, other = operands[:2]
        if support.any_unknown(*operands):
            return support.unknown(items, other)
        return values.Array(values.strong_dtype(items), other.shape)

    def forward(self, operation: Operation, tangents: list) -> Any:
        if tangents[0] is None:
            return None
        operands = [tangents[0], *operation.operands[1:]]
        return operands[1].builder.call(self.function, tuple(operands), operation.params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        pairs = list(zip(operation.operands, batched, strict=True))
        axis = support.normal_axis(operation["axis"], support.sample_rank(*pairs[1]))
        operands = [batch.spread(*pair) for pair in pairs]
        return batch.builder.emit(self, operands, {"axis": axis + 1})


class MovedWith(Alongside):
    """moved_with(items, source, target, axis): its adjoint moves them back."""

    moves = True

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        _, source, target = operation.operands
        return [moved_with(y_bar, target, source, operation["axis"]), None, None]


class SumsOfRuns(Alongside):
    """sums_of_runs(items, y, axis): its adjoint gives each item what its run has."""

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        y, axis = operation.operands[1], operation["axis"]
        indices = y.builder.call(runtime.first_places, (y, axis), {})
        y_bar = y.builder.call(runtime.broadcast_like, (y_bar, y), {})
        return [np.take_along_axis(y_bar, indices, axis=axis), None]


class ArgPartition(ArgSort):
    """np.argpartition: integers, which move in steps."""

    open = ("kth",)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return _with_kth(call)


def _with_kth(call: gast.Call) -> gast.AST:
    named = {each.arg: each.value for each in call.keywords}
    rest = [each for each in call.keywords if each.arg != "kth"]
    return gast.Call(call.func, [*call.args, named["kth"]], rest)


def _skipping_nan(function: Callable, neutral: float) -> Callable:
    """The scan of x with a number that changes nothing wherever it is nan."""

    def meaning(x: Any, axis: Any, dtype: Any, out: Any) -> Any:
        return function(np.where(np.isnan(x), neutral, x), axis=axis, dtype=dtype)

    return meaning


def _cumulative(function: Callable, first: float) -> Callable:
    """np.cumulative_sum and np.cumulative_prod: with include_initial the scan of nothing first."""

    def meaning(x: Any, axis: Any, dtype: Any, out: Any, include_initial: Any) -> Any:
        rank = support.known_rank(x, "cumulative_sum or cumulative_prod")
        if axis is None and rank != 1:
            raise ValueError("for arrays which have more than one dimension, axis is required")
        axis = support.normal_axis(0 if axis is None else static(axis, "axis"), rank)
        y = function(x, axis=axis, dtype=dtype)
        if not static(include_initial, "include_initial"):
            return y
        sizes = [1 if i == axis else n for i, n in enumerate(support.lengths(x, range(rank)))]
        start = y.builder.call(np.full, (tuple(sizes), first), {"dtype": y.dtype})
        return np.concatenate([start, y], axis=axis)

    return meaning


TYPED = ", dtype=None, out=None"
SELECTING = ", kind='introselect', order=None"


class Unwrap(Scan):
    """np.unwrap: whole periods are added, so that its derivative is the identity."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        text = "p, discont=None, axis=-1, period=2 * np.pi"
        given = support.bind_call(builder, self, text, args, kwargs)
        x, axis = given.pop("p"), given.pop("axis")
        return super().bind(builder, (x, axis), support.given(given, text))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        return [y_bar]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return tangents[0]


SORTING = ", kind=None, order=None, *, stable=None"

register(ArgPartition(np.argpartition, -1, SELECTING, "kth, "))
register(ArgSort(np.argsort, -1, SORTING))
register(MovedWith(runtime.moved_with, None))
register(Partition(np.partition, -1, SELECTING, "kth, "))
register(ProductsOfOthers(runtime.products_of_others, None))
register(Recurrence(runtime.recurrence, "recurrence"))
register(RunningProduct(np.cumprod, None, TYPED))
register(RunningSum(np.cumsum, None, TYPED))
register(Sort(np.sort, -1, SORTING))
register(SumsOfRuns(runtime.sums_of_runs, None))
register(Unwrap(np.unwrap, -1, ", discont=None, period=2 * np.pi"))

CUMULATIVE = "x, *, axis=None, dtype=None, out=None, include_initial=False"
composite(np.cumulative_prod, CUMULATIVE, _cumulative(np.cumprod, 1))
composite(np.cumulative_sum, CUMULATIVE, _cumulative(np.cumsum, 0))
composite(np.nancumprod, "x, axis=None, dtype=None, out=None", _skipping_nan(np.cumprod, 1))
composite(np.nancumsum, "x, axis=None, dtype=None, out=None", _skipping_nan(np.cumsum, 0))

METHODS |= {
    "argpartition": np.argpartition,
    "argsort": np.argsort,
    "cumprod": np.cumprod,
    "cumsum": np.cumsum,
}
