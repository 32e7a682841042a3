"""Reverse mode of calls that keep their name: `cell` becomes `cell_forward` and `cell_backward`.

Where the backward pass needs no more than arguments and outputs, the forward pass stays `cell`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callee import Callee
from s2s_ad.core.custom import CheckpointCallee, CustomCallee, ScheduledCallee
from s2s_ad.core.magnitudes import (
    is_steep,
    may_be_steep,
    note_steep,
    relies,
    rely_on,
    stays_finite,
)
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.rule import ITEM
from s2s_ad.transforms import halves
from s2s_ad.transforms.calls import Passes, derived_callee, without_effects
from s2s_ad.transforms.chosen import chosen_of, kind_of_chosen
from s2s_ad.transforms.custom import custom_passes
from s2s_ad.transforms.joint_sweep import Swept, backward_stub
from s2s_ad.transforms.refusals import refuse_twice
from s2s_ad.transforms.reverse_recursion import nested_passes
from s2s_ad.transforms.reverse_schedules import scheduled_passes
from s2s_ad.transforms.scattered import Whole

MOST_SAVED = 8  # values; more of them are computed again by the backward pass
LONG = 150  # statements; a function that has more would save more values than that


def reverse_call(sweep: Any, statement: form.Op, call: Callee, given: dict[int, Any]) -> list:
    """Call the backward pass, to which the forward pass hands what it needs: what it adds to
    adjoints of names."""
    result = sweep.atoms[statement.target]
    args = statement.operands
    operands = [sweep.output(each) for each in args]
    active = tuple(sweep.name_of(each) in sweep.active for each in args)
    bounded = all(stays_finite(sweep.builder, each) for each in given.values())
    extents = _extents(sweep, args)
    asked = (call, active, tuple(sorted(given)), extents)
    passes = split(sweep, *asked, bounded=bounded)
    sweep.steep = passes.steep
    mark = sweep.builder.mark()
    chosen = _chosen(sweep, passes, given, call)
    if any(each is not None for each in chosen):
        told = split(sweep, *asked, bounded=bounded, chosen=tuple(map(kind_of_chosen, chosen)))
        if _reads_last(told.backward.program, sum(each is not None for each in chosen)):
            passes = told
        else:  # a store that may raise would stay, though nobody reads it
            sweep.builder.undo(mark)
            chosen = []
    for each in given.values() if passes.relies else ():
        rely_on(sweep.builder, each)
    outputs, saved = _forward(sweep, result, call, passes.forward, operands)
    known = {"argument": operands, "output": outputs, "saved": saved}
    needs = [known[kind][place] for kind, place in passes.needs]
    y_bars = [sweep.full(given.get(i, 0.0), outputs[i]) for i in passes.seeds]
    masks = [each for each in chosen if each is not None]
    results = passes.backward.call(sweep.builder, [*needs, *y_bars, *masks])
    adjoints = passes.adjoints(sweep.builder, operands, y_bars, results)
    returned = passes.active or active
    leaves = call.program.leaves()
    pairs = [(a, leaf) for a, leaf, flag in zip(args, leaves, returned, strict=True) if flag]
    found = []
    for (atom, leaf), summands in zip(pairs, adjoints, strict=True):
        name = sweep.name_of(atom)
        if name in sweep.active:
            if not sweep.described.hint(name).text:
                _name_after(sweep.builder, summands, call.program.hints.get(leaf, TEMPORARY))
            found += [(name, each) for each in summands]
    return found


def _chosen(sweep: Any, passes: Passes, given: dict[int, Any], call: Callee) -> list[Symbol | None]:
    """For each adjoint that is a selection which elements it takes, where the call is steep."""
    if not passes.steep:
        return []
    for each in given.values():
        note_steep(sweep.builder, each)
    if call.is_recursive:
        return []
    return [chosen_of(sweep.builder, given.get(i)) for i in passes.seeds]


def _reads_last(program: Program, count: int) -> bool:
    """Whether a program reads one of its last inputs."""
    read = {name for each in program.body for name in each.reads}
    read.update(name for atom in program.outputs() for name in form.reads(atom))
    return not read.isdisjoint(program.leaves()[-count:])


def _name_after(builder: Builder, adjoints: list, parameter: Hint) -> None:
    """Call adjoints after a parameter, as the operand has no name."""
    for each in adjoints:
        builder.named(each, Hint(parameter.derived("_bar").text, "temporary"))


def _forward(
    sweep: Any, result: Symbol, call: Callee, forward: Callee, operands: list
) -> tuple[list, list]:
    """Call `forward` where `call` was called; returns (its outputs, what it saves)."""
    builder = sweep.builder
    count = len(call.program.outputs())
    if forward is call:
        outputs, saved = call.items(builder, result), []
    else:
        facts = [builder.fact(each) for each in operands]
        whole = result if call.several else builder.symbol(forward.infer(facts, {}))
        with sweep.instead_of(result):
            sweep.define(whole.name, forward, operands)
            if not call.several:
                sweep.define(result.name, ITEM, [whole], index=0)
            saved = [
                sweep.take(whole, count + i) for i in range(len(forward.program.outputs()) - count)
            ]
        outputs = call.items(builder, result)
    values_ = [*outputs, *saved]
    for atom, value in zip(forward.program.outputs(), values_, strict=True):
        hint = forward.program.hints.get(getattr(atom, "id", ""), TEMPORARY)
        builder.named(value, Hint(hint.text, "derived"))
    for value in outputs:
        builder.named(value, Hint(f"{call.program.name}_value", "temporary"))
    return outputs, saved


def _extents(sweep: Any, args: Sequence[gast.AST]) -> tuple[Whole, ...]:
    """When the adjoint of an operand may be one of all elements, of which some are read.

    Where the block that calls computes the array, or computes with it, it costs no more.
    """
    return tuple(_extent(sweep, each) for each in args)


def _extent(sweep: Any, operand: gast.AST) -> Whole:
    if may_be_steep(sweep.builder, sweep.output(operand)):
        return Whole.NEVER
    return Whole.ALWAYS if sweep.name_of(operand) in sweep.whole_arrays else Whole.MANY


def split(
    sweep: Any,
    call: Callee,
    active: tuple[bool, ...],
    seeds: tuple[int, ...],
    extents: tuple[Whole, ...] = (),
    *,
    bounded: bool = False,
    chosen: tuple[Any, ...] = (),
) -> Passes:
    """The two passes of a callee for these active operands and seeded outputs.

    `extents` says when the adjoint of an operand is one of all elements; `bounded` that the
    adjoints of the outputs are finite, and `chosen` which of them are selections.
    """
    if isinstance(call, CustomCallee):
        return custom_passes(sweep, call, active, seeds)
    if isinstance(call, ScheduledCallee):
        return scheduled_passes(split, sweep, call, active, seeds)
    if call.is_recursive:
        bounded, extents = False, ()
    extents = extents or (Whole.NEVER,) * len(active)
    repeated = sweep.repeated or id(call) in sweep.looped  # there and here by the same passes
    asked = Asked(active, seeds, repeated, sweep.saves, extents, bounded, chosen)
    known = (each for key, each in call.derived.items() if asked.is_met(key, each))
    return next(known, None) or _way(sweep, call)(sweep, call, asked)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of the two passes of a function.

    Attributes:
        active, seeds: the operands that have an adjoint, and the outputs that are given one.
        repeated: whether the forward pass runs many times before the backward pass does.
        saves: as of the sweep that asks.
        extents: of which operands the adjoint is one of all elements, and when.
        bounded: whether the adjoints that they are given are finite.
        chosen: the kind of what says which elements these take, where they are selections.
    """

    active: tuple[bool, ...]
    seeds: tuple[int, ...]
    repeated: bool
    saves: bool
    extents: tuple[Whole, ...]
    bounded: bool
    chosen: tuple[Any, ...] = ()

    @property
    def told(self) -> dict[str, Any]:
        """What the sweeps are told of the adjoints."""
        return {"extents": self.extents, "bounded": self.bounded, "chosen": self.chosen}

    def is_met(self, other: Any, passes: Any) -> bool:
        """Whether the passes that were made for something else do for this, too."""
        if not isinstance(other, Asked):
            return False
        if replace(other, extents=self.extents, bounded=self.bounded) != self:
            return False
        pairs = zip(passes.extents, self.extents, strict=bool(passes.extents))
        fits = all(least <= extent for least, extent in pairs)
        return fits and (other.bounded is self.bounded or not passes.relies)


