"""scipy.spatial.distance: distances of vectors, written as plain NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial import distance

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import Composite, composite
from s2s_ad.rules.matrices import mT
from s2s_ad.rules.shape_checks import check_equal, check_rank, ends
from s2s_ad.rules.structure import Structural
from s2s_ad.rules.support import abs_square
from s2s_ad.versions import takes_stacks


def _double(x: Any) -> Any:
    """In double precision, in which SciPy computes these."""
    if not isinstance(x, Symbol) or x.dtype in (float, complex):
        return x
    return x.astype(complex if x.builder.may_be_complex(x) else float)


def _cosine(u: Any, v: Any) -> Any:
    check_equal(*ends(u, v), "the vectors of a cosine must have the same length")
    return 1.0 - np.sum(u * v, axis=-1) / np.sqrt(np.sum(u**2, axis=-1) * np.sum(v**2, axis=-1))


#: name of a metric -> the distances of vectors along the last axis
METRICS: dict[str, Callable] = {
    "braycurtis": lambda u, v: np.sum(abs(u - v), axis=-1) / np.sum(abs(u + v), axis=-1),
    "canberra": lambda u, v: np.sum(abs(u - v) / (abs(u) + abs(v)), axis=-1),
    "chebyshev": lambda u, v: np.max(abs(u - v), axis=-1),
    "cityblock": lambda u, v: np.sum(abs(u - v), axis=-1),
    "cosine": _cosine,
    "euclidean": lambda u, v: np.sqrt(np.sum(abs_square(_double(u) - _double(v)), axis=-1)),
    "sqeuclidean": lambda u, v: np.sum((u - v) ** 2, axis=-1),
}


def _metric(name: Any, origin: Any) -> Callable:
    name = static(name, "metric")
    if name not in METRICS:
        raise UnsupportedError(
            "S2S203",
            f"distances by the metric {name!r}",
            origin=origin,
            help=f"the metrics with a derivative are {', '.join(METRICS)}",
        )
    return METRICS[name]


def _of_vectors(metric: Callable) -> Callable:
    """The distance of two vectors, where SciPy takes no arrays of these."""

    def meaning(u: Any, v: Any) -> Any:
        check_rank(u, 1, "Input vector should be 1-D.")
        check_rank(v, 1, "Input vector should be 1-D.")
        return metric(u, v)

    return meaning


def _both(a: Any, b: Any) -> tuple[Any, Any]:
    """Each row of a beside each row of b; axes before the last two are those of a batch."""
    return np.expand_dims(a, -2), np.expand_dims(b, -3)


def _pairs(x: Symbol) -> tuple[Any, Any]:
    """The rows of x in pairs."""
    first, second = x.builder.call(np.triu_indices, (np.size(x, -2), 1), {})
    return x[..., first, :], x[..., second, :]


def _whole(y_bar: Any, y: Symbol) -> Any:
    return y.builder.call(runtime.broadcast_like, (y_bar, y), {})


class Distances(Composite):
    """The distances of rows, of which those that come of squares are one operation each.

    Args:
        text: the signature.
        beside: the rows of the operands, so that each distance is one of the last axis.
        adjoints: those of the operands, from weights of the differences.
    """

    allocates = True

    def __init__(self, function: Callable, text: str, beside: Callable, adjoints: Callable):
        super().__init__(function, text, beside, of_complex=False)
        self.adjoints = adjoints

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        arguments = support.bind_call(builder, self, self.text, args, kwargs)
        self._refuse_complex(builder, arguments)
        metric = static(arguments.pop("metric"), "metric")
        for name, each in arguments.items():
            check_rank(each, 2, f"{name} must be a 2-dimensional array.")
        if len(arguments) == 2:
            columns = ends(*arguments.values())
            check_equal(*columns, "XA and XB must have the same number of columns")
        operands = [_double(support.as_operand(builder, each)) for each in arguments.values()]
        known = all(support.rank(each) == 2 for each in operands)
        if metric not in ("euclidean", "sqeuclidean") or not known:
            return _metric(metric, builder.origin)(*self.meaning(*operands))
        return builder.emit(self, operands, {} if metric == "euclidean" else {"metric": metric})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        shape = [each.shape[0] for each in operands] if len(operands) == 2 else [values.fresh_dim()]
        return values.Array(np.dtype(float), tuple(shape))

    def _weights(self, operation: Operation, y_bar: Any) -> Any:
        """What the differences are multiplied by in the adjoint."""
        return 2.0 * y_bar if operation.params else y_bar / operation.result

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        y_bar = _whole(y_bar, operation.result)
        return self.adjoints(self._weights(operation, y_bar), *operation.operands)

    def forward(self, operation: Operation, tangents: list) -> Any:
        a, b = self.meaning(*operation.operands)
        moved = [
            np.zeros_like(x) if x_dot is None else x_dot
            for x, x_dot in zip(operation.operands, tangents, strict=True)
        ]
        a_dot, b_dot = self.meaning(*moved)
        return self._weights(operation, np.sum((a - b) * (a_dot - b_dot), axis=-1))

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        metric = METRICS[operation.params.get("metric", "euclidean")]
        return metric(*self.meaning(*operation.operands))


class DifferencesAdded(Rule):
    """Differences of rows, each by its weight, added up for each row: linear in both."""

    linear = (0,)
    quiet = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Array(np.dtype(float), operands[1].shape)


class SumsOfDifferences(DifferencesAdded):
    """sums_of_differences(weights, a, b)"""

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        weights, a, b = operation.operands
        y_bar = _whole(y_bar, a)
        above, below = _both(a, b)
        return [
            np.sum(np.expand_dims(y_bar, -2) * (above - below), axis=-1),
            np.sum(weights, axis=-1, keepdims=True) * y_bar,
            -(mT(weights) @ y_bar),
        ]

    def forward(self, operation: Operation, tangents: list) -> Any:
        weights, a, b = operation.operands
        weights_dot, a_dot, b_dot = tangents
        terms = [] if weights_dot is None else [_sums(weights_dot, a, b)]
        terms += [] if a_dot is None else [np.sum(weights, axis=-1, keepdims=True) * a_dot]
        terms += [] if b_dot is None else [-(weights @ b_dot)]
        return sum(terms[1:], terms[0])

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        weights, a, b = operation.operands
        above, below = _both(a, b)
        return np.sum(np.expand_dims(weights, -1) * (above - below), axis=-2)


class PairSums(DifferencesAdded):
    """pair_sums(weights, x), which is symmetric in x."""

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        weights, x = operation.operands
        y_bar = _whole(y_bar, x)
        (a, b), (a_bar, b_bar) = _pairs(x), _pairs(y_bar)
        return [np.sum((a - b) * (a_bar - b_bar), axis=-1), _pair_sums(weights, y_bar)]

    def forward(self, operation: Operation, tangents: list) -> Any:
        (weights, x), (weights_dot, x_dot) = operation.operands, tangents
        terms = [] if weights_dot is None else [_pair_sums(weights_dot, x)]
        terms += [] if x_dot is None else [_pair_sums(weights, x_dot)]
        return sum(terms[1:], terms[0])

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        weights, x = (batch.spread(*e) for e in zip(operation.operands, batched, strict=True))
        first, second = x.builder.call(np.triu_indices, (np.size(x, -2), 1), {})
        difference = np.expand_dims(weights, -1) * (x[..., first, :] - x[..., second, :])
        total = np.zeros_like(x)
        for rows, added in ((first, difference), (second, -difference)):
            index = (slice(None), rows)
            total = x.builder.call(runtime.index_add, (total, index, added), {})
        return total


class Squareform(Structural):
    """squareform(X, force='no', checks=True): distances of pairs as a symmetric matrix, and back.

    Of a matrix it reads what stands above the diagonal.
    """

    allocates = True
    text = "x, checks=True"

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        arguments = support.bind_call(builder, self, "X, force='no', checks=True", args, kwargs)
        x = support.as_operand(builder, arguments["X"])
        rank = support.known_rank(x, "squareform")
        force, checks = static(arguments["force"], "force"), static(arguments["checks"], "checks")
        if rank not in (1, 2) or str(force).lower() == ("", "tovector", "tomatrix")[rank]:
            raise ValueError(f"squareform(force={force!r}) of an array with {rank} axes")
        if rank == 2:
            check_equal(x.shape[:1], x.shape[1:], "The matrix argument must be square.")
        return builder.emit(self, [x], {"checks": False} if rank == 2 and not checks else {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        count = values.size_of_dim(x.shape[0]).known
        if len(x.shape) == 2:
            pairs = values.fresh_dim() if count is None else count * (count - 1) // 2
            return values.with_shape(x, (pairs,))
        rows = values.fresh_dim() if count is None else _rows_of(count)
        return values.with_shape(x, (rows, rows))

    def forward(self, operation: Operation, tangents: list) -> Any:
        return None if tangents[0] is None else _squareform(tangents[0])

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        y_bar = _whole(y_bar, operation.result)
        if y_bar.ndim == 1:
            return np.triu(_squareform(y_bar))
        return _squareform(y_bar + y_bar.T)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        call, pairs = x.builder.call, support.sample_rank(x, True) == 1
        rows = np.size(x, -1)
        if pairs:
            rows = (
                _rows_of(rows) if isinstance(rows, int) else call(math.isqrt, (2 * rows,), {}) + 1
            )
        above = (slice(None), *call(np.triu_indices, (rows, 1), {}))
        if not pairs:
            return x[above]
        y = call(np.zeros, ((batch.size, rows, rows),), {"dtype": x.dtype})
        y = call(runtime.index_set, (y, above, x), {})
        return y + mT(y)


def _squareform(x: Symbol) -> Symbol:
    """The matrix of a vector, or what a matrix has above its diagonal."""
    checks = {"checks": False} if x.ndim == 2 else {}
    return x.builder.call(distance.squareform, (x,), checks)


def _rows_of(pairs: int) -> int:
    """How many rows there are between which there are so many pairs."""
    rows = math.isqrt(2 * pairs) + 1
    if rows * (rows - 1) // 2 != pairs:
        raise ValueError(f"Incompatible vector size: no matrix has {pairs} pairs of rows")
    return rows


def _sums(weights: Symbol, a: Symbol, b: Symbol) -> Symbol:
    return weights.builder.call(runtime.sums_of_differences, (weights, a, b), {})


def _pair_sums(weights: Symbol, x: Symbol) -> Symbol:
    return weights.builder.call(runtime.pair_sums, (weights, x), {})


def _of_each(weights: Symbol, a: Symbol, b: Symbol) -> list:
    return [_sums(weights, a, b), _sums(mT(weights), b, a)]


def _of_pairs(weights: Symbol, x: Symbol) -> list:
    return [_pair_sums(weights, x)]


register(Distances(distance.cdist, "XA, XB, metric='euclidean'", _both, _of_each))
register(Distances(distance.pdist, "X, metric='euclidean'", _pairs, _of_pairs))
register(Squareform(distance.squareform, "squareform"))
register(SumsOfDifferences(runtime.sums_of_differences, "sums_of_differences"))
register(PairSums(runtime.pair_sums, "pair_sums"))
for _name, _meaning in METRICS.items():
    _of_complex = _name in ("chebyshev", "cityblock", "euclidean")
    _function = getattr(distance, _name)
    _of_operands = _meaning if takes_stacks(_function) else _of_vectors(_meaning)
    composite(_function, "u, v", _of_operands, of_complex=_of_complex)
