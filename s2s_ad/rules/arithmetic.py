"""Elementwise functions with simplifications, or ways to call them, of their own."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, filling_of, is_same
from s2s_ad.core.magnitudes import (
    is_off_zero,
    is_settled,
    least,
    note_steep,
    times_settled,
)
from s2s_ad.core.parts import as_complex
from s2s_ad.core.registry import RULES
from s2s_ad.core.rule import Operation
from s2s_ad.rules import support
from s2s_ad.rules.elementwise import FOLDED, Elementwise, keeps_its_type
from s2s_ad.rules.index_layout import is_integer
from s2s_ad.rules.masks import (
    Masked,
    Write,
    chosen_product,
    inside_mask,
    inside_sum,
    masked,
    masked_product,
    one_selection,
)
from s2s_ad.rules.real_powers import is_to_be_checked
from s2s_ad.rules.shares import adjoint_of_normalised, is_last_share, is_share

DIGITS = 15  # of which each decimal number is a float of its own


class Negative(Elementwise):
    """Negation, which goes into a constant factor where there is one."""

    linear = conjugates = (0,)
    unasked = True

    def inside_mask(
        self, builder: Builder, operands: list, params: dict, write: Write, others: tuple
    ) -> Any:
        return inside_mask(builder, operands[0], lambda x, *rest: write(-x, *rest), others)

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        rule, inner, _ = builder.definition(operands[0])
        if rule is not None and rule.function is operator.neg:
            return inner[0]
        if rule is not None and rule.function is operator.mul and type(inner[0]) in (int, float):
            return -inner[0] * inner[1]
        is_difference = rule is not None and rule.function is operator.sub and builder.derived
        if is_difference and operands[0].name not in builder.notes.get("read anyway", ()):
            return inner[1] - inner[0]
        return super().shortcut(builder, operands, params)


class Multiplication(Elementwise):
    """Multiplication: constants are gathered, and stand in front."""

    linear = conjugates = (0, 1)
    unasked = True

    def factors(self, operands: Sequence[Any]) -> tuple[int, int]:
        return 0, 1

    def least(self, operands: list, of: Callable[[Any], float | None]) -> float | None:
        if is_same(*operands):
            return 0.0
        low, other = map(of, operands)
        return low * other if _not_negative(low, other) else None

    def inside_mask(
        self, builder: Builder, operands: list, params: dict, write: Write, others: tuple
    ) -> Any:
        a, b = operands
        if is_settled(builder, b):
            return times_settled(a, inside_mask(builder, b, write, others))
        found = inside_mask(builder, a, lambda x, w, *rest: write(x * w, *rest), (b, *others))
        if found is not None:
            return found
        return inside_mask(builder, b, lambda x, w, *rest: write(w * x, *rest), (a, *others))

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        a, b = operands
        if type(b) in (int, float) and isinstance(a, Symbol):
            a, b = b, a
        if type(a) in (int, float) and isinstance(b, Symbol):
            scaled = self._scale(builder, a, b)
            if scaled is not None:
                return scaled
        elif builder.derived and isinstance(a, Symbol) and isinstance(b, Symbol):
            for simpler in SIMPLER:
                found = simpler(builder, a, b)
                if found is not None:
                    return found
        if builder.derived and a is not operands[0]:
            return builder.emit(self, [a, b], {})
        return super().shortcut(builder, operands, params)

    def _scale(self, builder: Builder, factor: Any, x: Symbol) -> Any:
        if factor == -1 and values.is_inexact(x.fact):
            return -x
        rule, inner, _ = builder.definition(x)
        if rule is None or not builder.derived or not values.is_inexact(x.fact):
            return None
        if rule.function is operator.neg:
            return -factor * inner[0]
        if rule.function is operator.mul and type(inner[0]) in (int, float):
            both = _kept(x, factor * inner[0])
            return None if both is None else both * inner[1]
        if rule.function is operator.truediv and factor:  # c * (x / (c * y)) is x / y
            number, x = _factor(builder, inner[1]) or (0.0, None)
            if abs(number) == abs(factor):
                quotient = inner[0] / x
                return quotient if number == factor else -quotient
        return None


def _signed(builder: Builder, a: Symbol, b: Symbol) -> Any:
    """The product where one factor is a negative, or the sign of what the other is made of."""
    found = _signed_by(builder, a, b)
    return _signed_by(builder, b, a) if found is None else found


def _saturated(builder: Builder, a: Symbol, b: Symbol) -> Any:
    """The slope of y = c / (k + e) by e, times e: y * (1 - k / (k + e)), finite where e is not.

    With e = exp(-x) and c = k = 1 that is the derivative of the logistic function, y * (1 - y).
    Where e is selected, because x may be infinite, so is the last factor.
    """
    for product, e in ((a, b), (b, a)):
        inner = builder.operands_of(product, operator.mul)
        y_bar, slope = inner if inner and is_settled(builder, inner[1]) else (1.0, product)
        where = builder.definition(e)[1] if is_settled(builder, e) else [None, e, None]
        y = _reached(builder, slope, where[1])
        if y is None:
            continue
        _, (c, total), _ = builder.definition(y)
        k = next(each for each in builder.definition(total)[1] if not isinstance(each, Symbol))
        rest = 1 - (k / c * y if _is_number(c) else k / total)
        if where[0] is None:
            return y_bar * y * rest
        return times_settled(y_bar * y, np.where(where[0], rest, 0.0))
    return None


def _divided(builder: Builder, slope: Any) -> list | None:
    """[y, e] of the slope of y = x / e by e, which is y / e where e is finite."""
    if not is_settled(builder, slope):
        return None
    _, (_, quotient, _), _ = builder.definition(slope)
    found = builder.operands_of(quotient, operator.truediv)
    inner = builder.operands_of(found[0], operator.truediv) if found else []
    return found if inner and is_same(inner[1], found[1]) else None


def _reached(builder: Builder, slope: Any, e: Symbol) -> Symbol | None:
    """The y = c / (k + e), k a number, whose slope by e this is, but for its sign."""
    found = _divided(builder, slope)
    if not found:
        return None
    y, total = found
    inner = builder.operands_of(y, operator.truediv)
    if not inner or not is_same(inner[1], total) or (_is_number(inner[0]) and not inner[0]):
        return None
    terms = builder.operands_of(total, operator.add)
    fits = any(is_same(e, each) for each in terms) and any(map(_is_number, terms))
    return y if fits else None


def _signed_by(builder: Builder, one: Symbol, other: Symbol) -> Any:
    rule, inner, _ = builder.definition(one)
    if rule is not None and rule.function is operator.neg:
        return -(inner[0] * other)
    if rule is not None and rule.function is operator.mul:  # a tangent that has the sign's place
        for factor, rest in (inner, inner[::-1]):
            sign = builder.operands_of(factor, np.sign)
            signed = with_sign(builder, other, sign[0]) if sign else None
            if signed is not None:
                return signed * rest
        return None
    is_sign = rule is not None and rule.function is np.sign
    return with_sign(builder, other, inner[0]) if is_sign else None


def with_sign(builder: Builder, value: Any, x: Symbol) -> Any:
    """value * sign(x), where abs(x) is a factor of the value: abs(x) * sign(x) is x."""
    rule, inner, _ = builder.definition(value)
    if rule is None:
        return None
    if rule.is_size:
        same = isinstance(inner[0], Symbol) and inner[0].name == x.name
        return x if same else None
    if rule.function is not operator.mul:
        return None
    for index in (0, 1):
        signed = with_sign(builder, inner[index], x)
        if signed is not None:
            return inner[0] * signed if index else signed * inner[1]
    return None


FARTHEST = 4  # operations between a product and a factor that is looked for


def has_factor(builder: Builder, product: Any, factor: Symbol, farthest: int = FARTHEST) -> bool:
    """Whether a product is known to have a factor; a sum has one where each of its terms has."""
    if not isinstance(product, Symbol):
        return False
    if product.name == factor.name:
        return True
    rule, operands, _ = builder.definition(product)
    if not isinstance(rule, ALGEBRA) or not farthest:
        return False
    if isinstance(rule, Power):
        return type(operands[1]) is int and operands[1] > 1 and is_same(operands[0], factor)
    both = isinstance(rule, Sum | Difference)
    indices = (0, 1) if both else rule.linear
    found = (has_factor(builder, operands[index], factor, farthest - 1) for index in indices)
    return all(found) if both else any(found)


def without_factor(builder: Builder, product: Any, factor: Symbol) -> Any:
    """The product, which has this factor, without it."""
    if is_same(product, factor):
        return 1.0
    rule, operands, _ = builder.definition(product)
    if isinstance(rule, Power):
        return operands[0] ** (operands[1] - 1)
    if isinstance(rule, Sum | Difference):
        return builder.emit(rule, [without_factor(builder, each, factor) for each in operands], {})
    index = next(index for index in rule.linear if has_factor(builder, operands[index], factor))
    rest = without_factor(builder, operands[index], factor)
    return builder.emit(rule, [*operands[:index], rest, *operands[index + 1 :]], {})


def cancelled(builder: Builder, a: Any, b: Any) -> Any:
    """a * b where one is divided by a factor of the other: (2 * y) * (c / y) is 2 * c.

    That is the derivative at y = 0, too, where the quotient is infinite. The slope of y = x / e by
    e, times e, is y, which is finite where e is not. What is divided by a product of the other is
    divided by the rest of that: c / (k * x) * k is c / x.
    """
    for product, ratio in ((a, b), (b, a)):
        if _cancels(builder, product, ratio):
            return _in_shape(builder, _cancelled(builder, product, ratio), [a, b])
        rest = _divides_more(builder, product, ratio)
        if rest is not None:
            return rest
    return None


def _divides_more(builder: Builder, k: Any, ratio: Any) -> Any:
    """c / x, where a derivative has divided c by k * x."""
    c, product = builder.operands_of(ratio, operator.truediv) or (None, None)
    if product is None or ratio.name not in builder.derived_names:
        return None
    factors = builder.operands_of(product, operator.mul)
    for one, x in (factors, factors[::-1]) if factors else ():
        whole = isinstance(x, Symbol) and values.same_shape(x.shape, ratio.shape)
        if whole and is_same(one, k):
            return c / x
    return None


def _cancels(builder: Builder, product: Any, ratio: Any, farthest: int = FARTHEST) -> bool:
    """Whether a factor of the product divides something in the ratio: each term of a sum in it."""
    rule, operands, _ = builder.definition(ratio)
    if is_settled(builder, ratio):
        found = _divided(builder, ratio)
        return bool(found) and has_factor(builder, product, found[1])
    if not isinstance(rule, ALGEBRA) or not farthest:
        return False
    if isinstance(rule, Quotient):
        return isinstance(operands[1], Symbol) and has_factor(builder, product, operands[1])
    both = isinstance(rule, Sum | Difference)
    indices = (0, 1) if both else () if isinstance(rule, Power) else rule.linear
    found = (_cancels(builder, product, operands[index], farthest - 1) for index in indices)
    return all(found) if both else any(found)


def _cancelled(builder: Builder, product: Any, ratio: Any) -> Any:
    rule, operands, _ = builder.definition(ratio)
    dividend, divisor = _divided(builder, ratio) or (None, None)
    if dividend is None and isinstance(rule, Quotient):
        dividend, divisor = operands
    if divisor is not None:
        return without_factor(builder, product, divisor) * dividend
    if isinstance(rule, Sum | Difference):
        return builder.emit(rule, [_cancelled(builder, product, each) for each in operands], {})
    indices = sorted(rule.linear, key=lambda i: not is_settled(builder, operands[i]))
    index = next(index for index in indices if _cancels(builder, product, operands[index]))
    rest = _cancelled(builder, product, operands[index])
    return builder.emit(rule, [*operands[:index], rest, *operands[index + 1 :]], {})


def _in_shape(builder: Builder, value: Any, operands: list) -> Any:
    """A value in the shape that the operands broadcast to; None where facts do not tell it."""
    full = values.broadcast(map(support.shape, operands))
    if value is None or full is None or values.same_shape(support.shape(value), full):
        return value if full is not None else None
    like = (each for each in operands if values.same_shape(support.shape(each), full))
    found = next(like, None)
    return None if found is None else builder.call(runtime.broadcast_like, (value, found), {})


def _unscaled(builder: Builder, a: Symbol, b: Symbol) -> Any:
    """sum(g * (y / e)) * e is sum(g * y), where e is one number along the axes of the sum.

    That is finite where e is not: the derivative by x of a quotient by exp(x).
    """
    for total, e in ((a, b), (b, a)):
        if values.same_shape(total.shape, e.shape):
            found = _without_divisor(builder, total, e)
            if found is not None:
                return found
    return None


def _without_divisor(builder: Builder, value: Any, e: Symbol, farthest: int = 6) -> Any:
    """value * e, where a divisor e is found in the value; None where there is none."""
    rule, operands, params = builder.definition(value)
    if rule is None or not farthest:
        return None
    if isinstance(rule, Quotient) and is_same(operands[1], e):
        return operands[0]
    settled = is_settled(builder, value)
    if isinstance(rule, Multiplication):
        indices: Sequence[int] = (1, 0)
    elif settled:
        indices = (1,)
    elif isinstance(rule, Negative) or (rule.sums and _is_one_along(e, operands, params)):
        indices = (0,)
    else:
        return None
    for index in indices:
        rest = _without_divisor(builder, operands[index], e, farthest - 1)
        if rest is not None:
            around = [*operands[:index], rest, *operands[index + 1 :]]
            return rest if settled else builder.emit(rule, around, params)
    return None


def _is_one_along(e: Symbol, operands: list, params: dict[str, Any]) -> bool:
    """Whether e, beside the array that is summed, does not vary along the axes of the sum."""
    rank = support.rank(operands[0])
    if rank is None or e.shape is None:
        return False
    axes = support.normal_axes(params.get("axis"), rank)
    own = [axis - (rank - len(e.shape)) for axis in axes]
    return all(each < 0 or e.shape[each] == 1 for each in own)


def _with_one_number(builder: Builder, a: Symbol, b: Symbol) -> Any:
    """The product of two values that each have a number as a factor."""
    factors = [_factor(builder, each) for each in (a, b)]
    if None in factors:
        return None
    (left, x), (right, w) = factors
    both = _kept(a, left * right)
    return None if both is None else both * (x * w)


def _kept(value: Symbol, number: float) -> float | None:
    """The number, if it is one beside the value, too, and not infinite or lost.

    One that rounding has made long is the short one next to it: 3 * 0.1 is 0.3.
    """
    if type(number) is float and math.isfinite(number):
        short = float(f"{number:.{DIGITS}g}")
        number = short if abs(short - number) <= math.ulp(number) else number
    return number if values.keeps(value.fact, number) else None


def _of_quotient(builder: Builder, a: Symbol, b: Symbol) -> Any:
    """g / s * e where e / s is a value of the program: g * (e / s)."""
    for quotient, e in ((a, b), (b, a)):
        inner = builder.operands_of(quotient, operator.truediv)
        known = builder.found(operator.truediv, e, inner[1]) if inner else None
        own = known is not None and known.name not in builder.derived_names
        derived = own and quotient.name in builder.derived_names
        if derived and values.same_shape(known.shape, quotient.shape):
            return inner[0] * known
    return None


def _of_elements(builder: Builder, a: Symbol, b: Symbol) -> Any:
    """A product with elements in zeros: only these are multiplied."""
    for sparse, other in ((a, b), (b, a)):
        elements = elements_in_zeros(builder, sparse)
        if len(elements) != 1 or not values.same_shape(sparse.shape, support.shape(other)):
            continue
        ((index, value),) = elements
        items = index if isinstance(index, tuple) else (index,)
        plain = all(isinstance(each, slice) or is_integer(each) for each in items)
        known = sparse.dtype is not None and other.dtype is not None
        if plain and known and np.result_type(sparse.dtype, other.dtype) == sparse.dtype:
            zeros, _ = builder.applied(sparse, runtime.index_add)
            part = _part(builder, other, index)
            return builder.call(runtime.index_add, (zeros, index, value * part), {})
    return None


def _part(builder: Builder, value: Symbol, index: Any, farthest: int = FARTHEST) -> Any:
    """value[index]; of what a derivative computes element by element only these are computed."""
    rule, operands, params = builder.definition(value)
    if rule is None or not rule.elementwise or params or not farthest:
        return value[index]
    arrays = [each for each in operands if values.shape_of(builder.fact(each)) != ()]
    same = all(values.same_shape(support.shape(each), value.shape) for each in arrays)
    if value.name not in builder.derived_names or not same:
        return value[index]
    parts = [
        each
        if values.shape_of(builder.fact(each)) == ()
        else _part(builder, each, index, farthest - 1)
        for each in operands
    ]
    return builder.emit(rule, parts, {})


def _of_ones(builder: Builder, a: Symbol, b: Symbol) -> Any:
    """x * ones is x."""
    for ones, x in ((a, b), (b, a)):
        same = values.same_shape(ones.shape, x.shape) and ones.dtype == x.dtype
        if same and x.dtype is not None and filling_of(builder, ones) == 1:
            return x
    return None


#: simpler forms of a product of two values, in the order in which they are tried
SIMPLER = (_of_ones, _signed, _with_one_number, cancelled, _saturated, masked_product)
SIMPLER += (chosen_product, _of_quotient, _unscaled, _of_elements)


def _factor(builder: Builder, value: Any) -> tuple[Any, Any] | None:
    """(c, x) where the value is c * x with a number c."""
    inner = builder.operands_of(value, operator.mul)
    return tuple(inner) if inner and _is_number(inner[0]) else None


class Quotient(Elementwise):
    """Division: a constant factor of the dividend goes in front."""

    linear = (0,)
    conjugates = (0, 1)

    def is_total(self, operands: list) -> bool:
        return type(operands[1]) in (int, float) and operands[1] != 0

    def is_finite(self, builder: Builder, operands: list) -> bool:
        """Python raises where it divides a number of its own by 0; NumPy's numbers may be."""
        divisor = operands[1]
        fact = builder.fact(divisor)
        raises = isinstance(fact, values.Scalar) and values.is_inexact(fact) is False
        raises = raises and isinstance(builder.fact(operands[0]), values.Scalar)
        known = raises or self.is_total(operands) or _is_mean(builder, *operands)
        return known or is_off_zero(builder, divisor)

    def is_bounded(self, operands: list) -> bool:
        return is_share(*operands)

    def least(self, operands: list, of: Callable[[Any], float | None]) -> float | None:
        return 0.0 if _not_negative(*map(of, operands)) else None

    def inside_mask(
        self, builder: Builder, operands: list, params: dict, write: Write, others: tuple
    ) -> Any:
        a, b = operands
        return inside_mask(builder, a, lambda x, w, *rest: write(x / w, *rest), (b, *others))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        whole = adjoint_of_normalised(operation, y_bar)
        return super().reverse(operation, y_bar) if whole is None else [whole, None]

    def factor(self, position: int, operation: Operation, y_bar: Any) -> Any:
        """The quotient that the dividend's adjoint is serves the divisor's, too."""
        both = operation.result.builder.phase == "backward" and all(operation.active)
        if position == 0 or not both or self._is_complex(operation):
            return super().factor(position, operation, y_bar)
        if self._may_settle(position, operation, y_bar):
            return super().factor(position, operation, y_bar)
        if _is_number(y_bar):  # there is no quotient of arrays to share
            return -(y_bar * operation.result / operation.operands[1])
        return -(y_bar / operation.operands[1]) * operation.result

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        rule, inner, _ = builder.definition(operands[0])
        negated = rule is not None and rule.function is operator.neg
        if negated and builder.derived and isinstance(operands[1], Symbol):
            return -(inner[0] / operands[1])
        scaled = rule is not None and rule.function is operator.mul and builder.derived
        if scaled and all(map(_is_number, (inner[0], operands[1]))) and operands[1]:
            factor, x = _kept(operands[0], inner[0] / operands[1]), inner[1]
            if values.is_inexact(builder.fact(x)) and factor is not None:
                return factor * x
        if builder.derived and (found := _by_quotient(builder, *operands)) is not None:
            return found
        divides = builder.derived and isinstance(operands[1], Symbol)
        if divides and has_factor(builder, *operands):
            return _in_shape(builder, without_factor(builder, *operands), operands)
        if builder.derived and not self.is_finite(builder, operands):
            found = masked(builder, operands[0], operator.truediv, operands[1])
            if found is not None:
                return found
            note_steep(builder, operands[0])
        return super().shortcut(builder, operands, params)