def _way(sweep: Any, call: Callee) -> Callable[[Any, Callee, Asked], Passes]:
    """How the backward pass has what it needs of the forward pass."""
    if isinstance(call, CheckpointCallee):
        return _recomputed
    if not call.is_recursive:
        return _divided
    return _nested if sweep.saves else _recomputed


def _nested(outer: Any, call: Callee, asked: Asked) -> Passes:
    """What each call of a function that calls itself saves holds what its own calls save."""

    def plain() -> Callee:
        sweep = outer.inner(Builder(), call.program, [], (), saves=False)
        return split(sweep, call, asked.active, asked.seeds).backward

    return nested_passes(outer, call, asked.active, asked.seeds, asked, plain)


def _divided(outer: Any, call: Callee, asked: Asked) -> Passes:
    """The forward pass saves what the backward pass needs, unless that is much."""
    if len(call.program.body) > LONG and not call.effects:
        return _recomputed(outer, call, asked)
    swept = Swept(outer, call, asked.active, asked.seeds, **asked.told, repeated=asked.repeated)
    outputs = swept.outputs
    at_hand = {each.name for each in outputs if isinstance(each, Symbol)}
    made = halves.halve(swept.joint, swept.results, free=at_hand, repeated=asked.repeated)
    places = _places(swept.leaves, outputs)
    saved = [name for name in made.kept if name not in places]
    if len(saved) > MOST_SAVED and not call.effects:
        return _recomputed(outer, call, asked)
    places |= {name: ("saved", i) for i, name in enumerate(saved)}
    forward = call
    if saved:
        forward = derived_callee(
            swept.joint,
            [*outputs, *(Symbol(swept.builder, name) for name in saved)],
            inputs=swept.program.inputs,
            body=tuple(made.early),
            name=f"{swept.program.name}_forward",
            doc=f"{swept.program.doc}, and what its backward pass needs",
            kept=len(saved),
        )
    given = {*swept.seeds, *swept.chosen}
    own = {name: i for i, name in enumerate(swept.leaves)}  # in the order of the user's
    needed = [name for name in made.read if name not in given]
    needed.sort(key=lambda name: own.get(name, len(own)))
    unnamed = {name: "y" for name, (kind, _) in places.items() if kind == "output"}
    backward = swept.backward(made, needed, unnamed).judged_by(swept.results)
    needs = tuple(places[name] for name in needed)
    scattered, relying = swept.scattered, relies(swept.builder)
    passes = Passes(forward, backward, needs, asked.seeds, scattered=scattered, relies=relying)
    return _noted(call, asked, passes, swept)


