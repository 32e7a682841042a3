"""scipy.sparse: products with a matrix that the function captured, and linear systems."""

from __future__ import annotations

import math
from typing import Any

import gast
import numpy as np
import scipy.sparse.linalg

from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, describe, static
from s2s_ad.core.dependence import Dependence, Use, from_pairs
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Ragged, Rule
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.matrices import conj, outer
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
        kinds = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(kinds) else np.result_type(*kinds, float)
        x = values.Array(dtype, values.shape_of(operands[1]))
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
        b_bar = self._solved(conj(a).T, y_bar[0], operation)
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


class General(Iterative):
    """Iterative solvers of systems whose matrices need not be symmetric."""

    of_complex = True


class Restarted(General):
    """Iterative solvers that begin anew after some steps, with `restart`."""

    text = "A, b, x0=None, rtol=1e-05, atol=0.0, restart=None, maxiter=None"


class OfMatrix(Rule):
    """A linear function of an array, by a sparse matrix that is not differentiated.

    The matrix is a parameter: text reads the object where it stands.
    """

    of_complex = allocates = True
    linear = (0,)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        x = support.as_operand(builder, args[0])
        if support.rank(x) not in (1, 2):
            raise UnsupportedError(
                "S2S203",
                "a sparse matrix and an array that is neither a vector nor a matrix",
                origin=builder.origin,
                help="give example arguments, so that ranks are known",
            )
        return builder.emit(self, [x], kwargs)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        flipped = operation.params | {"transposed": not operation["transposed"]}
        call = operation.result.builder.emit
        if operation["matrix"].value.dtype.kind != "c":
            return [call(self, [y_bar], flipped)]
        return [support.conj(call(self, [support.conj(y_bar)], flipped))]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return operation.result.builder.emit(self, tangents, operation.params)

    def _dtype(self, x: values.AbstractValue, matrix: Any) -> np.dtype | None:
        kind = values.dtype_argument(x)
        return None if kind is None else np.result_type(matrix.dtype, kind)

    def _written(self, call: gast.Call) -> tuple[gast.AST, gast.AST, dict[str, Any]]:
        """The matrix or its transpose, the array, and the other parameters."""
        given = {each.arg: each.value for each in call.keywords}
        matrix, transposed = given.pop("matrix"), given.pop("transposed").value
        matrix = gast.Attribute(matrix, "T", gast.Load()) if transposed else matrix
        return matrix, call.args[0], given


def sparse_product(x: Any, *, matrix: Any, transposed: bool, left: bool) -> Any:
    """matrix @ x, or x @ matrix where x is on the left."""
    matrix = matrix.value.T if transposed else matrix.value
    return x @ matrix if left else matrix @ x


class SparseProduct(OfMatrix):
    """The adjoint is the product with the transpose, and so is a vector for each sample."""

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        matrix, (x,) = params["matrix"].value, operands
        rows, columns = matrix.shape[::-1] if params["transposed"] else matrix.shape
        shape = (*x.shape[:-1], columns) if params["left"] else (rows, *x.shape[1:])
        return values.Array(self._dtype(x, matrix), shape)

    def dependence(self, use: Use, position: int) -> Dependence:
        matrix = use.params["matrix"].value
        matrix = scipy.sparse.coo_array(matrix.T if use.params["transposed"] else matrix)
        rows, columns = matrix.coords
        shape = use.shapes[position]
        if use.params["left"]:
            line = np.arange(math.prod(shape[:-1]))[:, None]
            pairs = line * matrix.shape[1] + columns, line * matrix.shape[0] + rows
        else:
            count = math.prod(shape[1:])
            index = np.arange(count)[:, None]
            pairs = rows * count + index, columns * count + index
        return from_pairs(*(each.reshape(-1) for each in pairs), math.prod(use.shape))

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        """All rows in one product: of the matrix on the left that of the transposes."""
        (x,), params = operation.operands, operation.params
        left, vectors = params["left"], support.rank(x) == 2
        params = params | {"left": True, "transposed": params["transposed"] ^ (not left)}
        if vectors:
            return x.builder.emit(self, [x], params)
        x = x if left else np.swapaxes(x, 1, 2)
        y = x.builder.emit(self, [np.reshape(x, (-1, np.size(x, 2)))], params)
        y = np.reshape(y, (np.size(x, 0), np.size(x, 1), np.size(y, 1)))
        return y if left else np.swapaxes(y, 1, 2)

    def surface(self, call: gast.Call, facts: Any) -> gast.AST:
        matrix, x, given = self._written(call)
        left, right = (x, matrix) if given["left"].value else (matrix, x)
        return gast.BinOp(left, gast.MatMult(), right)


def sparse_solution(b: Any, *, matrix: Any, transposed: bool) -> Any:
    """The solution of a sparse system."""
    matrix = matrix.value.T if transposed else matrix.value
    return scipy.sparse.linalg.spsolve(matrix, b)


class SparseSolution(OfMatrix):
    """The adjoint solves the transposed system."""

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        (b,) = operands
        dtype = self._dtype(b, params["matrix"].value)
        return values.Array(dtype and np.result_type(dtype, np.float32), b.shape)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise Ragged  # SciPy factorises anew for each system

    def surface(self, call: gast.Call, facts: Any) -> gast.AST:
        matrix, b, _ = self._written(call)
        return gast.Call(form.constant(scipy.sparse.linalg.spsolve), [matrix, b], [])


PRODUCT = register(SparseProduct(sparse_product, "sparse_product"))
SOLUTION = register(SparseSolution(sparse_solution, "sparse_solution"))

LINEAR = scipy.sparse.linalg
for _function in (LINEAR.bicg, LINEAR.bicgstab, LINEAR.cgs):
    register(General(_function, _function.__name__))
register(Iterative(LINEAR.cg, "cg"))
register(Restarted(LINEAR.gmres, "gmres"))

SOLVE = "use spsolve, cg or gmres"
refuse(LINEAR.eigs, "its vectors begin with a draw", "use np.linalg.eig of the matrix")
refuse(LINEAR.eigsh, "its vectors begin with a draw", "use np.linalg.eigh of the matrix")
refuse(LINEAR.factorized, "it gives a function that holds a factorisation", SOLVE)
refuse(LINEAR.lsqr, "its result is a tuple of many estimates", "use np.linalg.lstsq")
refuse(LINEAR.splu, "it gives an object that holds a factorisation", SOLVE)
refuse(LINEAR.svds, "its vectors begin with a draw", "use np.linalg.svd of the matrix")
