"""scipy.linalg: the matrix equations of Sylvester, Lyapunov and Riccati, by implicit derivatives.

With s the solution of the adjoint equation the adjoints are products of s, x and the operands. Of a
Riccati equation the solution does not depend on the feedback that makes it optimal, so that this
stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np
from scipy import linalg

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.matrices import as_matrix, in_stack, known_rank, mH
from s2s_ad.rules.shape_checks import check_equal, ends


class Equation(Rule):
    """The solution of an equation between matrices.

    Args:
        position: of the operand that has its shape.
    """

    text = "a, b, q"
    position = 2
    of_complex = True
    #: the helper that takes all equations of a stack at once
    of_stack: Callable | None = None

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        operands = support.bind_call(builder, self, self.text, args, kwargs).values()
        return builder.emit(self, [as_matrix(builder, self, each) for each in operands], {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(*operands)
        dtypes = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(dtypes) else np.result_type(*dtypes, np.float32)
        if dtype is not None and any(each.kind in "iub" for each in dtypes):
            dtype = np.result_type(dtype, float)
        stack = values.broadcast(each.shape[:-2] for each in operands)
        return values.Array(dtype, (*stack, *operands[self.position].shape[-2:]))

    def solved(self, operation: Operation, *operands: Any) -> Symbol:
        return operation.result.builder.call(self.function, operands, {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        pairs = list(zip(operation.operands, batched, strict=True))
        rank = max(support.sample_rank(*pair) for pair in pairs)
        return batch.builder.emit(self, [support.align(*pair, rank) for pair in pairs], {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return in_stack(self, call, facts)


def only(operation: Operation, *adjoints: Callable[[], Any]) -> list:
    """The adjoints that are asked for, each like its operand."""
    builder = operation.result.builder

    def like(bar: Any, operand: Any) -> Any:
        bar = support.cast(builder, bar, operand)
        return builder.call(runtime.unbroadcast, (bar, operand), {})

    return [
        like(each(), operand) if wanted else None
        for each, operand, wanted in zip(
            adjoints, operation.operands, operation.active, strict=True
        )
    ]


def total(*terms: Any) -> Any:
    """The sum of the terms that are not None."""
    found = None
    for each in terms:
        if each is not None:
            found = each if found is None else found + each
    return found


def product(*factors: Any) -> Any:
    """The product; None where one of the factors is."""
    if any(each is None for each in factors):
        return None
    result = factors[0]
    for each in factors[1:]:
        result = result @ each
    return result


def minus(x: Any) -> Any:
    return None if x is None else -x


class Sylvester(Equation):
    """a @ x + x @ b = q; SciPy goes wrong where real and complex matrices meet."""

    of_stack = staticmethod(runtime.solve_sylvester_of_stack)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, self.text, args, kwargs)
        operands = [as_matrix(builder, self, each) for each in params.values()]
        complexes = [values.is_complex(builder.fact(each)) for each in operands]
        kinds = [values.strong_dtype(builder.fact(each)) for each in operands]
        if any(complexes) and not all(complexes) and not values.missing(kinds):
            whole = np.result_type(*kinds)
            operands = [support.as_dtype(builder, each, whole) for each in operands]
        return builder.emit(self, operands, {})

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (a, b, _), x = operation.operands, operation.result
        known_rank(a)
        s = self.solved(operation, mH(a), mH(b), y_bar)
        return only(operation, lambda: -(s @ mH(x)), lambda: -(mH(x) @ s), lambda: s)

    def forward(self, operation: Operation, tangents: list) -> Any:
        (a, b, _), x = operation.operands, operation.result
        a_dot, b_dot, q_dot = tangents
        moved = total(q_dot, minus(product(a_dot, x)), minus(product(x, b_dot)))
        return self.solved(operation, a, b, moved)


class DiscreteLyapunov(Equation):
    """a @ x @ mH(a) - x + q = 0."""

    text = "a, q"
    position = 1
    of_stack = staticmethod(runtime.solve_discrete_lyapunov_of_stack)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, "a, q, method=None", args, kwargs)
        a, q = params["a"], params["q"]
        check_equal(*ends(a, q, axes=slice(-2, None)), "a and q must have the same shape")
        return super().bind(builder, (a, q), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        fact = super().infer(operands, params)  # SciPy works in double precision
        if not isinstance(fact, values.Array) or fact.dtype is None:
            return fact
        return values.Array(np.result_type(fact.dtype, float), fact.shape)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (a, _), x = operation.operands, operation.result
        known_rank(a)
        s = self.solved(operation, mH(a), y_bar)
        return only(operation, lambda: s @ a @ mH(x) + mH(s) @ a @ x, lambda: s)

    def forward(self, operation: Operation, tangents: list) -> Any:
        (a, _), x = operation.operands, operation.result
        a_dot, q_dot = tangents
        moved = None if a_dot is None else a_dot @ x @ mH(a) + a @ x @ mH(a_dot)
        return self.solved(operation, a, total(q_dot, moved))


class Riccati(Equation):
    """x of mH(a) @ x + x @ a - x @ b @ inv(r) @ mH(b) @ x + q = 0, or of its discrete form."""

    text = "a, b, q, r"
    position = 2
    of_stack = staticmethod(runtime.solve_continuous_are_of_stack)

    def feedback(self, a: Symbol, b: Symbol, r: Symbol, x: Symbol) -> Symbol:
        return np.linalg.solve(r, mH(b) @ x)

    def adjoint(self, closed: Symbol, y_bar: Any) -> Symbol:
        return closed.builder.call(linalg.solve_continuous_lyapunov, (closed, -y_bar), {})

    def tangent(self, closed: Symbol, moved: Any) -> Symbol:
        return closed.builder.call(linalg.solve_continuous_lyapunov, (mH(closed), -moved), {})

    def weight(self, x: Symbol, closed: Symbol) -> Symbol:
        """What a change of the closed loop is multiplied with."""
        return x

    def _loop(self, operation: Operation) -> tuple:
        (a, b, _, r), x = operation.operands, operation.result
        known_rank(a)
        k = self.feedback(a, b, r, x)
        closed = a - b @ k
        return k, closed, self.weight(x, closed)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        k, closed, weight = self._loop(operation)
        s = self.adjoint(closed, y_bar)
        a_bar = weight @ (s + mH(s))
        return only(
            operation,
            lambda: a_bar,
            lambda: -(a_bar @ mH(k)),
            lambda: s,
            lambda: k @ s @ mH(k),
        )

    def forward(self, operation: Operation, tangents: list) -> Any:
        k, closed, weight = self._loop(operation)
        a_dot, b_dot, q_dot, r_dot = tangents
        closed_dot = total(a_dot, minus(product(b_dot, k)))
        half = product(mH(weight), closed_dot)
        sides = None if half is None else half + mH(half)
        return self.tangent(closed, total(q_dot, product(mH(k), r_dot, k), sides))


class DiscreteRiccati(Riccati):
    """x = mH(a) @ x @ a - mH(a) @ x @ b @ inv(r + mH(b) @ x @ b) @ mH(b) @ x @ a + q."""

    of_stack = staticmethod(runtime.solve_discrete_are_of_stack)

    def feedback(self, a: Symbol, b: Symbol, r: Symbol, x: Symbol) -> Symbol:
        return np.linalg.solve(r + mH(b) @ x @ b, mH(b) @ x @ a)

    def adjoint(self, closed: Symbol, y_bar: Any) -> Symbol:
        return closed.builder.call(linalg.solve_discrete_lyapunov, (closed, y_bar), {})

    def tangent(self, closed: Symbol, moved: Any) -> Symbol:
        return closed.builder.call(linalg.solve_discrete_lyapunov, (mH(closed), moved), {})

    def weight(self, x: Symbol, closed: Symbol) -> Symbol:
        return x @ closed


def _lyapunov(x: Symbol, q: Any) -> Any:
    return x.builder.call(linalg.solve_sylvester, (x, mH(x), q), {})


composite(linalg.solve_continuous_lyapunov, "x, q", _lyapunov)

register(DiscreteLyapunov(linalg.solve_discrete_lyapunov, "solve_discrete_lyapunov"))
register(DiscreteRiccati(linalg.solve_discrete_are, "solve_discrete_are"))
register(Riccati(linalg.solve_continuous_are, "solve_continuous_are"))
register(Sylvester(linalg.solve_sylvester, "solve_sylvester"))
