"""Decompositions of matrices by Hermitian eigenvalues and singular values: eigh, svd and their kin.

Where eigenvalues or singular values are equal, the vectors that belong to them may be turned into
one another, and have no derivative: an adjoint or tangent that passes through them is nan
(`runtime.inverse_gaps`), unless it does not matter which of them are which
(`transforms/fixed_basis`). The values have one as a whole: what depends on them in an order has
none, sums of functions of them do.

np.linalg.eigh and its kin read one triangle of their argument, so that their adjoint is a triangle:
exactly the derivative of the function that NumPy computes.
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
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.rules import support
from s2s_ad.rules.matrices import (
    OfMatrix,
    Several,
    columns,
    conj,
    hermitian,
    known_rank,
    mH,
    mT,
    onto_triangle,
    rows,
)

EighResult = type(np.linalg.eigh(np.eye(1)))
SVDResult = type(np.linalg.svd(np.eye(1)))


def smaller(a: values.Dim | int, b: values.Dim | int) -> values.Dim | int:
    """The length of min(a, b)."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    if a == b or b == 1:
        return b
    return (
        1 if a == 1 else values.fresh_dim(not (values.known_not_one(a) and values.known_not_one(b)))
    )


def inverse_gaps(w: Symbol) -> Symbol:
    return w.builder.call(runtime.inverse_gaps, (w,), {})


class InverseGaps(Rule):
    """inverse_gaps(w): 1 / (w[j] - w[i]), of each vector of a stack."""

    of_complex = has_poles = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        (w,) = operands
        if support.any_unknown(w):
            return support.unknown(w)
        return values.with_shape(w, (*w.shape, w.shape[-1]))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        gaps_bar = -y_bar * conj(operation.result) ** 2
        return [np.sum(gaps_bar, axis=-2) - np.sum(gaps_bar, axis=-1)]

    def forward(self, operation: Operation, tangents: list) -> Any:
        (w_dot,) = tangents
        return (columns(w_dot) - rows(w_dot)) * operation.result**2

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, {})


class DividedDifferences(Rule):
    """divided_differences(w, y, slope): (y[i] - y[j]) / (w[i] - w[j]), of each vector of a stack;
    the mean of the slopes where w[i] is nearly w[j]. w is real, y may be complex."""

    of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(*operands)
        shape = (*operands[0].shape, operands[0].shape[-1])
        return values.Array(np.result_type(*map(values.strong_dtype, operands)), shape)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        near, gaps = self._gaps(operation)
        of_quotient = np.where(near, 0.0, y_bar / gaps)
        of_mean = 0.5 * np.where(near, y_bar, 0.0)
        falls = of_quotient * conj(operation.result)
        return [
            np.sum(falls, axis=-2) - np.sum(falls, axis=-1),
            np.sum(of_quotient, axis=-1) - np.sum(of_quotient, axis=-2),
            np.sum(of_mean, axis=-1) + np.sum(of_mean, axis=-2),
        ]

    def forward(self, operation: Operation, tangents: list) -> Any:
        w_dot, values_dot, slope_dot = tangents
        near, gaps = self._gaps(operation)
        rise: Any = 0.0 if values_dot is None else columns(values_dot) - rows(values_dot)
        if w_dot is not None:
            rise = rise - operation.result * (columns(w_dot) - rows(w_dot))
        mean: Any = 0.0
        if slope_dot is not None:
            mean = 0.5 * (columns(slope_dot) + rows(slope_dot))
        return np.where(near, mean, rise / gaps)

    def _gaps(self, operation: Operation) -> tuple[Symbol, Any]:
        """Where the mean of the slopes is taken, and the differences of w elsewhere."""
        w = operation.operands[0]
        near = w.builder.call(runtime.are_near, tuple(operation.operands), {})
        return near, np.where(near, 1.0, columns(w) - rows(w))

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        operands = [batch.spread(*each) for each in zip(operation.operands, batched, strict=True)]
        return batch.builder.emit(self, operands, {})


class AreNear(DividedDifferences):
    """are_near(w, y, slope): where divided_differences takes the mean of the slopes."""

    flat = True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        found = super().infer(operands, params)
        return found if support.any_unknown(found) else values.Array(np.dtype(bool), found.shape)


