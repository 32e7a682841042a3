"""scipy.linalg: systems of linear equations, and the factorisations that solve them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np
from scipy import linalg

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.decompositions import smaller
from s2s_ad.rules.matrices import (
    Several,
    conj,
    hermitian,
    in_stack,
    known_rank,
    mH,
    mT,
    onto_triangle,
)
from s2s_ad.rules.products_known import matrix_bar, products_in
from s2s_ad.rules.systems import System

ABOUT_MEMORY = ("overwrite_a", "overwrite_b", "overwrite_ab")

# ---- what is read of a matrix --------------------------------------------------------------------

HERMITIAN = ("her", "hermitian", "pos", "positive definite", "sym", "symmetric")
LOWER, UPPER = ("lower triangular",), ("upper triangular",)
WHOLE = (None, "banded", "gen", "general")


def assumed(a: Any, assume_a: str | None, lower: bool) -> Any:
    """The matrix that stands for `a`, of which a part is read."""
    if assume_a in HERMITIAN:
        return hermitian(a, lower)
    return part_read(a, assume_a)


def part_read(a: Any, assume_a: str | None) -> Any:
    if assume_a in LOWER + UPPER:
        return np.tril(a) if assume_a in LOWER else np.triu(a)
    if assume_a == "diagonal":
        return np.triu(np.tril(a))
    return np.triu(np.tril(a, 1), -1) if assume_a == "tridiagonal" else a


class Solve(System):
    """scipy.linalg.solve, which may read a part of the matrix."""

    text = (
        "a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None,"
        " transposed=False"
    )
    dropped = ABOUT_MEMORY
    not_square = ValueError
    without_dtype = ("assume_a",)  # a single number is no tridiagonal matrix to SciPy 1.16

    def solved(self, builder: Builder, a: Symbol, b: Any, params: dict[str, Any]) -> Any:
        if params.pop("transposed", False):
            return self.solved(builder, mT(a), b, self._transposed(params))
        return super().solved(builder, a, b, params)

    def _transposed(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters for the transposed matrix."""
        turned = {**dict.fromkeys(LOWER, UPPER[0]), **dict.fromkeys(UPPER, LOWER[0])}
        kind = params.get("assume_a")
        if kind in turned:
            return {**params, "assume_a": turned[kind]}
        if kind not in HERMITIAN:
            return params
        return support.given({**params, "lower": not params.get("lower", False)}, self.text)

    def adjoint(self, a: Symbol, y_bar: Any, params: dict[str, Any]) -> Any:
        if params.get("assume_a") in HERMITIAN:
            return self.solved(a.builder, a, y_bar, params)
        return self.solved(a.builder, mH(a), y_bar, self._transposed(params))

    def of_matrix(self, a_bar: Any, params: dict[str, Any]) -> Any:
        kind = params.get("assume_a")
        if kind in HERMITIAN:
            return onto_triangle(a_bar, params.get("lower", False))
        return part_read(a_bar, kind)

    def matrix(self, a: Any, params: dict[str, Any]) -> Any:
        return assumed(a, params.get("assume_a"), params.get("lower", False))


class SolveTriangular(System):
    """scipy.linalg.solve_triangular; with `trans` the transposed matrix is the system's."""

    text = "a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True"
    dropped = ABOUT_MEMORY
    not_square = ValueError
    of_stack = staticmethod(runtime.solve_triangular_of_stack)

    def solved(self, builder: Builder, a: Symbol, b: Any, params: dict[str, Any]) -> Any:
        names = {"N": 0, "T": 1, "C": 2}
        trans = names.get(params.get("trans", 0), params.get("trans", 0))
        return super().solved(builder, a, b, support.given({**params, "trans": trans}, self.text))

    def adjoint(self, a: Symbol, y_bar: Any, params: dict[str, Any]) -> Any:
        trans = params.get("trans", 0)
        complex_ = a.dtype is None or a.dtype.kind == "c"
        turned = {0: 2 if complex_ else 1, 1: 0, 2: 0}[trans]
        a = conj(a) if trans == 1 else a
        return self.solved(a.builder, a, y_bar, {**params, "trans": turned})

    def of_matrix(self, a_bar: Any, params: dict[str, Any]) -> Any:
        turn = {0: lambda x: x, 1: mT, 2: mH}[params.get("trans", 0)]
        return self._triangle(turn(a_bar), params)

    def matrix(self, a: Any, params: dict[str, Any]) -> Any:
        return {0: lambda x: x, 1: mT, 2: mH}[params.get("trans", 0)](self._triangle(a, params))

    def _triangle(self, a: Any, params: dict[str, Any]) -> Any:
        strict = bool(params.get("unit_diagonal", False))
        if params.get("lower", False):
            return np.tril(a, -1) if strict else np.tril(a)
        return np.triu(a, 1) if strict else np.triu(a)


