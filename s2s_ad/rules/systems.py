"""Systems of linear equations: y = solve(a, b), for matrices of which all or a part is read."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, describe, static
from s2s_ad.core.dependence import EVERYTHING, Dependence, Use, per_sample
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.diagnostics import ArgumentValueError, LengthError
from s2s_ad.rules import support
from s2s_ad.rules.matrices import as_matrix, in_stack, known_rank, mH, outer
from s2s_ad.rules.shape_checks import check_square
from s2s_ad.rules.symmetric import scaled_like, unscaled


class System(Rule):
    """y = solve(a, b), where b is one vector, or a matrix of columns (or a stack of these).

    The methods below tell subclasses apart: which system the adjoint solves, and what of a is read.
    """

    of_complex = True
    text = "a, b"
    #: parameters that are about memory and checks alone
    dropped: tuple[str, ...] = ()
    #: parameters that do not bear on the dtype of the result
    without_dtype: tuple[str, ...] = ()
    #: what it raises of a matrix that is not square
    not_square: type[Exception] = np.linalg.LinAlgError
    #: the helper that takes all systems of a stack at once
    of_stack: Callable | None = None

    def dependence(self, use: Use, position: int) -> Dependence:
        """In a stack each result depends on its own system."""
        stacks = {each[:-2] for each in use.shapes}
        lead = len(use.shapes[0]) - 2
        return per_sample(use.shapes[position], use.shape, lead) if len(stacks) == 1 else EVERYTHING

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, self.text, args, kwargs)
        a, b = (
            as_matrix(builder, self, params.pop("a")),
            support.as_operand(builder, params.pop("b")),
        )
        if support.rank(b) == 0:
            raise ArgumentValueError(
                "S2S203", f"{describe(self.function)} with a number for b", origin=builder.origin
            )
        self._check_lengths(builder, a, b)
        given = support.given({k: static(each, k) for k, each in params.items()}, self.text)
        given = {key: each for key, each in given.items() if key not in self.dropped}
        if support.rank(b) == 1 and (support.rank(a) or 0) > 2:
            return self.solved(builder, a, b[:, None], given)[..., 0]
        return self.solved(builder, a, b, given)

    def _check_lengths(self, builder: Builder, a: Symbol, b: Any) -> None:
        """SciPy takes a matrix of one number for one of any size."""
        of_a, of_b = support.shape(a), support.shape(b)
        if not of_a or not of_b:
            return
        rows = of_b[0] if len(of_b) == 1 else of_b[-2]
        what = f"{describe(self.function)}: b has as many rows as the matrix has"
        try:
            values.check_fit(of_a[-1], rows, what)
        except LengthError:
            check_square(a, self.function, self.not_square)  # what it looks at first
            raise

    def solved(self, builder: Builder, a: Symbol, b: Any, params: dict[str, Any]) -> Any:
        return builder.emit(self, [a, b], params)

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        """A multiple of what was solved before."""
        a, b = operands
        inner = unscaled(builder, b) if builder.derived else b
        dtypes = [values.strong_dtype(builder.fact(each)) for each in (inner, b)]
        if inner is b or dtypes[0] != dtypes[1]:
            return None
        known = builder.found(self.function, a, inner, **params)
        return None if known is None else scaled_like(builder, b, known)

    def adjoint(self, a: Symbol, y_bar: Any, params: dict[str, Any]) -> Any:
        """The adjoint of b."""
        return self.solved(a.builder, mH(a), y_bar, params)

    def of_matrix(self, a_bar: Any, params: dict[str, Any]) -> Any:
        """The adjoint of a, from that of the matrix that is the system's."""
        return a_bar

    def matrix(self, a: Any, params: dict[str, Any]) -> Any:
        """The matrix that is the system's."""
        return a

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        a, b = operands
        if support.any_unknown(a, b):
            return support.unknown(a, b)
        options = {key: each for key, each in params.items() if key not in self.without_dtype}
        dtype = support.result_dtype(self.function, operands, **options)
        if len(b.shape) == 1:
            return values.Array(dtype, a.shape[:-1])
        stack = values.broadcast((a.shape[:-2], b.shape[:-2]))
        return values.Array(dtype, (*stack, a.shape[-2], b.shape[-1]))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        a, b = operation.operands
        known_rank(a), known_rank(b)
        builder, params = operation.result.builder, operation.params
        b_bar = self.adjoint(a, y_bar, params)
        adjoints = [None, None]
        if operation.active[0]:
            a_bar = self.of_matrix(-outer(b_bar, operation.result), params)
            adjoints[0] = builder.call(runtime.unbroadcast, (a_bar, a), {})
        if operation.active[1]:
            adjoints[1] = builder.call(runtime.unbroadcast, (b_bar, b), {})
        return adjoints

    def forward(self, operation: Operation, tangents: list) -> Any:
        a, b = operation.operands
        known_rank(b)
        (a_dot, b_dot), y, params = tangents, operation.result, operation.params
        terms = [] if b_dot is None else [b_dot]
        terms += [] if a_dot is None else [-(self.matrix(a_dot, params) @ y)]
        y_dot = self.solved(y.builder, a, functools.reduce(operator.add, terms), params)
        return y.builder.call(runtime.broadcast_like, (y_dot, y), {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        pairs = list(zip(operation.operands, batched, strict=True))
        ranks = [support.sample_rank(*pair) for pair in pairs]
        solved: Callable = functools.partial(self.solved, batch.builder, params=operation.params)
        if ranks[1] > 1:
            return solved(*(support.align(*pair, max(ranks)) for pair in pairs))
        a, b = operation.operands
        if not batched[0]:
            return solved(a, b.T).T  # one factorisation serves all samples
        return solved(a, np.expand_dims(b, -1))[..., 0]

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return in_stack(self, call, facts)
