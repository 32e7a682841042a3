"""The sum of two products with one factor is the product of that factor with a sum."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import replace

import gast

from s2s_ad.analysis import liveness
from s2s_ad.core import form, values
from s2s_ad.core.builder import DERIVED, fresh_name
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere
from s2s_ad.core.rewriting import rewritten


def take_out_factors(program: Program) -> Program:
    """g * (x - y) for g * x - g * y, which nobody reads apart: one product less.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(g, x, y):
        ...     return g * x - y * g
        >>> print(after(TAKE_OUT_FACTORS, f, 1.0, 2.0, 3.0, derived=True))
        f(g: float, x: float, y: float):
            t1 = x - y
            t2 = g * t1
            return t2
    """
    derived = [each for each in program.body if isinstance(each, form.Op) and each.phase in DERIVED]
    products = {each.target: each for each in derived if each.function is operator.mul}
    if len(products) < 2:
        return program
    counts, facts = liveness.counts(program.body, program.outputs()), dict(program.facts)
    gone: set[str] = set()

    def change(statement: form.Statement) -> form.Statement | list[form.Op]:
        if not isinstance(statement, form.Op) or statement.phase not in DERIVED:
            return statement
        if not statement.rule.adds:
            return statement
        terms = [products.get(getattr(each, "id", "")) for each in statement.operands]
        one, other = terms
        if one is None or other is None or any(counts[each.target] > 1 for each in (one, other)):
            return statement
        for factor, x, y in _shared(one, other):
            results = (facts[each.target] for each in (statement, one, other))
            if not (_alike(*results) and _alike(program.fact(x), program.fact(y))):
                continue
            name = fresh_name()
            facts[name] = program.fact(x)
            gone.update((one.target, other.target))
            rest = one.beside(name, statement.function, [x, y], {})
            return [rest, statement.with_call(operator.mul, [factor, form.name(name)])]
        return statement

    made = rewritten(program, change, facts, gone)
    return made if gone else program


def _shared(one: form.Op, other: form.Op) -> Iterator[tuple[gast.AST, gast.AST, gast.AST]]:
    """(what is a factor of both, what it is multiplied with in each)."""
    for factor, x in (one.operands, one.operands[::-1]):
        for same, y in (other.operands, other.operands[::-1]):
            names = [getattr(each, "id", "") for each in (factor, same, x, y)]
            if names[0] == names[1] and all(names):
                yield factor, x, y


def _alike(*facts: values.AbstractValue) -> bool:
    """Whether values that are broadcast together are of one dtype and one shape."""
    first, *others = facts
    if values.is_inexact(first) is not True:
        return False
    if not isinstance(first, values.Array):
        return all(each == first for each in others)
    return first.dtype is not None and all(
        isinstance(each, values.Array)
        and replace(each, shape=first.shape) == first
        and values.same_shape(each.shape, first.shape)
        for each in others
    )


TAKE_OUT_FACTORS = Pass("take-out-factors", everywhere(take_out_factors))
