"""Sums into elements: one for each element, and a store where there was zero before."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.analysis.indices import are_apart, index_kind, index_text
from s2s_ad.core import form, sizes, values
from s2s_ad.core.builder import DERIVED, fresh_name
from s2s_ad.core.callee import has_effect
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere
from s2s_ad.core.rewriting import rewritten


def join_sums(program: Program) -> Program:
    """What is added to one element time and again, or to elements at once, is added once.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.check.passes import after
        >>> def f(a, v, w, u):
        ...     a[0] += v
        ...     a[1] += w
        ...     a[0] += u
        ...     return a
        >>> print(after(JOIN_SUMS, f, np.ones(3), 1.0, 2.0, 3.0, derived=True))
        f(a: f64[n], v: float, w: float, u: float):
            a.2 = index_add(a, w, index=1)
            t1 = v + u
            a.3 = index_add(a.2, t1, index=0)
            return a.3
    """
    counts = liveness.counts(program.body, program.outputs())
    chains: dict[str, list[form.Statement]] = {}  # the last array of each chain -> its sums
    for statement in program.body:
        base = _summed(statement)
        if base and statement.phase == "backward":
            chain = chains.pop(base) if base in chains and counts[base] == 1 else []
            chain.append(statement)
            chains[statement.target] = chain
    facts, instead = dict(program.facts), {}
    for chain in chains.values():
        instead |= _joined(program, chain, facts)
    if not instead:
        return program
    body = [each for statement in program.body for each in instead.get(id(statement), [statement])]
    return program.with_(body=tuple(body), facts=facts)


def _adds_number(program: Program, statement: form.Statement) -> bool:
    """Whether it adds a number to one element."""
    array, value = map(program.fact, statement.operands)
    index = statement.parameters["index"]
    single = index_kind(index, array, program.fact) == "number"
    return single and values.shape_of(value) == ()


def _joined(
    program: Program, chain: list[form.Statement], facts: dict
) -> dict[int, list[form.Statement]]:
    """What stands in the place of each sum of a chain, by its id; nothing where all stay.

    Numbers wait for those that are added to the same element later; arrays, of which each would
    stay in memory meanwhile, are joined with the sum that follows.
    """
    places: dict[tuple[str, int], list[int]] = {}
    run, before = 0, ""
    for position, each in enumerate(chain):
        text = index_text(each.parameters["index"])
        run, before = run + (text != before), text
        key = (text, 0 if _adds_number(program, each) else run)
        places.setdefault(key, []).append(position)
    if len(places) == len(chain):
        return {}
    negative = {each.target for each in program.body if each.function is operator.neg}
    instead: dict[int, list[form.Statement]] = {id(each): [] for each in chain}
    base = chain[0].operands[0]
    for *before, last in sorted(places.values(), key=lambda found: found[-1]):
        statement, total = chain[last], chain[[*before, last][0]].operands[1]
        made = instead[id(statement)]
        for position in [*before, last][1:]:
            pair = [total, chain[position].operands[1]]
            pair.sort(key=lambda atom: getattr(atom, "id", None) in negative)  # b - a for -a + b
            total = _sum(made, *pair, statement, facts)
        params = {"index": statement.parameters["index"]}
        made.append(statement.with_call(runtime.index_add, [base, total], params))
        base = form.name(statement.target)
    return instead


def _sum(made: list, a: gast.AST, b: gast.AST, like: form.Statement, facts: dict) -> gast.Name:
    """Append a sum to what is made."""
    name = fresh_name()
    known = [facts.get(getattr(each, "id", None)) for each in (a, b)]
    known = [
        values.of_constant(atom.value) if fact is None else fact
        for fact, atom in zip(known, (a, b), strict=True)
    ]
    made.append(like.beside(name, operator.add, [a, b]))
    facts[name] = made[-1].rule.infer(known, {})
    return form.name(name)


def sums_first(program: Program) -> Program:
    """What is added to elements that were set to zero is added first of all that is added.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.check.passes import after
        >>> def f(a, v, w):
        ...     a[0] = 0.0
        ...     a[1] += w
        ...     a[0] += v
        ...     return a
        >>> print(after(SUMS_FIRST, f, np.ones(3), 1.0, 2.0, derived=True))
        f(a: f64[n], v: float, w: float):
            a.2 = index_set(a, 0.0, index=0)
            a.3 = index_add(a.2, v, index=0)
            a.4 = index_add(a.3, w, index=1)
            return a.4
    """
    counts = liveness.counts(program.body, program.outputs())
    #: the last array of each chain -> from its zeros on
    chains: dict[str, list[form.Statement]] = {}
    moved: dict[int, list[form.Statement]] = {}
    for statement in program.body:
        if clears(program, statement) and statement.phase == "backward":
            chains[statement.target] = [statement]
        base = _summed(statement)
        if base not in chains or counts[base] != 1 or statement.phase != "backward":
            continue
        zeros, *sums = chain = [*chains.pop(base), statement]
        if not _same_elements(program, zeros, statement):
            chains[statement.target] = chain
        elif len(sums) > 1:
            moved |= {id(each): [] for each in chain}
            moved[id(statement)] = [zeros, *_in_order([statement, *sums[:-1]], sums, zeros)]
    if not moved:
        return program
    return program.with_body(
        [each for statement in program.body for each in moved.get(id(statement), [statement])]
    )


def _in_order(
    sums: list[form.Statement], before: list[form.Statement], zeros: form.Statement
) -> list[form.Statement]:
    """The sums one after the other, under the names that they had in another order."""
    base, found = zeros.target, []
    for each, name in zip(sums, (each.target for each in before), strict=True):
        params = {"index": each.parameters["index"]}
        found.append(
            each.beside(name, runtime.index_add, [form.name(base), each.operands[1]], params)
        )
        base = name
    return found


def set_sums(program: Program) -> Program:
    """Elements that are set to zero and then added to are set to what is added.

    So is the first sum into zeros that were made for nothing else, where no element is named twice;
    along a diagonal it is `np.diag`.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.check.passes import after
        >>> def f(a, v):
        ...     a[0] = 0.0
        ...     a[0] += v
        ...     zeros = np.zeros(2)
        ...     zeros[1] += v
        ...     return a, zeros
        >>> print(after(SET_SUMS, f, np.ones(3), 1.0, derived=True))
        f(a: f64[n], v: float):
            a.2 = index_set(a, v, index=0)
            zeros = np.zeros(shape=2)
            zeros.2 = index_set(zeros, v, index=1)
            return (a.2, zeros.2)
    """
    if not any(each.rule.updates for each in program.body):
        return program
    counts = liveness.counts(program.body, program.outputs())
    made = {each.target: each for each in program.body if isinstance(each, form.Op)}
    cleared: dict[str, form.Statement] = {}
    untouched: dict[str, list[gast.AST]] = {}  # zeros -> the indices of what is none any more
    unread: set[str] = set()
    body: list[form.Statement] = []
    for statement in program.body:
        if clears(program, statement):
            cleared[statement.target] = statement
        base = _summed(statement)
        single = counts[base] == 1
        zeros = cleared.get(base) if single else None
        if zeros is not None and _same_elements(program, zeros, statement):
            statement = as_store(statement, zeros.operands[0])
            body.remove(zeros)
        elif single and untouched.get(base) == [] and _is_diagonal(program, statement, made):
            unread |= {base, *form.reads(statement.parameters["index"])}
            statement = statement.with_call(np.diag, [statement.operands[1]], {})
        elif single and base in untouched:
            index = statement.parameters["index"]
            untouched[statement.target] = [*untouched[base], index]
            if _touches_zeros(program, statement, untouched[base]):
                statement = as_store(statement, statement.operands[0])
        elif _makes_zeros(statement):
            untouched[statement.target] = []
        body.append(statement)
    body = _without(body, unread, program.outputs()) if unread else body
    again = [each for each in body if _stored_again(made, each) is not each]
    if not again:
        return program.with_(body=tuple(body))
    written = rewritten(program.with_(body=tuple(body)), lambda each: _stored_again(made, each))
    unread = {name for each in again for name in each.reads}
    return written.with_(body=tuple(_without([*written.body], unread, written.outputs())))


def _stored_again(
    made: Mapping[str, form.Op], statement: form.Statement
) -> form.Statement | gast.AST:
    """The array where a derivative stores what it has read there; any other statement."""
    if isinstance(statement, form.Effect) or statement.function is not runtime.index_set:
        return statement
    array, value = statement.operands
    read = made.get(getattr(value, "id", ""))
    if statement.phase not in DERIVED or read is None or read.function is not operator.getitem:
        return statement
    own = getattr(read.operands[0], "id", "") == getattr(array, "id", None)
    indices = [index_text(each.parameters["index"]) for each in (read, statement)]
    return array if own and indices[0] == indices[1] else statement


def _without(
    body: list[form.Statement], unread: set[str], outputs: Sequence[gast.AST]
) -> list[form.Statement]:
    """The body without what was computed for statements that no longer read it."""
    counts, kept = liveness.counts(body, outputs), []
    for statement in reversed(body):
        gone = statement.target in unread and not counts[statement.target]
        if gone and statement.phase in DERIVED and not has_effect(statement):
            counts.subtract(statement.reads)
            unread.update(statement.reads)
        else:
            kept.append(statement)
    return kept[::-1]


def as_store(statement: form.Statement, array: gast.AST) -> form.Statement:
    """The sum into elements of the array as a store."""
    params = {"index": statement.parameters["index"]}
    return statement.with_call(runtime.index_set, [array, statement.operands[1]], params)


def _makes_zeros(statement: form.Statement) -> bool:
    """Whether it makes zeros that hold an adjoint; the user's own are summed as he wrote it."""
    return statement.phase == "backward" and statement.rule.zeros


