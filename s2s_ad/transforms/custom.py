"""Derivatives and batches of calls whose derivatives the user wrote."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callee import Callee
from s2s_ad.core.custom import CustomCallee
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.diagnostics import DerivativeError, InternalError, NoForwardMode
from s2s_ad.transforms.calls import Passes, derived_callee, with_inputs


class Stand:
    """A builder with the operands and outputs of a call as inputs, in its own terms."""

    def __init__(self, call: CustomCallee, facts: Sequence[Any] = ()):
        self.builder, self.call = Builder(), call
        program = call.program
        facts = facts or [program.facts[name] for name in program.leaves()]
        self.operands = [
            self.builder.adopt(name, fact, program.hints.get(name, TEMPORARY))
            for name, fact in zip(program.leaves(), facts, strict=True)
        ]
        self.outputs = [
            self.builder.symbol(program.fact(atom), self._hint(i))
            for i, atom in enumerate(program.outputs())
        ]

    def _hint(self, position: int) -> Hint:
        atom = self.call.program.outputs()[position]
        hint = self.call.program.hints.get(getattr(atom, "id", ""), TEMPORARY)
        return hint if hint.text else Hint("y", "derived")

    def derived(self, value: Symbol, suffix: str) -> Symbol:
        """An input for the adjoint or tangent of a value."""
        return self.builder.symbol(value.fact, self.builder.hints[value.name].derived(suffix))

    def zero(self, value: Symbol) -> Any:
        return self.builder.call(runtime.broadcast_like, (0.0, value), {})

    def run(self, program: Program, values_: Sequence[Any]) -> list:
        """Write one of the user's programs."""
        atoms = dict(zip(program.leaves(), values_, strict=True))
        for capture in program.captured():
            atoms[capture.name] = self.builder.import_name(program, capture.name)
        for statement in program.body:
            with self.builder.at(statement.origin, statement.phase):
                self.builder.replay(statement, atoms, program)
        return [self.builder.view(atom, atoms) for atom in program.outputs()]

    def program(self, inputs: Sequence[str]) -> Program:
        """What was written, as a program of the inputs that it reads."""
        known = self.builder.facts
        captures = (c for c in _captures(self.call) if c.name is None or c.name in known)
        made = self.builder.as_body_of(self.call.program, captures=tuple(captures))
        return with_inputs(made, inputs, {})


def _captures(call: CustomCallee) -> tuple:
    programs = (call.program, call.reverse_program, call.forward_program)
    found = [each for program in programs if program is not None for each in program.captures]
    return tuple({id(each): each for each in found}.values())


# ---- reverse mode --------------------------------------------------------------------------------


def custom_passes(
    outer: Any, call: CustomCallee, active: tuple[bool, ...], seeds: tuple[int, ...]
) -> Passes:
    """The call itself as forward pass, and the user's code as backward pass."""
    _refuse_around(call, active)
    stand = Stand(call)
    y_bars = {i: stand.derived(stand.outputs[i], "_bar") for i in seeds}
    with stand.builder.at(call.program.origin, "backward"):
        adjoints = _adjoints(outer, stand, y_bars, active)
    inputs = [*stand.operands, *stand.outputs]
    count = len(stand.operands)
    read = _read(stand, adjoints)
    kept = [i for i, each in enumerate(inputs) if each.name in read]
    names = [*(inputs[i].name for i in kept), *(each.name for each in y_bars.values())]
    backward = derived_callee(
        stand.program(names),
        adjoints,
        name=f"{call.program.name}_backward",
        doc=f"backward pass of {call.program.doc}",
    )
    needs = tuple(("argument", i) if i < count else ("output", i - count) for i in kept)
    return Passes(call, backward, needs, seeds)


def _refuse_around(call: CustomCallee, active: tuple[bool, ...]) -> None:
    if any(active[call.own :]):
        raise DerivativeError(
            "S2S305",
            f"a derivative with respect to what {call.program.name} reads from around it",
            origin=call.program.origin,
            why="its own derivative code speaks of its arguments only",
            help="pass the value as an argument",
        )


def _adjoints(
    outer: Any, stand: Stand, y_bars: dict[int, Symbol], active: tuple[bool, ...]
) -> list:
    """The adjoint of each active operand, from the user's code for the mode that he gave."""
    call, wanted = stand.call, [i for i, flag in enumerate(active) if flag]
    if call.reverse_program is not None:
        outputs = enumerate(stand.outputs)
        given = [y_bars[i] if i in y_bars else stand.zero(each) for i, each in outputs]
        results = stand.run(call.reverse_program, [*given, *stand.outputs, *stand.operands])
        return [_fitted(stand, results[i], stand.operands[i]) for i in wanted]
    if call.forward_program is None:
        raise InternalError("S2S901", f"{call.program.name} has no derivative code")
    return _transposed(outer, stand, call.forward_program, y_bars, wanted)


def _fitted(stand: Stand, value: Any, like: Symbol) -> Any:
    """An adjoint or tangent in the shape of what it belongs to; None is zero."""
    if value is None:
        return stand.zero(like)
    given, wanted = values.rank_of(stand.builder.fact(value)), like.ndim
    if given is not None and wanted is not None and given > wanted:
        raise DerivativeError(
            "S2S305",
            f"the derivative code of {stand.call.program.name} gives {given} axes "
            f"for a value of {wanted}",
            origin=stand.call.program.origin,
            help="an adjoint or tangent has the shape of the value that it belongs to",
        )
    return stand.builder.call(runtime.broadcast_like, (value, like), {}) if like.shape else value


