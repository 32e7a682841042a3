"""Assignments, unpacking, expression statements, return and pass."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.program import Hint
from s2s_ad.core.tree import Tree, to_object
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.attributes import shape_of
from s2s_ad.frontend.lower.containers import known_items, rows, sequence
from s2s_ad.frontend.lower.core import CONTINUE, Lowering, statement
from s2s_ad.frontend.lower.effects import keep_statement, require
from s2s_ad.frontend.lower.memory import is_immutable, symbols
from s2s_ad.frontend.lower.operators import apply_operator
from s2s_ad.frontend.resolve import unwrap


@statement(gast.Assign)
def assign(lowering: Lowering, node: gast.Assign) -> Any:
    """`a = (b, *c) = value` Names, nested and starred; not elements or attributes."""
    value = lowering.evaluate(node.value)
    for target in node.targets:
        bind(lowering, target, value)
    return CONTINUE


@statement(gast.AnnAssign)
def annotated(lowering: Lowering, node: gast.AnnAssign) -> Any:
    """`a: float = value` The annotation says nothing to the compiler."""
    if node.value is not None:
        bind(lowering, node.target, lowering.evaluate(node.value))
    return CONTINUE


@statement(gast.AugAssign)
def augmented(lowering: Lowering, node: gast.AugAssign) -> Any:
    """`a += value` Of a name, where nothing else holds the array: a new value for it."""
    if not isinstance(node.target, gast.Name):
        raise lowering.refuse(
            node,
            "an update in place of an element or an attribute is not supported",
            "updates in place come with a later version; build a new array",
        )
    old = lowering.lookup(node.target)
    value = lowering.evaluate(node.value)
    result = apply_operator(lowering, node.op, old, value)
    if isinstance(old, Symbol):
        refuse_shared(lowering, node, old)
        result = as_stored(lowering, node, old, result)
    elif isinstance(old, Tree) and old.kind is not tuple:
        raise lowering.refuse(node, "an update in place of a container is not supported")
    bind(lowering, node.target, result)
    return CONTINUE


def refuse_shared(lowering: Lowering, node: gast.AugAssign, old: Symbol) -> None:
    """`a += v` writes into the memory of a: it has to be of a alone."""
    if is_immutable(old):
        return
    held = [frame.locals for frame in lowering.frames]
    holders = sum(each is old for each in symbols([tuple(names.values()) for names in held]))
    if holders == 1 and lowering.memory.is_own(old):
        return
    name, symbol = node.target.id, _symbol(node.op)
    raise UnsupportedError(
        "S2S207",
        f"{name} {symbol}= ... changes an array that something else may hold",
        why="the array came from outside the function, or another name may share its memory",
        help=f"write {name} = {name} {symbol} ...",
    )


def as_stored(lowering: Lowering, node: gast.AugAssign, old: Symbol, result: Any) -> Any:
    """An update in place keeps the dtype and the shape of the array."""
    if is_immutable(old) or not isinstance(result, Symbol):
        return result
    if not values.missing((old.dtype, result.dtype)) and old.dtype != result.dtype:
        if not np.can_cast(result.dtype, old.dtype, "same_kind"):
            raise TypeError(f"cannot put values of {result.dtype} into an array of {old.dtype}")
        result = lowering.call(np.ndarray.astype, result, old.dtype.type)
    if old.shape is None or values.same_shape(old.shape, result.shape):
        return result
    if len(old.shape) < len(result.shape) or any(map(_grows, old.shape, result.shape)):
        raise ValueError(f"the result of {_symbol(node.op)}= has another shape than the array")
    fitted = lowering.call(np.broadcast_to, result, to_object(shape_of(lowering, old)))
    return lowering.memory.renewed(fitted, own=True)


def _grows(old: Any, new: Any) -> bool:
    return old == 1 and values.known_not_one(new)


def _symbol(operation: gast.AST) -> str:
    symbols = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "Pow": "**", "MatMult": "@"}
    return symbols.get(type(operation).__name__, type(operation).__name__)


@statement(gast.Return)
def returned(lowering: Lowering, node: gast.Return) -> Any:
    """`return value` Anywhere in the function, also in branches that are decided."""
    return None if node.value is None else lowering.evaluate(node.value)


@statement(gast.Pass)
def passed(lowering: Lowering, node: gast.Pass) -> Any:
    """`pass`"""
    return CONTINUE


@statement(gast.Expr)
def expression_statement(lowering: Lowering, node: gast.Expr) -> Any:
    """`print(x)` Prints, warnings and logs run once; other values are dropped."""
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
        items[start:stop] = [sequence(list, rest)]
    for each, item in zip(target.elts, items, strict=True):
        bind(lowering, each.value if isinstance(each, gast.Starred) else each, item)


def items_of(lowering: Lowering, target: gast.Tuple, value: Any, *, starred: bool) -> list:
    found = known_items(lowering, value)
    if found is not None:
        return found
    if isinstance(value, Symbol) and value.shape != () and not starred:
        return checked_rows(lowering, value, len(target.elts))
    if isinstance(value, Symbol) and value.shape != ():
        raise UnsupportedError(
            "S2S205",
            "unpacking a value whose length is not known",
            origin=lowering.origin(target),
            help="index the rows: a = x[0]; rest = x[1:]",
        )
    raise TypeError(f"cannot unpack a {type(unwrap(value)).__name__}")


def checked_rows(lowering: Lowering, value: Symbol, count: int) -> list:
    """The rows of an array that has to have as many as there are names."""
    size = np.size(value, 0)
    require(lowering, size, count, f"{count} values expected to unpack")
    return rows(lowering, value, count)
