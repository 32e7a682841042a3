"""Products that derivatives make are written with the fewest operations on arrays, then in all."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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
    """
    counts = liveness.counts(program.body, program.outputs())
    factors = {
        each.target: each
        for each in program.body
        if isinstance(each, form.Op) and _is_factor(each, program.facts)
    }
    once = {name: each for name, each in factors.items() if counts[name] == 1}
    facts, written, gone = dict(program.facts), {}, set()
    for statement in reversed(program.body):
        factor = factors.get(statement.target or "")
        if factor is not None and factor.target not in gone:
            product = _Factors(factor, once, facts)
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


def _is_factor(statement: form.Op, facts: Mapping[str, object]) -> bool:
    """Whether a derivative makes a product, a negative, or a known number over something."""
    if statement.phase not in DERIVED:
        return False
    function, fact = statement.function, facts[statement.target]
    if not values.is_inexact(fact):
        return False
    if function is operator.truediv:
        return _is_known(statement.operands[0])
    return function is operator.mul or function is operator.neg


def _is_known(atom: gast.AST) -> bool:
    return isinstance(atom, gast.Constant) and type(atom.value) in (int, float)


@dataclass(slots=True)
class _Factors:
    """number * above / below: a product, with all in it that nothing else reads.

    Attributes:
        above: the factors in the order in which they are multiplied.
        taken: the names of products in it that are not made any more.
        operations: how many there were on arrays, and in all.
    """

    root: form.Op
    once: Mapping[str, form.Op]
    facts: dict
    number: float = 1
    above: list[Any] = field(default_factory=list)
    below: list[Any] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    operations: tuple[int, int] = (0, 0)

    def written(self) -> list[form.Op] | None:
        """The statements that compute it; None where these are no fewer."""
        self._take(self.root)
        known = bool(self.taken) and values.keeps(self.facts[self.root.target], self.number)
        if not known or not all(map(self._may_move, [*self.above, *self.below])):
            return None
        made = self._made()
        return made if made and self._cost(made) < self.operations else None

    def _take(self, statement: form.Op) -> None:
        arrays, whole = self.operations
        self.operations = arrays + self._is_array(statement.target), whole + 1
        if statement.function is operator.truediv:
            self.number *= statement.operands[0].value
            self.below.append(statement.operands[1])
            return
        self.number *= -1 if statement.function is operator.neg else 1
        inside = [each for each in statement.operands if self._is_inside(each)]
        for each in inside:
            self.taken.add(each.id)
            self._take(self.once[each.id])
        for each in statement.operands:
            if _is_known(each):
                self.number *= each.value
            elif each not in inside:
                self.above.append(each)

    def _is_inside(self, atom: gast.AST) -> bool:
        """Whether a factor is a product itself, of the whole shape or of numbers alone."""
        made = self.once.get(getattr(atom, "id", ""))
        settings = None if made is None or made.origin is None else made.origin.settings
        own = None if self.root.origin is None else self.root.origin.settings
        fits = made is not None and (not self._is_array(made.target) or self._is_whole(atom.id))
        return fits and settings == own and len(self.taken) < MOST

    def _is_array(self, name: str) -> bool:
        return values.shape_of(self.facts[name]) != ()

    def _is_whole(self, name: str) -> bool:
        one, other = self.facts[name], self.facts[self.root.target]
        same = values.same_shape(values.shape_of(one), values.shape_of(other))
        return same and values.strong_dtype(one) == values.strong_dtype(other)

    def _may_move(self, atom: gast.AST) -> bool:
        """Whether the product has the same dtype and shape wherever the factor stands in it."""
        fact = self.facts.get(getattr(atom, "id", ""))
        if isinstance(fact, values.Scalar):
            return fact.kind in (int, float)
        known = isinstance(fact, values.Array) and fact.dtype is not None and not fact.weak
        inexact = known and values.is_inexact(fact) is True
        return inexact and (not self._is_array(atom.id) or self._is_whole(atom.id))

    def _made(self) -> list[form.Op] | None:
        """First what has no axes, then the arrays: number * above / below."""
        numbers, arrays = self._parted(self.above)
        divisors, below = self._parted(self.below)
        single = not arrays and not below
        if single and not any(
            values.is_inexact(self.facts[each.id]) for each in numbers + divisors
        ):
            return None  # a product of whole numbers is one itself
        chain = _Chain(self.root, self.facts)
        size = form.constant(abs(self.number))
        scale = [*([size] if size.value != 1 else []), *numbers]
        if scale or not arrays:
            arrays = [chain.over(chain.product(scale or [size]), divisors), *arrays]
            divisors = []
        chain.over(chain.product(arrays), divisors + below)
        return chain.ended(negative=self.number < 0)

    def _parted(self, atoms: list[gast.Name]) -> tuple[list[gast.Name], list[gast.Name]]:
        """Those without axes, and the arrays."""
        numbers = [each for each in atoms if not self._is_array(each.id)]
        return numbers, [each for each in atoms if self._is_array(each.id)]

    def _cost(self, made: list[form.Op]) -> tuple[int, int]:
        return sum(self._is_array(each.target) for each in made), len(made)


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
            self._then(operator.neg, form.name(self.made[-1].target))
        if not self.made:
            return None
        *before, last = self.made
        return [*before, last.beside(self.root.target, last.function, last.operands)]

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
