"""Forward mode: each operation is followed by its tangent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gast

from s2s_ad.analysis import activity
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.registry import Operation
from s2s_ad.diagnostics import DerivativeError
from s2s_ad.rules.support import CannotBatch
from s2s_ad.transforms.reverse import unknown_rank


def forward(builder: Builder, program: Program, tangents: Mapping[str, Any]) -> tuple[list, list]:
    """Replay `program` with tangents; returns its outputs and their tangents (None: zero)."""
    atoms = {name: builder.import_name(program, name) for name in program.leaves()}
    for capture in program.captured():
        atoms[capture.name] = builder.import_name(program, capture.name)
    outputs = [atom.id for atom in program.outputs() if isinstance(atom, gast.Name)]
    active = activity.varied(program, tangents) & activity.useful(program, outputs)
    dots: dict[str, Any] = dict(tangents)
    for statement in program.body:
        with builder.at(statement.origin, statement.phase):
            builder.replay(statement, atoms, program)
        if not form.is_effect(statement) and form.target(statement) in active:
            with builder.at(statement.origin, "tangent"):
                _step(builder, program, statement, atoms, dots)
    results = [builder.view(atom, atoms) for atom in program.outputs()]
    return results, [dots.get(getattr(atom, "id", None)) for atom in program.outputs()]


def _step(
    builder: Builder, program: Program, statement: gast.Assign, atoms: dict, dots: dict
) -> None:
    name = form.target(statement)
    operands = [getattr(operand, "id", None) for operand in statement.value.args]
    tangents = [dots.get(each) for each in operands]
    if all(each is None for each in tangents):
        return
    _refuse_complex(program, statement)
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


def _refuse_complex(program: Program, statement: gast.Assign) -> None:
    dtype = values.strong_dtype(program.facts[form.target(statement)])
    if dtype is not None and dtype.kind == "c":
        raise DerivativeError(
            "S2S302",
            "a derivative of complex numbers",
            origin=statement.origin,
            help="differentiate the real and imaginary parts",
        )
