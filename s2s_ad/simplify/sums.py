"""Sums into elements: one for each element, and a store where there was zero before."""

from __future__ import annotations

import operator

import gast

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.analysis.indices import are_apart, index_kind, index_text
from s2s_ad.core import form, values
from s2s_ad.core.builder import fresh_name
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere
from s2s_ad.core.registry import rule_for


def join_sums(program: Program) -> Program:
    """What is added to one element time and again is added once.

    Before: `b = index_add(a, 0, v); c = index_add(b, 1, w); d = index_add(c, 0, u)`;
    after: `c = index_add(a, 1, w); s = v + u; d = index_add(c, 0, s)`.
    """
    counts = liveness.counts(program.body, program.outputs())
    chains: dict[str, list[gast.Assign]] = {}  # the last array of each chain -> its sums
    for statement in program.body:
        base = _summed(statement)
        if base is not None and _adds_number(program, statement):
            chain = chains.pop(base) if base in chains and counts[base] == 1 else []
            chain.append(statement)
            chains[form.target(statement)] = chain
    facts, instead = dict(program.facts), {}
    for chain in chains.values():
        instead |= _joined(chain, facts)
    if not instead:
        return program
    body = [each for statement in program.body for each in instead.get(id(statement), [statement])]
    return program.with_(body=tuple(body), facts=facts)


def _adds_number(program: Program, statement: gast.Assign) -> bool:
    """Whether a derivative adds a number to one element."""
    array, value = map(program.fact, statement.value.args)
    index = statement.value.keywords[0].value
    single = index_kind(index, array, program.fact) == "number"
    return statement.phase == "backward" and single and values.shape_of(value) == ()


def _joined(chain: list[gast.Assign], facts: dict) -> dict[int, list[gast.Assign]]:
    """What stands in the place of each sum of a chain, by its id; nothing where all stay."""
    places: dict[str, list[int]] = {}
    for place, each in enumerate(chain):
        places.setdefault(index_text(each.value.keywords[0].value), []).append(place)
    if len(places) == len(chain):
        return {}
    instead: dict[int, list[gast.Assign]] = {id(each): [] for each in chain}
    base = chain[0].value.args[0]
    for *before, last in sorted(places.values(), key=lambda found: found[-1]):
        statement, total = chain[last], chain[[*before, last][0]].value.args[1]
        made = instead[id(statement)]
        for place in [*before, last][1:]:
            total = _sum(made, total, chain[place].value.args[1], statement, facts)
        params = {"index": statement.value.keywords[0].value}
        call = form.operation(runtime.index_add, [base, total], params)
        name = form.target(statement)
        made.append(form.assign(name, call, statement.origin, statement.phase))
        base = form.name(name)
    return instead


def _sum(made: list, a: gast.AST, b: gast.AST, like: gast.Assign, facts: dict) -> gast.Name:
    """Append a sum to what is made."""
    name, call = fresh_name(), form.operation(operator.add, [a, b], {})
    known = [facts.get(getattr(each, "id", None)) for each in (a, b)]
    known = [
        values.of_constant(atom.value) if fact is None else fact
        for fact, atom in zip(known, (a, b), strict=True)
    ]
    facts[name] = rule_for(operator.add).infer(known, {})
    made.append(form.assign(name, call, like.origin, like.phase))
    return form.name(name)


def sums_first(program: Program) -> Program:
    """What is added to elements that were set to zero is added first of all that is added.

    Before: `b = index_set(a, i, 0.0); c = index_add(b, j, u); d = index_add(c, i, v)`;
    after: `b = index_set(a, i, 0.0); c = index_add(b, i, v); d = index_add(c, j, u)`.
    """
    counts = liveness.counts(program.body, program.outputs())
    chains: dict[str, list[gast.Assign]] = {}  # the last array of each chain -> from its zeros on
    moved: dict[int, list[gast.Assign]] = {}
    for statement in program.body:
        if _clears(program, statement) and statement.phase == "backward":
            chains[form.target(statement)] = [statement]
        base = _summed(statement)
        if base not in chains or counts[base] != 1 or statement.phase != "backward":
            continue
        zeros, *sums = chain = [*chains.pop(base), statement]
        if not _same_elements(program, zeros, statement):
            chains[form.target(statement)] = chain
        elif len(sums) > 1:
            moved |= {id(each): [] for each in chain}
            moved[id(statement)] = [zeros, *_in_order([statement, *sums[:-1]], sums, zeros)]
    if not moved:
        return program
    return program.with_body(
        [each for statement in program.body for each in moved.get(id(statement), [statement])]
    )


