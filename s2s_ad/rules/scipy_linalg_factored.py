"""scipy.linalg: systems solved with the factors of a matrix (`cho_solve`, `lu_solve`)."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np
from scipy import linalg

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.rules import support
from s2s_ad.rules.matrices import (
    OfMatrix,
    conj,
    hermitian,
    lower_half,
    mH,
    mT,
    onto_triangle,
    outer,
)
from s2s_ad.rules.products_known import matrix_bar, products_in
from s2s_ad.rules.scipy_linalg_systems import row_order, take_rows, triangular, unit_lower
from s2s_ad.rules.shape_checks import check_equal, check_square, ends
from s2s_ad.runtime import cholesky_adjoint, of_product
from s2s_ad.versions import cho_factor_clears


class Factored(Rule):
    """x = solve(factors, b), for one matrix and one right-hand side, or a matrix of these.

    Args:
        text: the signature, which begins with the factors and b.
        composed: what it is in terms of systems of triangles, for stacks of matrices, too.
    """

    of_complex = True
    #: what it raises of a matrix that is not square
    not_square: type[Exception] = ValueError

    def __init__(self, function: Callable, text: str, composed: Callable):
        super().__init__(function, function.__name__)
        self.text, self.composed = text, composed

    def of_factors(self, factors: tuple, params: dict[str, Any]) -> tuple[list, dict[str, Any]]:
        """The operands and the parameters that stand for the factors and the other arguments."""
        raise NotImplementedError

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, self.text, args, kwargs)
        factors, b, *_ = given.values()
        operands, params = self.of_factors(factors, given)
        operands.append(support.as_operand(builder, b))
        ranks = [support.rank(operands[0]), support.rank(operands[-1])]
        self.check(operands[0], operands[-1], ranks[1])
        if ranks[1] == 1 and (ranks[0] or 0) > 2:
            operands[-1] = operands[-1][:, None]
            return self.composed(*operands, **params)[..., 0]
        inexact = all(values.is_inexact(builder.fact(each)) for each in (operands[0], operands[-1]))
        if ranks[0] != 2 or ranks[1] not in (1, 2) or not inexact:
            return self.composed(*operands, **params)
        return builder.emit(self, operands, params)

    def check(self, matrix: Any, b: Any, rank: int | None) -> None:
        """Refuse what the library does: first by the rows of the matrix, then by its columns."""
        first, rows = slice(-2, -1), slice(-1, None) if rank == 1 else slice(-2, -1)
        what = "the matrix has as many rows as b"
        check_equal(*ends(matrix, axes=first), *ends(b, axes=rows), what)
        check_square(matrix, self.function, self.not_square)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        dtypes = [values.strong_dtype(each) for each in (operands[0], operands[-1])]
        dtype = None if values.missing(dtypes) else np.result_type(*dtypes)
        return values.Array(dtype, operands[-1].shape)

    def product(self, x: Any, b_bar: Any, params: dict[str, Any]) -> tuple[Any, Any]:
        """p and q, where -p @ q.H is the adjoint of the matrix."""
        return b_bar, x

    def adjoint(self, operation: Operation, x_bar: Any) -> Any:
        """The adjoint of b."""
        raise NotImplementedError

    def factors_bar(self, operation: Operation, p: Any, q: Any) -> Any:
        """The adjoint of the factors, from that of the matrix."""
        raise NotImplementedError

    def reverse(self, operation: Operation, x_bar: Any) -> list:
        builder, x = operation.result.builder, operation.result
        x_bar = builder.call(runtime.broadcast_like, (x_bar, x), {})
        b_bar = self.adjoint(operation, x_bar)
        found = [None] * len(operation.operands)
        found[-1] = b_bar if operation.active[-1] else None
        if operation.active[0]:
            p, q = self.product(x, b_bar, operation.params)
            factors_bar = self.factors_bar(operation, p, q)
            found[0] = builder.call(of_product, (factors_bar, p, q), {})
        return found

    def forward(self, operation: Operation, tangents: list) -> Any:
        factors = operation.operands[:-1]
        terms = [] if tangents[-1] is None else [tangents[-1]]
        if tangents[0] is not None:
            terms.append(-self.moved(operation, tangents[0]))
        b_dot = functools.reduce(operator.add, terms)
        return operation.result.builder.emit(self, [*factors, b_dot], operation.params)

    def moved(self, operation: Operation, factors_dot: Any) -> Any:
        """The tangent of the matrix times x, in the order of the rows of b."""
        raise NotImplementedError

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        *factors, b = operation.operands
        rank = support.sample_rank(b, batched[-1])
        if not any(batched[:-1]) and rank == 1:  # one factorisation serves all samples
            return batch.builder.emit(self, [*factors, b.T], operation.params).T
        operands = [batch.spread(*each) for each in zip(operation.operands, batched, strict=True)]
        if rank == 1:
            operands[-1] = np.expand_dims(operands[-1], -1)
        x = self.composed(*operands, **operation.params)
        return x[..., 0] if rank == 1 else x

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        *factors, b = call.args
        options = [each for each in call.keywords if each.arg != "lower"]
        lower = [each.value for each in call.keywords if each.arg == "lower"]
        pair = gast.Tuple(elts=[*factors, *lower], ctx=gast.Load())
        return gast.Call(func=call.func, args=[pair, b], keywords=options)


class ChoSolve(Factored):
    """scipy.linalg.cho_solve((c, lower), b)"""

    def of_factors(self, factors: tuple, params: dict[str, Any]) -> tuple[list, dict[str, Any]]:
        c, lower = factors
        return [c], {"lower": bool(static(lower, "lower of scipy.linalg.cho_solve"))}

    def adjoint(self, operation: Operation, x_bar: Any) -> Any:
        c = operation.operands[0]
        return operation.result.builder.emit(self, [c, x_bar], operation.params)

    def factors_bar(self, operation: Operation, p: Any, q: Any) -> Any:
        c, half = operation.operands[0], -outer(p, q)
        both = half + mH(half)
        if operation["lower"]:
            return np.tril(both @ np.tril(c))
        return np.triu(np.triu(c) @ both)

    def moved(self, operation: Operation, factors_dot: Any) -> Any:
        c, x = operation.operands[0], operation.result
        if operation["lower"]:
            c, c_dot = np.tril(c), np.tril(factors_dot)
            return c_dot @ (mH(c) @ x) + c @ (mH(c_dot) @ x)
        c, c_dot = np.triu(c), np.triu(factors_dot)
        return mH(c_dot) @ (c @ x) + mH(c) @ (c_dot @ x)


class LUSolve(Factored):
    """scipy.linalg.lu_solve((lu, piv), b, trans): with `trans` the transposed matrix is solved."""

    not_square = Exception  # LAPACK's own, which has no public name

    def of_factors(self, factors: tuple, params: dict[str, Any]) -> tuple[list, dict[str, Any]]:
        trans = static(params["trans"], "trans of scipy.linalg.lu_solve")
        return list(factors), {"trans": trans} if trans else {}

    def adjoint(self, operation: Operation, x_bar: Any) -> Any:
        lu, piv, _ = operation.operands
        trans = operation.params.get("trans", 0)
        of_real = lu.dtype is not None and lu.dtype.kind != "c"
        params = {} if trans else {"trans": 1 if of_real else 2}
        if trans != 1 or of_real:
            return lu.builder.emit(self, [lu, piv, x_bar], params)
        return np.conj(lu.builder.emit(self, [lu, piv, np.conj(x_bar)], params))

    def product(self, x: Any, b_bar: Any, params: dict[str, Any]) -> tuple[Any, Any]:
        trans = params.get("trans", 0)
        return (b_bar, x) if not trans else (x, b_bar) if trans == 2 else (conj(x), conj(b_bar))

    def factors_bar(self, operation: Operation, p: Any, q: Any) -> Any:
        lu, piv, _ = operation.operands
        p = p[row_order(piv, lu)]
        lower = -outer(p, np.triu(lu) @ q)
        upper = -outer(mH(np.tril(lu, -1)) @ p + p, q)
        return np.tril(lower, -1) + np.triu(upper)

    def moved(self, operation: Operation, factors_dot: Any) -> Any:
        (lu, piv, _), x = operation.operands, operation.result
        trans = operation.params.get("trans", 0)
        l, u = np.tril(lu, -1), np.triu(lu)  # noqa: E741
        l_dot, u_dot = np.tril(factors_dot, -1), np.triu(factors_dot)
        order = row_order(piv, lu)
        if not trans:
            inner = u_dot @ x
            return (l_dot @ (u @ x) + l @ inner + inner)[np.argsort(order)]
        turned: Callable = mH if trans == 2 else mT
        x = x[order]
        return turned(u_dot) @ (turned(l) @ x + x) + turned(u) @ (turned(l_dot) @ x)


class ChoFactor(OfMatrix):
    """The first item of scipy.linalg.cho_factor: in one triangle the factor, and in the other zeros
    or what was there (`versions.cho_factor_clears`)."""

    of_complex = True
    text = "a, lower=False, overwrite_a=False, check_finite=True"

    def of_matrix(self, builder: Builder, a: Any, params: dict[str, Any]) -> Any:
        lower = "lower" in params
        return builder.emit(self, [a], params) if support.rank(a) == 2 else _cho_factor(
            a, lower
        ), lower

    def options(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"lower": True} if params["lower"] else {}

    def infer(self, operands: list, params: dict[str, Any]) -> Any:
        (a,) = operands
        dtype = values.strong_dtype(a)
        return values.Array(None if dtype is None else np.result_type(dtype, np.float32), a.shape)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        c, lower = operation.result, "lower" in operation.params
        y_bar = c.builder.call(runtime.broadcast_like, (y_bar, c), {})
        products, rest = products_in(c.builder, y_bar)
        terms = [onto_triangle(matrix_bar(products), lower)] if products else []
        terms += [] if rest is None else _onto_matrix(c, rest, lower)
        return [functools.reduce(operator.add, terms)]

    def forward(self, operation: Operation, tangents: list) -> Any:
        c, lower = operation.result, "lower" in operation.params
        (a_dot,) = tangents
        whole = hermitian(a_dot, lower)
        c = _factor(c, lower)
        l = c if lower else mH(c)  # noqa: E741
        inner = np.linalg.solve(l, mH(np.linalg.solve(l, whole)))
        l_dot = l @ lower_half(inner)
        return sum(_beside(a_dot, lower), l_dot if lower else mH(l_dot))

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return _cho_factor(operation.operands[0], "lower" in operation.params)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return gast.Subscript(value=call, slice=form.constant(0), ctx=gast.Load())


def _onto_matrix(c: Symbol, c_bar: Any, lower: bool) -> list:
    """The adjoint of the matrix from that of cho_factor's array, in parts."""
    factor, beside = _factor(c, lower), _beside(c_bar, lower)
    if lower:
        return [c.builder.call(cholesky_adjoint, (factor, c_bar), {}), *beside]
    return [mH(c.builder.call(cholesky_adjoint, (mH(factor), mH(c_bar)), {})), *beside]


