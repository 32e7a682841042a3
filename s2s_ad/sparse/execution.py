"""Runs single operations of Core, each as the expression that the text has for it."""

from __future__ import annotations

import ast
import importlib
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form
from s2s_ad.core.program import Program
from s2s_ad.emit.surface import Surface


class Execution:
    """Calls operations by their statements, which it compiles once."""

    def __init__(self) -> None:
        self._compiled: dict[int, tuple[form.Statement, Any, dict[str, Any]]] = {}

    def run(self, statement: form.Op, program: Program, named: dict[str, Any]) -> Any:
        """The result of the operation of a statement; `named` are the values of names."""
        found = self._compiled.get(id(statement))
        if found is None:
            found = self._compiled[id(statement)] = (statement, *_compiled(statement, program))
        _, code, space = found
        return eval(code, space, named)


def _compiled(statement: form.Op, program: Program) -> tuple[Any, dict[str, Any]]:
    objects: dict[str, Any] = {}
    surface = Surface(program.facts, set(program.facts), objects, lambda callee: callee.name)
    written = gast.Expression(body=surface.expression(statement.call))
    tree = ast.fix_missing_locations(gast.gast_to_ast(written))
    space: dict[str, Any] = {"np": np, **objects}
    space |= {name: getattr(runtime, name) for name in surface.helpers}
    for module in surface.modules:
        importlib.import_module(module)
        root = module.partition(".")[0]
        space[root] = importlib.import_module(root)
    return compile(tree, "<an operation>", "eval"), space
