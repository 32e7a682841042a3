"""Unknowns that a library solves for: derivatives by the implicit function theorem.

Where the unknowns x solve condition(x, *fixed) = 0, and J is the Jacobian of the condition with
respect to x, a tangent of what is fixed gives J @ x_dot = -condition_dot, and an adjoint of x gives
that of the condition: J.T @ condition_bar = -x_bar. Where the library says that it did not come to
a solution the derivatives are nan; where J is singular NumPy raises LinAlgError, or they are not
finite. Where the library starts from makes no difference: its derivative is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callers import Caller, Library
from s2s_ad.core.program import Hint, Program
from s2s_ad.core.rule import Operation
from s2s_ad.diagnostics import DerivativeError
from s2s_ad.transforms.callers import along, derivative, in_dtype_of, transposed


class Implicit(Caller):
    """The unknowns that solve a condition; a second result says whether they do.

    Attributes:
        condition: the unknowns, then what else the user's function reads -> what is zero.
    """

    def __init__(
        self,
        library: Library,
        program: Program,
        given: int,
        condition: Program,
        count: int | None = None,
    ):
        super().__init__(library, program, given, count)
        self.condition = condition

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        adjoints: list[Any] = [None] * len(operation.operands)
        x_bar = y_bar.get(0) if isinstance(y_bar, dict) else y_bar
        places = [i for i, flag in enumerate(operation.active) if flag and i >= self.given]
        if x_bar is None or not places:
            return adjoints
        builder, values = self._at_solution(operation)
        jacobian = self._jacobian(builder, values)
        solved = x_bar / jacobian if jacobian_is_number(jacobian) else _solve(jacobian.T, x_bar)
        bar = builder.named(-self._if_solved(operation, solved), self._hint("_bar"))
        leaves = [1 + index - self.given for index in places]
        found = transposed(builder, self.condition, values, leaves, bar)
        for index, adjoint in zip(places, found, strict=True):
            adjoints[index] = in_dtype_of(adjoint, operation.operands[index])
        return adjoints

    def forward(self, operation: Operation, tangents: list) -> Any:
        fixed = tangents[self.given :]
        given = {1 + i: each for i, each in enumerate(fixed) if each is not None}
        if not given:
            return None
        builder, values = self._at_solution(operation)
        dot = builder.named(along(builder, self.condition, values, given), self._hint("_dot"))
        jacobian = self._jacobian(builder, values)
        solved = dot / jacobian if jacobian_is_number(jacobian) else _solve(jacobian, dot)
        x_dot = -self._if_solved(operation, solved)
        return x_dot if self.count is None else [x_dot, None]

    def _at_solution(self, operation: Operation) -> tuple[Builder, list]:
        """The arguments of the condition."""
        builder = operation.result.builder
        x = operation.result if self.count is None else builder.emit_item(operation.result, 0)
        return builder, [x, *operation.operands[self.given :]]

    def _jacobian(self, builder: Builder, values: list) -> Any:
        found = derivative(builder, self.condition, 0, values)
        hint = "slope" if jacobian_is_number(found) else "jacobian"
        return builder.named(found, Hint(hint, "derived"))

    def _if_solved(self, operation: Operation, value: Any) -> Any:
        """The value, which is nan where the library did not come to a solution."""
        if self.count is None:
            return value
        builder = operation.result.builder
        success = builder.emit_item(operation.result, 1)
        return value * builder.call(np.where, (success, 1.0, np.nan), {})

    def _hint(self, suffix: str) -> Hint:
        return Hint(self.condition.name + suffix, "derived")


def jacobian_is_number(jacobian: Any) -> bool:
    return not isinstance(jacobian, Symbol) or jacobian.ndim == 0


def _solve(jacobian: Any, right: Any) -> Any:
    if jacobian.ndim != 2:
        raise DerivativeError("S2S302", "the derivative of a solution of unknown rank")
    return np.linalg.solve(jacobian, right)