def _is_diagonal(program: Program, statement: Any, made: Mapping[str, form.Op]) -> bool:
    """Whether a vector is added to the diagonal of a square matrix: at (i, i), each i once."""
    index, (matrix, vector) = statement.parameters["index"], map(program.fact, statement.operands)
    names = [getattr(each, "id", "") for each in getattr(index, "elts", ())]
    places = made.get(names[0]) if len(names) == 2 and names[0] == names[1] else None
    if places is None or not places.rule.counts_up or {*places.parameters} != {"start"}:
        return False
    shapes = values.shape_of(matrix) or (), values.shape_of(vector) or ()
    if len(shapes[0]) != 2 or len(shapes[1]) != 1:
        return False
    lengths = *shapes[0], *(values.shape_of(program.facts[names[0]]) or ())
    length = values.size_of_dim(shapes[1][0])
    same = all(sizes.equals(values.size_of_dim(each), length) for each in lengths)
    return same and values.is_dtype(values.strong_dtype(vector), values.strong_dtype(matrix))


def _touches_zeros(program: Program, statement: form.Statement, others: list[gast.AST]) -> bool:
    """Whether what is added to is certain to be zero still, and a store would do for that."""
    index = statement.parameters["index"]
    apart = all(are_apart(index, other) or _is_rest(program, index, other) for other in others)
    return apart and can_be_store(program, statement)


