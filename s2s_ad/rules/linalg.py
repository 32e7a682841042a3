"""Linear algebra on matrices and stacks of matrices: solve, inv, det, slogdet, cholesky, norm.

The derivatives of solve, inv and det are the standard ones, as collected by M. Giles, "An extended
collection of matrix derivative results for forward and reverse mode algorithmic differentiation"
(2008); those of the Cholesky factor are by I. Murray, "Differentiation of the Cholesky
decomposition" (2016). np.linalg.cholesky reads the lower triangle of its argument only, so its
adjoint is lower triangular: exactly the derivative of the function that NumPy computes.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import Operation, Rule, register
from s2s_ad.diagnostics import ArgumentValueError, UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.runtime import log_abs_det, sign_of_det


def mT(x: Any) -> Any:
    """Each matrix of a stack transposed."""
    return np.swapaxes(x, -1, -2)


def known_rank(x: Any) -> int:
    """The rank, which the derivatives on this page need."""
    rank = support.rank(x)
    if rank is None:
        raise support.CannotBatch
    return rank


class OfMatrix(Rule):
    """A function of one matrix, or of each matrix of a stack."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        (a,) = support.bind_call(builder, self, "a", args, kwargs).values()
        return builder.emit(self, [_matrix(builder, self, a)], {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        a = operands[0]
        if support.any_unknown(a):
            return support.unknown(a)
        return values.Array(support.result_dtype(self.function, operands), self.shape(a.shape))

    def shape(self, shape: values.Shape) -> values.Shape:
        return shape

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        support.sample_rank(operation.operands[0], True)
        return batch.builder.emit(self, operation.operands, operation.params)


def _matrix(builder: Builder, rule: Rule, a: Any) -> Any:
    a = support.as_operand(builder, a)
    rank = support.rank(a)
    if rank is not None and rank < 2:
        raise ArgumentValueError(
            "S2S203",
            f"np.linalg.{rule.name} of an array of rank {rank}",
            origin=builder.origin,
            help="it takes a matrix, or a stack of matrices",
        )
    return a


class Inverse(OfMatrix):
    """y = inv(a): the adjoint is -y.T @ y_bar @ y.T."""

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        known_rank(operation.operands[0])
        y = mT(operation.result)
        return [-(y @ y_bar @ y)]

    def forward(self, operation: Operation, tangents: list) -> Any:
        y = operation.result
        return -(y @ tangents[0] @ y)


class Determinant(OfMatrix):
    """y = det(a): the adjoint is y_bar * y * inv(a).T, so a has to be invertible."""

    def shape(self, shape: values.Shape) -> values.Shape:
        return shape[:-2]

    def _scale(self, operation: Operation, y_bar: Any) -> Any:
        return y_bar * operation.result

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        a = operation.operands[0]
        rank, scale = known_rank(a), self._scale(operation, y_bar)
        if isinstance(scale, Symbol) and scale.ndim:
            scale = np.expand_dims(scale, (rank - 2, rank - 1))
        return [a.builder.call(runtime.broadcast_like, (scale * mT(np.linalg.inv(a)), a), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        a = operation.operands[0]
        known_rank(a)
        trace = np.sum(mT(np.linalg.inv(a)) * tangents[0], axis=(-2, -1))
        return self._scale(operation, trace)


class LogAbsDet(Determinant):
    """The second item of np.linalg.slogdet: the adjoint is y_bar * inv(a).T."""

    item = 1

    def _scale(self, operation: Operation, y_bar: Any) -> Any:
        return y_bar

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        pair = gast.Call(func=form.constant(np.linalg.slogdet), args=call.args, keywords=[])
        return gast.Subscript(value=pair, slice=form.constant(self.item), ctx=gast.Load())


class SignOfDet(LogAbsDet):
    """The first item of np.linalg.slogdet, which moves in steps."""

    item = 0
    flat = True


class Cholesky(OfMatrix):
    """The lower Cholesky factor of a symmetric matrix, of which the lower triangle is read."""

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        known_rank(operation.operands[0])
        y_bar = np.tril(y_bar)
        upper = mT(operation.result)
        inner = lower_half(upper @ y_bar)
        inner = np.linalg.solve(upper, inner + mT(inner))
        return [lower_half(np.linalg.solve(upper, mT(inner)))]

    def forward(self, operation: Operation, tangents: list) -> Any:
        y, a_dot = operation.result, tangents[0]
        known_rank(a_dot)
        symmetric = np.tril(a_dot) + mT(np.tril(a_dot, -1))
        inner = np.linalg.solve(y, mT(np.linalg.solve(y, symmetric)))
        return y @ lower_half(inner)


def lower_half(x: Any) -> Any:
    """The lower triangle, its diagonal halved."""
    return 0.5 * (np.tril(x) + np.tril(x, -1))


class Solve(Rule):
    """y = solve(a, b), where b is one vector, or a matrix of columns (or a stack of these)."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        a, b = support.bind_call(builder, self, "a, b", args, kwargs).values()
        a, b = _matrix(builder, self, a), support.as_operand(builder, b)
        if support.rank(b) == 0:
            raise ArgumentValueError(
                "S2S203", "np.linalg.solve with a number for b", origin=builder.origin
            )
        if support.rank(b) == 1 and (support.rank(a) or 0) > 2:
            return np.linalg.solve(a, b[:, None])[..., 0]
        return builder.emit(self, [a, b], {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        a, b = operands
        if support.any_unknown(a, b):
            return support.unknown(a, b)
        dtype = support.result_dtype(self.function, operands)
        if len(b.shape) == 1:
            return values.Array(dtype, a.shape[:-1])
        stack = values.broadcast((a.shape[:-2], b.shape[:-2]))
        return values.Array(dtype, (*stack, a.shape[-2], b.shape[-1]))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        a, b = operation.operands
        vector, builder = known_rank(b) == 1, operation.result.builder
        known_rank(a)
        b_bar = np.linalg.solve(mT(a), y_bar)
        y, adjoints = operation.result, [None, None]
        if operation.active[0]:
            a_bar = -(np.outer(b_bar, y) if vector else b_bar @ mT(y))
            adjoints[0] = builder.call(runtime.unbroadcast, (a_bar, a), {})
        if operation.active[1]:
            adjoints[1] = builder.call(runtime.unbroadcast, (b_bar, b), {})
        return adjoints

    def forward(self, operation: Operation, tangents: list) -> Any:
        a, b = operation.operands
        known_rank(b)
        a_dot, b_dot = tangents
        terms = [] if b_dot is None else [b_dot]
        terms += [] if a_dot is None else [-(a_dot @ operation.result)]
        y_dot = np.linalg.solve(a, functools.reduce(operator.add, terms))
        return operation.result.builder.call(runtime.broadcast_like, (y_dot, operation.result), {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        a, b = operation.operands
        ranks = [
            support.sample_rank(each, flag) for each, flag in zip((a, b), batched, strict=True)
        ]
        if ranks[1] > 1:
            rank = max(ranks)
            pairs = zip((a, b), batched, strict=True)
            return np.linalg.solve(*(support.align(*pair, rank) for pair in pairs))
        if not batched[0]:
            return np.linalg.solve(a, b.T).T  # one factorisation serves all samples
        return np.linalg.solve(a, np.expand_dims(b, -1))[..., 0]


def _norm(x: Symbol, ord: Any, axis: Any, keepdims: Any) -> Any:
    """Vector norms, and the Frobenius norm of matrices, as plain NumPy."""
    ord, axis, keepdims = static((ord, axis, keepdims), "an option of np.linalg.norm")
    options = {"axis": axis, "keepdims": keepdims}
    if ord is None or (ord == "fro" and _is_matrix(x, axis)):
        return np.sqrt(np.sum(_as_float(x) ** 2, **options))
    if isinstance(ord, str) or _is_matrix(x, axis) is not False:
        raise UnsupportedError(
            "S2S203",
            f"np.linalg.norm with ord={ord!r} of a matrix",
            origin=x.builder.origin,
            help="the Frobenius norm and the norms of vectors (one axis) are supported",
        )
    if ord == 2:
        return np.sqrt(np.sum(_as_float(x) ** 2, **options))
    if ord == 1:
        return np.sum(np.abs(_as_float(x)), **options)
    if ord in (np.inf, -np.inf):
        return (np.max if ord > 0 else np.min)(np.abs(_as_float(x)), **options)
    if ord == 0:
        return np.sum(x != 0, **options).astype(float if x.dtype is None else x.dtype)
    return np.sum(np.abs(_as_float(x)) ** ord, **options) ** (1 / ord)


def _is_matrix(x: Symbol, axis: Any) -> bool | None:
    """Whether the norm is one of matrices; None where it is not known."""
    if isinstance(axis, tuple | list):
        return len(axis) == 2
    if axis is not None:
        return False
    return None if x.ndim is None else x.ndim == 2


def _as_float(x: Symbol) -> Any:
    """Norms are computed in floating point."""
    if values.is_inexact(x.fact):
        return x
    return x.astype(float) if x.dtype is not None else 1.0 * x


register(Cholesky(np.linalg.cholesky, "cholesky"))
register(Determinant(np.linalg.det, "det"))
register(Inverse(np.linalg.inv, "inv"))
register(LogAbsDet(log_abs_det, "slogdet"))
register(SignOfDet(sign_of_det, "slogdet"))
register(Solve(np.linalg.solve, "solve"))


def _slogdet(a: Symbol) -> Any:
    kind = type(np.linalg.slogdet(np.eye(1)))
    builder = a.builder
    return kind(builder.call(sign_of_det, (a,), {}), builder.call(log_abs_det, (a,), {}))


composite(np.linalg.norm, "x, ord=None, axis=None, keepdims=False", _norm)
composite(np.linalg.slogdet, "a", _slogdet)
