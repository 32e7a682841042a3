"""Indices as Core writes them: what one takes of an array, and whether two are the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2s_ad.core import values


def index_kind(index: gast.AST, fact: Any, facts: Callable[[gast.AST], Any]) -> str:
    """What an index takes of an array.

    "number" (one element), "row" (a view, without some axes), "slice" (a view), "new" (elements in
    new memory), or "unknown".
    """
    items = index.elts if isinstance(index, gast.Tuple) else [index]
    kinds = [_item_kind(item, facts) for item in items]
    if "unknown" in kinds or not isinstance(fact, values.Array):
        return "unknown"
    if "array" in kinds:
        return "new"
    if all(kind == "integer" for kind in kinds):
        return "number" if fact.shape is not None and len(kinds) == len(fact.shape) else "row"
    return "row" if "integer" in kinds else "slice"


def _item_kind(item: gast.AST, facts: Callable[[gast.AST], Any]) -> str:
    if isinstance(item, gast.Slice):
        return "slice"
    if isinstance(item, gast.Constant) and (item.value is None or item.value is Ellipsis):
        return "slice"
    fact = facts(item)
    if fact == values.Scalar(int):
        return "integer"
    if isinstance(fact, values.Array) and fact.dtype is not None and fact.shape is not None:
        if fact.dtype.kind in "iu":
            return "array" if fact.shape else "integer"
        return "array" if fact.dtype.kind == "b" and fact.shape else "unknown"
    return "unknown"


def index_text(index: gast.AST | None) -> str:
    """The same text for the same index."""
    if isinstance(index, gast.Name):
        return index.id
    if isinstance(index, gast.Constant):
        return repr(index.value)
    if isinstance(index, gast.Slice):
        return ":".join(map(index_text, (index.lower, index.upper, index.step)))
    items = getattr(index, "elts", ())
    return f"({', '.join(map(index_text, items))})"
