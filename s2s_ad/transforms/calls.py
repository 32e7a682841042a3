"""What every transform of a call that keeps its name has to do.

`cell` becomes `cell_forward` and `cell_backward`, `cell_jvp`, or `cell_vmap`: programs that the
walks themselves make of the callee's, each once. Where the backward pass needs no more than
arguments and outputs, the forward pass stays `cell` itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from s2s_ad.core import form
from s2s_ad.core.builder import Builder, Symbol, to_node
from s2s_ad.core.callee import Callee, callee_of, has_effect
from s2s_ad.core.passes import run
from s2s_ad.core.program import TEMPORARY, Hint, Input, Program
from s2s_ad.core.registry import rule_for
from s2s_ad.core.tree import Tree
from s2s_ad.simplify.dead import DEAD
from s2s_ad.simplify.finish import nearest_shapes
from s2s_ad.simplify.pipelines import AFTER


@dataclass(frozen=True, slots=True)
class Passes:
    """A callee split in two.

    needs: for each leading leaf of `backward` where it comes from: ("argument", i),
        ("output", i) or ("saved", i), the last being outputs of `forward` behind the callee's own.
    seeds: which outputs get an adjoint; these follow. It returns the adjoints of the leaves asked.
    """

    forward: Callee
    backward: Callee
    needs: tuple[tuple[str, int], ...]
    seeds: tuple[int, ...]


def derived_callee(program: Program, builder_output: Sequence[Any], **changes: Any) -> Callee:
    """A derived callee: one output stands for itself, several are a tuple."""
    nodes = tuple(map(to_node, builder_output))
    output = nodes[0] if len(nodes) == 1 else Tree(tuple, tuple(range(len(nodes))), nodes)
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
    body = []
    for statement in program.body:
        call = callee_of(statement)
        if call is not None and call.effects:
            if "quiet" not in call.derived:
                call.derived["quiet"] = Callee(without_effects(call.program))
            value = form.operation(call.derived["quiet"], statement.value.args, {})
            name = form.target(statement)
            statement = form.assign(name, value, statement.origin, statement.phase)
        if not form.is_effect(statement):
            body.append(statement)
    return program.with_(body=tuple(body))


MOST_SAVED = 8  # values; more of them are computed again by the backward pass


@dataclass(frozen=True, slots=True)
class Division:
    """A body in two parts, and the names that the second reads of the first or of the leaves."""

    early: list[form.Statement]
    late: list[form.Statement]
    kept: list[str]


def joint_sweep(builder: Builder, program: Program, seeds: list[str], outputs: list) -> Program:
    """Both sweeps as one program, without what nobody reads; the seeds are its last inputs."""
    nodes = tuple(map(to_node, outputs))
    made = program.with_(
        body=tuple(builder.body),
        facts=dict(builder.facts),
        hints=dict(builder.hints),
        output=Tree(tuple, tuple(range(len(nodes))), nodes),
    )
    inputs = (*program.inputs, *(Input(name, name) for name in seeds))
    return run(nearest_shapes(made).with_(inputs=inputs), (DEAD,))


def divide(program: Program, seeds: list[str], results: list) -> Division:
    """Divide a reverse sweep: the forward pass, and what depends on the seeds or serves that."""
    depends, early, late = set(seeds), [], []
    for statement in program.body:
        reads = form.reads(statement)
        is_late = statement.phase == "backward" or any(name in depends for name in reads)
        (late if is_late else early).append(statement)
        if is_late and not form.is_effect(statement):
            depends.add(form.target(statement))
    cheap = {
        form.target(each): each
        for each in early
        if not has_effect(each) and is_cheap(form.function_of(each))
    }
    again: dict[str, form.Statement] = {}
    kept = _read_from_outside(late, results, program, seeds)
    while any(name in cheap for name in kept):
        again |= {name: cheap[name] for name in kept if name in cheap}
        front = [each for each in early if form_target(each) in again]
        kept = _read_from_outside([*front, *late], results, program, seeds)
    return Division(early, [*(e for e in early if form_target(e) in again), *late], kept)


def form_target(statement: form.Statement) -> str | None:
    return None if form.is_effect(statement) else form.target(statement)


def is_cheap(function: Any) -> bool:
    """Whether computing again costs next to nothing: a length, or a view."""
    rule = rule_for(function)
    return rule.cheap or rule.view


def recomputing(program: Program, seeds: list[str], results: list) -> Division:
    """The same sweep with nothing saved: the second part begins with the whole forward pass."""
    body = list(program.body)
    return Division([], body, _read_from_outside(body, results, program, seeds))


def _read_from_outside(body: list, results: list, program: Program, seeds: list[str]) -> list[str]:
    defined = {*seeds, *(form_target(statement) for statement in body)}
    read = [name for statement in body for name in form.reads(statement)]
    read += [each.name for each in results if isinstance(each, Symbol)]
    outside = defined | {each.name for each in program.captured()}
    return [name for name in dict.fromkeys(read) if name not in outside]
