"""Objects of Python's library that never change: dates, decimals, fractions, patterns.

What is computed of nothing but such objects is computed when code is generated.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import inspect
import re
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.core import tree
from s2s_ad.core.values import PYTHON_NUMBERS
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.references import symbols
from s2s_ad.frontend.resolve import unwrap

#: their classes: what a method gives depends on the object and the arguments alone
CLASSES = (datetime.date, datetime.time, datetime.timedelta, datetime.timezone)
CLASSES += (decimal.Decimal, fractions.Fraction, re.Pattern, re.Match)
CLASSES += (*{each for each in np.sctypeDict.values() if np.dtype(each).kind in "mM"},)
#: methods of the classes themselves of which the same holds: none that reads a clock
MAKERS = (datetime.date.fromisoformat, datetime.date.fromordinal, datetime.datetime.combine)
MAKERS += (datetime.datetime.fromisoformat, datetime.datetime.strptime)
MAKERS += (datetime.datetime.fromordinal, datetime.time.fromisoformat, re.compile)
MAKERS += (decimal.Decimal.from_float, fractions.Fraction.from_float)
#: of a function its definition alone
MAKERS += (inspect.signature, inspect.getfullargspec)
#: nodes and weights, which are arrays: they depend on an integer
MAKERS += (np.polynomial.chebyshev.chebgauss, np.polynomial.hermite.hermgauss)
MAKERS += (np.polynomial.hermite_e.hermegauss, np.polynomial.laguerre.laggauss)
MAKERS += (np.polynomial.legendre.leggauss,)


def is_constant(value: Any) -> bool:
    """Whether it is such an object."""
    return isinstance(unwrap(value), CLASSES)


def makes_constant(function: Any) -> bool:
    """Whether a call gives such an object, or something that only depends on one."""
    if isinstance(function, type):
        return issubclass(function, CLASSES)
    if isinstance(function, types.MethodDescriptorType):
        return issubclass(function.__objclass__, (*CLASSES, *PYTHON_NUMBERS))
    return any(function == each for each in MAKERS)


def known_result(lowering: Lowering, function: Callable, *args: Any, **kwargs: Any) -> Any:
    """What a function gives for arguments that are known."""
    known, named = [*map(_known, args)], {key: _known(value) for key, value in kwargs.items()}
    with lowering.as_python():
        result = function(*known, **named)
    plain = type(result) in (*PYTHON_NUMBERS, str, bytes, types.NoneType)
    if plain or isinstance(result, np.floating | np.bool_):
        return result
    return lowering.captures.computed(result, function.__name__)


def _known(value: Any) -> Any:
    return unwrap(tree.to_object(tree.tree_map(unwrap, value)))


def with_operator(lowering: Lowering, function: Callable, left: Any, right: Any) -> Any:
    """left op right, where one of them is such an object; a fraction beside a value is a number."""
    if not any(True for _ in symbols((left, right))):
        return known_result(lowering, function, left, right)
    pair = [_as_number(each) for each in (left, right)]
    if any(map(is_constant, pair)):
        kinds = " and ".join(type(unwrap(each)).__name__ for each in pair if is_constant(each))
        raise TypeError(f"unsupported operands: a value and {kinds}")
    return lowering.call(function, *pair)


def _as_number(value: Any) -> Any:
    known = unwrap(value)
    return float(known) if isinstance(known, fractions.Fraction) else value
