"""Conditions: boolean operators, choices, texts, and what is known of a truth now."""

from __future__ import annotations

import enum
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Symbol, constant_value
from s2s_ad.core.callee import is_watched
from s2s_ad.core.tree import VIEWS, Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower import growing
from s2s_ad.frontend.lower.attributes import CHOICE, read_attribute
from s2s_ad.frontend.lower.calls import apply
from s2s_ad.frontend.lower.classes import is_written
from s2s_ad.frontend.lower.containers import count_now
from s2s_ad.frontend.lower.core import HANDLERS, Lowering, expression
from s2s_ad.frontend.lower.entries import entries_there, may_lack_entries, may_lack_items
from s2s_ad.frontend.lower.exits import CONTINUE, Exits
from s2s_ad.frontend.lower.kinds import is_leaf
from s2s_ad.frontend.lower.meeting import meet, where
from s2s_ad.frontend.lower.optional import is_optional
from s2s_ad.frontend.lower.paths import Path, explore
from s2s_ad.frontend.lower.picked import EACH, Picked, is_picked, may_be_picked, options, picked
from s2s_ad.frontend.lower.poisons import Unjoined
from s2s_ad.frontend.lower.references import Box, settled, symbols
from s2s_ad.frontend.lower.string_unions import (
    OPEN_TEXT,
    Word,
    is_open_text,
    is_word,
    options_of,
    text_of,
)
from s2s_ad.frontend.resolve import PLAIN, Captured

#: so many numbers that one of as many objects has are looked up in a list
MANY = 4

#: where the sides of a choice leave its value among the locals
VALUE = "if"

PYTHON_TRUTH = values.Scalar(bool)

#: the operation that `or` (True) and `and` (False) are on any truths, and on those of Python's
JOINED = {True: (np.logical_or, operator.or_), False: (np.logical_and, operator.and_)}


@expression(gast.BoolOp)
def boolean(lowering: Lowering, node: gast.BoolOp) -> Any:
    """`a and b or c` On any values; an operand is evaluated only where Python evaluates it."""
    return _joined(lowering, isinstance(node.op, gast.Or), node.values, lowering.evaluate_any)


def condition(lowering: Lowering, node: gast.expr) -> Any:
    """An expression of which only the truth counts: True or False where it is known."""
    if isinstance(node, gast.BoolOp):
        stops = isinstance(node.op, gast.Or)
        with lowering.placed(node):
            value = _joined(lowering, stops, node.values, lambda each: condition(lowering, each))
    else:
        with lowering.placed(node):
            value = asked(lowering, lowering.evaluate_any(node))
    truth = known_truth(value)
    return truth_of(lowering, value) if truth is None else truth


def asked(lowering: Lowering, value: Any) -> Any:
    """What an object of the user's says itself of its truth; other values as they are."""
    if not isinstance(value, Tree | Captured):
        return value
    if is_picked(value):
        return asked_of_each(lowering, value, lambda each: _truth_now(lowering, each))
    kind = value.kind if isinstance(value, Tree) else type(value.value)
    own = (each for each in ("__bool__", "__len__") if is_written(kind, each))
    name = next(own, None)
    if name is None or is_word(value) or is_optional(value):
        entries = lowering.captures.entries(value)
        return value if entries is None else entries
    return apply(lowering, read_attribute(lowering, value, name), [], {})


def _truth_now(lowering: Lowering, value: Any) -> Any:
    """The truth of one object: known, or a condition."""
    value = asked(lowering, value)
    truth = known_truth(value)
    return truth_of(lowering, value) if truth is None else truth


def _joined(lowering: Lowering, stops: bool, nodes: Sequence[gast.expr], evaluate: Callable) -> Any:
    first, *rest = nodes
    value = evaluate(first)
    if not rest:
        return value
    truth = known_truth(asked(lowering, value))
    if truth is stops:
        return value
    if truth is not None:
        return _joined(lowering, stops, rest, evaluate)
    valued = evaluate == lowering.evaluate_any
    return lazily(
        lowering,
        stops,
        value,
        lambda: _joined(lowering, stops, rest, evaluate),
        valued=valued,
    )