def _is_mean(builder: Builder, a: Any, b: Any) -> bool:
    """Whether a sum is divided by a length: where that is 0 there is nothing to sum up."""
    (rule, _, _), (divisor, _, _) = builder.definition(a), builder.definition(b)
    return rule is not None and divisor is not None and rule.sums and divisor.length


def _by_quotient(builder: Builder, a: Any, b: Any) -> Any:
    """g / (x / b) / b is g / x."""
    inner = builder.operands_of(a, operator.truediv)
    parts = builder.operands_of(inner[1], operator.truediv) if inner else []
    if not parts or not is_same(parts[1], b):
        return None
    alike = values.same_shape(support.shape(parts[0]), support.shape(inner[1]))
    return inner[0] / parts[0] if alike else None


def _not_negative(*lows: float | None) -> bool:
    return all(low is not None and low >= 0 for low in lows)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _sum_inside_masks(
    self: Elementwise, builder: Builder, operands: list, params: dict, write: Write, others: tuple
) -> Any:
    """Where both terms are selections, so is each of the products."""
    terms = inside_sum(builder, operands, write, others)
    return None if terms is None else builder.emit(self, terms, params)


def _both(self: Elementwise, operands: list) -> tuple[int, ...]:
    return (0, 1)


class Sum(Elementwise):
    """Addition: a + (-b) is a - b, a + a is 2 * a; zeros that are updated become the other term."""

    adds = unasked = True
    conjugates = (0, 1)
    inside_mask = _sum_inside_masks
    grows_with = _both

    def least(self, operands: list, of: Callable[[Any], float | None]) -> float | None:
        low, other = map(of, operands)
        return None if low is None or other is None else low + other

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        if builder.derived:
            if _are_same(*operands):
                return 2 * operands[0]
            if is_last_share(builder, *operands, 1):
                return 0.0  # as an adjoint, a number
            for simpler in (_like_terms, _chosen_terms):
                found = simpler(builder, *operands)
                if found is not None:
                    return found
            for one, other in (operands, operands[::-1]):
                simpler = self._simpler(builder, one, other)
                if simpler is not None:
                    return simpler
        return super().shortcut(builder, operands, params)

    def _simpler(self, builder: Builder, a: Any, b: Any) -> Any:
        positive = negated(builder, b)
        return _with_elements(builder, a, b) if positive is None else a - positive