def _recomputed(outer: Any, call: Callee, asked: Asked) -> Passes:
    """The backward pass is given the arguments, and computes everything else again."""
    program, active, seeds = call.program, asked.active, asked.seeds
    needs = tuple(("argument", i) for i in range(len(program.leaves())))
    stub = backward_stub(program, active, seeds)
    call.derived[asked] = Passes(call, stub, needs, seeds)  # for the calls of itself
    swept = Swept(outer, call, active, seeds, again=True, whole=call.is_recursive, **asked.told)
    again = without_effects(swept.joint.with_(tried=False))
    refuse_twice(again, call.program.name)
    made = halves.recomputing(again, swept.results)
    backward = stub.define(swept.backward(made, swept.leaves, {}).program)
    backward.judged_by(swept.results)
    scattered, relying = swept.scattered, relies(swept.builder)
    passes = Passes(call, backward, needs, seeds, scattered=scattered, relies=relying)
    return _noted(call, asked, passes, swept)


def _noted(call: Callee, asked: Asked, passes: Passes, swept: Swept) -> Passes:
    """The passes, known to the function from now on."""
    steep = is_steep(swept.builder)
    passes = replace(passes, extents=tuple(swept.extents.values()), steep=steep)
    call.derived[asked] = passes
    return passes


def _places(leaves: list[str], outputs: list) -> dict[str, tuple[str, int]]:
    """Where names are at hand without being saved."""
    places = {name: ("argument", i) for i, name in enumerate(leaves)}
    for i, each in enumerate(outputs):
        if isinstance(each, Symbol):
            places.setdefault(each.name, ("output", i))
    return places