class Determined(Rule):
    """determined(v_bar, w, axis): the adjoints of the first of the vectors along an axis, as many
    as there are numbers in w; an error where others are not zero."""

    of_complex = view = leading = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args[:2]), {"axis": args[2]})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        v_bar, w = operands
        if support.any_unknown(v_bar, w):
            return support.unknown(v_bar)
        shape = list(v_bar.shape)
        shape[params["axis"]] = w.shape[-1]
        return values.with_shape(v_bar, tuple(shape))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        v_bar, w = operation.operands
        return [padded(y_bar, v_bar, w, operation["axis"], np.zeros_like), None]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return determined(tangents[0], operation.operands[1], operation["axis"])

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        operands = [batch.spread(*each) for each in zip(operation.operands, batched, strict=True)]
        return batch.builder.emit(self, operands, operation.params)


def determined(v_bar: Any, w: Symbol, axis: int = -1) -> Any:
    """The adjoints of the vectors that belong to values; None where there are none."""
    return None if v_bar is None else w.builder.call(runtime.determined, (v_bar, w, axis), {})


def leading(vectors: Symbol, w: Symbol, axis: int = -1) -> Symbol:
    """The vectors along an axis that belong to values."""
    chosen = slice(np.size(w, -1))
    found = vectors[..., chosen] if axis == -1 else vectors[..., chosen, :]
    if not support.any_unknown(vectors.fact, w.fact):  # there are as many as there are values
        shape = list(vectors.shape)
        shape[axis] = w.shape[-1]
        w.builder.facts[found.name] = values.with_shape(vectors.fact, tuple(shape))
    return found


def padded(first: Any, vectors: Symbol, w: Symbol, axis: int, fill: Callable) -> Symbol:
    """The numbers of those vectors, and for the others what `fill` makes of them."""
    chosen = slice(np.size(w, -1), None)
    rest = vectors[..., chosen] if axis == -1 else vectors[..., chosen, :]
    return np.concatenate([first, vectors.builder.call(fill, (rest,), {})], axis=axis)


class OfVectors(Rule):
    """A function of an array that gives one like it, sample by sample."""

    of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return operands[0]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, {})


class Undetermined(OfVectors):
    """undetermined(vectors): the tangents of vectors that are any basis of a space."""

    undetermined = flat = quiet = True

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        return [None]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return None


class DeterminedTangent(OfVectors):
    """determined_tangent(tangent): the tangent itself; an error where it is not determined."""

    view = checks = True

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        return [y_bar]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return tangents[0]


# ---- Hermitian eigenvalues -----------------------------------------------------------------------


class Eigh(Several):
    """w, v = eigh(a); M. Giles (2008), 3.1, for one triangle and Hermitian matrices.

    Of complex matrices LAPACK makes one number of each vector real: the first where it reads the
    lower triangle, the last else. That fixes the phases; where this number is zero nothing does.
    """

    of_complex = gives_eigenvectors = True
    text = "a, UPLO='L'"
    kind = EighResult
    names = ("w", "v")

    def shapes(self, shape: values.Shape, params: dict[str, Any]) -> list[values.Shape]:
        return [shape[:-1], shape]

    def is_lower(self, params: dict[str, Any]) -> bool:
        """Whether the lower triangle is read."""
        return params.get("UPLO", "L").upper() == "L"

    def reverse(self, operation: Operation, y_bar: dict[int, Any]) -> list:
        w, v = self.items(operation.result.builder, operation.result)
        terms = [v * rows(y_bar[0])] if 0 in y_bar else []
        if 1 in y_bar:
            inner = mH(v) @ y_bar[1]
            if values.is_complex(v.fact):
                real = self._real_numbers(v, operation)
                turned = np.imag(np.diagonal(inner, axis1=-2, axis2=-1))
                inner = inner - 1j * columns(conj(real)) * rows(_turns(turned, real))
            terms.append(v @ (inverse_gaps(w) * inner))
        a_bar = functools.reduce(operator.add, terms) @ mH(v)
        return [onto_triangle(a_bar, self.is_lower(operation.params))]

    def forward(self, operation: Operation, tangents: list) -> list:
        w, v = self.items(operation.result.builder, operation.result)
        turned = mH(v) @ hermitian(tangents[0], self.is_lower(operation.params)) @ v
        w_dot = np.diagonal(turned, axis1=-2, axis2=-1)
        v_dot = v @ (inverse_gaps(w) * turned)
        if values.is_complex(v.fact):
            found = np.imag(self._real_numbers(v_dot, operation))
            v_dot = v_dot - 1j * v * rows(_turns(found, self._real_numbers(v, operation)))
        return [w_dot, v_dot]

    def out_of_basis(self, operation: Operation, v: Symbol, inner_bar: Any) -> Any:
        """The adjoint of the operand from that of mH(v) @ a @ v with v fixed."""
        return onto_triangle(v @ inner_bar @ mH(v), self.is_lower(operation.params))

    def into_basis(self, operation: Operation, v: Symbol, a_dot: Any) -> Any:
        """The tangent of mH(v) @ a @ v with v fixed."""
        return mH(v) @ hermitian(a_dot, self.is_lower(operation.params)) @ v

    def _real_numbers(self, v: Symbol, operation: Operation) -> Symbol:
        """The number of each vector that LAPACK makes real."""
        return v[..., 0 if self.is_lower(operation.params) else -1, :]


