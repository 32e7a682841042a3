"""scipy.linalg: functions of matrices, by the Frechet derivative of their block-triangular form.

For f analytic, f([[a, e], [0, a]]) has f(a) twice on its diagonal and the derivative at a in the
direction e beside it (R. Mathias, "A chain rule for matrix functions and applications", 1996); the
adjoint of that derivative is the derivative at the conjugate transpose of a.
"""

from __future__ import annotations

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
from s2s_ad.rules.matrices import OfMatrix, as_matrix, in_stack, known_rank, mH
from s2s_ad.rules.shape_checks import check_equal, ends


def block(a: Symbol, e: Any) -> Symbol:
    """[[a, e], [0, a]]"""
    top, bottom = np.concatenate([a, e], axis=-1), np.concatenate([np.zeros_like(a), a], axis=-1)
    return np.concatenate([top, bottom], axis=-2)


def beside(x: Symbol, a: Symbol) -> Symbol:
    """The block of x beside the diagonal."""
    count = np.size(a, -1)
    return x[..., :count, count:]


class MatrixFunction(OfMatrix):
    """A function of matrices that is analytic; `text` names its parameters.

    Args:
        stays_real: whether the result of a real matrix is always real.
        of_stack: the helper that takes all matrices of a stack at once.
    """

    of_complex = True

    def __init__(
        self,
        function: Callable,
        text: str = "A",
        *,
        stays_real: bool = True,
        of_stack: Callable | None = None,
    ):
        super().__init__(function, function.__name__)
        self.text, self.stays_real, self.of_stack = text, stays_real, of_stack

    def options(self, params: dict[str, Any]) -> dict[str, Any]:
        return {key: each for key, each in params.items() if each is not None}

    def infer(self, operands: list, params: dict[str, Any]) -> Any:
        fact = super().infer(operands, params)
        if self.stays_real or not isinstance(fact, values.Array) or fact.dtype is None:
            return fact
        return fact if fact.dtype.kind == "c" else values.Array(None, fact.shape)

    def directed(self, a: Symbol, e: Any, params: dict[str, Any]) -> Symbol:
        """The derivative at a in the direction e."""
        known_rank(a)
        return beside(a.builder.emit(self, [block(a, e)], params), a)

    def check_real(self, operation: Operation) -> None:
        """Let the code raise where the result of a real matrix is complex: its derivatives are
        those of a real result."""
        y = operation.result
        if self.stays_real or not values.is_real(operation.operands[0].fact):
            return
        text = f"the result is complex: differentiate {self.name}(A.astype(complex))"
        raised = gast.Call(form.constant(TypeError), [form.constant(text)], [])
        test = gast.Call(form.constant(np.iscomplexobj), [form.name(y.name)], [])
        y.builder.effect(gast.If(test, [gast.Raise(raised, None)], []), {y.name: y})

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (a,) = operation.operands
        self.check_real(operation)
        return [support.cast(a.builder, self.directed(mH(a), y_bar, operation.params), a)]

    def forward(self, operation: Operation, tangents: list) -> Any:
        self.check_real(operation)
        y_dot = self.directed(operation.operands[0], tangents[0], operation.params)
        return support.cast(y_dot.builder, y_dot, operation.result)


class Exponential(MatrixFunction):
    """expm(a), whose derivative SciPy has."""

    def directed(self, a: Symbol, e: Any, params: dict[str, Any]) -> Symbol:
        known_rank(a)
        return a.builder.emit(FRECHET, [a, e], {"compute_expm": False})


class ExpmFrechet(Rule):
    """expm_frechet(a, e): expm(a), and its derivative in the direction e."""

    of_complex = True
    of_stack = staticmethod(runtime.expm_frechet_of_stack)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        text = "A, E, method=None, compute_expm=True, check_finite=True"
        params = support.bind_call(builder, self, text, args, kwargs)
        operands = [as_matrix(builder, self, params[each]) for each in "AE"]
        matrices = ends(*operands, axes=slice(-2, None))
        check_equal(*matrices, "expected A and E to be the same shape")
        if len(set(map(support.rank, operands))) > 1:
            operands = np.broadcast_arrays(*operands)
        directed = builder.emit(self, operands, {"compute_expm": False})
        if not static(params["compute_expm"], "compute_expm of scipy.linalg.expm_frechet"):
            return directed
        whole = builder.call(linalg.expm, (operands[0],), {})
        return support.cast(builder, whole, directed), directed

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(*operands)
        dtype = support.result_dtype(self.function, operands, **params)
        return values.Array(dtype, values.broadcast(each.shape for each in operands))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        a, e = operation.operands
        count = np.size(a, -1)
        known_rank(a)
        zeros = np.zeros_like(y_bar)
        whole_bar = np.concatenate(
            [np.concatenate([zeros, y_bar], axis=-1), np.concatenate([zeros, zeros], axis=-1)],
            axis=-2,
        )
        whole = a.builder.emit(self, [mH(block(a, e)), whole_bar], operation.params)
        a_bar = whole[..., :count, :count] + whole[..., count:, count:]
        pairs = ((a_bar, a), (beside(whole, a), e))
        return [a.builder.call(runtime.unbroadcast, pair, {}) for pair in pairs]

    def forward(self, operation: Operation, tangents: list) -> Any:
        a, e = operation.operands
        a_dot, e_dot = (
            np.zeros_like(primal) if tangent is None else tangent
            for primal, tangent in zip((a, e), tangents, strict=True)
        )
        known_rank(a)
        if tangents[0] is None:
            return a.builder.emit(self, [a, e_dot], operation.params)
        whole = a.builder.emit(self, [block(a, e), block(a_dot, e_dot)], operation.params)
        return beside(whole, a)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        operands = [batch.spread(*each) for each in zip(operation.operands, batched, strict=True)]
        return batch.builder.emit(self, operands, operation.params)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return in_stack(self, call, facts)


class SquareRoot(MatrixFunction):
    """y = sqrtm(a): y @ y_dot + y_dot @ y = a_dot."""

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        y = operation.result
        known_rank(y)
        self.check_real(operation)
        return [y.builder.call(linalg.solve_sylvester, (mH(y), mH(y), y_bar), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        y = operation.result
        known_rank(y)
        self.check_real(operation)
        return y.builder.call(linalg.solve_sylvester, (y, y, tangents[0]), {})


FRECHET = ExpmFrechet(linalg.expm_frechet, "expm_frechet")

register(Exponential(linalg.expm, of_stack=runtime.expm_of_stack))
register(FRECHET)
register(MatrixFunction(linalg.cosm, of_stack=runtime.cosm_of_stack))
register(MatrixFunction(linalg.coshm, of_stack=runtime.coshm_of_stack))
register(MatrixFunction(linalg.fractional_matrix_power, "A, t", stays_real=False))
register(MatrixFunction(linalg.logm, stays_real=False))
register(MatrixFunction(linalg.sinhm, of_stack=runtime.sinhm_of_stack))
register(MatrixFunction(linalg.sinm, of_stack=runtime.sinm_of_stack))
register(MatrixFunction(linalg.tanhm, of_stack=runtime.tanhm_of_stack))
register(MatrixFunction(linalg.tanm, of_stack=runtime.tanm_of_stack))
register(SquareRoot(linalg.sqrtm, stays_real=False))
