"""Vectors that a matrix is multiplied by, row by row or column by column, for one product."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.core import form, values
from s2s_ad.core.builder import DERIVED, fresh_name
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere
from s2s_ad.core.rewriting import rewritten
from s2s_ad.simplify.products import are_alike

OUTER = "a,b->ab"


def vectors_apart(program: Program) -> Program:
    """A matrix is multiplied with a vector before its rows or columns are with numbers.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.check.passes import after
        >>> def f(A, u, v, x):
        ...     return (np.outer(u, v) * A) @ x
        >>> x = np.ones(3)
        >>> print(after(VECTORS_APART, f, np.ones((2, 3)), np.ones(2), x, x, derived=True))
        f(A: f64[n, m], u: f64[p], v: f64[q], x: f64[r]):
            t1 = x * v
            t2 = contract(A, t1, spec='ab,b->a')
            t3 = t2 * u
            return t3
    """
    made = {each.target: each for each in program.body if isinstance(each, form.Op)}
    counts = liveness.counts(program.body, program.outputs())
    facts, gone = dict(program.facts), set()

    def change(statement: form.Statement) -> form.Statement | list[form.Op]:
        if not isinstance(statement, form.Op) or statement.phase not in DERIVED:
            return statement
        contracts = statement.function is runtime.contract
        axes = _axes_of_product(statement) if contracts else None
        name = getattr(statement.operands[axes[0]], "id", "") if axes else ""
        scaled = _scaled(program, made, counts, name)
        if axes is None or scaled is None:
            return statement
        vector = facts.get(getattr(statement.operands[1 - axes[0]], "id", ""))
        if values.strong_dtype(vector) != values.strong_dtype(facts[statement.target]):
            return statement
        gone.update(scaled.gone)
        return _apart(statement, axes, scaled, facts)

    apart = rewritten(program, change, facts, gone)
    return apart if gone else program


@dataclass(frozen=True, slots=True)
class _Scaled:
    """A matrix whose rows and columns are multiplied with numbers.

    Attributes:
        vectors: these numbers, by the axis that they stand along.
        gone: the statements that nobody reads once they stand elsewhere.
        negative: whether the negative of that is meant.
    """

    matrix: gast.AST
    vectors: Mapping[int, gast.AST]
    gone: frozenset[str]
    negative: bool


def _axes_of_product(statement: form.Op) -> tuple[int, int, int] | None:
    """(where the matrix is that is multiplied with a vector, its axis that is summed, the other)"""
    inputs, out = form.literals(statement)["spec"].split("->")
    a, b = inputs.split(",")
    for position, (matrix, vector) in enumerate(((a, b), (b, a))):
        if len(matrix) == 2 and len(vector) == len(out) == 1 and {*vector, *out} == {*matrix}:
            return position, matrix.index(vector), matrix.index(out)
    return None


def _scaled(
    program: Program, made: Mapping[str, form.Op], counts: Mapping[str, int], name: str
) -> _Scaled | None:
    """The product of a matrix and of vectors that a value is, read in one place."""
    signs, product = _unsigned(made, counts, name)
    if product is None or product.function is not operator.mul:
        return None
    name = product.target
    if values.rank_of(program.facts[name]) != 2:
        return None
    for other, matrix in (product.operands, product.operands[::-1]):
        if not are_alike(program.fact(matrix), program.facts[name]):
            continue
        more, factor = _unsigned(made, counts, getattr(other, "id", ""))
        if factor is None:
            more = []  # what it is the negative of has other readers
        else:
            other = form.name(factor.target)
        vectors, gone = _vectors(program, made, counts, other)
        dims = program.facts[name].shape
        if vectors and all(
            are_alike(program.fact(each), values.with_shape(program.facts[name], (dims[axis],)))
            for axis, each in vectors.items()
        ):
            gone = frozenset({name, *gone, *signs, *more})
            return _Scaled(matrix, vectors, gone, (len(signs) + len(more)) % 2 == 1)
    return None


def _unsigned(
    made: Mapping[str, form.Op], counts: Mapping[str, int], name: str
) -> tuple[list[str], form.Op | None]:
    """The negatives that a value is under, and what is; None where others read it, too."""
    signs: list[str] = []
    while (source := made.get(name)) is not None and counts[name] == 1:
        if source.phase not in DERIVED or source.function is not operator.neg:
            return signs, source if source.phase in DERIVED else None
        signs.append(name)
        name = getattr(source.operands[0], "id", "")
    return signs, None


def _vectors(
    program: Program, made: Mapping[str, form.Op], counts: Mapping[str, int], atom: gast.AST
) -> tuple[dict[int, gast.AST], tuple[str, ...]]:
    """The vectors of a factor by their axes, and the outer product that they are no longer in."""
    if values.rank_of(program.fact(atom)) == 1:
        return {1: atom}, ()
    source = made.get(getattr(atom, "id", ""))
    if source is None:
        return {}, ()
    if source.rule.inserts_axes and form.literals(source)["axis"] == 1:
        return {0: source.operands[0]}, ()
    is_outer = source.function is runtime.contract and form.literals(source)["spec"] == OUTER
    if not is_outer or counts[source.target] > 1:
        return {}, ()
    return dict(enumerate(source.operands)), (source.target,)


def _apart(
    statement: form.Op, axes: tuple[int, int, int], scaled: _Scaled, facts: dict
) -> list[form.Op]:
    """The statement as a product of the matrix, between those with the vectors."""
    position, summed, kept = axes
    made: list[form.Op] = []

    def computed(function: Any, operands: Sequence[gast.AST], like: str, params: Any) -> gast.AST:
        name = fresh_name()
        facts[name] = facts[like]
        made.append(statement.beside(name, function, operands, params))
        return form.name(name)

    vector = statement.operands[1 - position]
    if summed in scaled.vectors:
        vector = computed(operator.mul, [vector, scaled.vectors[summed]], vector.id, {})
    operands = [vector, vector]
    operands[position] = scaled.matrix
    result = computed(statement.rule, operands, statement.target, statement.parameters)
    if kept in scaled.vectors:
        result = computed(operator.mul, [result, scaled.vectors[kept]], statement.target, {})
    if scaled.negative:
        computed(operator.neg, [result], statement.target, {})
    *before, last = made
    return [*before, statement.with_call(last.rule, last.operands, last.parameters)]


VECTORS_APART = Pass("vectors-apart", everywhere(vectors_apart))
