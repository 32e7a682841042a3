"""Helpers that are more than one expression keep their name: what they did becomes a call.

A helper is lowered in place first. Then the operations that it appended are taken out of the body
and become a Program of their own, whose leaves are the arguments. A second call with arguments of
the same kind finds that program and lowers nothing.
"""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from s2s_ad.core import form, tree
from s2s_ad.core.builder import Symbol, to_node
from s2s_ad.core.callee import Callee, captured_names
from s2s_ad.core.program import Hint, Input, Program
from s2s_ad.core.tree import Tree
from s2s_ad.frontend.resolve import PLAIN, Captured, Frame
from s2s_ad.frontend.source import Source

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering

STATIC = (int, str, bytes, bool, type(None), type, types.FunctionType, types.BuiltinFunctionType)
RESULTS = (Symbol, Captured, int, float, complex, np.generic, *PLAIN)


@dataclass(frozen=True, slots=True)
class Output:
    """An output of the call, by position, and whether its memory is its own."""

    position: int
    own: bool


@dataclass(frozen=True, slots=True)
class Argument:
    """A leaf of the arguments that the helper hands back as it is."""

    position: int


@dataclass(frozen=True, slots=True)
class Outlined:
    """A helper for arguments of one kind: the callee, and its result in terms of the call."""

    callee: Callee
    result: Any  # a Tree of Outputs, Arguments and objects that are known


def keeps_name(source: Source) -> bool:
    """Whether the helper is more than one expression."""
    if isinstance(source.node, gast.Lambda):
        return False
    first, *rest = source.node.body
    documented = isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant)
    return len(rest if documented else source.node.body) > 1


def outlined_call(lowering: Lowering, frame: Frame, arguments: dict[str, Any]) -> Any:
    """The result of a helper that keeps its name."""
    key = call_key(lowering, frame.owner, arguments)
    found = lowering.outlined.get(key) if key is not None else None
    operands = leaves_of(arguments)
    if found is None:
        start = len(lowering.builder.body)
        result = lowering.enter_frame(frame, arguments)
        found = outline(lowering, frame.source, arguments, start, result)
        if found is None:
            return result
        if key is not None:
            lowering.outlined[key] = found
    return _call(lowering, found, operands)


def leaves_of(arguments: dict[str, Any]) -> list[Symbol]:
    """The values that are not known now, each once, in the order of the parameters."""
    leaves = [leaf for value in arguments.values() for leaf in tree.leaves(value)]
    named = {leaf.name: leaf for leaf in leaves if isinstance(leaf, Symbol)}
    return list(named.values())


def call_key(lowering: Lowering, function: Any, arguments: dict[str, Any]) -> Any:
    """What tells two calls apart; None where that cannot be said."""
    order: dict[str, int] = {}
    parts: list[Any] = [function]
    for name, value in arguments.items():
        for path, leaf in zip(tree.paths(value), tree.leaves(value), strict=True):
            if isinstance(leaf, Symbol):
                place = order.setdefault(leaf.name, len(order))
                parts.append((name, path, place, leaf.fact, lowering.memory.is_own(leaf)))
            elif isinstance(leaf, STATIC) or type(leaf) in (float, complex):
                parts.append((name, path, type(leaf), repr(leaf) if _is_number(leaf) else leaf))
            elif isinstance(leaf, Captured):
                parts.append((name, path, id(leaf.value)))
            else:
                return None
        parts.append((name, _structure(value)))
    return tuple(parts)


def _structure(value: Any) -> Any:
    """The kinds and keys of the containers: they have methods, a length, and may be returned."""
    if not isinstance(value, Tree):
        return None
    return (value.kind, value.keys, tuple(map(_structure, value.items)))


def _is_number(value: Any) -> bool:
    return type(value) in (int, float, complex)


def outline(
    lowering: Lowering, source: Source, arguments: dict, start: int, result: Any
) -> Outlined | None:
    """Take the operations from `start` on out of the body; None where nothing is gained."""
    builder = lowering.builder
    segment = builder.body[start:]
    defined = {form.target(each) for each in segment if not form.is_effect(each)}
    inputs = leaves_of(arguments)
    leaves = [leaf for leaf in tree.leaves(result) if isinstance(leaf, Symbol)]
    outputs = list(dict.fromkeys(leaf.name for leaf in leaves if leaf.name in defined))
    captured = {each.name for each in lowering.captures.found.values() if each.name}
    names = {each.name for each in inputs}
    free = {name for each in segment for name in form.reads(each)} - defined - names
    if len(segment) < 2 or not outputs or not free <= captured or not _is_plain(result):
        return None
    places = {each.name: i for i, each in enumerate(inputs)}

    def described(leaf: Any) -> Any:
        if not isinstance(leaf, Symbol):
            return leaf
        if leaf.name in defined:
            return Output(outputs.index(leaf.name), lowering.memory.is_own(leaf))
        return Argument(places[leaf.name]) if leaf.name in places else leaf

    callee = _callee(lowering, source, arguments, segment, outputs, free)
    del builder.body[start:]
    return Outlined(callee, tree.tree_map(described, result))


def _callee(
    lowering: Lowering, source: Source, arguments: dict, segment: list, outputs: list, free: set
) -> Callee:
    """The operations as a program of their own: what they read is given, `free` is captured."""
    builder = lowering.builder
    read = free | {name for each in segment for name in captured_names(each)}
    nodes = [to_node(Symbol(builder, name)) for name in outputs]
    several = Tree(tuple, tuple(range(len(nodes))), tuple(nodes))
    hints = builder.hints | _parameter_hints(arguments)
    program = Program(
        name=source.name,
        doc=source.name,
        inputs=tuple(Input(hints[each.name].text, each.name) for each in leaves_of(arguments)),
        body=tuple(segment),
        output=nodes[0] if len(nodes) == 1 else several,
        facts=dict(builder.facts),
        hints=hints,
        captures=tuple(e for e in lowering.captures.found.values() if e.name in read),
        origin=source.origin(source.node),
    )
    return Callee(program)


def _is_plain(result: Any) -> bool:
    """Whether the result holds no function or slice that reads values of the helper's own."""
    return all(isinstance(leaf, RESULTS) for leaf in tree.leaves(result))


def _parameter_hints(arguments: dict[str, Any]) -> dict[str, Hint]:
    """In its own text the helper calls its arguments by its parameters' names."""
    hints = {}
    for name, value in arguments.items():
        for path, leaf in zip(tree.paths(value), tree.leaves(value), strict=True):
            if isinstance(leaf, Symbol):
                steps = "_".join(str(key) for _, key in path)
                text = "".join(c if c.isalnum() else "_" for c in f"{name}_{steps}".strip("_"))
                hints.setdefault(leaf.name, Hint(text if path else name, "user"))
    return hints


def _call(lowering: Lowering, found: Outlined, operands: list[Symbol]) -> Any:
    values_ = found.callee.call(lowering.builder, operands)

    def given(leaf: Any) -> Any:
        if isinstance(leaf, Output):
            return lowering.memory.renewed(values_[leaf.position], own=leaf.own)
        return operands[leaf.position] if isinstance(leaf, Argument) else leaf

    return tree.tree_map(given, found.result)


__all__ = ["keeps_name", "outlined_call"]
