"""How tightly expressions bind, and what `ruff format` makes of that."""

from __future__ import annotations

from typing import TypeGuard

import gast

from s2s_ad.emit.literals import is_literal, is_negative


class Level:
    """How tightly an expression binds, loosest first."""

    YIELD, NAMED, TEST, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT = range(11)
    SUM, PRODUCT, UNARY, POWER, BASE, ATOM = range(11, 17)


# Tuples are not here: where they need no parentheses, they are written as bare tuples.
_LEVELS = {
    gast.Yield: Level.YIELD,
    gast.YieldFrom: Level.YIELD,
    gast.NamedExpr: Level.NAMED,
    gast.Lambda: Level.TEST,
    gast.IfExp: Level.TEST,
    gast.Or: Level.OR,
    gast.And: Level.AND,
    gast.Not: Level.NOT,
    gast.Compare: Level.COMPARE,
    gast.BitOr: Level.BIT_OR,
    gast.BitXor: Level.BIT_XOR,
    gast.BitAnd: Level.BIT_AND,
    gast.LShift: Level.SHIFT,
    gast.RShift: Level.SHIFT,
    gast.Add: Level.SUM,
    gast.Sub: Level.SUM,
    gast.Mult: Level.PRODUCT,
    gast.MatMult: Level.PRODUCT,
    gast.Div: Level.PRODUCT,
    gast.FloorDiv: Level.PRODUCT,
    gast.Mod: Level.PRODUCT,
    gast.Invert: Level.UNARY,
    gast.UAdd: Level.UNARY,
    gast.USub: Level.UNARY,
    gast.Pow: Level.POWER,
}
_OPERATIONS = frozenset((gast.BinOp, gast.BoolOp, gast.UnaryOp))
CHAIN = frozenset((gast.Attribute, gast.Call, gast.Subscript))
_CALL_OR_SUBSCRIPT = frozenset((gast.Call, gast.Subscript))


def level_of(node: gast.AST) -> int:
    """How tightly the outermost operation of an expression binds."""
    kind = type(node)
    if kind in _OPERATIONS:
        kind = type(node.op)
    elif kind is gast.Constant and is_negative(node.value):
        return Level.UNARY
    return _LEVELS.get(kind, Level.ATOM)


def is_power(node: gast.AST) -> bool:
    """Whether node is `a**b`."""
    return type(node) is gast.BinOp and type(node.op) is gast.Pow


def is_simple_operand(node: gast.AST, level: int) -> bool:
    """Whether an operand of `**` that needs no parentheses at level goes without spaces."""
    if level_of(node) < level:
        return False
    while type(node) is gast.Attribute or _is_signed(node):
        node = node.value if type(node) is gast.Attribute else node.operand
    return _is_name_or_literal(node, (int, float, complex, type(None)))


def is_simple_bound(node: gast.AST | None) -> bool:
    """Whether a bound of a slice goes without spaces."""
    while _is_signed(node):
        node = node.operand
    return node is None or _is_name_or_literal(node, object)


def _is_signed(node: gast.AST | None) -> TypeGuard[gast.UnaryOp]:
    return type(node) is gast.UnaryOp and type(node.op) is not gast.Not


def _is_name_or_literal(node: gast.AST, types: type | tuple[type, ...]) -> bool:
    if type(node) is gast.Constant:
        return isinstance(node.value, types) and is_literal(node.value)
    return type(node) is gast.Name


def needs_parentheses_before_dot(node: gast.AST) -> bool:
    """Whether `node.name` is not what it seems without parentheses: `1.real` is not."""
    if type(node) is not gast.Constant:
        return level_of(node) < Level.ATOM
    is_real_number = isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
    return is_real_number and is_literal(node.value)


def is_fluent(node: gast.AST) -> bool:
    """Whether a chain that is too long is broken before its dots, rather than in its brackets."""
    dots_after_brackets = 0
    while type(node) in CHAIN:
        if type(node) is gast.Attribute:
            dots_after_brackets += may_start_line(node)
            node = node.value
        else:
            node = node.func if type(node) is gast.Call else node.value
    return dots_after_brackets > 1


def may_start_line(node: gast.Attribute) -> bool:
    """Whether the dot comes right after brackets."""
    value = node.value
    return type(value) in _CALL_OR_SUBSCRIPT or needs_parentheses_before_dot(value)