def can_be_store(program: Program, statement: form.Statement) -> bool:
    """Whether a sum into elements that are zero names each once, and a store of what is added
    would leave the dtype what it is."""
    fact, index = program.fact(statement.operands[0]), statement.parameters["index"]
    plain = index_kind(index, fact, program.fact) in ("number", "row", "slice")
    once = plain or _is_mask(program, index)
    return once and values.is_inexact(fact) is True and _keeps_dtype(program, statement)


def _is_mask(program: Program, index: gast.AST) -> bool:
    """Whether an index is one mask, which names each element once at most."""
    fact = program.facts.get(getattr(index, "id", ""))
    return isinstance(fact, values.Array) and values.is_dtype(fact.dtype, bool)


def _is_rest(program: Program, one: gast.AST, other: gast.AST) -> bool:
    """Whether of two masks one is what the other leaves."""
    names = [getattr(each, "id", "") for each in (one, other)]
    if not all(_is_mask(program, each) for each in (one, other)):
        return False
    inverted = {
        each.target: getattr(each.operands[0], "id", "")
        for each in program.body
        if each.function is operator.invert
    }
    return inverted.get(names[0]) == names[1] or inverted.get(names[1]) == names[0]


def clears(program: Program, statement: form.Statement) -> bool:
    """Whether it sets elements of an array, each once, to zero."""
    if isinstance(statement, form.Effect) or statement.function is not runtime.index_set:
        return False
    array, value = statement.operands
    index, fact = statement.parameters["index"], program.fact(array)
    zero = isinstance(value, gast.Constant) and type(value.value) in (int, float)
    plain = index_kind(index, fact, program.fact) in ("number", "row", "slice")
    return zero and value.value == 0 and plain and values.is_inexact(fact) is True


def _summed(statement: form.Statement) -> str:
    """The array to whose elements something is added; "" where nothing is."""
    if isinstance(statement, form.Effect) or statement.function is not runtime.index_add:
        return ""
    return getattr(statement.operands[0], "id", "")


def _same_elements(program: Program, zeros: form.Statement, statement: form.Statement) -> bool:
    """Whether the two name the same elements, and the dtype stays what it is."""
    indices = [each.parameters["index"] for each in (zeros, statement)]
    return _keeps_dtype(program, statement) and index_text(indices[0]) == index_text(indices[1])


def _keeps_dtype(program: Program, statement: form.Statement) -> bool:
    """Whether a store converts what is added as the sum does."""
    given, array = (program.fact(each) for each in reversed(statement.operands))
    weak = isinstance(given, values.Scalar) and given.kind in (int, float)
    return weak or values.is_dtype(values.strong_dtype(given), array.dtype)


JOIN_SUMS = Pass("join-sums", everywhere(join_sums))
SUMS_FIRST = Pass("sums-first", everywhere(sums_first))
SET_SUMS = Pass("set-sums", everywhere(set_sums))
