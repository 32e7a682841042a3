"""Polynomials: values, products, derivatives, in powers and in the orthogonal families of NumPy.

A series sum(c[k] * p_k(x)) is linear in its coefficients, with the matrix that NumPy calls the
Vandermonde matrix of the family; its slope in x is the value of the series that `der` gives.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from s2s_ad import runtime
from s2s_ad.core import sizes, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite


class Series(Rule):
    """The value at x of the series with coefficients c, a vector.

    Args:
        slope: c -> the coefficients of the derivative.
        matrix: (builder, x, number of coefficients) -> the family's values at x.
        power: whether the coefficients come first, and the highest of them first.
    """

    of_complex = True

    def __init__(self, function: Callable, slope: Callable, matrix: Callable, *, power: bool):
        super().__init__(function, function.__name__)
        self.slope, self.matrix, self.power = slope, matrix, power

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        text = "p, x" if self.power else "x, c, tensor=True"
        given = support.bind_call(builder, self, text, args, kwargs)
        names = ("x", "p") if self.power else ("x", "c")
        x, c = (support.as_operand(builder, given[name]) for name in names)
        rank = support.known_rank(c, self.name)
        if rank == 0 and self.power:
            raise TypeError("iteration over a 0-d array")
        if rank == 0:
            c = builder.call(np.full, (1, c), {})
        if rank > 1 and (self.power or not static(given["tensor"], "tensor")):
            raise UnsupportedError(
                "S2S203", f"{self.name} of several series at once", help="evaluate one by one"
            )
        if rank > 1:  # each series, which is a column, at each x
            matrix = self.matrix(builder, support.strong(builder, x), support.length(c, 0))
            return np.tensordot(c, matrix, axes=(0, -1))
        return builder.emit(self, [x, c], {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x, c = operands
        if support.any_unknown(x):
            return support.unknown(x, c)
        kinds = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(kinds) else self.dtype(*kinds)
        return values.Array(dtype, values.shape_of(x))

    def dtype(self, x: np.dtype, c: np.dtype) -> np.dtype:
        arguments = (np.ones(2, x), np.ones(2, c))
        return self.function(*arguments[::-1] if self.power else arguments).dtype

    def _slope(self, operation: Operation) -> Any:
        x, c = operation.operands
        return c.builder.emit(self, [x, c.builder.call(self.slope, (c,), {})], {})

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        x, c = operation.operands
        builder = operation.result.builder
        x_bar = c_bar = None
        if operation.active[0]:
            x_bar = y_bar * support.conj(self._slope(operation))
            x_bar = builder.call(runtime.unbroadcast, (x_bar, x), {})
        if operation.active[1]:
            c_bar = self._of_coefficients(operation, y_bar)
            c_bar = builder.call(runtime.unbroadcast, (c_bar, c), {})
        return [x_bar, c_bar]

    def _of_coefficients(self, operation: Operation, y_bar: Any) -> Any:
        """The adjoint times the values of each member, summed over x."""
        (x, c), builder = operation.operands, operation.result.builder
        rank, count = support.known_rank(x, self.name), support.length(c, 0)
        whole = builder.call(runtime.broadcast_like, (y_bar, operation.result), {})
        if rank and self.power:
            items = (whole, support.conj(x))
            return builder.call(runtime.power_sums, items, {"count": count})
        matrix = support.conj(self.matrix(builder, x, count))
        return np.tensordot(whole, matrix, axes=rank) if rank else whole * matrix

    def forward(self, operation: Operation, tangents: list) -> Any:
        x = operation.operands[0]
        terms = [] if tangents[0] is None else [tangents[0] * self._slope(operation)]
        if tangents[1] is not None:
            terms.append(operation.result.builder.emit(self, [x, tangents[1]], {}))
        y_dot = functools.reduce(operator.add, terms)
        return support.cast(operation.result.builder, y_dot, operation.result)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x, c = operation.operands
        if not batched[1]:
            return batch.builder.emit(self, [x, c], {})
        rank = support.sample_rank(x, batched[0])
        matrix = self.matrix(batch.builder, x, support.length(c, 1))
        c = np.expand_dims(c, tuple(range(1, rank + 1))) if rank else c
        y = np.sum(matrix * c, axis=-1)
        like = x if batch.builder.may_be_complex(x) else c
        return support.cast(batch.builder, y, like)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return gast.Call(call.func, call.args[::-1] if self.power else call.args, [])


class PowerSums(Rule):
    """power_sums(items, x, count): linear in the items, with the powers of x as coefficients."""

    linear = (0,)
    of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), kwargs)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        kinds = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(kinds) else np.result_type(*kinds)
        count = params["count"]
        return values.Array(dtype, (count if isinstance(count, int) else values.fresh_dim(),))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        items, x = operation.operands
        y_bar = x.builder.call(runtime.broadcast_like, (y_bar, operation.result), {})
        bars = [None, None]
        if operation.active[0]:
            bars[0] = np.polyval(y_bar, support.conj(x))
        if operation.active[1]:
            slope = np.polyval(np.polyder(y_bar), support.conj(x))
            bars[1] = support.conj(items) * slope
        pairs = zip(bars, operation.operands, strict=True)
        return [
            None if bar is None else x.builder.call(runtime.unbroadcast, (bar, each), {})
            for bar, each in pairs
        ]

    def forward(self, operation: Operation, tangents: list) -> Any:
        (items, x), count = operation.operands, operation["count"]
        terms = []
        if tangents[0] is not None:
            operands = (tangents[0], x)
            terms.append(x.builder.call(runtime.power_sums, operands, operation.params))
        if tangents[1] is not None:
            operands = (items * tangents[1], x)
            sums = x.builder.call(runtime.power_sums, operands, operation.params)
            exponents = support.cast(x.builder, np.arange(count - 1, 0, -1, like=x), sums)
            terms.append(np.pad(sums[1:] * exponents, (0, 1)))
        return functools.reduce(operator.add, terms)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        items, x = (batch.spread(*pair) for pair in zip(operation.operands, batched, strict=True))
        terms = np.expand_dims(items, -1) * powers_of(batch.builder, x, operation["count"])
        total = np.sum(terms, axis=tuple(range(1, x.ndim)))
        return support.cast(batch.builder, total, items * x)  # np.vander is of float64


class Basis(Rule):
    """The values of each member of a family at each x: a new last axis, one place for each.

    Args:
        slope: (y, x, the last argument of the call) -> the derivative of each member.
        shift: by how much that argument is less than the number of members.
    """

    of_complex = True

    def __init__(self, function: Callable, text: str, slope: Callable, shift: int):
        super().__init__(function, function.__name__)
        self.text, self.slope, self.shift = text, slope, shift

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        x, count = support.bind_call(builder, self, self.text, args, kwargs).values()
        x = support.as_operand(builder, x)
        rank = support.known_rank(x, self.name)
        if rank != 1 and not self.shift:
            raise ValueError("x must be a one-dimensional array or sequence.")
        if rank == 0:  # NumPy takes a number for a vector
            x = builder.call(np.full, (1, x), {})
        count = support.length(x, 0) if count is None else count
        return builder.emit(self, [x], {"count": count})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x, count = operands[0], params["count"]
        if support.any_unknown(x):
            return support.unknown(x)
        dtype = values.strong_dtype(x)
        dtype = None if dtype is None else self.function(np.ones(1, dtype), 1).dtype
        size = sizes.of(count) if isinstance(count, int) else count.builder.size(count)
        last = values.fresh_dim() if size is None else values.dim_of_size(size + self.shift)
        return values.Array(dtype, (*x.shape, last))

    def _slopes(self, operation: Operation) -> Any:
        return self.slope(operation.result, operation["count"])

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        return [np.sum(y_bar * support.conj(self._slopes(operation)), axis=-1)]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return tangents[0][..., None] * self._slopes(operation)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x, count = operation.operands[0], operation["count"]
        if self.shift:
            return batch.builder.emit(self, [x], operation.params)
        return powers_of(batch.builder, x, count)  # np.vander takes one vector

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return gast.Call(call.func, [*call.args, call.keywords[0].value], [])


def powers_of(builder: Builder, x: Any, count: Any) -> Any:
    """The powers of x along a new last axis, the highest first."""
    if support.known_rank(x, "np.vander") == 1:
        return builder.call(np.vander, (x, count), {})
    if support.rank(x) == 0:
        return builder.call(np.vander, (builder.call(np.full, (1, x), {}), count), {})[0]
    sizes = support.lengths(x, range(x.ndim))
    return np.reshape(builder.call(np.vander, (np.ravel(x), count), {}), (*sizes, count))


def _power_slopes(y: Symbol, count: Any) -> Any:
    """count - 1 times the power that is one less, and so on; the last column is constant."""
    factors = np.arange(count - 1, 0, -1, like=y)
    return np.pad(y[..., 1:] * support.cast(y.builder, factors, y), ((0, 0), (0, 1)))


class Slope(Rule):
    """The coefficients of the derivative of a series: linear in those of the series."""

    of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        (c,) = support.bind_call(builder, self, "c", args, kwargs).values()
        return builder.emit(self, [support.as_operand(builder, c)], {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(operands[0])
        c = operands[0]
        return values.with_shape(c, (values.fresh_dim(), *c.shape[1:]))

    def _matrix(self, c: Symbol) -> Any:
        count = support.length(c, 0)
        return c.builder.call(self.function, (np.eye(count, dtype=c.dtype, like=c),), {})

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (c,) = operation.operands
        y_bar = c.builder.call(runtime.broadcast_like, (y_bar, operation.result), {})
        return [c.builder.call(runtime.unbroadcast, (np.dot(y_bar, self._matrix(c)), c), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return operation.result.builder.emit(self, tangents, {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        (c,) = operation.operands
        identity = np.eye(support.length(c, 1), dtype=c.dtype, like=c)
        matrix = batch.builder.call(self.function, (identity,), {})
        return np.matmul(c, matrix.T)


# ---- coefficients --------------------------------------------------------------------------------


def _polyder(p: Any, m: Any) -> Any:
    if not isinstance(p, Symbol):
        return np.polyder(p, static(m, "m of np.polyder"))
    if support.known_rank(p, "np.polyder") > 1:
        raise ValueError("np.polyder of an array of several axes")
    for _ in range(static(m, "m of np.polyder")):
        p = p[:-1] * np.arange(np.size(p, 0) - 1, 0, -1, like=p)
    return p


def _polyint(p: Symbol, m: Any, k: Any) -> Any:
    """k holds the constants, 0 where there are none."""
    m = static(m, "m of np.polyint")
    constants = [0.0] * m if k is None else k if isinstance(k, tuple | list) else [k] * m
    for each in constants:
        last = p.builder.call(np.full, (1, each), {})
        p = np.concatenate([p / np.arange(np.size(p, 0), 0, -1, like=p), last])
    return p


def _same_length(a: Symbol, b: Symbol) -> list:
    """Both with zeros in front, where the other is longer."""
    sizes = [support.length(each, 0) for each in (a, b)]
    if a.shape[0] == b.shape[0]:
        return [a, b]
    longer = np.maximum(*sizes)
    return [np.pad(x, (longer - n, 0)) for x, n in zip((a, b), sizes, strict=True)]


def _combined(function: Callable) -> Callable:
    def meaning(x: Symbol, a2: Any) -> Any:
        a, b = np.atleast_1d(x), np.atleast_1d(support.as_operand(x.builder, a2))
        return function(*_same_length(a, b))

    return meaning


def _polymul(x: Symbol, a2: Any) -> Any:
    """NumPy drops leading zeros first."""
    a, b = (np.atleast_1d(support.as_operand(x.builder, each)) for each in (x, a2))
    return np.convolve(np.trim_zeros(a, "f"), np.trim_zeros(b, "f"))


register(PowerSums(runtime.power_sums, "power_sums"))
register(Series(np.polyval, np.polyder, powers_of, power=True))
register(Basis(np.vander, "x, N=None", _power_slopes, 0))
composite(np.polyadd, "x, a2", _combined(operator.add))
composite(np.polyder, "p, m=1", _polyder)
composite(np.polyint, "p, m=1, k=None", _polyint)
composite(np.polymul, "x, a2", _polymul)
composite(np.polysub, "x, a2", _combined(operator.sub))


def _family(value: Callable, slope: Callable, basis: Callable) -> None:
    """The rows of one family: series, their derivatives, and its members."""

    def matrix(builder: Builder, x: Any, count: Any) -> Any:
        members = builder.call(basis, (x, count - 1), {})
        return members if support.rank(x) else members[0]

    def slopes(y: Symbol, degree: Any) -> Any:
        identity = np.eye(degree + 1, dtype=y.dtype, like=y)
        of_members = y.builder.call(slope, (identity,), {})
        return np.matmul(y[..., : np.size(of_members, 0)], of_members)

    register(Basis(basis, "x, deg", slopes, 1))
    register(Series(value, slope, matrix, power=False))
    register(Slope(slope, slope.__name__))


_family(chebyshev.chebval, chebyshev.chebder, chebyshev.chebvander)
_family(hermite.hermval, hermite.hermder, hermite.hermvander)
_family(hermite_e.hermeval, hermite_e.hermeder, hermite_e.hermevander)
_family(laguerre.lagval, laguerre.lagder, laguerre.lagvander)
_family(legendre.legval, legendre.legder, legendre.legvander)
_family(polynomial.polyval, polynomial.polyder, polynomial.polyvander)
