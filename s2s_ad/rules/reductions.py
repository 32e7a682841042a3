"""The reduction kind: functions that take axes away, and how their adjoints spread back."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.registry import METHODS, Operation, Rule, register
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.elementwise import broadcast_source

TEXT = "x, axis=None, keepdims=False"


class Reduction(Rule):
    """A function with `axis` (int, tuple or None) and `keepdims`.

    Args:
        adjoint: (reduction, x, y, y_bar, axes) -> adjoint of x, with y and y_bar already given
            axes of length one where x was reduced; None where there is no derivative.
        tangent: the same with x_dot for y_bar -> tangent, to be reduced by np.sum or np.mean.
        many_axes: whether `axis` may be a tuple.
    """

    reduction = True

    def __init__(
        self,
        function: Callable,
        adjoint: Callable | None = None,
        tangent: Callable | None = None,
        *,
        many_axes: bool = True,
    ):
        super().__init__(function, function.__name__)
        self.adjoint, self.tangent, self.many_axes = adjoint, tangent, many_axes
        self.flat = adjoint is None

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, TEXT, args, kwargs)
        x = support.as_operand(builder, params.pop("x"))
        params = support.static_params(params, self)
        if isinstance(params["axis"], list):
            params["axis"] = tuple(params["axis"])
        if not isinstance(x, Symbol):
            return self.function(x, **support.given(params, TEXT))
        if params["axis"] == ():
            return self._of_no_axes(builder, x)
        return builder.emit(self, [x], support.given(params, TEXT))

    def _of_no_axes(self, builder: Builder, x: Symbol) -> Any:
        """Nothing is reduced: the sum, mean or extreme of each element by itself."""
        if self.flat or not values.is_inexact(x.fact):
            raise UnsupportedError("S2S203", f"np.{self.name} with axis=()", origin=builder.origin)
        return np.copy(x)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if support.any_unknown(x):
            return values.Unknown() if self.flat else support.unknown(x)
        axes = support.normal_axes(params.get("axis"), len(x.shape))
        keep = params.get("keepdims", False)
        shape = tuple(
            1 if axis in axes else dim
            for axis, dim in enumerate(x.shape)
            if keep or axis not in axes
        )
        axis = {} if params.get("axis") is None else {"axis": params["axis"]}
        return values.Array(support.result_dtype(self.function, operands, **axis), shape)

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        rule, inner, _ = builder.definition(operands[0])
        negated = rule is not None and rule.function is operator.neg
        if negated and builder.derived and self.function in (np.sum, np.mean):
            return -builder.emit(self, inner, params)
        source = broadcast_source(builder, operands[0])
        if self.function not in (np.sum, np.mean) or source is None or support.shape(source[0]):
            return None
        x = operands[0]
        if x.ndim is None or params.get("keepdims"):
            return None
        axes = support.normal_axes(params.get("axis"), x.ndim)
        count = count_of(source[1], axes) if self.function is np.sum else 1
        if len(axes) < x.ndim:
            return None
        return source[0] * count

    # ---- derivatives

    def _spread(self, operation: Operation, value: Any) -> Any:
        """`value`, shaped like the result, with the axes that were reduced, at length one."""
        axis = operation.params.get("axis")
        if axis is None or operation.params.get("keepdims") or not isinstance(value, Symbol):
            return value
        source = broadcast_source(value.builder, value)
        if source is not None and support.shape(source[0]) == ():
            return source[0]  # the same number everywhere broadcasts by itself
        if operation.operands[0].ndim is not None:
            axes = support.normal_axes(axis, operation.operands[0].ndim)
            if axes == tuple(range(len(axes))) and value.ndim == 0:
                return value
            axis = support.axis_of(axes)
        return np.expand_dims(value, axis)

    def _axes(self, operation: Operation) -> Any:
        x, axis = operation.operands[0], operation.params.get("axis")
        return axis if x.ndim is None else support.normal_axes(axis, x.ndim)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        x = operation.operands[0]
        y = self._spread(operation, operation.result)
        x_bar = self.adjoint(x, y, self._spread(operation, y_bar), self._axes(operation))
        x_bar = x.builder.call(runtime.broadcast_like, (x_bar, x), {})
        return [x.builder.call(runtime.unbroadcast, (x_bar, x), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        if tangents[0] is None:
            return None
        x = operation.operands[0]
        y = self._spread(operation, operation.result)
        function, term = self.tangent(x, y, tangents[0], self._axes(operation))
        return x.builder.call(function, (term,), operation.params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        rank = support.sample_rank(x, True)
        axes = tuple(axis + 1 for axis in support.normal_axes(operation.params.get("axis"), rank))
        if not rank:
            return self._of_numbers(batch.builder, x)
        axis = support.axis_of(axes)
        if not self.many_axes and len(axes) > 1:
            x, axis = support.flatten_samples(x), 1
        return batch.builder.emit(self, [x], operation.params | {"axis": axis})

    def _of_numbers(self, builder: Builder, x: Symbol) -> Any:
        """The reduction of samples that are single numbers."""
        return builder.emit(self, [np.expand_dims(x, 1)], {"axis": 1})


def count_of(x: Symbol, axes: Any) -> Any:
    """How many elements the axes hold: a number where facts allow, else code for it."""
    if x.ndim is None:
        if axes is None:
            return np.size(x)
        axes = axes if isinstance(axes, tuple) else (axes,)
        return support.product([np.size(x, axis) for axis in axes])
    if len(axes) == x.ndim > 1 and not all(isinstance(dim, int) for dim in x.shape):
        return np.size(x)
    return support.product([support.length(x, axis) for axis in axes])


def _shared_evenly(x: Symbol, y: Any, axes: Any) -> Any:
    """1 / (number of ties) at each extreme value, 0 elsewhere (ties share the derivative)."""
    chosen = x == y
    if not values.is_dtype(x.dtype, float):
        chosen = chosen.astype(x.dtype if x.dtype is not None else float)
    if axes is None or (x.ndim is not None and len(axes) == x.ndim):
        return chosen / np.sum(chosen)
    if not isinstance(axes, int):
        axes = support.axis_of(axes)
    return chosen / np.sum(chosen, axis=axes, keepdims=True)


def _extreme_adjoint(x: Symbol, y: Any, y_bar: Any, axes: Any) -> Any:
    return y_bar * _shared_evenly(x, y, axes)


def _extreme_tangent(x: Symbol, y: Any, x_dot: Any, axes: Any) -> tuple[Callable, Any]:
    return np.sum, x_dot * _shared_evenly(x, y, axes)


def _sum_adjoint(x: Symbol, y: Any, y_bar: Any, axes: Any) -> Any:
    return y_bar


def _mean_adjoint(x: Symbol, y: Any, y_bar: Any, axes: Any) -> Any:
    return y_bar / count_of(x, axes)


register(Reduction(np.all))
register(Reduction(np.any))
register(Reduction(np.argmax, many_axes=False))
register(Reduction(np.argmin, many_axes=False))
register(Reduction(np.count_nonzero))
register(Reduction(np.max, _extreme_adjoint, _extreme_tangent))
register(Reduction(np.mean, _mean_adjoint, lambda x, y, x_dot, axes: (np.mean, x_dot)))
register(Reduction(np.min, _extreme_adjoint, _extreme_tangent))
register(Reduction(np.sum, _sum_adjoint, lambda x, y, x_dot, axes: (np.sum, x_dot)))


# ---- reductions that are written as the NumPy they stand for -------------------------------------


def _var(x: Symbol, axis: Any, ddof: Any, keepdims: Any) -> Any:
    centred = x - np.mean(x, axis=axis, keepdims=True)
    square = centred**2
    if ddof == 0:
        return np.mean(square, axis=axis, keepdims=keepdims)
    axes = axis if x.ndim is None else support.normal_axes(axis, x.ndim)
    return np.sum(square, axis=axis, keepdims=keepdims) / (count_of(x, axes) - ddof)


def _std(**arguments: Any) -> Any:
    return np.sqrt(_var(**arguments))


def _ptp(x: Symbol, axis: Any, keepdims: Any) -> Any:
    return np.max(x, axis=axis, keepdims=keepdims) - np.min(x, axis=axis, keepdims=keepdims)


composite(np.ptp, TEXT, _ptp)
composite(np.std, "x, axis=None, ddof=0, keepdims=False", _std)
composite(np.var, "x, axis=None, ddof=0, keepdims=False", _var)


for each in (np.all, np.any, np.argmax, np.argmin, np.max, np.mean, np.min, np.std, np.sum, np.var):
    METHODS[each.__name__] = each
METHODS["ptp"] = np.ptp
