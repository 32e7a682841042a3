"""Core by its definition: each operation is a call of its function, nothing changes memory."""

from __future__ import annotations

import ast

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, tree
from s2s_ad.core.callee import ITEM, Callee
from s2s_ad.core.regions import Attempt, Branch, Loop
from s2s_ad.rules.unpacking import Unpack

CAPTURED = {}  # by name: blocks know no more of what was captured


def interpret(program, leaves):
    """The output leaves of a program for a value of each of its leaves, in order."""
    values = dict(zip(program.leaves(), leaves, strict=True))
    captured = list(program.captured())
    CAPTURED.update((each.name, each.value) for each in captured if each.read is not None)
    values |= {each.name: CAPTURED[each.name] for each in captured}
    for statement in program.body:
        if isinstance(statement, form.Effect):
            run_effect(statement.node, values)
            continue
        args = [evaluate(each, values) for each in statement.operands]
        params = {key: evaluate(each, values) for key, each in statement.parameters.items()}
        values[statement.target] = apply(statement.function, args, params)
    return [evaluate(atom, values) for atom in tree.leaves(program.output)]


def apply(function, args, params):
    if isinstance(function, Callee):
        results = interpret(function.program, args)
        return tuple(results) if function.several else results[0]
    if isinstance(function, Branch):
        condition, *operands = args
        return tuple(interpret(function.then if condition else function.orelse, operands))
    if isinstance(function, Loop):
        return run_loop(function, args)
    if isinstance(function, Attempt):
        return attempt(function, args)
    if function is runtime.index_set:
        return runtime.index_set(args[0], params["index"], args[1])
    if function is ITEM:
        return args[0][params["index"]]
    if isinstance(function, Unpack):
        items = tuple(args[0])
        if len(items) != function.count:
            raise ValueError("another number of items")
        return items
    if function is runtime.contract:
        return runtime.contract(params["spec"], *args)
    if function is runtime.index_add:
        return runtime.index_add(args[0], params["index"], args[1])
    if function.__name__ == "size" and isinstance(args[0], list):
        return len(args[0])
    if function.__name__ in ("concatenate", "stack"):
        return function(args, **params)
    if function.__name__ == "getitem":
        return args[0][params["index"]]
    if function is np.arange and set(params) == {"start"}:
        return np.arange(params["start"])
    if function.__name__ == "full":
        return function(params["shape"], args[0])
    return function(*args, **params)


def run_loop(loop, args):
    """One pass after the other, each a function of the values before it."""
    parts = loop.parts(args)
    carried = tuple(parts.carried)
    if loop.is_for:
        indices = range(*parts.bounds)
        passes = ([index] for index in (reversed(indices) if loop.backwards else indices))
    else:
        passes = iter(lambda: [], None)
    for index in passes:
        if not loop.is_for and not interpret(loop.test, [*carried, *parts.fixed])[0]:
            break
        results = interpret(loop.body, [*index, *carried, *parts.fixed])
        carried = tuple(results[: loop.carried])
        if loop.exits and results[-1]:
            break
    return carried


def attempt(function, args):
    try:
        return (*interpret(function.body, args), 0)
    except tuple(kind for each in function.errors for kind in each.kinds) as error:
        place = next(i for i, e in enumerate(function.errors) if isinstance(error, e.kinds))
        return (*interpret(function.handlers[place], args), place + 1)


def run_effect(statement, values):
    """A print, assert or raise, in which objects stand as constants."""
    objects = {}

    def named(node):
        if isinstance(node, list):
            return [named(item) for item in node]
        if not isinstance(node, gast.AST):
            return node
        if isinstance(node, gast.Constant) and not isinstance(node.value, (int, float, str)):
            name = f"object_{len(objects)}"
            objects[name] = node.value
            return form.name(name)
        return type(node)(**{field: named(getattr(node, field, None)) for field in node._fields})

    module = gast.gast_to_ast(gast.Module([named(statement)], []))
    exec(compile(ast.fix_missing_locations(module), "<effect>", "exec"), values | objects)


def evaluate(node, values):
    if isinstance(node, gast.Name):
        return values[node.id]
    if isinstance(node, gast.Constant):
        return node.value
    if isinstance(node, gast.Slice):
        bounds = (node.lower, node.upper, node.step)
        return slice(*(None if each is None else evaluate(each, values) for each in bounds))
    items = [evaluate(item, values) for item in node.elts]
    return tuple(items) if isinstance(node, gast.Tuple) else items
