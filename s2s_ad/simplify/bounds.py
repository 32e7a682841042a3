"""Masks of what is beyond a bound, asked of the value that is there anyway."""

from __future__ import annotations

from s2s_ad.analysis import liveness
from s2s_ad.analysis.indices import index_text
from s2s_ad.core import form
from s2s_ad.core.builder import DERIVED
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere
from s2s_ad.core.rewriting import rewritten


def ask_operands(program: Program) -> Program:
    """What a derivative asks of a bounded value it asks of the value before, if that is at hand.

    It is where others read it, or where nobody else reads the bounded value.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.check.passes import after
        >>> def f(x, y_bar):
        ...     y = np.maximum(x, 0)
        ...     return y_bar * (y > 0)
        >>> print(after(ASK_OPERANDS, f, np.ones(3), np.ones(3), derived=True))
        f(x: f64[n], y_bar: f64[m]):
            y = np.maximum(x, 0)
            t1 = x > 0
            t2 = y_bar * t1
            return t2
    """
    made = {each.target: each for each in program.body if isinstance(each, form.Op)}
    asked = {each.target: _asked(each, made) for each in program.body}
    if not any(asked.values()):
        return program
    counts = liveness.counts(program.body, program.outputs())
    counts.subtract(each.operands[0].id for each in program.body if asked[each.target])

    def change(statement: form.Statement) -> form.Statement:
        bounded = asked.get(statement.target)
        if bounded is None:
            return statement
        operands = _turned(statement, bounded)
        before = getattr(operands[0], "id", "")
        if counts[bounded.target] and before in made and counts[before] == 1:
            return statement
        return statement.with_call(statement.rule, operands)

    return rewritten(program, change)


def _asked(statement: form.Statement, made: dict[str, form.Op]) -> form.Op | None:
    """What bounds the value that a statement compares with the bound."""
    if isinstance(statement, form.Effect) or statement.phase not in DERIVED:
        return None
    bounded = made.get(getattr(statement.operands[0], "id", "")) if statement.operands else None
    passes = None if bounded is None else bounded.rule.passes
    if bounded is None or passes is None or statement.function is not passes:
        return None
    return bounded if _turned(statement, bounded) else None


def _turned(statement: form.Op, bounded: form.Op) -> list:
    """The operands of the comparison with the operand for the result; none where it is another."""
    bound = statement.operands[1]
    others = [each for each in bounded.operands if index_text(each) != index_text(bound)]
    return [others[0], bound] if len(others) == 1 else []


ASK_OPERANDS = Pass("ask-operands", everywhere(ask_operands))
