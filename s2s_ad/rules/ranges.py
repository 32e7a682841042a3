"""np.linspace and np.arange: numbers at equal distances, linear in what says where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Ragged, Rule
from s2s_ad.rules import support
from s2s_ad.rules.creation import Creation, arange_dtype, arange_shape
from s2s_ad.rules.shapes import dim_of

TEXT = "start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0"
RAMPS = ((1.0, 0.0), (0.0, 1.0))  # how the weight of each end runs along the range


class Linspace(Rule):
    """np.linspace: both ends may be arrays; the range runs along a new axis."""

    allocates = of_complex = True
    linear = (0, 1)
    cost = 1

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, TEXT, args, kwargs)
        start, stop = (support.as_operand(builder, params.pop(end)) for end in ("start", "stop"))
        dtype, retstep = params.pop("dtype"), static(params.pop("retstep"), "retstep")
        result = builder.emit(self, [start, stop], support.given(params, TEXT))
        if dtype is not None:
            result = result.astype(static(dtype, "dtype"))
        if not retstep:
            return result
        return result, (stop - start) / (params["num"] - int(static(params["endpoint"])))

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(*operands)
        ends = values.broadcast(map(values.shape_of, operands))
        axis = support.normal_axis(params.get("axis", 0), len(ends) + 1)
        dtypes = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(dtypes) else np.result_type(*map(_inexact, dtypes))
        return values.Array(dtype, (*ends[:axis], dim_of(params.get("num", 50)), *ends[axis:]))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        return [
            self._pulled_back(operation, y_bar, index) if active else None
            for index, active in enumerate(operation.active)
        ]

    def _pulled_back(self, operation: Operation, y_bar: Any, index: int) -> Any:
        """The adjoint of one end: what reaches the range, weighted along it."""
        builder, rank = y_bar.builder, support.known_rank(operation.result, self.name)
        axis = support.normal_axis(operation.params.get("axis", 0), rank)
        options = {key: each for key, each in operation.params.items() if key != "axis"}
        weights = builder.emit(self, list(RAMPS[index]), options)
        if rank > 1:
            weights = np.expand_dims(weights, tuple(each for each in range(rank) if each != axis))
        end_bar = np.sum(y_bar * weights, axis=axis)
        return builder.call(runtime.unbroadcast, (end_bar, operation.operands[index]), {})

    def forward(self, operation: Operation, tangents: list) -> Any:
        builder, y = operation.result.builder, operation.result
        ends = [0.0 if each is None else each for each in tangents]
        y_dot = builder.emit(self, ends, operation.params)
        return builder.call(runtime.broadcast_like, (y_dot, y), {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        pairs = zip(operation.operands, batched, strict=True)
        rank = 1 + max(support.sample_rank(*pair) for pair in pairs)
        axis = 1 + support.normal_axis(operation.params.get("axis", 0), rank)
        ends = support.align_all(operation.operands, batched)
        return batch.builder.emit(self, ends, operation.params | {"axis": axis})


def _inexact(dtype: np.dtype) -> np.dtype:
    """Of a whole number the dtype of its product with 1.0."""
    return np.result_type(dtype, 1.0)


class Spaced(Rule):
    """np.arange of floats, which are its operands: as many numbers as there are up to `stop`.

    That is a whole number, which changes in steps: no derivative passes through `stop`.
    """

    keeps_array = gives_array = True
    in_c_order = "always"
    cost = 1

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(*operands)
        dtypes = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(dtypes) else np.result_type(*dtypes)
        return values.Array(dtype, (values.fresh_dim(),))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        found: list = [None] * len(operation.operands)
        if len(found) > 1 and operation.active[0]:
            found[0] = np.sum(y_bar)
        if len(found) > 2 and operation.active[2]:
            found[2] = np.sum(y_bar * self._places(operation))
        return [
            bar if bar is None else y_bar.builder.call(runtime.unbroadcast, (bar, operand), {})
            for bar, operand in zip(found, operation.operands, strict=True)
        ]

    def forward(self, operation: Operation, tangents: list) -> Any:
        start, _, step, *_ = (*tangents, None, None) if len(tangents) > 1 else (None, None, None)
        if step is None:
            parts = (start, operation.result)
            builder = operation.result.builder
            return None if start is None else builder.call(runtime.broadcast_like, parts, {})
        ramp = step * self._places(operation)
        return ramp if start is None else start + ramp

    def _places(self, operation: Operation) -> Any:
        """0, 1, 2 and so on: how many steps it is from `start` to each of the numbers."""
        y = operation.result
        single = values.is_dtype(y.dtype, np.float32)
        options = {"dtype": np.float32} if single else {}
        return y.builder.call(np.arange, (support.length(y, 0),), options)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise Ragged  # each sample may be of another length


SPACED = Spaced(np.arange, "arange")


class Arange(Creation):
    """np.arange: of whole numbers it counts, of floats it is a range that follows them."""

    counts_up = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, self.text, args, kwargs)
        dtype = given.pop("dtype")
        bounds = [each for each in given.values() if each is not None]
        floats = [each for each in bounds if isinstance(each, Symbol) and _is_float(each)]
        rounds = dtype is not None and static(dtype, "dtype") not in (float, np.float64)
        if not floats or rounds:
            return super().bind(builder, args, kwargs)
        result = builder.emit(SPACED, bounds, {})
        return result if dtype is None else support.converted(result, dtype)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return call if call.args else super().surface(call, facts)


def _is_float(x: Symbol) -> bool:
    return values.is_inexact(x.fact) is True and x.shape == ()


register(Linspace(np.linspace, "linspace"))
register(Arange(np.arange, "start, stop=None, step=None, dtype=None", arange_shape, arange_dtype))
