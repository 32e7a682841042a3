"""Ufuncs with two results: each result is an elementwise function of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Symbol
from s2s_ad.rules.composite_ufuncs import composite_ufunc
from s2s_ad.rules.elementwise import Elementwise


class Output(Elementwise):
    """One result of a ufunc with several, which is written as an item of the tuple.

    Args:
        of: the ufunc, and the index of the result.
    """

    def __init__(self, function: Callable, adjoints: tuple, *, of: tuple[np.ufunc, int], **facts):
        super().__init__(function, adjoints, **facts)
        self.whole, self.index = of

    def _dtype(self, operands: list, **options: Any) -> np.dtype | None:
        kinds = tuple(values.dtype_argument(each) for each in operands)
        if values.missing(kinds):
            return None
        results = (None,) * self.whole.nout
        return self.whole.resolve_dtypes((*kinds, *results))[len(operands) + self.index]

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        whole = gast.Call(func=form.constant(self.whole), args=call.args, keywords=[])
        return gast.Subscript(value=whole, slice=form.constant(self.index), ctx=gast.Load())


def _frexp(x: Any) -> tuple:
    return _called(runtime.frexp_mantissa, x), _called(runtime.frexp_exponent, x)


def _modf(x: Any) -> tuple:
    return _called(runtime.modf_fraction, x), np.trunc(x)


def _called(function: Callable, x: Any) -> Any:
    return x.builder.call(function, (x,), {}) if isinstance(x, Symbol) else function(x)


def _divmod(a: Any, b: Any) -> tuple:
    return a // b, a % b


composite_ufunc(np.divmod, "a, b", _divmod)
composite_ufunc(np.frexp, "x", _frexp)
composite_ufunc(np.modf, "x", _modf)
