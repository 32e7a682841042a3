"""Shares, unit vectors and what is centred: what is known of a value beside a sum of its own.

e / sum(e) sums to one, so what is shared out by it comes back: in log-sum-exp, `top +
log(sum(exp(x - top)))`, this shows that the derivative by `top` is zero. And the derivative of
y = e / sum(e) as a whole is (y_bar - sum(y_bar * y)) / sum(e). x - mean(x) sums to zero.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, filling_of, is_same
from s2s_ad.core.magnitudes import least
from s2s_ad.core.rule import Operation
from s2s_ad.rules import support
from s2s_ad.rules.index_layout import counts_up, is_indices, is_integer


def shared_out(builder: Builder, x: Symbol, axis: Any, keepdims: bool) -> Any:
    """The sum of a * e / sum(e), or of e / sum(e), along these axes: a, or ones.

    None where x is nothing of the kind.
    """
    rule, operands, _ = builder.definition(x)
    if rule is None or x.ndim is None:
        return None
    axes = support.normal_axes(axis, x.ndim)
    if builder.phase == "backward" and _is_centred(builder, x, axes):
        return 0.0  # as an adjoint, a number
    if rule.function in (operator.add, operator.sub):
        return _of_terms(builder, rule.function, operands, x, axis, keepdims)
    if rule.function is operator.neg:
        found = shared_out(builder, operands[0], axis, keepdims)
        return None if found is None else -found
    if rule.function is runtime.index_add:
        of_element = _of_element if x.ndim == 1 else _of_element_of_rows
        return of_element(builder, x, axis, keepdims)
    if rule.function not in (operator.mul, operator.truediv):
        return None
    share = _of_share if rule.function is operator.truediv else _of_product
    found = share(builder, operands, axes, keepdims)
    return _of_multiple(builder, x, axis, keepdims) if found is None else found


def _is_centred(builder: Builder, x: Symbol, axes: tuple[int, ...]) -> bool:
    """Whether it is a - mean(a), which sums to zero, or a multiple that is one along these axes."""
    rule, operands, _ = builder.definition(x)
    if rule is None or rule.function not in (operator.sub, operator.mul, operator.truediv):
        return False
    if rule.function is operator.sub:
        whole = values.same_shape(values.shape_of(builder.fact(operands[0])), x.shape)
        return whole and _is_mean_of(builder, operands[1], operands[0], axes)
    pairs = [operands, operands[::-1]] if rule.function is operator.mul else [operands]
    return any(
        isinstance(e, Symbol)
        and values.same_shape(e.shape, x.shape)
        and _is_one_along(builder, factor, x.ndim, axes)
        and _is_centred(builder, e, axes)
        for e, factor in pairs
    )


def _is_mean_of(builder: Builder, mean: Any, e: Any, axes: tuple[int, ...]) -> bool:
    """Whether it is the mean along these axes, where it is taken from what it is the mean of."""
    total, kept = _total(builder, mean, axes)
    in_front = sorted(axes) == [*range(len(axes))]  # broadcasting puts them there
    return _is_sum_of(builder, total, e, axes, kept, np.mean) or (
        in_front and _is_sum_of(builder, mean, e, axes, False, np.mean)
    )


def _is_one_along(builder: Builder, factor: Any, rank: int, axes: tuple[int, ...]) -> bool:
    """Whether a factor of what has this rank is the same for all elements along these axes."""
    shape = values.shape_of(builder.fact(factor))
    if shape is None:
        return False
    own = [axis - rank + len(shape) for axis in axes]
    return all(axis < 0 or (type(shape[axis]) is int and shape[axis] == 1) for axis in own)


def _of_multiple(builder: Builder, x: Symbol, axis: Any, keepdims: bool) -> Any:
    """The sum of what is shared out, times a number or divided by it."""
    rule, (first, second), _ = builder.definition(x)
    is_product = rule.function is operator.mul
    if is_product and values.shape_of(builder.fact(second)) != ():
        first, second = second, first
    whole = isinstance(first, Symbol) and first.ndim and isinstance(second, Symbol)
    if not whole or second.shape != ():
        return None
    found = shared_out(builder, first, axis, keepdims)
    return None if found is None else _multiple(builder, found, second, rule.function)


def _multiple(builder: Builder, value: Any, number: Symbol, function: Any) -> Any:
    """a of (a / number) * number, and of (a * number) / number; of zero, as an adjoint, zero."""
    if _is_plain(value) and value == 0:
        return value
    filling = builder.operands_of(value, runtime.broadcast_like)
    if filling:
        inner = _multiple(builder, filling[0], number, function)
        return builder.call(runtime.broadcast_like, (inner, filling[1]), {})
    rule, operands, params = builder.definition(value)
    if rule is not None and rule.inserts_axes:
        inner = _multiple(builder, operands[0], number, function)
        return np.expand_dims(inner, params["axis"])
    undone = operator.truediv if function is operator.mul else operator.mul
    parts = builder.operands_of(value, undone)
    if parts and is_same(parts[1], number):
        return parts[0]
    return function(value, number)


def _of_element(builder: Builder, x: Symbol, axis: Any, keepdims: bool) -> Any:
    """The sum of shares of which one has a number more: e / sum(e) less one at the label.

    Of zeros of which one has a number more it is that number.
    """
    _, (shares, more), params = builder.definition(x)
    if keepdims or not is_integer(params["index"]):
        return None
    if values.shape_of(builder.fact(more)) != ():
        return None
    return _with_more(builder, shares, more, axis, False)


def _of_element_of_rows(builder: Builder, x: Symbol, axis: Any, keepdims: bool) -> Any:
    """The sums of rows of shares of which one element in each has a number more, at a label."""
    _, (shares, more), params = builder.definition(x)
    index = params["index"]
    if x.ndim != 2 or not isinstance(index, tuple) or len(index) != 2:
        return None
    if builder.phase != "backward":
        return None
    row, column = index
    if support.normal_axes(axis, 2) != (1,) or not counts_up(builder, row):
        return None
    if not is_integer(column) and not (is_indices(column) and column.ndim == 1):
        return None
    shape = values.shape_of(builder.fact(more))
    if shape is None or not all(
        values.are_equal(each, x.shape[:1]) for each in (row.shape, shape or row.shape)
    ):
        return None
    if shape and keepdims:
        more = np.expand_dims(more, 1)
    elif isinstance(more, Symbol) and not shape:
        more = builder.call(
            runtime.broadcast_like, (more, np.expand_dims(row, 1) if keepdims else row), {}
        )
    return _with_more(builder, shares, more, 1, keepdims)


def _with_more(builder: Builder, shares: Any, more: Any, axis: Any, keepdims: bool) -> Any:
    """The sum of shares along an axis, or of zeros, and what one element has more."""
    if filling_of(builder, shares) == 0.0:
        return more
    total = shared_out(builder, shares, axis, keepdims)
    if total is None:
        return None
    (sign, one), (other_sign, other) = (_spread(builder, each) for each in (total, more))
    if isinstance(one, Symbol) and is_same(one, other) and sign == -other_sign:
        return 0.0  # as an adjoint, a number
    return total + more


def _spread(builder: Builder, value: Any) -> tuple[int, Any]:
    """(-1, x) of the negative of x, with more axes, and (1, x) of x itself."""
    rule, operands, _ = builder.definition(value)
    if rule is not None and rule.function is operator.neg:
        sign, inner = _spread(builder, operands[0])
        return -sign, inner
    if rule is None or not (rule.inserts_axes or rule.function is runtime.broadcast_like):
        return 1, value
    return _spread(builder, operands[0])


def _of_share(builder: Builder, operands: list, axes: tuple[int, ...], keepdims: bool) -> Any:
    e, total = operands
    total, kept = _total(builder, total, axes)
    if not _is_sum_of(builder, total, e, axes, kept) or kept is not keepdims:
        return None
    return 1.0 if total.shape == () else builder.call(runtime.broadcast_like, (1.0, total), {})


def _of_product(builder: Builder, operands: list, axes: tuple[int, ...], keepdims: bool) -> Any:
    pairs = operands, operands[::-1]
    if builder.phase == "backward" and any(_is_apart(builder, *pair, axes) for pair in pairs):
        return 0.0  # as an adjoint, a number
    for coefficient, e in pairs:
        found = _of_coefficient(builder, coefficient, e, axes, keepdims)
        if found is not None:
            return found
    return None


def _of_coefficient(
    builder: Builder, coefficient: Any, e: Any, axes: tuple[int, ...], keepdims: bool
) -> Any:
    """The sum of a / sum(e) times e, or of several such products; None of anything else."""
    if builder.phase == "backward" and not keepdims:
        several = _of_coefficients(builder, coefficient, e, axes)
        if several is not None:
            return several
    quotient, kept = _total(builder, coefficient, axes)
    parts = builder.operands_of(quotient, operator.truediv)
    if not parts or not _is_sum_of(builder, parts[1], e, axes, kept):
        return None
    number = _is_number_of_adjoint(builder, parts[0])
    one = isinstance(parts[0], Symbol) and parts[0].shape == () and (keepdims or not kept)
    if one and builder.phase == "backward":
        total = np.expand_dims(parts[1], axes) if keepdims and axes and not kept else parts[1]
        return builder.call(runtime.broadcast_like, (parts[0], total), {})
    if not (number or _is_like(builder, *parts)) or (kept and not keepdims):
        return None
    if not keepdims or kept or not axes:
        return parts[0]
    return parts[0] if number else np.expand_dims(parts[0], axes)


def _of_coefficients(builder: Builder, coefficient: Any, e: Any, axes: tuple[int, ...]) -> Any:
    """The sum of a coefficient times e, where it has two terms, or is apart from the shares."""
    for function in (operator.add, operator.sub):
        if terms := builder.operands_of(coefficient, function):
            sums = [_of_coefficient(builder, each, e, axes, False) for each in terms]
            return None if any(each is None for each in sums) else function(*sums)
    parts = builder.operands_of(coefficient, operator.truediv)
    y = builder.found(operator.truediv, e, parts[1]) if parts else None
    if y is None or not _is_apart(builder, y, parts[0], axes):
        return None
    return 0.0  # as an adjoint, a number


def is_last_share(builder: Builder, left: Any, share: Any, sign: int) -> bool:
    """Whether nothing is left of a number with this share of it, which `sign` adds or takes away.

    Of y that is y - y / (p + q) * q, and the share y / (p + q) * p.
    """
    if builder.phase != "backward" or support.shape(share) != ():
        return False
    last = _share_of_sum(builder, share, sign)
    if last is None:
        return False
    scale, (whole, total), e = last
    members = [e]
    while terms := _last_term(builder, left):
        before = _share_of_sum(builder, terms[1], terms[2])
        if before is None or before[0] != scale or not all(map(is_same, before[1], last[1])):
            return False
        left, members = terms[0], [*members, before[2]]
    same = is_same(left, whole) and scale == -1
    if not same and not (_is_plain(left) and _is_plain(whole) and left == -scale * whole):
        return False
    names = sorted(getattr(each, "name", "") for each in members)
    return "" not in names and names == sorted(_names_added(builder, total))


def _is_plain(value: Any) -> bool:
    return type(value) in (int, float)


def _last_term(builder: Builder, value: Any) -> tuple[Any, Any, int] | None:
    """(a, b, -1) of a - b, (a, b, 1) of a + b; None of anything else."""
    for function, sign in ((operator.add, 1), (operator.sub, -1)):
        if terms := builder.operands_of(value, function):
            return terms[0], terms[1], sign
    return None


def _share_of_sum(
    builder: Builder, value: Any, scale: float
) -> tuple[float, list[Any], Any] | None:
    """(2, [y, sum], e) of y / sum * e * 2, which `scale` is multiplied with."""
    if inner := builder.operands_of(value, operator.neg):
        return _share_of_sum(builder, inner[0], -scale)
    if (parts := builder.operands_of(value, operator.truediv)) and _is_plain(parts[1]) and parts[1]:
        return _share_of_sum(builder, parts[0], scale / parts[1])
    factors = builder.operands_of(value, operator.mul)
    if factors and _is_plain(factors[0]):
        return _share_of_sum(builder, factors[1], scale * factors[0])
    for quotient, e in (factors, factors[::-1]) if factors else ():
        parts = builder.operands_of(quotient, operator.truediv)
        if parts and builder.operands_of(parts[1], operator.add):
            return scale, parts, e
    return None


def _names_added(builder: Builder, total: Any) -> list[str]:
    """The names of the terms of a sum."""
    terms = builder.operands_of(total, operator.add)
    if terms:
        return [name for each in terms for name in _names_added(builder, each)]
    return [getattr(total, "name", "")]


def _is_number_of_adjoint(builder: Builder, value: Any) -> bool:
    """Whether it is a number that, as an adjoint, stands for all elements."""
    return builder.phase == "backward" and not isinstance(value, Symbol)


def _is_apart(builder: Builder, y: Any, difference: Any, axes: tuple[int, ...]) -> bool:
    """Whether it is g - sum(g * y), of shares y, whose product with them sums to zero."""
    name, y_name = (each.name if isinstance(each, Symbol) else "" for each in (difference, y))
    if name and builder.notes.get("apart", {}).get(name) == (y_name, sorted(axes)):
        return True
    operands = builder.operands_of(difference, operator.sub)
    parts = builder.operands_of(y, operator.truediv)
    if not operands or not parts:
        return False
    total, kept = _total(builder, parts[1], axes)
    if not _is_sum_of(builder, total, parts[0], axes, kept):
        return False
    shared, kept = _total(builder, operands[1], axes)
    product = builder.found(operator.mul, operands[0], y)
    return product is not None and _is_sum_of(builder, shared, product, axes, kept)


def adjoint_of_normalised(operation: Operation, y_bar: Any) -> Any:
    """The adjoint of `a` by y = a / b where b is the sum of a, the norm, or the like.

    That is sum(a), mean(a), or the root of such a sum of squares, with a number added or without:
    (y_bar - sum(y_bar * y)) / b, and (y_bar - sum(y_bar * y) * y) / b. None where it is nothing of
    the kind.
    """
    (a, b), y = operation.operands, operation.result
    builder = y.builder
    if not all(operation.active) or builder.may_be_complex(y) or a.ndim is None:
        return None
    found = _normaliser(builder, a, b) if values.same_shape(a.shape, y.shape) else None
    if found is None:
        return None
    function, options, root = found
    shared = function(y_bar * y, **options)
    if root:
        return (y_bar - shared * y) / b
    apart, axes = y_bar - shared, support.normal_axes(options.get("axis"), a.ndim)
    total, kept = _total(builder, b, axes)
    if isinstance(apart, Symbol) and _is_sum_of(builder, total, a, axes, kept):
        builder.notes.setdefault("apart", {})[apart.name] = y.name, sorted(axes)
    return apart / b


def is_share(a: Any, b: Any) -> bool:
    """Whether a / b is between 0 and 1, or nan: b is the sum of a, which is nowhere negative."""
    if not isinstance(a, Symbol) or not isinstance(b, Symbol) or a.ndim is None:
        return False
    lows = [least(a.builder, each) for each in (a, b)]  # that of b: with the number added to it
    if any(low is None or low < 0 for low in lows):
        return False
    found = _normaliser(a.builder, a, b)
    return found is not None and found[0] is np.sum and not found[2]


def _normaliser(builder: Builder, a: Symbol, b: Symbol) -> tuple[Any, dict, bool] | None:
    """(sum or mean, its options for what has the shape of a, whether b is a root of squares)."""
    total, inserted = b, None
    rule, operands, params = builder.definition(b)
    if rule is not None and rule.inserts_axes:
        (total,), inserted = operands, sorted(support.normal_axes(params["axis"], b.ndim))
    inner = builder.operands_of(total, np.sqrt)
    root, total = bool(inner), inner[0] if inner else total
    plain = [x for x in builder.operands_of(total, operator.add) if isinstance(x, Symbol)]
    total = plain[0] if len(plain) == 1 else total
    factors = builder.operands_of(total, runtime.contract)
    if factors:
        squares = a.ndim == 1 and b.shape == () and all(is_same(each, a) for each in factors)
        return (np.sum, {}, True) if root and squares else None
    rule, operands, params = builder.definition(total)
    if rule is None or rule.function not in (np.sum, np.mean):
        return None
    if not (_is_square(builder, operands[0], a) if root else is_same(operands[0], a)):
        return None
    axes, kept = sorted(support.normal_axes(params.get("axis"), a.ndim)), params.get("keepdims")
    whole = len(axes) == a.ndim and not kept
    if (inserted is not None) != (not whole and not kept) or inserted not in (None, axes):
        return None
    options = {} if whole else {"axis": params.get("axis"), "keepdims": True}
    return rule.function, options, root


def _is_square(builder: Builder, value: Any, a: Symbol) -> bool:
    rule, operands, _ = builder.definition(value)
    if rule is None or rule.function not in (operator.pow, operator.mul, np.square):
        return False
    of_a = is_same(operands[0], a)
    if rule.function is operator.mul:
        return of_a and is_same(operands[1], a)
    return of_a and (rule.function is np.square or operands[1] in (2, 2.0))


def _of_terms(
    builder: Builder, function: Any, terms: list, x: Symbol, axis: Any, keepdims: bool
) -> Any:
    """The sum of two terms of one shape, at least one of which is shared out."""
    whole = [isinstance(e, Symbol) and values.same_shape(e.shape, x.shape) for e in terms]
    found = [shared_out(builder, each, axis, keepdims) for each in terms] if all(whole) else []
    if all(each is None or (_is_plain(each) and each == 0) for each in found) and None in found:
        return None  # the sum of one of them is no shorter than that of both
    if not found:
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


def _is_sum_of(
    builder: Builder,
    total: Any,
    e: Any,
    axes: tuple[int, ...],
    kept: bool,
    function: Any = np.sum,
) -> bool:
    """Whether a value is the sum, or the mean, of another along these axes, kept or not."""
    rule, operands, params = builder.definition(total)
    if rule is None or rule.function is not function or bool(params.get("keepdims")) is not kept:
        return False
    if not isinstance(e, Symbol) or not is_same(operands[0], e) or e.ndim is None:
        return False
    return sorted(support.normal_axes(params.get("axis"), e.ndim)) == sorted(axes)


def _is_like(builder: Builder, a: Any, total: Symbol) -> bool:
    """Whether a has the shape of the total, so that it is what comes back."""
    return values.same_shape(values.shape_of(builder.fact(a)), total.shape)
