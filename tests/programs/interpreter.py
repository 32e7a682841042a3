"""Core by its definition: each operation is a call of its function, nothing changes memory."""

from __future__ import annotations

import gast

from s2s_ad import runtime
from s2s_ad.core import form, tree
from s2s_ad.core.callee import ITEM, Callee


def interpret(program, leaves):
    """The output leaves of a program for a value of each of its leaves, in order."""
    values = dict(zip(program.leaves(), leaves, strict=True))
    values |= {each.name: each.value for each in program.captured()}
    for statement in program.body:
        assert not form.is_effect(statement), "the interpreter runs no effects"
        args = [evaluate(each, values) for each in statement.value.args]
        params = {each.arg: evaluate(each.value, values) for each in statement.value.keywords}
        values[form.target(statement)] = apply(form.function_of(statement), args, params)
    return [evaluate(atom, values) for atom in tree.leaves(program.output)]


def apply(function, args, params):
    if isinstance(function, Callee):
        results = interpret(function.program, args)
        return tuple(results) if function.several else results[0]
    if function is ITEM:
        return args[0][params["index"]]
    if function is runtime.contract:
        return runtime.contract(params["spec"], *args)
    if function is runtime.index_add:
        return runtime.index_add(args[0], params["index"], args[1])
    if function.__name__ in ("concatenate", "stack"):
        return function(args, **params)
    if function.__name__ == "getitem":
        return args[0][params["index"]]
    if function.__name__ == "full":
        return function(params["shape"], args[0])
    return function(*args, **params)


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
