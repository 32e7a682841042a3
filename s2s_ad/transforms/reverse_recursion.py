"""Reverse mode of functions that call themselves: linear in the number of calls.

The forward pass returns what its backward pass needs as one value, which holds what the calls of
itself have returned. Where the backward pass is transformed again it is the one that computes the
forward pass again: `without_saved.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from s2s_ad.core import form, values
from s2s_ad.core.builder import Symbol, fresh_name
from s2s_ad.core.callee import Callee
from s2s_ad.core.magnitudes import is_steep
from s2s_ad.core.program import Hint, Program
from s2s_ad.core.rule import ITEM
from s2s_ad.core.saved import PACK, RestoringCallee, SavingCallee, Unpack
from s2s_ad.core.tree import tuple_of
from s2s_ad.transforms import halves
from s2s_ad.transforms.calls import Passes, derived_callee, with_inputs
from s2s_ad.transforms.joint_sweep import Swept, backward_stub


def nested_passes(
    outer: Any,
    call: Callee,
    active: tuple[bool, ...],
    seeds: tuple[int, ...],
    key: Any,
    plain: Callable[[], Callee],
) -> Passes:
    """The two passes; `plain` makes the backward pass that is given the arguments alone."""
    leaves = call.program.leaves()
    hint = Hint(f"{call.program.name}_saved", "derived")
    forward = SavingCallee(_forward_stub(call.program, hint), call)
    backward = RestoringCallee(_with_saved(call.program, active, seeds), len(leaves), plain)
    needs = (*(("argument", i) for i in range(len(leaves))), ("saved", 0))
    call.derived[key] = passes = Passes(forward, backward, needs, seeds)  # for calls of itself
    swept = Swept(outer, call, active, seeds, whole=True)
    made = halves.halve(swept.joint, swept.results, repeated=True)
    saved = [name for name in made.kept if name not in leaves]
    forward.define(_saving(swept, made, saved, hint))
    backward.define(_restoring(swept, made, saved))
    call.derived[key] = passes = replace(passes, steep=is_steep(swept.builder))
    return passes


def _forward_stub(program: Program, hint: Hint) -> Program:
    """The forward pass, of which it is known what it returns."""
    facts = {fresh_name(): program.fact(atom) for atom in program.outputs()}
    facts[fresh_name()] = values.Saved()
    nodes = tuple(map(form.name, facts))
    hints = program.hints | {nodes[-1].id: hint}
    output = tuple_of(nodes)
    name = f"{program.name}_forward"
    facts = program.facts | facts
    return program.with_(body=(), output=output, facts=facts, hints=hints, name=name)


def _with_saved(program: Program, active: tuple[bool, ...], seeds: tuple[int, ...]) -> Program:
    """The backward pass, of which it is known what it is given and returns."""
    made = backward_stub(program, active, seeds).program
    leaves, saved = made.leaves(), fresh_name()
    first = len(program.leaves())
    names = [*leaves[:first], saved, *leaves[first:]]
    return with_inputs(made.with_(facts=made.facts | {saved: values.Saved()}), names, {})


def _saving(swept: Swept, made: halves.Halves, saved: list[str], hint: Hint) -> Program:
    """The forward half, which packs what it saves."""
    program = swept.program
    writer = halves.writer(swept.joint)
    writer.origin, writer.phase = program.origin, "forward"
    writer.body += made.early
    packed = writer.emit(PACK, [Symbol(writer, name) for name in saved], {})
    writer.named(packed, hint)
    joint = swept.joint.with_(facts=writer.facts, hints=writer.hints)
    return derived_callee(
        joint,
        [*swept.outputs, packed],
        inputs=program.inputs,
        body=tuple(writer.body),
        name=f"{program.name}_forward",
        doc=f"{program.doc}, and what its backward pass needs",
    ).program


def _restoring(swept: Swept, made: halves.Halves, saved: list[str]) -> Program:
    """The backward half, which unpacks what was saved."""
    writer = halves.writer(swept.joint)
    writer.origin, writer.phase = swept.program.origin, "backward"
    packed = writer.symbol(values.Saved(), Hint("saved", "derived"))
    if saved:
        rule = Unpack([writer.facts[name] for name in saved])
        items = writer.emit(rule, [packed], {})
        for index, name in enumerate(saved):
            halves.define(writer, name, ITEM, [items], index=index)
    writer.body += made.late
    joint = swept.joint.with_(facts=writer.facts, hints=writer.hints)
    names = [*swept.leaves, packed.name, *swept.seeds]
    return derived_callee(
        with_inputs(joint, names, {}),
        swept.results,
        body=tuple(writer.body),
        tried=False,
        name=f"{swept.program.name}_backward",
        doc=f"backward pass of {swept.program.doc}",
    ).program
