"""Names for values that the user did not name, from what computes them: `exp_f`, `x_minus_mean`."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.core import form
from s2s_ad.core.callee import item_of
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


def element(base: str, index: gast.AST, called: Callable[[gast.Name], str]) -> str:
    """What an element or a row is called: `L_ij`, `x_0`; "" where the index says nothing short."""
    words = []
    for each in index.elts if isinstance(index, gast.Tuple) else [index]:
        number = getattr(each, "value", None)
        if isinstance(each, gast.Name):
            words.append(called(each))
        elif isinstance(each, gast.Constant) and type(number) is int and number >= 0:
            words.append(str(number))
        elif not isinstance(each, gast.Slice):
            return ""
    letters = "".join(words) if all(len(each) == 1 for each in words) else "_".join(words)
    return f"{base}_{letters}" if base and words and all(words) else ""


class Described:
    """Describes the values of one program, its blocks apart."""

    def __init__(self, program: Program):
        self.hints = program.hints
        self.made: dict[str, gast.Assign] = {}
        self.readers: defaultdict[str, list[form.Statement]] = defaultdict(list)
        for each in program.body:
            if not form.is_effect(each):
                self.made[form.target(each)] = each
            for name in form.reads(each):
                self.readers[name].append(each)

    def text(self, name: str) -> str:
        """What a value may be called; "" where nothing short says what it is."""
        statement = self.made.get(name)
        if statement is None:
            return ""
        helper = self._helper(name, statement)
        words = [helper, self._argument(statement, helper)] if helper else self._words(statement)
        text = "_".join(words)
        return text if text.isidentifier() and len(text) <= LONGEST and all(words) else ""

    def kind(self, name: str) -> str:
        """The function that computes a value, or what it is an element of."""
        statement = self.made.get(name)
        function = None if statement is None else form.function_of(statement)
        if function in (runtime.index_set, runtime.index_add):
            base = statement.value.args[0]
            return self._called(base) or self.kind(getattr(base, "id", ""))
        if function is operator.getitem:
            index = statement.value.keywords[0].value
            return element(self._called(statement.value.args[0]), index, self._called)
        rule = None if statement is None else rule_for(form.function_of(statement))
        named = rule is not None and rule.function not in BETWEEN and rule.name.isidentifier()
        return rule.name if named and not rule.view and item_of(statement) is None else ""

    def _called(self, atom: Any) -> str:
        return self.hints.get(getattr(atom, "id", ""), TEMPORARY).text

    def _helper(self, name: str, statement: gast.Assign) -> str:
        """The helper of which a value is the result, where it was written in place."""
        function = _function(statement)
        read_in = {_function(each) for each in self.readers[name] if each.phase == "forward"}
        return function if read_in and function not in read_in and function.isidentifier() else ""

    def _argument(self, statement: gast.Assign, helper: str) -> str:
        """What the first argument of a helper is called."""
        for name in form.reads(statement):
            text = self.hints.get(name, TEMPORARY).text
            inner = self.made.get(name)
            if not text and inner is not None and _function(inner) == helper:
                text = self._argument(inner, helper)
            if text:
                return text
        return ""

    def _words(self, statement: gast.Assign) -> list[str]:
        rule = rule_for(form.function_of(statement))
        words = [self._word(each) for each in statement.value.args]
        between = None if rule is None else BETWEEN.get(rule.function)
        if between is not None:
            return [words[0], between, *words[1:]]
        plain = rule is not None and len(words) == 1 and rule.name.isidentifier()
        return [rule.name, *words] if plain and not rule.view else []

    def _word(self, atom: Any) -> str:
        """What an operand is called; of -x that is x, and of x + 1e-5."""
        if isinstance(atom, gast.Constant):
            return "one" if atom.value == 1 and type(atom.value) in (int, float) else ""
        text, statement = self._called(atom), self.made.get(getattr(atom, "id", ""))
        if text or statement is None:
            return text
        function, args = form.function_of(statement), statement.value.args
        if function is operator.getitem:
            return element(self._called(args[0]), statement.value.keywords[0].value, self._called)
        if function not in (operator.neg, operator.add, operator.sub):
            return ""
        names = [each for each in args if isinstance(each, gast.Name)]
        return self._word(names[0]) if len(names) == 1 else ""


def _function(statement: form.Statement) -> str:
    """The function of the user's that a statement is from."""
    return "" if statement.origin is None else statement.origin.function
