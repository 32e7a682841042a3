"""Functions of scipy.special that are written as other ones, and those that work along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.creation import Creation
from s2s_ad.rules.reductions import Reduction
from s2s_ad.rules.scipy_special_calls import called


def named(name: str, text: str, meaning: Callable, of_complex: bool = False) -> None:
    composite(getattr(scipy.special, name), text, meaning, of_complex=of_complex)


# ---- numbers -------------------------------------------------------------------------------------


def _bernoulli_shape(params: dict[str, Any]) -> tuple:
    n = params["n"]
    return (n + 1 if isinstance(n, int) else values.fresh_dim(),)


register(Creation(scipy.special.bernoulli, "n", _bernoulli_shape))

# ---- numbers of combinations ---------------------------------------------------------------------


def _comb(N: Any, k: Any, exact: Any, repetition: Any) -> Any:
    exact, repetition = static((exact, repetition), "exact and repetition of comb")
    if exact:  # a whole number of Python's, which is as long as it takes
        N, k = static((N, k), "N and k of an exact comb")
        return scipy.special.comb(N, k, exact=True, repetition=bool(repetition))
    if repetition:
        help = "write comb(N + k - 1, k), or exact=True"
        raise UnsupportedError("S2S203", "comb with repetition=True", help=help)
    inside = (k <= N) & (N >= 0) & (k >= 0)
    return np.where(inside, called("binom", N, k), 0.0)


named("comb", "N, k, exact=False, repetition=False", _comb)


# ---- along axes ----------------------------------------------------------------------------------


def _weights(x: Symbol, y: Any, y_bar: Any, axes: Any) -> Any:
    """The softmax, which neither overflows nor loses digits."""
    return y_bar * np.exp(x - y)


class LogSumExp(Reduction):
    """The logarithm of a sum of exponentials; weights and signs are for real numbers alone."""

    weighted = "a, axis=None, b=None, keepdims=False, return_sign=False"

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, self.weighted, args, kwargs)
        signed = static(given["return_sign"], "return_sign of logsumexp")
        if given["b"] is None and not signed:
            along = {key: given[key] for key in ("axis", "keepdims")}
            return super().bind(builder, (given["a"],), along)
        return self._of_weighted(builder, given, signed)

    def _of_weighted(self, builder: Builder, given: dict[str, Any], signed: bool) -> Any:
        """The logarithm of a sum of b * exp(a), which counts from the largest a that b counts."""
        a = support.as_operand(builder, given["a"])
        if builder.may_be_complex(a):
            raise UnsupportedError(
                "S2S302",
                "scipy.special.logsumexp of complex numbers with b= or return_sign=",
                origin=builder.origin,
                help="write it with np.log, np.sum and np.exp",
            )
        axis, keepdims = static(
            (given["axis"], given["keepdims"]), "axis and keepdims of logsumexp"
        )
        b = np.ones_like(a) if given["b"] is None else support.as_operand(builder, given["b"])
        a, b = np.broadcast_arrays(a, b)
        a = builder.call(np.where, (b == 0, -np.inf, a), {})
        top = builder.call(runtime.stop_gradient, (np.max(a, axis=axis, keepdims=True),), {})
        top = builder.call(np.where, (np.isfinite(top), top, 0.0), {})
        total = np.sum(b * np.exp(a - top), axis=axis, keepdims=keepdims)
        top = top if keepdims else np.squeeze(top, axis=axis)
        logarithm = np.log(np.abs(total) if signed else total) + top
        return (logarithm, np.sign(total)) if signed else logarithm


register(
    LogSumExp(
        scipy.special.logsumexp,
        lambda x, y, y_bar, axes: y_bar * support.conj(np.exp(x - y)),
        lambda *given: (np.sum, _weights(*given)),
        many_axes=False,
    )
)


def _softmax(x: Any, axis: Any) -> Any:
    return np.exp(x - called_along("logsumexp", x, axis))


def _log_softmax(x: Any, axis: Any) -> Any:
    return x - called_along("logsumexp", x, axis)


def called_along(name: str, x: Any, axis: Any) -> Any:
    return x.builder.call(getattr(scipy.special, name), (x,), {"axis": axis, "keepdims": True})


named("softmax", "x, axis=None", _softmax, of_complex=True)
named("log_softmax", "x, axis=None", _log_softmax, of_complex=True)
