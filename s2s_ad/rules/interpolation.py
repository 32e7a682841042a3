"""Functions given by numbers: np.interp through points, np.polyval of coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.registry import Operation, Rule, register
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite


class OfPoints(Rule):
    """A function of x whose further operands are vectors that give it."""

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(*operands)
        return values.Array(self.dtype(operands), operands[self.place].shape)

    place = 0  # of x
    dtype: Any = None

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if any(flag for place, flag in enumerate(batched) if place != self.place):
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
        operands = [batch.spread(*pair) for pair in zip(operation.operands, batched, strict=True)]
        x, xp, fp = operands
        ends = SegmentEnds.of_batch(x, xp)
        rank = x.ndim - 1
        rows = np.arange(support.length(xp, 0), like=xp)
        rows = np.expand_dims(rows, support.axis_of(range(1, 1 + rank))) if rank else rows
        (low, high), (y_low, y_high) = (
            [points[rows, end] for end in (ends - 1, ends)] for points in (xp, fp)
        )
        first, last = (_as_columns(xp[:, end], rank) for end in (0, -1))
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
    """For each x the place of the point at which its segment ends."""

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
        points = np.expand_dims(xp, support.axis_of(range(1, x.ndim))) if x.ndim > 1 else xp
        before = np.sum(points <= np.expand_dims(x, -1), axis=-1)
        return np.clip(before, 1, support.length(xp, 1) - 1)


class PolynomialValue(OfPoints):
    """np.polyval(p, x), p from the highest power on."""

    place = 1

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, "p, x", args, kwargs)
        p, x = (support.as_operand(builder, each) for each in given.values())
        if not isinstance(p, Symbol) and not isinstance(x, Symbol):
            return np.polyval(p, x)
        p = _as_array(builder, p)
        for each in (p, x):
            support.known_rank(each, "np.polyval")
        return builder.emit(self, [p, x], {})

    def dtype(self, operands: list) -> np.dtype | None:
        kinds = [values.dtype_argument(each) for each in operands]
        if values.missing(kinds):
            return None
        p, x = (kind(0) if isinstance(kind, type) else np.zeros(1, kind) for kind in kinds)
        return np.polyval(p, np.asarray(x)).dtype

    def _slope(self, operation: Operation) -> Any:
        p, x = operation.operands
        count = support.length(p, 0)
        if isinstance(count, int) and count == 1:
            return 0.0 * x
        derived = p[:-1] * np.arange(count - 1, 0, -1, like=p)
        return np.polyval(support.cast(p.builder, derived, p), x)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        p, x = operation.operands
        p_bar = self._coefficients(p, x, y_bar) if operation.active[0] else None
        slope = y_bar * self._slope(operation) if operation.active[1] else None
        return [p_bar, slope]

    def _coefficients(self, p: Any, x: Any, y_bar: Any) -> Any:
        """The powers of x times the adjoint."""
        rank = support.rank(x)
        if not rank:
            return y_bar * _powers(x, p, support.length(p, 0))
        terms = np.expand_dims(y_bar, -1) * _powers(x, p, support.length(p, 0))
        return np.sum(terms, axis=support.axis_of(range(rank)))

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if not batched[0]:
            return super().batch(operation, batched, batch)
        p, x = operation.operands
        rank = support.sample_rank(x, batched[1])
        powers = _powers(x, p, support.length(p, 1))
        p = np.expand_dims(p, support.axis_of(range(1, 1 + rank))) if rank else p
        return np.sum(p * powers, axis=-1)

    def forward(self, operation: Operation, tangents: list) -> Any:
        p_dot, x_dot = tangents
        terms = [] if p_dot is None else [np.polyval(p_dot, operation.operands[1])]
        terms += [] if x_dot is None else [x_dot * self._slope(operation)]
        return sum(terms[1:], terms[0])


def _powers(x: Any, p: Any, count: Any) -> Any:
    """So many powers of x along a last axis, from the highest on."""
    rank, ones = support.rank(x), p.builder.call(np.ones, (count - 1,), {"dtype": bool})
    column = np.expand_dims(x, -1) if rank else x
    first = np.ones_like(column) if rank else p.builder.call(np.ones, (1,), {"dtype": bool})
    factors = np.concatenate([first, column * ones], axis=-1)
    return np.flip(np.cumprod(factors, axis=-1), axis=-1)


def _polyval(x: Any, c: Any, tensor: bool) -> Any:
    """np.polynomial.polynomial.polyval: the coefficients from the constant on."""
    if support.rank(c) != 1:
        raise UnsupportedError("S2S203", "polyval of several polynomials", help="use a loop")
    return np.polyval(c[::-1], x)


composite(np.polynomial.polynomial.polyval, "x, c, tensor=True", _polyval)
register(Interpolation(np.interp, "interp"))
register(SegmentEnds(runtime.segment_ends, "segment_ends"))
register(PolynomialValue(np.polyval, "polyval"))
