"""Reverse mode: the program, then the adjoint of each of its operations in reverse order."""

from __future__ import annotations

import functools
import operator
from collections.abc import Collection, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.analysis import activity
from s2s_ad.analysis.described import Described
from s2s_ad.analysis.elements import Nest
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, filling_of, is_same
from s2s_ad.core.callee import Callee, Compound, compound_of, item_of, reached
from s2s_ad.core.custom import CheckpointCallee, CustomCallee, ScheduledCallee
from s2s_ad.core.magnitudes import note_questioned, questioned
from s2s_ad.core.parts import as_complex, in_kind_of, in_precision, of_one_number, real_part
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.regions import Attempt, Branch, Loop, region_of
from s2s_ad.core.rule import ITEM, CannotBatch, Operation, Rule
from s2s_ad.core.sharing import lazy
from s2s_ad.core.zero_paths import zero_paths
from s2s_ad.diagnostics import DerivativeError
from s2s_ad.transforms import halves
from s2s_ad.transforms.chosen import selected_by
from s2s_ad.transforms.filling import filled
from s2s_ad.transforms.fixed_basis import in_fixed_basis
from s2s_ad.transforms.last_passes import going_on
from s2s_ad.transforms.left_out import off_the_paths
from s2s_ad.transforms.refusals import refuse_complex, refuse_parameters, unknown_rank
from s2s_ad.transforms.reverse_calls import reverse_call
from s2s_ad.transforms.reverse_choices import reverse_choice
from s2s_ad.transforms.reverse_loops import reverse_loop
from s2s_ad.transforms.trusted import positions, trusted
from s2s_ad.transforms.without_saved import without_saved

#: how the adjoint of an operation with programs inside is written
BACKWARD = {
    Attempt: reverse_choice,
    Branch: reverse_choice,
    Callee: reverse_call,
    CheckpointCallee: reverse_call,
    CustomCallee: reverse_call,
    Loop: reverse_loop,
    ScheduledCallee: reverse_call,
}


