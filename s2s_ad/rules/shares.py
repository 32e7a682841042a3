"""Sums of shares: e / sum(e) sums to one, so what is shared out by it comes back.

In log-sum-exp, `top + log(sum(exp(x - top)))`, this shows that the derivative by `top` is zero.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, is_same
from s2s_ad.rules import support


def shared_out(builder: Builder, x: Symbol, axis: Any, keepdims: bool) -> Any:
    """The sum of a * e / sum(e), or of e / sum(e), along these axes: a, or ones.

    None where x is nothing of the kind.
    """
    rule, operands, _ = builder.definition(x)
    if rule is None or x.ndim is None:
        return None
    if rule.function in (operator.add, operator.sub):
        return _of_terms(builder, rule.function, operands, x, axis, keepdims)
    if rule.function is operator.neg:
        found = shared_out(builder, operands[0], axis, keepdims)
        return None if found is None else -found
    if rule.function not in (operator.mul, operator.truediv):
        return None
    axes = support.normal_axes(axis, x.ndim)
    if rule.function is operator.truediv:
        e, total = operands
        total, kept = _total(builder, total, axes)
        if not _is_sum_of(builder, total, e, axes, kept) or kept is not keepdims:
            return None
        return 1.0 if total.shape == () else builder.call(runtime.broadcast_like, (1.0, total), {})
    for quotient, e in (operands, operands[::-1]):
        quotient, kept = _total(builder, quotient, axes)
        rule, parts, _ = builder.definition(quotient)
        fits = rule is not None and rule.function is operator.truediv
        if not fits or not _is_sum_of(builder, parts[1], e, axes, kept):
            continue
        if not _is_like(builder, *parts) or (kept and not keepdims):
            continue
        return np.expand_dims(parts[0], axes) if keepdims and not kept and axes else parts[0]
    return None


def _of_terms(
    builder: Builder, function: Any, terms: list, x: Symbol, axis: Any, keepdims: bool
) -> Any:
    """The sum of two terms of one shape, at least one of which is shared out."""
    whole = [isinstance(e, Symbol) and values.same_shape(e.shape, x.shape) for e in terms]
    found = [shared_out(builder, each, axis, keepdims) for each in terms] if all(whole) else []
    if all(each is None for each in found):
        return None
    given = {"axis": axis, "keepdims": keepdims} if keepdims else {"axis": axis}
    sums = [np.sum(e, **given) if f is None else f for e, f in zip(terms, found, strict=True)]
    if (
        isinstance(sums[0], Symbol)
        and is_same(*sums)
        and function is operator.sub
        and builder.phase == "backward"
    ):
        return 0.0  # as an adjoint, a number
    return function(*sums)


def _total(builder: Builder, value: Any, axes: tuple[int, ...]) -> tuple[Any, bool]:
    """(the value without the axes of length one that were put into it, whether it kept them)."""
    rule, operands, params = builder.definition(value)
    if isinstance(value, Symbol) and value.shape == ():
        return value, False
    if rule is None or not rule.inserts_axes or not isinstance(value, Symbol):
        return value, True
    inserted = support.normal_axes(params["axis"], value.ndim)
    return (operands[0], False) if sorted(inserted) == sorted(axes) else (value, True)


def _is_sum_of(builder: Builder, total: Any, e: Any, axes: tuple[int, ...], kept: bool) -> bool:
    rule, operands, params = builder.definition(total)
    if rule is None or rule.function is not np.sum or bool(params.get("keepdims")) is not kept:
        return False
    if not isinstance(e, Symbol) or not is_same(operands[0], e) or e.ndim is None:
        return False
    return sorted(support.normal_axes(params.get("axis"), e.ndim)) == sorted(axes)


def _is_like(builder: Builder, a: Any, total: Symbol) -> bool:
    """Whether a has the shape of the total, so that it is what comes back."""
    return values.same_shape(values.shape_of(builder.fact(a)), total.shape)
