"""Fourier transforms, numpy.fft: linear functions whose adjoints are the transforms back.

With F the matrix of a transform the adjoint of y = F x is F^H y_bar: the transform back, with the
factor that NumPy gives the transform itself (it is on the other side of `norm`). A transform that
is told a length crops x or fills it up with zeros first, so its adjoint fills up or crops last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import sizes, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import RULES, register
from s2s_ad.core.rule import Operation
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.creation import Creation
from s2s_ad.rules.shapes import dim_of
from s2s_ad.rules.structure import Structural, positional

OF_ONE_AXIS = "x, n=None, axis=-1, norm=None"
OF_TWO_AXES = "x, s=None, axes=(-2, -1), norm=None"
OF_AXES = "x, s=None, axes=None, norm=None"
#: the norm of the adjoint: the factor stays with the transform, which now goes back
OTHER_SIDE = {None: "forward", "backward": "forward", "forward": None, "ortho": "ortho"}
TRANSFORM = 64  # the cost of one element, in additions


class Fourier(Structural):
    """A transform, and `back`, the one that goes back; `kernel` is the transform of one axis."""

    allocates = gives_complex = True
    conjugates = ()
    cost = TRANSFORM
    view = False

    def __init__(self, function: Callable, text: str, back: Callable, kernel: Callable):
        super().__init__(function, function.__name__)
        self.text, self.back, self.kernel = text, back, kernel
        self.places, self.lengths = ("axis", "n") if text == OF_ONE_AXIS else ("axes", "s")

    # ---- calls

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Without axes there is nothing to sum over: a number becomes complex."""
        given = support.bind_call(builder, self, self.text, args, kwargs)
        x = support.strong(builder, support.as_operand(builder, given["x"]))
        no_axes = self.text == OF_AXES and support.rank(x) == 0 and given["axes"] is None
        if no_axes and given["s"] is None and self.kernel is np.fft.fft:
            return x if values.is_complex(builder.fact(x)) else x.astype(self._dtype(x.fact))
        return super().bind(builder, args, kwargs)

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        lengths, places = params[self.lengths], params[self.places]
        places = static(places, f"{self.places} of np.fft.{self.name}")
        if isinstance(lengths, tuple | list):
            lengths = tuple(lengths)
            places = tuple(range(-len(lengths), 0)) if places is None else places
            lengths = None if all(type(n) is int and n == -1 for n in lengths) else lengths
        places = tuple(places) if isinstance(places, list) else places
        norm = static(params["norm"], f"norm of np.fft.{self.name}")
        made = {self.lengths: lengths, "norm": norm}
        return support.given(made, self.text) | self._named(places)

    @property
    def _default(self) -> Any:
        return support.signature(self.text).parameters[self.places].default

    def _named(self, places: Any) -> dict[str, Any]:
        """The axes as a parameter, where they are not those that are meant anyway."""
        return {} if places == self._default else {self.places: places}

    def axes(self, operands: list, params: dict[str, Any]) -> tuple[int, ...]:
        """The axes, counted from the front."""
        places = params.get(self.places, self._default)
        return support.normal_axes(places, len(values.shape_of(operands[0])))

    def asked(self, params: dict[str, Any], count: int) -> tuple:
        """The length that is asked for, for each axis; None where it is that of the input."""
        lengths = params.get(self.lengths)
        lengths = lengths if isinstance(lengths, tuple) else (lengths,) * count
        return tuple(None if type(n) is int and n == -1 else n for n in lengths)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        (x,) = operands
        if support.any_unknown(x):
            return support.unknown(x)
        axes, shape = self.axes(operands, params), list(x.shape)
        for axis, length in zip(axes, self.asked(params, len(axes)), strict=True):
            shape[axis] = shape[axis] if length is None else dim_of(length)
        last = axes[-1]
        shape[last] = self.last_length(shape[last], self.asked(params, len(axes))[-1])
        return values.Array(self._dtype(x), tuple(shape))

    def last_length(self, length: Any, asked: Any) -> Any:
        """The length of the last axis, from that of the input or what is asked for."""
        return length

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        """A transform makes real numbers complex by itself."""
        rule, inner, _ = builder.definition(operands[0])
        if rule is None or rule.function is not np.ndarray.astype or not self.gives_complex:
            return None
        cast = values.is_complex(operands[0].fact) and values.is_real(builder.fact(inner[0]))
        same = cast and self._dtype(inner[0].fact) == self._dtype(operands[0].fact)
        return builder.emit(self, inner, params) if same and builder.derived else None

    def _dtype(self, x: Any) -> np.dtype | None:
        dtype = values.strong_dtype(x)
        return None if dtype is None else self.kernel(np.ones(2, dtype), 2).dtype

    # ---- derivatives

    def call_back(self, operation: Operation, y_bar: Any, lengths: Any = None) -> Any:
        """The transform that is the adjoint, of y_bar in the shape of the result."""
        builder, params = operation.result.builder, operation.params
        y_bar = builder.call(runtime.broadcast_like, (y_bar, operation.result), {})
        norm = OTHER_SIDE[params.get("norm")]
        options = {self.lengths: lengths, self.places: params.get(self.places), "norm": norm}
        options = {key: each for key, each in options.items() if each is not None}
        return builder.call(self.back, (y_bar,), options)

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        return self.resized(operation, self.call_back(operation, y_bar))

    def resized(self, operation: Operation, x_bar: Any) -> Any:
        """An adjoint as long as x, along the axes that were cropped or filled up."""
        (x,) = operation.operands
        rank = support.known_rank(x, f"np.fft.{self.name}")
        axes = self.axes([x.fact], operation.params)
        for axis, length in zip(axes, self.asked(operation.params, len(axes)), strict=True):
            if length is not None:
                place = axis if axis < rank - 1 else -1
                size = support.length(x, axis)
                x_bar = x.builder.call(runtime.resized, (x_bar, size, place), {})
        return x_bar

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        (x,) = operation.operands
        rank = support.sample_rank(x, True)
        places = operation.params.get(self.places, self._default)
        places = tuple(range(-rank, 0)) if places is None else places
        moved = tuple(each + 1 if each >= 0 else each for each in support.as_tuple(places))
        places = moved if isinstance(places, tuple) else moved[0]
        return batch.builder.emit(self, [x], operation.params | self._named(places))