def lazily(
    lowering: Lowering,
    stops: bool,
    value: Symbol,
    rest: Callable[[], Any],
    *,
    valued: bool = False,
) -> Any:
    """`value or rest` where the value `stops` if it is true, `value and rest` else.

    Where nothing can be told from whether the rest is evaluated, it is an operation on both. With
    `valued` more than the truth of the result counts: of truths of Python's it is one.
    """
    test = truth_of(lowering, value)
    other = where(lowering, test, not stops, lambda: _give(lowering, rest()))
    second = other.name(VALUE)
    nothing = not other.body and _is_harmless(lowering, other)
    if nothing and isinstance(second, bool) and _may_stand_for_it(lowering, value, valued):
        return stops if second is stops else value
    if is_truth(value) and _is_harmless(lowering, other) and is_truth(second):
        lowering.builder.body += other.body
        facts = {lowering.builder.fact(each) for each in (value, second)}
        python = valued and facts == {PYTHON_TRUTH}
        return lowering.call(JOINED[stops][python], value, second)
    here = where(lowering, test, stops, lambda: _give(lowering, _known(lowering, value, stops)))
    meet(lowering, test, [here, other] if stops else [other, here])
    result = taken(lowering)
    lowering.assumptions.note(stops, result, test, second)
    return result


def _may_stand_for_it(lowering: Lowering, value: Any, valued: bool) -> bool:
    """Whether `value and True` is the value, and `value and False` is False."""
    if not isinstance(value, Symbol):
        return False
    fact = lowering.builder.fact(value)
    return fact == PYTHON_TRUTH if valued else values.rank_of(fact) == 0


def _known(lowering: Lowering, value: Any, truth: bool) -> Any:
    """A value whose truth is known."""
    if is_optional(value):
        return lowering.assumptions.settled(value)
    return truth if lowering.builder.fact(value) == values.Scalar(bool) else value


def is_truth(value: Any) -> bool:
    """Whether the value is one True or False, be it Python's or NumPy's."""
    if not isinstance(value, Symbol):
        return isinstance(value, bool | np.bool_)
    return values.is_truth(value.fact)


def _is_harmless(lowering: Lowering, path: Path) -> bool:
    """Whether a path does nothing but compute numbers, and cannot fail."""
    if path.left is not CONTINUE or path.changed:
        return False
    names = {name: value for name, value in path.names.items() if name != VALUE}
    if any(value is not lowering.frame.locals.get(name) for name, value in names.items()):
        return False
    return all(_is_total(lowering, each) for each in path.body)


def _is_total(lowering: Lowering, statement: form.Statement) -> bool:
    """Whether a statement computes a number of numbers, for little, and cannot fail."""
    if not statement.rule.unasked or is_watched(statement):
        return False
    if not lowering.partial.isdisjoint(statement.reads):
        return False
    facts = [values.of_constant(each.value) for each in statement.operands if is_constant(each)]
    facts += [lowering.builder.facts[name] for name in statement.reads]
    return all(values.rank_of(fact) == 0 for fact in facts)


def is_constant(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant)


def negated(lowering: Lowering, node: gast.UnaryOp) -> Any:
    """not x"""
    value = condition(lowering, node.operand)
    if isinstance(value, bool):
        return not value
    if is_truth(value):
        return lowering.call(operator.not_, value)
    if isinstance(value, Symbol) and values.rank_of(value.fact) == 0:
        return lowering.call(operator.eq, value, 0)
    return choose(lowering, value, lambda: False, lambda: True)


def truth_of(lowering: Lowering, value: Any) -> Any:
    """What a branch asks for to know whether a value is true."""
    if is_word(value):
        return is_text_of(lowering, value, "", same=False)
    if is_picked(value):
        return asked(lowering, value)
    if may_lack_entries(value) or may_lack_items(value):
        return lowering.call(operator.gt, entries_there(lowering, value), 0)
    if is_optional(value):
        return _truth_of_present(lowering, value)
    if isinstance(value, Box) and value.is_dynamic:
        first = next(symbols(value.content))
        return lowering.call(operator.gt, lowering.call(np.size, first, 0), 0)
    return value


