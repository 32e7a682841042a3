"""Integrals that a library computes: derivatives by the rule of Leibniz.

With respect to a limit it is what is integrated there; with respect to what else the function of
the user's reads it is the integral of the derivative, to the same tolerances.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.core.builder import Builder
from s2s_ad.core.callers import Caller, Library
from s2s_ad.core.program import Hint, Program
from s2s_ad.core.rule import Operation
from s2s_ad.diagnostics import DerivativeError
from s2s_ad.transforms.callers import targets, written
from s2s_ad.transforms.calls import without_effects
from s2s_ad.transforms.common import pair
from s2s_ad.transforms.gradients import cotangent_program, gradient, tangent_program


class Integral(Caller):
    """The integral of a function of the user's from the first operand to the second.

    The second result is an estimate of the error, which has no derivative.

    Attributes:
        numbers, arrays: what integrates functions that return numbers, and arrays.
    """

    def __init__(self, numbers: Library, arrays: Library, program: Program):
        self.numbers, self.arrays = numbers, arrays
        self.is_number = values.rank_of(program.fact(program.outputs()[0])) == 0
        super().__init__(numbers if self.is_number else arrays, program, 2, 2)

    def of(self, program: Program) -> Integral:
        """The integral of another function to the same tolerances."""
        return Integral(self.numbers, self.arrays, program)

    def infer(self, operands: list, params: dict[str, Any]) -> tree.Tree:
        error = values.Scalar(float)
        if self.is_number:
            value = self.library.facts(operands)[0]
        else:
            found = self.callee.infer([values.Scalar(float), *operands[2:]], {})
            inexact = found.dtype is not None and found.dtype.kind == "f"
            dtype = found.dtype if inexact else np.dtype(float)
            value = values.Array(dtype, values.shape_of(found))
        return tree.Tree(tuple, (0, 1), (value, error))

    def integrated(self, builder: Builder, operands: list) -> Any:
        """The integral, written; without the estimate of its error."""
        result = builder.emit(self, operands, {})
        return builder.named(builder.emit_item(result, 0), Hint("integral", "derived"))

    def forward(self, operation: Operation, tangents: list) -> Any:
        builder, operands = operation.result.builder, operation.operands
        terms = [
            sign * (self._height(builder, operands, end) * tangents[end])
            for end, sign in ((0, -1.0), (1, 1.0))
            if tangents[end] is not None
        ]
        given = {index - 1: tangents[index] for index in range(2, len(operands))}
        given = {leaf: dot for leaf, dot in given.items() if dot is not None}
        if given:
            made = tangent_program(self._quiet(), targets(self.program, list(given)))
            inner = self.of(made.with_(output=made.output.items[1]))
            terms.append(inner.integrated(builder, [*operands, *given.values()]))
        return [functools.reduce(operator.add, terms), np.nan]

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        builder, operands = operation.result.builder, operation.operands
        if 1 in y_bar:
            raise DerivativeError(
                "S2S302",
                f"a derivative of the error that {self.name} estimates",
                origin=builder.origin,
                help="differentiate the integral alone: quad(...)[0]",
            )
        adjoints: list[Any] = [None] * len(operands)
        for index, flag in enumerate(operation.active):
            if flag and index < 2:
                product = self._height(builder, operands, index) * y_bar[0]
                product = product if self.is_number else np.sum(product)
                adjoints[index] = product if index else -product
            elif flag:
                adjoints[index] = self._fixed_bar(builder, operands, index, y_bar[0])
        return adjoints

    def _fixed_bar(self, builder: Builder, operands: list, index: int, y_bar: Any) -> Any:
        """The adjoint of what the user's function reads: an integral of the same kind."""
        (wanted,) = targets(self.program, [index - 1])
        if self.is_number:
            slope = self.of(gradient(self._quiet(), wanted))
            return y_bar * slope.integrated(builder, operands)
        made = cotangent_program(self._quiet(), pair(wanted))
        inner = self.of(made.with_(output=made.output.items[1].items[0]))
        return inner.integrated(builder, [*operands, y_bar])

    def _height(self, builder: Builder, operands: list, end: int) -> Any:
        """What is integrated, at one of the limits."""
        return written(builder, self.program, [operands[end], *operands[2:]])

    def _quiet(self) -> Program:
        return without_effects(self.program)