def _in_order(
    sums: list[gast.Assign], before: list[gast.Assign], zeros: gast.Assign
) -> list[gast.Assign]:
    """The sums one after the other, under the names that they had in another order."""
    base, found = form.target(zeros), []
    for each, name in zip(sums, map(form.target, before), strict=True):
        params = {"index": each.value.keywords[0].value}
        call = form.operation(runtime.index_add, [form.name(base), each.value.args[1]], params)
        found.append(form.assign(name, call, each.origin, each.phase))
        base = name
    return found


def set_sums(program: Program) -> Program:
    """Elements that are set to zero and then added to are set to what is added.

    Before: `b = index_set(a, i, 0.0); c = index_add(b, i, v)`; after: `c = index_set(a, i, v)`.
    The same of zeros that were made for nothing else, as long as no element is named twice:
    before: `a = zeros(3); b = index_add(a, 0, v)`; after: `a = zeros(3); b = index_set(a, 0, v)`.
    """
    counts = liveness.counts(program.body, program.outputs())
    cleared: dict[str, gast.Assign] = {}
    untouched: dict[str, list[gast.AST]] = {}  # zeros -> the indices of what is none any more
    body = []
    for statement in program.body:
        if _clears(program, statement):
            cleared[form.target(statement)] = statement
        base = _summed(statement)
        single = base is not None and counts[base] == 1
        zeros = cleared.get(base) if single else None
        if zeros is not None and _same_elements(program, zeros, statement):
            statement = _as_store(statement, zeros.value.args[0])
            body.remove(zeros)
        elif single and base in untouched:
            index = statement.value.keywords[0].value
            untouched[form.target(statement)] = [*untouched[base], index]
            if _touches_zeros(program, statement, untouched[base]):
                statement = _as_store(statement, statement.value.args[0])
        elif _makes_zeros(statement):
            untouched[form.target(statement)] = []
        body.append(statement)
    return program.with_(body=tuple(body))


def _as_store(statement: gast.Assign, array: gast.AST) -> gast.Assign:
    """The sum into elements of the array as a store."""
    params = {"index": statement.value.keywords[0].value}
    call = form.operation(runtime.index_set, [array, statement.value.args[1]], params)
    return form.assign(form.target(statement), call, statement.origin, statement.phase)


def _makes_zeros(statement: form.Statement) -> bool:
    """Whether it makes zeros that hold an adjoint; the user's own are summed as he wrote it."""
    if form.is_effect(statement) or statement.phase != "backward":
        return False
    rule = rule_for(form.function_of(statement))
    return rule is not None and rule.zeros


def _touches_zeros(program: Program, statement: gast.Assign, others: list[gast.AST]) -> bool:
    """Whether what is added to is certain to be zero still, and the dtype stays what it is."""
    fact, index = program.fact(statement.value.args[0]), statement.value.keywords[0].value
    plain = index_kind(index, fact, program.fact) in ("number", "row", "slice")
    apart = all(are_apart(index, other) for other in others)
    return plain and apart and values.is_inexact(fact) is True and _fits(program, statement)


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
    return _fits(program, statement) and index_text(indices[0]) == index_text(indices[1])


def _fits(program: Program, statement: gast.Assign) -> bool:
    """Whether a store converts what is added as the sum does."""
    given, array = (program.fact(each) for each in reversed(statement.value.args))
    weak = isinstance(given, values.Scalar) and given.kind in (int, float)
    return weak or values.is_dtype(values.strong_dtype(given), array.dtype)


JOIN_SUMS = Pass("join sums", everywhere(join_sums))
SUMS_FIRST = Pass("sums first", everywhere(sums_first))
SET_SUMS = Pass("set sums", everywhere(set_sums))