def _small(x: Symbol) -> float:
    """What is a rounding error of numbers of order one."""
    single = x.dtype is not None and np.finfo(x.dtype).bits == 32
    return 1e-5 if single else 1e-10


def _turns(found: Symbol, real: Symbol) -> Symbol:
    """How far each vector turns in phase, so that what was found beside a real number vanishes.

    Where the number is zero the phase has no derivative: nan, unless nothing depends on it.
    """
    first = np.real(real)
    there = np.abs(first) > _small(first)  # nan is not there
    undefined = np.where(np.abs(found) > _small(first), np.nan, 0.0)
    return np.where(there, found / np.where(there, first, 1.0), undefined)


class Eigvalsh(OfMatrix):
    """The eigenvalues of eigh alone; their derivatives need its vectors."""

    of_complex = True
    text = "a, UPLO='L'"
    is_lower = Eigh.is_lower

    def shape(self, shape: values.Shape) -> values.Shape:
        return shape[:-1]

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        v = _eigenvectors(operation)
        return [onto_triangle((v * rows(y_bar)) @ mH(v), self.is_lower(operation.params))]

    def forward(self, operation: Operation, tangents: list) -> Any:
        v = _eigenvectors(operation)
        turned = hermitian(tangents[0], self.is_lower(operation.params)) @ v
        return np.sum(conj(v) * turned, axis=-2)


def _eigenvectors(operation: Operation) -> Symbol:
    (a,) = operation.operands
    known_rank(a)
    return a.builder.call(np.linalg.eigh, (a,), operation.params)[1]


# ---- singular values -----------------------------------------------------------------------------


