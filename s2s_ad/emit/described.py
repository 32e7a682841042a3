"""Names for values that the user did not name, from what computes them: `exp_f`, `x_minus_mean`."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.registry import rule_for

LONGEST = 20
BETWEEN = {
    operator.add: "plus",
    operator.matmul: "times",
    operator.mul: "times",
    operator.sub: "minus",
    operator.truediv: "over",
}


class Described:
    """Describes the values of one program, its blocks apart."""

    def __init__(self, program: Program):
        self.hints = program.hints
        self.made: Mapping[str, gast.Assign] = {
            form.target(each): each for each in program.body if not form.is_effect(each)
        }

    def text(self, name: str) -> str:
        """What a value may be called; "" where nothing short says what it is."""
        statement = self.made.get(name)
        rule = None if statement is None else rule_for(form.function_of(statement))
        operands = [] if statement is None else statement.value.args
        words = [self._word(each) for each in operands]
        if rule is None or not words or not all(words):
            return ""
        between = BETWEEN.get(rule.function)
        if between is not None:
            words.insert(1, between)
        elif len(words) == 1 and rule.name.isidentifier():
            words.insert(0, rule.name)
        else:
            return ""
        text = "_".join(words)
        return text if text.isidentifier() and len(text) <= LONGEST else ""

    def _word(self, atom: Any) -> str:
        """What an operand is called; of -x that is x."""
        if isinstance(atom, gast.Constant):
            return "one" if atom.value == 1 and type(atom.value) in (int, float) else ""
        text = self.hints.get(getattr(atom, "id", ""), TEMPORARY).text
        statement = self.made.get(getattr(atom, "id", ""))
        if not text and statement is not None and form.function_of(statement) is operator.neg:
            return self._word(statement.value.args[0])
        return text
