"""The form of Core: one operation on atoms per statement, in gast; how to build, read, check it.

Statements are either `name = function(atoms, parameter=atoms)`, where the function is a Constant
that holds the very object (so it is told apart by identity, never by name), or an *effect*: a
print, assert or raise kept whole, whose names are atoms. Operands are Names, Constants, and
tuples, lists and slices of these. Every name is assigned once. Nodes are never changed once built.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import gast
import numpy as np

from s2s_ad.core.values import UNDEFINED
from s2s_ad.diagnostics import InternalError, Origin

Statement = gast.stmt
Atom = gast.Name | gast.Constant


_CONTEXTS = {kind: kind() for kind in (gast.Load, gast.Store, gast.Param)}


# Nodes are made by the ten thousand: they are filled without gast's constructor, which is slow.


def name(identifier: str, context: type = gast.Load) -> gast.Name:
    node = gast.Name.__new__(gast.Name)
    node.id, node.ctx = identifier, _CONTEXTS[context]
    node.annotation = node.type_comment = None
    return node


def constant(value: Any) -> gast.Constant:
    node = gast.Constant.__new__(gast.Constant)
    node.value, node.kind = value, None
    return node


def operation(function: Any, operands: list[gast.AST], params: Mapping[str, gast.AST]) -> gast.Call:
    node = gast.Call.__new__(gast.Call)
    node.func, node.args = constant(function), operands
    node.keywords = [_keyword(key, value) for key, value in params.items()] if params else []
    return node


def _keyword(arg: str, value: gast.AST) -> gast.keyword:
    node = gast.keyword.__new__(gast.keyword)
    node.arg, node.value = arg, value
    return node


def assign(target: str, value: gast.Call, origin: Origin | None, phase: str = "") -> gast.Assign:
    node = gast.Assign.__new__(gast.Assign)
    node.targets, node.value, node.type_comment = [name(target, gast.Store)], value, None
    return place(node, origin, phase)


def place(statement: Statement, origin: Origin | None, phase: str = "") -> Statement:
    """Note on a fresh statement where it comes from and which sweep it belongs to."""
    statement.origin, statement.phase = origin, phase
    return statement


def is_effect(statement: Statement) -> bool:
    return not isinstance(statement, gast.Assign)


def target(statement: gast.Assign) -> str:
    return statement.targets[0].id


def function_of(statement: gast.Assign) -> Any:
    return statement.value.func.value


def reads(node: gast.AST) -> list[str]:
    """The names that the node reads, in order, with repeats; names it binds itself are left out.

    A statement is asked often, and never changes: it remembers them.
    """
    if not isinstance(node, gast.Assign):
        return _reads(node)
    if not hasattr(node, "names_read"):
        node.names_read = _reads(node)
    return node.names_read[:]


def _reads(node: gast.AST) -> list[str]:
    found: list[str] = []
    bound: set[str] = set()
    _collect(node, found, bound)
    return [each for each in found if each not in bound] if bound else found


def _collect(node: Any, found: list[str], bound: set[str]) -> None:
    kind = type(node)
    if kind is gast.Name:
        (found.append if isinstance(node.ctx, gast.Load) else bound.add)(node.id)
    elif kind is gast.Assign:
        _collect(node.value, found, bound)
    elif kind is gast.Call:
        for item in (node.func, *node.args, *(each.value for each in node.keywords)):
            _collect(item, found, bound)
    elif kind is list:
        for item in node:
            _collect(item, found, bound)
    elif kind is not gast.Constant and isinstance(node, gast.AST):
        for field in node._fields:
            _collect(getattr(node, field, None), found, bound)


def substitute(node: Any, atoms: Mapping[str, gast.AST]) -> Any:
    """The node in which each name that `atoms` holds is replaced; a statement is a fresh one."""
    kind = type(node)
    if kind is gast.Name:
        return atoms.get(node.id, node)
    if kind is gast.Constant or not isinstance(node, gast.AST | list):
        return node
    if kind is list:
        return [substitute(item, atoms) for item in node]
    copy = kind.__new__(kind)
    for field in node._fields:
        setattr(copy, field, substitute(getattr(node, field, None), atoms))
    if isinstance(node, gast.stmt) and hasattr(node, "origin"):
        place(copy, node.origin, node.phase)
    return copy


def as_value(index: gast.AST) -> gast.AST:
    """An index as an object of its own: slices become calls of slice()."""
    if isinstance(index, gast.Tuple):
        return gast.Tuple(elts=[as_value(item) for item in index.elts], ctx=gast.Load())
    if not isinstance(index, gast.Slice):
        return index
    bounds = [each or constant(None) for each in (index.lower, index.upper, index.step)]
    if isinstance(index.step, type(None)) and index.lower is None:
        bounds = bounds[1:2]
    elif index.step is None:
        bounds = bounds[:2]
    return gast.Call(func=name("slice"), args=bounds, keywords=[])


def atoms_of(tree: Any) -> Iterator[gast.AST]:
    """The Names and Constants of an operand."""
    if isinstance(tree, gast.Tuple | gast.List):
        for item in tree.elts:
            yield from atoms_of(item)
    elif isinstance(tree, gast.Slice):
        for item in (tree.lower, tree.upper, tree.step):
            if item is not None:
                yield from atoms_of(item)
    else:
        yield tree


def is_undefined(atom: Any) -> bool:
    """Whether an atom stands for a value that a path does not have."""
    return isinstance(atom, gast.Constant) and atom.value is UNDEFINED


def verify(body: list[Statement], inputs: list[str], outputs: list[gast.AST]) -> None:
    """Raise InternalError where a body breaks the form that this module's docstring gives."""
    defined = set(inputs)
    for statement in body:
        if not hasattr(statement, "origin"):
            raise _broken("a statement without provenance", statement)
        for each in reads(statement):
            if each not in defined:
                raise _broken(f"{each} is read before it is assigned", statement)
        if is_effect(statement):
            continue
        _verify_operation(statement)
        if target(statement) in defined:
            raise _broken(f"{target(statement)} is assigned twice", statement)
        defined.add(target(statement))
    for atom in outputs:
        if isinstance(atom, gast.Name) and atom.id not in defined:
            raise _broken(f"{atom.id} is returned and never assigned", atom)


def _verify_operation(statement: gast.Assign) -> None:
    """Check a statement by itself: once, for it never changes and most passes hand it on."""
    if hasattr(statement, "verified"):
        return
    value = statement.value
    if len(statement.targets) != 1 or not isinstance(statement.targets[0], gast.Name):
        raise _broken("an assignment to anything but one name", statement)
    if not isinstance(value, gast.Call) or not isinstance(value.func, gast.Constant):
        raise _broken("a value that is not one operation", statement)
    for operand in [*value.args, *(keyword.value for keyword in value.keywords)]:
        for atom in atoms_of(operand):
            if not isinstance(atom, gast.Name | gast.Constant):
                raise _broken(f"an operand that is a {type(atom).__name__}", statement)
            if isinstance(getattr(atom, "value", None), np.ndarray):  # computed past the builder
                raise _broken("an array as a constant", statement)
    statement.verified = True


def _broken(what: str, node: gast.AST) -> InternalError:
    origin = getattr(node, "origin", None)
    return InternalError("S2S901", f"Core is malformed: {what}", origin=origin)
