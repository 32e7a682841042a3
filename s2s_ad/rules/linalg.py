"""Linear algebra on matrices and stacks of matrices: solve, inv, det, slogdet, cholesky.

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
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.matrices import (
    OfMatrix,
    as_matrix,
    conj,
    hermitian,
    known_rank,
    lower_half,
    mH,
    mT,
    onto_triangle,
)
from s2s_ad.rules.systems import System
from s2s_ad.runtime import cholesky_adjoint, log_abs_det, sign_of_det


class Inverse(OfMatrix):
    """y = inv(a): the adjoint is -y.T @ y_bar @ y.T (conjugated, where a is complex)."""

    of_complex = is_inverse = True

    def symmetric_with(self, builder: Builder, operands: list, params: dict[str, Any]) -> list:
        return operands

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        known_rank(operation.operands[0])
        y = mH(operation.result)
        return [-(y @ y_bar @ y)]

    def forward(self, operation: Operation, tangents: list) -> Any:
        y = operation.result
        return -(y @ tangents[0] @ y)


class Determinant(OfMatrix):
    """y = det(a): the adjoint is y_bar * y * inv(a).T, so a has to be invertible.

    Of complex matrices y and inv(a) are conjugated.
    """

    of_complex = True

    def shape(self, shape: values.Shape) -> values.Shape:
        return shape[:-2]

    def _scale(self, operation: Operation, y_bar: Any) -> Any:
        return y_bar * conj(operation.result)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        a = operation.operands[0]
        rank, scale = known_rank(a), self._scale(operation, y_bar)
        if isinstance(scale, Symbol) and scale.ndim:
            scale = np.expand_dims(scale, (rank - 2, rank - 1))
        return [a.builder.call(runtime.broadcast_like, (scale * mH(np.linalg.inv(a)), a), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        a = operation.operands[0]
        known_rank(a)
        trace = np.sum(mT(np.linalg.inv(a)) * tangents[0], axis=(-2, -1))
        return trace * operation.result


class LogAbsDet(Determinant):
    """The second item of np.linalg.slogdet: the adjoint is y_bar * inv(a).T."""

    item = 1

    def _scale(self, operation: Operation, y_bar: Any) -> Any:
        return y_bar

    def forward(self, operation: Operation, tangents: list) -> Any:
        a = operation.operands[0]
        known_rank(a)
        return np.sum(mT(np.linalg.inv(a)) * tangents[0], axis=(-2, -1))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        pair = gast.Call(func=form.constant(np.linalg.slogdet), args=call.args, keywords=[])
        return gast.Subscript(value=pair, slice=form.constant(self.item), ctx=gast.Load())


class SignOfDet(LogAbsDet):
    """The first item of np.linalg.slogdet, which moves in steps."""

    item = 0
    flat = True
    of_complex = False

    def is_flat(self, operands: list) -> bool:
        """Of complex matrices the phase moves."""
        return not values.is_complex(operands[0])


class Cholesky(OfMatrix):
    """The lower Cholesky factor of a symmetric matrix, of which the lower triangle is read."""

    of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, "a, upper=False", args, kwargs)
        a = as_matrix(builder, self, params["a"])
        if static(params["upper"], "upper of np.linalg.cholesky"):
            return mH(builder.emit(self, [mH(a)], {}))
        return builder.emit(self, [a], {})

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        y = operation.result
        known_rank(y)
        y_bar = y.builder.call(runtime.broadcast_like, (y_bar, y), {})
        return [y.builder.call(cholesky_adjoint, (y, y_bar), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        y, a_dot = operation.result, tangents[0]
        known_rank(a_dot)
        inner = np.linalg.solve(y, mH(np.linalg.solve(y, hermitian(a_dot))))
        return y @ lower_half(inner)


class CholeskyAdjoint(Rule):
    """The lower half of X = inv(y).H @ S @ inv(y), where S is the Hermitian matrix of which
    y.H @ tril(y_bar) is the lower triangle."""

    of_complex = True
    linear = (1,)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        dtypes = [values.strong_dtype(each) for each in operands]
        if values.missing(dtypes):
            return operands[0]
        return values.Array(np.result_type(*dtypes), values.shape_of(operands[0]))

    def _parts(self, operation: Operation) -> tuple[Any, Any, Any]:
        y, y_bar = operation.operands
        whole = operation.result + mH(operation.result)
        return np.tril(y_bar), np.linalg.inv(y), whole

    def forward(self, operation: Operation, tangents: list) -> Any:
        y, (y_dot, y_bar_dot) = operation.operands[0], tangents
        y_bar, inverse, whole = self._parts(operation)
        terms = [] if y_dot is None else [mH(y_dot) @ y_bar]
        terms += [] if y_bar_dot is None else [mH(y) @ np.tril(y_bar_dot)]
        inner = hermitian(functools.reduce(operator.add, terms))
        moved = mH(inverse) @ inner @ inverse
        if y_dot is not None:
            product = whole @ (y_dot @ inverse)
            moved = moved - (product + mH(product))
        return lower_half(moved)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        y, seed = operation.operands[0], y_bar
        y_bar, inverse, whole = self._parts(operation)
        half = lower_half(seed)
        inner_bar = onto_triangle(inverse @ half @ mH(inverse))
        found = [None, None]
        if operation.active[0]:
            both = whole @ (half + mH(half)) @ mH(inverse)
            found[0] = y_bar @ mH(inner_bar) - both
        if operation.active[1]:
            found[1] = np.tril(y @ inner_bar)
        return found

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        pairs = zip(operation.operands, batched, strict=True)
        return batch.builder.emit(self, [batch.spread(*pair) for pair in pairs], {})


register(Cholesky(np.linalg.cholesky, "cholesky"))
register(CholeskyAdjoint(cholesky_adjoint, "cholesky_adjoint"))
register(Determinant(np.linalg.det, "det"))
register(Inverse(np.linalg.inv, "inv"))
register(LogAbsDet(log_abs_det, "slogdet"))
register(SignOfDet(sign_of_det, "slogdet"))
register(System(np.linalg.solve, "solve"))


def _slogdet(a: Symbol) -> Any:
    kind = type(np.linalg.slogdet(np.eye(1)))
    builder = a.builder
    return kind(builder.call(sign_of_det, (a,), {}), builder.call(log_abs_det, (a,), {}))


composite(np.linalg.slogdet, "a", _slogdet)
