"""Indices as Core writes them: what one takes of an array, and whether two are the same."""

from __future__ import annotations

import math
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
        return "array" if fact.dtype.kind == "b" else "unknown"
    return "unknown"


def index_text(index: gast.AST | None) -> str:
    """A text that is equal for equal indices."""
    if isinstance(index, gast.Name):
        return index.id
    if isinstance(index, gast.Constant):
        return repr(index.value)
    if isinstance(index, gast.Slice):
        return ":".join(map(index_text, (index.lower, index.upper, index.step)))
    items = getattr(index, "elts", ())
    return f"({', '.join(map(index_text, items))})"


def are_apart(a: gast.AST, b: gast.AST) -> bool:
    """Whether two indices of one array are certain to name no element in common."""
    pairs = zip(_spans(a), _spans(b), strict=False)
    return any(one[1] <= other[0] or other[1] <= one[0] for one, other in pairs)


def _spans(index: gast.AST) -> list[tuple[float, float]]:
    """From where to where an index reaches along the first axes, as far as constants say so."""
    found = []
    for item in index.elts if isinstance(index, gast.Tuple) else [index]:
        if isinstance(item, gast.Constant) and (item.value is None or item.value is Ellipsis):
            break  # which axis comes next is another question
        found.append(_span(item))
    return found


def _span(item: gast.AST) -> tuple[float, float]:
    if isinstance(item, gast.Slice):
        start, stop = (getattr(each, "value", None) for each in (item.lower, item.upper))
        forwards = item.step is None or getattr(item.step, "value", -1) > 0
        known = forwards and (item.lower is None or _is_place(start))
        end: Any = stop if _is_place(stop) else math.inf
        return (start or 0, end) if known else (0, math.inf)
    place: Any = getattr(item, "value", None)
    return (place, place + 1) if _is_place(place) else (0, math.inf)


def _is_place(value: Any) -> bool:
    return type(value) is int and value >= 0
