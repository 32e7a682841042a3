"""matmul, dot, inner, outer and tensordot: contractions where the ranks are known."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder
from s2s_ad.core.registry import METHODS, register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules import support, ufunc_calls
from s2s_ad.rules.specifications import parts


class Product(Rule):
    """matmul, dot, inner, outer, tensordot: a contraction where the ranks are known."""

    in_c_order = "always"

    def __init__(self, function: Callable, name: str, text: str = "a, b"):
        super().__init__(function, name)
        self.text = text
        self.ufunc = function if isinstance(function, np.ufunc) else None

    of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        kwargs, options = ufunc_calls.options_of(kwargs) if self.ufunc else (kwargs, None)
        arguments = support.bind_call(builder, self, self.text, args, kwargs)
        a, b = (support.as_operand(builder, arguments.pop(each)) for each in "ab")
        if options is not None:
            a, b = ufunc_calls.prepared(builder, self, [a, b], options)
        params = support.static_params(arguments, self)
        if support.rank(a) is None or support.rank(b) is None:
            return builder.emit(self, [a, b], support.given(params, self.text))
        a, b = (support.strong(builder, each) for each in (a, b))
        if self.name == "outer":
            a, b = (each if support.rank(each) == 1 else np.ravel(each) for each in (a, b))
        elif self.name == "matmul" and 0 in (support.rank(a), support.rank(b)):
            raise ArgumentValueError(
                "S2S203", "matmul of a number", origin=builder.origin, help="write a * b"
            )
        spec = runtime.product_spec(self.name, support.rank(a), support.rank(b), **params)
        _check_lengths(spec, a, b)
        return builder.call(runtime.contract, (spec, a, b), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return support.unknown(*operands)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        builder = operation.result.builder
        return [
            builder.call(
                runtime.product_adjoint,
                (y_bar, *_with_conjugate(operation.operands, 1 - position)),
                {"name": self.name, "position": position} | operation.params,
            )
            if operation.active[position]
            else None
            for position in (0, 1)
        ]

    def forward(self, operation: Operation, tangents: list) -> Any:
        x, w = operation.operands
        pairs = [(tangents[0], w), (x, tangents[1])]
        terms = [
            operation.result.builder.call(self.function, pair, operation.params)
            for pair, tangent in zip(pairs, tangents, strict=True)
            if tangent is not None
        ]
        return functools.reduce(operator.add, terms) if terms else None

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise support.CannotBatch


def _with_conjugate(operands: list, index: int) -> list:
    return [support.conj(each) if i == index else each for i, each in enumerate(operands)]


def _check_lengths(spec: str, a: Any, b: Any) -> None:
    """Products sum over axes of equal length: unlike einsum's, theirs do not stretch."""
    left, right, out = parts(spec)
    dims = dict(zip(left, support.shape(a), strict=True))
    for letter, dim in zip(right, support.shape(b), strict=True):
        both = (dim, dims.get(letter, dim))
        if letter not in out and 1 in both and any(map(values.known_not_one, both)):
            values.check_fit(*both, "axes that are summed over have different lengths")


class TensorDot(Product):
    """np.tensordot: what has no axes is an array, of the others a number."""

    gives_array = True


class ProductAdjoint(Rule):
    """The adjoint of a product whose ranks are not known: bilinear in y_bar and the other."""

    of_complex = view = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), kwargs)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.as_inexact(operands[1 + params["position"]])

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        """<z, adjoint(w, other)> is <w, product(z, other)>: what is asked for is known already."""
        builder, params = operation.result.builder, dict(operation.params)
        weights, *pair = operation.operands
        position = params.pop("position")
        pair[position] = y_bar
        name, adjoints = params.pop("name"), [None, None, None]
        if operation.active[0]:
            product = builder.call(getattr(np, name), pair, params)
            adjoints[0] = builder.call(runtime.unbroadcast, (product, weights), {})
        if operation.active[2 - position]:
            given = {"name": name, "position": 1 - position} | params
            adjoints[2 - position] = builder.call(self.function, (weights, *pair), given)
        return adjoints

    def forward(self, operation: Operation, tangents: list) -> Any:
        y_bar, *pair = operation.operands
        other = 1 - operation["position"]
        choices = []
        if tangents[0] is not None:
            choices.append((tangents[0], *pair))
        if tangents[1 + other] is not None:
            changed = list(pair)
            changed[other] = tangents[1 + other]
            choices.append((y_bar, *changed))
        builder, params = operation.result.builder, operation.params
        terms = [builder.call(self.function, each, params) for each in choices]
        return functools.reduce(operator.add, terms) if terms else None

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise support.CannotBatch

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        args = [*call.args, *(each.value for each in call.keywords)]
        return gast.Call(func=call.func, args=args, keywords=[])


register(ProductAdjoint(runtime.product_adjoint, "product_adjoint"))
register(Product(np.dot, "dot"))
register(Product(np.inner, "inner"))
register(Product(np.matmul, "matmul"))
register(Product(np.outer, "outer"))
register(TensorDot(np.tensordot, "tensordot", "a, b, axes=2"))
register(Product(operator.matmul, "matmul"))

METHODS["dot"] = np.dot