def negated(builder: Builder, value: Any) -> Any:
    """What a value is the negative of; None where it is computed otherwise."""
    rule, inner, _ = builder.definition(value)
    if rule is None:
        return None
    if rule.function is operator.neg:
        return inner[0]
    if rule.function is operator.mul and type(inner[0]) in (int, float) and inner[0] < 0:
        is_count = values.size_of_number(builder.fact(inner[1])) is not None
        return inner[1] if is_count and inner[0] == -1 else -inner[0] * inner[1]
    return None


def _with_elements(builder: Builder, a: Any, b: Any) -> Any:
    """a + b, where b is zeros that elements were added to: these are added to a."""
    elements = elements_in_zeros(builder, b)
    if not elements or not values.same_shape(support.shape(a), b.shape):
        return None
    if values.is_complex(b.fact):  # real elements would hold the real parts alone
        a = as_complex(a, b)
        if not values.is_complex(builder.fact(a)):
            return None
    for index, value in elements:
        a = builder.call(runtime.index_add, (a, index, value), {})
    return a


def _are_same(a: Any, b: Any) -> bool:
    both = isinstance(a, Symbol) and isinstance(b, Symbol)
    return both and a.name == b.name and values.is_inexact(a.fact) is True


def elements_in_zeros(builder: Builder, value: Any) -> list[tuple[Any, Any]]:
    """The (index, value) that were added to zeros, in this order; none where it is no such sum."""
    zeros, sums = builder.applied(value, runtime.index_add)
    if not is_zeros(builder, zeros):
        return []
    return [(params["index"], operands[1]) for operands, params in sums]


