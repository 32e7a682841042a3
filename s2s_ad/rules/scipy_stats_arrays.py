"""scipy.stats: statistics of arrays and densities of vectors, written as plain NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.lookups import Lookup
from s2s_ad.rules.reductions import Reduction, count_of
from s2s_ad.rules.scipy_special_calls import called
from s2s_ad.rules.shape_checks import check_equal, check_rank, ends


def statistic(name: str, text: str, meaning: Callable, keeps: bool = True) -> None:
    """A statistic along an axis, None for all elements; nan_policy is NumPy's alone.

    One that takes the axis away has keepdims=, which writes it with length one.
    """

    def checked(x: Any, axis: Any, nan_policy: Any, keepdims: Any = False, **others: Any) -> Any:
        if static(nan_policy, f"nan_policy of {name}") != "propagate":
            raise NotImplementedError
        keepdims, axis = static((keepdims, axis), f"keepdims and axis of {name}")
        if axis is None:
            axes = range(support.known_rank(x, name))
            kept, shape = tuple(axes) if keepdims else (), tuple(support.lengths(x, axes))
            result = meaning(np.ravel(x), 0, **others)
            result = result if keeps else np.reshape(result, shape)
        else:
            kept, result = axis, meaning(x, axis, **others)
        return np.expand_dims(result, kept) if keepdims else result

    text = f"x, {text}, nan_policy='propagate'{', keepdims=False' if keeps else ''}"
    composite(getattr(scipy.stats, name), text, checked, of_complex=True)


def _count(x: Symbol, axis: int) -> Any:
    return count_of(x, axis if x.ndim is None else support.normal_axes(axis, x.ndim))


def _moment(x: Symbol, axis: int, order: int) -> Any:
    """The central moment of an order over the variance to the same power."""
    centred = x - np.mean(x, axis=axis, keepdims=True)
    square = centred**2  # NumPy takes a hundred times as long for the third power
    power = square * (centred if order == 3 else square)
    return np.mean(power, axis=axis) / np.mean(square, axis=axis) ** (order / 2)


def _weighted(x: Symbol, axis: int, dtype: Any, weights: Any) -> Any:
    if weights is None:
        return np.mean(x, axis=axis)
    weights = support.converted(support.as_operand(x.builder, weights), dtype)
    return np.average(x, axis, weights if support.rank(x) != 1 else np.ravel(weights))


def _gmean(x: Symbol, axis: int, dtype: Any, weights: Any) -> Any:
    return np.exp(_weighted(np.log(support.converted(x, dtype)), axis, dtype, weights))


def _hmean(x: Symbol, axis: int, dtype: Any, weights: Any) -> Any:
    mean = 1 / _weighted(1 / support.converted(x, dtype), axis, dtype, weights)
    return np.where(np.all(x >= 0, axis=axis), mean, np.nan)


def _sem(x: Symbol, axis: int, ddof: Any) -> Any:
    root = support.cast(x.builder, np.sqrt(_count(x, axis)), np.real(x))
    return np.std(x, axis=axis, ddof=ddof) / root


def _skew(x: Symbol, axis: int, bias: Any) -> Any:
    plain, n = _moment(x, axis, 3), _count(x, axis)
    return plain if static(bias) else plain * np.sqrt(n * (n - 1)) / (n - 2)


def _kurtosis(x: Symbol, axis: int, fisher: Any, bias: Any) -> Any:
    plain, n = _moment(x, axis, 4) - 3, _count(x, axis)
    if not static(bias):
        plain = (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * plain + 6)
    return plain if static(fisher) else plain + 3


def _zscore(x: Symbol, axis: int, ddof: Any) -> Any:
    centred = x - np.mean(x, axis=axis, keepdims=True)
    return centred / np.std(x, axis=axis, ddof=ddof, keepdims=True)


statistic("gmean", "axis=0, dtype=None, weights=None", _gmean)
statistic("hmean", "axis=0, dtype=None, *, weights=None", _hmean)
statistic("kurtosis", "axis=0, fisher=True, bias=True", _kurtosis)
statistic("sem", "axis=0, ddof=1", _sem)
statistic("skew", "axis=0, bias=True", _skew)
statistic("zscore", "axis=0, ddof=0", _zscore, keeps=False)


def _mode(a: Symbol, axis: Any, keepdims: Any) -> tuple:
    """The first element that is the mode, and how often it is there."""
    axis, keepdims = static((axis, keepdims), "axis and keepdims of mode")
    rank = support.known_rank(a, "mode")
    x, along = (np.ravel(a), 0) if axis is None else (a, axis)
    index = a.builder.call(runtime.mode_place, (x, along), {})
    found = np.take_along_axis(x, np.expand_dims(index, along), along)
    count = np.expand_dims(a.builder.call(runtime.mode_count, (x, along), {}), along)
    if not keepdims:
        return np.squeeze(found, along), np.squeeze(count, along)
    if axis is not None:
        return found, count
    return tuple(np.reshape(each, (1,) * rank) for each in (found, count))


register(Reduction(runtime.mode_count, many_axes=False))
register(Reduction(runtime.mode_place, many_axes=False))
composite(scipy.stats.mode, "a, axis=0, *, keepdims=False", _mode)


class Ranks(Lookup):
    """scipy.stats.rankdata: of the flattened array, where no axis is given."""

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        (a,), mean = operands, params.get("method", "average") == "average"
        if support.any_unknown(a):
            return values.Unknown()
        shape = (values.fresh_dim(),) if params.get("axis") is None else a.shape
        return values.Array(np.dtype(float if mean else np.intp), shape)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        (a,), axis = operation.operands, operation.params.get("axis")
        rank = support.sample_rank(a, True)
        if axis is None and rank != 1:
            raise support.CannotBatch
        along = {"axis": 1 + support.normal_axis(axis or 0, rank)}
        return batch.builder.emit(self, [a], operation.params | along)


register(
    Ranks(
        scipy.stats.rankdata,
        "a, method='average', *, axis=None, nan_policy='propagate'",
        arrays=1,
    )
)

# ---- densities of vectors ------------------------------------------------------------------------


def _normal_logpdf(x: Any, mean: Any, cov: Any, allow_singular: Any) -> Any:
    """Of one vector or of those along the last axis; of numbers, where the mean is none."""
    cov = 1.0 if cov is None else cov
    if support.rank(cov) in (0, 1):
        of_numbers = mean is None or support.rank(mean) == 0
        by_variances = _number_logpdf if of_numbers else _diagonal_logpdf
        if of_numbers or support.rank(cov) == 0:
            return by_variances(x, mean, cov)
        if not static(allow_singular, "allow_singular of multivariate_normal"):
            return by_variances(x, mean, cov)
        cov = np.diag(cov)
    _check_normal(mean, cov)
    x = _of_size(x, support.length(cov, 0))
    if static(allow_singular, "allow_singular of multivariate_normal"):
        return _singular_logpdf(x - (0.0 if mean is None else mean), cov)
    centred = x - (0.0 if mean is None else mean)
    if not isinstance(cov, Symbol):
        raise NotImplementedError
    whitened = np.linalg.solve(cov, centred if centred.ndim == 1 else np.swapaxes(centred, -1, -2))
    if centred.ndim != 1:
        whitened = np.swapaxes(whitened, -1, -2)
    distance = np.sum(centred * whitened, axis=-1)
    size = support.length(cov, 0)
    return _squeezed(-(size * math.log(2 * math.pi) + np.linalg.slogdet(cov)[1] + distance) / 2)


def _of_size(x: Any, size: Any) -> Any:
    """x, of whose numbers each stands for a whole vector where they come one by one."""
    one = support.rank(x) == 0 or ends(x) == [(1,)]
    return x + np.zeros(size) if one else x


def _number_logpdf(x: Any, mean: Any, variance: Any) -> Any:
    """Of numbers with one mean and variance; SciPy makes a number of a single one."""
    if support.rank(variance) == 1:
        check_equal(*ends(variance), (1,), "Array 'cov' must have one element.")
        variance = variance[0]
    if (support.rank(x) or 0) > 1:
        check_equal(*ends(x), (1,), "The last axis of 'x' must have one element.")
        x = x[..., 0]
    centred = x if mean is None else x - mean
    found = -(np.log(2 * math.pi * variance) + centred**2 / variance) / 2
    return _squeezed(found)


def _squeezed(found: Any) -> Any:
    """What SciPy gives: without axes of one density, a number where none is left."""
    return np.squeeze(found)[()] if support.rank(found) else found


def _diagonal_logpdf(x: Any, mean: Any, variances: Any) -> Any:
    """Of vectors of independent numbers, of one variance or of one for each."""
    check_rank(mean, 1, "Array 'mean' must be a vector.")
    x = _of_size(x, support.length(mean, 0))
    check_equal(*ends(x, mean), "The last axis of 'x' must be as long as 'mean'.")
    if support.rank(variances) == 1:
        check_equal(*ends(variances, mean), "Array 'cov' must be as long as 'mean'.")
    size, distance = support.length(mean, 0), np.sum((x - mean) ** 2 / variances, axis=-1)
    logs = np.log(variances)
    log_det = size * logs if support.rank(variances) == 0 else np.sum(logs)
    return _squeezed(-(size * math.log(2 * math.pi) + log_det + distance) / 2)


def _singular_logpdf(centred: Any, cov: Any) -> Any:
    """Along the eigenvectors whose eigenvalues SciPy does not take for 0; none beside these.

    The derivative by the covariance is that at a constant rank.
    """
    double = values.strong_dtype(cov.fact) == np.float64
    tolerance = (
        1e6 * float(np.finfo(float).eps) if double else 1e3 * float(np.finfo(np.float32).eps)
    )
    cov = (cov + cov.T) / 2  # one triangle is read: the adjoint has to be symmetric
    eigenvalues = np.linalg.eigvalsh(cov)
    limit = tolerance * np.max(np.abs(eigenvalues))
    taken = eigenvalues > limit
    log_det = np.sum(np.log(np.where(taken, eigenvalues, 1.0)))
    inverse = np.linalg.pinv(cov, tolerance, hermitian=True)
    whitened = centred @ inverse
    distance = np.sum(centred * whitened, axis=-1)
    found = -(np.sum(taken) * math.log(2 * math.pi) + log_det + distance) / 2
    beside = np.linalg.norm(centred - whitened @ cov, axis=-1)
    return _squeezed(np.where(np.all(taken) | (beside < limit), found, -np.inf)[()])


def _check_normal(mean: Any, cov: Any) -> None:
    """Refuse a mean that is no vector of the covariance's size."""
    check_rank(cov, 2, "Array 'cov' must be at most two-dimensional.")
    if mean is not None:
        check_rank(mean, 1, "Array 'mean' must be a vector.")
        check_equal(*ends(mean, cov), "Array 'mean' must be a vector as long as 'cov' has rows.")


