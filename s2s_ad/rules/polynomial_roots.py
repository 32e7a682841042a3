"""Polynomials that are found: from points, by division, from their roots, and the roots themselves.

The roots of p move by -p_dot(r) / p'(r), which is the derivative of p(r) = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composed, composite
from s2s_ad.rules.polynomials import powers_of


class Roots(Rule):
    """The roots of a polynomial whose first coefficient is not zero, as complex numbers."""

    of_complex = gives_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        dtype = values.strong_dtype(operands[0])
        dtype = None if dtype is None else np.result_type(dtype, np.complex64)
        if support.any_unknown(operands[0]):
            return support.unknown(*operands)
        return values.Array(dtype, (*operands[0].shape[:-1], values.fresh_dim()))

    def _slopes(self, operation: Operation) -> tuple:
        """(the powers of each root, the derivative of the polynomial there)."""
        (p,), y = operation.operands, operation.result
        count = support.length(p, -1)
        powers = powers_of(p.builder, y, count)
        weights = p[..., :-1] * np.arange(count - 1, 0, -1, like=p)
        return powers, (powers[..., 1:] @ weights[..., None])[..., 0]

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (p,) = operation.operands
        powers, slopes = self._slopes(operation)
        p_bar = -((y_bar / support.conj(slopes))[..., None, :] @ support.conj(powers))[..., 0, :]
        return [p.builder.call(runtime.unbroadcast, (p_bar, p), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        powers, slopes = self._slopes(operation)
        return -(powers @ tangents[0][..., None])[..., 0] / slopes

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, {})


class FromRoots(Rule):
    """The coefficients of the polynomial with these roots, along the last axis."""

    of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        (z,) = operands
        if support.any_unknown(z):
            return support.unknown(z)
        size = values.size_of_dim(z.shape[-1])
        count = values.dim_of_size(size + 1)
        return values.Array(values.strong_dtype(z), (*z.shape[:-1], count))

    def _slopes(self, z: Symbol) -> Any:
        """Less the derivative by each root: the polynomial with the other roots."""
        rank, count = support.known_rank(z, "np.poly"), support.length(z, -1)
        places = z.builder.call(np.arange, (count,), {})
        smaller = places[:-1]
        others = smaller + (smaller >= places[:, None])
        each = z[others] if rank == 1 else z[(*(slice(None),) * (rank - 1), others)]
        found = z.builder.call(runtime.polynomial_from_roots, (each,), {})
        return found[..., :count]  # of no roots there are none

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (z,), builder = operation.operands, operation.result.builder
        y_bar = builder.call(runtime.broadcast_like, (y_bar, operation.result), {})
        bars = support.conj(self._slopes(z)) @ y_bar[..., 1:, None]
        return [-bars[..., 0]]

    def forward(self, operation: Operation, tangents: list) -> Any:
        (z,) = operation.operands
        y_dot = -(tangents[0][..., None, :] @ self._slopes(z))[..., 0, :]
        rank = support.known_rank(z, "np.poly")
        return np.pad(y_dot, (*((0, 0),) * (rank - 1), (1, 0)) if rank > 1 else (1, 0))

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        known = facts(call.args[0])
        plain = values.rank_of(known) == 1 and values.is_real(known)
        return form.operation(np.poly, call.args, {}) if plain else call


def _inexact(x: Symbol) -> Symbol:
    return x if values.is_inexact(x.fact) else x.astype(float)


def _poly(x: Symbol) -> Any:
    """From roots, or from those of a square matrix, which come in conjugate pairs."""
    rank = support.known_rank(x, "np.poly")
    x = _inexact(x)
    if values.is_complex(x.fact):
        raise UnsupportedError(
            "S2S203",
            "np.poly of complex numbers: whether it is real depends on the values",
            origin=x.builder.origin,
            why="NumPy gives real coefficients where the roots happen to be conjugate pairs",
            help="multiply the factors with np.convolve",
        )
    if rank == 0:
        raise TypeError("np.poly of a number")
    if rank < 2:
        return x.builder.call(runtime.polynomial_from_roots, (np.atleast_1d(x),), {})
    found = x.builder.call(runtime.polynomial_from_roots, (np.linalg.eigvals(x),), {})
    return np.real(found)


class SeriesQuotient(Rule):
    """series_quotient(u, v): the first coefficients of v * q are those of u, a triangular system.

    The transposed system is the same one with all vectors from their ends.
    """

    of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        kinds = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(kinds) else np.result_type(*kinds)
        return values.Array(dtype, values.shape_of(operands[0]))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (u, v), q = operation.operands, operation.result
        y_bar = u.builder.call(runtime.broadcast_like, (y_bar, q), {})
        quotient = u.builder.call(runtime.series_quotient, (y_bar[::-1], support.conj(v)), {})
        u_bar = quotient[::-1]
        if not operation.active[1]:
            return [u_bar, None]
        whole = np.pad(u_bar, (0, support.length(v, 0) - 1))
        v_bar = -np.convolve(whole, support.conj(q)[::-1], mode="valid")
        return [u_bar, u.builder.call(runtime.unbroadcast, (v_bar, v), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        (u, v), (u_dot, v_dot) = operation.operands, tangents
        terms = [] if u_dot is None else [u_dot]
        if v_dot is not None:
            terms.append(-np.convolve(v_dot, operation.result)[: support.length(u, 0)])
        return u.builder.call(runtime.series_quotient, (sum(terms[1:], terms[0]), v), {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        u, v = (batch.spread(*pair) for pair in zip(operation.operands, batched, strict=True))
        indices = batch.builder.call(np.arange, (support.length(u, 1),), {})
        behind, n = indices[:, None] - indices, support.length(v, 1)
        inside = (behind >= 0) & (behind < n)
        factors = np.where(inside, v[:, np.clip(behind, 0, n - 1)], 0.0)
        return np.linalg.solve(factors, u[..., None])[..., 0]


def _polydiv(builder: Builder, u: Any, v: Any) -> tuple:
    u, v = (np.atleast_1d(_inexact(support.as_operand(builder, each))) for each in (u, v))
    m, n = (support.length(each, 0) for each in (u, v))
    count = builder.call(max, (m - n + 1, 1), {})
    first = np.where(m >= n, u[:count], 0.0)
    q = builder.call(runtime.series_quotient, (first, v), {})
    rest = u - np.convolve(v, q)[:m]
    significant = ~(np.abs(rest) <= 1e-8)  # the bound of np.allclose, which NumPy asks
    start = np.sum(np.cumsum(significant) == 0)
    return q, rest[np.minimum(start, np.size(rest, 0) - 1) :]


def _polyfit(
    builder: Builder, x: Any, y: Any, deg: Any, rcond: Any, full: Any, w: Any, cov: Any
) -> Any:
    """Least squares with the powers of x, each scaled to length one."""
    support.refuse_given(builder, np.polyfit, full=full, cov=cov)
    x, y = (_inexact(support.as_operand(builder, each)) for each in (x, y))
    columns = support.known_rank(y, "np.polyfit") > 1
    if support.known_rank(x, "np.polyfit") == 1:
        values.check_fit(x.shape[0], y.shape[0], "expected x and y to have same length", TypeError)
    powers = builder.call(np.vander, (x, static(deg, "the degree of np.polyfit") + 1), {})
    if w is not None:
        w = support.as_operand(builder, w)
        powers, y = powers * w[:, None], y * (w[:, None] if columns else w)
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    found = np.linalg.lstsq(powers / scale, y, rcond=rcond)[0]
    return found / (scale[:, None] if columns else scale)


def _roots(x: Symbol) -> Any:
    if support.known_rank(x, "np.roots") > 1:
        raise ValueError("Input must be a rank-1 array.")
    return x.builder.call(runtime.polynomial_roots, (_inexact(np.atleast_1d(x)),), {})


composite(np.poly, "x", _poly)
register(SeriesQuotient(runtime.series_quotient, "series_quotient"))
composed(np.polydiv, "u, v", _polydiv, of_complex=True)
composed(
    np.polyfit,
    "x, y, deg, rcond=None, full=False, w=None, cov=False",
    _polyfit,
    of_complex=True,
)
composite(np.roots, "x", _roots, of_complex=True)

register(FromRoots(runtime.polynomial_from_roots, "poly"))
register(Roots(runtime.polynomial_roots, "roots"))
