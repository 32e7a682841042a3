"""Masks of what is beyond a bound, asked of the value that is there anyway."""

from __future__ import annotations

from typing import Any

import gast

from s2s_ad.analysis import liveness
from s2s_ad.analysis.indices import index_text
from s2s_ad.core import form
from s2s_ad.core.builder import DERIVED, fresh_name
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
    asked = {each.target: found for each in program.body if (found := _asked(each, made))}
    if not asked:
        return program
    counts = liveness.counts(program.body, program.outputs())
    counts.subtract(name for each in program.body if _asks_length(each) for name in each.reads)
    for name, (_, view) in asked.items():
        read = view if view and counts[view.target] == 1 else made[name]
        counts[read.operands[0].id] -= 1
    facts = dict(program.facts)

    def change(statement: form.Statement) -> form.Statement | list[form.Statement]:
        if statement.target not in asked:
            return statement
        bounded, view = asked[statement.target]
        operand: Any = _operand(statement, bounded)
        bound = statement.operands[1]
        before = getattr(operand, "id", "")
        if view is not None and program.fact(operand) != program.facts[bounded.target]:
            return statement
        if counts[bounded.target] and before in made and counts[before] == 1:
            return statement
        if view is None:
            return statement.with_call(statement.rule, [operand, bound])
        part = fresh_name()
        facts[part] = facts[view.target]
        taken = statement.beside(part, view.rule, [operand], view.parameters)
        return [taken, statement.with_call(statement.rule, [form.name(part), bound])]

    return rewritten(program, change, facts)


def _asks_length(statement: form.Statement) -> bool:
    """Whether it needs no value: lengths are read off the inputs in the end."""
    return isinstance(statement, form.Op) and statement.rule.length


def _asked(
    statement: form.Statement, made: dict[str, form.Op]
) -> tuple[form.Op, form.Op | None] | None:
    """(what bounds the value that a statement compares with the bound, the view of it or None)."""
    if isinstance(statement, form.Effect) or statement.phase not in DERIVED:
        return None
    bounded = made.get(getattr(statement.operands[0], "id", "")) if statement.operands else None
    view = None
    if bounded is not None and bounded.rule.view and len(bounded.operands) == 1:
        bounded, view = made.get(getattr(bounded.operands[0], "id", "")), bounded
    passes = None if bounded is None else bounded.rule.passes
    if bounded is None or passes is None or statement.function is not passes:
        return None
    return (bounded, view) if _operand(statement, bounded) is not None else None


def _operand(statement: form.Statement, bounded: form.Op) -> gast.AST | None:
    """What is bounded by the number that a statement compares with."""
    bound = statement.operands[1]
    others = [each for each in bounded.operands if index_text(each) != index_text(bound)]
    return others[0] if len(others) == 1 and isinstance(bound, gast.Constant) else None


ASK_OPERANDS = Pass("ask-operands", everywhere(ask_operands))
