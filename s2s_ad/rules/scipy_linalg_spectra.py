"""scipy.linalg: tridiagonal eigenvalues, null spaces, and what has no derivative."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from s2s_ad import runtime
from s2s_ad.core import tree, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Ragged
from s2s_ad.diagnostics import DerivativeError
from s2s_ad.rules import qr, support
from s2s_ad.rules.decompositions import determined, inverse_gaps, smaller
from s2s_ad.rules.matrices import OfMatrix, Several, columns, known_rank, mH, mT, rows
from s2s_ad.rules.unsupported import refuse


class EighTridiagonal(Several):
    """w, v = eigh_tridiagonal(d, e): those of the matrix with d on its diagonal and e beside it."""

    names = ("w", "v")

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        text = "d, e, eigvals_only=False, *, check_finite=True, tol=0.0, lapack_driver='auto'"
        params = support.bind_call(builder, self, text, args, kwargs)
        operands = [support.as_operand(builder, params[each]) for each in ("d", "e")]
        if len(set(map(support.rank, operands))) > 1:
            raise ValueError("d and e must have as many axes as each other")
        only = static(params["eigvals_only"], "eigvals_only of scipy.linalg.eigh_tridiagonal")
        found = self.items(builder, builder.emit(self, operands, {}))
        return found[0] if only else tuple(found)

    def infer(self, operands: list, params: dict[str, Any]) -> tree.Tree:
        d = operands[0]
        if support.any_unknown(d):
            return tree.Tree(tuple, (0, 1), (support.unknown(d), support.unknown(d)))
        dtypes = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(dtypes) else np.result_type(*dtypes)
        shapes = (d.shape, (*d.shape, d.shape[-1]))
        return tree.Tree(tuple, (0, 1), tuple(values.Array(dtype, shape) for shape in shapes))

    def reverse(self, operation: Operation, y_bar: dict[int, Any]) -> list:
        w, v = self.items(operation.result.builder, operation.result)
        terms = [v * rows(y_bar[0])] if 0 in y_bar else []
        if 1 in y_bar:
            terms.append(v @ (inverse_gaps(w) * (mT(v) @ y_bar[1])))
        left = functools.reduce(operator.add, terms)
        beside = left[..., :-1, :] * v[..., 1:, :] + left[..., 1:, :] * v[..., :-1, :]
        return [np.sum(left * v, axis=-1), np.sum(beside, axis=-1)]

    def forward(self, operation: Operation, tangents: list) -> list:
        w, v = self.items(operation.result.builder, operation.result)
        d_dot, e_dot = tangents
        terms = [] if d_dot is None else [columns(d_dot) * v]
        if e_dot is not None:
            zeros = np.zeros_like(v[..., :1, :])
            above, below = columns(e_dot) * v[..., 1:, :], columns(e_dot) * v[..., :-1, :]
            terms.append(np.concatenate([above, zeros], axis=-2))
            terms.append(np.concatenate([zeros, below], axis=-2))
        turned = mT(v) @ functools.reduce(operator.add, terms)
        return [np.diagonal(turned, axis1=-2, axis2=-1), v @ (inverse_gaps(w) * turned)]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        operands = [batch.spread(*each) for each in zip(operation.operands, batched, strict=True)]
        return batch.builder.emit(self, operands, {})


class RQ(Several):
    """r, q = rq(a): the QR decomposition of the transpose, the rows of a in reverse order."""

    text = "a, overwrite_a=False, lwork=None, mode='full', check_finite=True"
    names = ("r", "q")
    of_stack = staticmethod(runtime.rq_of_stack)

    def options(self, params: dict[str, Any]) -> dict[str, Any]:
        return {} if params["mode"] == "full" else {"mode": params["mode"]}

    def of_matrix(self, builder: Builder, a: Any, params: dict[str, Any]) -> Any:
        if params.get("mode") == "r":
            return super().of_matrix(builder, a, {})[0]
        return super().of_matrix(builder, a, params)

    def shapes(self, shape: values.Shape, params: dict[str, Any]) -> list[values.Shape]:
        *stack, m, n = shape
        inner = n if not params else smaller(m, n)
        return [(*stack, m, inner), (*stack, inner, n)]

    def _turned(self, r: Any, q: Any) -> tuple:
        """q and r of the other decomposition."""
        return (
            None if q is None else mT(q[..., ::-1, :]),
            None if r is None else mT(r[..., ::-1, ::-1]),
        )

    def reverse(self, operation: Operation, y_bar: dict[int, Any]) -> list:
        factors = self._turned(*self.items(operation.result.builder, operation.result))
        bars = self._turned(y_bar.get(0), y_bar.get(1))
        return [mT(qr.adjoint_of(*factors, *bars, not operation.params))[..., ::-1, :]]

    def forward(self, operation: Operation, tangents: list) -> list:
        factors = self._turned(*self.items(operation.result.builder, operation.result))
        turned = mT(tangents[0][..., ::-1, :])
        q_dot, r_dot = qr.tangents_of(*factors, turned, not operation.params)
        return [mT(r_dot)[..., ::-1, ::-1], mT(q_dot)[..., ::-1, :]]


class NullSpace(OfMatrix):
    """A basis of the null space: of more than one vector any basis is one, and none has a
    derivative; that of a single vector leaves the space along the pseudo-inverse of a.
    """

    text = "A, rcond=None, *, overwrite_a=False, check_finite=True, lapack_driver='gesdd'"

    def options(self, params: dict[str, Any]) -> dict[str, Any]:
        return {} if params["rcond"] is None else {"rcond": params["rcond"]}

    def infer(self, operands: list, params: dict[str, Any]) -> Any:
        a = operands[0]
        if support.any_unknown(a):
            return support.unknown(a)
        dtype = support.result_dtype(self.function, operands, **params)
        return values.Array(dtype, (*a.shape[:-2], a.shape[-1], values.fresh_dim()))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (a,), y = operation.operands, operation.result
        known_rank(a)
        y_bar = determined(y_bar, y[..., 0, :1])
        return [-(mH(np.linalg.pinv(a)) @ y_bar @ mH(y[..., :1]))]

    def forward(self, operation: Operation, tangents: list) -> Any:
        (a,), y = operation.operands, operation.result
        known_rank(a)
        return determined(-(np.linalg.pinv(a) @ (tangents[0] @ y)), y[..., 0, :1])

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise Ragged  # of how many vectors it is shows in each sample


class WithoutDerivative(Several):
    """A decomposition whose derivative depends on choices of the algorithm."""

    def __init__(self, function: Callable, text: str, why: str, help: str, names: tuple[str, ...]):
        super().__init__(function, function.__name__)
        self.text, self.why, self.help, self.names = text, why, help, names
        self.count = len(names)

    def shapes(self, shape: values.Shape, params: dict[str, Any]) -> list[values.Shape]:
        return [shape] * self.count

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        raise DerivativeError(
            "S2S302",
            f"a derivative of scipy.linalg.{self.name}",
            origin=operation.result.builder.origin,
            why=self.why,
            help=self.help,
        )

    forward = reverse


class Hessenberg(WithoutDerivative):
    """h, and q where it is asked for."""

    of_stack = staticmethod(runtime.hessenberg_of_stack)

    def of_matrix(self, builder: Builder, a: Symbol, params: dict[str, Any]) -> Any:
        given = {key: each for key, each in params.items() if key != "calc_q"}
        pair = super().of_matrix(builder, a, {**given, "calc_q": True})
        return pair if params.get("calc_q") else pair[0]


USE_EIGENVALUES = "use scipy.linalg.eigh for Hermitian matrices, np.linalg.eig for others"

register(EighTridiagonal(linalg.eigh_tridiagonal, "eigh_tridiagonal"))
register(
    Hessenberg(
        linalg.hessenberg,
        "a, calc_q=False, overwrite_a=False, check_finite=True",
        "it depends on the reflections that LAPACK works with",
        USE_EIGENVALUES,
        ("h", "q"),
    )
)
register(RQ(linalg.rq, "rq"))
register(NullSpace(linalg.null_space, "null_space"))
register(
    WithoutDerivative(
        linalg.schur,
        "a, output='real', lwork=None, overwrite_a=False, sort=None, check_finite=True",
        "the order of the eigenvalues, and the blocks of complex ones, are the algorithm's choice",
        USE_EIGENVALUES,
        ("t", "z"),
    )
)
refuse(
    linalg.funm,
    "its derivative is that of a function of which only values are given",
    "write it with w, v = np.linalg.eig(a): (v * f(w)) @ np.linalg.inv(v)",
)
refuse(linalg.rsf2csf, "a Schur form has no derivative", USE_EIGENVALUES)
