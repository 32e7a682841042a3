"""Reverse mode: the program, then the adjoint of each of its operations in reverse order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.analysis import activity
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callee import Callee, callee_of, item_of, items_of
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.registry import CannotBatch, Operation
from s2s_ad.diagnostics import DerivativeError
from s2s_ad.transforms.calls import (
    MOST_SAVED,
    Passes,
    derived_callee,
    divide,
    joint_sweep,
    recomputing,
    with_inputs,
)
from s2s_ad.transforms.refusals import refuse_complex, unknown_rank


class Reverse:
    """One reverse sweep over a program that is replayed into a builder.

    Args:
        builder: where both sweeps are written.
        program: what is differentiated; its leaves are adopted under their own names.
        wanted: the leaves that get an adjoint.
    """

    def __init__(self, builder: Builder, program: Program, wanted: Sequence[str]):
        self.builder, self.program, self.wanted = builder, program, list(wanted)
        self.atoms: dict[str, Any] = {}
        self.adjoints: dict[str, Any] = {}
        self.calls: dict[str, tuple[Passes, list, list]] = {}
        outputs = [a.id for a in program.outputs() if isinstance(a, gast.Name)]
        self.active = activity.varied(program, wanted) & activity.useful(program, outputs)

    def forward_sweep(self) -> Any:
        """Replay the program; returns its output as a Tree of values."""
        for name in self.program.leaves():
            self.atoms[name] = self.builder.import_name(self.program, name)
        for capture in self.program.captured():
            self.atoms[capture.name] = self.builder.import_name(self.program, capture.name)
        for statement in self.program.body:
            with self.builder.at(statement.origin, "forward"):
                call = callee_of(statement)
                if call is not None and form.target(statement) in self.active:
                    self._forward_pass(statement, call)
                else:
                    self.builder.replay(statement, self.atoms, self.program)

    def output(self, atom: gast.AST) -> Any:
        return self.builder.view(atom, self.atoms)

    def seed(self, atom: gast.AST, y_bar: Any) -> None:
        """Give an output its adjoint."""
        if isinstance(atom, gast.Name) and atom.id in self.active:
            with self.builder.at(self.program.origin, "backward"):
                self._add(atom.id, y_bar)

    def seed_with_input(self, atom: gast.AST) -> Symbol:
        """Give an output an adjoint that will be an input of the program that is written."""
        y = self.output(atom)
        hint = self.builder.hints[y.name].derived("_bar")
        y_bar = self.builder.symbol(y.fact, hint if hint.text else Hint("y_bar", "derived"))
        self.seed(atom, y_bar)
        return y_bar

    def backward_sweep(self) -> dict[str, Any]:
        """The adjoints of the wanted leaves, in their dtype and shape."""
        for statement in reversed(self.program.body):
            if form.is_effect(statement) or form.target(statement) not in self.adjoints:
                continue
            with self.builder.at(statement.origin, "backward"):
                self._step(statement)
        with self.builder.at(self.program.origin, "backward"):
            return {name: self._finished(name) for name in self.wanted}

    def _step(self, statement: gast.Assign) -> None:
        item = item_of(statement)
        if item is not None:
            name, index = item
            parts = self.adjoints.setdefault(name, {})
            parts[index] = self._named(form.target(statement))
        elif form.target(statement) in self.calls:
            self._backward_pass(statement)
        else:
            self._operation(statement)

    def _operation(self, statement: gast.Assign) -> None:
        names = [self._name(operand) for operand in statement.value.args]
        active = tuple(name in self.active for name in names)
        view = self.builder.operation(statement, self.atoms)
        if not any(active) or not isinstance(view.result, Symbol):
            return  # a simplification made a number of it
        operation = Operation(view.rule, view.operands, view.params, view.result, active)
        varied = (form.target(statement), *activity.operand_names(statement))
        refuse_complex(self.program, statement, [name for name in varied if name in self.active])
        y_bar = self._named(form.target(statement))
        try:
            contributions = view.rule.reverse(operation, y_bar)
        except CannotBatch:
            raise unknown_rank(view.rule.name, statement.origin) from None
        except NotImplementedError:
            raise DerivativeError(
                "S2S302",
                f"{view.rule.name} cannot be differentiated here",
                origin=statement.origin,
                help="give example arguments, or write it with other NumPy functions",
            ) from None
        for name, contribution in zip(names, contributions, strict=True):
            if contribution is not None and name in self.active:
                self._add(name, contribution)

    # ---- calls that keep their name

    def _forward_pass(self, statement: gast.Assign, call: Callee) -> None:
        """Call the forward pass; what it saves waits for the backward pass."""
        name = form.target(statement)
        operands = [self.builder.view(each, self.atoms) for each in statement.value.args]
        active = tuple(self._name(each) in self.active for each in statement.value.args)
        seeds: tuple[int, ...] = (0,)
        if call.several:
            used = items_of(self.program).get(name, {})
            seeds = tuple(sorted(i for i, item in used.items() if item in self.active))
        passes = split(call, active, seeds)
        result = self.builder.emit(passes.forward, operands, {})
        values_ = passes.forward.items(self.builder, result)
        self._name_outputs(passes.forward, values_)
        count = len(call.program.outputs())
        self.atoms[name] = result if call.several else values_[0]
        hint = self.program.hints.get(name, TEMPORARY)
        self.builder.named(self.atoms[name], hint)
        known = {"argument": operands, "output": values_[:count], "saved": values_[count:]}
        needs = [known[kind][place] for kind, place in passes.needs]
        self.calls[name] = (passes, needs, values_[:count])

    def _name_outputs(self, call: Callee, outputs: list) -> None:
        """What the callee hands over is called as it is called there."""
        for atom, value in zip(call.program.outputs(), outputs, strict=True):
            hint = call.program.hints.get(getattr(atom, "id", None), TEMPORARY)
            self.builder.named(value, Hint(hint.text, "derived"))

    def _backward_pass(self, statement: gast.Assign) -> None:
        name = form.target(statement)
        passes, needs, outputs = self.calls[name]
        given = self.adjoints.pop(name)
        if not isinstance(given, dict):
            hint = self.program.hints.get(name, TEMPORARY).derived("_bar")
            given = {0: self.builder.named(given, hint)}
        y_bars = [
            self._in_kind_of(given[i], outputs[i])
            if i in given
            else self.builder.call(runtime.broadcast_like, (0.0, outputs[i]), {})
            for i in passes.seeds
        ]
        adjoints = passes.backward.call(self.builder, [*needs, *y_bars])
        operands = [self._name(each) for each in statement.value.args]
        active = [each for each in operands if each in self.active]
        for operand, adjoint in zip(active, adjoints, strict=True):
            hint = self.program.hints.get(operand, TEMPORARY).derived("_bar")
            self._add(operand, self.builder.named(adjoint, hint))

    def _name(self, operand: gast.AST) -> str | None:
        return operand.id if isinstance(operand, gast.Name) else None

    def _add(self, name: str, contribution: Any) -> None:
        if name in self.adjoints:
            contribution = self.adjoints[name] + contribution
        self.adjoints[name] = contribution

    def _named(self, name: str) -> Any:
        """The adjoint of a name, now that it is complete."""
        hint = self.program.hints.get(name, TEMPORARY).derived("_bar")
        return self.builder.named(self.adjoints.pop(name), hint)

    def _finished(self, name: str) -> Any:
        """An adjoint as it is handed out: zeros where nothing depends on the input."""
        primal = self.atoms[name]
        adjoint = self._named(name) if name in self.adjoints else 0.0
        if isinstance(adjoint, Symbol) or primal.shape == ():
            return self._in_kind_of(adjoint, primal)
        hint = self.program.hints.get(name, TEMPORARY).derived("_bar")
        full = self.builder.call(runtime.broadcast_like, (float(adjoint), primal), {})
        return self.builder.named(full, hint)

    def _in_kind_of(self, adjoint: Any, primal: Any) -> Any:
        """A Python number, such as 1.0 or a count, as a number of the primal's type."""
        fact = self.builder.fact(primal)
        if not isinstance(adjoint, Symbol):
            typed = isinstance(fact, values.Array) and fact.shape == () and fact.dtype is not None
            if typed and not values.is_dtype(fact.dtype, float):
                return fact.dtype.type(adjoint)
            return float(adjoint)
        if not isinstance(adjoint.fact, values.Scalar) or adjoint.fact == fact:
            return adjoint
        kind = fact.dtype.type if isinstance(fact, values.Array) else float
        return self.builder.call(kind, (adjoint,), {})