def is_zeros(builder: Builder, value: Any) -> bool:
    return isinstance(value, Symbol) and filling_of(builder, value) == 0


class Difference(Elementwise):
    """Subtraction: a - (-b) is a + b."""

    adds = unasked = True
    conjugates = (0, 1)
    inside_mask = _sum_inside_masks
    grows_with = _both

    def factor(self, position: int, operation: Operation, y_bar: Any) -> Any:
        """Where both operands have an adjoint the one is the negative of the other."""
        if position == 1 and all(operation.active) and isinstance(y_bar, Symbol):
            y_bar.builder.notes.setdefault("read anyway", set()).add(y_bar.name)
        return super().factor(position, operation, y_bar)

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        rule, inner, _ = builder.definition(operands[1])
        if rule is not None and rule.function is operator.neg and builder.derived:
            return operands[0] + inner[0]
        if is_last_share(builder, *operands, -1):
            return 0.0  # as an adjoint, a number
        rest = _what_is_left(builder, *operands) if builder.derived else None
        if rest is not None:
            return rest
        for simpler in (_like_terms, _chosen_terms) if builder.derived else ():
            found = simpler(builder, *operands, -1)
            if found is not None:
                return found
        if builder.derived and elements_in_zeros(builder, operands[0]):
            found = _with_elements(builder, -operands[1], operands[0])
            if found is not None:
                return found
        return super().shortcut(builder, operands, params)


