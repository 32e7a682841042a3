"""Names, constants, arithmetic, comparison."""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable
from typing import Any

import gast

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree, to_object
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.calls import known_object
from s2s_ad.frontend.lower.conditions import constant_value, kept_expression, negated
from s2s_ad.frontend.lower.containers import is_sequence, mapping, sequence
from s2s_ad.frontend.lower.core import Lowering, expression
from s2s_ad.frontend.lower.memory import symbols
from s2s_ad.frontend.resolve import Captured, unwrap

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
    """`x` Locals, names of functions around, cells, globals and builtins, under guards."""
    return lowering.lookup(node)


@expression(gast.Constant)
def constant(lowering: Lowering, node: gast.Constant) -> Any:
    """`2.0`, `"text"`, `None`"""
    return node.value


@expression(gast.BinOp)
def binary(lowering: Lowering, node: gast.BinOp) -> Any:
    """`a * b`, `a @ b` All operators, on numbers and arrays; + * and | join containers."""
    left, right = lowering.evaluate(node.left), lowering.evaluate(node.right)
    return apply_operator(lowering, node.op, left, right)


def apply_operator(lowering: Lowering, node: gast.AST, left: Any, right: Any) -> Any:
    """left op right: an operation on numbers and arrays, or containers joined."""
    function = BINARY[type(node)]
    if isinstance(left, Tree) or isinstance(right, Tree):
        return _of_containers(lowering, function, left, right)
    if is_number(left) and is_number(right):
        return lowering.call(function, left, right)
    left, right = unwrap(left), unwrap(right)
    if isinstance(left, str | bytes) and not isinstance(right, Symbol):
        return function(left, right)
    raise _unsupported(left, right)


def is_number(value: Any) -> bool:
    return isinstance(value, Symbol) or type(value) in values.PYTHON_NUMBERS


def _unsupported(*operands: Any) -> UnsupportedError:
    kinds = " and ".join(map(_kind, operands))
    return UnsupportedError("S2S203", f"unsupported operands: {kinds}")


def _kind(value: Any) -> str:
    if isinstance(value, Symbol):
        return "a value"
    return value.kind.__name__ if isinstance(value, Tree) else type(unwrap(value)).__name__


def _of_containers(lowering: Lowering, function: Callable, left: Any, right: Any) -> Any:
    """Lists and tuples are joined by + and repeated by *; arrays take them as arrays."""
    if any(
        isinstance(each, Tree) and each.kind not in (tuple, list, dict) for each in (left, right)
    ):
        raise _unsupported(left, right)
    kinds = [each.kind if isinstance(each, Tree) else None for each in (left, right)]
    if function is operator.or_ and kinds == [dict, dict]:
        return mapping({**_entries(left), **_entries(right)})
    if dict in kinds:
        raise _unsupported(left, right)
    if function is operator.add and kinds[0] is kinds[1]:
        return sequence(left.kind, [*left.items, *right.items])
    items, other = (left, right) if kinds[0] else (right, left)
    if isinstance(other, Symbol) and isinstance(other.fact, values.Array) and other.shape != ():
        return lowering.call(function, *map(to_object, (left, right)))
    if function is operator.mul and not isinstance(other, Tree) and not _is_array(other):
        return sequence(items.kind, list(items.items) * operator.index(unwrap(other)))
    raise _unsupported(left, right)


def _entries(value: Tree) -> dict[Any, Any]:
    return dict(zip(value.keys, value.items, strict=True))


def _is_array(value: Any) -> bool:
    """Whether the value is an array or may be one."""
    return isinstance(value, Symbol) and not isinstance(value.fact, values.Scalar)


@expression(gast.UnaryOp)
def unary(lowering: Lowering, node: gast.UnaryOp) -> Any:
    """`-a`, `+a`, `~a`, `not a`"""
    if isinstance(node.op, gast.Not):
        return negated(lowering, node)
    value = lowering.evaluate(node.operand)
    if not is_number(value):
        raise _unsupported(value)
    return lowering.call(UNARY[type(node.op)], value)


# ---- comparison ----------------------------------------------------------------------------------


