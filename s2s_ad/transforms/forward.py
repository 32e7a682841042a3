"""Forward mode: each operation is followed by its tangent."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import gast

from s2s_ad.analysis import activity
from s2s_ad.analysis.described import Described
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, filling_of, fresh_name
from s2s_ad.core.callee import Callee, item_of, items_of
from s2s_ad.core.custom import CustomCallee
from s2s_ad.core.magnitudes import hand_in, note_questioned, questioned
from s2s_ad.core.parts import fitted
from s2s_ad.core.program import TEMPORARY, Input, Program
from s2s_ad.core.regions import Region
from s2s_ad.core.rule import CannotBatch, Operation, Rule
from s2s_ad.core.tree import tuple_of
from s2s_ad.transforms.calls import derived_callee, with_inputs
from s2s_ad.transforms.custom import custom_tangents
from s2s_ad.transforms.fixed_basis import in_fixed_basis
from s2s_ad.transforms.forward_regions import forward_region, zero_tangent
from s2s_ad.transforms.refusals import refuse_complex, refuse_parameters, unknown_rank
from s2s_ad.transforms.trusted import positions
from s2s_ad.transforms.without_saved import without_saved


def forward(
    builder: Builder,
    program: Program,
    tangents: Mapping[str, Any],
    wanted: Collection[int] | None = None,
) -> tuple[list, list]:
    """Replay `program` with tangents; returns its outputs and their tangents (None: zero).

    Of the outputs only the `wanted` ones have a tangent; without it all.
    """
    program = without_saved(program)
    asked = [
        atom.id if isinstance(atom, gast.Name) and (wanted is None or slot in wanted) else ""
        for slot, atom in enumerate(program.outputs())
    ]
    names = [name for name in asked if name]
    program = in_fixed_basis(program, names)
    walk = _Walk(builder, program, tangents, names)
    for statement in program.body:
        walk.step(statement)
    results = [builder.view(atom, walk.atoms) for atom in program.outputs()]
    return results, [walk.dots.get(name) for name in asked]


class _Walk:
    """A program that is replayed into a builder with tangents."""

    def __init__(
        self, builder: Builder, program: Program, tangents: Mapping[str, Any], outputs: list[str]
    ):
        self.builder, self.program = builder, program
        known = [*program.leaves(), *(each.name for each in program.captured())]
        self.atoms: dict[str, Any] = {name: builder.import_name(program, name) for name in known}
        self.dots: dict[str, Any] = dict(tangents)
        builder.derived_names.update(e.name for e in tangents.values() if isinstance(e, Symbol))
        self.compounds: dict[str, tuple[list, list]] = {}  # outputs of each, and their tangents
        self.described = Described(program)
        self.active = activity.varied(program, tangents) & activity.useful(program, outputs)
        self.questioned = questioned(program)
        note_questioned(builder, map(self.atoms.get, self.questioned & self.atoms.keys()))

    def step(self, statement: form.Statement) -> None:
        item = item_of(statement)
        if item is not None and item[0] in self.compounds:
            value, dot = (each[item[1]] for each in self.compounds[item[0]])
            self._enter(statement.target, value, dot)
            return
        rule = statement.rule
        with self.builder.at(statement.origin, statement.phase):
            if isinstance(statement, form.Effect) or statement.target not in self.active:
                self.builder.replay(statement, self.atoms, self.program)
                if statement.target in self.questioned:
                    note_questioned(self.builder, [self.atoms[statement.target]])
                return
            if isinstance(rule, Callee | Region):
                self._compound(statement, rule)
                return
            with self.builder.trusting(positions(statement, self.dots)):
                self.builder.replay(statement, self.atoms, self.program)
        with self.builder.at(statement.origin, "tangent"):
            self._operation(statement)

    def _enter(self, name: str, value: Any, dot: Any) -> None:
        """Note the value and the tangent of a name."""
        self.atoms[name] = self.builder.named(value, self.program.hints.get(name, TEMPORARY))
        if dot is not None:
            hint = self.described.hint(name).derived("_dot")
            self.dots[name] = self.builder.named(dot, hint)

    def _dot(self, operand: gast.AST) -> Any:
        return self.dots.get(getattr(operand, "id", ""))

    def _operation(self, statement: form.Op) -> None:
        refuse_parameters(statement, self.dots)
        name, item = statement.target, item_of(statement)
        tangents = [self._dot(each) for each in statement.operands]
        if all(each is None for each in tangents):
            return
        view = self.builder.operation(statement, self.atoms)
        self._refuse_complex(statement, view.rule, [name])
        if not isinstance(view.result, Symbol):
            return  # folded to a number: its tangent is zero
        if item is not None:
            self._enter(name, view.result, self.builder.emit_item(tangents[0], item[1]))
            return
        operation = Operation(view.rule, view.operands, view.params, view.result)
        try:
            tangent = view.rule.forward(operation, tangents)
        except CannotBatch:
            raise unknown_rank(view.rule.name, statement.origin) from None
        if isinstance(tangent, list):
            with self.builder.at(statement.origin, statement.phase):
                results = [self.builder.emit_item(view.result, i) for i in range(len(tangent))]
            pairs = zip(tangent, results, strict=True)
            fit = [x if x is None else fitted(self.builder, x, value) for x, value in pairs]
            self.compounds[name] = results, fit
            return
        if tangent is not None and filling_of(self.builder, tangent) == 0:
            tangent = None  # what it is multiplied with later may be infinite
        if tangent is not None:
            tangent = fitted(self.builder, tangent, view.result)
        self._enter(name, view.result, tangent)

    def _refuse_complex(self, statement: form.Op, rule: Rule, names: list[str]) -> None:
        operands = [getattr(each, "id", "") for each in statement.operands]
        varied = [each for each in operands if each in self.dots]
        refuse_complex(self.program, statement, rule, [*names, *varied])

    # ---- operations with programs inside

    def _compound(self, statement: form.Op, rule: Callee | Region) -> None:
        """Run a region or call a function with the tangents of its operands."""
        name = statement.target
        operands = [self.builder.view(each, self.atoms) for each in statement.operands]
        tangents = [self._dot(each) for each in statement.operands]
        self._refuse_complex(statement, rule, [])
        if isinstance(rule, Region):
            items = items_of(self.program).get(name, {})
            wanted = [slot for slot, item in items.items() if item in self.active]
            self.compounds[name] = forward_region(
                forward, self.builder, rule, operands, tangents, wanted
            )
        elif rule.several:
            self.compounds[name] = self._call(rule, operands, tangents)
        else:
            (value,), (dot,) = self._call(rule, operands, tangents)
            self._enter(name, value, dot)

    def _call(self, call: Callee, operands: list, tangents: list) -> tuple[list, list]:
        given = [each for each in tangents if each is not None]
        made, varies = with_tangents(call, tuple(each is not None for each in tangents))
        results = made.call(self.builder, [*operands, *given])
        rest = iter(results[len(varies) :])
        return results[: len(varies)], [next(rest) if flag else None for flag in varies]


def with_tangents(call: Callee, given: tuple[bool, ...]) -> tuple[Callee, tuple[bool, ...]]:
    """(callee of the leaves and the tangents given, which outputs have a tangent).

    It returns the outputs, then the tangents of those that have one.
    """
    key = ("forward", given)
    if key not in call.derived:
        if isinstance(call, CustomCallee):
            call.derived[key] = custom_tangents(call, given)
        elif call.is_recursive:
            _with_tangents_anew(call, given, key)
        else:
            call.derived[key] = _with_tangents(call, given)
    return call.derived[key]


def _with_tangents_anew(call: Callee, given: tuple[bool, ...], key: Any) -> None:
    """A function that calls itself: all outputs that can have a tangent have one."""
    program = call.program
    leaves = [name for name, flag in zip(program.leaves(), given, strict=True) if flag]
    facts = [program.fact(atom) for atom in program.outputs()]
    varies = tuple(values.is_inexact(fact) is not False for fact in facts)
    tangents = [fact for fact, flag in zip(facts, varies, strict=True) if flag]
    inputs = {fresh_name(): program.facts[name] for name in leaves}
    outputs = {fresh_name(): fact for fact in [*facts, *tangents]}
    nodes = tuple(form.name(name) for name in outputs)
    stub = Callee(
        program.with_(
            inputs=(*program.inputs, *(Input(name, name) for name in inputs)),
            body=(),
            output=tuple_of(nodes),
            facts=program.facts | inputs | outputs,
            captures=(),
        ),
        stub=True,
    )
    call.derived[key] = stub, varies  # for the calls of itself
    made, _ = _with_tangents(call, given, varies)
    stub.define(made.program)


def _with_tangents(
    call: Callee, given: tuple[bool, ...], varies: tuple[bool, ...] = ()
) -> tuple[Callee, tuple[bool, ...]]:
    """`varies` marks the outputs that get a tangent in any case."""
    program, builder = call.program, Builder()
    leaves = [name for name, flag in zip(program.leaves(), given, strict=True) if flag]
    tangents = {}
    for name in leaves:
        hint = program.hints.get(name, TEMPORARY).derived("_dot")
        tangents[name] = builder.symbol(program.facts[name], hint)
        hand_in(builder, [tangents[name].name], bounded=False)
    outputs, dots = forward(builder, program, tangents)
    for index, flag in enumerate(varies):
        if flag and dots[index] is None:
            dots[index] = zero_tangent(builder, outputs[index])
    whole = builder.as_body_of(program)
    names = [*program.leaves(), *(each.name for each in tangents.values())]
    results = [*outputs, *(each for each in dots if each is not None)]
    made = derived_callee(
        with_inputs(whole, names, {}),
        results,
        kept=len(results) if program.kept else 0,
        name=f"{program.name}_jvp",
        doc=f"{program.doc} and its directional derivative",
    )
    return made, tuple(each is not None for each in dots)