def _what_is_left(builder: Builder, a: Any, b: Any) -> Any:
    """a - b of a derivative, where a or its last term is b, be that infinite; None elsewhere.

    The user's own values are computed anew for a derivative, too: there it would be nan.
    """
    if not isinstance(a, Symbol) or a.name not in builder.derived_names:
        return None
    if _are_same(a, b):
        return builder.call(runtime.broadcast_like, (0.0, a), {})
    rest, last = builder.operands_of(a, operator.add) or (None, None)
    if not isinstance(rest, Symbol) or not _are_same(last, b):
        return None
    fits = rest.dtype == a.dtype and values.same_shape(rest.shape, a.shape)
    return rest if fits else None


def _chosen_terms(builder: Builder, a: Any, b: Any, sign: int = 1) -> Any:
    """a + sign * b where b, and a or its last term, are what one mask selects."""
    found = one_selection(builder, a, b, sign)
    if found is not None or not isinstance(a, Symbol) or a.name not in builder.derived_names:
        return found
    rest, last = builder.operands_of(a, operator.add) or (None, None)
    found = one_selection(builder, last, b, sign)
    return None if found is None else rest + found


def _like_terms(builder: Builder, a: Any, b: Any, sign: int = 1) -> Any:
    """a + sign * b where both, or b and a term of a, are multiples of one product, by numbers."""
    if not (isinstance(a, Symbol) and isinstance(b, Symbol)) or not values.is_inexact(b.fact):
        return None
    found = _collected(builder, a, b, sign)
    if found is not None or a.name not in builder.derived_names:
        return found
    rest, last = builder.operands_of(a, operator.add) or (None, None)
    if not (isinstance(rest, Symbol) and isinstance(last, Symbol)):
        return None
    found = _collected(builder, last, b, sign)
    return None if found is None else rest + found


