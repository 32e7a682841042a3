"""What the rules of linear algebra share: functions of matrices, triangles, transposes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, Symbol, describe, static
from s2s_ad.core.dependence import Dependence, Use, per_sample
from s2s_ad.core.program import Hint
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules import support


def mT(x: Any) -> Any:
    """Each matrix of a stack transposed."""
    return np.swapaxes(x, -1, -2)


def conj(x: Any) -> Any:
    """The conjugate, which a real array is itself."""
    return x if x.dtype is not None and x.dtype.kind != "c" else np.conj(x)


def mH(x: Any) -> Any:
    """Each matrix of a stack transposed and conjugated."""
    return mT(conj(x))


def rows(x: Symbol) -> Symbol:
    """The numbers of a vector (or of a stack of these), so that they scale the columns."""
    return x if known_rank(x) == 1 else x[..., None, :]


def columns(x: Symbol) -> Symbol:
    """The numbers of a vector (or of a stack of these), so that they scale the rows."""
    return x[..., None] if known_rank(x) > 1 else x[:, None]


def outer(a: Symbol, b: Symbol) -> Symbol:
    """The products of two vectors, or the sum of those of the columns of two matrices."""
    return np.outer(a, conj(b)) if known_rank(a) == 1 else a @ mH(b)


def lower_half(x: Any) -> Any:
    """The lower triangle, its diagonal halved."""
    return 0.5 * (np.tril(x) + np.tril(x, -1))


def upper_half(x: Any) -> Any:
    """The upper triangle, its diagonal halved."""
    return 0.5 * (np.triu(x) + np.triu(x, 1))


def hermitian(x: Any, lower: bool = True) -> Any:
    """The Hermitian matrix of which a function reads one triangle."""
    if values.is_complex(x.fact):  # of the diagonal the real part alone
        half = (lower_half if lower else upper_half)(x)
        return half + mH(half)
    if lower:
        return np.tril(x) + mH(np.tril(x, -1))
    return np.triu(x) + mH(np.triu(x, 1))


def onto_triangle(x_bar: Any, lower: bool = True) -> Any:
    """The adjoint of the triangle that is read, from that of the Hermitian matrix."""
    return (lower_half if lower else upper_half)(x_bar + mH(x_bar))


def known_rank(x: Any) -> int:
    """The rank, which the derivatives of linear algebra need."""
    rank = support.rank(x)
    if rank is None:
        raise support.CannotBatch
    return rank


def as_matrix(builder: Builder, rule: Rule, a: Any) -> Any:
    """The operand, a matrix or a stack of matrices."""
    a = support.as_operand(builder, a)
    rank = support.rank(a)
    if rank is not None and rank < 2:
        raise ArgumentValueError(
            "S2S203",
            f"{describe(rule.function)} of an array of rank {rank}",
            origin=builder.origin,
            help="it takes a matrix, or a stack of matrices",
        )
    return a


def in_stack(rule: Any, call: gast.Call, facts: Callable) -> gast.AST:
    """The call, by the helper `rule.of_stack` where an operand is a stack of matrices."""
    shapes = [getattr(facts(each), "shape", None) or () for each in call.args]
    if rule.of_stack is None or max(map(len, shapes)) < 3:
        return call
    known = inspect.signature(rule.of_stack).parameters
    if not all(each.arg in known for each in call.keywords):
        return call
    return gast.Call(form.constant(rule.of_stack), call.args, call.keywords)


class OfMatrix(Rule):
    """A function of one matrix, or of each matrix of a stack; `text` is its signature."""

    text = "a"
    #: the helper that takes all matrices of a stack at once
    of_stack: Callable | None = None

    def dependence(self, use: Use, position: int) -> Dependence:
        """In a stack each result depends on its own matrix."""
        return per_sample(use.shapes[position], use.shape, len(use.shapes[position]) - 2)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, self.text, args, kwargs)
        operand = as_matrix(builder, self, params.pop(next(iter(params))))
        params = {key: static(each, key) for key, each in params.items()}
        return self.of_matrix(builder, operand, self.options(params))

    def options(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters that the text of the call has to show."""
        return support.given(params, self.text)

    def of_matrix(self, builder: Builder, a: Any, params: dict[str, Any]) -> Any:
        return builder.emit(self, [a], params)

    def infer(self, operands: list, params: dict[str, Any]) -> Any:
        a = operands[0]
        if support.any_unknown(a):
            return support.unknown(a)
        dtype = support.result_dtype(self.function, operands, **params)
        return values.Array(dtype, self.shape(a.shape))

    def shape(self, shape: values.Shape) -> values.Shape:
        return shape

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        support.sample_rank(operation.operands[0], True)
        return batch.builder.emit(self, operation.operands, operation.params)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return in_stack(self, call, facts)


class Several(OfMatrix):
    """A function of one matrix with several results; `kind` is the class of their tuple, and
    `names` are what they are called where the user gives them no name.

    Its adjoint has those of the results that have one by their place, its tangent is a list.
    Of complex matrices vectors are known up to a phase: what depends on it has a derivative only
    where it is known how NumPy chooses it.
    """

    kind: type = tuple
    names: tuple[str, ...]
    count = 2

    def of_matrix(self, builder: Builder, a: Any, params: dict[str, Any]) -> Any:
        items = self.items(builder, builder.emit(self, [a], params))
        return self.kind(items) if self.kind is tuple else self.kind(*items)

    def items(self, builder: Builder, result: Symbol) -> list:
        return [
            builder.named(builder.emit_item(result, index), Hint(name, "derived"))
            for index, name in enumerate(self.names)
        ]

    def infer(self, operands: list, params: dict[str, Any]) -> tree.Tree:
        a = operands[0]
        if support.any_unknown(a):
            items = tuple(support.unknown(a) for _ in range(self.count))
        else:
            dtypes = support.result_dtypes(self.function, operands, self.count, **params)
            items = tuple(map(values.Array, dtypes, self.shapes(a.shape, params)))
        return tree.tuple_of(items)

    def shapes(self, shape: values.Shape, params: dict[str, Any]) -> list[values.Shape]:
        raise NotImplementedError