def _factor(c: Symbol, lower: bool) -> Any:
    """The factor in cho_factor's array, whatever release the text will run with."""
    return np.tril(c) if lower else np.triu(c)


def _beside(x: Any, lower: bool) -> list:
    """The part of the matrix that cho_factor leaves beside the factor, if it leaves any."""
    if cho_factor_clears():
        return []
    return [np.triu(x, 1) if lower else np.tril(x, -1)]


def _cho_factor(x: Any, lower: bool) -> Any:
    return sum(_beside(x, lower), np.linalg.cholesky(x, upper=not lower))


def _cho_solve(c: Any, b: Any, lower: bool) -> Any:
    own: dict = {"lower": True} if lower else {}
    first, last = ({}, {"trans": 2}) if lower else ({"trans": 2}, {})
    return triangular(c, triangular(c, b, **first, **own), **last, **own)


def _lu_solve(lu: Any, piv: Any, b: Any, trans: int = 0) -> Any:
    order = row_order(piv, lu)
    if trans == 0:
        return triangular(lu, unit_lower(lu, take_rows(b, order)))
    inner = unit_lower(lu, triangular(lu, b, trans=trans), trans=trans)
    return take_rows(inner, np.argsort(order, axis=-1))


OPTIONS = "overwrite_b=False, check_finite=True"
register(ChoFactor(linalg.cho_factor, "cho_factor"))
register(ChoSolve(linalg.cho_solve, f"c_and_lower, b, {OPTIONS}", _cho_solve))
register(LUSolve(linalg.lu_solve, f"lu_and_piv, b, trans=0, {OPTIONS}", _lu_solve))
