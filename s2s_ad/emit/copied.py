"""The copies in generated text: which there are, and why each was made."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gast

from s2s_ad.core import form, values
from s2s_ad.core.builder import DERIVED
from s2s_ad.core.program import TEMPORARY, CopyReason, Program
from s2s_ad.core.regions import region_of
from s2s_ad.diagnostics import Origin
from s2s_ad.emit.provenance import Row
from s2s_ad.emit.text import Written
from s2s_ad.emit.write import functions_of

EVERYTHING = ast.dump(ast.Slice())

# how copies are written: `x.copy()`, `items[:]`, `list(x)`
COPY, SLICE, LIST = "copy", "slice", "list"
FORMS = {"np.copy": COPY, "copied": COPY, "list": LIST}


@dataclass(frozen=True, slots=True)
class Copied:
    """One copy in the text.

    Attributes:
        function: the function of the text that it stands in.
        text: the expression: `u.copy()`.
        origin: the user's line that it belongs to.
        loops: the user's lines of the loops around it, from the outermost.
        fact: the abstract value of what is copied; None where that is not known.
        why: the reason.
    """

    function: str
    text: str
    origin: Origin | None
    loops: tuple[Origin | None, ...]
    fact: values.AbstractValue | None
    why: str


def copies_of(program: Program) -> list[Copied]:
    """The copies in the text of a program, and of the functions that it calls, in their order."""
    return [each for function in functions_of(program) for each in _Copies(function).found()]


@dataclass(frozen=True, slots=True)
class _Made:
    """A copy in Core: its statement, and how it is written."""

    statement: form.Op
    form: str

    @property
    def operand(self) -> str:
        return getattr(self.statement.operands[0], "id", "")


class _Copies:
    """Finds for the copies in the text of one function the operations that they are."""

    def __init__(self, written: Written):
        self.written = written
        self.tree = ast.parse(written.text).body[0]
        self.made = list(_made(written.program, written.program))

    def found(self) -> Iterator[Copied]:
        for node, (kind, operand), loops in _in_text(self.tree, ()):
            row = self._row(node)
            made = self._operation(kind, operand, row)
            lines = tuple(next(iter(self._row(each).origins), None) for each in loops)
            origin = next(iter(row.origins), None)
            fact = None
            if made is not None:
                operand, origin = made.statement.operands[0], made.statement.origin
                fact = self.written.program.fact(operand)
            why = self._why(made, origin)
            name = self.written.program.name
            yield Copied(name, ast.unparse(node), origin, lines, fact, why)

    def _row(self, node: Any) -> Row:
        """Where the line of a node comes from."""
        return self.written.rows[node.lineno - 1]

    def _operation(self, kind: str, operand: ast.expr, row: Row) -> _Made | None:
        """The copy of Core that an expression is: the one that has most in common with it."""

        def likeness(made: _Made) -> int:
            name = made.statement.target
            return (
                2 * (made.statement.origin in row.origins)
                + 2 * (name in row.defines)
                + (self._name(made.operand) == ast.unparse(operand))
            )

        alike = [made for made in self.made if made.form == kind]
        best = max(alike, key=likeness, default=None)
        if best is None or not likeness(best):
            return None
        self.made.remove(best)
        return best

    def _name(self, name: str) -> str:
        """What a Core name is called in the text, or would be."""
        hint = self.written.program.hints.get(name, TEMPORARY)
        return self.written.shown.get(name) or hint.text

    # ---- the reason

    def _why(self, made: _Made | None, origin: Origin | None) -> str:
        if made is not None:
            hints = self.written.program.hints
            reason = hints.get(made.statement.target, TEMPORARY).copied
            if reason is not None:
                return self._because(made, reason)
        if made is not None and made.form == LIST:
            return "an array has to be a list there"
        again = made is not None and made.statement.phase in DERIVED
        return f"{_line(origin)} copies" + (", and is computed again" if again else "")

    def _because(self, made: _Made, reason: CopyReason) -> str:
        changed, read = map(_place, (reason.changed, reason.read))
        what = f"{changed} changes it" if changed else "it is returned"
        state = {
            "argument": "an argument",
            "next": "read again later",
            "read": f"read again at {read}" if read else "read again later",
            "result": "returned" if changed else "returned as well",
        }
        name = self._name(reason.of).rpartition(" in ")[2]
        if reason.kind not in state or not name:
            return f"{what}, and it may be memory that must not change"
        if reason.of == made.operand:
            twice = reason.kind == "result" and not changed
            return "it is returned twice" if twice else f"{what}, and it is {state[reason.kind]}"
        return f"{what}, and `{name}`, which is {state[reason.kind]}, may be the same memory"


def _line(origin: Origin | None) -> str:
    return "a line" if origin is None else f"line {origin.root}"


def _place(place: tuple[Origin | None, str] | None) -> str:
    """A line of the user's, and whether its backward sweep is meant."""
    if place is None or place[0] is None:
        return ""
    return f"{_line(place[0])}{' (backward)' if place[1] == 'backward' else ''}"


def _made(program: Program, block: Program) -> Iterator[_Made]:
    """The copies of a block of a program, and of the blocks in it, in their order."""
    for statement in block.body:
        if isinstance(statement, form.Effect):
            continue
        region = region_of(statement)
        for each in () if region is None else region.blocks:
            yield from _made(program, each)
        kind = copy_form(statement, program)
        if kind:
            yield _Made(statement, kind)


def copy_form(statement: form.Op, program: Program) -> str:
    """How an operation is written that makes a copy of an array or list; "" where it is another."""
    function, operands = statement.function, statement.operands
    facts = [program.fact(each) for each in operands if isinstance(each, gast.Name)]
    if len(operands) != 1 or len(facts) != 1:
        return ""
    if function is operator.getitem:
        whole = all(map(_is_everything, statement.parameters.values()))
        return SLICE if whole and isinstance(facts[0], values.List) else ""
    if statement.rule.copy:
        return COPY
    is_list = isinstance(program.facts.get(statement.target), values.List)
    return LIST if is_list and isinstance(facts[0], values.Array) else ""


def _is_everything(index: gast.AST) -> bool:
    bounds = ("lower", "upper", "step")
    return isinstance(index, gast.Slice) and not any(getattr(index, each) for each in bounds)


def _in_text(node: ast.AST, loops: tuple) -> Iterator[tuple[ast.expr, tuple, tuple]]:
    """(a copy, how it is written and what it copies, the loops around it)."""
    if isinstance(node, ast.expr) and (found := _read(node)) is not None:
        yield node, found, loops
    is_loop = isinstance(node, ast.For | ast.While)
    for name, value in ast.iter_fields(node):
        inner = (*loops, node) if is_loop and name in ("body", "test") else loops
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield from _in_text(each, inner)


def _read(node: ast.expr) -> tuple[str, ast.expr] | None:
    """How an expression copies, and what; None where it does not."""
    if isinstance(node, ast.Subscript):
        loads = isinstance(node.ctx, ast.Load)
        return (SLICE, node.value) if loads and ast.dump(node.slice) == EVERYTHING else None
    if not isinstance(node, ast.Call):
        return None
    function = ast.unparse(node.func)
    if len(node.args) == 1 and function in FORMS:
        return FORMS[function], node.args[0]
    if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
        return COPY, node.func.value
    return None


__all__ = ["Copied", "copies_of"]
