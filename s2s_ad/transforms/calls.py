"""What every transform of a call that keeps its name has to do.

`cell` becomes `cell_forward` and `cell_backward`, `cell_jvp`, or `cell_vmap`: programs that the
walks themselves make of the callee's, each once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.core.builder import Builder, to_node
from s2s_ad.core.callee import Callee, callee_of
from s2s_ad.core.passes import run
from s2s_ad.core.program import TEMPORARY, Hint, Input, Program
from s2s_ad.core.regions import everywhere
from s2s_ad.core.tree import one_or_tuple
from s2s_ad.simplify.pipelines import AFTER
from s2s_ad.transforms.scattered import Handed, Scattered, Whole, gathered


@dataclass(frozen=True, slots=True)
class Passes:
    """A callee split in two.

    needs: for each leading leaf of `backward` where it comes from: ("argument", i),
        ("output", i) or ("saved", i), the last being outputs of `forward` behind the callee's own.
    seeds: which outputs get an adjoint; these follow.
    active: of which operands it returns the adjoint; without it of those asked for.
    scattered: of each adjoint the elements, where it returns these alone, or which of the adjoints
        that it is given it is.
    relies: whether the backward pass would be another one for adjoints that may be infinite.
    extents: what those of the operands have at least to be; without it they have no say.
    steep: whether it may multiply zeros of the adjoints with what is infinite.
    """

    forward: Callee
    backward: Callee
    needs: tuple[tuple[str, int], ...]
    seeds: tuple[int, ...]
    active: tuple[bool, ...] | None = None
    scattered: tuple[Scattered | Handed | None, ...] = ()
    relies: bool = False
    extents: tuple[Whole, ...] = ()
    steep: bool = False

    def adjoints(
        self, builder: Builder, operands: Sequence[Any], y_bars: Sequence[Any], results: list
    ) -> list[list]:
        """The adjoints of the operands, each as its summands, of what `backward` returned."""
        if not any(self.scattered):
            return [[each] for each in results]
        atoms = dict(zip(self.forward.program.leaves(), operands, strict=True))
        hints = self.forward.program.hints
        return gathered(builder, self.scattered, results, y_bars, atoms, hints)


def derived_callee(program: Program, builder_output: Sequence[Any], **changes: Any) -> Callee:
    """A derived callee: one output stands for itself, several are a tuple.

    None of them is there for a backward pass alone, unless the changes say how many are `kept`.
    """
    changes.setdefault("kept", 0)
    nodes = tuple(map(to_node, builder_output))
    output = one_or_tuple(nodes)
    return Callee(run(program.with_(output=output, **changes), AFTER))


def with_inputs(program: Program, names: Sequence[str], unnamed: dict[str, str]) -> Program:
    """The program with these leaves, each an input of its own; `unnamed` names some of them."""
    hints = dict(program.hints)
    for name in names:
        if not hints.get(name, TEMPORARY).text:
            hints[name] = Hint(unnamed.get(name, "saved"), "derived")
    taken: dict[str, int] = {}
    inputs = []
    for name in names:
        text = hints[name].text
        taken[text] = taken.get(text, 0) + 1
        inputs.append(Input(text if taken[text] == 1 else f"{text}_{taken[text]}", name))
    return program.with_(inputs=tuple(inputs), hints=hints)


def without_effects(program: Program) -> Program:
    """What the program computes, for where its effects happen elsewhere."""
    return everywhere(_quiet)(program)


def quiet(call: Callee) -> Callee:
    """The function without its effects."""
    if "quiet" not in call.derived:
        call.derived["quiet"] = Callee(call.program, stub=True)  # for the calls of itself
        call.derived["quiet"].define(without_effects(call.program))
    return call.derived["quiet"]


def _raising(node: gast.stmt) -> list[gast.stmt]:
    """What raises of an effect in a `try`, where it decides on what happens next."""
    if isinstance(node, gast.Assert | gast.Raise):
        return [node]
    if not isinstance(node, gast.If):
        return []
    body, orelse = (
        [left for each in part for left in _raising(each)] for part in (node.body, node.orelse)
    )
    return [gast.If(node.test, body or [gast.Pass()], orelse)] if body or orelse else []


def _quiet(program: Program) -> Program:
    body = []
    for statement in program.body:
        call = callee_of(statement)
        if call is not None and call.effects:
            statement = statement.with_call(quiet(call), statement.operands)
        if isinstance(statement, form.Op):
            body.append(statement)
        elif program.tried:
            left = _raising(statement.node)
            body += [form.Effect(each, statement.origin, statement.phase) for each in left]
    return program.with_(body=tuple(body))
