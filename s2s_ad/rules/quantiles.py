"""Medians, quantiles and percentiles: each lies between two elements in order.

What is between elements is a mean of the two; elements that tie share a derivative evenly, as they
do in np.max. The methods are those of R. J. Hyndman and Y. Fan, "Sample quantiles in statistical
packages" (1996), by NumPy's names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.reductions import Reduction, count_of, shared_evenly
from s2s_ad.rules.structure import leading

OF_MEDIAN = "x, axis=None, out=None, overwrite_input=False, keepdims=False"
OF_QUANTILE = "x, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False,"
OF_QUANTILE += " *, weights=None"

#: the elements that a method takes, with their weights; those between "linear" ends vary
TAKEN = {"midpoint": ((0.5, "lower"), (0.5, "higher"))}
TAKEN |= {name: ((1.0, name),) for name in ("closest_observation", "higher", "inverted_cdf")}
TAKEN |= {name: ((1.0, name),) for name in ("lower", "nearest")}
#: alpha and beta: the place of a quantile is n * q + alpha + q * (1 - alpha - beta) - 1
PLACES = {
    "hazen": (0.5, 0.5),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
    "weibull": (0.0, 0.0),
}


class Quantile(Reduction):
    """np.quantile for one q that is known; a median is the quantile at one half.

    Args:
        order: the function that gives one of the two elements, by `method`.
        median: whether q is not said.
    """

    of_complex = False  # NumPy's quantiles order real numbers

    def __init__(self, function: Callable, order: Callable, *, median: bool = False):
        super().__init__(function, many_axes=False)
        self.flat, self.order, self.median = False, order, median

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        text = OF_MEDIAN if self.median else OF_QUANTILE
        given = support.bind_call(builder, self, text, args, kwargs)
        x, q = support.as_operand(builder, given["x"]), given.get("q", 0.5)
        if given.get("weights") is not None:
            raise _no_weights(builder, self)
        method = static(given.get("method", "linear"), "the method of a quantile")
        axis, keepdims = static((given["axis"], given["keepdims"]), "axis of a quantile")
        if isinstance(axis, tuple | list):
            return self._of_axes(builder, x, given | {"axis": tuple(axis)})
        options = {"axis": axis, "keepdims": keepdims}
        if isinstance(q, tuple | list):
            own = {"method": method, **options}
            if x.dtype is not None:  # an array of q is no Python number: NumPy computes in its type
                x = support.converted(x, np.result_type(x.dtype, float))
            return np.stack([builder.call(self.function, (x, each), own) for each in q])
        simple = method in TAKEN or method == "linear"
        support.known_rank(q if isinstance(q, Symbol) else 0, self.name)
        if isinstance(q, Symbol) or not simple:
            return _between(x, q, method, skips_nan=self.order is np.nanquantile, **options)
        plain = {} if self.median else {"q": q}
        plain |= {} if method == "linear" else {"method": method}
        return builder.emit(self, [x], plain | support.given(options, "axis=None, keepdims=False"))

    def _of_axes(self, builder: Builder, x: Symbol, given: dict[str, Any]) -> Any:
        """The quantile over several axes, which become one."""
        rank = support.known_rank(x, self.name)
        axes = support.normal_axes(given["axis"], rank)
        q_rank = 1 if isinstance(given.get("q"), tuple | list) else support.rank(given.get("q"))
        keepdims = given["keepdims"]
        given = {key: each for key, each in given.items() if key != "x"}
        given |= {"axis": -1, "keepdims": False}
        y = builder.call(self.function, (_merged(x, axes),), given)
        return np.expand_dims(y, tuple(axis + q_rank for axis in axes)) if keepdims else y

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        """NumPy takes the rows of np.nanquantile one by one: all at once they are put in order."""
        (x,), params = operation.operands, operation.params
        method, rank = params.get("method", "linear"), support.sample_rank(x, True)
        if self.function is not np.nanquantile or method not in PLACES or not rank:
            return super().batch(operation, batched, batch)
        axes = tuple(axis + 1 for axis in support.normal_axes(params.get("axis"), rank))
        keepdims = params.get("keepdims", False)
        return _between(x, params["q"], method, axes, keepdims, skips_nan=True)

    def taken(self, operation: Operation, share: Any = 1.0) -> Any:
        """How much of each element there is in the result, times `share`."""
        (x,), params = operation.operands, operation.params
        q, axes = params.get("q", 0.5), self._axes(operation)
        terms = TAKEN.get(params.get("method", "linear"))
        if self.median:
            terms = TAKEN["midpoint"]
        elif terms is None:
            place = q * (self._count(operation, axes) - 1)
            part = support.cast(x.builder, place - np.floor(place), x)
            terms = ((1 - part, "lower"), (part, "higher"))
        options = {"axis": params.get("axis"), "keepdims": True}
        total: Any = 0.0
        for weight, method in terms:
            one = x.builder.call(self.order, (x, q), options | {"method": method})
            total = total + shared_evenly(x, one, axes, weight * share)
        return total

    def _count(self, operation: Operation, axes: Any) -> Any:
        """The number of elements, or for each result that of those that are not nan."""
        x = operation.operands[0]
        if self.order is np.quantile:
            return count_of(x, axes)
        axis = operation.params.get("axis")
        return np.sum(np.logical_not(np.isnan(x)), axis=axis, keepdims=True)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        x_bar = self.taken(operation, self._spread(operation, y_bar))
        builder = operation.result.builder
        return [builder.call(runtime.unbroadcast, (x_bar, operation.operands[0]), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        options = {key: operation.params.get(key) for key in ("axis", "keepdims")}
        options = support.given(options, "axis=None, keepdims=None")
        return np.sum(tangents[0] * self.taken(operation), **options)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return call if self.median else leading(call)


def _no_weights(builder: Builder, rule: Rule) -> UnsupportedError:
    return UnsupportedError(
        "S2S203",
        f"np.{rule.name} with weights= is not supported",
        origin=builder.origin,
        why="which element is taken changes with the weights in steps",
        help="sort, sum the weights with np.cumsum, and index where they reach q",
    )


# ---- from the elements in order, where the place is not known or a method asks for it ------------


def _between(x: Symbol, q: Any, method: str, axis: Any, keepdims: bool, *, skips_nan: bool) -> Any:
    """The quantile from x in order; q may be an array, whose axes come first."""
    rank = support.known_rank(x, "a quantile of this kind")
    axes = support.normal_axes(axis, rank)
    if skips_nan and support.rank(q):
        raise UnsupportedError("S2S203", "np.nanquantile of an array of q that is not known")
    y = _of_ordered(np.sort(_merged(x, axes), axis=-1), q, method, skips_nan)
    return np.expand_dims(y, tuple(each + support.rank(q) for each in axes)) if keepdims else y


def _merged(x: Symbol, axes: tuple[int, ...]) -> Symbol:
    """x with these axes as one, the last."""
    rank = x.ndim
    if len(axes) == rank:
        return np.ravel(x)
    x = np.moveaxis(x, axes, tuple(range(rank - len(axes), rank)))
    lengths = support.lengths(x, range(rank))
    first, rest = lengths[: rank - len(axes)], lengths[rank - len(axes) :]
    return np.reshape(x, (*first, support.product(rest))) if len(axes) > 1 else x


def _of_ordered(x: Symbol, q: Any, method: str, skips_nan: bool) -> Any:
    """The quantile of each row of an array whose rows are in order."""
    missing = np.isnan(x)
    count: Any = np.size(x, x.ndim - 1)
    if skips_nan:
        count = count - np.sum(missing, axis=-1)
    low, high, part = _place(count, q, method)
    if skips_nan:
        ends = (np.take_along_axis(x, each[..., None], axis=-1)[..., 0] for each in (low, high))
        left, right = ends
    else:
        q_axes = tuple(range(support.rank(q)))
        left, right = (x[..., each] for each in (low, high))
        if q_axes:
            back = tuple(x.ndim - 1 + each for each in q_axes)
            left, right = (np.moveaxis(each, back, q_axes) for each in (left, right))
            after = (slice(None),) * len(q_axes) + (None,) * (x.ndim - 1)
            part = part[after] if isinstance(part, Symbol) and x.ndim > 1 else part
    weak = isinstance(q, float | int) or isinstance(x.builder.fact(q), values.Scalar)
    part = support.cast(x.builder, part, x) if weak else part
    y = left if type(part) is float and part == 0.0 else left + part * (right - left)
    return y if skips_nan else np.where(missing[..., -1], math.nan, y)


def _place(count: Any, q: Any, method: str) -> tuple:
    """(place of one element, place of the next, how far it is from the one to the other)."""
    last = count - 1
    if method == "averaged_inverted_cdf":
        place = count * q - 1
        part = np.where(place == np.floor(place), 0.5, 1.0)
    elif method in PLACES:
        alpha, beta = PLACES[method]
        place = count * q + (alpha + q * (1 - alpha - beta)) - 1
        place = last * q if method == "linear" else place
        place = np.clip(place, 0, last)
        part = place - np.floor(place)
    else:
        raise UnsupportedError(
            "S2S203",
            f"a quantile by method {method!r} at a q that is not known",
            help="pass q as a number, or use method='linear'",
        )
    low = np.floor(place).astype(np.intp)
    return np.clip(low, 0, last), np.clip(low + 1, 0, last), part


def _percentile(function: Callable) -> Callable:
    """The quantile at a hundredth of q."""

    def meaning(x: Any, q: Any, **options: Any) -> Any:
        q = [each / 100 for each in q] if isinstance(q, tuple | list) else q / 100
        return x.builder.call(function, (x, q), options)

    return meaning


register(Quantile(np.median, np.quantile, median=True))
register(Quantile(np.nanmedian, np.nanquantile, median=True))
register(Quantile(np.nanquantile, np.nanquantile))
register(Quantile(np.quantile, np.quantile))

composite(np.nanpercentile, OF_QUANTILE, _percentile(np.nanquantile))
composite(np.percentile, OF_QUANTILE, _percentile(np.quantile))
