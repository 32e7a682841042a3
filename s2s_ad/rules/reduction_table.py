"""The table of reductions, and those that are written as the NumPy they stand for."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.registry import METHODS, RULES, register
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.reductions import (
    OF_INDEX,
    OF_LOGIC,
    OF_MEAN,
    OF_ORDER,
    OF_TOTAL,
    Reduction,
    count_of,
    shared_evenly,
)
from s2s_ad.rules.scans import others


def extreme_adjoint(x: Symbol, y: Any, y_bar: Any, axes: Any) -> Any:
    return shared_evenly(x, y, axes, y_bar)


def extreme_tangent(x: Symbol, y: Any, x_dot: Any, axes: Any) -> tuple[Callable, Any]:
    return np.sum, x_dot * shared_evenly(x, y, axes)


def _mean_adjoint(x: Symbol, y: Any, y_bar: Any, axes: Any) -> Any:
    return y_bar / count_of(x, axes)


class Mean(Reduction):
    """np.mean: with `where` a quotient of two sums."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, self.text, args, kwargs)
        where = given["where"]
        if where is True:
            return super().bind(builder, args, kwargs)
        x = given.pop("x")
        return np.sum(x, **given) / np.sum(_chosen(x, where), **given | {"where": True})

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        x = operands[0]
        alone = params.get("keepdims") and _is_of_one(x, params.get("axis"))
        if alone and "dtype" not in params and values.is_inexact(x.fact):
            return x
        return super().shortcut(builder, operands, params)


def _chosen(x: Any, where: Any) -> Any:
    """One for each element that counts, zero for the others."""
    if isinstance(x, Symbol) and x.builder.may_be_complex(x):
        x = np.real(x)
    return np.where(where, np.ones_like(x), 0.0)


class Prod(Reduction):
    """np.prod along one axis at a time.

    The adjoint multiplies the elements before each with those after it: no quotient, so that
    zeros are as good as other numbers, in derivatives of all orders.
    """

    def _reduced(self, builder: Builder, x: Any, params: dict[str, Any]) -> Any:
        axis, rank = params["axis"], support.rank(x)
        if not isinstance(x, Symbol) or (isinstance(axis, int) and rank != 0):
            return super()._reduced(builder, x, params)
        if axis is None and rank != 0 and not params["keepdims"]:
            return super()._reduced(builder, np.ravel(x), {"axis": 0, "keepdims": False})
        axes = support.normal_axes(axis, support.known_rank(x, "np.prod along several axes"))
        x = x if axes else np.multiply(x, 1)
        for each in sorted(axes, reverse=True):
            x = super()._reduced(builder, x, params | {"axis": each})
        return x


def _prod_adjoint(x: Symbol, y: Any, y_bar: Any, axes: Any) -> Any:
    return y_bar * support.conj(others(x, support.as_tuple(axes)[0]))


def _prod_tangent(x: Symbol, y: Any, x_dot: Any, axes: Any) -> tuple[Callable, Any]:
    return np.sum, x_dot * others(x, support.as_tuple(axes)[0])


register(Reduction(np.all, text=OF_LOGIC, neutral=True))
register(Reduction(np.any, text=OF_LOGIC, neutral=False)).disjunction = True
register(Reduction(np.argmax, many_axes=False))
register(Reduction(np.argmin, many_axes=False))
register(Reduction(np.count_nonzero, text="x, axis=None, *, keepdims=False"))
OF_EXTREME = {"text": OF_ORDER, "within": True}
register(Reduction(np.max, extreme_adjoint, extreme_tangent, join=np.maximum, **OF_EXTREME))
register(
    Mean(
        np.mean,
        _mean_adjoint,
        lambda x, y, x_dot, axes: (np.mean, x_dot),
        text=OF_MEAN,
        within=True,
    )
)
register(Reduction(np.min, extreme_adjoint, extreme_tangent, join=np.minimum, **OF_EXTREME))
register(Reduction(np.nanargmax, many_axes=False))
register(Reduction(np.nanargmin, many_axes=False))
register(Prod(np.prod, _prod_adjoint, _prod_tangent, text=OF_TOTAL, neutral=1, join=np.multiply))
register(
    Reduction(
        np.sum,
        lambda x, y, y_bar, axes: y_bar,
        lambda x, y, x_dot, axes: (np.sum, x_dot),
        text=OF_TOTAL,
        neutral=0,
        join=np.add,
    )
).sums = True


# ---- moments -------------------------------------------------------------------------------------

OF_MOMENT = "x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None,"
OF_MOMENT += " correction=None"


def _var(x: Any, dtype: Any, ddof: Any, mean: Any, correction: Any, **options: Any) -> Any:
    x = support.converted(x, dtype)
    where, axis, keepdims = (options[key] for key in ("where", "axis", "keepdims"))
    chosen = {} if where is True else {"where": where}
    if mean is None:
        mean = np.mean(x, axis=axis, keepdims=axis is not None, **chosen)
    ddof, square = ddof if correction is None else correction, support.abs_square(x - mean, like=x)
    if ddof == 0:
        return np.mean(square, axis=axis, keepdims=keepdims, **chosen)
    total = np.sum(square, axis=axis, keepdims=keepdims, **chosen)
    if where is not True:
        count = np.sum(_chosen(x, where), axis=axis, keepdims=keepdims)
        return total / support.degrees_of_freedom(count, ddof)
    axes = axis if x.ndim is None else support.normal_axes(axis, x.ndim)
    return total / support.degrees_of_freedom(count_of(x, axes), ddof)


