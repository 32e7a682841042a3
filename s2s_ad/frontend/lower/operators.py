"""Names, constants, arithmetic, comparison."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.core import Lowering, expression
from s2s_ad.frontend.resolve import unwrap

BINARY: dict[type, Callable] = {
    gast.Add: operator.add,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.LShift: operator.lshift,
    gast.MatMult: operator.matmul,
    gast.Mod: operator.mod,
    gast.Mult: operator.mul,
    gast.Pow: operator.pow,
    gast.RShift: operator.rshift,
    gast.Sub: operator.sub,
}
UNARY: dict[type, Callable] = {
    gast.Invert: operator.invert,
    gast.UAdd: operator.pos,
    gast.USub: operator.neg,
}
COMPARE: dict[type, Callable] = {
    gast.Eq: operator.eq,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.NotEq: operator.ne,
}
IDENTITY = {gast.Is: True, gast.IsNot: False}


@expression(gast.Name)
def name(lowering: Lowering, node: gast.Name) -> Any:
    return lowering.lookup(node)


@expression(gast.Constant)
def constant(lowering: Lowering, node: gast.Constant) -> Any:
    return node.value


@expression(gast.BinOp)
def binary(lowering: Lowering, node: gast.BinOp) -> Any:
    left, right = lowering.evaluate(node.left), lowering.evaluate(node.right)
    return apply_operator(lowering, node.op, left, right)


def apply_operator(lowering: Lowering, node: gast.AST, left: Any, right: Any) -> Any:
    """left op right: an operation on numbers and arrays, or containers joined."""
    function = BINARY[type(node)]
    if isinstance(left, Tree) or isinstance(right, Tree):
        return _of_containers(lowering, function, left, right)
    if is_number(left) and is_number(right):
        return emit(lowering, function, left, right)
    left, right = unwrap(left), unwrap(right)
    if isinstance(left, str) and not isinstance(right, Symbol):
        return function(left, right)
    raise UnsupportedError(
        "S2S203",
        f"unsupported operands: {_kind(left)} and {_kind(right)}",
        origin=lowering.builder.origin,
    )


def is_number(value: Any) -> bool:
    return isinstance(value, Symbol) or type(value) in values.PYTHON_NUMBERS


def emit(lowering: Lowering, function: Callable, *operands: Any) -> Any:
    """One operation on numbers; constants stay as the user wrote them unless they are whole."""
    return lowering.builder.call(function, operands, {})


def _kind(value: Any) -> str:
    return "a value" if isinstance(value, Symbol) else type(value).__name__


def _of_containers(lowering: Lowering, function: Callable, left: Any, right: Any) -> Any:
    """Lists and tuples are joined by + and repeated by *; arrays take lists as arrays."""
    if function is operator.add and isinstance(left, Tree) and isinstance(right, Tree):
        if left.kind is right.kind and left.kind in (tuple, list):
            items = (*left.items, *right.items)
            return Tree(left.kind, tuple(range(len(items))), items)
    if function is operator.mul and type(right) is int and isinstance(left, Tree):
        items = left.items * right
        return Tree(left.kind, tuple(range(len(items))), items)
    if isinstance(left, Symbol) or isinstance(right, Symbol):
        from s2s_ad.core.tree import to_object

        return emit(lowering, function, to_object(left), to_object(right))
    raise UnsupportedError(
        "S2S203", "unsupported operands: a container", origin=lowering.builder.origin
    )


@expression(gast.UnaryOp)
def unary(lowering: Lowering, node: gast.UnaryOp) -> Any:
    if isinstance(node.op, gast.Not):
        from s2s_ad.frontend.lower.conditions import negated

        return negated(lowering, node)
    value = lowering.evaluate(node.operand)
    if not is_number(value):
        raise UnsupportedError("S2S203", f"unsupported operand: {_kind(value)}")
    return emit(lowering, UNARY[type(node.op)], value)


@expression(gast.Compare)
def compare(lowering: Lowering, node: gast.Compare) -> Any:
    """a < b; a chain is kept whole (conditions), `is` and `in` have to be known."""
    if len(node.ops) > 1:
        from s2s_ad.frontend.lower.conditions import kept_expression

        return kept_expression(lowering, node)
    left, right = lowering.evaluate(node.left), lowering.evaluate(node.comparators[0])
    kind = type(node.ops[0])
    if kind in IDENTITY:
        return _identical(lowering, node, left, right) is IDENTITY[kind]
    if kind in (gast.In, gast.NotIn):
        return _contains(lowering, node, left, right) is (kind is gast.In)
    if is_number(left) and is_number(right):
        return emit(lowering, COMPARE[kind], left, right)
    if isinstance(left, Tree | Symbol) or isinstance(right, Tree | Symbol):
        if isinstance(left, str | type(None)) or isinstance(right, str | type(None)):
            return kind is gast.NotEq
        raise UnsupportedError("S2S205", "a comparison of containers", help="compare their items")
    return COMPARE[kind](unwrap(left), unwrap(right))


def _identical(lowering: Lowering, node: gast.Compare, left: Any, right: Any) -> bool:
    """`is`, which is certain where one side is None, True, False, a type or a function."""
    for one, other in ((left, right), (right, left)):
        if not isinstance(one, Symbol | Tree):
            if isinstance(other, Symbol) and isinstance(other.fact, values.Unknown):
                break
            return unwrap(left) is unwrap(right)
    raise lowering.refuse(node, "'is' between values that are not known", "compare with None")


def _contains(lowering: Lowering, node: gast.Compare, left: Any, right: Any) -> bool:
    if isinstance(right, Tree) and not isinstance(left, Symbol | Tree):
        items = right.keys if right.kind is dict else right.items
        if not any(isinstance(each, Symbol | Tree) for each in items):
            return unwrap(left) in tuple(map(unwrap, items))
    elif not isinstance(left, Symbol | Tree) and isinstance(unwrap(right), str | tuple | range):
        return unwrap(left) in unwrap(right)
    raise lowering.refuse(node, "'in' on values that are not known", "compare with np.any(x == v)")
