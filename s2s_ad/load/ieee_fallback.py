"""Code in which Python's numbers divide by zero as NumPy's do: with a warning, no error.

Python's numbers raise where NumPy gives inf or nan. A derivative at such a point (that of x**0.5 at
0.0) is inf, too, and no mistake of the function's. Code that asked at each quotient would be slower
everywhere, so this code is made only when an error came.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from s2s_ad.core.callee import may_run_again
from s2s_ad.core.values import PYTHON_NUMBERS
from s2s_ad.load.module import Loaded


def careful(loaded: Loaded) -> Loaded | None:
    """The code with careful quotients and powers; None where it may not run a second time."""
    program = loaded.program
    names = {each.name for each in program.inputs}
    outside = any(name not in names for name, _ in program.mutated)  # it was changed already
    if loaded.companions or outside or program.writes or not may_run_again(program.body):
        return None
    tree = ast.parse(loaded.text.module)
    space = loaded.namespace | {each.__name__: each for each in (_quotient, _power, _operated)}
    tree = ast.fix_missing_locations(_Careful(_tried(tree)).visit(tree))
    exec(compile(tree, f"<s2s_ad careful {loaded.text.name}>", "exec"), space)
    libraries = [each for each in space if isinstance(space[each], types.ModuleType)]
    bound = (*loaded.text.captured, *loaded.text.objects, *libraries)
    space |= {name: loaded.namespace[name] for name in bound}
    return replace(loaded, function=space[loaded.text.name], namespace=space)


def _tried(tree: ast.Module) -> set[str]:
    """The functions that run in the body of a `try`, where what is raised decides what follows."""
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    blocks = (node.body for node in ast.walk(tree) if isinstance(node, ast.Try))
    waiting: list[ast.AST] = [statement for block in blocks for statement in block]
    found: set[str] = set()
    while waiting:
        read = {node.id for node in ast.walk(waiting.pop()) if isinstance(node, ast.Name)}
        waiting += [functions[name] for name in (read & functions.keys()) - found]
        found |= read & functions.keys()
    return found


class _Careful(ast.NodeTransformer):
    """Puts calls in the place of `a / b` and `a**b`, and of their kin in place.

    What runs in the body of a `try` stays as it is: derivatives are computed elsewhere.
    """

    def __init__(self, tried: set[str]):
        self.tried = tried

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node if node.name in self.tried else self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> ast.stmt:
        for block in (*(each.body for each in node.handlers), node.orelse, node.finalbody):
            block[:] = map(self.visit, block)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node = self.generic_visit(node)
        function = FUNCTIONS.get(type(node.op))
        return node if function is None else _call(function, node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        node = self.generic_visit(node)
        function = FUNCTIONS.get(type(node.op))
        if function is None:
            return node
        old = ast.parse(ast.unparse(node.target), mode="eval").body
        function = ast.Name(function.__name__, ast.Load())
        return ast.Assign([node.target], _call(_operated, function, old, node.value))


def _call(function: Callable, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function.__name__, ast.Load()), list(args), [])


def _quotient(a: Any, b: Any) -> Any:
    """a / b"""
    try:
        return a / b
    except ZeroDivisionError:
        return _as_python(np.multiply(a, 1.0) / b, a, b)


def _power(a: Any, b: Any) -> Any:
    """a**b"""
    try:
        return a**b
    except ArithmeticError:
        return _as_python(np.multiply(a, 1.0) ** b, a, b)


def _as_python(result: Any, *operands: Any) -> Any:
    """What NumPy makes of Python's numbers as such a number: its dtype is weak."""
    return result.item() if all(type(each) in PYTHON_NUMBERS for each in operands) else result


def _operated(function: Callable, a: Any, b: Any) -> Any:
    """What `a` is after `a /= b`: an array stays the one that it is."""
    result = function(a, b)
    if not isinstance(a, np.ndarray):
        return result
    a[...] = result
    return a


FUNCTIONS = {ast.Div: _quotient, ast.Pow: _power}
