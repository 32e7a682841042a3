"""Products with values that are zero where a mask, an index or a triangle leaves something out.

What was not selected has no part in a derivative, however steep the function is there. So where a
factor may be infinite, the product is written inside of the selection:

    np.where(mask, y_bar, 0.0) * (0.5 / y)    becomes    np.where(mask, y_bar * (0.5 / y), 0.0)

as many operations, and 0 where the former is 0 * inf. Zeros that are the value of something, like
the cosine of pi / 2, stay factors: there 0 * inf is nan, for the derivative may be any number.

What one mask selects, of one value and of another, is one selection (`one_selection`).
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, Symbol, is_same
from s2s_ad.core.magnitudes import (
    as_factor,
    may_be_infinite,
    note_steep,
    rely_on,
    stays_finite,
)
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch, block
from s2s_ad.core.rule import ITEM, Operation
from s2s_ad.core.zero_paths import zero_paths
from s2s_ad.rules.elementwise import Elementwise

FARTHEST = 30  # factors between a selection and the product
DEEPEST = 3  # selections inside of each other

#: (value, others) -> what is linear in the value, element by element
Write = Callable[..., Any]


def is_zero(value: Any) -> bool:
    """Whether an operand is the number 0."""
    return type(value) in values.PYTHON_NUMBERS and value == 0


def masked_product(builder: Builder, a: Any, b: Any) -> Any:
    """a * b with one of them inside of the selection that the other is; None where neither is."""
    found = None
    if may_be_infinite(builder, b):
        found = masked(builder, a, lambda x, factor: x * factor, b)
        if found is None:
            note_steep(builder, a)
    if found is None and may_be_infinite(builder, a):
        found = masked(builder, b, lambda x, factor: factor * x, a)
        if found is None:
            note_steep(builder, b)
    return found


def chosen_product(builder: Builder, a: Any, b: Any) -> Any:
    """np.where(mask, 1.0, 0.0) * b is np.where(mask, b, 0.0); None where a and b are no such."""
    for one, other in ((a, b), (b, a)):
        half = _half(builder, one)
        if half is not None and _is_finite(half.value) and half.factor is None:
            return half.filled(other if half.value == 1 else half.value * other, 0.0)
    return None


def one_selection(builder: Builder, a: Any, b: Any, sign: int = 1) -> Any:
    """a + sign * b, both being what one mask selects; None of others.

    np.where(mask, y, 0.0) * u + np.where(mask, 0.0, y) * v    is    y * np.where(mask, u, v)
    np.where(mask, x, 0.0) + np.where(mask, y, 0.0)            is    np.where(mask, x + y, 0.0)
    np.where(mask, x, z) + np.where(mask, y, 0.0)              is    np.where(mask, x + y, z)
    """
    for other in _halves(builder, b):
        other = other if sign > 0 else other.negative
        for one in _halves(builder, a):
            if is_same(one.mask, other.mask):
                join = _added if one.is_first == other.is_first else _both_halves
                return join(builder, one, other)
        found = _with_half(builder, a, other)
        if found is not None:
            return found
    return None


def _both_halves(builder: Builder, one: _Half, other: _Half) -> Any:
    """The selection of which one side is the one, and the other is the other."""
    u, v = (1.0 if each.factor is None else each.factor for each in (one, other))
    doubles = _is_finite(u) and _is_finite(v)  # NumPy makes an array of doubles of these
    apart = is_same(u, v) or (doubles and not _is_double(builder, one.value))
    if apart or not is_same(one.value, other.value):
        sides = one.product, other.product
        return one.filled(*sides) if any(_is_inexact(builder, each) for each in sides) else None
    return one.value * one.filled(u, v)


def _added(builder: Builder, one: _Half, other: _Half) -> Any:
    """The selection of the sum, unless both are products with what is selected once."""
    scaled = all(each.factor is None or _is_finite(each.factor) for each in (one, other))
    if not scaled and is_same(one.value, other.value):
        return None
    x, y = one.product, other.product
    if not _is_inexact(builder, x):
        return None
    return one.filled(x + y, 0.0) if _have_one_dtype(builder, x, y) else None


def _with_half(builder: Builder, whole: Any, half: _Half) -> Any:
    """A derivative's selection between two values, to one of which another is added."""
    rule, operands, _ = builder.definition(whole)
    made = isinstance(rule, Where) and whole.name in builder.derived_names
    if not made or not is_same(operands[0], half.mask):
        return None
    sides, index = list(operands[1:]), 0 if half.is_first else 1
    alike = _have_one_dtype(builder, sides[index], half.product)
    if not alike or any(map(is_zero, sides)):
        return None
    sides[index] = sides[index] + half.product
    return np.where(half.mask, *sides)


