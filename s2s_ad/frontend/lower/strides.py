"""The strides of arrays: where they say that an array is read in windows, it is.

What stands in the memory of compiled code is not known. But `as_strided` with the strides of the
array itself, and its last one again, gives the windows along its last axis, wherever that stands.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from s2s_ad.core import sizes, values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.registry import rule_for
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.diagnostics import Origin, UnsupportedError
from s2s_ad.frontend.lower.attributes import PROPERTIES
from s2s_ad.frontend.lower.calls import HANDLERS, apply
from s2s_ad.frontend.lower.containers import known_items, sequence
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.refused import LAYOUT, OUTSIDE
from s2s_ad.frontend.resolve import unwrap

HELP = "use sliding_window_view"


class StrideOf(Rule):
    """The stride of an array along an axis, which is never computed: only as_strided asks what it
    is, and what else reads it is refused when the text is written."""

    flat = True
    uniform = True

    def __init__(self, axis: int, origin: Origin | None):
        super().__init__(self, "a stride")
        self.axis, self.origin = axis, origin

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Scalar(int)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        moved = StrideOf(self.axis + 1, self.origin)
        return batch.builder.emit(moved, operation.operands, {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        raise self.refusal()

    def refusal(self) -> UnsupportedError:
        what = f"'strides' of an array: {LAYOUT}"
        return UnsupportedError("S2S204", what, origin=self.origin, help=OUTSIDE)


def strides_of(lowering: Lowering, x: Symbol) -> Any:
    """`x.strides`, of which as_strided reads how windows are taken."""
    if x.ndim is None:
        raise UnsupportedError("S2S204", "'strides' of an array of unknown rank", help=HELP)
    builder = lowering.builder
    rules = (StrideOf(axis, builder.origin) for axis in range(x.ndim))
    return sequence(tuple, [builder.emit(rule, [x], {}) for rule in rules])


@dataclass(frozen=True, slots=True)
class Step:
    """A stride, as as_strided is given it: of which axis it is, and how many times."""

    axis: int
    times: Any = 1

    @property
    def is_one(self) -> bool:
        return type(self.times) is int and self.times == 1


def _step(lowering: Lowering, x: Symbol, value: Any) -> Step | None:
    """What of the strides of x a number is; None of anything else."""
    rule, operands, _ = lowering.builder.definition(value)
    if isinstance(rule, StrideOf):
        same = isinstance(operands[0], Symbol) and operands[0].name == x.name
        return Step(rule.axis) if same else None
    for one, other in (operands, operands[::-1]) if _multiplies(rule, operands) else ():
        inner = _step(lowering, x, one)
        if inner is not None and inner.is_one:
            return Step(inner.axis, other)
    return None


def _multiplies(rule: Any, operands: list) -> bool:
    return rule is not None and rule is rule_for(operator.mul) and len(operands) == 2


def windows(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """as_strided(x, (..., n, w), (*x.strides[:-1], step * x.strides[-1], x.strides[-1]))"""
    given = dict(zip(("x", "shape", "strides", "subok", "writeable"), args, strict=False)) | kwargs
    x, shape, strides = (given.pop(each, None) for each in ("x", "shape", "strides"))
    plain = isinstance(x, Symbol) and x.ndim and not unwrap(given.get("subok"))
    shape = known_items(lowering, shape) if plain and unwrap(shape) is not None else None
    strides = known_items(lowering, strides) if plain and unwrap(strides) is not None else None
    steps = [_step(lowering, x, each) for each in strides or ()]
    if shape is None or not _are_windows(x, steps):
        raise refused()
    *outer, count, width = shape
    if len(shape) != x.ndim + 1 or not all(
        _are_equal(lowering, each, np.size(x, axis)) for axis, each in enumerate(outer)
    ):
        raise refused()
    step, last = steps[-2].times, x.ndim - 1
    found = apply(lowering, sliding_window_view, [x, width], {"axis": last})
    if not (type(step) is int and step == 1):
        every = (Ellipsis, slice(None, None, step), slice(None))
        found = lowering.call(operator.getitem, found, every)
    there = np.size(found, last)
    if _are_equal(lowering, count, there):
        return found
    more = lowering.call(operator.gt, count, there)
    if more is True:
        raise refused()
    if more is not False:
        lowering.raise_where(more, IndexError("the windows reach beyond the end of the array"))
    return lowering.call(operator.getitem, found, (Ellipsis, slice(count), slice(None)))


def _are_windows(x: Symbol, steps: list[Step | None]) -> bool:
    """Whether these are the strides of the windows along the last axis."""
    known = [each for each in steps if each is not None]
    if [each.axis for each in known] != [*range(x.ndim), x.ndim - 1] or len(known) < len(steps):
        return False
    return all(each.is_one for index, each in enumerate(known) if index != x.ndim - 1)


def _are_equal(lowering: Lowering, one: Any, other: Any) -> bool:
    known = [lowering.builder.size(each) for each in (one, other)]
    return not values.missing(known) and sizes.equals(*known)


def refused() -> UnsupportedError:
    why = "which elements share memory cannot be told"
    what = "numpy.lib.stride_tricks.as_strided of anything but windows along the last axis"
    return UnsupportedError("S2S203", what, why=why, help=HELP)


PROPERTIES["strides"] = strides_of
HANDLERS[as_strided] = windows
