"""Pseudo-inverses, least squares, ranks.

The derivative of the pseudo-inverse is that of G. Golub and V. Pereyra, "The differentiation of
pseudo-inverses and nonlinear least squares problems whose variables separate" (1973), eq. 4.12. It
holds where the rank stays what it is; where it changes, the pseudo-inverse is not continuous.
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
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.matrices import (
    OfMatrix,
    conj,
    hermitian,
    known_rank,
    mH,
    mT,
    onto_triangle,
    outer,
)
from s2s_ad.runtime import least_residuals, least_squares


class PseudoInverse(OfMatrix):
    """y = pinv(a)."""

    of_complex = True
    text = "a, rcond=None, hermitian=False, rtol=np._NoValue"

    def shape(self, shape: values.Shape) -> values.Shape:
        return (*shape[:-2], shape[-1], shape[-2])

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        a, y, y_bar_h = self._read(operation, operation.operands[0]), operation.result, mH(y_bar)
        of_rows, of_columns = y_bar_h @ y @ mH(y), mH(y) @ y @ y_bar_h
        a_bar = of_rows - a @ (y @ of_rows) + of_columns - of_columns @ y @ a
        a_bar = a_bar - mH(y) @ y_bar @ mH(y)
        return [onto_triangle(a_bar) if operation.params.get("hermitian") else a_bar]

    def forward(self, operation: Operation, tangents: list) -> Any:
        a, a_dot = (self._read(operation, each) for each in (operation.operands[0], tangents[0]))
        y, a_dot_h = operation.result, mH(a_dot)
        of_rows, of_columns = y @ mH(y) @ a_dot_h, a_dot_h @ mH(y) @ y
        y_dot = of_rows - of_rows @ a @ y + of_columns - y @ (a @ of_columns)
        return y_dot - y @ a_dot @ y

    def _read(self, operation: Operation, a: Symbol) -> Symbol:
        """The matrix, of which one triangle is read if it is Hermitian."""
        known_rank(a)
        return hermitian(a) if operation.params.get("hermitian") else a


class MatrixRank(OfMatrix):
    """np.linalg.matrix_rank(A): a count, which moves in steps."""

    text = "A, tol=None, hermitian=False, rtol=None"
    flat = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Of a vector or a number it says whether there is anything but zeros."""
        params = support.bind_call(builder, self, self.text, args, kwargs)
        x = support.as_operand(builder, params["A"])
        if support.rank(x) in (0, 1):
            return np.any(x != 0).astype(int)
        return super().bind(builder, args, kwargs)

    def shape(self, shape: values.Shape) -> values.Shape:
        return shape[:-2]


class OfLeastSquares(Rule):
    """A function of a matrix and of one right side or a matrix of these."""

    of_complex = True
    #: the place among the results of np.linalg.lstsq
    item: int

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        a, b, rcond = args
        return builder.emit(self, [a, b], {} if rcond is None else {"rcond": rcond})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(*operands)
        dtype = support.result_dtype(self.function, operands, **params)
        return values.Array(dtype, self.shape(*(each.shape for each in operands)))

    def shape(self, a: values.Shape, b: values.Shape) -> values.Shape:
        raise NotImplementedError

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        whole = gast.Call(form.constant(np.linalg.lstsq), call.args, call.keywords)
        return gast.Subscript(whole, form.constant(self.item), gast.Load())


