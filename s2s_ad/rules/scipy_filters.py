"""scipy.ndimage's linear filters: three forms, each of which is the derivative of the others.

<y_bar, filtered(x, w)> is linear in y_bar, x and w. So the adjoint of x is `filter_adjoint(y_bar,
w)`, that of the weights `filter_weights_adjoint(x, y_bar)`, and the derivatives of these are again
of the three. Weights have the rank of x, and a batch of them is a loop over the samples.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.rules import support

#: what lies beyond the edges is such that a symmetric filter is a symmetric matrix
SYMMETRIC_EDGES = ("constant", "grid-constant", "grid-mirror", "grid-wrap", "reflect", "wrap")


class Form(Rule):
    """One of the three forms; `like` is the operand that the result has the shape of."""

    like = 0

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), kwargs)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return operands[self.like]

    def forward(self, operation: Operation, tangents: list) -> Any:
        terms = []
        for position in (0, 1):
            if tangents[position] is not None:
                operands = list(operation.operands)
                operands[position] = tangents[position]
                terms.append(self._moved(operation, position, operands))
        return functools.reduce(operator.add, terms) if terms else None

    def _moved(self, operation: Operation, position: int, operands: list) -> Any:
        params = {k: v for k, v in operation.params.items() if position or k != "cval"}
        return operation.result.builder.emit(self, operands, params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        operands, params = list(operation.operands), operation.params
        if not batched[-1] and self.like == 0 and "samples" not in params:
            operands[1] = np.expand_dims(operands[1], 0)  # the axis of the batch is not filtered
            return batch.builder.emit(self, operands, params)
        operands = [batch.spread(*pair) for pair in zip(operands, batched, strict=True)]
        return batch.builder.emit(
            self, operands, params | {"samples": params.get("samples", 0) + 1}
        )


class Filtered(Form):
    """filtered(x, weights)"""

    linear = (1,)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        x, weights = operation.operands
        y_bar = _whole(y_bar, operation.result)
        return [
            _adjoint(y_bar, weights, operation.params),
            _weights_adjoint(x, y_bar, weights, operation.params),
        ]


class FilterAdjoint(Form):
    """filter_adjoint(y_bar, weights)"""

    linear = (0, 1)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        seed, weights = operation.operands
        y_bar = _whole(y_bar, operation.result)
        return [
            _filtered(y_bar, weights, operation.params),
            _weights_adjoint(y_bar, seed, weights, operation.params),
        ]


class FilterWeightsAdjoint(Form):
    """filter_weights_adjoint(x, y_bar, weights), where the weights are there for their shape."""

    like = 2
    linear = (1,)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        x, seed, _ = operation.operands
        y_bar = _whole(y_bar, operation.result)
        return [
            _adjoint(seed, y_bar, operation.params),
            _filtered(x, y_bar, operation.params),
            None,
        ]


def _whole(y_bar: Any, y: Symbol) -> Any:
    return y.builder.call(runtime.broadcast_like, (y_bar, y), {})


def _filtered(x: Any, weights: Symbol, params: dict[str, Any]) -> Any:
    return weights.builder.call(runtime.filtered, (x, weights), params)


def _adjoint(y_bar: Any, weights: Symbol, params: dict[str, Any]) -> Any:
    params = {key: each for key, each in params.items() if key != "cval"}
    return weights.builder.call(runtime.filter_adjoint, (y_bar, weights), params)


def _weights_adjoint(x: Any, y_bar: Any, weights: Symbol, params: dict[str, Any]) -> Any:
    return weights.builder.call(runtime.filter_weights_adjoint, (x, y_bar, weights), params)


class Filter(Rule):
    """A linear filter as SciPy has it, for real numbers of a known type.

    Args:
        text: the signature, which begins with the input and, where it has weights, these.
        composed: what it is as sums over windows, for all else.
    """

    allocates = True
    out = "output"

    def __init__(self, function: Callable, text: str, composed: Callable):
        super().__init__(function, function.__name__)
        self.text, self.composed = text, composed

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, self.text, args, kwargs)
        support.refuse_given(builder, self.function, output=given.pop("output"))
        names = [each for each in ("input", "weights") if each in given]
        given |= {each: support.as_operand(builder, given[each]) for each in names}
        operands = [given[each] for each in names]
        if all(_is_real(builder.fact(each)) for each in operands):
            options = {key: static(each, key) for key, each in given.items() if key not in names}
            if self.is_plain(operands, options):
                return builder.emit(self, operands, support.given(options, self.text))
        return self.composed(**given)

    def is_plain(self, operands: list, options: dict[str, Any]) -> bool:
        """Whether the options are such that the rule serves them."""
        return options.get("origin", 0) == 0 and isinstance(options["mode"], str)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return operands[0]

    def axes(self, rank: int, params: dict[str, Any]) -> tuple[int, ...]:
        """The axes that are filtered."""
        if "axis" in support.signature(self.text).parameters:
            return (support.normal_axis(params.get("axis", -1), rank),)
        axes = params.get("axes")
        return tuple(range(rank)) if axes is None else support.normal_axes(axes, rank)

    def of_samples(self, rank: int, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters where a first axis is that of a batch."""
        axes = tuple(axis + 1 for axis in self.axes(rank, params))
        if "axis" in support.signature(self.text).parameters:
            return support.given({**params, "axis": axes[0] if axes[0] < rank else -1}, self.text)
        return {**params, "axes": axes}