def _have_one_dtype(builder: Builder, x: Any, y: Any) -> bool:
    """Whether a sum has the dtype that a selection of either has."""
    if not (isinstance(x, Symbol) and isinstance(y, Symbol)):
        return _is_finite(x) and _is_finite(y)
    dtype = values.strong_dtype(x.fact)
    return dtype is not None and dtype == values.strong_dtype(y.fact)


@dataclass(frozen=True, slots=True)
class _Half:
    """`value * factor`, where a mask is true (`is_first`) or where it is not; zeros elsewhere."""

    mask: Symbol
    is_first: bool
    value: Any
    factor: Any = None

    @property
    def product(self) -> Any:
        return self.value if self.factor is None else self.value * self.factor

    @property
    def negative(self) -> _Half:
        builder, factor = self.mask.builder, self.factor
        if factor is None:
            return replace(self, factor=-1 if _is_inexact(builder, self.value) else -1.0)
        if not _is_inexact(builder, factor):  # a mask has no negative, nor do all whole numbers
            return replace(self, value=-1.0 * self.value)
        return replace(self, factor=-factor)

    def filled(self, here: Any, elsewhere: Any) -> Any:
        return np.where(self.mask, *((here, elsewhere) if self.is_first else (elsewhere, here)))


def _half(builder: Builder, value: Any) -> _Half | None:
    return next(_halves(builder, value), None)


def _halves(builder: Builder, value: Any) -> Iterator[_Half]:
    """The half of a selection that a value is, and that by another mask of what is selected."""
    half = _outer_half(builder, value)
    if half is None:
        return
    yield half
    inner = _outer_half(builder, half.value)
    if inner is not None and not is_same(inner.mask, half.mask):
        yield replace(inner, value=half.filled(inner.value, 0.0), factor=_product(half, inner))


def _product(one: _Half, other: _Half) -> Any:
    factors = [each.factor for each in (one, other) if each.factor is not None]
    return functools.reduce(operator.mul, factors) if factors else None


def _outer_half(builder: Builder, value: Any) -> _Half | None:
    rule, operands, _ = builder.definition(value)
    if rule is None:
        return None
    if rule.function is operator.neg:
        half = _half_of_selection(builder, operands[0])
        return None if half is None else half.negative
    if rule.function is operator.mul:
        for one, other in (operands, operands[::-1]):
            half = _half_of_selection(builder, one)
            if half is not None:
                return replace(half, factor=other)
    return _half_of_selection(builder, value)


def _half_of_selection(builder: Builder, value: Any) -> _Half | None:
    rule, operands, _ = builder.definition(value)
    choice = rule.only_choice(operands) if isinstance(rule, Where) else None
    if choice is None or not isinstance(operands[0], Symbol):
        return None
    return _Half(operands[0], choice == 1, operands[choice])


def _is_finite(value: Any) -> bool:
    """Whether it is a number of Python's, and no nan that marks where there is no derivative."""
    return type(value) in (int, float) and math.isfinite(value)


def _is_inexact(builder: Builder, value: Any) -> bool:
    return values.is_inexact(builder.fact(value)) is not False


def _is_double(builder: Builder, value: Any) -> bool:
    """Whether what is multiplied with it may be in double precision."""
    return values.is_dtype(values.strong_dtype(builder.fact(value)), float) or _is_finite(value)


def masked(builder: Builder, value: Any, write: Write, other: Any) -> Any:
    """write(value, other) inside of the selection that the value is; None where it is none.

    What is written inside may be inside of another selection, and so on, some levels deep: else
    each product in a long chain of selections would be written as often as the chain is long.
    """
    level = builder.notes.get("level", 0)
    if level == DEEPEST:
        return None
    builder.notes["level"] = level + 1
    try:
        return inside_mask(builder, value, write, (other,))
    finally:
        builder.notes["level"] = level


