"""x[i], x[1:, None], params["w"]."""

from __future__ import annotations

import operator
from typing import Any

import gast

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.containers import is_sequence, known_key, sequence
from s2s_ad.frontend.lower.core import Lowering, expression
from s2s_ad.frontend.resolve import unwrap


@expression(gast.Subscript)
def subscript(lowering: Lowering, node: gast.Subscript) -> Any:
    """`x[i, 1:, None, ..., mask]`, `params["w"]` Keys of containers have to be known."""
    value, index = lowering.evaluate(node.value), lowering.evaluate(node.slice)
    if isinstance(value, Tree):
        return _of_container(lowering, value, index)
    if isinstance(value, Symbol):
        return lowering.call(operator.getitem, value, as_index(index))
    known = unwrap(value)
    if isinstance(known, str | bytes | range):
        return known[known_position(lowering, index)]
    raise UnsupportedError("S2S201", f"a subscript of a {type(known).__name__}")


def _of_container(lowering: Lowering, value: Tree, index: Any) -> Any:
    """An item of a known container."""
    if is_sequence(value):
        position = known_position(lowering, index)
        if isinstance(position, slice):
            items = value.items[position]
            return sequence(list if value.kind is list else tuple, list(items))
        return value.items[position]
    if value.kind is dict:
        key = known_key(lowering, index)
        if key not in value.keys:
            raise KeyError(f"{key!r} is not among {list(value.keys)}")
        return value.get(key)
    raise UnsupportedError("S2S201", f"a subscript of a {value.kind.__name__}")


def known_position(lowering: Lowering, index: Any) -> int | slice:
    """An index into a container, which has to be known when code is generated."""
    if isinstance(index, slice):
        bounds = (index.start, index.stop, index.step)
        return slice(*(each if each is None else operator.index(each) for each in bounds))
    if isinstance(index, Symbol) and isinstance(index.fact, values.Array) and index.shape:
        raise UnsupportedError(
            "S2S201",
            "an index into a list or tuple that is an array",
            help="put the items into an array: np.stack(items)[i]",
        )
    return operator.index(unwrap(index))


def as_index(index: Any) -> Any:
    """The index in the form that rules take: ints, slices, None, Ellipsis, Symbols, tuples."""
    if is_sequence(index):
        items = tuple(as_index(each) for each in index.items)
        return list(items) if index.kind is list else items
    if isinstance(index, Symbol):
        if values.is_inexact(index.fact) and not isinstance(index.fact, values.Unknown):
            raise UnsupportedError("S2S203", "an index that is not an integer or a boolean")
        return index
    if index is None or isinstance(index, int | slice) or index is Ellipsis:
        return index
    kind = index.kind if isinstance(index, Tree) else type(unwrap(index))
    raise UnsupportedError("S2S203", f"an index that is a {kind.__name__}")


@expression(gast.Slice)
def slice_(lowering: Lowering, node: gast.Slice) -> Any:
    """`x[a:b:c]` With bounds that are integers, known or not."""
    bounds = (node.lower, node.upper, node.step)
    return slice(*(None if each is None else _bound(lowering, each) for each in bounds))


def _bound(lowering: Lowering, node: gast.AST) -> Any:
    value = lowering.evaluate(node)
    known = isinstance(value, Symbol) and not isinstance(value.fact, values.Unknown)
    inexact = known and values.is_inexact(value.fact)
    if inexact or not isinstance(value, Symbol | int | None):
        raise UnsupportedError(
            "S2S203", "a slice bound that is not an integer", origin=lowering.origin(node)
        )
    return value