def _collected(builder: Builder, a: Symbol, b: Symbol, sign: int) -> Any:
    (one, x), (other, y) = (_multiple(builder, each) for each in (a, b))
    number = one + sign * other
    if sorted(each.name for each in x) != sorted(each.name for each in y):
        return None
    single = len(x) == 1
    if not number or (single and (one, other) == (1, 1)) or any(is_settled(builder, e) for e in y):
        return None
    product = functools.reduce(operator.mul, y)
    return product if number == 1 else number * product


def _multiple(
    builder: Builder, value: Symbol, farthest: int = 3
) -> tuple[int | float, list[Symbol]]:
    """(c, factors) where a value is c times a product."""
    rule, operands, _ = builder.definition(value)
    if isinstance(rule, Negative) and farthest:
        number, factors = _multiple(builder, operands[0], farthest - 1)
        return -number, factors
    if not isinstance(rule, Multiplication) or not farthest or is_settled(builder, value):
        return 1, [value]
    number, factors = 1, []
    for each in operands:
        if not _is_number(each) and not isinstance(each, Symbol):
            return 1, [value]
        own = (each, []) if _is_number(each) else _multiple(builder, each, farthest - 1)
        number, factors = number * own[0], factors + own[1]
    return (number, factors) if factors and number else (1, [value])


