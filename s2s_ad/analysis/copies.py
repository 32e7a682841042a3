"""Copies put where memory is handed on: which of several places is the cheapest, and the text."""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.analysis.cells import Edge
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import fresh_name
from s2s_ad.core.program import TEMPORARY, CopyReason, Hint, Program
from s2s_ad.core.regions import Loop, Path, region_of

PASSES = 100.0  # how often a loop's body is taken to run
SIDE = 0.6  # how often a side of a branch is: where both sides need a copy, one after them is less
PREFERENCE = {"end": 1.05, "input": 1.1}  # where several places are as cheap
OF_A_LIST = 0.3  # a copy of a list copies no arrays


class Costs:
    """What a copy costs, in copies of an array that run once."""

    def __init__(self, program: Program):
        self.program = program
        self.runs: dict[Path, float] = {(): 1.0}
        self.blocks: dict[Path, Program] = {(): program}
        self._enter(program, ())

    def _enter(self, program: Program, path: Path) -> None:
        for position, statement in enumerate(program.body):
            region = region_of(statement)
            for number, block in enumerate(() if region is None else region.blocks):
                inner = (*path, (position, number))
                factor = PASSES if isinstance(region, Loop) else SIDE
                self.runs[inner], self.blocks[inner] = self.runs[path] * factor, block
                self._enter(block, inner)

    def of(self, edge: Edge) -> float:
        fact = copied_fact(self.blocks[edge.path], edge)
        size = OF_A_LIST if isinstance(fact, values.List) else edge.size
        return self.runs[edge.path] * size * PREFERENCE.get(edge.kind, 1.0)


def copied_fact(program: Program, edge: Edge) -> Any:
    """The abstract value of what a copy at this place copies."""
    if edge.kind == "input":
        return program.facts[program.leaves()[edge.slot]]
    if edge.kind == "end":
        return program.fact(program.outputs()[edge.slot])
    statement = program.body[edge.position]
    if edge.kind == "view":
        return program.facts[statement.target]
    return program.fact(statement.operands[operand_of(statement, edge)])


def operand_of(statement: form.Statement, edge: Edge) -> int:
    """The operand that is copied."""
    region = region_of(statement)
    return edge.slot + (3 if isinstance(region, Loop) and region.is_for else 0)


def with_copies(
    program: Program, cuts: Collection[Edge], reasons: Mapping[Edge, CopyReason]
) -> Program:
    """The program with the copies written; their names are known in the whole program.

    The hint of each has the reason for it.
    """
    grouped: dict[Path, list[Edge]] = {}
    for edge in sorted(cuts, key=lambda each: (each.position, each.slot, each.kind)):
        grouped.setdefault(edge.path, []).append(edge)
    writer = _Writer(grouped, reasons)
    made = writer.block(program, ())
    return made.with_(facts=made.facts | writer.facts, hints=made.hints | writer.hints)


class _Writer:
    """Writes the copies of each block."""

    def __init__(self, cuts: dict[Path, list[Edge]], reasons: Mapping[Edge, CopyReason]):
        self.cuts, self.reasons = cuts, reasons
        self.facts: dict[str, Any] = {}  # of the names of the copies
        self.hints: dict[str, Hint] = {}

    def block(self, program: Program, path: Path) -> Program:
        if not any(each[: len(path)] == path for each in self.cuts):
            return program
        edges = {(each.kind, each.position, each.slot): each for each in self.cuts.get(path, ())}
        made = _Copying(program, self.reasons)
        for slot, leaf in enumerate(program.leaves()):
            edge = edges.get(("input", -1, slot))
            if edge is not None:
                made.atoms[leaf] = made.copy(form.name(leaf), program.origin, "", edge)
        for position, statement in enumerate(program.body):
            mine = [each for each in edges.values() if each.position == position]
            made.statement(self._inside(statement, path, position), mine)
        output = _with_slots(program, made, edges, bool(path))
        self.facts |= {name: made.facts[name] for name in made.facts.keys() - program.facts.keys()}
        known = program.hints
        self.hints |= {n: hint for n, hint in made.hints.items() if known.get(n) is not hint}
        return program.with_(
            body=tuple(made.body), output=output, facts=made.facts, hints=made.hints
        )

    def _inside(self, statement: form.Statement, path: Path, position: int) -> form.Statement:
        region = region_of(statement)
        if region is None:
            return statement
        blocks = [
            self.block(block, (*path, (position, number)))
            for number, block in enumerate(region.blocks)
        ]
        return statement.with_call(region.with_blocks(blocks), statement.operands)


