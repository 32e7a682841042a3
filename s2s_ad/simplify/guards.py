"""Guards of slopes against infinite operands that change nothing where they stand."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form, values
from s2s_ad.core.builder import DERIVED
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere
from s2s_ad.core.rewriting import rewritten


def unguard(program: Program) -> Program:
    """A slope that is 0 at an infinite operand by itself is not selected where that is finite.

    The selection was there for what might be multiplied inside of it; here nothing has been.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(x, e):
        ...     y = x / e
        ...     return np.where(np.isfinite(e), y / e, 0.0)
        >>> print(after(UNGUARD, f, np.ones(3), np.ones(3), derived=True))
        f(x: f64[n], e: f64[m]):
            y = x / e
            t1 = np.isfinite(e)
            t2 = y / e
            return t2
    """
    made = {each.target: each for each in program.body if isinstance(each, form.Op)}
    if not any(map(_guarded, made.values())):
        return program
    return rewritten(program, lambda each: _slope(program, made, each) or each)


def _slope(
    program: Program, made: Mapping[str, form.Op], statement: form.Statement
) -> gast.AST | None:
    """The slope, where the statement is a guard of it that is idle."""
    if isinstance(statement, form.Effect) or statement.phase not in DERIVED:
        return None
    for condition, chosen in _guarded(statement):
        asked, slope = (made.get(getattr(each, "id", "")) for each in (condition, chosen))
        if asked is None or slope is None:
            continue
        facts = program.facts[statement.target], program.facts[slope.target]
        alike = values.same_shape(*map(values.shape_of, facts)) and values.is_dtype(
            values.strong_dtype(facts[0]), values.strong_dtype(facts[1])
        )
        if alike and _is_idle(made, asked, slope):
            return chosen
    return None


def _guarded(statement: form.Op) -> list[tuple[gast.AST, gast.AST]]:
    """What may be a condition, and the value that is 0 where it does not hold."""
    if statement.function is np.where and len(statement.operands) == 3:
        condition, chosen, other = statement.operands
        return [(condition, chosen)] if getattr(other, "value", None) == 0.0 else []
    if statement.function is operator.mul:
        a, b = statement.operands
        return [(a, b), (b, a)]
    return []


def _is_idle(made: Mapping[str, form.Op], asked: form.Op, slope: form.Op) -> bool:
    """Whether a value is 0 where the condition does not hold."""
    added = _added(made, slope)
    if added is not None:
        return _is_idle(made, asked, added)
    if _asks_for_zero(made, asked) and _is_multiple(made, slope, asked.operands[0]):
        return True
    found = (asked.function, *(getattr(each, "value", None) for each in asked.operands[1:]))
    return any(
        found == condition
        and getattr(asked.operands[0], "id", "") == getattr(slope.operands[position], "id", None)
        and _stays_finite(made, slope, position)
        for position, condition in slope.rule.vanishes.items()
    )


def _asks_for_zero(made: Mapping[str, form.Op], asked: form.Op) -> bool:
    """Whether it is asked if y = max(x, 0) is above 0, or y = min(x, 0) below: y is 0 if not."""
    if len(asked.operands) != 2:
        return False
    y, zero = made.get(getattr(asked.operands[0], "id", "")), getattr(asked.operands[1], "value", 1)
    if y is None or y.rule.passes is None or asked.function is not y.rule.passes:
        return False
    return zero == 0 and any(getattr(each, "value", 1) == 0 for each in y.operands)


def _is_multiple(made: Mapping[str, form.Op], statement: form.Op | None, y: gast.AST) -> bool:
    """Whether a value is another one, or that times numbers."""
    if statement is None or statement.target == y.id:
        return statement is not None
    names = [each for each in statement.operands if isinstance(each, gast.Name)]
    others = [each.value for each in statement.operands if isinstance(each, gast.Constant)]
    if len(names) != 1 or len(others) + 1 != len(statement.operands) or not all(others):
        return False
    is_linear = statement.operands.index(names[0]) in statement.rule.linear
    is_plain = statement.rule.elementwise and is_linear
    return is_plain and _is_multiple(made, made.get(names[0].id), y)


def _added(made: Mapping[str, form.Op], slope: form.Op) -> form.Op | None:
    """The e of a slope 1 - k / (k + e), which is 0 where e is."""
    one, quotient = _numbered(made, slope, operator.sub)
    dividend, total = _numbered(made, quotient, operator.truediv)
    numbers = dict(_numbered(made, total, operator.add, position) for position in (0, 1))
    return numbers.get(dividend) if one == 1 and dividend is not None else None


def _numbered(
    made: Mapping[str, form.Op], statement: form.Op | None, function: Callable, position: int = 0
) -> tuple[Any, form.Op | None]:
    """The number that is one operand of a function of two, and what computes the other."""
    if statement is None or statement.function is not function:
        return None, None
    number, other = statement.operands[position], statement.operands[1 - position]
    value = number.value if isinstance(number, gast.Constant) else None
    return value, made.get(getattr(other, "id", ""))


def _stays_finite(made: Mapping[str, form.Op], slope: form.Op, position: int) -> bool:
    """Whether what is divided is not infinite, too: it is itself divided by that."""
    others = [each for index, each in enumerate(slope.operands) if index != position]
    divided = [made.get(getattr(each, "id", "")) for each in others]
    return all(
        each is not None
        and each.rule is slope.rule
        and getattr(each.operands[position], "id", 0) == getattr(slope.operands[position], "id", 1)
        for each in divided
    )


UNGUARD = Pass("unguard", everywhere(unguard))
