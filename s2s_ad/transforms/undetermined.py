"""Tangents of results of which nothing decides the derivative: where one reaches an output, the
run raises, as the backward pass does that is given an adjoint of such a result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from s2s_ad import runtime
from s2s_ad.core import form
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callee import compound_of, reached


def with_checks(builder: Builder, tangents: Iterable[Any]) -> list:
    """The tangents, each looked at where it may hold what is not determined."""
    undetermined = _undetermined(builder.body)
    return [
        builder.call(runtime.determined_tangent, (each,), {})
        if isinstance(each, Symbol) and each.name in undetermined
        else each
        for each in tangents
    ]


def _undetermined(body: Iterable[form.Statement]) -> set[str]:
    """The names that depend on a tangent which is not determined."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, form.Op) and (
            _makes_one(statement) or any(each in found for each in form.reads(statement))
        ):
            found.add(statement.target)
    return found


def _makes_one(statement: form.Op) -> bool:
    compound = compound_of(statement)
    if compound is None:
        return statement.rule.undetermined
    return any(
        isinstance(each, form.Op) and each.rule.undetermined
        for inner in (compound, *reached(compound.blocks))
        for block in inner.blocks
        for each in block.body
    )
