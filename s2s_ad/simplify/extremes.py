"""The larger or smaller of two numbers, as one operation: what a user calls max and min."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

import gast

from s2s_ad.analysis import liveness
from s2s_ad.core import form, values
from s2s_ad.core.callee import item_of
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.regions import Branch, everywhere, region_of
from s2s_ad.core.rewriting import rewritten

ASKED = 2  # times that an operand is read: by the comparison, and by the branch

#: a comparison -> what chooses its first operand where it holds, and what its second
CHOSEN: dict[Callable, tuple[Callable, Callable]] = {
    operator.gt: (max, min),
    operator.lt: (min, max),
}


def as_extremes(program: Program) -> Program:
    """A branch that chooses the larger, or the smaller, of the two numbers that it compares.

    Where both come from one call, and nothing else asks for the comparison. Of equal numbers, and
    beside nan, Python's max and min take the first, as the branch does.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(a, b):
        ...     return max(a, b) * 2.0
        >>> print(after(EXTREMES, f, 1.0, 2.0))
        f(a: float, b: float):
            t1 = b > a
            _ = if t1:
                give b
            else:
                give a
            largest = max(a, b)
            t2 = largest * 2.0
            return t2

    What nobody reads any more goes with the next pass.
    """
    if not any(isinstance(each.rule, Branch) for each in program.body):
        return program
    counts = liveness.counts(program.body, program.outputs())
    made = {each.target: each for each in program.body if isinstance(each, form.Op)}
    choices = {name: _extreme(program, made, counts, each) for name, each in made.items()}
    if not any(choices.values()):
        return program
    extremes: dict[str, form.Op] = {}

    def change(statement: form.Statement) -> form.Statement:
        if isinstance(statement, form.Effect) or item_of(statement) is None:
            return statement
        call = choices.get(statement.reads[0])
        if call is None:
            return statement
        first, *others = call.operands
        inner = extremes.get(getattr(first, "id", ""))
        if inner is not None and inner.function is call.function and counts[inner.target] == ASKED:
            first = inner.operands
        operands = [*(first if isinstance(first, tuple) else (first,)), *others]
        extremes[statement.target] = call.beside(statement.target, call.function, operands)
        return extremes[statement.target]

    written = rewritten(program, change)
    return written.with_(hints=_unnamed(written, extremes, counts))


def _unnamed(
    program: Program, extremes: Mapping[str, form.Op], counts: Mapping[str, int]
) -> dict[str, Hint]:
    """The hints without those of values that were named to be compared."""
    compared = {name for each in extremes.values() for name in each.reads}
    return {
        name: TEMPORARY
        if name in compared and hint.kind == "derived" and counts[name] == ASKED
        else hint
        for name, hint in program.hints.items()
    }


def _extreme(
    program: Program, made: Mapping[str, form.Op], counts: Mapping[str, int], statement: form.Op
) -> form.Op | None:
    """The call of max or min that a branch is."""
    region = region_of(statement)
    if not isinstance(region, Branch) or region.count != 1 or any(e.body for e in region.blocks):
        return None
    condition, *operands = statement.operands
    test = made.get(getattr(condition, "id", ""))
    if test is None or test.function not in CHOSEN or counts[test.target] != 1:
        return None
    if test.origin != statement.origin:  # a comparison that the user wrote stays one
        return None
    sides = [_given(block, operands) for block in region.blocks]
    ordered, chosen = ([*map(_key, each)] for each in (test.operands, sides))
    if not all(_is_number(program.fact(each)) for each in test.operands):
        return None
    first, second = test.operands
    if chosen == ordered:
        return statement.with_call(CHOSEN[test.function][0], [second, first])
    if chosen == ordered[::-1]:
        return statement.with_call(CHOSEN[test.function][1], [first, second])
    return None


def _given(block: Program, operands: list[gast.AST]) -> gast.AST:
    """What a block that computes nothing gives: an operand of the branch, or a constant."""
    (output,) = block.outputs()
    places = dict(zip(block.leaves(), operands, strict=True))
    return places.get(getattr(output, "id", ""), output)


def _key(atom: gast.AST) -> tuple:
    """What tells atoms apart; 1, 1.0 and True differ."""
    if isinstance(atom, gast.Constant):
        return (type(atom.value), repr(atom.value))
    return (gast.Name, getattr(atom, "id", ""))


def _is_number(fact: values.AbstractValue) -> bool:
    """Whether it is a number whose order is that of Python's."""
    if isinstance(fact, values.Scalar):
        return fact.kind in (int, float)
    return (
        isinstance(fact, values.Array)
        and fact.shape == ()
        and fact.dtype is not None
        and (fact.dtype.kind in "iuf")
    )


EXTREMES = Pass("extremes", everywhere(as_extremes))
