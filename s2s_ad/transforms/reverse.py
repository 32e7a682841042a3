"""Reverse mode: the program, then the adjoint of each of its operations in reverse order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.analysis import activity
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.registry import Operation
from s2s_ad.diagnostics import DerivativeError
from s2s_ad.rules.support import CannotBatch


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
                self.builder.replay(statement, self.atoms, self.program)

    def output(self, atom: gast.AST) -> Any:
        return self.builder.view(atom, self.atoms)

    def seed(self, atom: gast.AST, y_bar: Any) -> None:
        """Give an output its adjoint."""
        if isinstance(atom, gast.Name) and atom.id in self.active:
            with self.builder.at(self.program.origin, "backward"):
                self._add(atom.id, y_bar)

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
        names = [self._name(operand) for operand in statement.value.args]
        active = tuple(name in self.active for name in names)
        view = self.builder.operation(statement, self.atoms)
        if not any(active) or not isinstance(view.result, Symbol):
            return  # a simplification made a number of it
        operation = Operation(view.rule, view.operands, view.params, view.result, active)
        self._refuse_complex(statement)
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
        if isinstance(adjoint, Symbol):
            return self._in_kind_of(adjoint, primal)
        hint = self.program.hints.get(name, TEMPORARY).derived("_bar")
        if primal.shape == () and not values.is_dtype(primal.dtype, float):
            return primal.dtype.type(adjoint)  # a number in the dtype of the input
        full = self.builder.call(runtime.broadcast_like, (float(adjoint), primal), {})
        return self.builder.named(full, hint)

    def _in_kind_of(self, adjoint: Symbol, primal: Symbol) -> Any:
        """A Python number, such as a count, as a number of the input's type."""
        if not isinstance(adjoint.fact, values.Scalar) or adjoint.fact == primal.fact:
            return adjoint
        kind = primal.dtype.type if isinstance(primal.fact, values.Array) else float
        return self.builder.call(kind, (adjoint,), {})

    def _refuse_complex(self, statement: gast.Assign) -> None:
        for name in (form.target(statement), *activity.operand_names(statement)):
            fact = self.program.facts.get(name)
            dtype = values.strong_dtype(fact)
            if name in self.active and dtype is not None and dtype.kind == "c":
                raise DerivativeError(
                    "S2S302",
                    "a derivative with respect to complex numbers",
                    origin=statement.origin,
                    help="differentiate with respect to the real and imaginary parts",
                )


def unknown_rank(name: str, origin: Any) -> DerivativeError:
    return DerivativeError(
        "S2S302",
        f"the derivative of {name} needs the rank of its argument",
        origin=origin,
        help="give example arguments, or --like on the command line",
    )
