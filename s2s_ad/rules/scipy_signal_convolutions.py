"""scipy.signal: convolutions and recursive filters, whose adjoints are functions of their kind."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.signal
from numpy.lib.stride_tricks import sliding_window_view

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import CannotBatch, Operation, Rule
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.shape_checks import check_rank


class Convolution(Rule):
    """A convolution or correlation of two arrays of one rank, bilinear.

    Args:
        options: keywords that change how it is computed, with the one value of each that has rules.
        correlates: whether it is a correlation, a convolution with the second array reversed.
        later: of two places in the middle, whether mode='same' begins at the second one.
    """

    linear = (0, 1)
    of_complex = True

    def __init__(
        self, function: Callable, options: str, *, correlates: bool = False, later: bool = False
    ):
        super().__init__(function, function.__name__)
        self.text, self.correlates = f"in1, in2, mode='full'{options}", correlates
        self.later = later

    def _start(self, size: Any) -> Any:
        """Where mode='same' begins in the whole, by the length of the second array."""
        return size // 2 if self.later else (size - 1) // 2

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, self.text, args, kwargs)
        operands = [support.as_operand(builder, given.pop(each)) for each in ("in1", "in2")]
        if len({support.known_rank(each, self.name) for each in operands}) != 1:
            raise ValueError("in1 and in2 should have the same dimensionality")
        if self.name.endswith("2d"):
            check_rank(operands[0], 2, f"{self.name} inputs must both be 2-D arrays")
        if support.rank(operands[0]) == 0:
            return operands[0] * (support.conj(operands[1]) if self.correlates else operands[1])
        mode = static(given.pop("mode"), f"mode of {self.name}")
        outside = {key: given.pop(key) for key in ("boundary", "fillvalue") if key in given}
        plain = support.given(outside, self.text)
        if plain and mode in ("full", "same"):
            boundary = static(outside["boundary"], f"boundary of {self.name}")
            return self._beyond(builder, operands, mode, boundary, outside["fillvalue"])
        options = support.given(support.static_params(given, self), self.text)
        if options.keys() - {"method"}:
            raise UnsupportedError(
                "S2S203",
                f"scipy.signal.{self.name} with {next(iter(options))}=",
                origin=builder.origin,
                help=f"the supported form is {self.name}(in1, in2, mode)",
            )
        return builder.emit(self, operands, {} if mode == "full" else {"mode": mode})

    def _beyond(self, builder: Builder, operands: list, mode: str, boundary: str, fill: Any) -> Any:
        """The result for the first array with what `boundary` says that is around it."""
        kinds = {"fill": "constant", "pad": "constant", "wrap": "wrap", "circular": "wrap"}
        kinds |= dict.fromkeys(("symm", "symmetric"), "symmetric")
        if boundary not in kinds:
            raise ValueError("boundary is none of 'fill', 'circular' (or 'wrap') and 'symmetric'")
        array, window = operands
        sizes = [np.size(window, axis) for axis in range(2)]
        options = {"constant_values": fill} if kinds[boundary] == "constant" else {}
        widths = [(size - 1, size - 1) for size in sizes]
        around: Any = np.pad(array, widths, mode=kinds[boundary], **options)
        whole = builder.emit(self, [around, window], {"mode": "valid"})
        if mode == "full":
            return whole
        starts = [self._start(size) for size in sizes]
        counts = [np.size(array, axis) for axis in range(2)]
        return whole[tuple(slice(s, s + n) for s, n in zip(starts, counts, strict=True))]

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(*operands)
        shape = operands[0].shape
        if params.get("mode") != "same":
            shape = tuple(values.fresh_dim() for _ in shape)
        dtypes = [values.strong_dtype(each) for each in operands]
        return values.Array(None if values.missing(dtypes) else np.result_type(*dtypes), shape)

    def _called(self, correlates: bool, a: Any, v: Any, mode: str) -> Any:
        """The convolution or correlation of this function's family."""
        function = {
            False: getattr(scipy.signal, self.name.replace("correlate", "convolve")),
            True: getattr(scipy.signal, self.name.replace("convolve", "correlate"), None),
        }[correlates]
        if function is None:  # by Fourier transforms: a correlation is a convolution reversed
            return self._called(False, a, support.conj(np.flip(v)), mode)
        return a.builder.call(function, (a, v), {"mode": mode})

    def _whole(self, operation: Operation, y_bar: Any) -> Any:
        """The adjoint of the full convolution, of which the result is the part that `mode` says."""
        mode = operation.params.get("mode", "full")
        if mode == "full":
            return y_bar
        a, v = operation.operands
        widths = []
        for axis in range(a.ndim):
            n, m = np.size(a, axis), np.size(v, axis)
            shorter = np.minimum(n, m)
            before = self._start(m) if mode == "same" else shorter - 1
            after = m - 1 - before if mode == "same" else shorter - 1
            widths.append((before, after))
        return np.pad(y_bar, widths)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (a, v), whole = operation.operands, self._whole(operation, y_bar)
        a_bar = (
            self._called(not self.correlates, whole, v, "valid") if operation.active[0] else None
        )
        v_bar = self._called(True, whole, a, "valid") if operation.active[1] else None
        if self.correlates and v_bar is not None:  # by the conjugate of the second array
            v_bar = support.conj(np.flip(v_bar))
        return [a_bar, v_bar]

    def forward(self, operation: Operation, tangents: list) -> Any:
        (a, v), (a_dot, v_dot) = operation.operands, tangents
        emit = operation.result.builder.emit
        terms = [] if a_dot is None else [emit(self, [a_dot, v], operation.params)]
        terms += [] if v_dot is None else [emit(self, [a, v_dot], operation.params)]
        return terms[0] if len(terms) == 1 else operator.add(*terms)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        """Sums over windows of the first array: in a batch each may have a second of its own."""
        (a, v), mode = operation.operands, operation.params.get("mode", "full")
        rank = support.sample_rank(a, batched[0])
        first = int(batched[0])
        if self.correlates:
            v = support.conj(v)
        else:
            v = np.flip(v, tuple(range(int(batched[1]), v.ndim)))
        sizes = [np.size(v, int(batched[1]) + axis) for axis in range(rank)]
        if mode != "valid":
            same = mode == "same"
            befores = [size - 1 - self._start(size) if same else size - 1 for size in sizes]
            pairs = zip(befores, sizes, strict=True)
            widths = [(b, n - 1 - b if mode == "same" else n - 1) for b, n in pairs]
            a = np.pad(a, [(0, 0)] * first + widths)
        for axis, size in enumerate(sizes):
            a = sliding_window_view(a, size, first + axis)
        places, taps = "ijkl"[:rank], "mnop"[:rank]
        spec = f"{'b' * first}{places}{taps},{'b' * batched[1]}{taps}->b{places}"
        return np.einsum(spec, a, v)