def inside_mask(builder: Builder, value: Any, write: Write, others: tuple) -> Any:
    """write(value, *others) inside of the selection that the value is; None where it is none.

    Each of the `others` has the value's shape, or is broadcast to it.
    """
    if not isinstance(value, Symbol) or len(others) > FARTHEST:
        return None
    mask = _mask(builder, value)
    if mask is not None:
        whole = mask.shape is not None and any(_is_whole(mask.shape, each) for each in others)
        return np.where(mask, write(1.0, *others), 0.0) if whole else None
    unmasked = builder.notes.setdefault("unmasked", set())
    rule, operands, params = builder.definition(value)
    if value.name in unmasked or rule is None:
        return None
    if rule is ITEM:
        found = _off_the_paths(builder, value, write, others)
        return _off_the_mask(builder, value, write, others) if found is None else found
    if rule.moves:
        found = _inside_moved(builder, value, write, others)
    else:
        found = rule.inside_mask(builder, operands, params, write, others)
    if found is None and builder.notes.get("level") == 1 and not builder.notes.get("in_sum"):
        unmasked.add(value.name)
    return found


def inside_sum(builder: Builder, operands: list, write: Write, others: tuple) -> list | None:
    """The terms of a sum, each with what is written inside of the selection that it is.

    Not of a sum of sums, whose terms would be as many as the sums are deep, to the power of two;
    nor of two terms of which one is there where the other is not: such a sum leaves nothing out.
    """
    if builder.notes.get("in_sum") or _leaves_nothing_out(builder, operands, write, others):
        return None
    builder.notes["in_sum"] = True
    try:
        terms = [inside_mask(builder, each, write, others) for each in operands]
    finally:
        builder.notes["in_sum"] = False
    return None if values.missing(terms) else terms


def _leaves_nothing_out(builder: Builder, terms: list, write: Write, others: tuple) -> bool:
    """Whether the terms are values where a < b, and where b < a, that have left nothing out: the
    adjoint of what is computed of both arguments of np.minimum."""
    (rule, first, _), (same, second, _) = (builder.definition(each) for each in terms)
    if rule is not same or not isinstance(rule, Selection) or rule.chosen != (0,):
        return False
    if min(len(first), len(second)) < 3:
        return False
    (one, a, b), (other, c, d) = first[:3], second[:3]
    if not (is_same(a, d) and is_same(b, c)):
        return False
    return all(inside_mask(builder, each, write, others) is None for each in (one, other))


def _off_the_paths(builder: Builder, value: Symbol, write: Write, others: tuple) -> Any:
    """write(value, *others) on the paths of a branch on which a tangent may be other than zero.

    Adjoints go into the branch themselves (`simplify/sinking.py`), which does nothing else.
    """
    operands = [value, *(each for each in others if isinstance(each, Symbol))]
    if builder.phase != "tangent" or any(each.shape != () for each in operands):
        return None
    where = zero_paths(builder, [value])
    if where is None or where.is_nested:
        return None
    inner = Builder()
    leaves = {each.name: inner.symbol(each.fact, builder.hints[each.name]) for each in operands}
    given = [leaves[each.name] if isinstance(each, Symbol) else each for each in (value, *others)]
    with inner.at(builder.origin, builder.phase):
        product = write(*given)
    names = [each.name for each in leaves.values()]
    off = block(inner, names, [product])
    on = off.with_(body=(), output=tree.tuple_of([form.constant(0.0)]))
    made = Branch(on, off) if where.then else Branch(off, on)
    return made.call(builder, [Symbol(builder, where.condition), *operands])[0]


def _off_the_mask(builder: Builder, value: Symbol, write: Write, others: tuple) -> Any:
    """write(value, *others), and zero where a side of a branch has set its value to zero.

    That side is `if np.any(mask): y[mask] = other`, on the way back.
    """
    _, (call,), params = builder.definition(value)
    branch, operands, _ = builder.definition(call)
    if not isinstance(branch, Branch) or value.shape is None or not is_mask(operands[0]):
        return None
    for then, (side, other) in ((True, branch.blocks), (False, branch.blocks[::-1])):
        mask = _set_to_zero(side, other, params["index"], operands[1:])
        if mask is None or not values.same_shape(mask.shape, value.shape):
            continue
        with as_factor(value):
            product = write(value, *others)
        if not isinstance(product, Symbol) or not values.same_shape(product.shape, value.shape):
            return None
        (any_of,) = builder.operands_of(operands[0], np.any)[:1] or (None,)
        if not (then and is_same(any_of, mask)):
            mask = np.logical_and(mask, operands[0] if then else np.logical_not(operands[0]))
        return builder.call(runtime.index_set, (product, mask, 0.0), {})
    return None


