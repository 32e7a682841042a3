"""Methods of ufuncs: np.add.reduce, np.multiply.outer, np.maximum.accumulate, np.add.reduceat.

Their rules are made of the row of the ufunc when one is first met. `at` changes an array: the
frontend has it.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.dependence import Dependence, Use
from s2s_ad.core.registry import FINDERS, RULES, register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.diagnostics import NoDerivative
from s2s_ad.rules import support
from s2s_ad.rules.composite import Composite
from s2s_ad.rules.elementwise import Elementwise, Helpers, compiled
from s2s_ad.rules.reduction_table import extreme_adjoint, extreme_tangent
from s2s_ad.rules.reductions import OF_TOTAL, Reduction
from s2s_ad.rules.scans import Scan, so_far

#: the functions that some methods are
SAME: dict[Any, Callable] = {
    np.add.accumulate: np.cumsum,
    np.add.reduce: np.sum,
    np.logical_and.reduce: np.all,
    np.logical_or.reduce: np.any,
    np.maximum.reduce: np.max,
    np.minimum.reduce: np.min,
    np.multiply.accumulate: np.cumprod,
    np.multiply.reduce: np.prod,
}
#: where the derivative of the row, which reads one operand and the result, is that of the whole
SYMMETRIC = (np.hypot, np.logaddexp, np.logaddexp2)
EXTREMES = (np.fmax, np.fmin, np.maximum, np.minimum)


def method_of_ufunc(function: Any) -> Rule | None:
    """The rule of a method of a ufunc that has a row."""
    ufunc = getattr(function, "__self__", None)
    if not isinstance(function, types.BuiltinMethodType) or not isinstance(ufunc, np.ufunc):
        return None
    row = RULES.get(ufunc)
    make = MAKERS.get(function.__name__)
    if make is None or not isinstance(row, Elementwise) or ufunc.nin != 2:
        return None
    return register(make(function, row))


def _renamed(function: Any) -> Composite:
    """A method that is a function of NumPy's, but for the axis where none is given."""
    same = SAME[function]

    def meaning(x: Any, axis: Any, dtype: Any, **options: Any) -> Any:
        logical = same in (np.all, np.any)
        if logical and dtype is not None and np.dtype(static(dtype, "dtype")) != np.dtype(bool):
            raise TypeError(f"No loop of {function.__self__.__name__} has the dtype {dtype}")
        x = support.converted(x, dtype)
        return same(x, axis=axis, **{key: v for key, v in options.items() if v is not None})

    more = "keepdims=None, initial=None, where=None" if function.__name__ == "reduce" else ""
    return Composite(function, f"x, axis=0, dtype=None, {more}", meaning)


def _reduction(function: Any, row: Elementwise) -> Rule:
    if function in SAME:
        return _renamed(function)
    ufunc = function.__self__
    if ufunc in SYMMETRIC:
        return ReducedBy(function, _row_adjoint(row), _row_tangent(row))
    if ufunc in EXTREMES:
        return ReducedBy(function, extreme_adjoint, extreme_tangent)
    return ReducedBy(function) if row.flat else Refused(function)


def _row_adjoint(row: Elementwise) -> Callable:
    """The text of the row's first operand, read with the array for that operand."""

    def adjoint(x: Symbol, y: Any, y_bar: Any, axes: Any) -> Any:
        names = {"np": np, "runtime": Helpers(x.builder, runtime), "a": x, "y": y, "y_bar": y_bar}
        return eval(compiled(row.adjoints[0]), row.space | names)

    return adjoint


def _row_tangent(row: Elementwise) -> Callable:
    adjoint = _row_adjoint(row)
    return lambda x, y, x_dot, axes: (np.sum, adjoint(x, y, x_dot, axes))


class ReducedBy(Reduction):
    """The reduction of an array by a ufunc; without an axis given it is along the first."""

    def __init__(self, function: Any, *derivatives: Callable):
        ufunc = function.__self__
        text = OF_TOTAL.replace("axis=None", "axis=0")
        super().__init__(function, *derivatives, text=text, neutral=ufunc.identity, join=ufunc)

    def _reduced(self, builder: Builder, x: Any, params: dict[str, Any]) -> Any:
        rank = support.known_rank(x, f"np.{self.join.__name__}.reduce")
        axes = support.normal_axes(params["axis"], rank)
        return super()._reduced(builder, x, params | {"axis": support.axis_of(axes)})


class Refused(Rule):
    """A method without a derivative that is worth its text."""

    refused = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        ufunc, name = self.function.__self__.__name__, self.name
        raise NoDerivative(
            "S2S301",
            f"np.{ufunc}.{name} has no rule",
            origin=builder.origin,
            why=f"the order in which np.{ufunc} takes the elements matters, or may",
            help=f"write a loop that calls np.{ufunc} on the items",
        )

    def __init__(self, function: Any, row: Any = None):
        super().__init__(function, function.__name__)


def _accumulation(function: Any, row: Elementwise) -> Rule:
    if function in SAME:
        return _renamed(function)
    return (
        RunningExtreme(function, 0, ", dtype=None")
        if function.__self__ in EXTREMES
        else Refused(function)
    )