def split(call: Callee, active: tuple[bool, ...], seeds: tuple[int, ...]) -> Passes:
    """The two passes of a callee for these active operands and seeded outputs."""
    key = ("reverse", active, seeds)
    if key not in call.derived:
        call.derived[key] = _split(call, active, seeds)
    return call.derived[key]


def _split(call: Callee, active: tuple[bool, ...], seeds: tuple[int, ...]) -> Passes:
    program, builder = call.program, Builder()
    leaves = program.leaves()
    wanted = [name for name, flag in zip(leaves, active, strict=True) if flag]
    sweep = Reverse(builder, program, wanted)
    sweep.forward_sweep()
    atoms = program.outputs()
    seed_names = [sweep.seed_with_input(atoms[i]).name for i in seeds]
    adjoints = sweep.backward_sweep()
    results = [adjoints[name] for name in wanted]
    outputs = [sweep.output(atom) for atom in atoms]
    joint = joint_sweep(builder, program, seed_names, [*outputs, *results])
    division = divide(joint, seed_names, results)
    places = _places(leaves, outputs, division.kept)
    saved = [name for name in division.kept if name not in places]
    if len(saved) > MOST_SAVED and not call.effects:
        division, saved = recomputing(joint, seed_names, results), []
        places = _places(leaves, [], division.kept)
    places |= {name: ("saved", i) for i, name in enumerate(saved)}
    forward = call
    if saved:
        forward = derived_callee(
            joint,
            [*outputs, *(Symbol(builder, name) for name in saved)],
            inputs=program.inputs,
            body=tuple(division.early),
            name=f"{program.name}_forward",
            doc=f"{program.doc}, and what its backward pass needs",
        )
    unnamed = {name: "y" for name, (kind, _) in places.items() if kind == "output"}
    backward = derived_callee(
        with_inputs(joint, [*division.kept, *seed_names], unnamed),
        results,
        body=tuple(division.late),
        name=f"{program.name}_backward",
        doc=f"backward pass of {program.doc}",
    )
    needs = tuple(places[name] for name in division.kept)
    return Passes(forward, backward, needs, seeds)


def _places(leaves: list[str], outputs: list, kept: list[str]) -> dict[str, tuple[str, int]]:
    """Where the kept names are at hand without being saved."""
    places = {name: ("argument", i) for i, name in enumerate(leaves)}
    for i, each in enumerate(outputs):
        if isinstance(each, Symbol):
            places.setdefault(each.name, ("output", i))
    return {name: place for name, place in places.items() if name in kept}
