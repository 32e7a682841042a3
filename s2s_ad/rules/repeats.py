"""Elements repeated and arrays cut into parts: np.repeat, np.tile, np.split."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import gast
import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import METHODS, register
from s2s_ad.core.rule import Operation
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.structure import Structural, leading
from s2s_ad.rules.unpacking import unpacking

FEW = 4  # copies that are added one by one


class Copies(Structural):
    """A function that holds each element several times; the adjoint adds the copies up."""

    view = False
    keeps_array = True

    def copies(self, params: dict[str, Any], rank: int) -> list[tuple[int, bool]]:
        """Per axis how often it is repeated, and whether each element by itself."""
        raise NotImplementedError

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if support.any_unknown(x):
            return support.unknown(x)
        copies = self.copies(params, len(x.shape))
        dims = (1,) * (len(copies) - len(x.shape)) + x.shape
        counts = (count for count, _ in copies)
        return values.with_shape(x, tuple(map(_repeated, dims, counts)))

    def fits(self, operands: list, result: Any, params: dict[str, Any]) -> bool:
        return values.shape_of(operands[0]) is not None

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        """The copies along axes that x lacks are summed there, those of others apart."""
        x = operation.operands[0]
        if x.ndim is None:
            raise support.CannotBatch
        copies = self.copies(operation.params, x.ndim)
        added = len(copies) - x.ndim
        shape, summed = [count for count, _ in copies[:added]], list(range(added))
        of_length_one = []
        for axis, (count, each) in enumerate(copies[added:]):
            size = support.length(x, axis)
            if count == 1:
                shape.append(size)
            elif x.fact.shape[axis] == 1:
                of_length_one.append(axis)
                summed.append(len(shape))
                shape.append(count)
            else:
                summed.append(len(shape) + each)
                shape += [size, count] if each else [count, size]
        if len(shape) != len(copies):
            y_bar = np.reshape(y_bar, tuple(shape))
        if summed:
            y_bar = np.sum(y_bar, axis=support.axis_of(summed))
        return np.expand_dims(y_bar, tuple(of_length_one)) if of_length_one else y_bar

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return leading(call)


def _repeated(dim: Any, count: int) -> Any:
    if count == 1:
        return dim
    return count and (dim * count if isinstance(dim, int) else values.fresh_dim(False))


class Repeat(Copies):
    """np.repeat(x, repeats, axis) with one number of repeats for all elements."""

    text = "x, repeats, axis=None"

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, self.text, args, kwargs)
        x = support.as_operand(builder, params.pop("x"))
        params = support.static_params(params, self)
        repeats, axis = params["repeats"], params["axis"]
        if isinstance(repeats, tuple | list):
            raise UnsupportedError(
                "S2S203",
                "np.repeat with another number of repeats for each element",
                origin=builder.origin,
                help="index with an integer array: x[np.array([0, 0, 1])]",
            )
        if not isinstance(x, Symbol):
            x = builder.call(np.array, (x,), {})
        if axis is None:
            x, axis = np.ravel(x), 0
        axis = axis if x.ndim is None else support.normal_axis(axis, x.ndim)
        return builder.emit(self, [x], {"repeats": operator.index(repeats), "axis": axis})

    def copies(self, params: dict[str, Any], rank: int) -> list[tuple[int, bool]]:
        return [(params["repeats"] if axis == params["axis"] else 1, True) for axis in range(rank)]

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        """Few copies are added as slices: NumPy is slow to sum over a short last axis."""
        count, axis = operation["repeats"], operation["axis"]
        if not 2 <= count <= FEW:
            return super().transposed(operation, y_bar)
        parts = (y_bar[support.at(axis, slice(k or None, None, count))] for k in range(count))
        return functools.reduce(operator.add, parts)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        axis = support.normal_axis(operation["axis"], support.sample_rank(x, True)) + 1
        return np.repeat(x, operation["repeats"], axis=axis)


class Tile(Copies):
    """np.tile(x, reps), with one number of copies for each axis."""

    text = "x, reps"

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, self.text, args, kwargs)
        x = support.as_operand(builder, params["x"])
        reps = static(params["reps"], "the number of copies of np.tile")
        reps = tuple(map(operator.index, reps if isinstance(reps, tuple | list) else (reps,)))
        if not isinstance(x, Symbol):
            x = builder.call(np.array, (x,), {})
        return builder.emit(self, [x], {"reps": reps})

    def copies(self, params: dict[str, Any], rank: int) -> list[tuple[int, bool]]:
        return [(1, False)] * (rank - len(params["reps"])) + [(e, False) for e in params["reps"]]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x, reps = operation.operands[0], operation["reps"]
        missing = len(reps) - support.sample_rank(x, True)
        if missing > 0:
            x = np.expand_dims(x, tuple(range(1, missing + 1)))
        return np.tile(x, (1, *(1,) * -missing, *reps))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        reps = call.keywords[0].value
        if isinstance(reps, gast.Tuple) and len(reps.elts) == 1:
            reps = reps.elts[0]
        return gast.Call(call.func, [*call.args, reps], [])


def _split(x: Symbol, indices_or_sections: Any, axis: Any) -> list:
    """The parts, as slices; a number of parts has to divide the length, which reshape checks."""
    rank = support.known_rank(x, "np.split")
    parts = static(indices_or_sections, "where np.split cuts")
    axis = support.normal_axis(static(axis, "axis of np.split"), rank)
    lead = (slice(None),) * axis
    if isinstance(parts, tuple | list):
        bounds = [None, *parts, None]
        return [x[(*lead, slice(*each)) if lead else slice(*each)] for each in pairwise(bounds)]
    sizes = support.lengths(x, range(rank))
    sizes[axis : axis + 1] = [parts, sizes[axis] // parts]
    stacked = np.reshape(x, tuple(sizes))
    if not axis:
        return unpacking(parts).items(x.builder, stacked)
    return [stacked[(*lead, part)] for part in range(parts)]


register(Repeat(np.repeat, "repeat"))
register(Tile(np.tile, "tile"))

composite(np.split, "x, indices_or_sections, axis=0", _split)

METHODS["repeat"] = np.repeat
