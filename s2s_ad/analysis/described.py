"""Names for values that the user did not name, from what computes them: `exp_f`, `x_minus_mean`."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form
from s2s_ad.core.builder import DERIVED
from s2s_ad.core.callee import item_of
from s2s_ad.core.program import LONGEST, TEMPORARY, Hint, Program
from s2s_ad.core.sharing import lazy

LONGEST_PHRASE = 16
FARTHEST = 20  # operations between a value and what it is called after
Word = str | float  # a number stands for itself


def _product(left: Word, right: Word) -> str:
    """`vol_times_sqrt_t`, `half_dt`, `twice_x`; `x_scaled` where that is too long."""
    if not isinstance(left, str):
        left, right = right, left
    if not isinstance(left, str):
        return ""
    if not isinstance(right, str):
        named = {0.5: "half_", 2: "twice_", -1: "minus_"}.get(right)
        return f"{named}{left}" if named and left else _changed(left, "scaled")
    return _joined(left, "times", right) or _changed(left or right, "scaled")


def _comparison(how: str) -> Callable[[Word, Word], str]:
    """`path_mask`: after the first operand that has a name."""

    def named(left: Word, right: Word) -> str:
        return next(filter(None, (_changed(each, how) for each in (left, right))), "")

    return named


_mask, _halves = _comparison("mask"), _comparison("halves")


def _remainder(left: Word, right: Word) -> str:
    return _changed(left, "remainder")


def _quotient(left: Word, right: Word) -> str:
    if not isinstance(right, str):
        named = isinstance(left, str) and left and right == 2
        return f"half_{left}" if named else _changed(left, "scaled")
    if not isinstance(left, str):
        return f"one_over_{right}" if left == 1 and right else _changed(right, "inverse")
    return _joined(left, "over", right) or _changed(left, "scaled")


def _sum(left: Word, right: Word, between: str = "plus") -> str:
    """`rate_plus_spread`, `one_minus_x`; `y_shifted` where that is too long, or a small number.

    Of parts of one array, or a value and its square, it is the `x_difference`.
    """
    words = ["one" if not isinstance(each, str) and each == 1 else each for each in (left, right)]
    texts = [each for each in words if isinstance(each, str)]
    if len(texts) == 2 and all(texts):
        left, right = texts
        if left.startswith(f"{right}_"):
            return left
        if right.startswith(f"{left}_") or right.removeprefix("twice_") == left:
            return _changed(left, "sum" if between == "plus" else "difference")
        named = [each for each in (left, right) if each != "one"]
        return _joined(left, between, right) or _changed(named[0] if named else "", "shifted")
    return _changed(next(filter(None, texts), ""), "shifted")


def _difference(left: Word, right: Word) -> str:
    return _sum(left, right, "minus")


def _power(left: Word, right: Word) -> str:
    if not isinstance(left, str):
        return _changed(right, "exponential")
    powers: dict[float, str] = {2: "squared", 3: "cubed"}
    named = None if isinstance(right, str) else powers.get(right)
    return _changed(left, named or "power")


def _matrix_product(left: Word, right: Word) -> str:
    left, right = (each if isinstance(each, str) else "" for each in (left, right))
    return _joined(left, "dot", right) or _changed(left or right, "product")


def _joined(left: str, between: str, right: str) -> str:
    """The words in a row, "" where one is not known or they are too many."""
    text = f"{left}_{between}_{right}"
    return text if left and right and len(text) <= LONGEST_PHRASE else ""


def _changed(word: Word, how: str) -> str:
    """`x_scaled`, once only."""
    if not isinstance(word, str) or not word:
        return ""
    return word if word.endswith(f"_{how}") else f"{word}_{how}"


BETWEEN: dict[Callable, Callable[[Word, Word], str]] = {
    operator.add: _sum,
    operator.and_: _mask,
    operator.eq: _mask,
    operator.floordiv: _quotient,
    operator.ge: _mask,
    operator.gt: _mask,
    operator.le: _mask,
    operator.lt: _mask,
    operator.matmul: _matrix_product,
    operator.mod: _remainder,
    operator.mul: _product,
    operator.ne: _mask,
    operator.or_: _mask,
    operator.pow: _power,
    operator.sub: _difference,
    operator.truediv: _quotient,
    np.logical_and: _mask,
    np.logical_or: _mask,
    runtime.contract: _matrix_product,
    runtime.halves_larger: _halves,
    runtime.halves_smaller: _halves,
}
BESIDE = {gast.Add: "next", gast.Sub: "prev"}  # of the element at i: at i + 1, at i - 1
SIGNS = {operator.invert: "not", operator.neg: "minus"}
COMPOUND = BETWEEN.keys() - {operator.pow}


def element(base: str, index: gast.AST, called: Callable[[gast.Name], str]) -> str:
    """What an element or a row is called: `L_ij`, `x_0`, `x_last` of `x[-1]`, `c_prev` of
    `c[i - 1]`; "" where the index says nothing short."""
    words = []
    for each in index.elts if isinstance(index, gast.Tuple) else [index]:
        number = getattr(each, "value", None)
        if isinstance(each, gast.Name):
            words.append(called(each))
        elif isinstance(each, gast.Constant) and type(number) is int and number >= 0:
            words.append(str(number))
        elif number == -1 and type(number) is int:
            words.append("last")
        elif getattr(getattr(each, "right", None), "value", None) == 1 and type(each.op) in BESIDE:
            words.append(BESIDE[type(each.op)])
        elif not isinstance(each, gast.Slice):
            return ""
    letters = "".join(words) if all(len(each) == 1 for each in words) else "_".join(words)
    return f"{base}_{letters}" if base and words and all(words) else ""


class Described:
    """Describes the values of one program, its blocks apart."""

    def __init__(self, program: Program, body: Iterable[form.Statement] | None = None):
        self.hints, self.own = program.hints, program.origin and program.origin.function
        self.body = program.body if body is None else tuple(body)
        self._texts: dict[str, str] | None = None

    @lazy
    def made(self) -> dict[str, form.Op]:
        """What computes each value."""
        return {each.target: each for each in self.body if isinstance(each, form.Op)}

    @lazy
    def readers(self) -> dict[str, list[form.Statement]]:
        """What reads each value."""
        found: defaultdict[str, list[form.Statement]] = defaultdict(list)
        for each in self.body:
            for name in each.reads:
                found[name].append(each)
        return found

    def text(self, name: str) -> str:
        """What a value may be called; "" where nothing short says what it is."""
        if self._texts is None:
            self._texts = {}
            for each, statement in self.made.items():  # in order, so not deep in itself
                self._texts[each] = self._text(each, statement)
        return self._texts.get(name, "")

    def hint(self, name: str) -> Hint:
        """The hint of a value, or what it may be called."""
        hint = self.hints.get(name, TEMPORARY)
        text = hint.text or self.text(name) or self._element_text(name)
        return hint if text == hint.text else Hint(text, hint.kind)

    def _element_text(self, name: str) -> str:
        """What an element is called: `centers_k`."""
        text = self._element(self.made[name]) if name in self.made else ""
        return text if text.isidentifier() and len(text) <= LONGEST else ""

    def _text(self, name: str, statement: form.Statement) -> str:
        stored = self._stored(name)
        if stored:
            return stored
        helper = self._helper(name, statement)
        argument = self._argument(statement, helper) if helper else ""
        text = f"{helper}_{argument}" if argument else self._phrase(statement)
        return text if text.isidentifier() and len(text) <= LONGEST else ""

    def kind(self, name: str) -> str:
        """The function that computes a value, or what it is an element of."""
        statement = self.made.get(name)
        if statement is None:
            return ""
        rule = statement.rule
        if rule.updates:
            base = statement.operands[0]
            return self._called(base) or self.kind(getattr(base, "id", ""))
        if rule.function is operator.getitem:
            return self._element(statement)
        named = rule.function not in BETWEEN and rule.name.isidentifier()
        return rule.name if named and not rule.view and item_of(statement) is None else ""

    def _called(self, atom: Any) -> str:
        return self.hints.get(getattr(atom, "id", ""), TEMPORARY).text

    def _helper(self, name: str, statement: form.Statement) -> str:
        """The helper of which a value is the result, where it was written in place."""
        function = _function(statement)
        read_in = {_function(each) for each in self.readers[name] if each.phase == "forward"}
        passed = not read_in or function in read_in or function == self.own
        named = function.isidentifier() and not function.startswith("__")  # operators are not
        return function if named and not passed else ""

    def _argument(self, statement: form.Statement, helper: str) -> str:
        """What the first argument of a helper is called."""
        waiting, seen = [*reversed(statement.reads)], set()
        while waiting:
            name = waiting.pop()
            text = self.hints.get(name, TEMPORARY).text
            inner = self.made.get(name)
            if text:
                return text
            if inner is not None and name not in seen and _function(inner) == helper:
                seen.add(name)
                waiting += reversed(inner.reads)
        return ""

    def _stored(self, name: str) -> str:
        """The element that a value is stored in: `L_ij`."""
        for each in self.readers[name]:
            if isinstance(each, form.Op) and each.function is runtime.index_set:
                base, value = each.operands[:2]
                if getattr(value, "id", "") == name:
                    return element(self._base(base), each.parameters["index"], self._called)
        return ""

    def _base(self, atom: Any) -> str:
        """What an array is called that is changed in place, step by step."""
        while not self._called(atom):
            statement = self.made.get(getattr(atom, "id", ""))
            if statement is None or not statement.rule.updates:
                return ""
            atom = statement.operands[0]
        return self._called(atom)

    def _phrase(self, statement: form.Statement) -> str:
        """`x_minus_mean`, `exp_x`: the operands in the words of the operation."""
        rule = statement.rule
        args = statement.operands
        joins = rule.gathers and statement.phase in DERIVED  # adjoints, to that of what they are of
        if not args or item_of(statement) is not None or joins:
            return ""
        if rule.function in BETWEEN and len(args) == 2:
            return BETWEEN[rule.function](*map(self._word, args))
        first = self._word(args[0])
        if rule.length and isinstance(first, str) and first.startswith(f"{rule.name}_"):
            return first
        if rule.function in SIGNS:
            return f"{SIGNS[rule.function]}_{first}" if first else ""
        own = getattr(rule.function, "__module__", "") == runtime.__name__  # in no text but ours
        if own or rule.updates or rule.copy or rule.inserts_axes:
            return first if isinstance(first, str) else ""
        plain = rule.function is not operator.getitem and rule.name.isidentifier()
        first = self._named(args[0]) if plain else ""
        return f"{rule.name}_{first}" if first else ""

    def _named(self, atom: Any) -> str:
        """What the first operand is called, or what that is computed from first."""
        for _ in range(FARTHEST):
            statement = self.made.get(getattr(atom, "id", ""))
            text = self._called(atom)
            if not text and statement is not None:
                named = statement.function not in COMPOUND and self.text(atom.id)
                text = named or self._element(statement)
            names = [] if statement is None else statement.reads
            if text or not names:
                return text
            atom = form.name(names[0])
        return ""

    def _element(self, statement: form.Statement) -> str:
        if statement.function is not operator.getitem:
            return ""
        index = statement.parameters["index"]
        return element(self._called(statement.operands[0]), index, self._called)

    def _word(self, atom: Any) -> Word:
        """What an operand is called, a view after what it is a view of."""
        if isinstance(atom, gast.Constant):
            return atom.value if type(atom.value) in (int, float) else ""
        name = getattr(atom, "id", "")
        text, statement = self._called(atom) or self.text(name), self.made.get(name)
        if text or statement is None:
            return text
        rule, args = statement.rule, statement.operands
        text = self._element(statement)
        if text:
            return text
        inside = args if rule.hands_on else args[:1] if rule.view else []
        return next(filter(None, map(self._word, inside)), "")


def _function(statement: form.Statement) -> str:
    """The function of the user's that a statement is from."""
    return "" if statement.origin is None else statement.origin.function
