"""Sizes: whole numbers as expressions over the lengths of what a function is given.

What the forms of two sizes do not tell, the lengths of the call that is being compiled may: then
the answer is written down as a `Guard`, and the code serves the calls of which all guards hold.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

_serials = itertools.count()

MOST_TERMS = 12  # of an expression; a longer one is a size that nothing is known of
HEAVIEST = 24  # atoms and operations in an expression; of a heavier one nothing is known either
DEEPEST = 8  # bounds that are put in for each other in a proof


@dataclass(frozen=True, slots=True)
class Atom:
    """A size that is not computed from others: the length of an axis (then it is at least 0).

    `not_one`: it is certain not to be 1. `low` and `high` are sizes that it is not below, and not
    above, where such are known. `varies`: each item of a list may have another one.
    """

    serial: int
    is_length: bool = field(compare=False, default=True)
    not_one: bool = field(compare=False, default=False)
    low: Size | None = field(compare=False, default=None)
    high: Size | None = field(compare=False, default=None)
    varies: bool = field(compare=False, default=False)


@dataclass(frozen=True, slots=True)
class Quotient:
    """A size divided by a positive whole number, rounded down."""

    size: Size
    divisor: int


@dataclass(frozen=True, slots=True)
class Clamped:
    """A size, or 0 where that is below 0."""

    size: Size


@dataclass(frozen=True, slots=True)
class Least:
    """The smaller of two sizes."""

    one: Size
    other: Size


@dataclass(frozen=True, slots=True)
class Product:
    """Two sizes multiplied."""

    one: Size
    other: Size


@dataclass(frozen=True, slots=True)
class Between:
    """How many of `size` elements a slice takes."""

    size: Size
    start: Size
    stop: Size


Factor = Atom | Quotient | Clamped | Least | Product | Between


@dataclass(frozen=True, slots=True)
class Size:
    """constant + the sum of coefficient * factor; equal where the forms are."""

    terms: frozenset[tuple[Factor, int]]
    constant: int = 0

    def __add__(self, other: Size | int) -> Size:
        return self._plus(of(other), 1)

    def __sub__(self, other: Size | int) -> Size:
        return self._plus(of(other), -1)

    def _plus(self, other: Size, count: int) -> Size:
        constant = self.constant + count * other.constant
        if not other.terms:
            return Size(self.terms, constant)
        coefficients = dict(self.terms)
        for factor, coefficient in other.terms:
            coefficients[factor] = coefficients.get(factor, 0) + count * coefficient
        return _sum(coefficients, constant)

    def times(self, count: int) -> Size:
        if count == 1:
            return self
        terms = frozenset((factor, count * own) for factor, own in self.terms if count)
        return Size(terms, count * self.constant)

    def __neg__(self) -> Size:
        return self.times(-1)

    def __mul__(self, other: Size) -> Size:
        return product(self, other)

    def __floordiv__(self, other: Size) -> Size:
        """By numbers above 0 alone: of other quotients nothing is known."""
        divisor = other.known or 0
        return quotient(self, divisor) if divisor > 0 else of(fresh(is_length=False))

    def __mod__(self, other: Size) -> Size:
        if not is_natural(other):
            raise TypeError("of a length alone it is known in which range it is")
        return of(fresh(is_length=False, low=of(0), high=other - 1))

    @property
    def known(self) -> int | None:
        """The number that it is, where that is known."""
        return None if self.terms else self.constant


def _sum(coefficients: Mapping[Factor, int], constant: int) -> Size:
    terms = frozenset(each for each in coefficients.items() if each[1])
    if len(terms) > MOST_TERMS:
        return of(fresh(is_length=False))
    return Size(terms, constant)


def of(value: Size | Factor | int) -> Size:
    if isinstance(value, Size):
        return value
    if hasattr(value, "__index__"):  # of Python's, or of NumPy's
        return Size(frozenset(), int(value))  # type: ignore[arg-type]
    return Size(frozenset([(value, 1)]))  # type: ignore[list-item]


def fresh(
    *,
    is_length: bool = True,
    not_one: bool = False,
    low: Size | None = None,
    high: Size | None = None,
) -> Atom:
    """A size that is told apart from all others."""
    return Atom(next(_serials), is_length, not_one, low, high)


def newest() -> Atom:
    """A size that is newer than all that there are."""
    return fresh()


# ---- what is computed ----------------------------------------------------------------------------


def _computed(factor: Factor) -> Size:
    """A factor as a size; one that nothing is known of where the expression is too heavy.

    Views of views, as a function that calls itself makes them, would double with each level.
    """
    if _weight(factor) <= HEAVIEST:
        return of(factor)
    return of(fresh(is_length=isinstance(factor, Clamped | Between)))


def _weight(factor: Factor) -> int:
    """The atoms and operations in a factor."""
    inside = (each for size in sizes_inside(factor) for each, _ in size.terms)
    return 1 + sum(map(_weight, inside))


def clamped(size: Size) -> Size:
    """max(size, 0)."""
    if is_natural(size) or _is_taken_for_natural(size):
        return size
    return of(max(size.constant, 0)) if size.known is not None else _computed(Clamped(size))


def product(one: Size, other: Size) -> Size:
    for a, b in ((one, other), (other, one)):
        if a.known is not None:
            return b.times(a.known)
    return _computed(Product(*sorted((one, other), key=order)))


def quotient(size: Size, divisor: int) -> Size:
    """size // divisor."""
    numbers = [size.constant, *(coefficient for _, coefficient in size.terms)]
    if all(each % divisor == 0 for each in numbers):
        terms = frozenset((factor, own // divisor) for factor, own in size.terms)
        return Size(terms, size.constant // divisor)
    if size.known is not None:
        return of(size.known // divisor)
    return _computed(Quotient(size, divisor))


def least(one: Size, other: Size) -> Size:
    """min(one, other)."""
    for a, b in ((one, other), (other, one)):
        if is_natural(b - a):
            return a
    return _computed(Least(*sorted((one, other), key=order)))


def between(size: Size, start: Size | None, stop: Size | None) -> Size:
    """How many of `size` elements `start:stop` takes; what is below 0 stands for none."""
    first, last = of(0) if start is None else start, size if stop is None else stop
    if at_least(of(-1), first):  # counted from the end
        from_end = size + first
        begin = from_end if at_least(from_end, of(0)) else clamped(from_end)
    elif at_least(first, of(0)):
        begin = first
    else:
        return _computed(Between(size, first, last))
    if at_least(of(-1), last):
        return size + last - begin
    if stop is None or at_least(last, of(0)):
        return (last if at_least(size, last) else least(size, last)) - begin
    return _computed(Between(size, first, last))


def backwards(size: Size, start: Size | None, stop: Size | None) -> Size | None:
    """How many elements `start:stop:-1` takes, of indices that do not count from the end."""
    first = size - 1 if start is None else start
    within = start is None or (at_least(first, of(0)) and at_least(size - 1, first))
    if not within or (stop is not None and not at_least(stop, of(0))):
        return None
    return first + 1 if stop is None else first - stop


def simpler(one: Size, other: Size) -> Size:
    """Of two sizes that are equal the one that says it with less; the other where both do."""
    return one if _complexity(one) < _complexity(other) else other


def _complexity(size: Size) -> int:
    """The atoms and operations in a size; one that a function is given stands for another one."""
    given = sum(map(is_given, atoms_of(size)))
    return given + sum(_weight(factor) for factor, _ in size.terms)


def order(size: Size) -> tuple:
    """By what sizes are sorted, which does not change from process to process."""
    serials = tuple(sorted(each.serial for each in atoms_of(size)))
    return serials, size.constant, tuple(sorted(map(_form, size.terms)))


def _form(term: tuple[Factor, int]) -> tuple:
    """What tells factors of the same atoms apart."""
    factor, coefficient = term
    return type(factor).__name__, coefficient, tuple(map(order, sizes_inside(factor)))


def sizes_inside(factor: Factor) -> tuple[Size, ...]:
    """The sizes that a factor is computed from."""
    if isinstance(factor, Atom):
        return ()
    if isinstance(factor, Quotient | Clamped):
        return (factor.size,)
    if isinstance(factor, Between):
        return factor.size, factor.start, factor.stop
    return factor.one, factor.other


def atoms_of(size: Size) -> set[Atom]:
    """The atoms in a size, those that bound them left out."""
    found: set[Atom] = set()
    for factor, _ in size.terms:
        found |= {factor} if isinstance(factor, Atom) else set()
        found = found.union(*map(atoms_of, sizes_inside(factor)))
    return found


def atom_of(size: Size) -> Atom | None:
    """The atom that a size is; None where it is a formula."""
    ((factor, count), *others) = size.terms or ((None, 0),)
    is_plain = count == 1 and not others and not size.constant
    return factor if is_plain and isinstance(factor, Atom) else None


def substituted(size: Size, sizes: Mapping[Atom, Size]) -> Size:
    """The size with atoms replaced."""
    total = of(size.constant)
    for factor, coefficient in size.terms:
        total += _factor(factor, sizes).times(coefficient)
    return total


def _factor(factor: Factor, sizes: Mapping[Atom, Size]) -> Size:
    if isinstance(factor, Atom):
        return sizes.get(factor, of(factor))
    inside = [substituted(each, sizes) for each in sizes_inside(factor)]
    if isinstance(factor, Quotient):
        return quotient(inside[0], factor.divisor)
    made = {Between: between, Clamped: clamped, Least: least, Product: product}
    return made[type(factor)](*inside)


def value_of(size: Size, lengths: Mapping[Atom, int]) -> int | None:
    """The number that a size is for these lengths; None where one of its atoms is not given."""
    total = size.constant
    for factor, coefficient in size.terms:
        number = _value_of_factor(factor, lengths)
        if number is None:
            return None
        total += coefficient * number
    return total


def _value_of_factor(factor: Factor, lengths: Mapping[Atom, int]) -> int | None:
    if isinstance(factor, Atom):
        return lengths.get(factor)
    numbers: list[Any] = [value_of(each, lengths) for each in sizes_inside(factor)]
    if None in numbers:
        return None
    if isinstance(factor, Quotient):
        return numbers[0] // factor.divisor
    if isinstance(factor, Clamped):
        return max(numbers[0], 0)
    if isinstance(factor, Between):
        return len(range(*slice(*numbers[1:]).indices(numbers[0])))
    return min(numbers) if isinstance(factor, Least) else numbers[0] * numbers[1]


def share(part: Size, whole: Size) -> Fraction:
    """Which part of a size that grows another one is: 1/2 of n // 2 and n, 1 of n - 2 and n.

    It is 0 where the forms do not tell.
    """
    if whole.known is not None:
        return Fraction(0 if part.known is None else part.known, max(whole.known, 1))
    ours, all_ = _leading(part), _leading(whole)
    if any(count < 0 for count in (*ours.values(), *all_.values())):
        return Fraction(0)
    return min(ours.get(factor, Fraction(0)) / count for factor, count in all_.items())


def _leading(size: Size) -> dict[Factor, Fraction]:
    """The coefficients of a size, without what is lost against them where all are large."""
    found: dict[Factor, Fraction] = {}
    for factor, count in size.terms:
        inside, rest = {factor: Fraction(1)}, Fraction(count)
        if isinstance(factor, Quotient | Clamped):
            inside = _leading(factor.size)
            rest /= factor.divisor if isinstance(factor, Quotient) else 1
        for each, own in inside.items():
            found[each] = found.get(each, Fraction(0)) + rest * own
    return {factor: count for factor, count in found.items() if count}


# ---- what is certain -----------------------------------------------------------------------------


def is_natural(size: Size, depth: int = DEEPEST, *, assumed: bool = False) -> bool:
    """Whether the forms tell that a size is not below 0.

    Bounds are put in for what has them, that of the latest first: an inner index is bounded by
    an outer one. What is left may be `assumed`.
    """
    if size.known is not None:
        return size.constant >= 0
    assumptions = _assumptions.get()
    if assumed or assumptions is None:
        return _is_natural_sum(size, depth, assumed)
    known = assumptions.natural.get((size, depth))
    if known is None:
        known = assumptions.natural[size, depth] = _is_natural_sum(size, depth, assumed)
    return known


def _is_natural_sum(size: Size, depth: int, assumed: bool) -> bool:
    positive = all(coefficient > 0 and _is_natural(factor) for factor, coefficient in size.terms)
    if positive and size.constant >= 0:
        return True
    bounds = _bounds(size, assumed) if depth else ()
    if any(is_natural(each, depth - 1, assumed=assumed) for each in bounds):
        return True
    cases = _cases(size) if depth else ()
    if cases and all(is_natural(each, depth - 1, assumed=assumed) for each in cases):
        return True
    return assumed and _assumed(size, NATURAL, True)


def _bounds(size: Size, assumed: bool) -> Iterator[Size]:
    """Sizes without one of the factors: where one of them is not below 0, `size` is not."""
    ordered = sorted(size.terms, key=lambda term: order(of(term[0])), reverse=True)
    for factor, coefficient in ordered:
        rest = size - of(factor).times(coefficient)
        bound = factor.low if isinstance(factor, Atom) and coefficient > 0 else None
        if isinstance(factor, Atom) and coefficient < 0:
            bound = factor.high
        if bound is not None:
            yield rest + bound.times(coefficient)
            return
        if isinstance(factor, Product):
            limits = _limits(factor, assumed, greatest=coefficient < 0)
            yield from (rest + each.times(coefficient) for each in limits)
        if isinstance(factor, Clamped) and coefficient > 0:
            yield rest + factor.size.times(coefficient)
        if isinstance(factor, Quotient):  # times the divisor, which leaves the sign
            nearest = factor.size if coefficient < 0 else factor.size - (factor.divisor - 1)
            yield rest.times(factor.divisor) + nearest.times(coefficient)
        if isinstance(factor, Least) and coefficient < 0:
            yield rest + factor.one.times(coefficient)
            yield rest + factor.other.times(coefficient)


def _limits(factor: Product, assumed: bool, *, greatest: bool) -> Iterator[Size]:
    """What a product is not above, or not below: with a bound of one factor in its place."""
    for one, other in ((factor.one, factor.other), (factor.other, factor.one)):
        atom = atom_of(one)
        bound = atom and (atom.high if greatest else atom.low)
        if bound is not None and is_natural(other, assumed=assumed):
            yield product(bound, other)


def _cases(size: Size) -> tuple[Size, ...]:
    """Of a size that something clamped is taken from: what it is where that is 0, and where not."""
    for factor, coefficient in size.terms:
        if isinstance(factor, Clamped) and coefficient < 0:
            rest = size - of(factor).times(coefficient)
            return rest, rest + factor.size.times(coefficient)
    return ()


def _is_natural(factor: Factor) -> bool:
    if isinstance(factor, Atom):
        return factor.is_length or (factor.low is not None and is_natural(factor.low))
    return isinstance(factor, Clamped | Between) or all(map(is_natural, sizes_inside(factor)))


def is_never(size: Size, number: int) -> bool:
    """Whether the forms tell that a size is another number than this."""
    rest = size - number
    if rest.known is not None:
        return rest.known != 0
    if number == 1 and len(size.terms) == 1 and not size.constant:
        ((factor, coefficient),) = size.terms
        if isinstance(factor, Atom) and coefficient == 1 and factor.not_one:
            return True
    return is_natural(rest - 1) or is_natural(rest.times(-1) - 1)


# ---- what is assumed -----------------------------------------------------------------------------

ZERO, NATURAL = "zero", "natural"


@dataclass(frozen=True, slots=True)
class Guard:
    """That a size is (or is not) 0, or is (or is not) at least 0."""

    size: Size
    relation: str
    answer: bool

    def holds(self, lengths: Mapping[Atom, int]) -> bool:
        return _answer(self.size, self.relation, lengths) is self.answer

    def implies(self, other: Guard) -> bool:
        """Whether the other one follows, of sizes that differ by a number."""
        more = (other.size - self.size).known
        if self.relation == ZERO and more is None:
            more = (other.size + self.size).known
        if more is None or not self.answer:
            return False
        if self.relation == ZERO:
            return (more == 0 if other.relation == ZERO else more >= 0) is other.answer
        return other.relation == NATURAL and other.answer and more >= 0


def _answer(size: Size, relation: str, lengths: Mapping[Atom, int]) -> bool | None:
    number = value_of(size, lengths)
    if number is None:
        return None
    return number == 0 if relation == ZERO else number >= 0


class Assumptions:
    """What the code that is being compiled assumes of the lengths of its arguments.

    Args:
        lengths: of the call that it is compiled for, and its whole numbers.
        general: nothing is assumed but that lengths of axes are equal that have to be.

    A function of the program may be called with arguments of several sizes. `calls` says for each
    call after the first what the sizes of the first are there, and what is assumed for the one is
    assumed for all. The whole numbers that a function is given are sizes of their own inside of it,
    which stand for others in all calls: `given` says for which in the first.
    """

    def __init__(self, lengths: Mapping[Atom, int], *, general: bool = False):
        self.general = general
        self.lengths = {k: n for k, n in lengths.items() if k.is_length or not general}
        self.guards: dict[Guard, None] = {}
        self.required: dict[Guard, None] = {}  # where they do not hold, Python raises
        self.captured: dict[Atom, tuple[str, str]] = {}  # the array's name, and the length as text
        self.calls: list[dict[Atom, Size]] = []
        self.given: dict[Atom, Size] = {}
        self.asked: dict[Guard, bool] = {}  # of such numbers, and whether Python requires it
        self.seen: dict[Atom, int] = {}  # lengths that tell nothing, for nobody checks them
        self.asked_of_the_run = 0
        self.natural: dict[tuple[Size, int], bool] = {}  # whether forms tell so, which no call does

    @property
    def of_call(self) -> bool:
        """Whether there is a call that the code is made for."""
        return bool(self.lengths) or not self.general

    def decide(self, size: Size, relation: str, *, required: bool = False) -> bool | None:
        """Whether the relation holds; None where the lengths do not tell, or not for all calls."""
        every = self._in_all_calls([size])
        if relation == ZERO:
            every = list(dict.fromkeys(map(_positive, every)))
        answers = {_answer(each, relation, self.lengths) for each in every}
        (answer,) = answers if len(answers) == 1 else (None,)
        if answer is None:
            return None
        required = required and answer
        if self._is_of_given(size):
            self.asked[Guard(size, relation, answer)] = required
        guards = self.required if required else self.guards
        guards |= {
            Guard(each, relation, answer): None for each in every if not _is_told(each, relation)
        }
        return answer

    def _in_all_calls(self, sizes: Iterable[Size]) -> list[Size]:
        found, waiting = {}, list(sizes)
        while waiting:
            size = waiting.pop()
            if size not in found:
                found[size] = None
                atoms = atoms_of(size)
                waiting += [substituted(size, each) for each in self.calls if atoms & each.keys()]
        return [each for each in found if not self._is_of_given(each)]

    def _is_of_given(self, size: Size) -> bool:
        return bool(self.given) and not self.given.keys().isdisjoint(atoms_of(size))

    def first(self, size: Size) -> Size:
        """The size as the first calls of functions have it."""
        while self._is_of_given(size):
            size = substituted(size, self.given)
        return size

    def needed(self) -> tuple[Guard, ...]:
        """The guards from which the others follow."""
        return tuple(
            each
            for each in self.guards
            if not any(other != each and other.implies(each) for other in self.guards)
            and not any(
                other.relation == ZERO != each.relation and other.implies(each)
                for other in self.required
            )
        )

    def asked_of(self) -> dict[Atom, tuple[str, str]]:
        """The lengths of captured arrays that guards are about."""
        asked = set().union(*(atoms_of(each.size) for each in (*self.guards, *self.required)))
        return {atom: said for atom, said in self.captured.items() if atom in asked}

    def also_required(self) -> tuple[Guard, ...]:
        """What Python requires, and does not follow from the guards."""
        return tuple(
            each for each in self.required if not any(other.implies(each) for other in self.guards)
        )

    def add_call(self, sizes: Mapping[Atom, Size]) -> bool:
        """Let a function be called with other sizes than before; False where that cannot be."""
        changed = {atom: size for atom, size in sizes.items() if of(atom) != size}
        if not changed or changed in self.calls:
            return True
        before, guards, required = list(self.calls), dict(self.guards), dict(self.required)
        questions = dict.fromkeys(guards, False) | dict.fromkeys(required, True) | self.asked
        self.calls.append(changed)
        for each, is_required in questions.items():
            if self.decide(each.size, each.relation, required=is_required) is not each.answer:
                self.calls, self.guards, self.required = before, guards, required
                return False
        return True


def _is_told(size: Size, relation: str) -> bool:
    """Whether the form answers: it may where a number stands for one that a function is given."""
    return not size.terms or (relation == NATURAL and is_natural(size))


def _positive(size: Size) -> Size:
    """The size or its negative: of the two one, where the question is whether it is 0."""
    if not size.terms:
        return size
    _, first = min(size.terms, key=lambda term: order(of(term[0])))
    return size if first > 0 else -size


_assumptions: ContextVar[Assumptions | None] = ContextVar("assumptions", default=None)


@contextmanager
def assuming(assumptions: Assumptions | None) -> Iterator[None]:
    """Let questions about sizes be answered by the lengths of one call."""
    token = _assumptions.set(assumptions)
    try:
        yield
    finally:
        _assumptions.reset(token)


def is_found_by_running(size: Size) -> bool:
    """Whether the lengths of the call do not tell a size: it depends on numbers."""
    current = _assumptions.get()
    return current is not None and value_of(size, current.lengths) is None


def ask_the_run(one: Size, other: Size, *, told: bool = False) -> None:
    """Note that two lengths have to be equal, where only the run can tell: they depend on numbers,
    in code that is made for a call; or are broadcast, in code of which calls are not checked.

    Where it is `told` how long both are: of a length of which nothing is known nobody asks.
    """
    current, difference = _assumptions.get(), one - other
    if current is None or not current.of_call or not difference.terms:
        return
    lengths = current.lengths | current.seen
    unchecked = current.general and not told
    if (unchecked or value_of(difference, lengths) is None) and not _are_alike(
        one, other, are_taken_for_equal
    ):
        nameless = told and any(_is_nameless(each, lengths) for each in (one, other))
        current.asked_of_the_run += not nameless


def _is_nameless(size: Size, lengths: Mapping[Atom, int]) -> bool:
    """Whether it is a length of which nothing is known, and no formula of others."""
    factor = _only_factor(size)
    return _is_length(factor) and factor not in lengths


def asked_of_the_run() -> int:
    """How many questions are the run's to answer."""
    current = _assumptions.get()
    return 0 if current is None else current.asked_of_the_run


def are_met(required: Iterable[Size]) -> bool:
    """Whether none of the sizes is below 0, by their forms or by assumption.

    Code that is made for no call takes it that what it is called with fits.
    """
    current = _assumptions.get()
    if current is None or not current.of_call:
        return True
    return all(is_natural(each) or is_natural(each, assumed=True) for each in required)


def capture(name: str, lengths: Mapping[Atom, int], texts: Mapping[Atom, str]) -> None:
    """Let questions be answered by the lengths of a captured array, too."""
    current = _assumptions.get()
    if current is not None and current.general:
        current.seen |= lengths
    elif current is not None:
        current.lengths |= lengths
        current.captured |= {atom: (name, texts[atom]) for atom in lengths}


def differs(size: Size, number: int) -> bool:
    """Whether a size is another number than this, by its form or by assumption."""
    return is_never(size, number) or _assumed(size - number, ZERO, False)


def is_assumed(size: Size, number: int) -> bool:
    """Whether a size that is no number is assumed to be this one."""
    return _assumed(size - number, ZERO, True)


def equals(one: Size, other: Size) -> bool:
    """Whether two sizes are equal, by their forms or by assumption."""
    return one == other or _assumed(one - other, ZERO, True) or _are_alike(one, other, equals)


def are_taken_for_equal(one: Size, other: Size) -> bool:
    """Whether two sizes are equal, by their forms or by what was assumed already."""
    current, difference = _assumptions.get(), one - other
    if not difference.terms or current is None:
        return one == other
    asked = Guard(_positive(difference), ZERO, True)
    return asked in current.guards or asked in current.required


def _are_alike(one: Size, other: Size, equal: Callable[[Size, Size], bool]) -> bool:
    """Whether two sizes are computed in the same way of sizes that are `equal`.

    What is not below 0 is the same if it is clamped, too.
    """
    for clamped_, plain in ((one, other), (other, one)):
        inside = _clamped_in(clamped_)
        if inside is not None and is_natural(plain) and equal(inside, plain):
            return True
    factors = [next(iter(each.terms)) for each in (one, other) if len(each.terms) == 1]
    if len(factors) < 2 or one.constant != other.constant or factors[0][1] != factors[1][1]:
        return False
    (a, _), (b, _) = factors
    if type(a) is not type(b) or isinstance(a, Atom):
        return False
    divisors = (getattr(each, "divisor", None) for each in (a, b))
    return len({*divisors}) == 1 and all(map(equal, sizes_inside(a), sizes_inside(b)))


def above_zero(size: Size) -> Size:
    """What a size is where that is above 0: it is not clamped then."""
    inside = _clamped_in(size)
    return size if inside is None else inside


def _clamped_in(size: Size) -> Size | None:
    """What a size is where that is not below 0."""
    factor = _only_factor(size)
    return factor.size if isinstance(factor, Clamped) and of(factor) == size else None


def _only_factor(size: Size) -> Factor | None:
    """The factor of a size that has one, whatever it is multiplied by."""
    return next(iter(size.terms))[0] if len(size.terms) == 1 else None


def may_equal(one: Size, other: Size) -> bool:
    """Whether neither the forms nor the lengths of the call tell that two sizes differ."""
    current = _assumptions.get()
    if current is None or current.general:
        return not is_never(one - other, 0)
    answer = _answer(one - other, ZERO, current.lengths)
    return answer is not False and not is_never(one - other, 0)


_lowers: ContextVar[bool] = ContextVar("lowers", default=False)


@contextmanager
def fitting() -> Iterator[None]:
    """While code of the user's is lowered: lengths have to fit as Python asks for it."""
    token = _lowers.set(True)
    try:
        yield
    finally:
        _lowers.reset(token)


def fit(one: Size, other: Size) -> bool | None:
    """Whether two lengths are equal that have to be; None where only the running code can tell.

    What the lengths of the call answer is a guard, for a call where they do not fit is refused.
    Derived code is not asked: its lengths fit where those of the primal do.
    """
    ask_the_run(one, other, told=True)
    if not _lowers.get():
        return None
    current, difference = _assumptions.get(), one - other
    if difference.known is not None:
        return difference.known == 0
    answer = None if current is None else current.decide(difference, ZERO, required=True)
    return False if answer is None and is_never(difference, 0) else answer


def positive(size: Size) -> bool | None:
    """Whether a size is above zero that has to be; None where only the running code can tell."""
    if size.known is not None or is_natural(size - 1):
        return size.known is None or size.known > 0
    current = _assumptions.get()
    return None if current is None else current.decide(size - 1, NATURAL, required=True)


def number_of(size: Size) -> int | None:
    """Which number a size is in the call that is compiled for."""
    current = _assumptions.get()
    return value_of(size, {} if current is None else current.lengths)


def at_least(one: Size, other: Size) -> bool:
    """Whether the one is not below the other, by their forms or by assumption."""
    return is_natural(one - other) or is_natural(one - other, assumed=True)


def _is_taken_for_natural(size: Size) -> bool:
    """Whether it was assumed already that a size is not below 0, or Python asks for it."""
    current, asked = _assumptions.get(), Guard(size, NATURAL, True)
    return current is not None and (asked in current.guards or asked in current.required)


def _assumed(size: Size, relation: str, wanted: bool) -> bool:
    """Whether the answer is the wanted one; another answer is not assumed."""
    current = _assumptions.get()
    if current is None or current.general or size.known is not None:
        return False
    if _answer(current.first(size), relation, current.lengths) is not wanted:
        return False
    return current.decide(size, relation) is wanted


def required_equal() -> dict[Atom, Atom]:
    """The lengths that have to be equal to others, as Python asks for it, and to which."""
    current = _assumptions.get()
    found: dict[Atom, Atom] = {}
    for each in () if current is None else current.required:
        counts = {count: factor for factor, count in each.size.terms}
        pair = [counts.get(1), counts.get(-1)]
        atoms = [_latest(found, atom) for atom in pair if isinstance(atom, Atom) and atom.not_one]
        plain = each.relation == ZERO and not each.size.constant and len(each.size.terms) == 2
        if plain and len(atoms) == 2 and atoms[0] != atoms[1]:
            first, other = sorted(atoms, key=lambda atom: atom.serial)
            found[other] = first
    return {atom: _latest(found, atom) for atom in found}


def _latest(found: Mapping[Atom, Atom], atom: Atom) -> Atom:
    while atom in found:
        atom = found[atom]
    return atom


def required_numbers() -> dict[Atom, int]:
    """The lengths that have to be a number, as Python asks for it: in all calls they are that."""
    current = _assumptions.get()
    found = {}
    for each in () if current is None else current.required:
        terms = [*each.size.terms]
        if each.relation == ZERO and len(terms) == 1 and _is_length(terms[0][0]):
            ((atom, count),) = terms
            number, rest = divmod(-each.size.constant, count)
            if not rest:
                found[atom] = number
    return found


def _is_length(factor: Factor | None) -> bool:
    return isinstance(factor, Atom) and factor.is_length


def shared(sizes: Mapping[Atom, Size]) -> bool:
    """Whether a function that is compiled may be called with these sizes, too.

    Args:
        sizes: those in this call for the atoms in the first.
    """
    current = _assumptions.get()
    return current is None or current.add_call(sizes)


def give(numbers: Mapping[Atom, Size]) -> None:
    """Let whole numbers inside of a function stand for these sizes, as its first call has them."""
    current = _assumptions.get()
    if current is not None:
        current.given |= numbers
        current.calls += [{atom: size} for atom, size in numbers.items()]


def take_back(numbers: Mapping[Atom, Size]) -> None:
    """Let nothing be known of whole numbers that a function is given: it calls itself."""
    current = _assumptions.get()
    if current is not None:
        for atom, size in numbers.items():
            del current.given[atom]
            current.calls.remove({atom: size})
        asked = current.asked.items()
        current.asked = {q: r for q, r in asked if numbers.keys().isdisjoint(atoms_of(q.size))}


def is_given(atom: Atom) -> bool:
    """Whether it is a whole number that a function is given, inside of it."""
    current = _assumptions.get()
    return current is not None and atom in current.given


# ---- text ----------------------------------------------------------------------------------------


def guard_text(guard: Guard, names: Mapping[Atom, str], prefix: str = "") -> str:
    """What is assumed, as Python would say it: len(x) != 2.

    Args:
        prefix: what stands before the names of Python's functions.
    """
    order = sorted(guard.size.terms, key=lambda term: _factor_text(term[0], names, prefix))
    left = [(factor, count) for factor, count in order if count > 0]
    right = [(factor, -count) for factor, count in order if count < 0]
    constant = guard.size.constant
    sides = [
        _side(left, max(constant, 0), names, prefix),
        _side(right, max(-constant, 0), names, prefix),
    ]
    signs = {(ZERO, True): "==", (ZERO, False): "!=", (NATURAL, True): ">=", (NATURAL, False): "<"}
    return f" {signs[guard.relation, guard.answer]} ".join(sides)


def _side(
    terms: Iterable[tuple[Factor, int]], constant: int, names: Mapping[Atom, str], prefix: str
) -> str:
    parts = [_times(count, _factor_text(factor, names, prefix)) for factor, count in terms]
    return " + ".join([*parts, *([str(constant)] if constant or not parts else [])])


def _times(count: int, text: str) -> str:
    text = f"({text})" if count != 1 and "//" in text else text
    return text if count == 1 else f"{count} * {text}"


def _factor_text(factor: Factor, names: Mapping[Atom, str], prefix: str) -> str:
    if isinstance(factor, Atom):
        return names.get(factor, "?")
    inside = [size_text(each, names, prefix) for each in sizes_inside(factor)]
    if isinstance(factor, Quotient):
        simple = len(factor.size.terms) == 1 and not factor.size.constant
        return f"{inside[0] if simple else f'({inside[0]})'} // {factor.divisor}"
    if isinstance(factor, Clamped):
        return f"{prefix}max({inside[0]}, 0)"
    if isinstance(factor, Between):
        return f"{prefix}len({prefix}range({inside[0]})[{inside[1]}:{inside[2]}])"
    if isinstance(factor, Least):
        return f"{prefix}min({', '.join(inside)})"
    return " * ".join(f"({each})" if " " in each else each for each in inside)


def size_text(size: Size, names: Mapping[Atom, str], prefix: str = "") -> str:
    terms = sorted(size.terms, key=lambda term: _factor_text(term[0], names, prefix))
    parts = [
        (count, _times(abs(count), _factor_text(factor, names, prefix))) for factor, count in terms
    ]
    if size.constant or not parts:
        parts.append((size.constant, str(abs(size.constant))))
    added = " + ".join(text for count, text in parts if count >= 0)
    taken = "".join(f" - {text}" for count, text in parts if count < 0)
    return added + taken if added else f"-{taken[3:]}"
