"""Triangles and diagonals of matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import sizes, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.registry import METHODS, register
from s2s_ad.core.rule import Operation
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.elementwise import broadcast_source
from s2s_ad.rules.masks import Write
from s2s_ad.rules.structure import Structural, leading


class Triangle(Structural):
    """np.tril and np.triu of the last two axes: their own adjoints."""

    text = "x, k=0"
    view = False

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A vector stands for a square matrix with this row."""
        given = support.bind_call(builder, self, self.text, args, kwargs)
        x = support.as_operand(builder, given["x"])
        if support.rank(x) == 1:
            count = support.length(x, 0)
            x = np.broadcast_to(x, (count, count))
        return super().bind(builder, (x, given["k"]), {})

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        if x.ndim == 0:
            raise ArgumentValueError(
                "S2S203",
                f"np.{self.name} of a number",
                origin=x.builder.origin,
                help="it takes a matrix, or a stack of matrices",
            )
        return super().prepare(x, params)

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return operands[0]

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        return self.function(y_bar, **operation.params)

    def inside_mask(
        self, builder: Builder, operands: list, params: dict, write: Write, others: tuple
    ) -> Any:
        inner = write(operands[0], *others)
        same = values.same_shape(support.shape(inner), support.shape(operands[0]))
        return self.function(inner, **params) if same else None

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        support.sample_rank(operation.operands[0], True)
        return self.function(operation.operands[0], **operation.params)


class Diagonal(Structural):
    """np.diagonal(x, offset, axis1, axis2): the adjoint adds along the diagonal."""

    overlapping = True  # NumPy lets nobody write to it
    text = "x, offset=0, axis1=0, axis2=1"

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if support.any_unknown(x):
            return support.unknown(x)
        rank = len(x.shape)
        axes = support.normal_axes((params.get("axis1", 0), params.get("axis2", 1)), rank)
        rest = tuple(dim for i, dim in enumerate(x.shape) if i not in axes)
        lengths = [values.size_of_dim(x.shape[axis]) for axis in axes]
        square = params.get("offset", 0) == 0 and sizes.equals(*lengths)
        return values.with_shape(x, (*rest, x.shape[axes[0]] if square else values.fresh_dim()))

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        x = operation.operands[0]
        if x.ndim is None:
            raise support.CannotBatch
        axes = support.normal_axes(
            (operation.params.get("axis1", 0), operation.params.get("axis2", 1)), x.ndim
        )
        offset = operation.params.get("offset", 0)
        shown = y_bar if broadcast_source(x.builder, y_bar) is None else operation.result
        count = np.arange(support.length(shown, y_bar.ndim - 1), like=y_bar)
        places: list[Any] = [slice(None)] * x.ndim
        places[axes[0]] = count - offset if offset < 0 else count
        places[axes[1]] = count + offset if offset > 0 else count
        if x.ndim > 2:  # adjacent indices stay in place, others come first
            index = min(axes) if abs(axes[0] - axes[1]) == 1 else 0
            y_bar = np.moveaxis(y_bar, -1, index)
        zeros = np.zeros_like(x)
        return x.builder.call(runtime.index_add, (zeros, tuple(places), y_bar), {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        rank = support.sample_rank(operation.operands[0], True)
        axes = support.normal_axes(
            (operation.params.get("axis1", 0), operation.params.get("axis2", 1)), rank
        )
        shifted = {"axis1": axes[0] + 1, "axis2": axes[1] + 1}
        return batch.builder.call(
            self.function, (operation.operands[0],), operation.params | shifted
        )


class FromDiagonal(Structural):
    """np.diag(x, k) of a vector: zeros but for one diagonal."""

    text = "x, k=0"
    view = False
    moves = leaves_zeros = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, self.text, args, kwargs)
        x = support.as_operand(builder, given["x"])
        if support.known_rank(x, "np.diag") == 2:
            return np.diagonal(x, offset=given["k"])
        return super().bind(builder, args, kwargs)

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(operands[0])
        dim, more = operands[0].shape[0], abs(params.get("k", 0))
        size = values.dim_of_size(values.size_of_dim(dim) + more)
        return values.with_shape(operands[0], (size, size))

    def is_diagonal(self, params: Mapping[str, Any]) -> bool:
        return not params.get("k", 0)

    def symmetric_with(
        self, builder: Builder, operands: list, params: dict[str, Any]
    ) -> list | None:
        return None if params.get("k", 0) else []

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        part = np.diagonal(y_bar, offset=operation.params.get("k", 0))
        return y_bar.builder.call(runtime.unbroadcast, (part, operation.operands[0]), {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x, k = operation.operands[0], operation.params.get("k", 0)
        indices = np.arange(support.length(x, 1), like=x)
        size = support.length(x, 1) + abs(k)
        zeros = batch.builder.call(np.zeros, ((batch.size, size, size),), {"dtype": x.dtype})
        index = (slice(None), indices - min(k, 0), indices + max(k, 0))
        return batch.builder.call(runtime.index_set, (zeros, index, x), {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return leading(gast.Call(call.func, call.args, call.keywords))


def _trace(x: Symbol, offset: Any, axis1: Any, axis2: Any, dtype: Any, out: Any) -> Any:
    diagonal = np.diagonal(x, offset=offset, axis1=axis1, axis2=axis2)
    return np.sum(diagonal, axis=-1, dtype=dtype)


def _diagflat(x: Symbol, k: Any) -> Any:
    return np.diag(np.ravel(x), k)


register(FromDiagonal(np.diag, "diag"))
register(Diagonal(np.diagonal, "diagonal"))
register(Triangle(np.tril, "tril"))
register(Triangle(np.triu, "triu"))


composite(np.diagflat, "x, k=0", _diagflat)
composite(np.trace, "x, offset=0, axis1=0, axis2=1, dtype=None, out=None", _trace)


METHODS |= {"diagonal": np.diagonal, "trace": np.trace}
