"""Calls of this library's own functions become what they do: text shows NumPy, not our helpers.

Until then they stay calls, because their derivatives are code of their own (`custom_rule`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from s2s_ad import runtime
from s2s_ad.core import form, tree
from s2s_ad.core.builder import Builder, to_node
from s2s_ad.core.callee import Callee, callee_of, item_of
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Capture, Hint, Program
from s2s_ad.core.regions import everywhere
from s2s_ad.diagnostics import Origin

HERE = os.path.dirname(runtime.__file__) + os.sep


def in_place(program: Program) -> Program:
    """The program in which functions of this library are written where they are called.

    Example:
        >>> import numpy as np
        >>> from s2s_ad import ops
        >>> from s2s_ad.check.passes import after
        >>> def f(x):
        ...     return ops.sigmoid(x)
        >>> print(after(INLINE, f, np.ones(3)))
        f(x: f64[n]):
            t1 = -x
            t2 = np.exp(t1)
            t3 = 1 + t2
            t4 = 1 / t3
            return t4
    """
    return everywhere(_in_place)(program)


def is_own(call: Callee | None) -> bool:
    """Whether it is a call of a function of this library that can be written in place."""
    if call is None or call.is_recursive or call.program.origin is None:
        return False
    return call.program.origin.file.startswith(HERE)


def _in_place(program: Program) -> Program:
    own = any(map(is_own, map(callee_of, program.body)))
    return Writer(Builder()).whole(program) if own else program


class Writer:
    """Writes programs into a builder, and in place some of the functions that they call.

    As it is these are the functions of the library; others are chosen by `takes`, and written by
    `outputs_of`.
    """

    def __init__(self, builder: Builder):
        self.builder = builder
        self.captures: list[Capture] = []

    def takes(self, statement: form.Statement) -> Callee | None:
        """The function that is written where this statement calls it."""
        call = callee_of(statement)
        return call if is_own(call) else None

    def outputs_of(
        self, call: Callee, leaves: dict[str, Any], statement: form.Statement
    ) -> list[Any]:
        """What a function gives whose leaves are these, as the statement calls it."""
        return self.written(_unnamed(call.program), leaves, statement)

    def whole(self, program: Program) -> Program:
        """The program with what it calls in place."""
        atoms = {name: self.builder.import_name(program, name) for name in program.leaves()}
        outputs = iter(self.written(program, atoms, None))
        output = tree.tree_map(lambda _: to_node(next(outputs)), program.output)
        captures: dict[Any, Capture] = {}
        for each in self.captures:  # of one name the program's own stays: others may have no value
            captures.setdefault(each.name or id(each), each)
        return self.builder.as_body_of(program, output=output, captures=tuple(captures.values()))

    def written(
        self, program: Program, atoms: Mapping[str, Any], call: form.Statement | None
    ) -> list[Any]:
        """The outputs of a program whose leaves are `atoms`; `call` is what runs it."""
        atoms = dict(atoms)
        self.captures += program.captures
        for capture in program.captured():
            atoms[capture.name] = self.builder.import_name(program, capture.name)
        results: dict[str, list] = {}
        for statement in program.body:
            origin, phase = _place(statement, call)
            with self.builder.at(origin, phase):
                self._add(program, statement, atoms, results)
        return [self.builder.view(atom, atoms) for atom in program.outputs()]

    def _add(self, program: Program, statement: form.Statement, atoms: dict, results: dict) -> None:
        item, callee = item_of(statement), self.takes(statement)
        if item is not None and item[0] in results:
            value = results[item[0]][item[1]]
        elif callee is not None:
            operands = [self.builder.view(each, atoms) for each in statement.operands]
            leaves = dict(zip(callee.program.leaves(), operands, strict=True))
            outputs = self.outputs_of(callee, leaves, statement)
            if callee.count is not None:
                results[statement.target] = outputs
                return
            (value,) = outputs
        else:
            self.builder.replay(statement, atoms, program)
            return
        name = statement.target
        atoms[name] = self.builder.named(value, program.hints[name])


def _unnamed(program: Program) -> Program:
    """The program whose names mean nothing to the user."""
    hints = {name: Hint(hint.text, "temporary") for name, hint in program.hints.items()}
    return program.with_(hints=hints)


def _place(statement: form.Statement, call: form.Statement | None) -> tuple[Origin | None, str]:
    """What is written for a call stands where the call stands, under its own settings too."""
    if call is None or call.origin is None:
        return statement.origin, statement.phase
    own = statement.origin.settings if statement.origin is not None else ()
    settings = dict(call.origin.settings) | dict(own)
    return replace(call.origin, settings=tuple(settings.items())), call.phase


INLINE = Pass("inline", in_place)
