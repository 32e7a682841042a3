"""scipy.fft: the transforms of numpy.fft by SciPy, and the cosine and sine transforms.

The transposes are read off the definitions in SciPy's documentation of dct and dst. Types 2 and 3
are each other's transpose, types 1 and 4 their own, but for the weights of the ends: with
M symmetric, DCT-1 is M @ diag(1/2, 1, ..., 1, 1/2), and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.fourier import (
    OF_AXES,
    OF_ONE_AXIS,
    OF_TWO_AXES,
    OTHER_SIDE,
    TRANSFORM,
    Fourier,
    OfReal,
    Shift,
    ToReal,
)
from s2s_ad.rules.shapes import dim_of
from s2s_ad.rules.structure import Structural

HOW = {"overwrite_x": False, "workers": None, "plan": None}  # says how, not what


def _plain(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in kwargs.items() if key not in HOW or each != HOW[key]}


PARTNER = {1: 1, 2: 3, 3: 2, 4: 4}
#: (cosine?, type) -> the weights of the first and last element before and after the transform that
#: is the transpose, where nothing is orthogonalised
WEIGHTS = {
    (True, 1): ((2.0, 2.0), (0.5, 0.5)),
    (True, 2): ((2.0, 1.0), (1.0, 1.0)),
    (True, 3): ((1.0, 1.0), (0.5, 1.0)),
    (False, 2): ((1.0, 2.0), (1.0, 1.0)),
    (False, 3): ((1.0, 1.0), (1.0, 0.5)),
}


class Trigonometric(Structural):
    """dct, dst and their inverses along one axis; the adjoint is `forth` of the partner's type."""

    allocates = True
    cost = TRANSFORM
    text = "x, type=2, n=None, axis=-1, norm=None, orthogonalize=None"
    view = False

    def __init__(self, function: Callable, forth: Callable, inverse: bool):
        super().__init__(function, function.__name__)
        self.forth, self.inverse = forth, inverse

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return super().bind(builder, args, _plain(kwargs))

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        fixed = {key: each for key, each in params.items() if key != "n"}
        fixed = support.static_params(fixed, self) | {"n": params["n"]}
        return support.given(fixed, self.text)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        (x,) = operands
        if support.any_unknown(x):
            return support.unknown(x)
        shape, dtype = list(x.shape), values.strong_dtype(x)
        if params.get("n") is not None:
            shape[params.get("axis", -1)] = dim_of(params["n"])
        made = None if dtype is None else self.function(np.ones(2, dtype)).dtype
        return values.Array(made, tuple(shape))

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        (x,), params = operation.operands, operation.params
        builder, axis = x.builder, params.get("axis", -1)
        rank = support.known_rank(x, f"scipy.fft.{self.name}")
        kind, norm = params.get("type", 2), params.get("norm")
        kind, norm = (PARTNER[kind], OTHER_SIDE[norm]) if self.inverse else (kind, norm)
        whole = params.get("orthogonalize")
        whole = norm == "ortho" if whole is None else whole
        cosine = self.forth is scipy.fft.dct
        before, after = WEIGHTS.get((cosine, kind), (None, None)) if not whole else (None, None)
        y_bar = builder.call(runtime.broadcast_like, (y_bar, operation.result), {})
        options = {"type": PARTNER[kind], "axis": axis, "norm": norm, "orthogonalize": whole}
        if whole == (norm == "ortho"):
            options.pop("orthogonalize")
        x_bar = _weighted(y_bar, before, axis, rank)
        x_bar = builder.call(self.forth, (x_bar,), options)
        x_bar = _weighted(x_bar, after, axis, rank)
        if params.get("n") is None:
            return x_bar
        size = support.length(x, support.normal_axis(axis, rank))
        return builder.call(runtime.resized, (x_bar, size, axis), {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        axis = operation.params.get("axis", -1)
        moved = {"axis": axis + 1} if axis >= 0 else {}
        return batch.builder.emit(self, operation.operands, operation.params | moved)


def _weighted(x: Symbol, ends: tuple | None, axis: int, rank: int) -> Symbol:
    """x with the first and the last element along an axis scaled."""
    for slot, weight in zip((0, -1), ends or (1.0, 1.0), strict=True):
        if weight != 1.0:
            lead = (slice(None),) * support.normal_axis(axis, rank)
            index = (*lead, slot) if lead else slot
            x = x.builder.call(runtime.index_set, (x, index, weight * x[index]), {})
    return x


def _each_axis(function: Callable) -> Callable:
    """The transform along several axes, one after the other."""

    def meaning(x: Any, type: Any, s: Any, axes: Any, norm: Any, orthogonalize: Any, **how: Any):
        if any(how[key] != HOW[key] for key in ("overwrite_x", "workers")):
            raise UnsupportedError("S2S203", f"{function.__name__}n with overwrite_x= or workers=")
        axes, s = static((axes, s), "axes and s")
        lengths = (None,) * 32 if s is None else support.as_tuple(s)
        if axes is None:
            rank = support.known_rank(x, f"scipy.fft.{function.__name__}n")
            axes = tuple(range(rank)) if s is None else tuple(range(-len(lengths), 0))
        for axis, n in zip(support.as_tuple(axes), lengths, strict=False):
            given = {"n": n, "axis": axis, "norm": norm, "orthogonalize": orthogonalize}
            x = x.builder.call(function, (x,), {"type": type} | given)
        return x

    return meaning


OF_EACH = "x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *,"
OF_EACH += " orthogonalize=None"


class WithHow(Fourier):
    """SciPy's functions, with the keywords that say how it is done."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return super().bind(builder, args, _plain(kwargs))


class RealWithHow(WithHow, OfReal):
    """rfft of SciPy."""


class ToRealWithHow(WithHow, ToReal):
    """irfft of SciPy."""


_of = scipy.fft
for _forth, _back, _text in (
    (_of.fft, _of.ifft, OF_ONE_AXIS),
    (_of.fft2, _of.ifft2, OF_TWO_AXES),
    (_of.fftn, _of.ifftn, OF_AXES),
):
    register(WithHow(_forth, _text, _back, np.fft.fft))
    register(WithHow(_back, _text, _forth, np.fft.fft))
register(RealWithHow(_of.rfft, OF_ONE_AXIS, _of.ifft, np.fft.rfft))
register(RealWithHow(_of.rfft2, OF_TWO_AXES, _of.ifft2, np.fft.rfft))
register(RealWithHow(_of.rfftn, OF_AXES, _of.ifftn, np.fft.rfft))
register(ToRealWithHow(_of.irfft, OF_ONE_AXIS, _of.rfft, np.fft.irfft))
register(ToRealWithHow(_of.irfft2, OF_TWO_AXES, _of.rfft2, np.fft.irfft))
register(ToRealWithHow(_of.irfftn, OF_AXES, _of.rfftn, np.fft.irfft))
register(Trigonometric(_of.dct, _of.dct, False))
register(Trigonometric(_of.dst, _of.dst, False))
register(Trigonometric(_of.idct, _of.dct, True))
register(Trigonometric(_of.idst, _of.dst, True))
composite(_of.dctn, OF_EACH, _each_axis(_of.dct))
composite(_of.dstn, OF_EACH, _each_axis(_of.dst))
composite(_of.idctn, OF_EACH, _each_axis(_of.idct))
composite(_of.idstn, OF_EACH, _each_axis(_of.idst))
if _of.fftshift is not np.fft.fftshift:
    register(Shift(_of.fftshift, _of.ifftshift))
    register(Shift(_of.ifftshift, _of.fftshift))
