"""Ufuncs written as the plain NumPy that they stand for, called with what every ufunc takes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.core.builder import Builder
from s2s_ad.core.registry import register
from s2s_ad.rules import support, ufunc_calls
from s2s_ad.rules.composite import Composite


class CompositeUfunc(Composite):
    """A ufunc with several results, or one of vectors and matrices: calls of it become plain NumPy.

    Args:
        text: its signature; the operands come first.
        meaning: what it is, as a function of the arguments; of several results the tuple.
    """

    #: of operands where nothing is asked, whatever the derivatives read
    domain, adjoints = "positive", ("read",)

    def __init__(self, function: np.ufunc, text: str, meaning: Callable, of_complex: bool = True):
        super().__init__(function, text, meaning, of_complex)
        self.ufunc = function

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        kwargs, options = ufunc_calls.options_of(kwargs)
        arguments = support.bind_call(builder, self, self.text, args, kwargs)
        names = list(arguments)[: self.ufunc.nin]
        operands = [support.as_operand(builder, arguments[each]) for each in names]
        operands = ufunc_calls.prepared(builder, self, operands, options)
        arguments |= dict(zip(names, operands, strict=True))
        if not self.of_complex:
            self._refuse_complex(builder, arguments)
        result = self.meaning(**arguments)
        if options.out is None:
            return result
        if not isinstance(result, tuple):
            return ufunc_calls.chosen(result, dataclasses.replace(options, out=options.out[0]))
        each = [dataclasses.replace(options, out=out) for out in options.out]
        return tuple(map(ufunc_calls.chosen, result, each))


def composite_ufunc(function: np.ufunc, text: str, meaning: Callable, **facts: Any) -> None:
    register(CompositeUfunc(function, text, meaning, **facts))
