"""Unknowns that a library solves for: derivatives by the implicit function theorem.

Where the unknowns x solve condition(x, *fixed) = 0, and J is the Jacobian of the condition with
respect to x, a tangent of what is fixed gives J @ x_dot = -condition_dot, and an adjoint of x gives
that of the condition: J.T @ condition_bar = -x_bar. Where the library says that it did not come to
a solution the derivatives are nan; where J is singular NumPy raises LinAlgError, or they are not
finite. Where the library starts from makes no difference: its derivative is zero.

A condition that jumps may have a sign on each side and no zero between: a bracket narrows to the
jump, a minimum stands at a kink, and the theorem says nothing of these. So where a condition may
jump Newton's step from the solution is taken, and the derivatives are nan where it leads away.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.core import form
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callee import Callee, reached
from s2s_ad.core.callers import Caller, Library
from s2s_ad.core.program import Hint, Program
from s2s_ad.core.rule import Operation
from s2s_ad.core.values import is_inexact
from s2s_ad.diagnostics import DerivativeError
from s2s_ad.transforms.callers import along, derivative, in_dtype_of, transposed
from s2s_ad.transforms.calls import without_effects

Near = tuple[float, float]

#: see Implicit.near: of a root, and of a minimum, which libraries find less precisely
AT_ROOT: Near = (1e-6, 1e-8)
AT_MINIMUM: Near = (1e-2, 1e-3)


class Implicit(Caller):
    """The unknowns that solve a condition; a second result says whether they do.

    Attributes:
        condition: the unknowns, then what else the user's function reads -> what is zero.
        near: how far Newton's step may lead from a solution, as a part of it, and at least.
    """

    def __init__(
        self,
        library: Library,
        program: Program,
        given: int,
        condition: Program,
        near: Near,
        count: int | None = None,
    ):
        super().__init__(library, program, given, count)
        self.condition, self.near = condition, near

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        adjoints: list[Any] = [None] * len(operation.operands)
        x_bar = y_bar.get(0) if isinstance(y_bar, dict) else y_bar
        places = [i for i, flag in enumerate(operation.active) if flag and i >= self.given]
        if x_bar is None or not places:
            return adjoints
        builder, values = self._at_solution(operation)
        jacobian = self._jacobian(builder, values)
        solved = x_bar / jacobian if jacobian_is_number(jacobian) else _solve(jacobian.T, x_bar)
        jumps = may_jump(self.condition)
        solved = solved if jumps else self._if_solved(operation, solved)
        bar = builder.named(-solved, self._hint("_bar"))
        leaves = [1 + index - self.given for index in places]
        found = transposed(builder, self.condition, values, leaves, bar)
        if jumps:
            found = self._if_near(operation, values, jacobian, found)
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
        if may_jump(self.condition):
            (x_dot,) = self._if_near(operation, values, jacobian, [-solved])
        else:
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

    def _if_near(self, operation: Operation, values: list, jacobian: Any, found: list) -> list:
        """The values, nan where there is no zero: added, for a side of a branch may give none.

        It is a multiple of the solution, so that derivatives of these are nan, too.
        """
        builder = operation.result.builder
        test = self._is_near(builder, values, jacobian)
        if self.count is not None:
            success = builder.emit_item(operation.result, 1)
            test = builder.call(np.logical_and, (success, test), {})
        x = values[0] if jacobian_is_number(jacobian) else builder.call(np.sum, (values[0],), {})
        nothing = x * builder.call(np.where, (test, 0.0, np.nan), {})
        return [each + nothing for each in found]

    def _is_near(self, builder: Builder, values: list, jacobian: Any) -> Any:
        """Whether Newton's step from the solution is small."""
        residual = Callee(without_effects(self.condition)).call(builder, values)[0]
        residual = builder.named(residual, Hint("residual", "derived"))
        part, least = self.near
        x = values[0]
        if jacobian_is_number(jacobian):
            return abs(residual) <= abs(jacobian) * (part * abs(x) + least)
        step = builder.call(np.max, (abs(_solve(jacobian, residual)),), {})
        return step <= part * builder.call(np.max, (abs(x),), {}) + least

    def _hint(self, suffix: str) -> Hint:
        return Hint(self.condition.name + suffix, "derived")


def may_jump(program: Program) -> bool:
    """Whether something in a program, or in what it calls, moves in steps: a comparison, a sign."""
    inside = [block for each in reached([program]) for block in each.blocks]
    return any(
        isinstance(statement, form.Op) and _steps(block, statement)
        for block in (program, *inside)
        for statement in block.body
    )


def _steps(program: Program, statement: form.Op) -> bool:
    facts = [program.fact(each) for each in statement.operands]
    return (
        statement.rule.is_flat(facts)
        and not statement.rule.of_shape
        and any(is_inexact(each) is not False for each in facts)
    )


def jacobian_is_number(jacobian: Any) -> bool:
    return not isinstance(jacobian, Symbol) or jacobian.ndim == 0


def _solve(jacobian: Any, right: Any) -> Any:
    if jacobian.ndim != 2:
        raise DerivativeError("S2S302", "the derivative of a solution of unknown rank")
    return np.linalg.solve(jacobian, right)
