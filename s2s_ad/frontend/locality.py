"""Names that a loop has for itself: every pass assigns them first, and nothing else mentions them.

Such names are neither carried from pass to pass nor there after the loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import gast

from s2s_ad.frontend.remembered import remembered
from s2s_ad.frontend.scopes import bound_by, bound_names

SINGLE = (gast.Assign, gast.AnnAssign)


@remembered
def mentions(node: gast.AST) -> Mapping[str, frozenset[int]]:
    """The nodes that mention each name, by their identity."""
    found: dict[str, set[int]] = {}
    for each in gast.walk(node):
        for name in [each.id] if isinstance(each, gast.Name) else bound_by(each):
            found.setdefault(name, set()).add(id(each))
    return {name: frozenset(places) for name, places in found.items()}


def own_names(function: gast.AST, loop: gast.For | gast.While) -> set[str]:
    """The names that a loop in a function has for itself."""
    everywhere, inside = mentions(function), mentions(loop)
    bound, _ = bound_names([loop])
    own = {
        name
        for name in bound
        if name in everywhere and everywhere[name] <= inside[name] and assigns_first([loop], name)
    }
    functions = [each for each in gast.walk(loop) if isinstance(each, gast.FunctionDef)]
    while leaving := [each for each in functions if each.name in bound and each.name not in own]:
        own -= set().union(*map(mentions, leaving))  # called later, they read what is there then
        functions = [each for each in functions if each not in leaving]
    return own


def assigns_first(body: Sequence[gast.stmt], name: str) -> bool:
    """Whether the statements assign a name before they read it, on all paths that read it."""
    first, *rest = [each for each in body if name in mentions(each)] or [None]
    if first is None:
        return True
    if isinstance(first, SINGLE) and _is_target(first, name):
        return first.value is not None and name not in mentions(first.value)
    blocks = [getattr(first, field, None) or [] for field in ("body", "orelse")]
    if isinstance(first, gast.For):
        if name in mentions(first.iter):
            return False
        if name in mentions(first.target):
            return not rest and not _any(blocks[1], name) and _is_plain(first.target)
        return not rest and all(assigns_first(block, name) for block in blocks)
    if isinstance(first, gast.If | gast.While):
        if name in mentions(first.test):
            return False
        complete = isinstance(first, gast.If) and all(_any(block, name) for block in blocks)
        return (complete or not rest) and all(assigns_first(block, name) for block in blocks)
    return False


def _is_target(node: gast.Assign | gast.AnnAssign, name: str) -> bool:
    targets = node.targets if isinstance(node, gast.Assign) else [node.target]
    return all(map(_is_plain, targets)) and any(name in mentions(each) for each in targets)


def _is_plain(target: gast.AST) -> bool:
    """Whether the target is made of names alone."""
    kinds = (gast.Name, gast.Tuple, gast.List, gast.Starred, gast.expr_context)
    return all(isinstance(each, kinds) for each in gast.walk(target))


def _any(body: Sequence[gast.stmt], name: str) -> bool:
    return any(name in mentions(each) for each in body)
