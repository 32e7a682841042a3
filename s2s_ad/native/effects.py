"""Exceptions that the user raises: in native code any stands for all."""

from __future__ import annotations

import math

import gast
import numpy as np

from s2s_ad.emit.lines import Line
from s2s_ad.emit.provenance import with_origin
from s2s_ad.native.nodes import ListNode, Node, NotNative
from s2s_ad.native.spelling import (
    Expression,
    call,
    if_,
    name,
    negation,
    number,
    raised,
)
from s2s_ad.native.state import State

ORDERS = (gast.Lt, gast.LtE, gast.Gt, gast.GtE, gast.Eq, gast.NotEq)


class Effects(State):
    """Writes what raises, and what it asks."""

    def _effect(self, line: Line) -> None:
        self._settle()
        self.writer.emit(self._effect_of(line.expression))

    def _effect_of(self, statement: gast.AST) -> gast.stmt:
        place = (statement.origin, statement.phase) if hasattr(statement, "origin") else (None, "")
        if isinstance(statement, gast.Raise):
            return with_origin(raised(), *place)
        if isinstance(statement, gast.Assert):
            condition = negation(self._condition(statement.test))
            return with_origin(if_(condition, [raised_(place)]), *place)
        if isinstance(statement, gast.If) and not statement.orelse:
            body = [self._effect_of(each) for each in statement.body]
            return with_origin(if_(self._condition(statement.test), body), *place)
        raise NotNative(f"an effect: {type(statement).__name__}")

    def _condition(self, node: gast.AST) -> Expression:
        """The truth of an expression that an effect asks."""
        if isinstance(node, gast.BoolOp):
            return gast.BoolOp(node.op, [*map(self._condition, node.values)])
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            return negation(self._condition(node.operand))
        if isinstance(node, gast.Compare):
            if not all(isinstance(each, ORDERS) for each in node.ops):
                raise NotNative("a comparison of objects")
            left, *others = map(self._asked, (node.left, *node.comparators))
            return gast.Compare(left, node.ops, others)
        return self._asked(node) if isinstance(node, gast.Call) else self._truth(node)

    def _asked(self, node: gast.AST) -> Expression:
        """An expression that an effect asks, of arrays as a whole."""
        if isinstance(node, gast.Call) and not node.keywords:
            return call(_spelling(node.func), *map(self._asked, node.args))
        if isinstance(node, gast.BinOp):
            return gast.BinOp(self._asked(node.left), node.op, self._asked(node.right))
        if isinstance(node, gast.Compare | gast.BoolOp):
            return self._condition(node)
        rank = isinstance(node, gast.Attribute) and node.attr == "ndim"
        found = self._node(node.value if rank else node)
        if isinstance(found, ListNode) and found.text and not rank:
            return name(found.text)
        if not isinstance(found, Node):
            raise NotNative("an effect that asks for an object")
        return number(found.rank) if rank else self.writer.whole(found, "asked")

    def _truth(self, atom: gast.AST) -> Expression:
        if isinstance(atom, gast.UnaryOp) and isinstance(atom.op, gast.Not):
            return negation(self._truth(atom.operand))
        node = self._node(atom)
        if not isinstance(node, Node) or node.rank:
            raise NotNative("the truth of what is no number")
        text = node.at(())
        return text if node.dtype == bool else gast.Compare(text, [gast.NotEq()], [number(0)])


def raised_(place: tuple) -> gast.stmt:
    return with_origin(raised(), *place)


def _spelling(node: gast.AST) -> str:
    """What a function is called that Numba knows, of arrays too."""
    function = node.value if isinstance(node, gast.Constant) else None
    known = getattr(function, "__name__", "")
    if function is len:
        return "len"
    for module, text in ((np, "np"), (math, "math")):
        if known and getattr(module, known, None) is function:
            return f"{text}.{known}"
    raise NotNative(f"{known or 'a call'} in an effect")