def _set_to_zero(side: Program, other: Program, index: int, operands: list) -> Symbol | None:
    """The mask of the elements that one side of a branch sets to zero in what the other keeps."""
    given = dict(zip(side.leaves(), operands, strict=True))
    kept = dict(zip(other.leaves(), operands, strict=True))
    name = getattr(side.outputs()[index], "id", None)
    made = next((each for each in side.body if each.target == name), None)
    if not isinstance(made, form.Op) or made.rule.function is not runtime.index_set:
        return None
    before, zero = made.operands
    mask = given.get(getattr(dict(made.parameters)["index"], "id", None))
    array = given.get(getattr(before, "id", None))
    unchanged = kept.get(getattr(other.outputs()[index], "id", None))
    if array is None or not is_same(array, unchanged) or getattr(zero, "value", None) != 0:
        return None
    return mask if is_mask(mask) else None


def _inside_moved(builder: Builder, value: Symbol, write: Write, others: tuple) -> Any:
    """What is multiplied with moved elements is moved back, and the product is moved."""
    rule, operands, params = builder.definition(value)
    active = (True, *(False,) * (len(operands) - 1))
    operation = Operation(rule, operands, params, value, active)
    if value.shape is None:
        return None
    others = restricted(others, value, lambda each: rule.reverse(operation, each)[0])
    if others is None:
        return None
    inner = inside_mask(builder, operands[0], write, tuple(others))
    if inner is None and rule.leaves_zeros:
        inner = write(operands[0], *others)
    return None if inner is None else builder.emit(rule, [inner, *operands[1:]], params)


def _mask(builder: Builder, value: Symbol) -> Symbol | None:
    """The mask that a factor is, in whatever type its zeros and ones are."""
    rule, operands, _ = builder.definition(value)
    source = operands[0] if rule is not None and rule.converts else value
    return source if is_mask(source) else None


def is_mask(value: Any) -> bool:
    """Whether it is a truth, or an array of them."""
    if not isinstance(value, Symbol):
        return False
    return values.is_dtype(values.strong_dtype(value.fact), bool)


def _is_whole(shape: values.Shape, value: Any) -> bool:
    """Whether there is an element for each one of a mask, not one for many."""
    own = value.shape if isinstance(value, Symbol) else ()
    return values.same_shape(own, shape)


def restricted(others: tuple, whole: Symbol, part: Callable[[Symbol], Any]) -> list | None:
    """What `part` takes of the others; None unless they are certain to be of the whole's shape, or
    to be broadcast to it."""
    if not all(map(functools.partial(_fits, whole.shape), others)):
        return None
    return [_part_of(each, whole, part) for each in others]


def _fits(whole: values.Shape, value: Any) -> bool:
    if not isinstance(value, Symbol) or value.shape == () or _is_whole(whole, value):
        return True
    is_smaller = value.shape is not None and len(value.shape) < len(whole)
    return is_smaller and values.are_equal(value.shape, whole[len(whole) - len(value.shape) :])


def _part_of(value: Any, whole: Symbol, part: Callable[[Symbol], Any]) -> Any:
    """Of a slope like 0.5 / y only the part is computed: 0.5 / y[1:]."""
    if not isinstance(value, Symbol) or value.shape == ():
        return value
    builder = value.builder
    rule, operands, params = builder.definition(value)
    derived = rule is not None and rule.elementwise and value.name in builder.derived_names
    if derived and all(map(functools.partial(_fits, whole.shape), operands)):
        return builder.emit(rule, [_part_of(each, whole, part) for each in operands], params)
    if not _is_whole(whole.shape, value):
        value = builder.call(runtime.broadcast_like, (value, whole), {})
    return part(value)


def within(mask: Any, value: Symbol, write: Write, others: tuple) -> Any:
    """write(value, *others) where the mask is true, 0 elsewhere."""
    with as_factor(value):
        product = write(value, *others)
    return np.where(mask, product, 0.0)


def condition_of(builder: Builder, value: Any, farthest: int = FARTHEST) -> Any:
    """The mask outside of which a product is zero; None where none is known."""
    rule, operands, _ = builder.definition(value)
    if rule is None or not rule.elementwise or not farthest:
        return None
    if rule.function is np.where:
        return operands[0] if is_zero(operands[2]) else None
    factors = (condition_of(builder, operands[i], farthest - 1) for i in rule.linear)
    return next((each for each in factors if each is not None), None)