def known_number(builder: Builder, value: Any) -> Any:
    """The Python number that a value is, where it is computed from numbers in the code alone."""
    if type(value) in values.PYTHON_NUMBERS:
        return value
    rule, operands, _ = builder.definition(value)
    if rule is None or rule.function not in FOLDED | {operator.truediv, operator.pow}:
        return None
    numbers = [known_number(builder, each) for each in operands]
    try:
        return None if values.missing(numbers) else rule.function(*numbers)
    except ArithmeticError:
        return None


def power_slope(builder: Builder, base: Any, exponent: Any, function: Any = operator.pow) -> Any:
    """The derivative of base ** exponent by the base: exponent * base ** (exponent - 1).

    Of a power of NumPy's it is one of NumPy's, which of Python's numbers is nan where Python's is
    complex. It is 0 where the exponent is, also at a base of 0, where the second factor is
    infinite. Where the exponent may be 0 the power is taken to `exponent - (exponent != 0)`.
    """
    if known_number(builder, exponent) is not None:
        own = function is not operator.pow and values.may_be_python(builder.fact(base))
        power = builder.call(np.power if own else operator.pow, (base, exponent - 1), {})
        return exponent * power
    kind = getattr(values.strong_dtype(builder.fact(exponent)), "kind", "")
    if kind == "b":
        return exponent
    lower = exponent - (exponent != 0)
    if kind in ("i", "u"):
        return exponent * base**lower
    return builder.call(runtime.power_slope, (base, exponent, lower), {})


def logarithm(base: Any) -> Any:
    """np.log(base), and 0 at 0, where a power of it times its logarithm is nan.

    That of one of Python's numbers is one, too, whose precision is that of what it multiplies.
    """
    if type(base) in (int, float) and base > 0:
        return math.log(base)
    return np.log(np.where(base == 0, 1.0, base))


class Square(Elementwise):
    """np.square, which is a product."""

    def factors(self, operands: Sequence[Any]) -> tuple[int, int]:
        return 0, 0


class PowerSlopes(Elementwise):
    """The derivatives of powers: x ** 0 has none by x, at x = 0 neither."""

    space: ClassVar[dict[str, Any]] = {"logarithm": logarithm}

    def has_slope(self, position: int, operation: Operation) -> bool:
        return position == 1 or known_number(operation.result.builder, operation.operands[1]) != 0

    def factor(self, position: int, operation: Operation, y_bar: Any) -> Any:
        if position == 1:
            return super().factor(position, operation, y_bar)
        builder, function = operation.result.builder, operation.rule.function
        x, w = (self._in_range(each, operation.result) for each in operation.operands)
        return y_bar * power_slope(builder, x, w, function)


