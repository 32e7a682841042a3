"""x[i], x[1:, None], params["w"]."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree, is_namedtuple, to_object
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.containers import sequence
from s2s_ad.frontend.lower.core import Lowering, expression
from s2s_ad.frontend.resolve import Captured, unwrap


@expression(gast.Subscript)
def subscript(lowering: Lowering, node: gast.Subscript) -> Any:
    value, index = lowering.evaluate(node.value), lowering.evaluate(node.slice)
    if isinstance(value, Tree):
        return _of_container(lowering, node, value, index)
    if isinstance(value, Symbol):
        return value[as_index(lowering, node, index)]
    known = unwrap(value)
    if isinstance(known, str | range) and not isinstance(index, Symbol | Tree):
        return known[index]
    raise UnsupportedError(
        "S2S201", f"a subscript of {type(known).__name__}", origin=lowering.origin(node)
    )


def _of_container(lowering: Lowering, node: gast.AST, value: Tree, index: Any) -> Any:
    """An item of a known container."""
    sequential = value.kind in (tuple, list) or is_namedtuple(value.kind)
    if sequential and isinstance(index, slice):
        items = value.items[index]
        return sequence(list if value.kind is list else tuple, list(items))
    if isinstance(index, Symbol):
        raise lowering.refuse(
            node,
            "an index into a list or tuple that is not known when code is generated",
            "put the items into an array: np.stack(items)[i]",
        )
    index = to_object(index)
    if sequential:
        return value.items[index]
    if value.kind is dict and index in value.keys:
        return value.get(index)
    raise UnsupportedError(
        "S2S203", f"KeyError: {index!r} is not among {value.keys}", origin=lowering.origin(node)
    )


def as_index(lowering: Lowering, node: gast.AST, index: Any) -> Any:
    """The index in the form that rules take: ints, slices, None, Ellipsis, Symbols, tuples."""
    if isinstance(index, Tree):
        items = tuple(as_index(lowering, node, each) for each in index.items)
        return items if index.kind is tuple else list(items)
    if isinstance(index, Symbol):
        if index.dtype is not None and index.dtype.kind in "fc":
            raise UnsupportedError("S2S203", "an index that is not an integer or a boolean")
        return index
    if isinstance(index, Captured):
        raise UnsupportedError("S2S203", f"an index that is a {type(index.value).__name__}")
    plain = (int, slice, str, type(None), type(Ellipsis), bool)
    if index is np.newaxis or isinstance(index, plain):
        return index
    raise UnsupportedError("S2S203", f"an index that is a {type(index).__name__}")


@expression(gast.Slice)
def slice_(lowering: Lowering, node: gast.Slice) -> Any:
    bounds = (node.lower, node.upper, node.step)
    return slice(*(None if each is None else _bound(lowering, each) for each in bounds))


def _bound(lowering: Lowering, node: gast.AST) -> Any:
    value = lowering.evaluate(node)
    if isinstance(value, Symbol):
        if values.is_inexact(value.fact):
            raise UnsupportedError("S2S203", "a slice bound that is not an integer")
        return value
    return value
