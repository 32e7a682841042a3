"""Functions given by numbers: np.interp through points, np.polyval of coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.dependence import EVERYTHING, Dependence, Use, broadcast
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.rules import support
from s2s_ad.rules.shape_checks import check_equal


class OfPoints(Rule):
    """A function of x whose further operands are vectors that give it."""

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(*operands)
        return values.Array(self.dtype(operands), operands[self.index].shape)

    def dependence(self, use: Use, position: int) -> Dependence:
        alike = position == self.index and use.shapes[position] == use.shape
        return broadcast(use.shape, use.shape) if alike else EVERYTHING

    index = 0  # of x
    dtype: Any = None

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if any(flag for index, flag in enumerate(batched) if index != self.index):
            raise support.CannotBatch
        return batch.builder.emit(self, operation.operands, operation.params)


class Interpolation(OfPoints):
    """np.interp(x, xp, fp): at a point the slope is that of the segment after it."""

    text = "x, xp, fp, left=None, right=None, period=None"

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, self.text, args, kwargs)
        operands = [support.as_operand(builder, given.pop(each)) for each in ("x", "xp", "fp")]
        if given["period"] is not None:
            operands = _periodic(*operands, given.pop("period"))
            given |= {"left": None, "right": None, "period": None}
        params = support.given(support.static_params(given, self), self.text)
        if not any(isinstance(each, Symbol) for each in operands):
            return np.interp(*operands, **params)
        operands = [operands[0], *(_as_array(builder, each) for each in operands[1:])]
        shapes = map(support.shape, operands[1:])
        check_equal(*shapes, "fp and xp are not of the same length.")
        if values.shape_of(operands[1].fact) == (1,):
            return _of_one_point(*operands, **params)
        return builder.emit(self, operands, params)

    def dtype(self, operands: list) -> np.dtype | None:
        complex_ = values.strong_dtype(operands[2])
        return None if complex_ is None else np.result_type(complex_, float)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        """Of points that differ from sample to sample, as the arithmetic that it is."""
        if not any(batched[1:]):
            return super().batch(operation, batched, batch)
        xp = operation.operands[1]
        x, spread, fp = (batch.spread(*e) for e in zip(operation.operands, batched, strict=True))
        rank = x.ndim - 1
        rows = np.arange(support.length(fp, 0), like=fp)
        rows = np.expand_dims(rows, support.axis_of(range(1, 1 + rank))) if rank else rows
        if batched[1]:
            ends = SegmentEnds.of_batch(x, spread)
            low, high = (spread[rows, end] for end in (ends - 1, ends))
            first, last = (_as_columns(spread[:, end], rank) for end in (0, -1))
        else:
            ends = batch.builder.call(runtime.segment_ends, (x, xp), {})
            low, high, first, last = xp[ends - 1], xp[ends], xp[0], xp[-1]
        y_low, y_high = (fp[rows, end] for end in (ends - 1, ends))
        result = (y_high - y_low) / (high - low) * (x - low) + y_low
        left = operation.params.get("left", _as_columns(fp[:, 0], rank))
        right = operation.params.get("right", _as_columns(fp[:, -1], rank))
        return np.where(x < first, left, np.where(x > last, right, result))

    def _segments(self, operation: Operation) -> tuple[Any, Any, Any, Any]:
        """For each x: where its segment ends, how far on it x is, the slope, and if x is inside."""
        x, xp, fp = operation.operands
        end = xp.builder.call(runtime.segment_ends, (x, xp), {})
        width = xp[end] - xp[end - 1]
        part = np.clip((x - xp[end - 1]) / width, 0.0, 1.0)
        inside = (x >= xp[0]) & (x <= xp[-1])
        return end, part, (fp[end] - fp[end - 1]) / width, inside

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        x, xp, fp = operation.operands
        end, part, slope, inside = self._segments(operation)
        steep = np.where(inside, y_bar * slope, 0.0)
        if "left" in operation.params:
            y_bar = np.where(x < xp[0], 0.0, y_bar)
        if "right" in operation.params:
            y_bar = np.where(x > xp[-1], 0.0, y_bar)
        bars = [steep, _spread(xp, end, part, -steep), _spread(fp, end, part, y_bar)]
        return [bar if flag else None for bar, flag in zip(bars, operation.active, strict=True)]

    def forward(self, operation: Operation, tangents: list) -> Any:
        x, xp, _ = operation.operands
        x_dot, xp_dot, fp_dot = tangents
        end, part, slope, inside = self._segments(operation)
        y_dot = 0.0 if fp_dot is None else _between(fp_dot, end, part)
        if "left" in operation.params:
            y_dot = np.where(x < xp[0], 0.0, y_dot)
        if "right" in operation.params:
            y_dot = np.where(x > xp[-1], 0.0, y_dot)
        moved = 0.0 if x_dot is None else x_dot
        moved = moved if xp_dot is None else moved - _between(xp_dot, end, part)
        if x_dot is None and xp_dot is None:
            return y_dot
        return y_dot + np.where(inside, moved * slope, 0.0)


def _between(points: Any, end: Any, part: Any) -> Any:
    return points[end - 1] * (1 - part) + points[end] * part


def _spread(points: Any, end: Any, part: Any, value: Any) -> Any:
    """The adjoint of `_between`."""
    call, start = points.builder.call, end - 1
    result = call(runtime.index_add, (np.zeros_like(points), start, value * (1 - part)), {})
    return call(runtime.index_add, (result, end, value * part), {})


def _as_array(builder: Builder, value: Any) -> Any:
    return value if isinstance(value, Symbol) else builder.call(np.array, (value,), {})


def _of_one_point(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    y = fp[0] if left is None else np.where(x < xp[0], left, fp[0])
    y = y if right is None else np.where(x > xp[0], right, y)
    y = y if values.is_dtype(y.dtype, float) else y.astype(float)
    return x.builder.call(runtime.broadcast_like, (y, x), {}) if isinstance(x, Symbol) else y


def _periodic(x: Any, xp: Any, fp: Any, period: Any) -> list:
    """The points of one period, and one more at either end."""
    period = abs(period)
    xp = xp % period
    order = np.argsort(xp)
    xp, fp = xp[order], fp[order]
    xp = np.concatenate([xp[-1:] - period, xp, xp[:1] + period])
    return [x % period, xp, np.concatenate([fp[-1:], fp, fp[:1]])]


def _as_columns(value: Any, rank: int) -> Any:
    return np.expand_dims(value, support.axis_of(range(1, 1 + rank))) if rank else value


class SegmentEnds(OfPoints):
    """For each x the index of the point at which its segment ends."""

    flat = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def dtype(self, operands: list) -> np.dtype:
        return np.dtype(np.intp)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if not batched[1]:
            return super().batch(operation, batched, batch)
        pairs = zip(operation.operands, batched, strict=True)
        return self.of_batch(*(batch.spread(*pair) for pair in pairs))

    @staticmethod
    def of_batch(x: Any, xp: Any) -> Any:
        """How many points of the sample do not lie after x."""
        before = xp.builder.call(runtime.search_of_stack, (xp, x), {"side": "right"})
        return np.clip(before, 1, support.length(xp, 1) - 1)


register(Interpolation(np.interp, "interp"))
register(SegmentEnds(runtime.segment_ends, "segment_ends"))
