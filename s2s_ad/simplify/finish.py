"""The last simplifications before text: they are not undone by a further transform."""

from __future__ import annotations

import operator
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.analysis.memory import Memory
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import fresh_name
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.registry import Rule, rule_for


def erase_stops(program: Program) -> Program:
    """stop_gradient has done its work: names take the value that it passed on.

    Before: `t = stop_gradient(s); y = t - v`; after: `y = s - v`.
    """
    atoms: dict[str, gast.AST] = {}
    body = []
    for statement in program.body:
        if not form.is_effect(statement) and form.function_of(statement) is runtime.stop_gradient:
            atoms[form.target(statement)] = form.substitute(statement.value.args[0], atoms)
        else:
            body.append(form.substitute(statement, atoms) if atoms else statement)
    output = tree.tree_map(lambda atom: form.substitute(atom, atoms), program.output)
    return program.with_(body=tuple(body), output=output)


def nearest_shapes(program: Program) -> Program:
    """Read a shape off an input of the same shape rather than keep a value for its shape alone.

    Before: `y = np.sin(x); b = np.ones_like(y)`; after: `b = np.ones_like(x)`.
    """
    inputs = [name for name in program.leaves() if _is_array(program.facts[name])]
    body = []
    for statement in program.body:
        rule = None if form.is_effect(statement) else _rule(statement)
        if rule is not None and rule.length:
            statement = _nearest_length(program, statement, inputs)
        elif rule is not None and rule.like_position is not None:
            statement = _nearest_like(program, statement, rule.like_position, inputs)
        body.append(statement)
    return program.with_(body=tuple(body))


def _nearest_like(
    program: Program, statement: gast.Assign, position: int, inputs: list[str]
) -> gast.Assign:
    """The same operation with an input for the operand that gives shape and dtype."""
    like = statement.value.args[position]
    fact = program.facts.get(getattr(like, "id", None))
    found = next((each for each in inputs if program.facts[each] == fact), None)
    if found is None or like.id in inputs:
        return statement
    return form.substitute(statement, {like.id: form.name(found)})


def _nearest_length(program: Program, statement: gast.Assign, inputs: list[str]) -> gast.Assign:
    """The same length, read off an input."""
    like, params = statement.value.args[0].id, _params(statement.value)
    fact = program.facts[like]
    if like in inputs or not _is_array(fact):
        return statement
    for name in inputs:
        shape = program.facts[name].shape
        if "axis" not in params and shape == fact.shape:
            found = {}
        elif "axis" in params and fact.shape[params["axis"]] in shape:
            found = {"axis": form.constant(shape.index(fact.shape[params["axis"]]))}
        else:
            continue
        value = form.operation(form.function_of(statement), [form.name(name)], found)
        return form.assign(form.target(statement), value, statement.origin, statement.phase)
    return statement


def _is_array(fact: Any) -> bool:
    return isinstance(fact, values.Array) and bool(fact.shape) and fact.dtype is not None


def keep_dimensions(program: Program) -> Program:
    """A reduction whose axis is put back at once keeps it.

    Before: `m = np.max(x, axis=1); n = m[:, None]`; after: `n = np.max(x, axis=1, keepdims=True)`.
    """
    counts = liveness.counts(program.body, program.outputs())
    reductions = {
        form.target(statement): statement
        for statement in program.body
        if not form.is_effect(statement) and _rule(statement).reduction
    }
    body = []
    for statement in program.body:
        source = None
        if not form.is_effect(statement) and _rule(statement).inserts_axes:
            source = reductions.get(getattr(statement.value.args[0], "id", None))
        params = _params(source.value) if source is not None else {}
        same = source is not None and params.get("axis") == _params(statement.value)["axis"]
        if not same or counts[form.target(source)] > 1 or "keepdims" in params:
            body.append(statement)
            continue
        keep = {k.arg: k.value for k in source.value.keywords} | {"keepdims": form.constant(True)}
        value = form.operation(form.function_of(source), source.value.args, keep)
        copy = form.assign(form.target(statement), value, statement.origin, statement.phase)
        body.append(copy)
    return program.with_(body=tuple(body))


def _rule(statement: gast.Assign) -> Rule:
    return rule_for(form.function_of(statement))


def _params(call: gast.Call) -> dict[str, Any]:
    return {each.arg: _literal(each.value) for each in call.keywords}


def _literal(node: gast.AST) -> Any:
    if isinstance(node, gast.Tuple):
        return tuple(map(_literal, node.elts))
    return getattr(node, "value", node)


def divide(program: Program) -> Program:
    """A factor that is a reciprocal used once becomes a division.

    Before: `r = 1.0 / b; y = a * r`; after: `y = a / b`.
    """
    counts = liveness.counts(program.body, program.outputs())
    reciprocals: dict[str, gast.AST] = {}
    body = []
    for statement in program.body:
        if not form.is_effect(statement) and statement.phase in ("backward", "tangent"):
            operands = statement.value.args
            if form.function_of(statement) is operator.truediv and _is_one(operands[0]):
                reciprocals[form.target(statement)] = operands[1]
            elif form.function_of(statement) is operator.mul:
                statement = _as_quotient(statement, reciprocals, counts)
        body.append(statement)
    return program.with_(body=tuple(body))


def _is_one(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and node.value == 1


def _as_quotient(statement: gast.Assign, reciprocals: dict, counts: Any) -> gast.Assign:
    a, b = statement.value.args
    for dividend, factor in ((a, b), (b, a)):
        name = getattr(factor, "id", None)
        if name in reciprocals and counts[name] == 1 and isinstance(dividend, gast.Name):
            value = form.operation(operator.truediv, [dividend, reciprocals[name]], {})
            return form.assign(form.target(statement), value, statement.origin, statement.phase)
    return statement


def own_outputs(program: Program) -> Program:
    """What is handed out shares no memory with what came in, nor with another output.

    Before: `def f_grad(x, y): return y`; after: `x_bar = y.copy(); return x_bar`.
    """
    memory = Memory(program)
    taken: set[str] = set()
    body = list(program.body)
    facts, hints = dict(program.facts), dict(program.hints)

    def owned(atom: gast.AST) -> gast.AST:
        if not isinstance(atom, gast.Name):
            return atom
        fact = facts[atom.id]
        root = memory.root(atom.id)
        shares = not memory.owns(atom.id) or root in taken
        taken.add(root)
        if not shares or not isinstance(fact, values.Array):
            return atom
        if not fact.shape and (root != atom.id or memory.owns(root)):
            return atom  # a number of NumPy's; what came in may be an array without axes
        name = fresh_name()
        facts[name], hints[name] = fact, TEMPORARY
        call = form.operation(np.copy, [atom], {})
        body.append(form.assign(name, call, program.origin, "backward"))
        return form.name(name)

    output = tree.tree_map(owned, program.output)
    return program.with_(body=tuple(body), output=output, facts=facts, hints=hints)


DIVIDE = Pass("divide", divide)
ERASE = Pass("erase stops", erase_stops)
KEEP_DIMENSIONS = Pass("keep dimensions", keep_dimensions)
NEAREST = Pass("nearest shapes", nearest_shapes)
OWN = Pass("own outputs", own_outputs)
