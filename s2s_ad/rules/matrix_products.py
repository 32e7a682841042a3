"""Products and rearrangements under np.linalg: powers, chains, tensor equations, vectors."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, describe, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.core.sizes import of as of_number
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.matrices import conj, mH, mT
from s2s_ad.rules.shape_checks import check_square


class MultiDot(Rule):
    """np.linalg.multi_dot(arrays): a product whose order of evaluation NumPy chooses by the sizes.

    The adjoint of one of the arrays is another such product, of all the others and y_bar.
    """

    of_complex = True

    lists = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        (arrays,) = support.bind_call(builder, self, "arrays", args, kwargs).values()
        if not isinstance(arrays, tuple | list) or len(arrays) < 2:
            raise ArgumentValueError(
                "S2S205",
                "np.linalg.multi_dot of something that is not a list of arrays",
                origin=builder.origin,
                help="give a list of at least two arrays",
            )
        return builder.emit(self, [support.as_operand(builder, each) for each in arrays], {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(*operands)
        dtypes = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(dtypes) else np.result_type(*dtypes)
        return values.Array(dtype, (*operands[0].shape[:-1], *operands[-1].shape[1:]))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        arrays, last = operation.operands, len(operation.operands) - 1
        is_row, is_column = (support.known_rank(arrays[i], self.name) == 1 for i in (0, last))
        rows = [arrays[0][None] if is_row else arrays[0], *arrays[1:]]
        rows[last] = rows[last][:, None] if is_column else rows[last]
        axes = tuple(i for i, flag in enumerate((is_row, is_column)) if flag)
        whole = np.expand_dims(y_bar, axes) if axes else y_bar
        adjoints: list = [None] * len(arrays)
        for i, active in enumerate(operation.active):
            if active:
                before, after = map(mH, rows[:i][::-1]), map(mH, rows[i + 1 :][::-1])
                a_bar = np.linalg.multi_dot([*before, whole, *after])
                a_bar = a_bar[0] if i == 0 and is_row else a_bar
                adjoints[i] = a_bar[:, 0] if i == last and is_column else a_bar
        return adjoints

    def forward(self, operation: Operation, tangents: list) -> Any:
        arrays = operation.operands
        terms = [
            np.linalg.multi_dot([*arrays[:i], tangent, *arrays[i + 1 :]])
            for i, tangent in enumerate(tangents)
            if tangent is not None
        ]
        return functools.reduce(operator.add, terms)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        """From that end where there is a vector, which keeps the products small."""
        arrays = list(operation.operands)
        ranks = [
            support.sample_rank(each, flag) for each, flag in zip(arrays, batched, strict=True)
        ]
        if ranks[0] == 1:
            arrays[0] = np.expand_dims(arrays[0], -2)
        if ranks[-1] == 1:
            arrays[-1] = np.expand_dims(arrays[-1], -1)
            product = functools.reduce(lambda done, each: each @ done, arrays[::-1])
        else:
            product = functools.reduce(operator.matmul, arrays)
        gone = tuple(axis for axis, rank in ((-2, ranks[0]), (-1, ranks[-1])) if rank == 1)
        return np.squeeze(product, axis=gone) if gone else product

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        arrays = gast.List(call.args, gast.Load())
        return form.operation(self.function, [arrays], {})


class Cross(Rule):
    """c = cross(a, b) of vectors with three elements: a_bar = b x c_bar, b_bar = c_bar x a."""

    of_complex = True
    linear = (0, 1)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, "x1, x2, axis=-1", args, kwargs)
        axis = static(params.pop("axis"), "the axis of np.linalg.cross")
        operands = [support.as_operand(builder, each) for each in params.values()]
        ranks = [support.known_rank(each, "np.linalg.cross") for each in operands]
        axis = support.normal_axis(axis, max(ranks)) - max(ranks)
        return builder.emit(self, operands, {} if axis == -1 else {"axis": axis})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        dtypes = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(dtypes) else np.result_type(*dtypes)
        return values.Array(dtype, values.broadcast(map(values.shape_of, operands)))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        builder, (a, b) = operation.result.builder, operation.operands
        products = ((conj(b), y_bar), (y_bar, conj(a)))
        return [
            builder.call(
                runtime.unbroadcast, (builder.emit(self, [*pair], operation.params), x), {}
            )
            if active
            else None
            for pair, x, active in zip(products, (a, b), operation.active, strict=True)
        ]

    def forward(self, operation: Operation, tangents: list) -> Any:
        builder, (a, b), (a_dot, b_dot) = operation.result.builder, operation.operands, tangents
        pairs = [(a_dot, b), (a, b_dot)]
        terms = [
            builder.emit(self, [*pair], operation.params)
            for pair in pairs
            if not values.missing(pair)
        ]
        return builder.call(
            runtime.broadcast_like, (functools.reduce(operator.add, terms), operation.result), {}
        )

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        operands = support.align_all(operation.operands, batched)
        return batch.builder.emit(self, operands, operation.params)


def _matrix_power(x: Symbol, n: Any) -> Any:
    """By squaring, as NumPy does it."""
    check_square(x, np.linalg.matrix_power)
    n = operator.index(static(n, "the exponent of np.linalg.matrix_power"))
    if n == 0:
        size = np.size(x, -1)
        one = x.builder.call(np.eye, (size,), {} if x.dtype is None else {"dtype": x.dtype})
        return x.builder.call(runtime.broadcast_like, (one, x), {})
    square = np.linalg.inv(x) if n < 0 else x
    n, power = abs(n), None
    if n == 3:
        return square @ square @ square  # from the left
    while n:
        n, odd = divmod(n, 2)
        if odd:
            power = square if power is None else power @ square
        square = square @ square if n else square
    return power


def _check_square(a: Symbol, ind: int, function: Callable) -> None:
    """Refuse an array that is no square matrix whose rows are its first `ind` axes."""
    rows, columns = (
        math.prod(map(values.size_of_dim, dims), start=of_number(1))
        for dims in (a.shape[:ind], a.shape[ind:])
    )
    what = f"{describe(function)} of an array that is no square matrix"
    values.check_sizes(rows, columns, what, np.linalg.LinAlgError)


def _tensorsolve(a: Symbol, b: Symbol, axes: Any) -> Any:
    axes = static(axes, "the axes of np.linalg.tensorsolve")
    rank = support.known_rank(a, "np.linalg.tensorsolve")
    rest = rank - support.known_rank(b, "np.linalg.tensorsolve")
    if axes is not None:
        moved = support.normal_axes(tuple(axes), rank)
        a = np.transpose(a, (*(i for i in range(rank) if i not in moved), *moved))
    shape = tuple(support.lengths(a, range(rank - rest, rank)))
    count = support.product(list(shape))
    _check_square(a, rank - rest, np.linalg.tensorsolve)
    return np.reshape(np.linalg.solve(np.reshape(a, (count, count)), np.ravel(b)), shape)


def _tensorinv(a: Symbol, ind: Any) -> Any:
    ind = operator.index(static(ind, "ind of np.linalg.tensorinv"))
    rank = support.known_rank(a, "np.linalg.tensorinv")
    if rank == 0 or ind < 1:
        raise ValueError("np.linalg.tensorinv needs an array with axes, and ind of at least 1")
    sizes = support.lengths(a, range(rank))
    count = support.product(sizes[ind:])
    _check_square(a, ind, np.linalg.tensorinv)
    inverse = np.linalg.inv(np.reshape(a, (count, count)))
    return np.reshape(inverse, (*sizes[ind:], *sizes[:ind]))


def _outer(x1: Any, x2: Any) -> Any:
    if any(support.known_rank(each, "np.linalg.outer") != 1 for each in (x1, x2)):
        raise ValueError("np.linalg.outer takes two vectors; np.outer takes any arrays")
    return np.outer(x1, x2)


def _trace(x: Symbol, offset: Any, dtype: Any) -> Any:
    diagonal = np.diagonal(x, offset, -2, -1)
    return np.sum(diagonal, axis=-1) if dtype is None else np.sum(diagonal.astype(dtype), axis=-1)


composite(np.linalg.diagonal, "x, offset=0", lambda x, offset: np.diagonal(x, offset, -2, -1))
composite(np.linalg.matmul, "x1, x2", lambda x1, x2: x1 @ x2)
composite(np.linalg.matrix_power, "x, n", _matrix_power)
composite(np.linalg.matrix_transpose, "x", mT)
composite(np.linalg.outer, "x1, x2", _outer)
composite(
    np.linalg.tensordot,
    "x1, x2, axes=2",
    lambda x1, x2, axes: np.tensordot(x1, x2, axes),
)
composite(np.linalg.tensorinv, "a, ind=2", _tensorinv)
composite(np.linalg.tensorsolve, "a, b, axes=None", _tensorsolve)
composite(np.linalg.trace, "x, offset=0, dtype=None", _trace)
composite(
    np.linalg.vecdot,
    "x1, x2, axis=-1",
    lambda x1, x2, axis: np.vecdot(x1, x2, axis=axis),
)

register(Cross(np.linalg.cross, "cross"))
register(MultiDot(np.linalg.multi_dot, "multi_dot"))
