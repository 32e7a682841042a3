"""Products that derivatives make are written with the fewest operations on arrays, then in all."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import gast

from s2s_ad.analysis import liveness
from s2s_ad.core import form, values
from s2s_ad.core.builder import DERIVED, fresh_name
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere

MOST = 30  # products in one: a chain of thousands is not walked again from each of its ends


def collect_factors(program: Program) -> Program:
    """Factors that are numbers are multiplied before an array is, and known ones with each other.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.check.passes import after
        >>> def f(x, s, t):
        ...     p = x * s
        ...     return p * t
        >>> print(after(COLLECT, f, np.ones(3), 2.0, 3.0, derived=True))
        f(x: f64[n], s: float, t1: float):
            t2 = s * t1
            t3 = t2 * x
            return t3
        >>> def f(x, s):
        ...     return 2 * (0.5 / s) * x
        >>> print(after(COLLECT, f, np.ones(3), np.float64(2.0), derived=True))
        f(x: f64[n], s: f64):
            t1 = x / s
            return t1

    Of factors that broadcast the smaller are multiplied first.

    Example:
        >>> def f(A, x):
        ...     return x[:, None] * (2 * A)
        >>> print(after(COLLECT, f, np.ones((3, 2)), np.ones(3), derived=True))
        f(A: f64[n, m], x: f64[p]):
            t1 = np.expand_dims(x, axis=1)
            t2 = 2 * t1
            t3 = t2 * A
            return t3
    """
    counts = liveness.counts(program.body, program.outputs())
    multiples = {each.target: found for each in program.body if (found := _multiple(each))}
    factors = {
        each.target: each
        for each in program.body
        if isinstance(each, form.Op) and _is_factor(each, program.facts, multiples)
    }
    if not factors:
        return program
    views = {each.target: each for each in program.body if _is_derived_view(each)}
    once: dict[str, form.Op] = {
        name: each for name, each in (factors | views).items() if counts[name] == 1
    }
    summed = {each.id for s in program.body for each in _terms(s) if isinstance(each, gast.Name)}
    facts, written, gone = dict(program.facts), {}, set()
    for statement in reversed(program.body):
        factor = factors.get(statement.target or "")
        if factor is not None and factor.target not in gone:
            product = _Factors(factor, once, facts, factor.target in summed, multiples)
            made = product.written()
            if made is not None:
                written[factor.target] = made
                gone |= product.taken
    if not written:
        return program
    body: list[form.Statement] = []
    for statement in program.body:
        if statement.target not in gone:
            body += written.get(statement.target, [statement])
    return program.with_(body=tuple(body), facts=facts)


def _is_factor(
    statement: form.Op, facts: Mapping[str, object], multiples: Mapping[str, object]
) -> bool:
    """Whether a derivative makes a product, a negative, or a quotient of a known number or by a
    number or a multiple."""
    if statement.phase not in DERIVED:
        return False
    function, fact = statement.function, facts[statement.target]
    if not values.is_inexact(fact):
        return False
    if function is operator.truediv:
        number, divisor = statement.operands
        name = getattr(divisor, "id", "")
        plain = name in multiples or values.shape_of(facts.get(name)) == ()
        return plain or _is_known(number) or _is_known(divisor)
    return function is operator.mul or function is operator.neg


def _multiple(statement: form.Statement) -> tuple[float, gast.Name] | None:
    """(c, x) of c * x, whoever wrote it."""
    if isinstance(statement, form.Effect) or statement.function is not operator.mul:
        return None
    number, x = statement.operands
    return (number.value, x) if _is_known(number) and isinstance(x, gast.Name) else None


def _is_derived_view(statement: form.Statement) -> TypeGuard[form.Op]:
    """Whether a derivative gives an array more axes."""
    return statement.rule.inserts_axes and statement.phase in DERIVED


def _is_known(atom: gast.AST) -> bool:
    return isinstance(atom, gast.Constant) and type(atom.value) in (int, float)


def _terms(statement: form.Statement) -> Sequence[gast.AST]:
    """What a sum is made of: there a negative costs nothing."""
    return statement.operands if statement.rule.adds or statement.rule.updates else ()


@dataclass(slots=True)
class _Factors:
    """number * above / below: a product, with all in it that nothing else reads.

    Attributes:
        is_term: whether a sum reads it.
        multiples: (c, x) by the name of c * x.
        through_views: whether numbers are taken out of factors that are views of products.
        above: the factors in the order in which they are multiplied.
        before: what makes factors that are views of products, without the number in these.
        taken: the names of products in it that are not made any more.
        operations: how many there were on arrays of its shape, on smaller ones, and in all.
    """

    root: form.Op
    once: Mapping[str, form.Op]
    facts: dict
    is_term: bool
    multiples: Mapping[str, tuple[float, gast.Name]]
    through_views: bool = True
    number: float = 1
    above: list[Any] = field(default_factory=list)
    below: list[Any] = field(default_factory=list)
    before: list[form.Op] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    operations: tuple[int, int, int] = (0, 0, 0)

    def written(self) -> list[form.Op] | None:
        """The statements that compute it; None where these are no fewer."""
        self._take(self.root)
        if not self.taken:
            return None
        self._cancel()
        if not self._moves():
            return None
        made = self._made()
        if made is None:
            return None
        before = [each for each in self.before if not each.rule.inserts_axes]
        cost = self._cost([*before, *made])
        if self.before and cost[0] >= self.operations[0]:  # no array less: names are worth more
            given = self.root, self.once, self.facts, self.is_term, self.multiples
            plain = _Factors(*given, through_views=False)
            made, self.taken = plain.written(), plain.taken
            return made
        return [*self.before, *made] if cost < self.operations else None

    def _moves(self) -> bool:
        """Whether the factors may be multiplied in another order."""
        known = values.keeps(self.facts[self.root.target], self.number)
        return known and all(map(self._may_move, [*self.above, *self.below]))

    def _take(self, statement: form.Op) -> None:
        self.operations = _sum(self.operations, self._cost([statement]))
        operands = statement.operands
        if statement.function is operator.truediv:
            self.below.append(operands[1])
            operands = operands[:1]
        self.number *= -1 if statement.function is operator.neg else 1
        inside = [each for each in operands if self._is_inside(each)]
        for each in inside:
            self.taken.add(each.id)
            self._take(self.once[each.id])
        for each in operands:
            if _is_known(each):
                self.number *= each.value
            elif each not in inside:
                self._take_view(each)
                self.above.append(each)

    def _cancel(self) -> None:
        """c * above / (c * x) is above / x."""
        for index, each in enumerate(self.below):
            number, x = self.multiples.get(getattr(each, "id", ""), (1, each))
            alike = x is not each and self.facts[x.id] == self.facts[each.id]
            if alike and number and abs(number) == abs(self.number):
                self.number /= number
                self.below[index] = x

    def _take_view(self, atom: gast.AST) -> None:
        """Take the number out of the product that a factor is with more axes."""
        view = self.once.get(getattr(atom, "id", ""))
        if not self.through_views or view is None or not view.rule.inserts_axes:
            return
        source = self.once.get(view.reads[0])
        if source is None or source.rule.inserts_axes or not self._is_array(source.target):
            return
        inner = _Factors(source, self.once, self.facts, False, self.multiples)
        inner._take(source)
        number, inner.number = inner.number, 1
        if number == 1 or not inner._moves():
            return
        one = inner.above[0] if len(inner.above) == 1 and not inner.below else None
        made = [] if one else inner._made()
        if made is None:
            return
        self.number *= number
        self.before += [*inner.before, *made, view.with_operands([one]) if one else view]
        arrays, smaller, whole = inner.operations
        self.operations = _sum(self.operations, (0, arrays + smaller, whole))
        self.taken |= {*inner.taken, source.target, view.target}

    def _is_inside(self, atom: gast.AST) -> bool:
        """Whether a factor is a product itself, which nothing else reads."""
        made = self.once.get(getattr(atom, "id", ""))
        settings = None if made is None or made.origin is None else made.origin.settings
        own = None if self.root.origin is None else self.root.origin.settings
        if made is None or made.rule.inserts_axes:
            return False
        fits = not self._is_array(made.target) or self._is_alike(atom.id)
        return fits and settings == own and len(self.taken) < MOST

    def _is_array(self, name: str) -> bool:
        return values.shape_of(self.facts[name]) != ()

    def _is_whole(self, name: str) -> bool:
        one, other = self.facts[name], self.facts[self.root.target]
        same = values.same_shape(values.shape_of(one), values.shape_of(other))
        return same and values.strong_dtype(one) == values.strong_dtype(other)

    def _may_move(self, atom: gast.AST) -> bool:
        """Whether the product has the same dtype and shape wherever the factor stands in it."""
        if _is_known(atom):
            return bool(atom.value)
        fact = self.facts.get(getattr(atom, "id", ""))
        if isinstance(fact, values.Scalar):
            return fact.kind in (int, float)
        known = isinstance(fact, values.Array) and fact.dtype is not None and not fact.weak
        inexact = known and values.is_inexact(fact) is True
        return inexact and (not self._is_array(atom.id) or self._is_alike(atom.id))

    def _is_alike(self, name: str) -> bool:
        """Whether an array has the dtype of the product, and its shape or one that fits in that."""
        one, other = self.facts[name], self.facts[self.root.target]
        same = values.strong_dtype(one) == values.strong_dtype(other)
        return same and (self._is_whole(name) or self._is_smaller(name))

    def _is_smaller(self, name: str) -> bool:
        """Whether an array has fewer axes than the product, or one of length one for another."""
        one, whole = (values.shape_of(self.facts[each]) for each in (name, self.root.target))
        if not one or whole is None:
            return False
        return len(one) < len(whole) or any(a == 1 != b for a, b in zip(one, whole, strict=True))

    def _made(self) -> list[form.Op] | None:
        """number * above / below: first what has no axes, then smaller arrays, then the others."""
        numbers, arrays = self._parted(self.above)
        divisors, below = self._parted(self.below)
        known = [each for each in divisors if _is_known(each)]
        named = [each for each in numbers + divisors if each not in known]
        single = not arrays and not below
        if single and not any(values.is_inexact(self.facts[each.id]) for each in named):
            return None  # a product of whole numbers is one itself
        chain = _Chain(self.root, self.facts)
        smaller = [each for each in arrays if self._is_smaller(each.id)]
        whole = [each for each in arrays if each not in smaller]
        small = [each for each in below if self._is_smaller(each.id)]
        below = [each for each in below if each not in small]
        size = form.constant(abs(self.number))
        scale = [*([size] if size.value != 1 else []), *numbers]
        negative = self.number < 0
        if negative and not self.is_term and scale and arrays:
            scale[0] = form.constant(-size.value) if size.value != 1 else chain.negative(scale[0])
            negative = False
        first: list[Any] = []
        if scale or not arrays:
            scaled = chain.product(scale or [size])
            if _is_known(scaled) and known:
                scaled = form.constant(scaled.value / known[0].value)
                divisors.remove(known[0])
                if not values.keeps(self.facts[self.root.target], scaled.value):
                    return None
            first, divisors = [chain.over(scaled, divisors)], []
        if smaller and negative and not self.is_term and not first:
            smaller[0], negative = chain.negative(smaller[0]), False
        first += smaller
        if first and whole:
            first, divisors, small = [chain.over(chain.product(first), divisors + small)], [], []
        chain.over(chain.product([*first, *whole]), divisors + small + below)
        return chain.ended(negative=negative)

    def _parted(self, atoms: list[gast.Name]) -> tuple[list[gast.Name], list[gast.Name]]:
        """Those without axes, and the arrays."""
        arrays = [each for each in atoms if not _is_known(each) and self._is_array(each.id)]
        return [each for each in atoms if each not in arrays], arrays

    def _cost(self, made: Sequence[form.Op]) -> tuple[int, int, int]:
        smaller = sum(self._is_smaller(each.target) for each in made)
        return sum(self._is_array(each.target) for each in made) - smaller, smaller, len(made)


def _sum(one: Sequence[int], other: Sequence[int]) -> tuple[int, int, int]:
    arrays, smaller, whole = map(operator.add, one, other)
    return arrays, smaller, whole


@dataclass(slots=True)
class _Chain:
    """Operations one after the other, the last of which has the name of `root`."""

    root: form.Op
    facts: dict
    made: list[form.Op] = field(default_factory=list)

    def product(self, factors: Sequence[gast.AST]) -> gast.AST:
        return functools.reduce(functools.partial(self._then, operator.mul), factors)

    def over(self, value: gast.AST, divisors: Sequence[gast.AST]) -> gast.AST:
        return functools.reduce(functools.partial(self._then, operator.truediv), divisors, value)

    def ended(self, *, negative: bool) -> list[form.Op] | None:
        if negative and self.made:
            self.negative(form.name(self.made[-1].target))
        if not self.made:
            return None
        *before, last = self.made
        return [*before, last.beside(self.root.target, last.function, last.operands)]

    def negative(self, value: gast.AST) -> gast.Name:
        return self._then(operator.neg, value)

    def _then(self, function: Callable, *operands: gast.AST) -> gast.Name:
        name = fresh_name()
        known = [
            self.facts[each.id] if isinstance(each, gast.Name) else values.of_constant(each.value)
            for each in operands
        ]
        made = self.root.beside(name, function, operands)
        self.facts[name] = made.rule.infer(known, {})
        self.made.append(made)
        return form.name(name)


COLLECT = Pass("collect-factors", everywhere(collect_factors))
