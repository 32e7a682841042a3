"""Boolean operators, and branches whose condition is known when code is generated.

`a and b` evaluates b only where it has to. So it is not taken apart: it is *kept whole*, as one
operation whose text is the user's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.registry import Operation, Rule, register
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import BatchError, DerivativeError, UnsupportedError
from s2s_ad.frontend.lower import effects
from s2s_ad.frontend.lower.core import CONTINUE, Lowering, expression, statement
from s2s_ad.frontend.resolve import unwrap


class Kept:
    """An expression kept whole, as a function of the names that it reads."""

    def __init__(self, node: gast.AST, names: tuple[str, ...], boolean: bool, text: bool):
        self.node, self.names, self.boolean, self.text = node, names, boolean, text


class KeptRule(Rule):
    """The rule of every Kept: a condition or a text, through which no derivative passes."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Unknown()

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        raise self._refused(operation)

    forward = reverse

    def _refused(self, operation: Operation) -> DerivativeError:
        return DerivativeError(
            "S2S302",
            "'and' or 'or' that gives one of its floating-point operands",
            origin=operation.result.builder.origin,
            help="np.where chooses between values",
        )

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise BatchError(
            "S2S402",
            "a condition or a text that differs from sample to sample",
            origin=batch.builder.origin,
            help="use np.logical_and, np.logical_or, np.logical_not, or & | ~ on arrays",
        )


class KeptOperation(KeptRule):
    """The rule bound to one Kept, for a Builder to emit."""

    def __init__(self, kept: Kept):
        super().__init__(kept, "a kept expression")
        self.flat = kept.boolean or kept.text

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Scalar(bool) if self.function.boolean else values.Unknown()

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        atoms = dict(zip(self.function.names, call.args, strict=True))
        return form.substitute(self.function.node, atoms)


def kept_expression(lowering: Lowering, node: gast.AST) -> Any:
    """The value of an expression that is kept whole."""
    tree = effects.kept(lowering, node)
    names = tuple(dict.fromkeys(form.reads(tree)))
    text = isinstance(node, gast.JoinedStr)
    rule = KeptOperation(Kept(tree, names, is_boolean(node), text))
    register(rule)
    return lowering.builder.emit(rule, [Symbol(lowering.builder, each) for each in names], {})


def is_boolean(node: gast.AST) -> bool:
    """Whether an expression can only give True or False."""
    if isinstance(node, gast.BoolOp):
        return all(map(is_boolean, node.values))
    if isinstance(node, gast.UnaryOp):
        return isinstance(node.op, gast.Not)
    if isinstance(node, gast.Constant):
        return isinstance(node.value, bool)
    return isinstance(node, gast.Compare)


@expression(gast.BoolOp)
def boolean(lowering: Lowering, node: gast.BoolOp) -> Any:
    """and, or: decided now as far as the operands are known."""
    stops = isinstance(node.op, gast.Or)
    for each in node.values:
        truth = known_truth(lowering, each)
        if truth is None:
            return kept_expression(lowering, node)
        if truth is stops or each is node.values[-1]:
            return lowering.evaluate(each)
    raise AssertionError


def negated(lowering: Lowering, node: gast.UnaryOp) -> Any:
    truth = known_truth(lowering, node.operand)
    return kept_expression(lowering, node) if truth is None else not truth


@expression(gast.JoinedStr)
def text(lowering: Lowering, node: gast.JoinedStr) -> Any:
    return kept_expression(lowering, node)


def known_truth(lowering: Lowering, node: gast.AST) -> bool | None:
    """Whether the condition holds; None where it depends on values that are not known now."""
    value = lowering.evaluate(node)
    if isinstance(value, Symbol):
        return None
    return bool(value.items) if isinstance(value, Tree) else bool(unwrap(value))


@expression(gast.IfExp)
def choice(lowering: Lowering, node: gast.IfExp) -> Any:
    truth = known_truth(lowering, node.test)
    if truth is None:
        raise lowering.refuse(node)
    return lowering.evaluate(node.body if truth else node.orelse)


@statement(gast.If)
def branch(lowering: Lowering, node: gast.If) -> Any:
    """A branch that is decided now, or one that only prints, asserts or raises."""
    truth = known_truth(lowering, node.test)
    if truth is not None:
        return lowering.run(node.body if truth else node.orelse)
    if effects.keep_statement(lowering, node):
        return CONTINUE
    raise lowering.refuse(node)


RULE = KeptRule(Kept, "a kept expression")
__all__ = ["UnsupportedError", "kept_expression"]