def triangular(a: Symbol, b: Any, **options: Any) -> Symbol:
    return a.builder.call(linalg.solve_triangular, (a, b), options)


# ---- LU ------------------------------------------------------------------------------------------


class LU(Several):
    """p, l, u = lu(a) with a = p @ l @ u; p moves in steps.

    For a square matrix as by S. Walter and L. Lehmann (2010); what a has more than a square of rows
    or columns follows it by triangular systems.
    """

    of_complex = True
    text = "a"
    count = 3
    names = ("p", "l", "u")
    of_stack = staticmethod(runtime.lu_of_stack)

    def shapes(self, shape: values.Shape, params: dict[str, Any]) -> list[values.Shape]:
        *stack, m, n = shape
        k = smaller(m, n)
        return [(*stack, m, m), (*stack, m, k), (*stack, k, n)]

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        text = "a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False"
        params = support.bind_call(builder, self, text, args, kwargs)
        p, l, u = super().bind(builder, (params["a"],), {})  # noqa: E741
        if static(params["permute_l"], "permute_l of scipy.linalg.lu"):
            return p @ l, u
        if static(params["p_indices"], "p_indices of scipy.linalg.lu"):
            return np.argmax(p, axis=-1), l, u
        return p, l, u

    def reverse(self, operation: Operation, y_bar: dict[int, Any]) -> list:
        p, l, u = self.items(operation.result.builder, operation.result)  # noqa: E741
        if 1 not in y_bar and 2 not in y_bar:
            return [None]
        return [p @ lu_adjoint(l, u, y_bar.get(1), y_bar.get(2))]

    def forward(self, operation: Operation, tangents: list) -> list:
        p, l, u = self.items(operation.result.builder, operation.result)  # noqa: E741
        return [None, *lu_tangent(l, u, mT(p) @ tangents[0])]


def _blocks(l: Symbol, u: Symbol) -> tuple:  # noqa: E741
    """The square parts of l and u, and what they have more of."""
    count = np.size(u, -2)
    return l[..., :count, :], l[..., count:, :], u[..., :count], u[..., count:]


def over_upper(x: Any, u: Symbol) -> Any:
    """x @ inv(u)."""
    return mT(triangular(u, mT(x), trans=1))


def unit_lower(l: Symbol, x: Any, **options: Any) -> Any:  # noqa: E741
    return triangular(l, x, lower=True, unit_diagonal=True, **options)


def lu_adjoint(l: Symbol, u: Symbol, l_bar: Any, u_bar: Any) -> Any:  # noqa: E741
    """The adjoint of l @ u."""
    square_l, more_l, square_u, more_u = _blocks(l, u)
    zero = np.zeros_like
    l_bar = zero(l) if l_bar is None else l_bar
    u_bar = zero(u) if u_bar is None else u_bar
    square_l_bar, more_l_bar, square_u_bar, more_u_bar = _blocks(l_bar, u_bar)
    lower = mH(square_l) @ square_l_bar - more_u_bar @ mH(more_u)
    upper = square_u_bar @ mH(square_u) - mH(more_l) @ more_l_bar
    inner = mH(triangular(square_u, mH(np.tril(lower, -1) + np.triu(upper))))
    right = np.concatenate([inner, more_u_bar], axis=-1)
    top = unit_lower(square_l, right, trans=2)
    left = mH(triangular(square_u, mH(more_l_bar)))
    rest = np.zeros_like(more_l @ more_u)
    return np.concatenate([top, np.concatenate([left, rest], axis=-1)], axis=-2)


def lu_tangent(l: Symbol, u: Symbol, product_dot: Any) -> list:  # noqa: E741
    """The tangents of l and u from that of their product."""
    square_l, more_l, square_u, more_u = _blocks(l, u)
    count = np.size(u, -2)
    top, bottom = product_dot[..., :count, :], product_dot[..., count:, :count]
    inner = over_upper(unit_lower(square_l, top[..., :count]), square_u)
    l_dot, u_dot = square_l @ np.tril(inner, -1), np.triu(inner) @ square_u
    more_l_dot = over_upper(bottom - more_l @ u_dot, square_u)
    more_u_dot = unit_lower(square_l, top[..., count:] - l_dot @ more_u)
    return [
        np.concatenate([l_dot, more_l_dot], axis=-2),
        np.concatenate([u_dot, more_u_dot], axis=-1),
    ]


