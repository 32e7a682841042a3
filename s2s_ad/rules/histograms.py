"""np.bincount and histograms: linear in the weights; into which bin a number falls moves in steps.

The edges of bins are smooth in the smallest and the largest number, where these decide on them.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.dependence import EVERYTHING, Dependence, Use, scattered
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Ragged, Rule
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.shape_checks import check_equal


class BinCount(Rule):
    """np.bincount(places, weights, minlength): the sum of the weights of each place."""

    linear = (1,)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, "x, weights=None, minlength=0", args, kwargs)
        names = ("x",) if params["weights"] is None else ("x", "weights")
        operands = [support.as_operand(builder, params[name]) for name in names]
        if len(operands) > 1:
            shapes = map(support.shape, operands)
            check_equal(*shapes, "The weights and list don't have the same length.")
        plain = type(params["minlength"]) is int and params["minlength"] == 0
        return builder.emit(self, operands, {} if plain else {"minlength": params["minlength"]})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        dtype = np.dtype(float if len(operands) > 1 else np.intp)
        return values.Array(dtype, (values.fresh_dim(),))

    def dependence(self, use: Use, position: int) -> Dependence:
        indices = use.value(0)
        if position == 0 or indices is None:
            return EVERYTHING if position else None
        return scattered(np.asarray(indices), use.shape[0])

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        if len(operation.operands) == 1:
            return [None]
        indices, weights = operation.operands
        builder = operation.result.builder
        y_bar = builder.call(runtime.broadcast_like, (y_bar, operation.result), {})
        return [None, builder.call(runtime.unbroadcast, (y_bar[indices], weights), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        if len(tangents) == 1 or tangents[1] is None:
            return None
        builder = operation.result.builder
        return builder.emit(self, [operation.operands[0], tangents[1]], operation.params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if batched[0] or len(batched) == 1:
            raise Ragged
        indices, weights = operation.operands
        count = np.maximum(np.max(indices, initial=-1) + 1, operation.params.get("minlength", 0))
        zeros = batch.builder.call(np.zeros, ((batch.size, count),), {})
        return batch.builder.call(runtime.index_add, (zeros, (slice(None), indices), weights), {})


def edges_of(x: Any, bins: Any, range_: Any) -> Any:
    """The edges of the bins: given, or at equal distances over a range."""
    if isinstance(bins, str):
        raise UnsupportedError(
            "S2S203",
            f"bins={bins!r}: a number of bins that depends on the values",
            help="pass the number of bins, or their edges",
        )
    if isinstance(bins, Symbol) and support.rank(bins) == 1:
        return bins
    if isinstance(bins, tuple | list):
        return x.builder.call(np.array, (bins,), {})
    low, high = (np.min(x), np.max(x)) if range_ is None else range_
    if range_ is None:  # equal numbers, or none, have a bin of width one around them
        same = low == high
        low, high = np.where(same, low - 0.5, low), np.where(same, high + 0.5, high)
    elif static(low == high, "the range"):
        low, high = low - 0.5, high + 0.5
    count = operator.index(static(bins, "bins")) + 1
    edges = x.builder.call(np.linspace, (low, high, count), {})
    return support.cast(x.builder, edges, x)


def _placed(x: Symbol, edges: Symbol) -> tuple:
    """(the bin of each number, whether it is in one); the last bin holds its upper edge."""
    count = np.size(edges, 0) - 1
    found = np.searchsorted(edges, x, side="right") - 1
    found = np.where(x == edges[-1], count - 1, found)
    inside = (found >= 0) & (found < count)
    return np.clip(found, 0, count - 1), inside, count


def _counted(place: Any, inside: Any, count: Any, weights: Any) -> Any:
    """The sum of the weights in each bin; without weights how many there are, as integers."""
    if weights is None:
        return np.bincount(place, np.where(inside, 1.0, 0.0), count).astype(np.intp)
    weights = np.where(inside, weights, 0.0)
    if values.is_complex(weights.fact):
        parts = (np.bincount(place, part(weights), count) for part in (np.real, np.imag))
        return next(parts) + 1j * next(parts)
    return np.bincount(place, weights, count)


def _histogram(x: Symbol, bins: Any, range_: Any, density: Any, weights: Any) -> Any:
    if values.is_complex(x.fact):
        raise UnsupportedError(
            "S2S302", "np.histogram of complex numbers, which have no order", help="np.abs(x)"
        )
    full = x.shape
    x = np.ravel(x)
    edges = edges_of(x, bins, range_)
    if weights is not None:
        weights = support.as_operand(x.builder, weights)
        if not support.may_equal(full, support.shape(weights)):
            raise ValueError("weights should have the same shape as a.")
        weights = np.ravel(weights)
    y = _counted(*_placed(x, edges), weights)
    if weights is not None and weights.dtype is not None:
        y = support.as_dtype(x.builder, y, weights.dtype)
    if density is not None and static(density, "density"):
        y = y / np.diff(edges).astype(float) / np.sum(y)
    return y, edges


def _histogramdd(x: Any, bins: Any, range_: Any, density: Any, weights: Any) -> Any:
    if isinstance(x, Symbol):
        count = x.shape[1] if support.rank(x) == 2 else None
        count = len(bins) if isinstance(bins, tuple | list) else count
        if not isinstance(count, int):
            raise UnsupportedError(
                "S2S205",
                "np.histogramdd of an array whose number of columns is not known",
                origin=x.builder.origin,
                help="pass the columns: np.histogramdd((x[:, 0], x[:, 1]))",
            )
        x = [x[:, column] for column in range(count)]
    return _of_columns(x, bins, range_, density, weights)


def _of_columns(columns: Any, bins: Any, range_: Any, density: Any, weights: Any) -> tuple:
    rank = len(columns)
    if weights is not None and not support.may_equal(
        support.shape(columns[0]), support.shape(weights)
    ):
        raise ValueError("The weights and list don't have the same length.")
    bins = list(bins) if isinstance(bins, tuple | list) else [bins] * rank
    ranges = [None] * rank if range_ is None else list(range_)
    edges = [edges_of(*each) for each in zip(columns, bins, ranges, strict=True)]
    whole: Any = 0
    inside: Any = True
    counts = []
    for x, own in zip(columns, edges, strict=True):
        index, within, count = _placed(x, own)
        whole, inside = whole * count + index, inside & within if counts else within
        counts.append(count)
    y = _counted(whole, inside, support.product(counts), weights)
    y = np.reshape(y if weights is not None else y.astype(float), tuple(counts))
    if density is not None and static(density, "density"):
        total = np.sum(y)
        for axis, own in enumerate(edges):
            width = np.diff(own)
            y = y / (
                width[(slice(None), *(None,) * (rank - 1 - axis))] if axis < rank - 1 else width
            )
        y = y / total
    return y, edges


def _histogram2d(x: Any, y: Any, bins: Any, range_: Any, density: Any, weights: Any) -> tuple:
    edges = isinstance(bins, Symbol) and support.rank(bins) == 1
    bins = [bins, bins] if edges else bins
    counts, found = _of_columns([x, y], bins, range_, density, weights)
    return counts, *found


def _bin_edges(x: Symbol, bins: Any, range_: Any, weights: Any) -> Any:
    return edges_of(np.ravel(x), bins, range_)


def _with_range(meaning: Any) -> Any:
    """`range` is the name of a builtin: the argument is called range_ here."""
    return lambda **given: meaning(**{"range_" if k == "range" else k: v for k, v in given.items()})


BINS = "bins=10, range=None, density=None, weights=None"
composite(np.histogram, f"x, {BINS}", _with_range(_histogram))
composite(np.histogram2d, f"x, y, {BINS}", _with_range(_histogram2d), of_complex=False)
composite(
    np.histogram_bin_edges,
    "x, bins=10, range=None, weights=None",
    _with_range(_bin_edges),
    of_complex=False,
)
composite(
    np.histogramdd,
    f"sample, {BINS}",
    _with_range(lambda sample, **rest: _histogramdd(sample, **rest)),
)
register(BinCount(np.bincount, "bincount"))
