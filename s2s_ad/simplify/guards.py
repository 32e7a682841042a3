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
    if not any(each.rule.function is np.where for each in program.body):
        return program
    made = {each.target: each for each in program.body if isinstance(each, form.Op)}
    return rewritten(program, lambda each: _slope(program, made, each) or each)


def _slope(
    program: Program, made: Mapping[str, form.Op], statement: form.Statement
) -> gast.AST | None:
    """The slope, where the statement is a guard of it that is idle."""
    if isinstance(statement, form.Effect) or statement.phase not in DERIVED:
        return None
    if statement.function is not np.where:
        return None
    condition, chosen, other = statement.operands
    asked, slope = (made.get(getattr(each, "id", "")) for each in (condition, chosen))
    if asked is None or slope is None or getattr(other, "value", None) != 0.0:
        return None
    facts = program.facts[statement.target], program.facts[slope.target]
    alike = values.same_shape(*map(values.shape_of, facts)) and values.is_dtype(
        values.strong_dtype(facts[0]), values.strong_dtype(facts[1])
    )
    return chosen if alike and _is_idle(made, asked, slope) else None


def _is_idle(made: Mapping[str, form.Op], asked: form.Op, slope: form.Op) -> bool:
    """Whether a value is 0 where the condition does not hold."""
    added = _added(made, slope)
    if added is not None:
        return _is_idle(made, asked, added)
    found = (asked.function, *(getattr(each, "value", None) for each in asked.operands[1:]))
    return any(
        found == condition
        and getattr(asked.operands[0], "id", "") == getattr(slope.operands[position], "id", None)
        and _stays_finite(made, slope, position)
        for position, condition in slope.rule.vanishes.items()
    )


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
