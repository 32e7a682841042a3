"""Loops over a list that gets longer or shorter meanwhile: Python asks for its length each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.regions import Branch, Loop
from s2s_ad.core.rule import ITEM
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower import rows
from s2s_ad.frontend.lower.comprehensions import private
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.desugar import quote
from s2s_ad.frontend.lower.exits import Exits
from s2s_ad.frontend.lower.references import Box


def may_change_length(lowering: Lowering, node: gast.For, box: Box) -> bool:
    """Whether the body calls a method of the list, deletes of it, or stores a slice of it."""

    def is_it(each: Any) -> bool:
        return isinstance(each, gast.Name) and lowering.frame.locals.get(each.id) is box

    def changes(each: gast.AST) -> bool:
        if isinstance(each, gast.Call):
            return isinstance(each.func, gast.Attribute) and is_it(each.func.value)
        if isinstance(each, gast.AugAssign):
            return is_it(each.target)
        part = isinstance(each, gast.Subscript) and is_it(each.value)
        deleted = part and isinstance(each.ctx, gast.Del)
        return deleted or (part and isinstance(each.ctx, gast.Store) and not _is_item(each.slice))

    return any(changes(each) for line in node.body for each in gast.walk(line))


def _is_item(index: gast.AST) -> bool:
    return not isinstance(index, gast.Slice)


def index_by_index(lowering: Lowering, node: gast.For, box: Box) -> gast.While:
    """`for x in items` as `while` there is an item at the index: what Python does."""
    items, index = private("items"), private("position")
    lowering.frame.locals |= {items: box, index: 0}
    places = {"I": items, "K": index, "L": gast.Constant(value=len, kind=None), "X": node.target}
    places["B"] = node.body
    (loop,) = quote("while K < L(I):\n    X = I[K]\n    K = K + 1\n    B", node, places)
    return gast.copy_location(gast.While(loop.test, loop.body, node.orelse), node)


def watched(lowering: Lowering, box: Box, run: Callable[[], Exits]) -> Exits:
    """Run a pass of a loop over a list, which must be as long afterwards."""
    before = _content(box)
    left = run()
    if not _is_as_long(lowering.builder, _content(box), before):
        raise UnsupportedError(
            "S2S201",
            "a list that may get longer or shorter while a loop reads it",
            origin=lowering.builder.origin,
            why="where that happens is not seen in the body of the loop",
            help="loop over a copy of it: list(...)",
        )
    return left


def _content(box: Box) -> Any:
    (first, *_) = rows.columns(box.content)
    return first


def _is_as_long(builder: Builder, now: Any, before: Any) -> bool:
    if not (isinstance(now, Symbol) and isinstance(before, Symbol)):
        return now is before
    return _root(builder, now.name, before.name) == before.name


def _root(builder: Builder, name: str, goal: str = "") -> str | None:
    """The list of which this one is what updates of items make; a leaf, or the goal."""
    while name != goal:
        rule, operands, params = builder.definition(Symbol(builder, name))
        if rule is None:
            return name
        if rule.updates and not rule.at_end:
            (name, *_) = (each.name for each in operands if isinstance(each, Symbol))
            continue
        region, given, _ = builder.definition(operands[0]) if rule is ITEM else (None, [], {})
        inside = [_handed_through(each, given, region, params["index"]) for each in _blocks(region)]
        found = {None if each is None else _root(builder, each, goal) for each in inside}
        return found.pop() if len(found) == 1 else None
    return name


def _blocks(region: Any) -> tuple:
    if isinstance(region, Loop):
        return (region.body,)
    return region.blocks if isinstance(region, Branch) else ()


def _handed_through(block: Any, given: list, region: Any, index: int) -> str | None:
    """The operand that an output of a block is, but for updates of its items."""
    atom = block.outputs()[index]
    leaf = _root(Builder.of(block), atom.id) if isinstance(atom, gast.Name) else None
    if isinstance(region, Loop):
        names, operands = region.leaves(block).carried, region.parts(given).carried
    else:
        names, operands = block.leaves(), given[1:]
    found = operands[names.index(leaf)] if leaf in names else None
    return found.name if isinstance(found, Symbol) else None