def half_and_one(length: int | values.Dim) -> int | values.Dim:
    """The length of what determines a transform of real numbers: n // 2 + 1."""
    return values.dim_of_size(sizes.quotient(values.size_of_dim(length), 2) + sizes.of(1))


class OfReal(Fourier):
    """rfft: the first half of the transform of real numbers; the other half is its conjugate."""

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if values.is_complex(operands[0]):
            raise TypeError(f"np.fft.{self.name} of complex numbers")
        return super().infer(operands, params)

    def last_length(self, length: Any, asked: Any) -> Any:
        return half_and_one(length)

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        """The other half of the adjoint is zero: it is as if it had been cut off."""
        (x,) = operation.operands
        support.known_rank(x, f"np.fft.{self.name}")
        axes = self.axes([x.fact], operation.params)
        asked = self.asked(operation.params, len(axes))
        full = [
            support.length(x, axis) if length is None else length
            for axis, length in zip(axes, asked, strict=True)
        ]
        lengths = full[0] if self.lengths == "n" else tuple(full)
        return self.resized(operation, np.real(self.call_back(operation, y_bar, lengths)))


class ToReal(Fourier):
    """irfft: real numbers from the first half of their transform."""

    gives_complex = False

    def last_length(self, length: Any, asked: Any) -> Any:
        if asked is not None:
            return length
        return values.dim_of_size((values.size_of_dim(length) - sizes.of(1)).times(2))

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        """All but the first number, and the last of an even length, stand for two."""
        x_bar, (x,) = self.call_back(operation, y_bar), operation.operands
        rank = support.known_rank(x, f"np.fft.{self.name}")
        last = self.axes([x.fact], operation.params)[-1]
        length = self.asked(operation.params, 1)[-1]
        twice = slice(1, -1 if length is None else (length + 1) // 2)
        index = (*(slice(None),) * last, twice) if last else twice
        if last == rank - 1 > 0:
            index = (Ellipsis, twice)
        doubled = 2 * x_bar[index]
        x_bar = x.builder.call(runtime.index_set, (x_bar, index, doubled), {})
        return self.resized(operation, x_bar)


class Resized(Structural):
    """resized(x, length, axis): x cropped or filled up with zeros along an axis."""

    text = "x, length, axis"
    total = True

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        return params

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        (x,) = operands
        if support.any_unknown(x):
            return support.unknown(x)
        shape = list(x.shape)
        shape[params["axis"]] = dim_of(params["length"])
        return values.with_shape(x, tuple(shape))

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        (x,) = operands
        same = x.shape is not None and x.shape[params["axis"]] == dim_of(params["length"])
        return x if same else None

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        (x,), axis = operation.operands, operation["axis"]
        length = support.length(x, support.normal_axis(axis, support.known_rank(x, "resized")))
        return x.builder.call(runtime.resized, (y_bar, length, axis), {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        axis = operation["axis"]
        params = operation.params | {"axis": axis + 1 if axis >= 0 else axis}
        return batch.builder.emit(self, operation.operands, params)

    def surface(self, call: Any, facts: Callable) -> Any:
        return positional(call)


class Shift(Structural):
    """fftshift and ifftshift, which undo each other."""

    allocates = moves = True
    text = "x, axes=None"
    view = False

    def __init__(self, function: Callable, back: Callable):
        super().__init__(function, function.__name__)
        self.back = back

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        (x,) = operands
        return x if isinstance(x, values.Unknown) else values.with_shape(x, values.shape_of(x))

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        return y_bar.builder.call(self.back, (y_bar,), operation.params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        (x,) = operation.operands
        axes = support.normal_axes(operation.params.get("axes"), support.sample_rank(x, True))
        moved = tuple(axis + 1 for axis in axes)
        return batch.builder.emit(self, [x], {"axes": support.axis_of(moved)}) if moved else x


class Frequencies(Creation):
    """fftfreq and rfftfreq: constants, but for the spacing."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, "n, d=1.0, device=None", args, kwargs)
        if isinstance(given["d"], Symbol):
            return super().bind(builder, (given["n"],), {}) / given["d"]
        return super().bind(builder, (given["n"], given["d"]), {})


def _half(full: dict[str, Any]) -> values.Shape:
    return (half_and_one(dim_of(full["n"])),)


def _hfft(x: Any, n: Any, axis: Any, norm: Any) -> Any:
    return np.fft.irfft(np.conj(x), n=n, axis=axis, norm=OTHER_SIDE[norm])


def _ihfft(x: Any, n: Any, axis: Any, norm: Any) -> Any:
    return np.conj(np.fft.rfft(x, n=n, axis=axis, norm=OTHER_SIDE[norm]))


FORTH_AND_BACK = (
    (np.fft.fft, np.fft.ifft, OF_ONE_AXIS),
    (np.fft.fft2, np.fft.ifft2, OF_TWO_AXES),
    (np.fft.fftn, np.fft.ifftn, OF_AXES),
)
for _forth, _back, _text in FORTH_AND_BACK:
    register(Fourier(_forth, _text, _back, np.fft.fft))
    register(Fourier(_back, _text, _forth, np.fft.fft))
register(OfReal(np.fft.rfft, OF_ONE_AXIS, np.fft.ifft, np.fft.rfft))
register(OfReal(np.fft.rfft2, OF_TWO_AXES, np.fft.ifft2, np.fft.rfft))
register(OfReal(np.fft.rfftn, OF_AXES, np.fft.ifftn, np.fft.rfft))
register(ToReal(np.fft.irfft, OF_ONE_AXIS, np.fft.rfft, np.fft.irfft))
register(ToReal(np.fft.irfft2, OF_TWO_AXES, np.fft.rfft2, np.fft.irfft))
register(ToReal(np.fft.irfftn, OF_AXES, np.fft.rfftn, np.fft.irfft))
register(Frequencies(np.fft.fftfreq, "n, d=1.0", lambda full: (dim_of(full["n"]),)))
register(Frequencies(np.fft.rfftfreq, "n, d=1.0", _half))
register(Resized(runtime.resized, "resized"))
register(Shift(np.fft.fftshift, np.fft.ifftshift))
register(Shift(np.fft.ifftshift, np.fft.fftshift))

composite(np.fft.hfft, OF_ONE_AXIS, _hfft)
composite(np.fft.ihfft, OF_ONE_AXIS, _ihfft)

# NumPy returns the result of these, and leaves what it is given as out= as it was.
for _function in (np.fft.hfft, np.fft.ifft2, np.fft.irfft2):
    RULES[_function].fills_out = False
