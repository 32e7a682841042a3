"""np.pad: zeros and other constants around an array, or copies and means of what it holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import sizes, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.structure import Structural

#: modes whose elements are elements of the array
GATHERED = ("edge", "reflect", "symmetric", "wrap")
#: modes that repeat a statistic of the ends
STATISTIC = {"maximum": np.max, "mean": np.mean, "median": np.median, "minimum": np.min}
TEXT = "x, pad_width, mode='constant', stat_length=None, constant_values=0, end_values=0,"
TEXT += " reflect_type='even'"


class Pad(Structural):
    """np.pad with zeros, whose adjoint cuts the padding off, or with elements of the array, whose
    adjoint adds it where it is from. Other modes are written as joined arrays."""

    view = False
    text = TEXT

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, self.text, args, kwargs)
        x = support.as_operand(builder, given["x"])
        rank, mode = support.known_rank(x, "np.pad"), static(given["mode"], "the mode of np.pad")
        widths = _pairs(given["pad_width"], rank)
        constants = given["constant_values"]
        if not rank:  # there are no ends, whatever pair is given for them
            np.broadcast_to(static(given["pad_width"], "the widths of np.pad"), (0, 2))
            return x
        if mode == "constant" and type(constants) in (int, float) and constants == 0:
            return builder.emit(self, [x], {"pad_width": widths})
        if mode in GATHERED and given["reflect_type"] == "even":
            return builder.emit(self, [x], {"pad_width": widths, "mode": mode})
        for axis, width in enumerate(widths):
            if not _is_nothing(width):
                x = _padded(builder, x, axis, width, mode, given)
        return x

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if support.any_unknown(x):
            return support.unknown(x)
        pairs = zip(x.shape, params["pad_width"], strict=True)
        return values.with_shape(x, tuple(_grown(dim, width) for dim, width in pairs))

    def fits(self, operands: list, result: Any, params: dict[str, Any]) -> bool:
        """Empty axes have no element for another one to be a copy of."""
        shape, widths = values.shape_of(operands[0]), params["pad_width"]
        if shape is None or not all(type(each) is int and each >= 0 for w in widths for each in w):
            return False
        pairs = zip(shape, widths, strict=True)
        least = 1 if "mode" in params else 0
        return all(
            _is_nothing(w) or sizes.at_least(values.size_of_dim(dim), sizes.of(least))
            for dim, w in pairs
        )

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        x = operation.operands[0]
        if "mode" in operation.params:
            y_bar = x.builder.call(runtime.broadcast_like, (y_bar, operation.result), {})
            pairs = zip(x.fact.shape or (), operation["pad_width"], strict=False)
            if x.ndim and all(_is_long_enough(*pair, operation["mode"]) for pair in pairs):
                return _with_ends_added(x.builder, y_bar, **operation.params)
            return x.builder.call(runtime.folded, (y_bar, x), operation.params)
        index = []
        for axis, (before, after) in enumerate(operation["pad_width"]):
            if type(before) is type(after) is int:
                index.append(slice(before or None, -after or None))
            else:
                index.append(slice(before, before + np.size(x, axis)))
        part = y_bar[tuple(index) if len(index) > 1 else index[0]]
        return x.builder.call(runtime.unbroadcast, (part, x), {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, _of_samples(operation.params))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        pairs = call.keywords[0].value.elts
        widths = pairs[0] if len(pairs) == 1 else call.keywords[0].value
        ends = [each for pair in pairs for each in pair.elts]
        if len({gast.dump(each, show_empty=True) for each in ends}) == 1:  # the same at all ends
            widths = ends[0]
        return gast.Call(call.func, [*call.args, widths], call.keywords[1:])


def _pairs(width: Any, rank: int) -> tuple:
    """(before, after) for each axis, of all that NumPy takes for it."""
    if not isinstance(width, tuple | list):
        return ((width, width),) * rank
    items = [tuple(each) if isinstance(each, tuple | list) else each for each in width]
    if all(isinstance(each, tuple) for each in items):
        pairs = [each * 2 if len(each) == 1 else each for each in items]
        return tuple(pairs) * rank if len(pairs) == 1 else tuple(pairs)
    return (tuple(items * 2 if len(items) == 1 else items),) * rank


def _is_nothing(width: tuple) -> bool:
    return all(type(each) is int and each == 0 for each in width)


def _grown(dim: Any, width: tuple) -> Any:
    if _is_nothing(width):
        return dim
    more = [each.builder.size(each) if isinstance(each, Symbol) else each for each in width]
    if values.missing(more):
        return values.fresh_dim()
    return values.dim_of_size(sum(map(sizes.of, more), start=values.size_of_dim(dim)))


def _padded(builder: Builder, x: Symbol, axis: int, width: tuple, mode: Any, given: dict) -> Any:
    """x with one axis padded."""
    if mode == "constant":
        ends = _pairs(given["constant_values"], x.ndim)[axis]
        ends = [
            _slab(builder, x, axis, length, end) for length, end in zip(width, ends, strict=True)
        ]
    elif mode in STATISTIC:
        counts = given["stat_length"]
        counts = (None, None) if counts is None else _pairs(counts, x.ndim)[axis]
        starts = slice(None, counts[0]), slice(None if counts[1] is None else -counts[1], None)
        parts = [
            STATISTIC[mode](x[support.at(axis, each)], axis=axis, keepdims=True) for each in starts
        ]
        ends = [
            np.repeat(part, static(length, "a pad width"), axis=axis)
            for part, length in zip(parts, width, strict=True)
        ]
    elif mode == "linear_ramp":
        ends = _ramps(x, axis, width, _pairs(given["end_values"], x.ndim)[axis])
    else:
        raise UnsupportedError(
            "S2S203",
            f"np.pad with mode={mode!r}" if mode not in GATHERED else "np.pad with reflect_type=",
            origin=builder.origin,
            help="join parts with np.concatenate",
        )
    return np.concatenate([ends[0], x, ends[1]], axis=axis)


def _slab(builder: Builder, x: Symbol, axis: int, length: Any, value: Any) -> Any:
    """A constant in the shape of x, but for the length of one axis."""
    sizes = [length if i == axis else n for i, n in enumerate(support.lengths(x, range(x.ndim)))]
    return builder.call(np.full, (tuple(sizes), value), {"dtype": x.dtype})


def _ramps(x: Symbol, axis: int, width: tuple, ends: tuple) -> list:
    """Straight lines from given values to the first and from the last elements."""
    first, last = x[support.at(axis, slice(None, 1))], x[support.at(axis, slice(-1, None))]
    after = (slice(None), *(None,) * (x.ndim - 1 - axis))
    steps = [np.arange(length, like=x) / static(length, "a pad width") for length in width]
    steps = [each[after] if len(after) > 1 else each for each in steps]
    up = ends[0] + (first - ends[0]) * support.cast(x.builder, steps[0], x)
    down = ends[1] + (last - ends[1]) * support.cast(x.builder, steps[1], x)
    return [up, np.flip(down, axis=axis)]


# ---- the adjoint of padding with elements --------------------------------------------------------

#: mode -> how long an axis has to be for padding of a width that goes over it once at most
LEAST: dict[str, Callable[[int], int]] = {
    "edge": lambda width: 1,
    "reflect": lambda width: width + 1,
    "symmetric": lambda width: width,
    "wrap": lambda width: width,
}


def _is_long_enough(dim: Any, width: tuple, mode: str) -> bool:
    """Whether no padding goes over the array and back."""
    if _is_nothing(width):
        return True
    if dim is None or not all(type(each) is int for each in width):
        return False
    return sizes.at_least(values.size_of_dim(dim), sizes.of(LEAST[mode](max(width))))


def _with_ends_added(builder: Builder, wide: Any, pad_width: tuple, mode: str) -> Any:
    """What `wide` holds within the padding, and what the padding holds where it is a copy of."""
    for axis, (before, after) in enumerate(pad_width):
        if before or after:
            total = wide[support.at(axis, slice(before or None, -after or None))]
            for width, of_end in ((before, _of_start), (after, _of_stop)):
                if width:
                    index, copies = of_end(wide, axis, width, mode)
                    at = support.at(axis, index)
                    total = builder.call(runtime.index_add, (total, at, copies), {})
            wide = total
    return wide


def _of_start(wide: Any, axis: int, width: int, mode: str) -> tuple[Any, Any]:
    """The index of the elements that stand before the first one, and the adjoints of these."""
    if mode == "edge":
        return 0, _sum_of(wide, axis, 0 if width == 1 else slice(None, width))
    if mode == "wrap":
        return slice(-width, None), wide[support.at(axis, slice(None, width))]
    backwards = wide[support.at(axis, slice(width - 1, None, -1))]
    return slice(1, width + 1) if mode == "reflect" else slice(None, width), backwards


def _of_stop(wide: Any, axis: int, width: int, mode: str) -> tuple[Any, Any]:
    """The index of the elements that stand behind the last one, and the adjoints of these."""
    if mode == "edge":
        return -1, _sum_of(wide, axis, -1 if width == 1 else slice(-width, None))
    if mode == "wrap":
        return slice(None, width), wide[support.at(axis, slice(-width, None))]
    backwards = wide[support.at(axis, slice(None, -width - 1, -1))]
    return slice(-width - 1, -1) if mode == "reflect" else slice(-width, None), backwards


def _sum_of(wide: Any, axis: int, item: Any) -> Any:
    part = wide[support.at(axis, item)]
    return part if type(item) is int else np.sum(part, axis=axis)


class Folded(Structural):
    """folded(wide, like, pad_width, mode): the adjoint of np.pad."""

    like_position = 1
    view = False

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), kwargs)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        wide, like = operands
        return values.with_shape(wide, values.shape_of(like))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        y_bar = operation.result.builder.call(runtime.broadcast_like, (y_bar, operation.result), {})
        return [np.pad(y_bar, **operation.params), None]

    def forward(self, operation: Operation, tangents: list) -> Any:
        if tangents[0] is None:
            return None
        operands = [tangents[0], operation.operands[1]]
        return operation.result.builder.emit(self, operands, operation.params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        operands = [batch.spread(*each) for each in zip(operation.operands, batched, strict=True)]
        return batch.builder.emit(self, operands, _of_samples(operation.params))


def _of_samples(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters where the first axis is that of a batch, which is not padded."""
    return params | {"pad_width": ((0, 0), *params["pad_width"])}


register(Pad(np.pad, "pad"))
register(Folded(runtime.folded, "folded"))