def _with_slots(program: Program, made: _Copying, edges: dict, inner: bool) -> Any:
    """The outputs, copied where the edges say so; what a function returns has no name yet."""
    origin, phase = program.origin, "backward"
    if inner and program.body:
        origin, phase = program.body[-1].origin, program.body[-1].phase
    slots = iter(range(len(program.outputs())))

    counts = liveness.counts(program.body, program.outputs())

    def handed(atom: Any) -> gast.AST:
        atom = form.substitute(atom, made.atoms)
        edge = edges.get(("end", len(program.body), next(slots)))
        if edge is None:
            return atom
        if inner or counts[atom.id] > 1 or atom.id in program.leaves():
            return made.copy(atom, origin, phase, edge, None if inner else TEMPORARY)
        copied = made.copy(atom, origin, phase, edge)  # it is the value that has the name
        made.hints[atom.id] = TEMPORARY
        return copied

    return tree.tree_map(handed, program.output)


class _Copying:
    """The body of a block as it is written again."""

    def __init__(self, program: Program, reasons: Mapping[Edge, CopyReason]):
        self.reasons = reasons
        self.body: list[form.Statement] = []
        self.facts, self.hints = dict(program.facts), dict(program.hints)
        self.atoms: dict[str, gast.AST] = {}  # what stands for a name from here on

    def copy(
        self, atom: gast.Name, origin: Any, phase: str, edge: Edge, hint: Hint | None = None
    ) -> gast.Name:
        """A copy of an array or list, under the same hint where none is given."""
        fact, name = self.facts[atom.id], fresh_name()
        self.facts[name] = fact
        hint = hint or self.hints.get(atom.id, TEMPORARY)
        self.hints[name] = replace(hint, copied=self.reasons.get(edge))
        self.body.append(form.op(name, *copy_call(atom, fact), origin, phase))
        return form.name(name)

    def statement(self, statement: form.Statement, edges: Sequence[Edge]) -> None:
        if self.atoms:
            statement = form.substitute(statement, self.atoms)
        if not edges:
            self.body.append(statement)
            return
        operands: list[Any] = list(statement.operands)
        for edge in edges:
            if edge.kind != "view":
                place, hint = operand_of(statement, edge), _hint(statement, edge)
                where = statement.origin, statement.phase
                operands[place] = self.copy(operands[place], *where, edge, hint)
        of_view = next((edge for edge in edges if edge.kind == "view"), None)
        if of_view is None:
            self.body.append(statement.with_operands(operands))
            return
        view, fact = fresh_name(), self.facts[statement.target]
        self.facts[view], self.hints[view] = fact, TEMPORARY
        hint = self.hints.get(statement.target, TEMPORARY)
        self.hints[statement.target] = replace(hint, copied=self.reasons.get(of_view))
        self.body.append(statement.beside(view, statement.rule, operands, statement.parameters))
        self.body.append(statement.with_call(*copy_call(form.name(view), fact)))


def _hint(statement: form.Statement, edge: Edge) -> Hint | None:
    """What a copy is called: what a loop calls the value, nothing where it goes into a list."""
    if edge.kind == "item":
        return TEMPORARY
    loop = region_of(statement)
    if edge.kind != "init" or not isinstance(loop, Loop):
        return None
    leaf = loop.leaves(loop.body).carried[edge.slot]
    hint = loop.body.hints.get(leaf, TEMPORARY)
    return hint if hint.text else None


def copy_call(atom: gast.Name, fact: Any) -> tuple[Any, list[gast.AST], form.Nodes]:
    """The function, operands and parameters of `a.copy()`, `items[:]`."""
    if isinstance(fact, values.List):
        return operator.getitem, [atom], {"index": gast.Slice(None, None, None)}
    perhaps = values.may_be_absent(fact) or values.may_be_python(fact)
    perhaps |= isinstance(fact, values.Array) and fact.shape is None  # or a number of Python's
    return runtime.copied if perhaps else np.copy, [atom], {}