class Reverse:
    """One reverse sweep over a program that is replayed into a builder.

    The forward sweep computes what the program computes. Where the adjoint of a call, branch or
    loop needs more of its forward pass than that, the backward sweep puts another in its place,
    which hands over more.

    Args:
        builder: where both sweeps are written.
        program: what is differentiated; its leaves are adopted under their own names.
        wanted: the leaves that get an adjoint.
        outputs: the indices of the outputs that do; without it all.
        repeated: whether the forward sweep runs many times before the backward sweep does.
        handed: whether the backward sweep is a function of its own, to which values are handed.
        called: whether it is a function that is called, or a block of one.
        saves: whether functions that call themselves save what their backward passes need.
        at_once: whether both sweeps run right behind each other, and the adjoints of the outputs
            are numbers or leaves, known before.
        looped: the ids of the functions that the outermost program calls in a loop, too.
    """

    def __init__(
        self,
        builder: Builder,
        program: Program,
        wanted: Sequence[str],
        outputs: Collection[int] | None = None,
        *,
        repeated: bool = False,
        handed: bool = False,
        called: bool = False,
        saves: bool = True,
        at_once: bool = False,
        looped: Set[int] | None = None,
    ):
        program = going_on(without_saved(program))
        atoms = program.outputs()
        chosen = atoms if outputs is None else [atoms[place] for place in outputs]
        names = [atom.id for atom in chosen if isinstance(atom, gast.Name)]
        program = in_fixed_basis(program, names)
        self.builder, self.program, self.wanted = builder, program, list(wanted)
        self.called, self.saves = called, saves
        self.repeated, self.handed = repeated, handed
        self.collected = repeated or handed  # values have to be there to be handed on
        self.looped = _called_in_loops(program) if looped is None else looped
        self.at_once = at_once and not self.collected and not program.tried
        self.atoms: dict[str, Any] = {}
        self.adjoints: dict[str, Any] = {}
        self.active = activity.varied(program, wanted) & activity.useful(program, names)
        self.described = Described(program)
        self.chosen: list[Symbol] = []  # which elements the adjoints take that it is given
        self.steep = False  # whether the last backward pass may multiply zeros with infinity
        self.entered = set(program.leaves())  # names of the builder that no statement defines
        self.passing: set[str] = set()  # leaves that are gone when the backward sweep runs
        self.nest: Nest | None = None  # the loops around, where the program is the body of one
        self.arrays: dict[tuple[int, bool], Symbol] = {}  # that the outermost of them writes
        self._first: dict[str, form.Statement] = {}  # a result -> the first that computes it

    def inner(
        self,
        builder: Builder,
        block: Program,
        wanted: Sequence[str],
        outputs: Collection[int],
        *,
        repeated: bool = False,
        handed: bool = False,
        saves: bool = True,
        at_once: bool = False,
    ) -> Reverse:
        """A sweep over a block of this program."""
        return Reverse(
            builder,
            block,
            wanted,
            outputs,
            repeated=self.repeated or repeated,
            handed=self.handed or handed,
            called=self.called or handed,
            saves=self.saves and saves,
            at_once=at_once,
            looped=self.looped,
        )

    def recomputing(
        self, builder: Builder, program: Program, wanted: Sequence[str], outputs: Collection[int]
    ) -> Reverse:
        """A sweep over a function that is called, whose backward pass runs all of it again."""
        given = {"saves": self.saves, "looped": self.looped}
        return Reverse(builder, program, wanted, outputs, called=True, at_once=True, **given)

    def alone(self, builder: Builder, program: Program, wanted: Sequence[str]) -> Reverse:
        """A sweep over a program that is no part of this one."""
        return Reverse(builder, program, wanted)

    @lazy
    def whole_arrays(self) -> set[str]:
        """The names of arrays that the program computes, or computes with, as a whole."""
        found: set[str] = set()
        for statement in self.program.body:
            if isinstance(statement, form.Effect) or region_of(statement) is not None:
                continue
            rule = statement.rule
            if rule.elementwise:
                found.update(activity.operand_names(statement))
            made = item_of(statement) is None and not isinstance(rule, Compound)
            if made and not (rule.updates or rule.marker or rule.view):
                found.add(statement.target)
        return found

    @lazy
    def at_hand(self) -> set[str]:
        """The names whose values are the same, and there, when the backward sweep runs."""
        found = {*self.program.leaves()} - self.passing
        found |= {each.name for each in self.program.captured()}
        found.update(e.target for e in self.program.body if e.target and found.issuperset(e.reads))
        return found

    # ---- the forward sweep

    def forward_sweep(self) -> None:
        """Replay the program."""
        for name in self.program.leaves():
            self.atoms[name] = self.builder.import_name(self.program, name)
        for capture in self.program.captured():
            self.atoms[capture.name] = self.builder.import_name(self.program, capture.name)
        for statement in self.program.body:
            trusts: list[int] = []
            if isinstance(statement, form.Op) and statement.target in self.active:
                statement, trusts = self._trusted(statement), positions(statement, self.active)
            with self.builder.at(statement.origin, "forward"), self.builder.trusting(trusts):
                self.builder.replay(statement, self.atoms, self.program)
            result = None if isinstance(statement, form.Effect) else self.atoms[statement.target]
            if isinstance(result, Symbol) and statement.target in self.active:
                self._first.setdefault(result.name, statement)
        note_questioned(self.builder, map(self.atoms.get, questioned(self.program)))

    def _trusted(self, statement: form.Op) -> form.Op:
        region = region_of(statement)
        if region is None:
            return statement
        flags = [getattr(each, "id", None) in self.active for each in statement.operands]
        return statement.with_rule(trusted(region, tuple(flags)))

    def output(self, atom: gast.AST) -> Any:
        return self.builder.view(atom, self.atoms)

    @contextmanager
    def instead_of(self, result: Symbol, phase: str = "forward") -> Iterator[None]:
        """What is emitted inside stands where the sweep of that phase computed `result`."""
        body = self.builder.body
        index = next(index for index, each in enumerate(body) if each.target == result.name)
        after = body[index + 1 :]
        origin = body[index].origin
        del body[index:]
        with self.builder.at(origin, phase):
            yield
        body += after

    def define(self, name: str, rule: Rule, operands: Sequence[Any], **params: Any) -> None:
        """Compute a name that is read already by an operation; used within `instead_of`."""
        halves.define(self.builder, name, rule, operands, **params)

    def take(self, result: Symbol, index: int, hint: Hint = TEMPORARY) -> Symbol:
        """One more output of a result; used within `instead_of`."""
        item = self.builder.symbol(ITEM.infer([result.fact], {"index": index}), hint)
        self.define(item.name, ITEM, [result], index=index)
        return item

    def renumber(self, result: Symbol, old: int, new: int) -> None:
        """Let what takes one output of a result take another, which it has become.

        To the builder the output stays known by its old number.
        """
        body = self.builder.body
        for index, each in enumerate(body):
            if item_of(each) == (result.name, old):
                params = {"index": form.constant(new)}
                body[index] = each.with_call(ITEM, each.operands, params)

    # ---- the backward sweep

    def seed(self, atom: gast.AST, y_bar: Any) -> None:
        """Give an output its adjoint."""
        if isinstance(atom, gast.Name) and atom.id in self.active:
            with self.builder.at(self.program.origin, "backward"):
                self.add(atom.id, y_bar)

    def seed_with_input(self, atom: gast.AST, chosen: Any = None) -> Symbol:
        """Give an output an adjoint that will be an input of the program that is written.

        Where it is a selection, what says which elements that takes is another input, of dtype
        `chosen`, or that fact: what it leaves out has no part in what is computed from it.
        """
        y = self.output(atom)
        hint = TEMPORARY if not isinstance(y, Symbol) else self.builder.hints[y.name]
        hint = hint.derived("_bar")
        hint = hint if hint.text else Hint("y_bar", "derived")
        y_bar = self.builder.symbol(self.builder.fact(y), hint)
        if chosen is None:
            self.seed(atom, y_bar)
            return y_bar
        fact = values.Array(chosen, y_bar.shape) if isinstance(chosen, np.dtype) else chosen
        self.chosen.append(self.builder.symbol(fact, hint.derived("_chosen")))
        with self.builder.at(self.program.origin, "backward"):
            self.seed(atom, selected_by(self.builder, self.chosen[-1], y_bar))
        return y_bar

    def backward_sweep(self) -> dict[str, Any]:
        """The adjoints of the wanted leaves, in their dtype and shape."""
        self.walk_back()
        with self.builder.at(self.program.origin, "backward"):
            return {name: self._finished(name) for name in self.wanted}

    def walk_back(self) -> None:
        """Bring the adjoints of the outputs to the leaves; afterwards `adjoints` holds theirs."""
        for statement in reversed(self.program.body):
            if isinstance(statement, form.Effect) or statement.target not in self.adjoints:
                continue
            with self.builder.at(statement.origin, "backward"):
                self._step(statement)

    def _step(self, statement: form.Op) -> None:
        item, compound = item_of(statement), compound_of(statement)
        if item is not None:
            name, index = item
            adjoint = self.named(statement.target)
            if not self._is_zero(adjoint):  # it may have been cancelled
                self._add_part(name, index, adjoint)
        elif compound is not None and isinstance(compound, tuple(BACKWARD)):
            self._compound(statement, compound)
        else:
            self._operation(statement)

    def _compound(self, statement: form.Op, compound: Compound) -> None:
        name = statement.target
        given = self.adjoints.pop(name)
        if not isinstance(given, dict):
            hint = self.described.hint(name).derived("_bar")
            given = {0: self.builder.named(given, hint)}
        if all(map(self._is_zero, given.values())):
            return  # a simplification made zeros of them
        operands = [each for each in activity.operand_names(statement) if each in self.active]
        refuse_complex(self.program, statement, compound, operands)
        first = self._first[self.atoms[name].name].target
        if first != name:  # computed once for both
            for index, adjoint in given.items():
                if compound.several:
                    self._add_part(first, index, adjoint)
                else:
                    self.add(first, adjoint)
            return
        backward = next(each for kind, each in BACKWARD.items() if isinstance(compound, kind))
        where = zero_paths(self.builder, given.values())
        write = functools.partial(backward, self, statement, compound, given)
        pairs = write() if where is None else off_the_paths(self, where, write)
        for name, adjoint in pairs:
            hint = self.described.hint(name).derived("_bar")
            self.add(name, self.builder.named(adjoint, hint))

    def _operation(self, statement: form.Op) -> None:
        refuse_parameters(statement, self.active)
        names = [self.name_of(operand) for operand in statement.operands]
        active = tuple(name in self.active for name in names)
        view = self.builder.operation(statement, self.atoms)
        if not any(active) or not isinstance(view.result, Symbol):
            return  # a simplification made a number of it
        first = self._first.get(view.result.name, statement)
        if first is not statement and self._are_alike(first, statement):
            self.add(first.target, self.adjoints.pop(statement.target))
            return
        operation = Operation(view.rule, view.operands, view.params, view.result, active)
        varied = (statement.target, *activity.operand_names(statement))
        varied = [name for name in varied if name in self.active]
        refuse_complex(self.program, statement, view.rule, varied)
        y_bar = self.named(statement.target)
        if self._is_zero(y_bar):
            return
        if isinstance(view.result.fact, values.List) and not view.rule.of_one_number:
            y_bar = self.full(y_bar, view.result)
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
        pairs = zip(names, contributions, strict=True)
        given = [(n, each) for n, each in pairs if each is not None and n in self.active]
        for name, contribution in self._of_one_operand(given):
            self.add(name, contribution)

    def _of_one_operand(self, given: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Contributions as they are, or the sum of two to what stands on both sides.

        That of x - x is 0, however steep what is computed of it.
        """
        if len(given) != 2:
            return given
        (name, left), (other, right) = given
        if not is_same(self.atoms[name], self.atoms[other]):
            return given
        if is_same(left, right):
            return [(name, 2 * left)]
        return [(name, 0.0)] if self._cancel(left, right) else given

    def _is_zero(self, adjoint: Any) -> bool:
        filling = filling_of(self.builder, adjoint)
        return type(filling) is float and filling == 0.0

    def _are_alike(self, one: form.Statement, other: form.Statement) -> bool:
        """Whether two statements with one result apply one function to the same values."""
        if one.function is not other.function:
            return False
        operands = [[self.output(each) for each in s.operands] for s in (one, other)]
        return all(is_same(a, b) for a, b in zip(*operands, strict=True))

    # ---- adjoints

    def name_of(self, operand: gast.AST) -> str | None:
        return operand.id if isinstance(operand, gast.Name) else None

    def add(self, name: str, contribution: Any) -> None:
        """Add to the adjoint of a name."""
        if values.is_real(self.program.facts[name]):
            contribution = real_part(self.builder, contribution)
        if name in self.adjoints:
            self._name_elements(name, self.adjoints[name])
            both = self._of_one_kind(self.atoms[name], self.adjoints[name], contribution)
            contribution = self.sum(*both)
        self.adjoints[name] = contribution

    def _name_elements(self, name: str, adjoint: Any) -> None:
        """Let what elements of an adjoint are added to have its name before it is complete."""
        if self.builder.operands_of(adjoint, runtime.index_add):
            hint = self.described.hint(name).derived("_bar")
            if hint.kind == "derived":
                self.builder.named(adjoint, hint)

    def _add_part(self, name: str, index: int, contribution: Any) -> None:
        """Add to the adjoint of one output of a result."""
        parts = self.adjoints.setdefault(name, {})
        if index in parts:
            output = self.builder.emit_item(self.atoms[name], index)
            contribution = self.sum(*self._of_one_kind(output, parts[index], contribution))
        parts[index] = contribution

    def _of_one_kind(self, primal: Any, *adjoints: Any) -> list[Any]:
        """Adjoints of a value as lists, where one of them is."""
        if any(isinstance(self.builder.fact(each), values.List) for each in adjoints):
            return [of_one_number(self.builder, each, primal) for each in adjoints]
        return [*adjoints]

    def sum(self, a: Any, b: Any) -> Any:
        if any(isinstance(self.builder.fact(each), values.List) for each in (a, b)):
            return self.builder.call(runtime.accumulate, (a, b), {})
        return 0.0 if self._cancel(a, b) else a + b

    def _cancel(self, a: Any, b: Any) -> bool:
        """Whether the one is the negative of the other, element by element."""
        (number, one), (other_number, other) = self._multiple(a), self._multiple(b)
        return number == -other_number and is_same(one, other)

    def _multiple(self, value: Any) -> tuple[float, Any]:
        """-2.0 and x of -2.0 * x, 1.0 and x of x, whatever axes of length one it has besides."""
        value, number = self._each(value), 1.0
        while isinstance(value, Symbol):
            rule, operands, _ = self.builder.definition(value)
            if rule is None:
                break
            if rule.function is operator.mul and type(operands[0]) in (int, float):
                number, value = number * operands[0], operands[1]
            elif rule.function is operator.neg:
                number, value = -number, operands[0]
            elif rule.function is np.squeeze or rule.inserts_axes:
                value = operands[0]
            else:
                break
            value = self._each(value)
        return number, value

    def _each(self, value: Any) -> Any:
        """The number that all elements of an adjoint are, or the adjoint."""
        filled = self.builder.operands_of(value, runtime.broadcast_like)
        one = bool(filled) and values.shape_of(self.builder.fact(filled[0])) == ()
        return filled[0] if one else value

    def named(self, name: str) -> Any:
        """The adjoint of a name, now that it is complete."""
        adjoint = self.adjoints.pop(name)
        if values.is_complex(self.program.facts[name]) and self._has_axes(adjoint):
            adjoint = as_complex(adjoint, self.atoms[name])
        adjoint = in_precision(adjoint, self.program.facts[name])
        if name not in self.wanted or self._has_numbers(name):
            adjoint = filled(self.builder, adjoint)
        if not isinstance(adjoint, Symbol):
            return adjoint
        hint = self.described.hint(name).derived("_bar")
        if hint.kind == "temporary" and adjoint.name in self._primals:
            return adjoint
        return self.builder.named(adjoint, hint)

    def _has_numbers(self, leaf: str) -> bool:
        """Whether the lengths of a leaf are numbers: a function is one, known lengths or not."""
        shape = values.shape_of(self.program.facts[leaf]) or ()
        return not self.called or all(type(dim) is int for dim in shape)

    @lazy
    def _primals(self) -> set[str]:
        """What the forward sweep computes, which an adjoint may happen to be."""
        return {each.name for each in self.atoms.values() if isinstance(each, Symbol)}

    def _has_axes(self, adjoint: Any) -> bool:
        return isinstance(adjoint, Symbol) and adjoint.shape != ()

    def _finished(self, name: str) -> Any:
        """An adjoint as it is handed out: zeros where nothing depends on the input."""
        primal = self.atoms[name]
        adjoint = self.full(self.named(name) if name in self.adjoints else 0.0, primal)
        shape = values.shape_of(self.builder.fact(primal))
        if shape and isinstance(adjoint, Symbol) and isinstance(adjoint.fact, values.Array):
            self.builder.facts[adjoint.name] = replace(adjoint.fact, shape=shape)
        return self.builder.named(adjoint, self.described.hint(name).derived("_bar"))

    def settled(self, leaf: str, adjoint: Any) -> Any:
        """The adjoint of a leaf as a block hands it over: its shape is that of the leaf."""
        is_list = isinstance(self.builder.facts[leaf], values.List)
        if is_list or not isinstance(adjoint, Symbol):
            adjoint = self.full(adjoint, self.atoms[leaf])
        if isinstance(adjoint, Symbol):
            facts = self.builder.facts
            facts[adjoint.name] = halves.adjoint_fact(facts[leaf], adjoint.fact)
            hint = self.program.hints.get(leaf, TEMPORARY).derived("_bar")
            self.builder.named(adjoint, hint)
        return adjoint

    def full(self, adjoint: Any, primal: Any) -> Any:
        """An adjoint with shape and type of its own: a number becomes an array of it."""
        fact = self.builder.fact(primal)
        if isinstance(fact, values.List):
            return of_one_number(self.builder, adjoint, primal)
        if isinstance(adjoint, Symbol) or values.shape_of(fact) == ():
            return in_kind_of(self.builder, adjoint, fact)
        if adjoint == 0 and values.may_be_absent(fact):
            return self.builder.call(runtime.zeros_like, (primal,), {})
        number = adjoint if isinstance(adjoint, complex) else float(adjoint)
        return self.builder.call(runtime.broadcast_like, (number, primal), {})


def _called_in_loops(program: Program) -> set[int]:
    """The ids of the functions that a program comes to in a loop."""
    loops = [each for each in reached((program,)) if isinstance(each, Loop)]
    inside = reached([block for loop in loops for block in loop.blocks])
    return {id(each) for each in inside if isinstance(each, Callee)}
