"""Functions and methods of Python's numbers and lists of these: math.dist, float.is_integer."""

from __future__ import annotations

import functools
import math
import operator
import statistics
from typing import Any

import numpy as np

from s2s_ad.core.builder import Symbol
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.builtin import evaluates
from s2s_ad.frontend.lower.calls import known_object
from s2s_ad.frontend.lower.containers import all_items, sequence
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.heap import settled, symbols
from s2s_ad.frontend.lower.lengths import items_needed


def _items(lowering: Lowering, value: Any, what: str) -> list:
    found = all_items(lowering, value)
    if found is None:
        what = f"{what} of a number of values that is not known"
        error = UnsupportedError("S2S205", what, help="use NumPy's function of the array")
        raise items_needed(value, error)
    return found


def _is_known(*operands: Any) -> bool:
    return not any(True for _ in symbols(operands))


@evaluates(float.is_integer)
def is_whole(lowering: Lowering, x: Any) -> Any:
    """Infinity and NaN are not: the remainder is NaN."""
    if _is_known(x):
        return known_object(x).is_integer()
    return lowering.call(operator.eq, lowering.call(operator.mod, x, 1), 0)


@evaluates(math.prod)
def product(lowering: Lowering, items: Any, start: Any = 1) -> Any:
    """The items one after the other, as Python multiplies them."""
    factors = [start, *_items(lowering, items, "math.prod()")]
    if type(factors[0]) is int and factors[0] == 1 and len(factors) > 1:
        del factors[0]
    return functools.reduce(lambda a, b: lowering.call(operator.mul, a, b), factors)


@evaluates(math.fsum)
def exact_sum(lowering: Lowering, items: Any) -> Any:
    found = _items(lowering, items, "math.fsum()")
    if _is_known(*found):
        return math.fsum(map(known_object, found))
    return lowering.call(math.fsum, settled(found))


@evaluates(math.dist)
def distance(lowering: Lowering, p: Any, q: Any) -> Any:
    pairs = zip(*(_items(lowering, each, "math.dist()") for each in (p, q)), strict=True)
    differences = [lowering.call(operator.sub, a, b) for a, b in pairs]
    return lowering.call(math.hypot, *differences)


@evaluates(statistics.fmean, statistics.mean)
def mean(lowering: Lowering, data: Any) -> Any:
    """Of numbers that are not all whole; the mean of whole numbers may be whole."""
    if isinstance(data, Symbol):
        return lowering.call(np.mean, data)
    found = _items(lowering, data, "a mean")
    if _is_known(*found):
        return statistics.mean(map(known_object, found))
    return lowering.call(operator.truediv, exact_sum(lowering, sequence(list, found)), len(found))


def _spread(function: Any, less: int, *, root: bool) -> None:
    """statistics.stdev and its kin: of numbers that are not all whole, whose mean may be given."""

    def handler(lowering: Lowering, data: Any, center: Any = None) -> Any:
        found = _items(lowering, data, f"statistics.{function.__name__}()")
        if _is_known(*found, center):
            return function(map(known_object, found), known_object(center))
        if len(found) <= less:
            raise statistics.StatisticsError(f"{function.__name__} requires more data points")
        center = mean(lowering, sequence(list, found)) if center is None else center
        apart = [lowering.call(operator.sub, each, center) for each in found]
        squares = [lowering.call(operator.mul, each, each) for each in apart]
        total = exact_sum(lowering, sequence(list, squares))
        variance = lowering.call(operator.truediv, total, len(found) - less)
        return lowering.call(math.sqrt, variance) if root else variance

    evaluates(function)(handler)


_spread(statistics.stdev, 1, root=True)
_spread(statistics.variance, 1, root=False)
_spread(statistics.pstdev, 0, root=True)
_spread(statistics.pvariance, 0, root=False)


def _parts(function: Any, *kinds: type) -> None:
    """math.modf and math.frexp: NumPy's function, whose results are Python's numbers."""

    def handler(lowering: Lowering, x: Any) -> Any:
        if _is_known(x):
            return sequence(tuple, list(function(known_object(x))))
        results = lowering.call(getattr(np, function.__name__), x)
        pairs = zip(kinds, results, strict=True)
        return sequence(tuple, [lowering.call(kind, each) for kind, each in pairs])

    evaluates(function)(handler)


_parts(math.frexp, float, int)
_parts(math.modf, float, float)
