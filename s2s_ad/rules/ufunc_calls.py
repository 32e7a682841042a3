"""What every ufunc may be called with besides its operands: where=, out=, dtype=, casting=, order=.

Here `out` is the value that the array holds before: what a call leaves in it is a value like any
other. Who calls with out= of arrays in memory is the frontend, which stores the result there.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.rules import support

#: numbers in the domains of the rows: what stands where nothing is computed
HARMLESS = {"above one": 2, "positive": 1, "real": 1, "unit": 0}
#: where the elements of the result stand in memory, which is no part of its value
LAYOUT = ("order", "subok")
#: which casts a call allows where it allows at least those that NumPy makes without being asked
PLAIN_CASTING = ("same_kind", "unsafe")


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """The options of one call of a ufunc."""

    where: Any = True
    out: Any = None
    dtype: Any = None
    casting: str = "same_kind"


def options_of(kwargs: dict[str, Any]) -> tuple[dict[str, Any], Options]:
    """The other keywords of a call, and its options."""
    names = [each.name for each in dataclasses.fields(Options)]
    found = {key: kwargs[key] for key in names if key in kwargs}
    for key in ("casting", "dtype", *LAYOUT):
        static(kwargs.get(key), f"{key} of a ufunc")
    rest = {key: v for key, v in kwargs.items() if key not in found and key not in LAYOUT}
    return rest, Options(**found)


def prepared(builder: Builder, rule: Any, operands: list, options: Options) -> list:
    """The operands as the ufunc computes with them: cast, and harmless where nothing is asked."""
    if options.dtype is None and options.where is True and options.casting in PLAIN_CASTING:
        return operands
    loop = _loop(builder, rule.ufunc, operands, options)
    if options.dtype is not None:
        operands = [support.as_dtype(builder, *pair) for pair in zip(operands, loop, strict=True)]
    if options.where is True or (options.out is not None and not _reads_operands(rule)):
        return operands
    _check_mask(options.where)
    arrays = any(isinstance(builder.fact(each), values.Array) for each in operands)
    return [
        x if arrays and not isinstance(x, Symbol) else _masked(rule, options.where, x, dtype)
        for x, dtype in zip(operands, loop, strict=True)
    ]


def chosen(result: Any, options: Options) -> Any:
    """What the array of the results holds: the old values where nothing was computed."""
    if options.where is True or options.out is None:
        return result
    return np.where(_check_mask(options.where), result, options.out)


def _check_mask(where: Any) -> Any:
    dtype = getattr(where, "dtype", None)
    if dtype is not None and dtype != np.dtype(bool):
        raise TypeError(f"Cannot cast array data from {dtype!r} to dtype('bool')")
    return where


def _reads_operands(rule: Any) -> bool:
    """Whether a derivative reads more than the adjoint: then it has to be finite everywhere."""
    return any(each not in (None, "y_bar", "-y_bar") for each in rule.adjoints)


def _masked(rule: Any, where: Any, x: Any, dtype: np.dtype | None) -> Any:
    """The operand where something is computed; a Python number takes the dtype of the loop."""
    result = np.where(where, x, HARMLESS[rule.domain])
    weak = isinstance(x, Symbol) and isinstance(x.fact, values.Scalar)
    return result.astype(dtype.type) if weak and dtype is not None else result


def _loop(builder: Builder, ufunc: np.ufunc, operands: list, options: Options) -> list:
    """The dtypes that the ufunc casts its operands to; of dtypes not known the one asked for."""
    kinds = tuple(values.dtype_argument(builder.fact(each)) for each in operands)
    wanted = None if options.dtype is None else np.dtype(options.dtype)
    if values.missing(kinds):
        return [wanted] * len(operands)
    signature = (*(None,) * ufunc.nin, *(wanted,) * ufunc.nout)
    empty = (None,) * ufunc.nout
    loop = ufunc.resolve_dtypes((*kinds, *empty), signature=signature, casting=options.casting)
    return list(loop[: len(operands)])
