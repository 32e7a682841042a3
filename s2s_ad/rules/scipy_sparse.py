"""scipy.sparse.linalg: linear systems that are solved step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse.linalg

from s2s_ad.core import tree, values
from s2s_ad.core.builder import Builder, describe, static
from s2s_ad.core.registry import Operation, Ragged, Rule, register
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.matrices import outer
from s2s_ad.rules.unsupported import refuse


class Iterative(Rule):
    """x, info = cg(A, b): the adjoint solves for the transposed matrix, in the same way.

    Where `info` says that x is no solution, the derivatives are nan.
    """

    count = 2
    text = "A, b, x0=None, rtol=1e-05, atol=0.0, maxiter=None"

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, self.text, args, kwargs)
        a, b = (support.as_operand(builder, params.pop(each)) for each in "Ab")
        options = support.given({k: static(each, k) for k, each in params.items()}, self.text)
        if "x0" in options or support.rank(a) != 2 or support.rank(b) != 1:
            raise UnsupportedError(
                "S2S203",
                f"{describe(self.function)} of other than a matrix and a vector, or with x0=",
                origin=builder.origin,
                help="give a matrix, and example arguments, so that ranks are known",
            )
        result = builder.emit(self, [a, b], options)
        return tuple(builder.emit_item(result, index) for index in (0, 1))

    def infer(self, operands: list, params: dict[str, Any]) -> tree.Tree:
        x = values.Array(np.dtype(float), values.shape_of(operands[1]))
        return tree.Tree(tuple, (0, 1), (x, values.Scalar(int)))

    def _solved(self, a: Any, b: Any, operation: Operation) -> Any:
        """The solution of a system, nan where it or the one before was not found."""
        builder = operation.result.builder
        result = builder.emit(self, [a, b], operation.params)
        x, info = (builder.emit_item(result, index) for index in (0, 1))
        before = builder.emit_item(operation.result, 1)
        found = np.logical_and(before == 0, info == 0)
        return x * builder.call(np.where, (found, 1.0, np.nan), {})

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        a = operation.operands[0]
        b_bar = self._solved(a.T, y_bar[0], operation)
        x = operation.result.builder.emit_item(operation.result, 0)
        a_bar = -outer(b_bar, x) if operation.active[0] else None
        return [a_bar, b_bar if operation.active[1] else None]

    def forward(self, operation: Operation, tangents: list) -> Any:
        (a_dot, b_dot), x = tangents, operation.result.builder.emit_item(operation.result, 0)
        right = -(a_dot @ x) if b_dot is None else b_dot
        if a_dot is not None and b_dot is not None:
            right = b_dot - a_dot @ x
        return [self._solved(operation.operands[0], right, operation), None]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise Ragged  # the samples take as many steps as each of them needs


class Restarted(Iterative):
    """The same with one more option."""

    text = "A, b, x0=None, rtol=1e-05, atol=0.0, restart=None, maxiter=None"


LINEAR = scipy.sparse.linalg
for _function in (LINEAR.bicg, LINEAR.bicgstab, LINEAR.cg, LINEAR.cgs):
    register(Iterative(_function, _function.__name__))
register(Restarted(LINEAR.gmres, "gmres"))

SOLVE = "use spsolve, cg or gmres"
refuse(LINEAR.eigs, "its vectors begin with a draw", "use np.linalg.eig of the matrix")
refuse(LINEAR.eigsh, "its vectors begin with a draw", "use np.linalg.eigh of the matrix")
refuse(LINEAR.factorized, "it gives a function that holds a factorisation", SOLVE)
refuse(LINEAR.lsqr, "its result is a tuple of many estimates", "use np.linalg.lstsq")
refuse(LINEAR.splu, "it gives an object that holds a factorisation", SOLVE)
refuse(LINEAR.svds, "its vectors begin with a draw", "use np.linalg.svd of the matrix")
