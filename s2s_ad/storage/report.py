"""What a program keeps for its backward pass: which value, where, how often, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import gast

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import describe
from s2s_ad.core.callee import Compound, item_of
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.regions import Loop, blocks_of, region_of
from s2s_ad.diagnostics import Origin
from s2s_ad.storage.costs import cost_of_computing


@dataclass(frozen=True, slots=True)
class Kept:
    """One value of the forward pass that the backward pass reads.

    Attributes:
        names: Core names of the value, or of the list that it is put into.
        origin: where the user computes it.
        fact: the abstract value, of one pass where there are several.
        loops: the loops, from the outermost, on each pass of which it is kept; none: once.
        why: the reason for the decision.
        owns: whether it has memory of its own.
    """

    names: tuple[str, ...]
    origin: Origin | None
    fact: values.AbstractValue
    loops: tuple[form.Statement, ...]
    why: str
    owns: bool


def report(program: Program) -> Iterator[Kept]:
    """What the program keeps, in the order of its forward pass."""
    needed = {name for each in program.body if _is_backward(each) for name in each.reads}
    for statement in program.body:
        if isinstance(statement, form.Effect) or _is_backward(statement):
            continue
        name, fact = statement.target, program.facts[statement.target]
        if region_of(statement) is not None:
            yield from _in_lists(statement, ())
        elif name in needed and not isinstance(fact, values.List):
            yield _still_there(program, statement)


def _is_backward(statement: form.Statement) -> bool:
    return statement.phase == "backward"


def _still_there(program: Program, statement: form.Op) -> Kept:
    """Outside loops every value has one name, so what is needed is there."""
    name, rule = statement.target, statement.rule
    fact = program.facts[name]
    if rule.cheap:
        return Kept((name,), statement.origin, fact, (), "computed again: next to nothing", False)
    if rule.is_view(statement.operands, program.fact):
        return Kept((name,), statement.origin, fact, (), "a view: no memory of its own", False)
    return Kept((name,), statement.origin, fact, (), "a local that nothing overwrites", True)


def _in_lists(statement: form.Statement, around: tuple[form.Statement, ...]) -> Iterator[Kept]:
    """What a region, and the regions in it, put into lists on each pass."""
    region = region_of(statement)
    loops = around
    if isinstance(region, Loop):
        loops = (*around, statement)
        yield from _of_loop(region, loops)
    for block in blocks_of(statement):
        for each in block.body:
            if region_of(each) is not None:
                yield from _in_lists(each, loops)


def _of_loop(loop: Loop, loops: tuple[form.Statement, ...]) -> Iterator[Kept]:
    body = loop.body
    computed = {each.target: each for each in body.body if isinstance(each, form.Op)}
    results, _ = loop.results()
    for leaf, result in zip(loop.leaves(body).carried, results, strict=True):
        append = computed.get(getattr(result, "id", ""))
        if append is None or not is_saved(body, leaf) or not _is_append(append):
            continue
        value = append.operands[1]
        fact = body.fact(value)
        if isinstance(fact, values.List):
            continue  # its items are reported where they are put into it
        origin, why = _reason(body, value)
        names = (leaf, append.target)
        yield Kept(names, origin or loops[-1].origin, fact, loops, why, True)


def is_saved(program: Program, name: str) -> bool:
    """Whether the name is a list of ours; the user's lists are the user's."""
    return program.hints.get(name, TEMPORARY).saves


def _is_append(statement: form.Op) -> bool:
    return statement.function is runtime.list_append


def _reason(program: Program, atom: gast.AST) -> tuple[Origin | None, str]:
    """Where a value is computed, and why it is kept and not computed again."""
    name = getattr(atom, "id", "")
    source = next((s for s in program.body if isinstance(s, form.Op) and s.target == name), None)
    if source is None:
        return None, "each pass overwrites it"
    item = item_of(source)
    if item is not None:
        return _reason_of_item(program, source, *item)
    if cost_of_computing(source, program.facts[name]) is not None:
        return source.origin, "what it is computed from would have to be kept instead"
    if source.rule.effects:
        return source.origin, "it must not happen twice"
    return source.origin, f"{_named(source.function, source.rule)} is too dear to compute again"


def _reason_of_item(
    program: Program, item: form.Op, result: str, index: int
) -> tuple[Origin | None, str]:
    """`_reason` of an output of a call, a loop, or of the side of a branch that has it."""
    source = next(each for each in program.body if each.target == result)
    region = region_of(source)
    if region is None or isinstance(region, Loop):
        function = source.function
        if function is runtime.list_pop:
            return source.origin or item.origin, "it was taken off a list, where it is no longer"
        if region is not None:
            named = "the loop"
        else:
            of_user = isinstance(function, Compound)
            named = function.name if of_user else _named(function, source.rule)
        return source.origin or item.origin, f"{named} would have to run again"
    for block in region.blocks:
        atoms = block.outputs()
        if index < len(atoms) and isinstance(atoms[index], gast.Name):
            origin, why = _reason(block, atoms[index])
            return origin or source.origin, why
    return source.origin, "which side ran has to be known"


def _named(function: object, rule: object) -> str:
    return describe(function) if callable(function) and rule is not function else "the operation"


def passes(program: Program, statement: form.Op, arguments: Mapping[str, object]) -> int | None:
    """How many passes a loop of the program makes for these leaves; None where it shows later."""
    loop = region_of(statement)
    if not isinstance(loop, Loop) or not loop.is_for or loop.exits:
        return None
    computed = {each.target: each for each in program.body if isinstance(each, form.Op)}
    bounds = [_number(each, computed, program, arguments) for each in statement.operands[:3]]
    known = [each for each in bounds if each is not None]
    return len(range(*known)) if len(known) == 3 else None


def _number(atom: gast.AST, computed: Mapping, program: Program, arguments: Mapping) -> int | None:
    """The value of a whole number that follows from the leaves; None where it does not."""
    if isinstance(atom, gast.Constant):
        return atom.value
    if atom.id in arguments:
        return arguments[atom.id]
    statement = computed.get(atom.id)
    if statement is None or program.facts[atom.id] != values.Scalar(int):
        return None
    function = statement.function
    if isinstance(function, Compound):
        return None
    operands = [_number(each, computed, program, arguments) for each in statement.operands]
    params = {key: getattr(each, "value", None) for key, each in statement.parameters.items()}
    if any(each is None for each in operands):
        return None
    return function(*operands, **params)