def selected(mask: Any, value: Any) -> Any:
    """The value where the mask is true, 0 elsewhere; a product where the value is finite."""
    if isinstance(value, Symbol):
        rely_on(value.builder, value)
        if not stays_finite(value.builder, value):
            return np.where(mask, value, 0.0)
    return value * mask


class Masked(Elementwise):
    """A function whose derivatives are 1 or 0: their texts may call `selected(mask, y_bar)`."""

    space: ClassVar[dict[str, Any]] = {"selected": selected}


class Extreme(Masked):
    """np.maximum and its kin: the derivative belongs to the operand that is the result.

    Where both are it is halved; but a number that is known has no part in it.

    What is larger than a number is so of the result as of the operand, and of nan neither is.

    Args:
        alone: the texts of the adjoints where the other operand is a number.
        largest: whether the result is the larger operand.
    """

    def __init__(self, *args: Any, alone: tuple[str, str], largest: bool, **facts: Any):
        super().__init__(*args, **facts)
        self.alone, self.largest = alone, largest
        self.passes = operator.gt if largest else operator.lt

    def least(self, operands: list, of: Callable[[Any], float | None]) -> float | None:
        lows = [low for low in map(of, operands) if low is not None]
        if self.largest:
            return max(lows, default=None)
        return min(lows) if len(lows) == len(operands) else None

    def factor(self, position: int, operation: Operation, y_bar: Any) -> Any:
        other = operation.operands[1 - position]
        if type(other) in (int, float) and not math.isnan(other):
            return self.evaluated(self.alone[position], operation, y_bar)
        return super().factor(position, operation, y_bar)

    def adjoint(self, position: int, operation: Operation, y_bar: Any) -> Any:
        """The second operand has what the first leaves, unless that is inf - inf."""
        if position == 1 and all(operation.active) and isinstance(y_bar, Symbol):
            rely_on(y_bar.builder, y_bar)
            if stays_finite(y_bar.builder, y_bar):
                return y_bar - self.factor(0, operation, y_bar)
        return super().adjoint(position, operation, y_bar)


class Selection(Elementwise):
    """A function that selects elements of some operands, `chosen`, and has zeros elsewhere.

    Of several such operands all but one have to be 0.
    """

    def __init__(
        self,
        *args: Any,
        chosen: tuple[int, ...],
        steps: tuple[Callable, Callable] | None = None,
        **facts: Any,
    ):
        super().__init__(*args, **facts)
        self.chosen, self.steps = chosen, steps

    def only_choice(self, operands: list) -> int | None:
        """The operand that elements are selected of, where there are zeros elsewhere."""
        left = [index for index in self.chosen if not is_zero(operands[index])]
        return left[0] if len(left) == 1 else None

    def inside_mask(
        self, builder: Builder, operands: list, params: dict, write: Write, others: tuple
    ) -> Any:
        choice = self.only_choice(operands)
        if choice is None:
            return None
        inner = list(operands)
        inner[choice] = write(operands[choice], *others)
        return builder.emit(self, inner, params)

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        """What the same mask has selected is not selected again; a negation goes outside."""
        choice = self.only_choice(operands)
        rule, inner, given = builder.definition(None if choice is None else operands[choice])
        if rule is not None and rule.function is operator.neg and builder.derived:
            return -builder.emit(
                self, [*operands[:choice], *inner, *operands[choice + 1 :]], params
            )
        if rule is self and builder.derived and given == params:
            rest = [i for i in range(len(operands)) if i != choice]
            if len(self.chosen) > 1 and all(is_same(operands[i], inner[i]) for i in rest):
                return operands[choice]
        return super().shortcut(builder, operands, params)


class Halves(Elementwise):
    """Says in a byte how much of an element is taken."""

    def __init__(self, *args: Any, step_of: Callable, **facts: Any):
        super().__init__(*args, **facts)
        self.step_of = step_of

    def _dtype(self, operands: list, **options: Any) -> np.dtype:
        return np.dtype(np.int8)


class Where(Selection):
    """np.where(condition, x, y); of a condition alone it is np.nonzero."""

    gives_array = True

    def picks(self, known: list[bool]) -> bool:
        return known[0]

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        if len(args) + len(kwargs) == 1:
            return builder.call(np.nonzero, (*args, *kwargs.values()), {})
        return super().bind(builder, args, kwargs)
