"""Statements that stand for a construct, written as a text with places to fill in.

    quote("T = 0\\nfor x in I: T = T + E", node, {"E": element, "T": "total"})

Upper-case names are places: of an expression, a list of statements, or a local's name. The names of
the locals that constructs need are no identifiers of Python, so no user has them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import gast


@functools.lru_cache(maxsize=256)
def _parsed(text: str) -> list[gast.stmt]:
    return gast.parse(text).body


def quote(text: str, node: gast.AST, places: Mapping[str, Any]) -> list[gast.stmt]:
    """The statements with the places filled in; all of them come from `node`."""
    return [each for statement in _parsed(text) for each in _statement(statement, node, places)]


def _statement(statement: gast.stmt, node: gast.AST, places: Mapping[str, Any]) -> list[gast.stmt]:
    if isinstance(statement, gast.Expr) and isinstance(statement.value, gast.Name):
        found = places.get(statement.value.id)
        if isinstance(found, list):
            return found
    return [_filled(statement, node, places)]


def _filled(tree: Any, node: gast.AST, places: Mapping[str, Any]) -> Any:
    if isinstance(tree, list):
        if tree and isinstance(tree[0], gast.stmt):
            return [each for item in tree for each in _statement(item, node, places)]
        return [_filled(item, node, places) for item in tree]
    if not isinstance(tree, gast.AST):
        return tree
    if isinstance(tree, gast.Name) and tree.id in places:
        found = places[tree.id]
        if isinstance(found, gast.AST):
            return found
        name = gast.Name(id=found, ctx=tree.ctx, annotation=None, type_comment=None)
        return gast.copy_location(name, node)
    fields = {field: _filled(getattr(tree, field, None), node, places) for field in tree._fields}
    return gast.copy_location(type(tree)(**fields), node)
