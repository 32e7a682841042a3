"""Whole arrays compared: np.allclose, np.array_equal, np.array_equiv."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.registry import register
from s2s_ad.core.rule import CannotBatch, Operation, Rule
from s2s_ad.rules import support


class WholeComparison(Rule):
    """A truth about two arrays.

    Args:
        elements: the comparison of elements, with the options of the whole.
        same_shape: whether arrays of different shapes are different.
    """

    flat = True

    def __init__(self, function: Callable, text: str, elements: Callable, *, same_shape: bool):
        super().__init__(function, function.__name__)
        self.text, self.elements, self.same_shape = text, elements, same_shape

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, self.text, args, kwargs)
        operands = [support.as_operand(builder, given.pop(each)) for each in ("a", "b")]
        params = support.given(support.static_params(given, self), self.text)
        if not any(isinstance(each, Symbol) for each in operands):
            return self.function(*operands, **params)
        ranks = [support.rank(each) for each in operands]
        if self.same_shape and None not in ranks and ranks[0] != ranks[1]:
            return False
        return builder.emit(self, operands, params)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Scalar(bool)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        """Where the elements of the samples are certain to be comparable one by one."""
        pairs = list(zip(operation.operands, batched, strict=True))
        if None in map(support.rank, operation.operands):
            raise CannotBatch
        shapes = [support.shape(x)[1:] if flag else support.shape(x) for x, flag in pairs]
        if self.same_shape and shapes[0] != shapes[1] and len(shapes[0]) == len(shapes[1]):
            operands = tuple(batch.spread(*pair) for pair in pairs)
            options = dict(operation.params)
            if self.function is np.array_equiv:
                options["broadcast"] = True
            return batch.builder.call(runtime.samples_equal, operands, options)
        if self.same_shape and shapes[0] != shapes[1]:
            raise CannotBatch
        operands = support.align_all(operation.operands, batched)
        found = self.elements(*operands, **operation.params)
        rank = support.known_rank(found, f"np.{self.name}")
        return np.all(found, axis=support.axis_of(range(1, rank))) if rank > 1 else found


class SamplesEqual(Rule):
    """samples_equal(a, b): what np.array_equal is for each of a batch."""

    flat = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), kwargs)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Array(np.dtype(bool), values.shape_of(operands[0])[:1])

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise CannotBatch


def _equal(a: Any, b: Any, equal_nan: bool = False) -> Any:
    return (a == b) | (np.isnan(a) & np.isnan(b)) if equal_nan else a == b


CLOSE = "a, b, rtol=1e-05, atol=1e-08, equal_nan=False"

register(WholeComparison(np.allclose, CLOSE, np.isclose, same_shape=False))
register(WholeComparison(np.array_equal, "a, b, equal_nan=False", _equal, same_shape=True))
register(WholeComparison(np.array_equiv, "a, b", _equal, same_shape=True))
register(SamplesEqual(runtime.samples_equal, "samples_equal"))