class SVD(Several):
    """u, s, vh = svd(a).

    J. Townsend, "Differentiating the singular value decomposition" (2016); the term for complex
    matrices by Z.-Q. Wan and S.-X. Zhang, "Automatic differentiation for complex valued SVD"
    (2019). The columns of u, or rows of vh, that belong to no singular value are any basis of what
    is left: those of full matrices have no derivative, and neither have the vectors of a singular
    value of zero, unless they are all that is left.

    Of complex matrices LAPACK makes the first column of vh real where there are no more columns
    than rows, else the first row of u, which fixes the phases.
    """

    of_complex = True
    text = "a, full_matrices=True, compute_uv=True, hermitian=False"
    kind = SVDResult
    count = 3
    names = ("u", "s", "vh")

    def options(self, params: dict[str, Any]) -> dict[str, Any]:
        return {key: bool(each) for key, each in super().options(params).items()}

    def of_matrix(self, builder: Builder, a: Any, params: dict[str, Any]) -> Any:
        if params.get("compute_uv", True):
            return super().of_matrix(builder, a, params)
        chosen = {"hermitian": True} if params.get("hermitian") else {}
        return builder.emit(SVDVALS, [a], chosen)

    def shapes(self, shape: values.Shape, params: dict[str, Any]) -> list[values.Shape]:
        *stack, m, n = shape
        k = smaller(m, n)
        left, right = (m, n) if params.get("full_matrices", True) else (k, k)
        return [(*stack, m, left), (*stack, k), (*stack, right, n)]

    def reverse(self, operation: Operation, y_bar: dict[int, Any]) -> list:
        u, s, vh = self._thin(operation)
        u_bar, s_bar, vh_bar = (y_bar.get(index) for index in range(3))
        if self._is_full(operation):
            u_bar, vh_bar = determined(u_bar, s), determined(vh_bar, s, -2)
        is_complex = values.is_complex(u.fact)
        if is_complex and (u_bar is not None or vh_bar is not None):
            u_bar, vh_bar = _with_phases(u, vh, u_bar, vh_bar)
        left = [] if s_bar is None else [u * rows(s_bar)]
        if u_bar is not None or vh_bar is not None:
            left.append(u @ _turning(u, s, vh, u_bar, vh_bar))
            if is_complex:
                left.append(u * rows(1j * _own_phase(u, u_bar) / s))
        if u_bar is not None:
            left.append((u_bar - u @ (mH(u) @ u_bar)) / rows(divisors(s, u)))
        a_bar = functools.reduce(operator.add, left) @ vh
        if vh_bar is not None:
            a_bar = a_bar + u @ ((vh_bar - vh_bar @ mH(vh) @ vh) / columns(divisors(s, vh)))
        return [onto_triangle(a_bar) if operation.params.get("hermitian") else a_bar]

    def _is_full(self, operation: Operation) -> bool:
        return operation.params.get("full_matrices", True)

    def _thin(self, operation: Operation) -> tuple[Symbol, Symbol, Symbol]:
        """The singular values and the vectors that belong to them."""
        u, s, vh = self.items(operation.result.builder, operation.result)
        return (leading(u, s), s, leading(vh, s, -2)) if self._is_full(operation) else (u, s, vh)

    def forward(self, operation: Operation, tangents: list) -> list:
        u, s, vh = self._thin(operation)
        a_dot = tangents[0]
        a_dot = hermitian(a_dot) if operation.params.get("hermitian") else a_dot
        inner, gaps = mH(u) @ a_dot @ mH(vh), inverse_gaps(s**2)
        by_rows, by_columns = inner * rows(s), columns(s) * inner
        u_dot = u @ (gaps * (by_rows + mH(by_rows)))
        u_dot = u_dot + (a_dot @ mH(vh) - u @ inner) / rows(divisors(s, u))
        vh_dot = mH(gaps * (by_columns + mH(by_columns))) @ vh
        vh_dot = vh_dot + (mH(u) @ a_dot - inner @ vh) / columns(divisors(s, vh))
        if values.is_complex(u.fact):
            own = np.imag(np.diagonal(inner, axis1=-2, axis2=-1)) / s
            u_dot = u_dot + 1j * u * rows(own)
            found = np.where(_is_tall(u, vh), np.imag(vh_dot[..., 0]), -np.imag(u_dot[..., 0, :]))
            turn = 1j * _turns(found, _real_numbers(u, vh))
            u_dot, vh_dot = u_dot + u * rows(turn), vh_dot - columns(turn) * vh
        if self._is_full(operation):
            full_u, _, full_vh = self.items(operation.result.builder, operation.result)
            u_dot = padded(u_dot, full_u, s, -1, runtime.undetermined)
            vh_dot = padded(vh_dot, full_vh, s, -2, runtime.undetermined)
        return [u_dot, np.diagonal(inner, axis1=-2, axis2=-1), vh_dot]


def _is_tall(u: Symbol, vh: Symbol) -> Any:
    """Whether a matrix has no more columns than rows."""
    return np.size(u, -2) >= np.size(vh, -1)


def _real_numbers(u: Symbol, vh: Symbol) -> Symbol:
    """The number of each pair of vectors that LAPACK makes real; nan where it does not."""
    found = np.where(_is_tall(u, vh), vh[..., 0], u[..., 0, :])
    return np.where(np.abs(np.imag(found)) < _small(u), np.real(found), np.nan)


