"""Elements that are the same in each pass of an innermost loop are read once, before it.

LLVM does not do that by itself where the loop stores into another array: for all that it knows the
two may overlap, and then the loop has no vectors.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gast

from s2s_ad.emit.provenance import with_origin
from s2s_ad.native.fusion import Kin, Uses, uses_of
from s2s_ad.native.spelling import (
    assign,
    compare,
    if_,
    name,
    names_in,
    number,
    same,
    value_of,
)


def read_ahead(body: list[gast.stmt], parameters: Sequence[str]) -> list[gast.stmt]:
    """The statements of a function, with the elements that stay in a loop read before it."""
    return _Ahead(body, parameters).block(body, ())


class _Ahead:
    def __init__(self, body: list[gast.stmt], parameters: Sequence[str]):
        self.kin = Kin(body, parameters)
        self.taken = {each for statement in body for each in names_in(statement)}
        self.names: dict[str, str] = {}  # of elements that are read ahead, by their text

    def block(self, body: list[gast.stmt], around: tuple[gast.For, ...]) -> list[gast.stmt]:
        """The statements of a block.

        Args:
            around: the loops that are open.
        """
        made: list[gast.stmt] = []
        for each in body:
            self.kin.enter(each)
            is_loop = isinstance(each, gast.For)
            for part in ("body", "orelse"):
                inner = getattr(each, part, None)
                if isinstance(inner, list) and inner:
                    with self.kin.block():
                        setattr(
                            each, part, self.block(inner, (*around, each) if is_loop else around)
                        )
            made += self._loop(each, around) if is_loop else [each]
        return made

    def _loop(self, loop: gast.For, around: Sequence[gast.For]) -> list[gast.stmt]:
        uses = uses_of(loop.body)
        is_innermost = not any(isinstance(e, gast.For) for s in loop.body for e in gast.walk(s))
        if uses.is_opaque or not is_innermost or not uses.stores or not _step(loop):
            return [loop]
        varying = uses.writes | {loop.target.id}
        found = {
            gast.dump(each): each
            for each in _in_each_pass(loop.body)
            if _is_plain(each) and not names_in(each) & varying and self._stays(each, uses)
        }
        if not found:
            return [loop]
        names = {key: self._name(key, each) for key, each in found.items()}
        ahead = [_at(assign(names[key], each), loop) for key, each in found.items()]
        loop.body = [_replaced(each, names) for each in loop.body]
        return [*ahead, loop] if _has_a_pass(loop, around) else [_at(_if_any(ahead, loop), loop)]

    def _stays(self, node: gast.Subscript, uses: Uses) -> bool:
        """Whether no statement of a loop stores into the array."""
        return all(
            node.value.id != each and self.kin.are_apart(node.value.id, each)
            for each in uses.stores
        )

    def _name(self, key: str, node: gast.Subscript) -> str:
        """The name of an element: x_i of x[i]."""
        if key not in self.names:
            names = [each.id for each in gast.walk(node.slice) if isinstance(each, gast.Name)]
            text = "_".join([node.value.id, *(names or ["element"])])
            own, count = text, 2
            while own in self.taken:
                own, count = f"{text}_{count}", count + 1
            self.taken.add(own)
            self.names[key] = own
        return self.names[key]


def _in_each_pass(node: Any) -> Iterator[gast.Subscript]:
    """The elements that each pass reads, whatever conditions are."""
    if isinstance(node, list):
        for each in node:
            yield from _in_each_pass(each)
    elif isinstance(node, gast.If | gast.IfExp):
        yield from _in_each_pass(node.test)
    elif isinstance(node, gast.BoolOp):
        yield from _in_each_pass(node.values[0])
    elif isinstance(node, gast.AST):
        if isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Load):
            yield node
        for each in node._fields:
            yield from _in_each_pass(getattr(node, each, None))


def _is_plain(node: gast.Subscript) -> bool:
    """Whether it is an element of an array that has a name, at an index without further reads."""
    parts = gast.walk(node.slice)
    return isinstance(node.value, gast.Name) and not any(
        isinstance(each, gast.Subscript | gast.Call | gast.Slice) for each in parts
    )


def _has_a_pass(loop: gast.For, around: Sequence[gast.For]) -> bool:
    """Whether a loop has a pass where one around it has: it is as long, or of known length."""
    if len(loop.iter.args) == 1 and (value_of(loop.iter.args[0]) or 0) > 0:
        return True
    return any(
        same(loop.iter, each.iter) and not names_in(each.iter) & uses_of(each.body).writes
        for each in around
    )


def _step(loop: gast.For) -> int:
    """By how much the index grows from pass to pass; 0 where that is not known."""
    return (value_of(loop.iter.args[2]) or 0) if len(loop.iter.args) == 3 else 1


def _if_any(ahead: list[gast.stmt], loop: gast.For) -> gast.stmt:
    """Statements before a loop, where it has a pass."""
    bounds = loop.iter.args
    first, last = (number(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
    first, last = (last, first) if _step(loop) < 0 else (first, last)
    return if_(compare(last, gast.Gt, first), [*ahead, loop])


def _replaced(node: Any, names: Mapping[str, str]) -> Any:
    """A tree in which elements have names."""
    if isinstance(node, list):
        return [_replaced(each, names) for each in node]
    if not isinstance(node, gast.AST):
        return node
    if isinstance(node, gast.Subscript):
        own = names.get(gast.dump(node))
        if own is not None:
            return name(own)
    made = copy.copy(node)
    for each in node._fields:
        setattr(made, each, _replaced(getattr(node, each, None), names))
    return made


def _at(node: gast.stmt, like: gast.stmt) -> gast.stmt:
    return with_origin(node, getattr(like, "origin", None), getattr(like, "phase", ""))
