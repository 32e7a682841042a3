"""Names of loop text that values are only handed on between become one where they may."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import gast

from s2s_ad.emit.coalesce import Variables
from s2s_ad.emit.live_ranges import Liveness
from s2s_ad.emit.provenance import with_origin
from s2s_ad.native.spelling import names_in


def coalesced(
    body: list[gast.stmt], parameters: Sequence[str], telling: Collection[str] = ()
) -> list[gast.stmt]:
    """The statements of a function without the moves that need not be.

    Args:
        telling: names that say more than others, of which one that is the same may do without.
    """
    steps = [*_steps(body)]
    variables = Variables(steps, Liveness(steps, parameters, ()), (), {}, {})
    order = [*parameters, *_assigned(steps)]
    called: dict[str, str] = {}
    for name in [*parameters, *(each for each in order if each in telling), *order]:
        called.setdefault(variables.of(name), name)
    shown = {name: called[variables.of(name)] for name in order}
    return _renamed(body, {name: new for name, new in shown.items() if name != new})


# ---- statements as live ranges are told of them --------------------------------------------------


@dataclass
class Step:
    """A statement: what it reads and assigns, and which names it only hands on."""

    kind: str
    name: str = ""
    expression: Any = None
    targets: list[str] = field(default_factory=list)
    moves: list[tuple[str, gast.AST]] = field(default_factory=list)
    blocks: tuple[list[Step], ...] = ()

    def reads(self) -> list[str]:
        return sorted(names_in(self.expression)) if self.expression is not None else []

    def assigns(self) -> list[str]:
        return self.targets


def _steps(body: Iterable[gast.stmt]) -> Iterator[Step]:
    for node in body:
        if isinstance(node, gast.If):
            yield Step("if", expression=node.test, blocks=(_block(node.body), _block(node.orelse)))
        elif isinstance(node, gast.While):
            yield Step("while", expression=node.test, blocks=([], _block(node.body)))
        elif isinstance(node, gast.For):
            target = node.target.id
            yield Step("for", target, node.iter, [target], blocks=(_block(node.body),))
        elif isinstance(node, gast.Break):
            yield Step("break")
        elif isinstance(node, gast.Assign):
            yield _assignment(node)
        else:
            changed = isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name)
            yield Step("assign", expression=node, targets=[node.target.id] if changed else [])


def _block(body: Iterable[gast.stmt]) -> list[Step]:
    return [*_steps(body)]


def _assignment(node: gast.Assign) -> Step:
    (target,) = node.targets
    if isinstance(target, gast.Name):
        targets, values = [target], [node.value]
    elif isinstance(target, gast.Tuple):
        targets = target.elts
        values = node.value.elts if isinstance(node.value, gast.Tuple) else []
    else:  # an element
        return Step("assign", expression=gast.Tuple([target, node.value], gast.Load()))
    pairs = zip(targets, values, strict=True) if values else ()
    moves = [(t.id, v) for t, v in pairs if isinstance(v, gast.Name)]
    return Step("moves", "", node.value, [each.id for each in targets], moves)


def _assigned(steps: Iterable[Step]) -> Iterator[str]:
    for each in steps:
        yield from each.targets
        for block in each.blocks:
            yield from _assigned(block)


# ---- the new names -------------------------------------------------------------------------------


def _renamed(body: list[gast.stmt], names: dict[str, str]) -> list[gast.stmt]:
    for node in (each for statement in body for each in gast.walk(statement)):
        if isinstance(node, gast.Name):
            node.id = names.get(node.id, node.id)
    return _without_moves(body)


def _without_moves(body: list[gast.stmt]) -> list[gast.stmt]:
    """The statements without those that assign a name to itself, and blocks that are empty."""
    made = []
    for node in body:
        for block in ("body", "orelse"):
            inner = getattr(node, block, None)
            if isinstance(inner, list):
                setattr(node, block, _without_moves(inner))
        node = _needed(node)
        if node is not None:
            made.append(node)
    return made


def _needed(node: gast.stmt) -> gast.stmt | None:
    if isinstance(node, gast.Assign):
        return _without_self(node)
    if isinstance(node, gast.If) and not node.body:
        if not node.orelse:
            return None
        node.test = gast.UnaryOp(gast.Not(), node.test)
        node.body, node.orelse = node.orelse, []
    elif isinstance(node, gast.For | gast.While) and not node.body:
        node.body = [gast.Pass()]
    return node


def _without_self(node: gast.Assign) -> gast.stmt | None:
    """An assignment without what is assigned to itself."""
    (target,) = node.targets
    if isinstance(target, gast.Name):
        return None if _is_name(node.value, target.id) else node
    if not isinstance(target, gast.Tuple) or not isinstance(node.value, gast.Tuple):
        return node
    pairs = zip(target.elts, node.value.elts, strict=True)
    left = [(t, v) for t, v in pairs if not _is_name(v, t.id)]
    if len(left) == len(target.elts):
        return node
    if len(left) > 1:
        target.elts, node.value.elts = map(list, zip(*left, strict=True))
        return node
    made = [with_origin(gast.Assign([t], v, None), *_place(node)) for t, v in left]
    return made[0] if made else None


def _place(node: gast.stmt) -> tuple:
    return getattr(node, "origin", None), getattr(node, "phase", "")


def _is_name(node: gast.AST, text: str) -> bool:
    return isinstance(node, gast.Name) and node.id == text
