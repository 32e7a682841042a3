"""Names of a module that a function assigns: `global`.

Each is the one entry of a dict, which begins as what the module has. What it is at the end, if that
is another value, is stored into the module where the function ends, once, as a print is printed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from s2s_ad.core import form
from s2s_ad.core.builder import Symbol
from s2s_ad.core.callee import reached
from s2s_ad.core.program import Program
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import Origin, S2SError, SharedMemoryError
from s2s_ad.frontend.lower.entries import held
from s2s_ad.frontend.lower.kinds import is_leaf, is_same
from s2s_ad.frontend.lower.optional import MISSING
from s2s_ad.frontend.lower.references import Box, Poison, is_immutable, settled
from s2s_ad.frontend.lower.string_unions import as_result, is_text
from s2s_ad.frontend.resolve import Frame

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


@dataclass(frozen=True, slots=True)
class Outside:
    """A name of a module that a function assigns: the dict that holds it, and what it was."""

    space: dict[str, Any]
    name: str
    shared: Box
    before: Any
    origin: Origin


def hold(lowering: Lowering, frame: Frame, name: str, node: gast.AST) -> None:
    """Let a name of the module of a function that assigns it be an entry of a dict."""
    key = (id(frame.globals), name)
    if key in lowering.outside:
        return
    before: Any = MISSING
    if name in frame.globals:
        place = lowering.captures.in_globals(frame.globals, name)
        before = lowering.captures.of(frame.globals[name], place)
    entries = () if before is MISSING else ((name, before),)
    shared = lowering.memory.box(Tree(dict, *(tuple(zip(*entries, strict=True)) or ((), ()))))
    shared.born = 0  # wherever it is first met, it was there before
    origin = lowering.origin(node)
    lowering.outside[key] = Outside(frame.globals, name, shared, before, origin)


def held_outside(lowering: Lowering) -> Iterator[tuple]:
    """What tells the state of these names apart: functions read them at each call."""
    for key, each in lowering.outside.items():
        value = held(lowering, each.shared, each.name)
        if value is not each.before:
            plain = is_leaf(value) and not isinstance(value, Symbol)
            name = getattr(value, "name", None) if isinstance(value, Symbol) else None
            yield (key, name, repr(value) if plain or is_text(value) else id(value))


def store_outside(lowering: Lowering) -> None:
    """Store what is another value than before."""
    for each in _changed(lowering):
        node, reads = _expression(each, held(lowering, each.shared, each.name))
        with lowering.builder.at(each.origin):
            lowering.builder.effect(gast.Assign([_place(each)], node, None), reads)


def _changed(lowering: Lowering) -> Iterator[Outside]:
    """The names that are another value now than before."""
    for each in lowering.outside.values():
        value = held(lowering, each.shared, each.name)
        named = _name(value) is not None and _name(value) == _name(each.before)
        if not (named or value is each.before or is_same(value, each.before)):
            yield each


def go_into(lowering: Lowering, program: Program) -> None:
    """Note what a derivative that is written in place does to globals: who reads one that it has
    stored reads it too early. It may not read what the function around has assigned, for it was
    made for what that is when the code is called."""
    names = {(id(each.space), each.name): each for each in _changed(lowering)}
    for capture in program.captures:
        source = capture.source or (None,)
        key = (id(getattr(source[0], "space", source[0])), source[-1])
        if key in names:
            raise _in_a_derivative(names[key].name)
    for space, name in _stored(program):
        if (id(space), name) in names:
            raise _in_a_derivative(name)
        what = f"the global {name!r}, which a function that is differentiated inside has assigned,"
        poison = Poison(what, lowering.builder.origin)
        key, shared = (id(space), name), lowering.memory.box(Tree(dict, (name,), (poison,)))
        shared.born = 0
        lowering.outside[key] = Outside(space, name, shared, poison, lowering.builder.origin)


def _stored(program: Program) -> Iterator[tuple[dict[str, Any], str]]:
    """The names that a program stores: (names of the module, name)."""
    inner = (block for each in reached([program]) for block in each.blocks)
    for each in (statement for block in (program, *inner) for statement in block.body):
        if not isinstance(each, form.Effect) or not isinstance(each.node, gast.Assign):
            continue
        (place,) = each.node.targets
        if isinstance(place, gast.Attribute):
            yield vars(place.value.value), place.attr
        else:
            yield place.value.value, place.slice.value


def _in_a_derivative(name: str) -> S2SError:
    return SharedMemoryError(
        "S2S207",
        f"the global {name!r}, which is assigned, in a function that is differentiated inside",
        help="pass it as an argument and return the new value",
    )


def _place(each: Outside) -> gast.AST:
    """`module.x`, or the entry of names that are no module's."""
    module = sys.modules.get(each.space.get("__name__", ""))
    if module is not None and vars(module) is each.space:
        return gast.Attribute(form.constant(module), each.name, gast.Store())
    return gast.Subscript(form.constant(each.space), form.constant(each.name), gast.Store())


def _name(value: Any) -> str | None:
    return value.name if isinstance(value, Symbol) else None


def _expression(each: Outside, value: Any) -> tuple[gast.AST, dict[str, Symbol]]:
    """What is stored: of an array a copy, for what the function does with its memory is its own."""
    value = as_result(value)
    if isinstance(value, Symbol):
        now = settled(value)
        node: gast.AST = form.name(now.name)
        if not is_immutable(value):
            node = gast.Call(form.constant(np.copy), [node], [])
        return node, {now.name: now}
    if value is None or type(value) in (bool, int, float, complex, str):
        return form.constant(value), {}
    raise _not_stored(each)


def _not_stored(each: Outside) -> S2SError:
    return SharedMemoryError(
        "S2S207",
        f"the global {each.name!r} is another object when the function ends",
        origin=each.origin,
        why="only numbers, texts, None and arrays are stored into a module",
        help="return it beside the value, `return y, log`, or set it before the function is called",
    )