def _std(**arguments: Any) -> Any:
    x = arguments["x"]
    ddof = arguments["ddof" if arguments["correction"] is None else "correction"]
    if isinstance(x, Symbol) and ddof == 0 and _is_of_one(x, arguments["axis"]):
        arguments["x"] = x.builder.call(runtime.stop_gradient, (x,), {})  # 0, wherever x is
    return np.sqrt(_var(**arguments))


def _is_of_one(x: Symbol, axis: Any) -> bool:
    """Whether each result is that of one element."""
    if x.shape is None:
        return False
    return all(x.shape[each] == 1 for each in support.normal_axes(axis, len(x.shape)))


def _ptp(x: Symbol, axis: Any, out: Any, keepdims: Any) -> Any:
    return np.max(x, axis=axis, keepdims=keepdims) - np.min(x, axis=axis, keepdims=keepdims)


def _same_as(function: Callable) -> Callable:
    """Another name of a reduction."""
    return lambda **arguments: function(arguments.pop("x"), **arguments)


composite(np.amax, OF_ORDER, _same_as(np.max))
composite(np.amin, OF_ORDER, _same_as(np.min))
composite(np.ptp, OF_INDEX.replace(" *,", ""), _ptp)
composite(np.std, OF_MOMENT, _std)
composite(np.var, OF_MOMENT, _var)


# ---- reductions that pass over nan ---------------------------------------------------------------


def _without_nan(function: Callable, neutral: float) -> Callable:
    """The reduction of x with a number that changes nothing wherever it is nan."""

    def meaning(x: Any, out: Any, **options: Any) -> Any:
        given = {key: value for key, value in options.items() if value is not None}
        return function(np.where(np.isnan(x), neutral, x), **given)

    return meaning


def _share_without_nan(x: Symbol, y: Any, y_bar: Any, axes: Any) -> Any:
    return shared_evenly(x, y, axes, y_bar, some=False)


def _tangent_without_nan(x: Symbol, y: Any, x_dot: Any, axes: Any) -> tuple[Callable, Any]:
    return np.sum, x_dot * shared_evenly(x, y, axes, some=False)


class NanExtreme(Reduction):
    """np.nanmax and np.nanmin: nan equals nothing, and so has no share in the derivative.

    With `where` or `initial` it is an extreme of numbers, nan where there is nothing else.
    """

    def __init__(self, function: Callable):
        super().__init__(function, _share_without_nan, _tangent_without_nan, text=OF_ORDER)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, self.text, args, kwargs)
        x, where, initial = given.pop("x"), given.pop("where"), given.pop("initial")
        plain = where is True and initial is None
        if plain or not isinstance(x, Symbol):
            return super().bind(builder, args, kwargs)
        highest = self.function is np.nanmax
        extreme, worst = (np.max, -math.inf) if highest else (np.min, math.inf)
        missing = np.isnan(x) if where is True else np.isnan(x) | np.logical_not(where)
        options = {key: given[key] for key in ("axis", "keepdims")}
        result = extreme(np.where(missing, worst, x), **options)
        if initial is not None:
            return (np.maximum if highest else np.minimum)(result, initial)
        return np.where(np.all(missing, **options), math.nan, result)


def _nanmean(x: Any, dtype: Any, out: Any, where: Any, **options: Any) -> Any:
    x = support.converted(x, dtype)
    chosen = ~np.isnan(x) if where is True else ~np.isnan(x) & where
    return np.mean(x, where=chosen, **options)


def _nanvar(x: Any, where: Any, **options: Any) -> Any:
    chosen = ~np.isnan(x) if where is True else ~np.isnan(x) & where
    x = np.where(np.isnan(x), 0.0, x)
    return _var(x=x, where=chosen, **options)


def _nanstd(**arguments: Any) -> Any:
    return np.sqrt(_nanvar(**arguments))


register(NanExtreme(np.nanmax))
composite(np.nanmean, OF_MEAN, _nanmean)
register(NanExtreme(np.nanmin))
composite(np.nanprod, OF_TOTAL, _without_nan(np.prod, 1))
composite(np.nanstd, OF_MOMENT, _nanstd)
composite(np.nansum, OF_TOTAL, _without_nan(np.sum, 0))
composite(np.nanvar, OF_MOMENT, _nanvar)

for each in (np.all, np.any, np.argmax, np.argmin, np.max, np.mean, np.min, np.prod, np.std):
    METHODS[each.__name__] = each
for each in (np.argmax, np.argmin, np.nanargmax, np.nanargmin):
    RULES[each].locates = RULES[each].positions = True
METHODS |= {"ptp": np.ptp, "sum": np.sum, "var": np.var}