class LUFactor(Several):
    """lu, piv = lu_factor(a): both triangles in one matrix, and the exchanges of rows."""

    of_complex = True
    text = "a, overwrite_a=False, check_finite=True"
    names = ("lu", "piv")
    of_stack = staticmethod(runtime.lu_factor_of_stack)

    def options(self, params: dict[str, Any]) -> dict[str, Any]:
        return {}

    def shapes(self, shape: values.Shape, params: dict[str, Any]) -> list[values.Shape]:
        *stack, m, n = shape
        return [shape, (*stack, smaller(m, n))]

    def _factors(self, operation: Operation) -> tuple:
        lu, piv = self.items(operation.result.builder, operation.result)
        return *unpacked(lu, np.size(piv, -1)), row_order(piv, lu)

    def reverse(self, operation: Operation, y_bar: dict[int, Any]) -> list:
        if 0 not in y_bar:
            return [None]
        products, rest = products_in(operation.result.builder, y_bar[0])
        terms = [matrix_bar(products)] if products else []
        terms += [] if rest is None else [self._matrix_bar(operation, rest)]
        return [functools.reduce(operator.add, terms)]

    def _matrix_bar(self, operation: Operation, y_bar: Any) -> Any:
        l, u, order = self._factors(operation)  # noqa: E741
        count = np.size(u, -2)
        l_bar = np.tril(y_bar, -1)[..., :count]
        rows_bar = lu_adjoint(l, u, l_bar, np.triu(y_bar)[..., :count, :])
        return take_rows(rows_bar, np.argsort(order, axis=-1))

    def forward(self, operation: Operation, tangents: list) -> list:
        l, u, order = self._factors(operation)  # noqa: E741
        l_dot, u_dot = lu_tangent(l, u, take_rows(tangents[0], order))
        lu = self.items(operation.result.builder, operation.result)[0]
        width, height = (
            np.zeros_like(lu[..., np.size(u, -2) :]),
            np.zeros_like(lu[..., np.size(u, -2) :, :]),
        )
        return [
            np.concatenate([l_dot, width], axis=-1) + np.concatenate([u_dot, height], axis=-2),
            None,
        ]


def unpacked(lu: Symbol, count: Any) -> tuple:
    """l and u of the matrix that holds both."""
    one = lu.builder.call(np.eye, (np.size(lu, -2), count), {"dtype": lu.dtype})
    return np.tril(lu, -1)[..., :count] + one, np.triu(lu)[..., :count, :]


def row_order(piv: Symbol, matrix: Symbol) -> Symbol:
    return piv.builder.call(runtime.row_order, (piv, matrix), {})


def take_rows(x: Any, order: Symbol) -> Any:
    """The rows of a matrix, or of a stack of them, each stack being broadcast to the other."""
    if support.known_rank(order, "an order of rows") == 1:
        return x[order] if (support.rank(x) or 0) < 3 else x[..., order, :]
    order, more = order[..., None], support.known_rank(x, "a matrix") - known_rank(order) - 1
    x, order = (each[(None,) * max(count, 0)] for each, count in ((x, -more), (order, more)))
    return np.take_along_axis(x, order, axis=-2)


class RowOrder(Rule):
    """row_order(piv, matrix): the order of the rows after the exchanges."""

    flat = of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        matrix = operands[1]
        if support.any_unknown(matrix):
            return values.unknown()
        selects = len(matrix.shape) == 2
        return values.Array(np.dtype(int), matrix.shape[:-1], selects)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        operands = [batch.spread(*each) for each in zip(operation.operands, batched, strict=True)]
        return batch.builder.emit(self, operands, {})


# ---- bands ---------------------------------------------------------------------------------------


