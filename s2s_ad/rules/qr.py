"""The QR decomposition, in all its modes but 'raw', which has no derivative."""

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
from s2s_ad.core.rule import Operation
from s2s_ad.diagnostics import DerivativeError
from s2s_ad.rules.decompositions import determined, leading, padded, smaller
from s2s_ad.rules.matrices import OfMatrix, Several, hermitian, known_rank, mH, mT

QRResult = type(np.linalg.qr(np.eye(1)))


class QR(Several):
    """q, r = qr(a).

    S. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions" (2010), for
    tall matrices; a wide one is [x, y] = q @ [u, v] with x = q @ u square, and y = x @ inv(u) @ v.
    The columns of q that r has no rows for are any basis of what is left: they have no derivative.
    Of complex matrices LAPACK makes the diagonal of r real, which fixes all phases.
    """

    of_complex = True
    text = "a, mode='reduced'"
    kind = QRResult
    names = ("q", "r")

    def of_matrix(self, builder: Builder, a: Any, params: dict[str, Any]) -> Any:
        mode = params.get("mode", "reduced")
        if mode == "r":
            return builder.call(runtime.upper_factor, (a,), {})
        if mode == "raw":
            return tuple(self.items(builder, builder.emit(self, [a], params)))
        return super().of_matrix(builder, a, params)

    def shapes(self, shape: values.Shape, params: dict[str, Any]) -> list[values.Shape]:
        *stack, m, n = shape
        k = smaller(m, n)
        if params.get("mode") == "raw":
            return [(*stack, n, m), (*stack, k)]
        inner = m if params.get("mode") == "complete" else k
        return [(*stack, m, inner), (*stack, inner, n)]

    def reverse(self, operation: Operation, y_bar: dict[int, Any]) -> list:
        q, r = self._factors(operation)
        return [adjoint_of(q, r, y_bar.get(0), y_bar.get(1), self._is_complete(operation))]

    def forward(self, operation: Operation, tangents: list) -> list:
        return tangents_of(*self._factors(operation), tangents[0], self._is_complete(operation))

    def _is_complete(self, operation: Operation) -> bool:
        return operation.params.get("mode") == "complete"

    def _factors(self, operation: Operation) -> list:
        if operation.params.get("mode") == "raw":
            raise DerivativeError(
                "S2S302",
                "a derivative of np.linalg.qr in mode 'raw'",
                origin=operation.result.builder.origin,
                why="its results are the reflections that LAPACK works with",
                help="use mode 'reduced'",
            )
        return self.items(operation.result.builder, operation.result)


def adjoint_of(q: Symbol, r: Symbol, q_bar: Any, r_bar: Any, complete: bool) -> Any:
    """The adjoint of q @ r; where they are complete, r has rows of zeros for some columns of q."""
    if not complete:
        return _qr_adjoint(q, r, q_bar, r_bar)
    found = np.diagonal(r, axis1=-2, axis2=-1)
    r_bar = None if r_bar is None else leading(r_bar, found, -2)
    return _qr_adjoint(leading(q, found), leading(r, found, -2), determined(q_bar, found), r_bar)


def tangents_of(q: Symbol, r: Symbol, a_dot: Symbol, complete: bool) -> list:
    """The tangents of q and r from that of their product."""
    if not complete:
        return list(_qr_tangent(q, r, a_dot))
    found = np.diagonal(r, axis1=-2, axis2=-1)
    q_dot, r_dot = _qr_tangent(leading(q, found), leading(r, found, -2), a_dot)
    return [
        padded(q_dot, q, found, -1, runtime.undetermined),
        padded(r_dot, r, found, -2, np.zeros_like),
    ]


class UpperFactor(OfMatrix):
    """r alone; its derivatives need q, which is computed with it."""

    of_complex = True

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return form.operation(np.linalg.qr, call.args, {"mode": form.constant("r")})

    def shape(self, shape: values.Shape) -> values.Shape:
        return (*shape[:-2], smaller(*shape[-2:]), shape[-1])

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        q, r = self._factors(operation)
        return [_qr_adjoint(q, r, None, y_bar)]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return _qr_tangent(*self._factors(operation), tangents[0])[1]

    def _factors(self, operation: Operation) -> tuple:
        (a,) = operation.operands
        known_rank(a)
        return tuple(a.builder.call(np.linalg.qr, (a,), {}))


def _square(r: Symbol) -> tuple[Symbol, Symbol]:
    """r as [u, v] with u square."""
    count = np.size(r, -2)
    return r[..., :count], r[..., count:]


def _qr_adjoint(q: Symbol, r: Symbol, q_bar: Any, r_bar: Any) -> Any:
    u, v = _square(r)
    inner, outer = [], []
    if q_bar is not None:
        inner.append(-(mH(q_bar) @ q))
        outer.append(q_bar)
    if r_bar is not None:
        u_bar, v_bar = _square(r_bar)
        inner += [u @ mH(u_bar), -(v_bar @ mH(v))]
        outer.append(q @ (v @ mH(v_bar)))
    middle = functools.reduce(operator.add, inner)
    outer.append(q @ hermitian(middle))
    x_bar = mH(np.linalg.solve(u, mH(functools.reduce(operator.add, outer))))
    if r_bar is None:
        return np.concatenate([x_bar, np.zeros_like(q @ v)], axis=-1)
    return np.concatenate([x_bar, q @ v_bar], axis=-1)


def _qr_tangent(q: Symbol, r: Symbol, a_dot: Symbol) -> tuple:
    u, _ = _square(r)
    x_dot = a_dot[..., : np.size(r, -2)]
    moved = mT(np.linalg.solve(mT(u), mT(x_dot)))
    inner = mH(q) @ moved
    turn = np.tril(inner, -1) - mH(np.tril(inner, -1))
    if values.is_complex(inner.fact):  # the diagonal of r stays real
        turn = turn + 1j * np.tril(np.triu(np.imag(inner)))
    return moved - q @ (inner - turn), mH(q) @ a_dot - turn @ r


register(QR(np.linalg.qr, "qr"))
register(UpperFactor(runtime.upper_factor, "qr"))
