"""Joining arrays: concatenate, stack, and what is written as these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, static
from s2s_ad.core.registry import Operation, Rule, register
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite


class Joining(Rule):
    """np.concatenate and np.stack: functions of a list of arrays and an axis."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, "arrays, axis=0", args, kwargs)
        arrays = params["arrays"]
        if not isinstance(arrays, tuple | list) or not arrays:
            raise ArgumentValueError(
                "S2S205",
                f"np.{self.name} of something that is not a list of arrays",
                origin=builder.origin,
            )
        arrays = [support.as_operand(builder, each) for each in arrays]
        axis = static(params["axis"], f"axis of np.{self.name}")
        ranks = [support.rank(each) for each in arrays]
        if axis is None:
            arrays, axis = [np.ravel(each) for each in arrays], 0
        elif None not in ranks:
            axis = support.normal_axis(axis, max(ranks) + (self.function is np.stack))
        return builder.emit(self, arrays, {"axis": axis})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(*operands)
        axis = params["axis"]
        kinds = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(kinds) else np.result_type(*kinds)
        shapes = [values.shape_of(each) for each in operands]
        if self.function is np.stack:
            first = values.broadcast(shapes)
            return values.Array(dtype, (*first[:axis], len(operands), *first[axis:]))
        joined = [shape[axis] for shape in shapes]
        total = sum(joined) if all(isinstance(dim, int) for dim in joined) else values.fresh_dim()
        rest = values.broadcast((*shape[:axis], 1, *shape[axis + 1 :]) for shape in shapes)
        return values.Array(dtype, (*rest[:axis], total, *rest[axis + 1 :]))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        axis, builder = operation["axis"], operation.result.builder
        if axis < 0:
            raise support.CannotBatch
        adjoints, start = [], 0
        for position, operand in enumerate(operation.operands):
            if self.function is np.stack:
                place, start = start, start + 1
            else:
                stop = start + np.size(operand, axis)
                last = position == len(operation.operands) - 1
                place, start = slice(start if position else None, None if last else stop), stop
            index = (*(slice(None),) * axis, place)
            part = y_bar[index[0] if len(index) == 1 else index]
            wanted = operation.active[position]
            adjoints.append(
                builder.call(runtime.unbroadcast, (part, operand), {}) if wanted else None
            )
        return adjoints

    def forward(self, operation: Operation, tangents: list) -> Any:
        if all(each is None for each in tangents):
            return None
        filled = [
            np.zeros_like(operand) if tangent is None else tangent
            for operand, tangent in zip(operation.operands, tangents, strict=True)
        ]
        return operation.result.builder.call(self.function, (filled,), operation.params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        for pair in zip(operation.operands, batched, strict=True):
            support.samplesupport.known_rank(*pair)
        arrays = [batch.spread(*pair) for pair in zip(operation.operands, batched, strict=True)]
        return batch.builder.call(self.function, (arrays,), {"axis": operation["axis"] + 1})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        arrays = gast.List(elts=call.args, ctx=gast.Load())
        keywords = [each for each in call.keywords if each.value.value != 0]
        return gast.Call(func=call.func, args=[arrays], keywords=keywords)


def _at_least_2d(arrays: list) -> list:
    return [x[None] if support.known_rank(x, "stacking") == 1 else x for x in arrays]


def _column_stack(arrays: Any) -> Any:
    columns = [x[:, None] if support.known_rank(x, "np.column_stack") == 1 else x for x in arrays]
    return np.concatenate(columns, axis=1)


def _hstack(arrays: Any) -> Any:
    return np.concatenate(
        list(arrays), axis=0 if support.known_rank(arrays[0], "np.hstack") == 1 else 1
    )


def _vstack(arrays: Any) -> Any:
    return np.concatenate(_at_least_2d(list(arrays)))


register(Joining(np.concatenate, "concatenate"))
register(Joining(np.stack, "stack"))


composite(np.column_stack, "arrays", _column_stack)
composite(np.hstack, "arrays", _hstack)
composite(np.vstack, "arrays", _vstack)
