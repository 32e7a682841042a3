"""Which values may be infinite: because of a pole, because an exponential is too large, or because
the user's code asks whether they are."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from s2s_ad.core import form, values
from s2s_ad.core.builder import DERIVED, Builder, Symbol, names_in
from s2s_ad.core.program import Program
from s2s_ad.core.rule import Rule

DEEPEST = 8


def least(builder: Builder, value: Any, depth: int = DEEPEST) -> float | None:
    """A number that no element of a value is below, by how it is computed; None: none is known."""
    if not isinstance(value, Symbol):
        return value if type(value) in (int, float) else None
    known = builder.notes.setdefault("least", {})
    key = value.name, depth
    if key not in known:
        rule, operands, _ = builder.definition(value)
        known[key] = None
        if rule is not None and operands and depth and not builder.may_be_complex(value):
            known[key] = rule.least(operands, lambda x: least(builder, x, depth - 1))
    return known[key]


def is_off_zero(builder: Builder, value: Any) -> bool:
    """Whether a value is certain to be positive, and not too small to divide by.

    Of whole numbers nothing is certain, which may overflow.
    """
    low, dtype = least(builder, value), values.strong_dtype(builder.fact(value))
    if low is None or values.is_inexact(builder.fact(value)) is not True:
        return False
    return low > np.finfo(np.float32 if dtype is None else dtype).tiny


def questioned(program: Program) -> set[str]:
    """Inputs, and what is computed from none, of which the user's code asks whether it is finite.

    So it need not be, nor need what was computed from it.
    """
    asked: set[str] = set()
    sources = {*program.leaves(), *(each.name for each in program.captured())}
    for statement in reversed(program.body):
        if isinstance(statement, form.Effect) or statement.phase in DERIVED:
            continue
        if _asks_finite(statement) or statement.target in asked:
            asked.update(statement.reads)
        if not statement.reads:
            sources.add(statement.target)
    return asked & sources


def note_questioned(builder: Builder, values: Iterable[Any]) -> None:
    """Note which values need not be finite."""
    names = [each.name for each in values if isinstance(each, Symbol)]
    builder.notes.setdefault("questioned", {}).update(dict.fromkeys(names, True))


def _asks_finite(statement: form.Op) -> bool:
    """Whether a statement asks whether a value is finite: also as x == x, or x < np.inf."""
    if not statement.rule.compares:
        return statement.rule.asks_finite
    names = [getattr(atom, "id", None) for atom in statement.operands]
    numbers = [getattr(atom, "value", None) for atom in statement.operands]
    infinite = any(type(each) is float and math.isinf(each) for each in numbers)
    return infinite or (names[0] is not None and names[0] == names[1])


def may_be_infinite(builder: Builder, value: Any) -> bool:
    """Whether a value may be infinite, or nan, where the inputs are finite that nobody asks of."""
    if _comes_from(builder, value, "questioned"):
        return True

    def judged(name: str, rule: Rule, operands: list, sources: Iterable[bool]) -> bool:
        if values.is_inexact(builder.facts[name]) is False or rule.is_bounded(operands):
            return False
        steep = rule.elementwise and not rule.is_finite(builder, operands)
        return any(sources) or steep or rule.has_poles

    return _asked(builder, value, "infinite", lambda rule, operands: operands, judged)


def may_overflow(builder: Builder, value: Any) -> bool:
    """Whether a value is infinite where an exponential that it was computed from is."""

    def grown_from(rule: Rule, operands: list) -> list:
        grows = () if rule.is_bounded(operands) else rule.grows_with(operands)
        return [operands[index] for index in grows]

    def judged(name: str, rule: Rule, operands: list, sources: Iterable[bool]) -> bool:
        return rule.overflows or any(sources)

    return _asked(builder, value, "overflow", grown_from, judged)


def may_be_steep(builder: Builder, value: Any) -> bool:
    """Whether the derivative of a value may be infinite, where the inputs are finite.

    Zeros among its adjoints are then no numbers to multiply by: see rules/masks.py.
    """
    return may_be_infinite(builder, value) or may_overflow(builder, value)


def hand_in(builder: Builder, names: Iterable[str], *, bounded: bool) -> None:
    """Note what a block or a function is given, and whether whoever gives it says it is finite."""
    question = "vouched" if bounded else "unbounded"
    builder.notes.setdefault(question, {}).update(dict.fromkeys(names, True))


def stays_finite(builder: Builder, value: Any) -> bool:
    """Whether a value is finite where the inputs are, as far as the builder is told."""
    return not (may_be_steep(builder, value) or _comes_from(builder, value, "unbounded"))


def rely_on(builder: Builder, value: Any) -> None:
    """Note that the text depends on whether a value is bounded, if that was told."""
    if any(_comes_from(builder, value, question) for question in ("unbounded", "vouched")):
        builder.notes["relied"] = True


def note_steep(builder: Builder, value: Any) -> None:
    """Note that something is multiplied with what may be infinite, if it was handed in."""
    if any(_comes_from(builder, value, question) for question in ("unbounded", "vouched")):
        builder.notes["steep"] = True


def is_steep(builder: Builder) -> bool:
    """Whether zeros of what was handed in may be multiplied with what is infinite."""
    return "steep" in builder.notes


def relies(builder: Builder) -> bool:
    """Whether what was written depends on whether what was handed in is bounded."""
    return "relied" in builder.notes


def _comes_from(builder: Builder, value: Any, question: str) -> bool:
    if not builder.notes.get(question):
        return False

    def judged(name: str, rule: Rule, operands: list, sources: Iterable[bool]) -> bool:
        return any(sources) and values.is_inexact(builder.facts[name]) is not False

    return _asked(builder, value, question, lambda rule, operands: operands, judged)


def times_settled(y_bar: Any, slope: Any) -> Any:
    """The product with a slope that is 0 where its operand is infinite.

    The adjoint of the result is not taken inside of the selection: where it is infinite, too, the
    derivative is not known, and 0 * inf is nan.
    """
    if not isinstance(slope, Symbol):
        return y_bar * slope
    builder = slope.builder
    rule, operands, _ = builder.definition(slope)
    if rule is not None and rule.function is operator.neg:
        return -times_settled(y_bar, operands[0])
    builder.notes.setdefault("settled", set()).add(slope.name)
    with as_factor(slope):
        return y_bar * slope


@contextmanager
def as_factor(selection: Symbol) -> Iterator[None]:
    """Products that are written inside leave a selection what it is: a factor."""
    unmasked = selection.builder.notes.setdefault("unmasked", set())
    unmasked.add(selection.name)
    yield
    unmasked.discard(selection.name)


def as_value(selection: Any) -> Any:
    """A selection whose zeros are values: whatever it is multiplied by stays outside of it."""
    rule, operands, _ = selection.builder.definition(selection)
    inner = operands[0] if rule is not None and rule.function is operator.neg else selection
    selection.builder.notes.setdefault("unmasked", set()).add(inner.name)
    return selection


def is_divided_by(builder: Builder, product: Any, y: Symbol, farthest: int = 8) -> bool:
    """Whether a product has 1 / y as a factor."""
    rule, operands, _ = builder.definition(product)
    if rule is None or not rule.elementwise or not farthest:
        return False
    last = operands[-1]
    if rule.function is operator.truediv and isinstance(last, Symbol) and last.name == y.name:
        return True
    factors = [operands[index] for index in rule.linear]
    return any(is_divided_by(builder, each, y, farthest - 1) for each in factors)


def is_settled(builder: Builder, value: Any) -> bool:
    """Whether a value is such a slope."""
    return isinstance(value, Symbol) and value.name in builder.notes.get("settled", ())


def _asked(
    builder: Builder, value: Any, question: str, sources_of: Callable, judged: Callable
) -> bool:
    """The answer for a value, from those for what it was computed from; each is found once."""
    if not isinstance(value, Symbol):
        return False
    known = builder.notes.setdefault(question, {})
    waiting = [value.name]
    while waiting:
        name = waiting[-1]
        rule, operands, _ = builder.definitions.get(name, (None, [], {}))
        sources = [] if rule is None else list(names_in(sources_of(rule, operands)))
        more = [each for each in sources if each not in known]
        if more and name not in known:
            waiting += more
            continue
        waiting.pop()
        if name not in known:
            answers = map(known.__getitem__, sources)
            known[name] = rule is not None and judged(name, rule, operands, answers)
    return known[value.name]