def _transposed(
    outer: Any, stand: Stand, program: Program, y_bars: dict[int, Symbol], wanted: list[int]
) -> list:
    """The forward code is linear in the tangents: its adjoint with respect to them."""
    builder, own = stand.builder, stand.call.own
    dots = [stand.derived(each, "_dot") for each in stand.operands[:own]]
    inputs = [*dots, *stand.outputs, *stand.operands]
    renamed = _with_leaves(program, inputs)
    sweep = outer.alone(builder, renamed, [dots[i].name for i in wanted])
    sweep.forward_sweep()
    atoms = renamed.outputs()
    for i, y_bar in y_bars.items():
        sweep.seed(atoms[i], y_bar)
    adjoints = sweep.backward_sweep()
    results = [adjoints[dots[i].name] for i in wanted]
    if {each.name for each in dots} & _read(stand, results):
        raise DerivativeError(
            "S2S305",
            f"the forward code of {stand.call.program.name} is not linear in the tangents",
            origin=program.origin,
            help="give custom_rule reverse code too",
        )
    return results


def _with_leaves(program: Program, leaves: Sequence[Symbol]) -> Program:
    """The program with its leaves called as these."""
    atoms = {old: form.name(new.name) for old, new in zip(program.leaves(), leaves, strict=True)}
    facts = {new.name: new.fact for new in leaves}
    hints = {new.name: new.builder.hints[new.name] for new in leaves}
    inputs = tuple(
        each.__class__(new.name, new.name) for each, new in zip(program.inputs, leaves, strict=True)
    )
    return program.with_(
        inputs=inputs,
        body=tuple(form.substitute(each, atoms) for each in program.body),
        output=tree.tree_map(lambda atom: form.substitute(atom, atoms), program.output),
        facts=program.facts | facts,
        hints=program.hints | hints,
    )


def _read(stand: Stand, results: Sequence[Any]) -> set[str]:
    """The names that the results need, with those on the way."""
    needed = {each.name for each in results if isinstance(each, Symbol)}
    for statement in reversed(stand.builder.body):
        if isinstance(statement, form.Effect) or statement.target in needed:
            needed.update(statement.reads)
    return needed


# ---- forward mode --------------------------------------------------------------------------------


def custom_tangents(call: CustomCallee, given: tuple[bool, ...]) -> tuple[Callee, tuple[bool, ...]]:
    """(callee of the leaves and the tangents given, which outputs have a tangent)."""
    if call.forward_program is None:
        raise NoForwardMode(
            "S2S305",
            f"{call.program.name} has no forward derivative",
            origin=call.program.origin,
            why="custom_rule was given reverse code only",
            help="give custom_rule forward code too, or use reverse mode (grad, vjp, jacrev)",
        )
    stand = Stand(call)
    dots = {i: stand.derived(each, "_dot") for i, each in enumerate(stand.operands) if given[i]}
    _refuse_around(call, given)
    with stand.builder.at(call.program.origin, "tangent"):
        outputs = call.call(stand.builder, stand.operands)
        tangents = [
            dots[i] if i in dots else stand.zero(stand.operands[i]) for i in range(call.own)
        ]
        results = stand.run(call.forward_program, [*tangents, *outputs, *stand.operands])
        results = [_fitted(stand, *pair) for pair in zip(results, outputs, strict=True)]
    names = [*(each.name for each in stand.operands), *(each.name for each in dots.values())]
    made = derived_callee(
        stand.program(names),
        [*outputs, *results],
        name=f"{call.program.name}_jvp",
        doc=f"{call.program.doc} and its directional derivative",
    )
    return made, tuple(True for _ in outputs)


# ---- batches -------------------------------------------------------------------------------------


def custom_batch(
    batch: Callable, call: CustomCallee, facts: Sequence[Any], flags: tuple[bool, ...], plain: Any
) -> tuple[CustomCallee, tuple[bool, ...]]:
    """The call for a batch, its derivative code for the batch with it.

    `batch` writes a program for a batch; `plain` is (the callee of the batch, which outputs are
    batched) of the program alone.
    """
    made, batched = plain
    outputs = [made.program.fact(atom) for atom in made.program.outputs()]
    reverse, forward, own = call.reverse_program, call.forward_program, call.own
    if reverse is not None:
        given = [*outputs, *outputs, *facts], [*batched, *batched, *flags]
        reverse = _batched_code(batch, reverse, *given, flags, summed=True)
    if forward is not None:
        given = [*facts[:own], *outputs, *facts], [*flags[:own], *batched, *flags]
        forward = _batched_code(batch, forward, *given, batched, summed=False)
    return CustomCallee(made.program, reverse, forward, own), batched


def _batched_code(
    batch: Callable,
    program: Program,
    facts: Sequence[Any],
    flags: Sequence[bool],
    spread: Sequence[bool],
    *,
    summed: bool,
) -> Program:
    """The user's derivative code for a batch; `spread` says which results have a batch axis.

    The adjoint of an operand that all samples share is the sum of theirs.
    """
    builder, names = Builder(), program.leaves()
    arguments = {
        name: builder.adopt(name, fact, program.hints.get(name, TEMPORARY))
        for name, fact in zip(names, facts, strict=True)
    }
    moved = {name for name, flag in zip(names, flags, strict=True) if flag}
    results, varies, context = batch(builder, program, arguments, moved)
    outputs: list[Any] = []
    for result, flag, varied in zip(results, spread, varies, strict=False):
        if result is not None and flag:
            outputs.append(context.spread(result, varied))
        elif result is not None and summed:
            outputs.append(np.sum(result, axis=0) if varied else result * context.size)
        else:
            outputs.append(result)
    made = with_inputs(builder.as_body_of(program), names, {})
    return derived_callee(made, outputs).program