def _own_phase(vectors: Symbol, bar: Symbol) -> Symbol:
    """The adjoint of the phases of columns."""
    return np.sum(np.imag(conj(vectors) * bar), axis=-2)


def _with_phases(u: Symbol, vh: Symbol, u_bar: Any, vh_bar: Any) -> tuple[Symbol, Symbol]:
    """The adjoints with what depends on the common phase of a pair put on the number that is
    real, which tells the phase."""
    u_bar = np.zeros_like(u) if u_bar is None else u_bar
    vh_bar = np.zeros_like(vh) if vh_bar is None else vh_bar
    common = _own_phase(u, u_bar) - _own_phase(mT(vh), mT(vh_bar))
    turn, tall = 1j * _turns(common, _real_numbers(u, vh)), _is_tall(u, vh)
    call, zero = u.builder.call, 0.0 * turn
    first_u = u_bar[..., 0, :] - np.where(tall, zero, turn)
    first_vh = vh_bar[..., 0] + np.where(tall, turn, zero)
    u_bar = call(runtime.index_set, (u_bar, (Ellipsis, 0, slice(None)), first_u), {})
    return u_bar, call(runtime.index_set, (vh_bar, (Ellipsis, 0), first_vh), {})


def _turning(u: Symbol, s: Symbol, vh: Symbol, u_bar: Any, vh_bar: Any) -> Any:
    """What the singular vectors' turning into one another contributes, between u and vh."""
    gaps, terms = inverse_gaps(s**2), []
    if u_bar is not None:
        own = gaps * (mH(u) @ u_bar)
        terms.append((own + mH(own)) * rows(s))
    if vh_bar is not None:
        own = gaps * (vh @ mH(vh_bar))
        terms.append(columns(s) * (own + mH(own)))
    return functools.reduce(operator.add, terms)


class Divisors(Rule):
    """divisors(s, vectors): the numbers s; where they are infinity, nothing depends on them."""

    of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return operands[0]

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        return [y_bar, None]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return tangents[0]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, {})


def divisors(s: Symbol, vectors: Symbol) -> Symbol:
    return s.builder.call(runtime.divisors, (s, vectors), {})


class SVDValues(OfMatrix):
    """The singular values alone; their derivatives need the vectors."""

    of_complex = True
    text = "x"

    def shape(self, shape: values.Shape) -> values.Shape:
        return (*shape[:-2], smaller(*shape[-2:]))

    def infer(self, operands: list, params: dict[str, Any]) -> Any:
        return super().infer(operands, {})

    def _vectors(self, operation: Operation) -> tuple[Symbol, Symbol]:
        (a,) = operation.operands
        known_rank(a)
        options = {"full_matrices": False, **operation.params}
        u, _, vh = a.builder.call(np.linalg.svd, (a,), options)
        return u, vh

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        u, vh = self._vectors(operation)
        a_bar = (u * rows(y_bar)) @ vh
        return [onto_triangle(a_bar) if operation.params else a_bar]

    def forward(self, operation: Operation, tangents: list) -> Any:
        u, vh = self._vectors(operation)
        a_dot = hermitian(tangents[0]) if operation.params else tangents[0]
        return np.sum(conj(u) * (a_dot @ mH(vh)), axis=-2)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        if not call.keywords:
            return call
        options = {"compute_uv": form.constant(False), "hermitian": form.constant(True)}
        return form.operation(np.linalg.svd, call.args, options)


SVDVALS = SVDValues(np.linalg.svdvals, "svdvals")


register(AreNear(runtime.are_near, "are_near"))
register(Determined(runtime.determined, "determined"))
register(DeterminedTangent(runtime.determined_tangent, "determined_tangent"))
register(DividedDifferences(runtime.divided_differences, "divided_differences"))
register(Divisors(runtime.divisors, "divisors"))
register(Eigh(np.linalg.eigh, "eigh"))
register(Eigvalsh(np.linalg.eigvalsh, "eigvalsh"))
register(InverseGaps(runtime.inverse_gaps, "inverse_gaps"))
register(SVD(np.linalg.svd, "svd"))
register(SVDVALS)
register(Undetermined(runtime.undetermined, "undetermined"))
