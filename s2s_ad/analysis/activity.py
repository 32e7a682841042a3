"""Activity: which names depend on the inputs that are differentiated and reach the outputs."""

from __future__ import annotations

from collections.abc import Iterable

import gast

from s2s_ad.core import form, values
from s2s_ad.core.program import Program
from s2s_ad.core.registry import rule_for


def carries_derivative(program: Program, name: str) -> bool:
    """Whether a name may hold floating-point numbers at all."""
    return values.is_inexact(program.facts[name]) is not False


def varied(program: Program, inputs: Iterable[str]) -> set[str]:
    """The names whose value depends differentiably on the inputs."""
    found = set(inputs)
    for statement in program.body:
        if form.is_effect(statement) or rule_for(form.function_of(statement)).flat:
            continue
        depends = any(name in found for name in operand_names(statement))
        if depends and carries_derivative(program, form.target(statement)):
            found.add(form.target(statement))
    return found


def useful(program: Program, outputs: Iterable[str]) -> set[str]:
    """The names that the outputs depend on differentiably."""
    found = set(outputs)
    for statement in reversed(program.body):
        if form.is_effect(statement) or rule_for(form.function_of(statement)).flat:
            continue
        if form.target(statement) in found:
            found.update(operand_names(statement))
    return found


def operand_names(statement: gast.Assign) -> list[str]:
    """The names among the operands; parameters carry no derivative."""
    return [
        atom.id
        for operand in statement.value.args
        for atom in form.atoms_of(operand)
        if isinstance(atom, gast.Name)
    ]