class SolveBanded(Rule):
    """scipy.linalg.solve_banded((l, u), ab, b): the diagonals of the matrix are rows of ab."""

    of_complex = True
    of_stack = staticmethod(runtime.solve_banded_of_stack)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        text = "l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True"
        params = support.bind_call(builder, self, text, args, kwargs)
        bands = tuple(static(params["l_and_u"], "l_and_u of scipy.linalg.solve_banded"))
        operands = [support.as_operand(builder, params[each]) for each in ("ab", "b")]
        return builder.emit(self, operands, {"l_and_u": bands})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        ab, b = operands
        if support.any_unknown(ab, b):
            return support.unknown(ab, b)
        dtypes = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(dtypes) else np.result_type(*dtypes, np.float32)
        if dtype is not None and dtype.kind in "iu":
            dtype = np.dtype(float)
        stack = (
            values.broadcast((ab.shape[:-2], b.shape[:-2])) if len(ab.shape) > 2 else b.shape[:-2]
        )
        return values.Array(dtype, (*stack, *b.shape[-2:]))

    def solved(self, ab: Symbol, b: Any, low: int, up: int) -> Symbol:
        return ab.builder.emit(self, [ab, b], {"l_and_u": (low, up)})

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (ab, b), x, (low, up) = operation.operands, operation.result, operation["l_and_u"]
        turned = [np.roll(ab[..., low + up - k, :], low - k, axis=-1) for k in range(low + up + 1)]
        b_bar = self.solved(conj(np.stack(turned, axis=-2)), y_bar, up, low)
        if not operation.active[0]:
            return [None, b_bar]
        left, right = (b_bar, x) if known_rank(b) > 1 else (b_bar[:, None], x[:, None])
        diagonals = [_beside(-left, conj(right), k - up) for k in range(low + up + 1)]
        return [np.stack([np.sum(each, axis=-1) for each in diagonals], axis=-2), b_bar]

    def forward(self, operation: Operation, tangents: list) -> Any:
        (ab, b), x, (low, up) = operation.operands, operation.result, operation["l_and_u"]
        (ab_dot, moved), vector = tangents, known_rank(b) == 1
        for k in range(low + up + 1) if ab_dot is not None else ():
            row = ab_dot[..., k, :]
            product = row * x if vector else row[..., None] * x
            shifted = _shifted(product, k - up, 0 if vector else -2)
            moved = -shifted if moved is None else moved - shifted
        return self.solved(ab, moved, low, up)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        ab, b = operation.operands
        if not batched[0] and support.sample_rank(b, True) == 1:  # one matrix serves all samples
            return batch.builder.emit(self, [ab, b.T], operation.params).T
        ab, b = (batch.spread(*each) for each in zip(operation.operands, batched, strict=True))
        if support.sample_rank(b, True) > 1:
            return batch.builder.emit(self, [ab, b], operation.params)
        return batch.builder.emit(self, [ab, b[..., None]], operation.params)[..., 0]

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        found = in_stack(self, call, facts)
        return gast.Call(found.func, [call.keywords[0].value, *call.args], [])


def _beside(a: Symbol, b: Symbol, below: int) -> Symbol:
    """a[j + below] * b[j] in row j, zero where there is no such row."""
    if below == 0:
        return a * b
    size = abs(below)
    zeros = np.zeros_like(a[..., :size, :])
    if below > 0:
        return np.concatenate([a[..., size:, :] * b[..., :-size, :], zeros], axis=-2)
    return np.concatenate([zeros, a[..., :-size, :] * b[..., size:, :]], axis=-2)


def _shifted(a: Symbol, by: int, axis: int) -> Symbol:
    """Row j of a as row j + by."""
    if by == 0:
        return a
    size = abs(by)
    first, last = (
        (slice(None, size), slice(size, None))
        if by < 0
        else (
            slice(None, -size),
            slice(-size, None),
        )
    )
    taken = last if by < 0 else first
    spared = first if by < 0 else last
    at = (lambda part: a[part]) if axis == 0 else (lambda part: a[..., part, :])
    zeros = np.zeros_like(at(spared))
    return np.concatenate([at(taken), zeros] if by < 0 else [zeros, at(taken)], axis=axis)


def _solveh_banded(
    x: Symbol, b: Any, overwrite_ab: Any, overwrite_b: Any, lower: Any, check_finite: Any
) -> Any:
    """The diagonals of the other triangle put beside those that are given."""
    lower, count = static(lower, "lower of scipy.linalg.solveh_banded"), x.shape and x.shape[0]
    if not isinstance(count, int):
        raise ArgumentValueError(
            "S2S205",
            "scipy.linalg.solveh_banded of diagonals whose number is not known",
            origin=x.builder.origin,
            help="use scipy.linalg.solve_banded, whose first argument says how many there are",
        )
    given = [x[k] for k in range(count)]
    main = 0 if lower else count - 1
    given[main] = np.real(given[main])  # SciPy reads no more of a Hermitian matrix
    if lower:
        other = [np.roll(conj(given[k]), k) for k in range(count - 1, 0, -1)]
        whole = [*other, *given]
    else:
        other = [np.roll(conj(given[count - 1 - k]), -k) for k in range(1, count)]
        whole = [*given, *other]
    bands = (count - 1, count - 1)
    return x.builder.call(linalg.solve_banded, (bands, np.stack(whole), b), {})


# ---- registration --------------------------------------------------------------------------------

composite(
    linalg.solveh_banded,
    "x, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True",
    _solveh_banded,
)

register(LU(linalg.lu, "lu"))
register(LUFactor(linalg.lu_factor, "lu_factor"))
register(RowOrder(runtime.row_order, "row_order"))
register(Solve(linalg.solve, "solve"))
register(SolveBanded(linalg.solve_banded, "solve_banded"))
register(SolveTriangular(linalg.solve_triangular, "solve_triangular"))
