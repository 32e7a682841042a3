"""Functions along one axis that keep its length: running sums, sorting, and differences."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import METHODS, Operation, Rule, register
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite


class Scan(Rule):
    """A function of an array and an axis, of which None stands for the flattened array.

    Args:
        axis: the axis where none is given.
        options: keywords that change how the result is found and not what it is.
    """

    def __init__(self, function: Any, axis: int | None, options: str = ""):
        super().__init__(function, function.__name__)
        self.text = f"x, axis={axis}{options}"

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, self.text, args, kwargs)
        x = support.as_operand(builder, params.pop("x"))
        params = support.static_params(params, self)
        axis = params.pop("axis")
        if not isinstance(x, Symbol):
            x = builder.call(np.array, (x,), {})
        if axis is None:
            x, axis = np.ravel(x), 0
        axis = operator.index(axis) if x.ndim is None else support.normal_axis(axis, x.ndim)
        return builder.emit(self, [x], {"axis": axis} | support.given(params, self.text))

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if support.any_unknown(x):
            return values.Unknown() if self.flat else support.unknown(x)
        return values.Array(support.result_dtype(self.function, operands), x.shape)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        axis = support.normal_axis(operation["axis"], support.sample_rank(x, True)) + 1
        return batch.builder.emit(self, [x], operation.params | {"axis": axis})


class RunningSum(Scan):
    """np.cumsum: linear; its adjoint is the running sum from the other end."""

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        axis = operation["axis"]
        return [np.flip(np.cumsum(np.flip(y_bar, axis=axis), axis=axis), axis=axis)]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return np.cumsum(tangents[0], **operation.params)


class Sort(Scan):
    """np.sort: what np.argsort takes from x; the adjoint goes where each element came from."""

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        order = np.argsort(operation.operands[0], **operation.params)
        places = np.argsort(order, **operation.params)
        return [np.take_along_axis(y_bar, places, axis=operation["axis"])]

    def forward(self, operation: Operation, tangents: list) -> Any:
        order = np.argsort(operation.operands[0], **operation.params)
        return np.take_along_axis(tangents[0], order, axis=operation["axis"])


class ArgSort(Scan):
    """np.argsort: integers, which move in steps."""

    flat = True


def _diff(x: Symbol, n: Any, axis: Any) -> Any:
    """Differences of neighbours, n times over."""
    rank = support.known_rank(x, "np.diff")
    n, axis = static((n, axis), "n and axis of np.diff")
    if n < 0:
        raise ArgumentValueError("S2S203", f"np.diff with n={n}", origin=x.builder.origin)
    lead = (slice(None),) * support.normal_axis(axis, rank)
    change = operator.ne if values.is_dtype(x.dtype, bool) else operator.sub
    for _ in range(n):
        x = change(x[_index(lead, slice(1, None))], x[_index(lead, slice(None, -1))])
    return x


def _index(lead: tuple, last: slice) -> Any:
    return (*lead, last) if lead else last


SORTING = ", kind=None, stable=None"

register(ArgSort(np.argsort, -1, SORTING))
register(RunningSum(np.cumsum, None))
register(Sort(np.sort, -1, SORTING))

composite(np.diff, "x, n=1, axis=-1", _diff)

METHODS |= {"argsort": np.argsort, "cumsum": np.cumsum}