def _truth_of_present(lowering: Lowering, value: Tree) -> Any:
    """`value is not None and value`, of which only the truth counts."""
    there = lowering.call(operator.not_, value.items[0])

    def held() -> Any:
        known = lowering.present(value)
        truth = known_truth(known)
        return truth_of(lowering, known) if truth is None else truth

    return lazily(lowering, False, there, held)


# ---- texts that are not known -----------------------------------------------------------------


def is_text_of(lowering: Lowering, value: Any, other: Any, *, same: bool = True) -> Any:
    """Whether two texts are the same, or are not."""
    pair = tuple(settled(text_of(each)) for each in (value, other))
    return lowering.builder.call(runtime.same_text if same else runtime.other_text, pair, {})


def for_each_text(lowering: Lowering, value: Any, act: Callable[[str], Any]) -> Any:
    """What `act` does with the text that a value is, when the code runs."""

    def among(options: list[str]) -> Any:
        first, *rest = options
        if not rest:
            return act(first)
        test = is_text_of(lowering, value, first)
        return choose(lowering, test, lambda: act(first), lambda: among(rest))

    return among(options_of(value))


def _of_each_text(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """A call of a function whose argument at an index is a text that is not known."""
    function, given, index = args
    if is_open_text(given[index]):
        made = HANDLERS[OPEN_TEXT](lowering, [function, given], kwargs)
        if made is not None:
            return made

    def act(text: str) -> Any:
        return apply(lowering, function, [*given[:index], text, *given[index + 1 :]], kwargs)

    return for_each_text(lowering, given[index], act)


HANDLERS[Word] = _of_each_text


# ---- objects that are one of several ----------------------------------------------------------


def for_each_picked(lowering: Lowering, value: Any, act: Callable[[Any], Any]) -> Any:
    """What `act` does with the object that a value is, when the code runs."""

    def among(choices: list[tuple[Any, Any]]) -> Any:
        (flag, member), *rest = choices
        if not rest:
            return act(lowering.noted(member, value))
        test = flag if len(rest) + 1 == len(whole) else asked_here(lowering, flag)
        return choose(
            lowering, test, lambda: act(lowering.noted(member, value)), lambda: among(rest)
        )

    whole = options(value)
    return among(whole)


def asked_here(lowering: Lowering, flag: Any) -> Any:
    """A flag that compares a number, compared where it is asked for: `elif k == 1`."""
    pair = lowering.builder.operands_of(flag, operator.eq)
    if not pair:
        return flag
    test = lowering.call(operator.eq, *pair)
    for truth in (True, False):
        lowering.assumptions.note_flag(test, truth, flag, truth)
    return test


def asked_of_each(lowering: Lowering, value: Any, act: Callable[[Any], Any]) -> Any:
    """What `act` finds of each object that a value may be: a method, its class, a constant.

    What is an object again is one of several by the same flags; a truth is these flags.
    """
    choices = options(value)
    paths = [explore(lowering, lambda each=each: _give(lowering, act(each))) for _, each in choices]
    found = [path.names.get(VALUE, path) for path in paths]
    plain = all(path.left is CONTINUE and not (path.body or path.changed) for path in paths)
    if plain and all(type(each) is bool for each in found):
        return _truth_of_flags(lowering, choices, found)
    if plain and all(map(may_be_picked, found)):
        return picked([(flag, each) for (flag, _), each in zip(choices, found, strict=True)])
    place = _position(lowering, [flag for flag, _ in choices]) if plain else None
    if place is not None and all(map(is_leaf, found)):
        items = Tree(list, tuple(range(len(found))), tuple(found))
        if growing.is_uniform(lowering, items):
            return growing.item(lowering, items, place)
    return for_each_picked(lowering, value, act)


def _position(lowering: Lowering, flags: Sequence[Any]) -> Any:
    """The number that says which of many objects it is; None where the flags say it otherwise."""
    pairs = [lowering.builder.operands_of(flag, operator.eq) for flag in flags]
    if len(flags) < MANY or not all(pairs):
        return None
    places, numbers = zip(*pairs, strict=True)
    same = all(isinstance(x, Symbol) and x.name == places[0].name for x in places)
    return places[0] if same and [*numbers] == [*range(len(flags))] else None


def _truth_of_flags(lowering: Lowering, choices: list, truths: list[bool]) -> Any:
    """A truth that is known of each of several objects, as a condition on which of them it is."""
    if len(set(truths)) == 1:
        return truths[0]
    few = truths.count(True) * 2 <= len(truths)
    flags = [flag for (flag, _), truth in zip(choices, truths, strict=True) if truth is few]
    result = flags[0]
    for flag in flags[1:]:
        result = lowering.call(operator.or_, result, flag)
    if not few or not is_truth(result):
        result = lowering.call(bool if few else operator.not_, result)
    for (flag, _), truth in zip(choices, truths, strict=True):
        lowering.assumptions.note_flag(result, not truth, flag, False)
    return result


HANDLERS[EACH] = lambda lowering, args, kwargs: for_each_picked(lowering, *args)
HANDLERS[Picked] = lambda lowering, args, kwargs: asked_of_each(lowering, *args)


# ---- choices -------------------------------------------------------------------------------------


def choose(lowering: Lowering, test: Any, *sides: Callable[[], Any]) -> Any:
    """The value of one of two expressions, of which only one is evaluated."""
    if isinstance(test, bool):
        return sides[0 if test else 1]()
    paths = [
        where(lowering, test, truth, lambda each=each: _give(lowering, each()))
        for truth, each in zip((True, False), sides, strict=True)
    ]
    meet(lowering, test, paths)
    return taken(lowering)


HANDLERS[CHOICE] = lambda lowering, args, kwargs: choose(lowering, *args)


def _give(lowering: Lowering, value: Any) -> Exits:
    lowering.frame.locals[VALUE] = value
    return CONTINUE


def taken(lowering: Lowering) -> Any:
    """The value that the sides of a choice have left."""
    value = lowering.assumptions.settled(lowering.frame.locals.pop(VALUE))
    if isinstance(value, Unjoined):
        raise value.error(lowering)
    return value


@expression(gast.IfExp)
def ternary(lowering: Lowering, node: gast.IfExp) -> Any:
    """`a if condition else b` Of numbers, containers, texts, and of objects and functions: what is
    done with one of several objects is done with each."""
    test = condition(lowering, node.test)
    sides = [lambda each=each: lowering.evaluate_any(each) for each in (node.body, node.orelse)]
    return choose(lowering, test, *sides)


def known_truth(value: Any) -> bool | None:
    """Whether a value is true; None where it depends on values that are not known now."""
    value = constant_value(value)
    if isinstance(value, Symbol) or (isinstance(value, Box) and value.is_dynamic):
        return None
    if is_word(value):
        return None if is_open_text(value) or "" in options_of(value) else True
    if is_optional(value):
        return False if known_truth(value.items[1]) is False else None
    if is_picked(value) or may_lack_entries(value) or may_lack_items(value):
        return None
    if isinstance(value, Tree):
        return _tree_truth(value)
    if isinstance(value, Captured):
        return _object_truth(value.value)
    return bool(value) if isinstance(value, (*PLAIN, *values.PYTHON_NUMBERS, np.generic)) else True


def _tree_truth(value: Tree) -> bool:
    if value.kind in VIEWS:
        return bool(count_now(value))
    if value.kind not in (tuple, list, dict, set):
        _refuse_own(value.kind)
    return bool(value.items) or not issubclass(value.kind, tuple | list | dict | set)


def _object_truth(value: Any) -> bool:
    if isinstance(value, enum.Enum | np.generic):
        return bool(value)
    _refuse_own(type(value))
    return True


def _refuse_own(kind: type) -> None:
    """An object that says itself whether it is true may say another thing at the next call."""
    own = [name for name in ("__bool__", "__len__") if hasattr(kind, name)]
    if own and not issubclass(kind, tuple | types.ModuleType):
        raise UnsupportedError(
            "S2S205", f"whether a {kind.__name__} is true", help="compare what you mean to know"
        )