class Filter(Rule):
    """lfilter(b, a, x): y[n] = sum(b[k] * x[n - k]) - sum(a[k] * y[n - k]), for a[0] = 1.

    The adjoint of x is the filter run backwards. Those of the coefficients are sums of the adjoint
    times x, or y, filtered by 1 / a and delayed.
    """

    TEXT = "b, a, x, axis=-1, zi=None"
    linear = (0, 2)
    of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, self.TEXT, args, kwargs)
        if given["zi"] is not None:
            raise UnsupportedError("S2S203", "lfilter with zi=", origin=builder.origin)
        b, a, x = (support.as_operand(builder, given[each]) for each in "bax")
        b, a = (np.reshape(e, (1,)) if support.rank(e) == 0 else e for e in (b, a))
        rank = support.known_rank(x, "lfilter")
        axis = support.normal_axis(static(given["axis"], "axis of lfilter"), rank)
        return builder.emit(self, [b, a, x], {} if axis == rank - 1 else {"axis": axis})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(*operands)
        dtypes = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(dtypes) else np.result_type(*dtypes, np.float32)
        return values.Array(dtype, operands[2].shape)

    def _axis(self, operation: Operation) -> int:
        rank = operation.operands[2].ndim
        return operation.params.get("axis", -1 if rank is None else rank - 1)

    def _recursion(self, operation: Operation, x: Any) -> Any:
        """x filtered by 1 / a."""
        b, a, _ = operation.operands
        return x.builder.emit(self, [np.ones_like(b[:1]), a, x], operation.params)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        (b, a, x), axis, y = operation.operands, self._axis(operation), operation.result
        emit = y.builder.emit
        backwards, taps = np.flip(y_bar, axis), [support.conj(b), support.conj(a)]
        x_bar = np.flip(emit(self, [*taps, backwards], operation.params), axis)
        bars: list = [None, None, x_bar if operation.active[2] else None]
        for index, (signal, sign) in enumerate(((x, 1), (y, -1))):
            if operation.active[index]:
                delayed = self._recursion(operation, signal)
                bars[index] = sign * self._delays(y_bar, delayed, operation.operands[index], axis)
        return bars

    def _delays(self, y_bar: Any, delayed: Any, like: Any, axis: int) -> Any:
        """For each coefficient the sum of the adjoint times the signal that many steps before."""
        size = np.size(delayed, axis)
        if y_bar.ndim == 1:
            lags = y_bar.builder.call(scipy.signal.correlate, (y_bar, delayed), {})
            options = {"length": np.size(like), "axis": -1}  # longer than the signal, perhaps
            return y_bar.builder.call(runtime.resized, (lags[size - 1 :],), options)
        count = support.length(like, 0)
        if isinstance(count, Symbol) and delayed.ndim is not None:
            return _by_windows(y_bar, delayed, count, axis)
        count = static(count, "the number of coefficients")
        sums = [
            np.sum(
                y_bar[support.at(axis, slice(k, None))]
                * support.conj(delayed[support.at(axis, slice(None, size - k))])
            )
            for k in range(count)
        ]
        return np.stack(sums)

    def forward(self, operation: Operation, tangents: list) -> Any:
        (b, a, x), (b_dot, a_dot, x_dot) = operation.operands, tangents
        emit, params = operation.result.builder.emit, operation.params
        terms = [] if x_dot is None else [emit(self, [b, a, x_dot], params)]
        if b_dot is not None:
            terms.append(emit(self, [b_dot, a, x], params))
        if a_dot is not None:
            terms.append(-emit(self, [a_dot, a, operation.result], params))
        total = terms[0]
        for each in terms[1:]:
            total = total + each
        return total

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if batched[0] or batched[1]:
            raise CannotBatch
        axis = {key: each + 1 for key, each in operation.params.items()}
        return batch.builder.emit(self, operation.operands, axis)


def _by_windows(y_bar: Any, signal: Any, count: Any, axis: int) -> Any:
    """The sums of y_bar times the signal 0, 1, ... steps before, as many as count."""
    widths = [(0, 0)] * signal.ndim
    widths[axis] = (count - 1, 0)
    windows = sliding_window_view(np.pad(signal, widths), count, axis)
    return np.tensordot(y_bar, support.conj(windows), signal.ndim)[::-1]


register(Convolution(scipy.signal.convolve, ", method='auto'"))
register(Convolution(scipy.signal.convolve2d, ", boundary='fill', fillvalue=0"))
register(Convolution(scipy.signal.correlate, ", method='auto'", correlates=True))
AROUND = ", boundary='fill', fillvalue=0"
register(Convolution(scipy.signal.correlate2d, AROUND, correlates=True, later=True))
register(Convolution(scipy.signal.fftconvolve, ", axes=None"))
register(Convolution(scipy.signal.oaconvolve, ", axes=None"))
register(Filter(scipy.signal.lfilter, "lfilter"))