def _normal_entropy(mean: Any, cov: Any) -> Any:
    _check_normal(mean, cov)
    size = support.length(cov, 0)
    return (size * (1 + math.log(2 * math.pi)) + np.linalg.slogdet(cov)[1]) / 2


def _dirichlet_logpdf(x: Any, alpha: Any) -> Any:
    """Of a vector, or of each column of a matrix; SciPy makes a number of a single column."""
    check_rank(alpha, 1, "Parameter vector 'a' must be one dimensional.")
    check_rank(x, (1, 2), "The input vector 'x' must be a vector, or have one in each column.")
    check_equal(*ends(x, axes=slice(1)), *ends(alpha), "'x' must have as many entries as 'a'.")
    total = called("gammaln", np.sum(alpha)) - np.sum(called("gammaln", alpha))
    if support.rank(x) != 2:
        return total + np.sum(called("xlogy", alpha - 1, x), axis=0)
    found = total + np.sum(called("xlogy", alpha - 1, x.T), axis=-1)
    return found[0] if x.shape[1] == 1 else found


def _multinomial_logpmf(x: Any, n: Any, p: Any) -> Any:
    if 0 in (support.rank(x), support.rank(p)):
        raise ValueError("x and p must be arrays")
    check_equal(*ends(x, p), "Size of each quantile should be size of p")
    fixed = called("gammaln", n + 1) - np.sum(called("gammaln", x + 1), axis=-1)
    return fixed + np.sum(called("xlogy", x, p), axis=-1)


