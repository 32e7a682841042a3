"""Indices of innermost loops that LLVM knows too little of are marked as counted from the start.

Numba asks of each index whether it is below 0. LLVM answers that for an index that goes up from a
number, but not for the sum of two variables: then the question stays, and the loop has no vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

import gast

from s2s_ad.native.spelling import Expression, call, names_in, value_of


def counted(body: list[gast.stmt]) -> list[gast.stmt]:
    """The statements, with `at` around such indices."""
    for each in (node for statement in body for node in gast.walk(statement)):
        if isinstance(each, gast.For) and not _has_loops(each.body):
            _mark(each)
    return body


def _has_loops(body: Sequence[gast.stmt]) -> bool:
    nodes = (node for statement in body for node in gast.walk(statement))
    return any(isinstance(each, gast.For | gast.While) for each in nodes)


def _mark(loop: gast.For) -> None:
    varying = {loop.target.id}
    for node in (each for statement in loop.body for each in gast.walk(statement)):
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store):
            varying.add(node.id)
    plain = loop.target.id if _is_plain(loop) else ""
    for node in (each for statement in loop.body for each in gast.walk(statement)):
        if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name):
            node.slice = _marked(node.slice, varying, plain)


def _is_plain(loop: gast.For) -> bool:
    """Whether the index goes up from a number."""
    bounds = loop.iter.args
    return len(bounds) == 1 or (len(bounds) == 2 and value_of(bounds[0]) is not None)


def _marked(index: Expression, varying: set[str], plain: str) -> Expression:
    if isinstance(index, gast.Tuple):
        elements = [_marked(each, varying, plain) for each in index.elts]
        return gast.Tuple(elements, index.ctx)
    names = names_in(index)
    is_sum = isinstance(index, gast.BinOp | gast.Name)
    return call("at", index) if is_sum and names & varying and names != {plain} else index