def _is_real(fact: Any) -> bool:
    dtype = values.strong_dtype(fact)
    return bool(values.rank_of(fact)) and dtype is not None and dtype.kind == "f"


def _linear(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of the filter with zeros beyond the edges."""
    return {key: each for key, each in params.items() if key != "cval"}


class Weighted(Filter):
    """A filter by weights that are an array; `turned` says that it reads these backwards."""

    def __init__(self, function: Callable, text: str, composed: Callable, turned: bool):
        super().__init__(function, text, composed)
        self.turned = turned

    def is_plain(self, operands: list, options: dict[str, Any]) -> bool:
        count = len(self.axes(support.rank(operands[0]), options))
        return super().is_plain(operands, options) and support.rank(operands[1]) == count

    def form(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters of the forms."""
        own = {key: each for key, each in params.items() if key in ("mode", "cval")}
        return own | ({"shift": 1} if self.turned else {})

    def _others(self, rank: int, params: dict[str, Any]) -> tuple[int, ...]:
        """The axes that are not filtered, counted from the last one."""
        return tuple(each - rank for each in set(range(rank)) - set(self.axes(rank, params)))

    def _turned(self, weights: Any, count: int) -> Any:
        if not self.turned:
            return weights
        return np.flip(weights, axis=None if weights.ndim == count else tuple(range(-count, 0)))

    def kernel(self, weights: Any, rank: int, params: dict[str, Any]) -> Any:
        """The weights in the rank of the input, as the forms read them."""
        others = self._others(rank, params)
        weights = self._turned(weights, rank - len(others))
        return np.expand_dims(weights, others) if others else weights

    def weights_of(self, kernel: Any, rank: int, params: dict[str, Any]) -> Any:
        others = self._others(rank, params)
        kernel = np.squeeze(kernel, axis=others) if others else kernel
        return self._turned(kernel, rank - len(others))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (x, weights), params = operation.operands, operation.params
        rank, y_bar = x.ndim, _whole(y_bar, operation.result)
        kernel, found = self.kernel(weights, rank, params), [None, None]
        if operation.active[0]:
            found[0] = _adjoint(y_bar, kernel, self.form(params))
        if operation.active[1]:
            kernel_bar = _weights_adjoint(x, y_bar, kernel, self.form(params))
            found[1] = self.weights_of(kernel_bar, rank, params)
        return found

    def forward(self, operation: Operation, tangents: list) -> Any:
        (x, weights), params, builder = (
            operation.operands,
            operation.params,
            operation.result.builder,
        )
        x_dot, weights_dot = tangents
        terms = [] if x_dot is None else [builder.emit(self, [x_dot, weights], _linear(params))]
        terms += [] if weights_dot is None else [builder.emit(self, [x, weights_dot], params)]
        return functools.reduce(operator.add, terms)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        (x, weights), params = operation.operands, operation.params
        rank = support.sample_rank(x, batched[0])
        if not batched[1]:
            if not params.keys() & {"axis", "axes"} and len(self.axes(rank, params)) == rank > 1:
                return batch.builder.emit(self, [x, np.expand_dims(weights, 0)], params)
            return batch.builder.emit(self, [x, weights], self.of_samples(rank, params))
        x, weights = (batch.spread(*e) for e in zip(operation.operands, batched, strict=True))
        form = self.form(params) | {"samples": 1}
        return _filtered(x, self.kernel(weights, rank, params), form)


class Fixed(Filter):
    """A filter whose weights are known.

    Args:
        steps: of the axes and the options, for each axis that is filtered in turn the weights, as
            they are read, and what is beyond the edges.
    """

    linear = (0,)

    def __init__(self, function: Callable, text: str, composed: Callable, steps: Callable):
        super().__init__(function, text, composed)
        self.steps = steps

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        x, params = operation.operands[0], operation.params
        builder, y_bar = x.builder, _whole(y_bar, operation.result)
        options = {k: each.default for k, each in support.signature(self.text).parameters.items()}
        steps = list(self.steps(**(options | params | {"axes": self.axes(x.ndim, params)})))
        if all(edge in SYMMETRIC_EDGES and _is_symmetric(w) for _, w, edge in steps):
            return [builder.emit(self, [y_bar], _linear(params))]
        for axis, weights, edge in reversed(steps):
            shape = [1] * x.ndim
            shape[axis] = len(weights)
            numbers = builder.call(np.array, (np.reshape(weights, shape).tolist(),), {})
            kernel = support.cast(builder, numbers, x)
            form = {} if edge == "reflect" else {"mode": edge}
            y_bar = _adjoint(y_bar, kernel, form)
        return [y_bar]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return tangents[0].builder.emit(self, tangents, _linear(operation.params))

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        (x,) = operation.operands
        params = self.of_samples(support.sample_rank(x, True), operation.params)
        return batch.builder.emit(self, [x], params)


def _is_symmetric(weights: np.ndarray) -> bool:
    return len(weights) % 2 == 1 and np.array_equal(weights, weights[::-1])


register(Filtered(runtime.filtered, "filtered"))
register(FilterAdjoint(runtime.filter_adjoint, "filter_adjoint"))
register(FilterWeightsAdjoint(runtime.filter_weights_adjoint, "filter_weights_adjoint"))