class Solution(OfLeastSquares):
    """x of x, residuals, rank, s = lstsq(a, b), for a of full rank or not: x = pinv(a) @ b."""

    item = 0

    def shape(self, a: values.Shape, b: values.Shape) -> values.Shape:
        return (a[-1], *b[1:])

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (a, b), x, inverse = operation.operands, operation.result, _inverse(operation)
        b_bar = mH(inverse) @ y_bar if known_rank(b) > 1 else y_bar @ conj(inverse)
        if not operation.active[0]:
            return [None, b_bar]
        a_bar = outer(b - a @ x, inverse @ b_bar) - outer(b_bar, x)
        a_bar = a_bar + outer(mH(inverse) @ x, y_bar - inverse @ (a @ y_bar))
        return [a_bar, b_bar]

    def forward(self, operation: Operation, tangents: list) -> Any:
        (a, b), x, inverse = operation.operands, operation.result, _inverse(operation)
        a_dot, b_dot = tangents
        if a_dot is None:
            return inverse @ b_dot
        moved = -(a_dot @ x) if b_dot is None else b_dot - a_dot @ x
        beyond = mH(a_dot) @ (mH(inverse) @ x)
        x_dot = inverse @ (moved + mH(inverse) @ (mH(a_dot) @ (b - a @ x)))
        return x_dot + beyond - inverse @ (a @ beyond)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        b = operation.operands[1]
        if support.sample_rank(b, batched[1]) > 1:
            return _inverse(operation) @ b
        if batched == [False, True]:
            return b @ mT(_inverse(operation))
        return (
            (_inverse(operation) @ b[..., None])[..., 0] if batched[1] else _inverse(operation) @ b
        )


class FullRank(support.HandedOn, OfMatrix):
    """full_rank(a): the matrix itself, or an error."""

    of_complex = view = True


class Residuals(OfLeastSquares):
    """The sums of squares of b - a @ x, one for each column of b; none where a is not of full rank.

    They do not depend on a and b through x, which makes them smallest.
    """

    item = 1

    def shape(self, a: values.Shape, b: values.Shape) -> values.Shape:
        return (values.fresh_dim(),)

    def _parts(self, operation: Operation) -> tuple:
        a, b = operation.operands
        known_rank(b)
        x = a.builder.call(runtime.least_squares, (a, b, operation.params.get("rcond")), {})
        return a, b, x

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        a, b, x = self._parts(operation)
        one = len(b.shape) == 1 or b.shape[1] == 1
        moved = 2 * (b - a @ x) * (np.sum(y_bar) if one else y_bar)
        return [-outer(moved, x), moved]

    def forward(self, operation: Operation, tangents: list) -> Any:
        a, b, x = self._parts(operation)
        a_dot, b_dot = tangents
        moved = (0.0 if b_dot is None else b_dot) - (0.0 if a_dot is None else a_dot @ x)
        total = np.sum(2 * conj(b - a @ x) * moved, axis=0, keepdims=known_rank(b) == 1)
        return total[: np.size(operation.result, 0)]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        """Each sample has to have them."""
        (a, b), options = operation.operands, operation.params
        vector = support.sample_rank(b, batched[1]) == 1
        b = np.expand_dims(b, -1) if vector else b
        a = a.builder.call(runtime.full_rank, (a,), {})
        inverse = a.builder.call(np.linalg.pinv, (a,), options or {"rtol": None})
        return np.sum(np.abs(b - a @ (inverse @ b)) ** 2, axis=-2)


def _inverse(operation: Operation) -> Symbol:
    """The pseudo-inverse of the matrix, with the cut-off of np.linalg.lstsq."""
    a, b = operation.operands
    known_rank(a), known_rank(b)
    return a.builder.call(np.linalg.pinv, (a,), operation.params or {"rtol": None})


def _lstsq(x: Symbol, b: Any, rcond: Any) -> tuple:
    """Each result by itself: few programs want more than the first."""
    builder, rcond = x.builder, static(rcond, "rcond of np.linalg.lstsq")
    b = support.as_operand(builder, b)
    rows = (support.shape(each) or (0,) for each in (x, b))
    values.check_fit(*(each[0] for each in rows), "Incompatible dimensions", np.linalg.LinAlgError)
    first = [builder.call(each, (x, b, rcond), {}) for each in (least_squares, least_residuals)]
    options = {"rtol": None} if rcond is None else {"rtol": rcond}
    return *first, builder.call(np.linalg.matrix_rank, (x,), options), np.linalg.svdvals(x)


composite(np.linalg.lstsq, "x, b, rcond=None", _lstsq)
register(FullRank(runtime.full_rank, "full_rank"))
register(MatrixRank(np.linalg.matrix_rank, "matrix_rank"))
register(PseudoInverse(np.linalg.pinv, "pinv"))
register(Residuals(least_residuals, "lstsq"))
register(Solution(least_squares, "lstsq"))
