"""A sum into elements that were just set to zero is a store."""

from __future__ import annotations

import gast

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.analysis.indices import index_kind, index_text
from s2s_ad.core import form, values
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere


def set_sums(program: Program) -> Program:
    """Elements that are set to zero and then added to are set to what is added.

    Before: `b = index_set(a, i, 0.0); c = index_add(b, i, v)`; after: `c = index_set(a, i, v)`.
    """
    counts = liveness.counts(program.body, program.outputs())
    cleared: dict[str, gast.Assign] = {}
    body = []
    for statement in program.body:
        if _clears(program, statement):
            cleared[form.target(statement)] = statement
        base = _summed(statement)
        zeros = cleared.get(base) if base is not None and counts[base] == 1 else None
        if zeros is not None and _same_elements(program, zeros, statement):
            operands = [zeros.value.args[0], statement.value.args[1]]
            params = {"index": statement.value.keywords[0].value}
            call = form.operation(runtime.index_set, operands, params)
            name, origin, phase = form.target(statement), statement.origin, statement.phase
            statement = form.assign(name, call, origin, phase)
            body.remove(zeros)
        body.append(statement)
    return program.with_(body=tuple(body))


def _clears(program: Program, statement: form.Statement) -> bool:
    """Whether it sets elements of an array, each once, to zero."""
    if form.is_effect(statement) or form.function_of(statement) is not runtime.index_set:
        return False
    array, value = statement.value.args
    index, fact = statement.value.keywords[0].value, program.fact(array)
    zero = isinstance(value, gast.Constant) and type(value.value) in (int, float)
    plain = index_kind(index, fact, program.fact) in ("number", "row", "slice")
    return zero and value.value == 0 and plain and values.is_inexact(fact) is True


def _summed(statement: form.Statement) -> str | None:
    """The array to whose elements something is added."""
    if form.is_effect(statement) or form.function_of(statement) is not runtime.index_add:
        return None
    return getattr(statement.value.args[0], "id", None)


def _same_elements(program: Program, zeros: gast.Assign, statement: gast.Assign) -> bool:
    """Whether the two name the same elements, and the dtype stays what it is."""
    indices = [each.value.keywords[0].value for each in (zeros, statement)]
    given, array = (program.fact(each) for each in reversed(statement.value.args))
    weak = isinstance(given, values.Scalar) and given.kind in (int, float)
    fits = weak or values.is_dtype(values.strong_dtype(given), array.dtype)
    return fits and index_text(indices[0]) == index_text(indices[1])


SET_SUMS = Pass("set sums", everywhere(set_sums))
