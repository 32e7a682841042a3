"""Gradients and adjoints as whole programs, and the split of a program into two passes."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.parts import in_kind_of
from s2s_ad.core.passes import run
from s2s_ad.core.program import TEMPORARY, Input, Program
from s2s_ad.simplify.pipelines import AFTER
from s2s_ad.transforms.called_once import called_once_in_place
from s2s_ad.transforms.calls import without_effects
from s2s_ad.transforms.common import (
    Target,
    bare_aux,
    check_output,
    check_real,
    finished,
    for_gradients,
    has_gradient,
    is_floating,
    pair,
    refill,
    split_aux,
    wanted_leaves,
    with_respect_to,
)
from s2s_ad.transforms.forward import forward
from s2s_ad.transforms.refusals import refuse_twice
from s2s_ad.transforms.reverse import Reverse
from s2s_ad.transforms.seeds import Sens
from s2s_ad.transforms.undetermined import with_checks


def gradient(
    program: Program,
    wanted: Any,
    *,
    with_value: bool = False,
    has_aux: bool = False,
    return_ids: bool = False,
    sens: Sens | None = None,
) -> Program:
    """The gradient of the sum of all floating-point outputs, which are real.

    With respect to a complex input it is the direction of steepest ascent.

    Args:
        wanted: a Target, or Targets in the nesting that their gradients shall have.
        with_value: the value comes with the gradients.
        has_aux: only the first output is differentiated.
        return_ids: each gradient comes with the identity of its target.
        sens: the adjoint of the output, as a further input; without it each is 1.
    """
    targets = tree.leaves(wanted)
    program = called_once_in_place(program, wanted_leaves(program, targets))
    output, aux = split_aux(program, has_aux)
    floats = check_output(program, output)
    check_real(program, floats)
    builder = Builder()
    sweep = Reverse(builder, program, wanted_leaves(program, targets), at_once=sens is None)
    sweep.forward_sweep()
    more = [] if sens is None else [sens.entered(sweep, output)]
    for atom in floats if sens is None else ():
        with builder.at(program.origin, "backward"):
            y = sweep.output(atom)
            sweep.seed(atom, _ones(builder, y))
    adjoints = sweep.backward_sweep()

    def given(target: Target) -> Any:
        part = for_gradients(program, target.tree, adjoints.__getitem__)
        return pair(target.identity, part) if return_ids else part

    result = tree.tree_map(given, wanted)
    if with_value:
        result = pair(tree.tree_map(sweep.output, program.result), result)
    elif has_aux:
        result = pair(result, tree.tree_map(sweep.output, aux))
    target = with_respect_to(targets)
    doc = f"gradient of {program.doc} with respect to {target}"
    if program.doc.startswith("gradient"):
        doc = f"gradient of the {program.doc}, with respect to {target}"
    if with_value:
        doc = f"{program.doc} and its gradient with respect to {target}"
    name = program.name + ("_value_and_grad" if with_value else "_grad")
    written = list(map(sweep.output, program.written()))
    return finished(
        builder,
        program,
        name=name,
        doc=doc,
        inputs=inserted(program.inputs, more),
        output=result,
        written=written,
        tensors=program.tensors or (sens is not None and sens.tensors),
    )


def _ones(builder: Builder, y: Any) -> Any:
    """The adjoint of an output that is added to the result as it stands."""
    if isinstance(builder.fact(y), values.List):
        return builder.call(runtime.ones_like, (y,), {})
    return builder.call(runtime.broadcast_like, (1.0, y), {})


def cotangent_program(program: Program, wanted: Any, *, has_aux: bool = False) -> Program:
    """Inputs and an adjoint for each floating-point output -> (output, adjoints of the inputs).

    The adjoints have the nesting of `wanted`, a Tree of Targets. With `has_aux` the output is a
    pair: what is differentiated, and the rest.
    """
    targets = tree.leaves(wanted)
    program = called_once_in_place(program, wanted_leaves(program, targets))
    output, aux = split_aux(program, has_aux)
    builder = Builder()
    sweep = Reverse(builder, program, wanted_leaves(program, targets))
    sweep.forward_sweep()
    seeds = []
    check_output(program, output)
    for atom in filter(functools.partial(is_floating, program), tree.leaves(output)):
        y_bar = sweep.seed_with_input(atom)
        seeds.append(Input(builder.hints[y_bar.name].text, y_bar.name))
    adjoints = sweep.backward_sweep()
    parts = tree.tree_map(
        lambda target: for_gradients(program, target.tree, adjoints.__getitem__), wanted
    )
    value = tree.tree_map(sweep.output, output)
    if has_aux:
        value = pair(value, tree.tree_map(sweep.output, bare_aux(aux)))
    return finished(
        builder,
        program,
        name=program.name + "_vjp",
        doc=f"{program.doc} and its adjoint with respect to {with_respect_to(targets)}",
        inputs=(*program.inputs, *_distinct(program.inputs, seeds)),
        output=pair(value, parts),
        written=list(map(sweep.output, program.written())),
    )


def tangent_program(
    program: Program, targets: Sequence[Target], *, has_aux: bool = False
) -> Program:
    """Inputs and a tangent for each leaf of the targets -> (output, tangent of the output).

    With `has_aux` the rest of the output follows: it has no tangent.
    """
    output, aux = split_aux(program, has_aux)
    builder = Builder()
    inputs, tangents = [], {}
    for target in targets:
        names = tree.tree_map(lambda leaf: _tangent_leaf(builder, program, leaf), target.tree)
        pairs = zip(tree.leaves(target.tree), tree.leaves(names), strict=True)
        tangents.update(
            {leaf: Symbol(builder, name) for leaf, name in pairs if has_gradient(program, leaf)}
        )
        inputs.append(Input(f"{target.name}_dot", names))
    outputs, dots = forward(builder, program, tangents)
    count = len(tree.leaves(output))
    dots = [
        _typed(builder, program, y, _tangent_out(builder, y, y_dot))
        for y, y_dot in zip(outputs[:count], dots[:count], strict=True)
    ]
    value = refill(output, outputs[:count])
    tangent = refill(output, with_checks(builder, dots))
    rest = [bare_aux(refill(aux, outputs[count:]))] if has_aux else []
    directions = [each.name for each in inputs]
    along = directions[0] if len(directions) == 1 else f"({', '.join(directions)})"
    return finished(
        builder,
        program,
        name=program.name + "_jvp",
        doc=f"{program.doc} and its directional derivative along {along}",
        inputs=(*program.inputs, *_distinct(program.inputs, inputs)),
        output=pair(value, tangent, *rest),
        written=outputs[len(outputs) - len(program.writes) :],
    )


def linear_program(program: Program, targets: Sequence[Target]) -> Program:
    """As `tangent_program`, but no value depends on a tangent.

    A loop, a branch or a call that carries tangents beside its values is computed once without
    them, too. What stands outside of such is the same operation for both.
    """
    made = tangent_program(program, targets)
    given = set(made.leaves()[len(program.leaves()) :])
    depends = {s.target for s in _split(made, given)[1] if isinstance(s, form.Op)}
    values_of = [made.result.items[0], *made.written()]
    if not any(getattr(leaf, "id", None) in depends for leaf in tree.leaves(pair(*values_of))):
        return made
    refuse_twice(program, program.name)
    builder = Builder()
    with_tangents = without_effects(made)
    leaves = {name: builder.import_name(made, name) for name in made.leaves()}
    output = builder.splice(program, {name: leaves[name] for name in program.leaves()})
    again = builder.splice(with_tangents, leaves)
    value, written = (output.items[0], output.items[1:]) if program.writes else (output, ())
    again = again.items[0] if program.writes else again
    return finished(
        builder,
        program,
        name=made.name,
        doc=made.doc,
        inputs=made.inputs,
        output=pair(value, again.items[1]),
        written=written,
    )


def _tangent_leaf(builder: Builder, program: Program, leaf: str) -> str:
    hint = program.hints.get(leaf, TEMPORARY).derived("_dot")
    fact = program.facts[leaf] if has_gradient(program, leaf) else values.Static(None)
    return builder.symbol(fact, hint).name


def _tangent_out(builder: Builder, y: Any, y_dot: Any) -> Any:
    """A tangent as it is handed out: zeros in the shape of the output where it does not vary."""
    if y_dot is not None:
        return in_kind_of(builder, y_dot, y.fact) if isinstance(y, Symbol) else y_dot
    if not isinstance(y, Symbol):
        return type(y)() if isinstance(y, float | complex) else None
    if values.is_inexact(y.fact) is False:
        return None
    if y.shape == () and isinstance(y.fact, values.Array) and y.dtype is None:
        return np.zeros_like(y)[()]  # of the precision that the path has left
    if y.shape == ():
        return in_kind_of(builder, 0.0, y.fact)
    return builder.call(runtime.broadcast_like, (0.0, y), {})


def _typed(builder: Builder, program: Program, y: Any, y_dot: Any) -> Any:
    """The tangent of an output in the output's dtype, where that is not known to be its own.

    Text for arguments of which nothing is known leaves it as it is.
    """
    symbols = isinstance(y, Symbol) and isinstance(y_dot, Symbol)
    if not symbols or isinstance(y.fact, values.List | values.Word | values.Error):
        return y_dot
    general = any(isinstance(program.facts[leaf], values.Unknown) for leaf in program.leaves())
    known = [values.strong_dtype(each.fact) for each in (y, y_dot)]
    alike = not values.missing(known) and known[0] == known[1]
    if general or alike or isinstance(y.fact, values.Scalar):
        return y_dot
    return builder.call(runtime.in_dtype_of, (y_dot, y), {})


def inserted(inputs: Sequence[Input], more: Sequence[Input]) -> tuple[Input, ...]:
    """Further inputs behind the last one that a call can give in their way."""
    found = list(inputs)
    for each in more:
        index = sum(one.kind <= each.kind for one in found)
        found.insert(index, each)
    return tuple(found)


def _distinct(inputs: Sequence[Input], more: Sequence[Input]) -> list[Input]:
    taken = {each.name for each in inputs}
    named = []
    for each in more:
        name, count = each.name, 2
        while name in taken:
            name, count = f"{each.name}_{count}", count + 1
        taken.add(name)
        named.append(Input(name, each.tree, each.kind))
    return named


def partition(program: Program, late: Sequence[str]) -> tuple[Program, Program]:
    """Split into what does not depend on the `late` leaves and what does.

    The first returns (its outputs, what the second needs); the second takes that and the late
    leaves. `program` returns a pair, whose first item is early and whose second is late. Captured
    objects are handed on too: they may be others when the second runs.
    """
    first, second = _split(program, late)
    value, result = program.result.items
    own = {s.target for s in second if isinstance(s, form.Op)} | set(late)
    read = [name for s in second for name in s.reads]
    read += [leaf.id for leaf in tree.leaves(result) if isinstance(leaf, gast.Name)]
    kept = [name for name in dict.fromkeys(read) if name not in own]
    residuals = pair(*(gast.Name(name, gast.Load(), None, None) for name in kept))
    early = [each for each in program.inputs if each.name and not _is_late(each, late)]
    head = program.with_(
        name=f"{program.name}_forward",
        inputs=tuple(early),
        body=tuple(first),
        output=program.with_result(pair(value, residuals)),
        doc=f"{program.doc}: the value, and what the backward pass needs",
        kept=len(kept),
    )
    inputs = [Input("residuals", pair(*kept)), *(e for e in program.inputs if _is_late(e, late))]
    tail = program.with_(
        name=f"{program.name}_backward",
        writes=(),
        inputs=tuple(inputs),
        body=tuple(second),
        output=result,
        doc=f"{program.doc}: the backward pass",
    )
    return run(head, AFTER), run(tail, AFTER)


def _split(program: Program, late: Iterable[str]) -> tuple[list, list]:
    """(the statements that do not depend on the `late` leaves, those that do)"""
    depends = set(late)
    first, second = [], []
    for statement in program.body:
        is_late = any(name in depends for name in statement.reads)
        (second if is_late else first).append(statement)
        if is_late and isinstance(statement, form.Op):
            depends.add(statement.target)
    return first, second


def _is_late(each: Input, late: Sequence[str]) -> bool:
    return any(leaf in late for leaf in tree.leaves(each.tree))
