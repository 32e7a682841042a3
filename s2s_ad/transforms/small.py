"""What a backward half computes of the primal alone and is small: the forward half may keep that.

Of a mask a byte an element is kept, where the arrays that it compares have eight. A rule whose
adjoint takes parts of elements is written in two steps for that (`Rule.steps`): the first says
how much of each, the second takes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from s2s_ad.analysis.described import Described
from s2s_ad.core import form, values
from s2s_ad.core.builder import fresh_name
from s2s_ad.core.callee import Compound, has_effect
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.registry import rule_of
from s2s_ad.core.rule import Item
from s2s_ad.storage.costs import cost_of_computing, is_small


def in_steps(program: Program) -> Program:
    """The program with what takes parts of elements of arrays in two steps, in its second half."""
    if not any(each.rule.steps for each in program.body):
        return program
    body: list[form.Statement] = []
    facts, hints = dict(program.facts), dict(program.hints)
    for statement in program.body:
        steps = statement.rule.steps
        if steps and statement.phase == "backward" and not _has_options(statement):
            value, *others = statement.operands
            name, (first, second) = fresh_name(), steps
            fact = rule_of(first).infer([program.fact(each) for each in others], {})
            if values.shape_of(fact):
                facts[name], hints[name] = fact, TEMPORARY
                body.append(statement.beside(name, first, others))
                statement = statement.with_call(second, [value, form.name(name)])
        body.append(statement)
    return program.with_(body=tuple(body), facts=facts, hints=hints)


def _has_options(statement: form.Op) -> bool:
    return any(getattr(each, "value", True) for each in statement.parameters.values())


def described(program: Program, names: Iterable[str]) -> Program:
    """The program in which these values have names that say what they are."""
    unnamed = [name for name in names if not program.hints.get(name, TEMPORARY).text]
    if not unnamed:
        return program
    texts, hints = Described(program), dict(program.hints)
    for name in unnamed:
        hint = texts.hint(name)
        hints[name] = hint if hint.text else Hint(_kind(program, texts, name), "temporary")
    return program.with_(hints=hints)


def _kind(program: Program, texts: Described, name: str) -> str:
    """What a value of which nothing says more may be called; "" of most."""
    if name in texts.made and texts.made[name].rule.step_of is not None:
        return "halves"
    return "mask" if values.is_dtype(values.strong_dtype(program.facts[name]), bool) else ""


def in_one(body: Sequence[form.Statement]) -> list[form.Statement]:
    """The statements with both steps as one again where both are there."""
    first = {each.target: each for each in body if each.rule.step_of is not None}
    if not first:
        return [*body]
    made = [_whole(each, first) for each in body]
    read = {name for each in made for name in each.reads}
    return [each for each in made if each.target not in first or each.target in read]


def _whole(statement: form.Statement, first: Mapping[str, form.Statement]) -> form.Statement:
    """What a second step computes of what the first was given; any other statement as it is."""
    step = first.get(statement.reads[-1]) if statement.reads else None
    if step is None:
        return statement
    whole = rule_of(step.rule.step_of)
    if whole.steps is None or statement.function is not whole.steps[1]:
        return statement
    return statement.with_call(whole.function, [statement.operands[0], *step.operands])


def small_values(
    program: Program,
    early: Sequence[form.Statement],
    late: Sequence[form.Statement],
    given: Collection[str],
) -> list[form.Op]:
    """What the second half computes of the first alone and is small, with what that needs.

    Args:
        early, late: the halves of the program.
        given: the leaves of the first half.
    """
    known = {*given, *(each.target for each in early)}
    primal: dict[str, form.Op] = {}
    for each in late:
        if isinstance(each, form.Op) and _is_of(program, each, known):
            primal[each.target] = each
            known.add(each.target)
    facts = program.facts
    needed = {name for name, each in primal.items() if is_small(each, facts[name])}
    for name in reversed(primal):
        if name in needed:
            needed.update(primal[name].reads)
    return [each for name, each in primal.items() if name in needed]


def _is_of(program: Program, statement: form.Op, known: Collection[str]) -> bool:
    """Whether a statement computes a value of known ones, which may be done at another time."""
    if isinstance(statement.rule, Compound | Item) or has_effect(statement) or not statement.reads:
        return False
    if not all(each in known for each in statement.reads):
        return False
    return cost_of_computing(statement, program.facts[statement.target]) is not None