@expression(gast.Compare)
def compare(lowering: Lowering, node: gast.Compare) -> Any:
    """`a < b`, `a < b < c`, `is`, `in` The last two on values that are known."""
    operands = [lowering.evaluate(each) for each in (node.left, *node.comparators)]
    if len(node.ops) > 1 and any(isinstance(each, Symbol) for each in operands):
        return kept_expression(lowering, node)
    for op, left, right in zip(node.ops, operands, operands[1:], strict=False):
        result = _compared(lowering, node, type(op), left, right)
        if result is False:
            return False
    return result


def _compared(
    lowering: Lowering, node: gast.Compare, kind: type[gast.AST], left: Any, right: Any
) -> Any:
    if kind in IDENTITY:
        return _identical(lowering, node, left, right) is IDENTITY[kind]
    if kind in (gast.In, gast.NotIn):
        return _contains(lowering, node, left, right) is (kind is gast.In)
    if is_number(left) and is_number(right):
        left, right = (constant_value(each) for each in (left, right))
        if not symbols_in(left, right):
            return COMPARE[kind](left, right)
        return lowering.call(COMPARE[kind], left, right)
    if isinstance(left, Symbol | Tree) or isinstance(right, Symbol | Tree):
        return _compared_with(lowering, node, kind, left, right)
    return COMPARE[kind](*(_comparable(lowering, node, each) for each in (left, right)))


def _compared_with(
    lowering: Lowering, node: gast.Compare, kind: type[gast.AST], left: Any, right: Any
) -> Any:
    """A number, an array or a container with something else."""
    certain = [each for each in (left, right) if not isinstance(each, Symbol | Tree)]
    fixed = bool(certain) and (certain[0] is None or isinstance(certain[0], str | type))
    arrays = any(_is_array(each) for each in (left, right))
    if fixed and not arrays and kind in (gast.Eq, gast.NotEq):
        return kind is gast.NotEq
    both = is_sequence(left) and is_sequence(right) and not symbols_in(left, right)
    if both and kind in (gast.Eq, gast.NotEq):
        return COMPARE[kind](known_object(left), known_object(right))
    raise lowering.refuse(
        node, f"a comparison of {_kind(left)} and {_kind(right)}", "compare the items one by one"
    )


def symbols_in(*operands: Any) -> bool:
    return any(True for _ in symbols(operands))


def _comparable(lowering: Lowering, node: gast.Compare, value: Any) -> Any:
    """An object whose comparison gives the same at every call."""
    known = unwrap(value)
    own = type(known).__eq__ is not object.__eq__
    if isinstance(value, Captured) and own and not isinstance(known, enum.Enum | frozenset):
        raise lowering.refuse(node, f"a comparison of a {type(known).__name__}")
    return known


def _identical(lowering: Lowering, node: gast.Compare, left: Any, right: Any) -> bool:
    """`is`, which is certain where one side is None, True, False, a type or a function."""
    for one, other in ((left, right), (right, left)):
        known = unwrap(one)
        if isinstance(one, Symbol | Tree) or type(known) in (int, float, complex, str):
            continue
        if isinstance(other, Symbol) and not _is_of_other_kind(other, known):
            break
        return unwrap(left) is unwrap(right)
    raise lowering.refuse(node, "'is' between values that are not known", "compare with None")


def _is_of_other_kind(value: Symbol, known: Any) -> bool:
    """Whether a value that is not known cannot be the object."""
    if isinstance(value.fact, values.Unknown):
        return False
    is_truth = isinstance(value.fact, values.Scalar) and value.fact.kind is bool
    return not (is_truth and isinstance(known, bool))


def _contains(lowering: Lowering, node: gast.Compare, left: Any, right: Any) -> bool:
    """`in`, on containers and texts that are known."""
    if not symbols_in(left):
        if isinstance(right, Tree) and right.kind is dict:
            return known_object(left) in right.keys
        if is_sequence(right) and not symbols_in(right):
            return known_object(left) in known_object(right)
        if isinstance(unwrap(right), str | bytes | range | frozenset):
            return known_object(left) in unwrap(right)
    raise lowering.refuse(node, "'in' on values that are not known", "compare with np.any(x == v)")
