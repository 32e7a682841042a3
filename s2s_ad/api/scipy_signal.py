"""scipy.signal: what is written in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.signal

from s2s_ad.api.callers import arguments_of
from s2s_ad.api.written import write
from s2s_ad.core import tree
from s2s_ad.core.builder import static
from s2s_ad.frontend.lower.calls import HANDLERS, apply, by_rule
from s2s_ad.frontend.resolve import unwrap
from s2s_ad.written import scipy_signal

write(scipy.signal.csd, scipy_signal.csd)
write(scipy.signal.filtfilt, scipy_signal.filtfilt)
write(scipy.signal.freqz, scipy_signal.freqz)
write(scipy.signal.hilbert, scipy_signal.hilbert)
write(scipy.signal.istft, scipy_signal.istft)
write(scipy.signal.lfilter_zi, scipy_signal.steady_state)
write(scipy.signal.lfiltic, scipy_signal.lfiltic)
write(scipy.signal.periodogram, scipy_signal.periodogram)
write(scipy.signal.resample, scipy_signal.resample)
write(scipy.signal.sosfilt, scipy_signal.sosfilt)
write(scipy.signal.spectrogram, scipy_signal.spectrogram)
write(scipy.signal.stft, scipy_signal.stft)
write(scipy.signal.upfirdn, scipy_signal.upfirdn)
write(scipy.signal.welch, scipy_signal.welch)


def _lfilter(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """A filter: from a state as written, else by its rule."""
    found = arguments_of(lowering, scipy.signal.lfilter, "b, a, x, axis=-1, zi=None", args, kwargs)
    if found["zi"] is None:
        return by_rule(lowering, scipy.signal.lfilter, args, kwargs)
    return apply(lowering, scipy_signal.lfilter_from, [*found.values()], {})


HANDLERS[scipy.signal.lfilter] = _lfilter


def _along(library: Callable) -> Callable:
    """A convolution by Fourier transforms: of whole arrays by its rule, along axes as written."""

    def handler(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        found = arguments_of(lowering, library, "in1, in2, mode='full', axes=None", args, kwargs)
        axes = static(tree.to_object(unwrap(found["axes"])), f"axes of {library.__name__}")
        if axes is None:
            return by_rule(lowering, library, args, kwargs)
        axes = (axes,) if isinstance(axes, int) else tuple(axes)
        given = [found["in1"], found["in2"], found["mode"], tree.from_object(axes, lambda e, _: e)]
        return apply(lowering, scipy_signal.convolved_along, given, {})

    return handler


for _library in (scipy.signal.fftconvolve, scipy.signal.oaconvolve):
    HANDLERS[_library] = _along(_library)
