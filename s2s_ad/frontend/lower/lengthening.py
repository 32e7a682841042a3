"""Loops over a list that gets longer or shorter meanwhile: Python asks for its length each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.updates import makers_in, root_of
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower import rows
from s2s_ad.frontend.lower.comprehensions import private
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.desugar import quote
from s2s_ad.frontend.lower.entries import may_lack_items
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
    before, start = _content(box), len(lowering.builder.body)
    left = run()
    if not _is_as_long(lowering.builder, start, _content(box), before):
        raise UnsupportedError(
            "S2S201",
            "a list that may get longer or shorter while a loop reads it",
            origin=lowering.builder.origin,
            why="where that happens is not seen in the body of the loop",
            help="loop over a copy of it: list(...)",
        )
    return left


def _content(box: Box) -> Any:
    return box.content if may_lack_items(box) else rows.measure(box.content)


def _is_as_long(builder: Builder, start: int, now: Any, before: Any) -> bool:
    if not (isinstance(now, Symbol) and isinstance(before, Symbol)):
        return now is before
    makers = makers_in(builder.body[start:])
    return root_of(makers, form.name(now.name), before.name) == before.name