def _wishart_logpdf(x: Any, df: Any, scale: Any) -> Any:
    scale = support.as_operand(x.builder, scale)
    size = static(support.length(x, 0), "the size of a matrix of wishart")
    fixed = size * math.log(2) * df / 2 + called("multigammaln", df / 2, size)
    fixed = fixed + df / 2 * np.linalg.slogdet(scale)[1]
    weight = np.trace(np.linalg.solve(scale, x))
    return ((df - size - 1) * np.linalg.slogdet(x)[1] - weight) / 2 - fixed


def _entropy(loc: Any, scale: Any) -> Any:
    """In double precision; it does not depend on the mean but for its shape."""
    loc, scale = (
        e.astype(float) if isinstance(e, Symbol) and values.is_dtype(e.dtype, np.float32) else e
        for e in (loc, scale)
    )
    found = np.log(scale) + (math.log(2 * math.pi) + 1) / 2
    return found if support.rank(loc) == 0 else found + np.zeros_like(loc)


def density(method: Callable, text: str, meaning: Callable) -> None:
    composite(method, text, meaning, of_complex=False)


def exponential(meaning: Callable) -> Callable:
    return lambda **arguments: np.exp(meaning(**arguments))


NORMAL = "x, mean=None, cov=1, allow_singular=False"
density(scipy.stats.multivariate_normal.logpdf, NORMAL, _normal_logpdf)
density(scipy.stats.multivariate_normal.pdf, NORMAL, exponential(_normal_logpdf))
density(scipy.stats.multivariate_normal.entropy, "mean=None, cov=1", _normal_entropy)
density(scipy.stats.dirichlet.logpdf, "x, alpha", _dirichlet_logpdf)
density(scipy.stats.dirichlet.pdf, "x, alpha", exponential(_dirichlet_logpdf))
density(scipy.stats.multinomial.logpmf, "x, n, p", _multinomial_logpmf)
density(scipy.stats.multinomial.pmf, "x, n, p", exponential(_multinomial_logpmf))
density(scipy.stats.wishart.logpdf, "x, df, scale", _wishart_logpdf)
density(scipy.stats.wishart.pdf, "x, df, scale", exponential(_wishart_logpdf))
density(
    scipy.stats.norm.entropy,
    "loc=0, scale=1",
    _entropy,
)
