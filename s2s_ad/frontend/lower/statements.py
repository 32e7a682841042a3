"""Assignments, unpacking, expression statements, return and pass."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.program import Hint
from s2s_ad.core.tree import Tree, is_namedtuple
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.core import CONTINUE, Lowering, statement
from s2s_ad.frontend.lower.effects import keep_statement
from s2s_ad.frontend.lower.operators import apply_operator


@statement(gast.Assign)
def assign(lowering: Lowering, node: gast.Assign) -> Any:
    """a = b = value; every target gets the same value."""
    value = lowering.evaluate(node.value)
    for target in node.targets:
        bind(lowering, target, value)
    return CONTINUE


@statement(gast.AnnAssign)
def annotated(lowering: Lowering, node: gast.AnnAssign) -> Any:
    """a: int = value; the annotation says nothing to the compiler."""
    if node.value is not None:
        bind(lowering, node.target, lowering.evaluate(node.value))
    return CONTINUE


@statement(gast.AugAssign)
def augmented(lowering: Lowering, node: gast.AugAssign) -> Any:
    """a += value on a name: for arrays that only this name holds, the same as a = a + value."""
    if not isinstance(node.target, gast.Name):
        raise lowering.refuse(
            node,
            "an update in place of an element or an attribute is not supported",
            "updates in place come with a later version; build a new array",
        )
    old = lowering.frame.locals.get(node.target.id)
    if old is None:
        raise UnsupportedError(
            "S2S202",
            f"the local name {node.target.id!r} is updated before it is assigned",
            origin=lowering.origin(node.target),
        )
    value = lowering.evaluate(node.value)
    refuse_shared(lowering, node, old)
    result = apply_operator(lowering, node.op, old, value)
    bind(lowering, node.target, in_dtype_of(lowering, node, old, result))
    return CONTINUE


def refuse_shared(lowering: Lowering, node: gast.AugAssign, old: Any) -> None:
    """`a += v` writes into memory that another name may share; a new array is certain."""
    if isinstance(old, Tree):
        raise lowering.refuse(node, "an update in place of a container is not supported")
    if not isinstance(old, Symbol) or old.shape == ():
        return
    holders = [key for frame in lowering.frames for key, v in frame.locals.items() if v is old]
    if len(holders) > 1 or may_be_shared(lowering, old):
        name = node.target.id
        raise UnsupportedError(
            "S2S207",
            f"{name} {_symbol(node.op)}= ... changes an array that something else may hold",
            origin=lowering.origin(node),
            why="the array came from outside the function, or another name may share its memory",
            help=f"write {name} = {name} {_symbol(node.op)} ...",
        )


def may_be_shared(lowering: Lowering, value: Symbol) -> bool:
    """Inputs, captured arrays and views may share memory; so may what a view was taken of."""
    rule, _, _ = lowering.builder.definition(value)
    if rule is None or rule.view:
        return True
    definitions = lowering.builder.definitions.values()
    return any(
        each.view and any(isinstance(o, Symbol) and o.name == value.name for o in operands)
        for each, operands, _ in definitions
    )


def in_dtype_of(lowering: Lowering, node: gast.AugAssign, old: Any, result: Any) -> Any:
    """An update in place keeps the dtype of the array."""
    if not isinstance(old, Symbol) or not isinstance(result, Symbol) or not old.shape:
        return result
    if values.missing((old.dtype, result.dtype)) or old.dtype == result.dtype:
        return result
    if not np.can_cast(result.dtype, old.dtype, "same_kind"):
        raise UnsupportedError(
            "S2S203",
            f"cannot put values of {result.dtype} into an array of {old.dtype}",
            origin=lowering.origin(node),
        )
    return result.astype(old.dtype.type)


def _symbol(operation: gast.AST) -> str:
    symbols = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "Pow": "**", "MatMult": "@"}
    return symbols.get(type(operation).__name__, type(operation).__name__)


@statement(gast.Return)
def returned(lowering: Lowering, node: gast.Return) -> Any:
    return None if node.value is None else lowering.evaluate(node.value)


@statement(gast.Pass)
def passed(lowering: Lowering, node: gast.Pass) -> Any:
    return CONTINUE


@statement(gast.Expr)
def expression_statement(lowering: Lowering, node: gast.Expr) -> Any:
    """A docstring, a print or a log; other values are computed and dropped."""
    if not isinstance(node.value, gast.Constant) and not keep_statement(lowering, node):
        lowering.evaluate(node.value)
    return CONTINUE


# ---- targets -------------------------------------------------------------------------------------


def bind(lowering: Lowering, target: gast.AST, value: Any) -> None:
    """Assign to a name, or to a nest of names."""
    if isinstance(target, gast.Name):
        hint = Hint(target.id, "user")
        lowering.frame.locals[target.id] = lowering.builder.named(value, hint)
    elif isinstance(target, gast.Tuple | gast.List):
        unpack(lowering, target, value)
    else:
        raise lowering.refuse(
            target,
            "an assignment to an element or an attribute is not supported",
            "updates in place come with a later version; build a new array",
        )


def unpack(lowering: Lowering, target: gast.Tuple, value: Any) -> None:
    """a, (b, *c) = value."""
    stars = [i for i, each in enumerate(target.elts) if isinstance(each, gast.Starred)]
    items = items_of(lowering, target, value, starred=bool(stars))
    wanted, count = len(target.elts), len(items)
    if count < wanted - len(stars) or (count > wanted and not stars):
        raise UnsupportedError(
            "S2S203",
            f"cannot unpack {count} values into {wanted} names",
            origin=lowering.origin(target),
        )
    if stars:
        start, stop = stars[0], count - (wanted - stars[0] - 1)
        rest = items[start:stop]
        items[start:stop] = [Tree(list, tuple(range(len(rest))), tuple(rest))]
    for each, item in zip(target.elts, items, strict=True):
        bind(lowering, each.value if isinstance(each, gast.Starred) else each, item)


def items_of(lowering: Lowering, target: gast.Tuple, value: Any, *, starred: bool) -> list:
    if isinstance(value, Tree):
        if value.kind in (tuple, list) or is_namedtuple(value.kind):
            return list(value.items)
        if value.kind is dict:
            return list(value.keys)
    if isinstance(value, str | range):
        return list(value)
    if isinstance(value, Symbol):
        known = value.shape[0] if value.shape else None
        if isinstance(known, int):
            return [value[i] for i in range(known)]
        if isinstance(value.fact, values.Unknown) and not starred:
            return [value[i] for i in range(len(target.elts))]
    raise UnsupportedError(
        "S2S205",
        "unpacking a value whose length is not known",
        origin=lowering.origin(target),
        help="index the rows: a = x[0]; b = x[1]",
    )
