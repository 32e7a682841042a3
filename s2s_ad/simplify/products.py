"""Sums of products are contractions: no array of the products is made.

Before: `np.sum(x * y)`; after: `x @ y`. Before: `np.sum(A * x, axis=1)`; after: `A @ x`.
"""

from __future__ import annotations

import string
from collections.abc import Mapping

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.core import form, values
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere
from s2s_ad.core.registry import rule_for

DERIVED = ("backward", "tangent")  # what the user wrote stays


def contract_sums(program: Program) -> Program:
    """Contractions for the sums of products that nothing else reads."""
    made = {form.target(each): each for each in program.body if not form.is_effect(each)}
    counts = liveness.counts(program.body, program.outputs())
    body = []
    for statement in program.body:
        found = None
        if not form.is_effect(statement) and rule_for(form.function_of(statement)).sums:
            name = getattr(statement.value.args[0], "id", None)
            if statement.phase in DERIVED and name in made and counts[name] == 1:
                found = _contraction(program, statement, made[name], made)
        body.append(found or statement)
    return program.with_body(body)


def _contraction(
    program: Program, total: gast.Assign, product: gast.Assign, made: Mapping[str, gast.Assign]
) -> gast.Assign | None:
    """The contraction that a sum of a product is; None where it is none, or would take longer."""
    rule, fact = rule_for(form.function_of(product)), program.facts[form.target(product)]
    params = {each.arg: getattr(each.value, "value", each.value) for each in total.value.keywords}
    multiplies = rule.elementwise and rule.linear == (0, 1) and product.phase in DERIVED
    if not multiplies or "keepdims" in params or not values.rank_of(fact):
        return None
    letters = string.ascii_letters[: len(fact.shape)]
    axes = _axes(params.get("axis"), len(letters))
    operands = [_aligned(program, each, fact, letters, made) for each in product.value.args]
    if axes is None or None in operands:
        return None
    (a, x), (b, y) = operands
    out = "".join(letter for axis, letter in enumerate(letters) if axis not in axes)
    summed = set(letters) - set(out)
    whole = a == b == letters  # then no smaller product is saved, and only the full sum is faster
    if not summed <= set(a) & set(b) or (whole and out):
        return None
    call = form.operation(runtime.contract, [x, y], {"spec": form.constant(f"{a},{b}->{out}")})
    return form.assign(form.target(total), call, total.origin, total.phase)


def _axes(axis: object, rank: int) -> list[int] | None:
    """The axes that are summed over; None where that is not known."""
    if axis is None:
        return list(range(rank))
    items = [getattr(each, "value", None) for each in getattr(axis, "elts", ())] or [axis]
    if any(type(each) is not int for each in items):
        return None
    return [each % rank for each in items]


def _aligned(
    program: Program,
    atom: gast.AST,
    fact: values.Array,
    letters: str,
    made: Mapping[str, gast.Assign],
) -> tuple[str, gast.AST] | None:
    """(the letters of an operand's axes, the operand) where axes of length one are left out."""
    own = program.fact(atom)
    real = isinstance(own, values.Array) and own.dtype is not None and own.dtype == fact.dtype
    if not real or not np.issubdtype(own.dtype, np.floating) or not own.shape:
        return None
    rank = len(own.shape)
    found = dict(zip(range(rank), letters[-rank:], strict=True))
    source = made.get(atom.id)
    if source is not None and rule_for(form.function_of(source)).inserts_axes:
        params = {
            each.arg: getattr(each.value, "value", each.value) for each in source.value.keywords
        }
        for axis in _axes(params["axis"], rank) or ():
            del found[axis]
        atom = source.value.args[0]
    whole = fact.shape[-rank:]
    same = all(values.same_dim(own.shape[axis], whole[axis]) for axis in found)
    return ("".join(found.values()), atom) if same and found else None


CONTRACT = Pass("contract sums", everywhere(contract_sums))