class Power(PowerSlopes):
    """x ** 1 is x."""

    @property
    def turns_complex(self) -> bool:
        return self.function is operator.pow

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        if self.function is operator.pow and is_to_be_checked(builder, *args):
            return builder.call(runtime.real_power, args, kwargs)
        return super().bind(builder, args, kwargs)

    def factors(self, operands: Sequence[Any]) -> tuple[int, int] | None:
        return (0, 0) if getattr(operands[1], "value", None) == 2 else None

    def cost_of(self, operands: Sequence[Any]) -> int | None:
        """A square is a product."""
        return 1 if self.factors(operands) else self.cost

    def grows_with(self, operands: list) -> tuple[int, ...]:
        exponent = operands[1]
        return (0,) if type(exponent) in (int, float) and exponent > 0 else ()

    def is_total(self, operands: list) -> bool:
        return type(operands[1]) is int and operands[1] > 0

    def least(self, operands: list, of: Callable[[Any], float | None]) -> float | None:
        base, exponent = operands
        even = type(exponent) is int and exponent % 2 == 0
        return 0.0 if even or _not_negative(of(base)) else None

    def _dtype(self, operands: list, **options: Any) -> np.dtype | None:
        """Of booleans x ** 2 is computed as np.square, whose dtype is another one."""
        base, exponent = operands
        boolean = values.is_dtype(values.strong_dtype(base), bool)
        if boolean and self.function is operator.pow and isinstance(exponent, values.Scalar):
            return None
        return super()._dtype(operands, **options)

    def _is_operator(self, facts: list) -> bool:
        return super()._is_operator(facts) and values.is_inexact(facts[0]) is True

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        base, exponent = operands
        one = type(exponent) in (int, float) and exponent == 1 and isinstance(base, Symbol)
        same = one and (type(exponent) is int or values.is_inexact(base.fact))
        if same and keeps_its_type(builder, base):
            return base
        return super().shortcut(builder, operands, params)


class RealPower(PowerSlopes):
    """real_power(a, b): a ** b of Python's numbers, which is refused where it is complex.

    Samples of a batch are NumPy's numbers, whose powers are real, or nan.
    """

    checks = True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return RULES[operator.pow].infer(operands, params)

    def may_raise(self, operands: list, result: values.AbstractValue) -> bool:
        return True

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return RULES[operator.pow].batch(operation, batched, batch)


class PowerSlope(Elementwise):
    """power_slope(a, b, e): b * a ** e, where e is b - 1, or 0 where b is 0.

    An operation of its own, because its derivative by b is that of b * a ** (b - 1) there, too.
    """

    space: ClassVar[dict[str, Any]] = {"logarithm": logarithm}

    turns_complex = True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if all(isinstance(each, values.Scalar) for each in operands):
            return values.join_all(operands)
        return super().infer(operands, params)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        base, exponent, lower = call.args
        power = gast.BinOp(base, gast.Pow(), lower)
        return gast.BinOp(exponent, gast.Mult(), power)


class Clip(Masked):
    """np.clip, whose bounds may be missing or be called min and max."""

    of_complex = False

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        text = "a, a_min=None, a_max=None, min=None, max=None"
        given = support.bind_call(builder, self, text, args, kwargs)
        low = given["a_min"] if given["min"] is None else given["min"]
        high = given["a_max"] if given["max"] is None else given["max"]
        x = support.as_operand(builder, given["a"])
        if low is None or high is None:
            bound, function = (high, np.minimum) if low is None else (low, np.maximum)
            return x if bound is None else builder.call(function, (x, bound), {})
        return builder.emit(self, [x, low, high], {})


def subtractable(y: Any) -> Any:
    """The value, or 0 where it is -inf, whose difference with -inf is no number."""
    low = least(y.builder, y) if isinstance(y, Symbol) else y
    return np.where(y == -np.inf, 0.0, y) if low is None or low == -math.inf else y


class LogOfSum(Elementwise):
    """np.logaddexp and its kin: not below any of its operands."""

    space: ClassVar[dict[str, Any]] = {"subtractable": subtractable}

    def least(self, operands: list, of: Callable[[Any], float | None]) -> float | None:
        return max((low for low in map(of, operands) if low is not None), default=None)


#: through which a factor is looked for
ALGEBRA = (Difference, Multiplication, Negative, Power, Quotient, Sum)
