"""Tuples, lists, dicts and starred items."""

from __future__ import annotations

from typing import Any

import gast

from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree, is_namedtuple
from s2s_ad.frontend.lower.core import Lowering, expression
from s2s_ad.frontend.resolve import unwrap


def sequence(kind: type, items: list) -> Tree:
    return Tree(kind, tuple(range(len(items))), tuple(items))


@expression(gast.Tuple)
def tuple_display(lowering: Lowering, node: gast.Tuple) -> Any:
    return sequence(tuple, spread(lowering, node.elts))


@expression(gast.List)
def list_display(lowering: Lowering, node: gast.List) -> Any:
    return sequence(list, spread(lowering, node.elts))


@expression(gast.Dict)
def dict_display(lowering: Lowering, node: gast.Dict) -> Any:
    """{key: value, **other}; the keys have to be known."""
    entries: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        item = lowering.evaluate(value)
        if key is None:
            if not isinstance(item, Tree) or item.kind is not dict:
                raise lowering.refuse(node, "'**' of something that is not a known dict")
            entries.update(zip(item.keys, item.items, strict=True))
            continue
        known = unwrap(lowering.evaluate(key))
        if isinstance(known, Symbol | Tree):
            raise lowering.refuse(key, "a dict key that is not known when code is generated")
        entries[known] = item
    return Tree(dict, tuple(entries), tuple(entries.values()))


def spread(lowering: Lowering, nodes: list[gast.AST]) -> list:
    """The items, with *starred ones spread out."""
    items: list = []
    for node in nodes:
        if isinstance(node, gast.Starred):
            items += known_items(lowering, lowering.evaluate(node.value), node)
        else:
            items.append(lowering.evaluate(node))
    return items


def known_items(lowering: Lowering, value: Any, node: gast.AST) -> list:
    """The items of a value whose length is known."""
    if isinstance(value, Tree) and (value.kind in (tuple, list) or is_namedtuple(value.kind)):
        return list(value.items)
    if isinstance(value, Tree) and value.kind is dict:
        return list(value.keys)
    if isinstance(value, range | str):
        return list(value)
    if isinstance(value, Symbol) and value.shape and isinstance(value.shape[0], int):
        return [value[i] for i in range(value.shape[0])]
    raise lowering.refuse(
        node, "a value whose number of items is not known", "use a tuple or a list of known length"
    )
