"""Forward mode: each operation is followed by its tangent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gast

from s2s_ad.analysis import activity
from s2s_ad.core import form
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callee import Callee, callee_of, item_of
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.registry import CannotBatch, Operation
from s2s_ad.transforms.calls import derived_callee, with_inputs
from s2s_ad.transforms.refusals import refuse_complex, unknown_rank


def forward(builder: Builder, program: Program, tangents: Mapping[str, Any]) -> tuple[list, list]:
    """Replay `program` with tangents; returns its outputs and their tangents (None: zero)."""
    atoms = {name: builder.import_name(program, name) for name in program.leaves()}
    for capture in program.captured():
        atoms[capture.name] = builder.import_name(program, capture.name)
    outputs = [atom.id for atom in program.outputs() if isinstance(atom, gast.Name)]
    active = activity.varied(program, tangents) & activity.useful(program, outputs)
    dots: dict[str, Any] = dict(tangents)
    for statement in program.body:
        call = callee_of(statement)
        if call is not None and form.target(statement) in active:
            with builder.at(statement.origin, statement.phase):
                _call(builder, program, statement, atoms, dots)
            continue
        with builder.at(statement.origin, statement.phase):
            builder.replay(statement, atoms, program)
        item = item_of(statement)
        if item is not None:
            dots[form.target(statement)] = dots.get(item[0], {}).get(item[1])
        elif not form.is_effect(statement) and form.target(statement) in active:
            with builder.at(statement.origin, "tangent"):
                _step(builder, program, statement, atoms, dots)
    results = [builder.view(atom, atoms) for atom in program.outputs()]
    return results, [dots.get(getattr(atom, "id", None)) for atom in program.outputs()]


def _call(
    builder: Builder, program: Program, statement: gast.Assign, atoms: dict, dots: dict
) -> None:
    """Call the callee with the tangents of its operands, for outputs and their tangents."""
    name, call = form.target(statement), callee_of(statement)
    operands = [builder.view(each, atoms) for each in statement.value.args]
    tangents = [dots.get(getattr(each, "id", None)) for each in statement.value.args]
    made, varies = with_tangents(call, tuple(each is not None for each in tangents))
    result = builder.emit(made, [*operands, *(each for each in tangents if each is not None)], {})
    values_ = made.items(builder, result)
    count = len(varies)
    rest = iter(values_[count:])
    found = {i: next(rest) for i, flag in enumerate(varies) if flag}
    atoms[name] = result if call.several else values_[0]
    hint = program.hints.get(name, TEMPORARY)
    builder.named(atoms[name], hint)
    if call.several:
        dots[name] = found
    elif found:
        dots[name] = builder.named(found[0], hint.derived("_dot"))


def with_tangents(call: Callee, given: tuple[bool, ...]) -> tuple[Callee, tuple[bool, ...]]:
    """(callee of the leaves and the tangents given, which outputs have a tangent).

    It returns the outputs, then the tangents of those that have one.
    """
    key = ("forward", given)
    if key not in call.derived:
        call.derived[key] = _with_tangents(call, given)
    return call.derived[key]


def _with_tangents(call: Callee, given: tuple[bool, ...]) -> tuple[Callee, tuple[bool, ...]]:
    program, builder = call.program, Builder()
    leaves = [name for name, flag in zip(program.leaves(), given, strict=True) if flag]
    tangents = {}
    for name in leaves:
        hint = program.hints.get(name, TEMPORARY).derived("_dot")
        tangents[name] = builder.symbol(program.facts[name], hint)
    outputs, dots = forward(builder, program, tangents)
    whole = program.with_(facts=dict(builder.facts), hints=dict(builder.hints))
    names = [*program.leaves(), *(each.name for each in tangents.values())]
    made = derived_callee(
        with_inputs(whole, names, {}),
        [*outputs, *(each for each in dots if each is not None)],
        body=tuple(builder.body),
        name=f"{program.name}_jvp",
        doc=f"{program.doc} and its directional derivative",
    )
    return made, tuple(each is not None for each in dots)


def _step(
    builder: Builder, program: Program, statement: gast.Assign, atoms: dict, dots: dict
) -> None:
    name = form.target(statement)
    operands = [getattr(operand, "id", None) for operand in statement.value.args]
    tangents = [dots.get(each) for each in operands]
    if all(each is None for each in tangents):
        return
    refuse_complex(program, statement, [name])
    view = builder.operation(statement, atoms)
    result = view.result if isinstance(view.result, Symbol) else None
    if result is None:
        return  # folded to a number: its tangent is zero
    operation = Operation(view.rule, view.operands, view.params, result)
    try:
        tangent = view.rule.forward(operation, tangents)
    except CannotBatch:
        raise unknown_rank(view.rule.name, statement.origin) from None
    if tangent is not None:
        hint = program.hints.get(name, TEMPORARY).derived("_dot")
        dots[name] = builder.named(tangent, hint)
