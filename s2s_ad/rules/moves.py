"""Elements in other places along an axis: flip and roll."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import gast
import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.structure import Structural, leading


class Along(Structural):
    """Functions of an array and an axis that undo themselves or have a simple inverse."""

    text = "x, axis=None"
    moves = True
    keeps_array = True

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return operands[0]

    def shift(self, params: dict[str, Any], rank: int) -> dict[str, Any]:
        axes = tuple(axis + 1 for axis in support.normal_axes(params.get("axis"), rank))
        return params | {"axis": support.axis_of(axes)}


def _whole(shift: Any) -> Any:
    """How far, in whole numbers: NumPy leaves out what comes behind the point."""
    if isinstance(shift, tuple | list):
        return tuple(map(_whole, shift))
    if not isinstance(shift, Symbol):
        return int(shift) if isinstance(shift, float) else shift
    if values.is_inexact(shift.fact) is not True:
        return shift
    return shift.astype(int) if shift.shape else shift.builder.call(int, (shift,), {})


class Flip(Along):
    """np.flip: its own inverse."""

    written_back = "involution"

    def turned(self, rank: int, params: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(sorted(support.normal_axes(params.get("axis"), rank)))

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        x = operands[0]
        if not builder.derived or x.ndim is None:
            return None
        return support.turned_back(builder, x, self.turned(x.ndim, params))

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        return np.flip(y_bar, **operation.params)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return support.without_axis(call, facts)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        rank = support.sample_rank(operation.operands[0], True)
        return np.flip(operation.operands[0], **self.shift(operation.params, rank))


class Roll(Along):
    """np.roll: rolled back by the adjoint."""

    text = "x, shift, axis=None"
    view = False

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        axis = static(params["axis"], "axis of np.roll")
        shift = _whole(params["shift"])
        return {"shift": shift} | ({} if axis is None else {"axis": axis})

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        inner = builder.operands_of(operands[0], operator.neg) if builder.derived else []
        return -np.roll(inner[0], **params) if inner else None

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        shift = operation["shift"]
        back = tuple(-each for each in shift) if isinstance(shift, tuple) else -shift
        return np.roll(y_bar, **operation.params | {"shift": back})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        rank = support.sample_rank(x, True)
        if operation.params.get("axis") is None and rank != 1:
            rolled = np.roll(support.flatten_samples(x), operation["shift"], axis=1)
            return np.reshape(rolled, tuple(support.lengths(x, range(rank + 1))))
        return np.roll(x, **self.shift(operation.params, rank))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return leading(call)


def _fliplr(x: Symbol) -> Any:
    return np.flip(x, axis=1)


def _flipud(x: Symbol) -> Any:
    return np.flip(x, axis=0)


register(Flip(np.flip, "flip"))
register(Roll(np.roll, "roll"))


composite(np.fliplr, "x", _fliplr, written_back="involution")
composite(np.flipud, "x", _flipud, written_back="involution")