class RunningExtreme(Scan):
    """np.maximum.accumulate: of equal elements the first one gets the derivative."""

    def dependence(self, use: Use, position: int) -> Dependence:
        return so_far(use, position)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        y, axis = operation.result, {"axis": operation["axis"]}
        return [y.builder.call(runtime.sums_of_runs, (y_bar, y), axis)]

    def forward(self, operation: Operation, tangents: list) -> Any:
        y, axis = operation.result, operation["axis"]
        indices = y.builder.call(runtime.first_places, (y, axis), {})
        return np.take_along_axis(tangents[0], indices, axis=axis)


class FirstPlaces(Scan):
    """Where each element of a running extreme comes from."""

    flat = True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        y = operands[0]
        return values.Unknown() if support.any_unknown(y) else values.Array(np.dtype(int), y.shape)


def _outer(function: Any, row: Elementwise) -> Rule:
    """np.multiply.outer(a, b): each element of a with each of b."""
    ufunc = function.__self__

    def meaning(a: Any, b: Any, **options: Any) -> Any:
        vectors = all(isinstance(each, Symbol) and each.ndim == 1 for each in (a, b))
        if ufunc is np.multiply and vectors and set(options.values()) == {None}:
            return np.outer(a, b)
        rank = support.known_rank(b, f"np.{ufunc.__name__}.outer")
        if rank and isinstance(a, Symbol | np.ndarray):
            first = support.known_rank(a, f"np.{ufunc.__name__}.outer")
            a = np.expand_dims(a, support.axis_of(range(first, first + rank))) if first else a
        return _called(ufunc, a, b, {k: v for k, v in options.items() if v is not None})

    return Composite(function, "a, b, where=None, dtype=None, casting=None, order=None", meaning)


def _called(ufunc: np.ufunc, a: Any, b: Any, options: dict[str, Any]) -> Any:
    """The ufunc of arrays: of Python's numbers np.multiply.outer makes arrays."""
    builder = next(each.builder for each in (a, b) if isinstance(each, Symbol))
    return builder.call(ufunc, [support.strong(builder, each) for each in (a, b)], options)


def _segments(function: Any, row: Elementwise) -> Rule:
    return SumOfSegments(function) if function == np.add.reduceat else Refused(function)


class SumOfSegments(Rule):
    """np.add.reduceat(x, indices, axis): the sums from each index to the next."""

    of_complex = True
    text = "x, indices, axis=0, dtype=None"

    def __init__(self, function: Any):
        super().__init__(function, "reduceat")

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, self.text, args, kwargs)
        x, indices = (support.as_operand(builder, given[e]) for e in ("x", "indices"))
        x = support.converted(x, static(given["dtype"], "dtype of np.add.reduceat"))
        axis = static(given["axis"], "axis of np.add.reduceat")
        axis = support.normal_axis(axis, support.known_rank(x, "np.add.reduceat"))
        return builder.emit(self, [x, indices], {"axis": axis})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x, indices = operands
        if support.any_unknown(x, indices):
            return support.unknown(x)
        shape = list(x.shape)
        shape[params["axis"]] = indices.shape[0]
        dtype = None if x.dtype is None else np.add.reduce(np.ones(1, x.dtype)).dtype
        return values.Array(dtype, tuple(shape))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        x, indices = operation.operands
        length = support.length(x, operation["axis"])
        operands = (y_bar, indices, length, operation["axis"])
        return [x.builder.call(runtime.spread_segments, operands, {}), None]

    def forward(self, operation: Operation, tangents: list) -> Any:
        if tangents[0] is None:
            return None
        operands = [tangents[0], operation.operands[1]]
        return operation.result.builder.emit(self, operands, operation.params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if batched[1]:
            raise support.CannotBatch
        return batch.builder.emit(self, operation.operands, {"axis": operation["axis"] + 1})


class SpreadSegments(SumOfSegments):
    """The adjoint of np.add.reduceat: each sum's adjoint for every element of its segment."""

    text = "x, indices, length, axis=0"

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        x, indices, length, axis = args
        return builder.emit(self, [x, indices], {"length": length, "axis": axis})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if support.any_unknown(x):
            return support.unknown(x)
        shape, length = list(x.shape), params["length"]
        shape[params["axis"]] = length if isinstance(length, int) else values.fresh_dim()
        return values.with_shape(x, tuple(shape))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        indices, axis = operation.operands[1], operation["axis"]
        return [y_bar.builder.call(np.add.reduceat, (y_bar, indices, axis), {}), None]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if batched[1]:
            raise support.CannotBatch
        params = operation.params | {"axis": operation["axis"] + 1}
        return batch.builder.emit(self, operation.operands, params)


MAKERS: dict[str, Callable] = {
    "accumulate": _accumulation,
    "outer": _outer,
    "reduce": _reduction,
    "reduceat": _segments,
}

FINDERS.append(method_of_ufunc)
register(FirstPlaces(runtime.first_places, 0))
register(SpreadSegments(runtime.spread_segments))
