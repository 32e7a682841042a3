"""Derivatives have the kind of their values: real or complex, in single or in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.registry import rule_of


def real_part(builder: Builder, value: Any) -> Any:
    """The adjoint of a real value: a change of it can only be real."""
    if type(value) is complex:
        return value.real
    complex_ = isinstance(value, Symbol) and values.is_complex(value.fact)
    return builder.call(np.real, (value,), {}) if complex_ else value


def as_complex(value: Any, like: Any) -> Any:
    """A derivative of a complex value in its dtype, though it may be real by itself."""
    if not isinstance(value, Symbol) or not values.is_real(value.fact):
        return value
    if isinstance(value.fact, values.List):
        return value
    if value.shape == ():
        return value + 0j
    rule, operands, params = value.builder.definition(value)
    index = None if rule is None or not isinstance(like, Symbol) else rule.like_position
    others = [each for i, each in enumerate(operands) if i != index]
    if rule is None or index is None or any(isinstance(each, Symbol) for each in others):
        dtype: Any = like.dtype
        return value.astype(dtype.type)
    operands = [like if i == index else each for i, each in enumerate(operands)]
    return value.builder.emit(rule, operands, params)  # a number in the shape of the other


def in_precision(derivative: Any, fact: values.AbstractValue) -> Any:
    """A derivative in single or double precision, as the value is that the fact describes."""
    if not isinstance(derivative, Symbol) or not isinstance(fact, values.Array):
        return derivative
    if not isinstance(derivative.fact, values.Array) or fact.dtype is None:
        return derivative
    dtype = derivative.dtype
    if dtype is None:  # that depends on the path
        return as_dtype(derivative, fact.dtype) if fact.dtype.kind in "fc" else derivative
    if values.is_dtype(dtype, fact.dtype):
        return derivative
    if dtype.kind != fact.dtype.kind or dtype.kind not in "fc":
        return derivative
    return as_dtype(derivative, fact.dtype)


def as_dtype(value: Symbol, dtype: np.dtype) -> Any:
    """The value in another precision; what has no axes may be a Python number when it runs."""
    if value.shape == ():
        return value.builder.emit(rule_of(dtype.type), [value], {})
    return value.astype(dtype)


def fitted(builder: Builder, derivative: Any, value: Any) -> Any:
    """A derivative of `value`: real where it is real, complex where it is complex."""
    fact = builder.fact(value)
    if values.is_complex(fact):
        derivative = as_complex(derivative, value)
    elif values.is_real(fact):
        derivative = real_part(builder, derivative)
    return in_precision(derivative, fact)


def in_kind_of(builder: Builder, derivative: Any, fact: Any) -> Any:
    """A derivative, such as 1.0 or a count, as a number of the type of its value."""
    if not isinstance(derivative, Symbol):
        dtype = fact.dtype if isinstance(fact, values.Array) and fact.shape == () else None
        if dtype is not None and not values.is_dtype(dtype, float):
            return dtype.type(derivative)
        return complex(derivative) if values.is_complex(fact) else float(derivative)
    if values.is_complex(fact):
        derivative = as_complex(derivative, fact)
    if not isinstance(derivative.fact, values.Scalar) or derivative.fact == fact:
        derivative = in_precision(derivative, fact)
        weak = getattr(derivative.fact, "weak", False) and not getattr(fact, "weak", False)
        single = weak and values.is_single(fact)
        return as_dtype(derivative, fact.dtype) if single else derivative
    kind = complex if values.is_complex(fact) else float
    kind = getattr(getattr(fact, "dtype", None), "type", kind)
    return builder.call(kind, (derivative,), {})


def of_one_number(builder: Builder, adjoint: Any, like: Symbol) -> Any:
    """An adjoint of a list, which may be one number for all that is in it, as a list."""
    if not is_one_number(adjoint):
        return adjoint
    if not isinstance(adjoint, Symbol) and adjoint == 0:
        return builder.call(runtime.zeros_like, (like,), {})
    array = builder.call(runtime.list_array, (like, 0), {})
    whole = builder.call(runtime.broadcast_like, (adjoint, array), {})
    return builder.call(runtime.list_rows, (whole,), {})


def is_one_number(adjoint: Any) -> bool:
    """Whether an adjoint is one number for all that is in a value."""
    return not isinstance(adjoint, Symbol) or adjoint.shape == ()
