"""Boolean operators, and branches whose condition is known when code is generated.

`a and b` evaluates b only where it has to. So it is not taken apart: it is *kept whole*, as one
operation whose text is the user's own.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form, values
from s2s_ad.core.builder import NeedStatic, Symbol
from s2s_ad.core.registry import Operation, Rule
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import BatchError, DerivativeError, UnsupportedError
from s2s_ad.frontend.lower import effects
from s2s_ad.frontend.lower.core import CONTINUE, Lowering, expression, statement
from s2s_ad.frontend.resolve import PLAIN, Captured
from s2s_ad.frontend.scopes import COMPREHENSIONS

INTEGER = values.Scalar(int)


class Kept(Rule):
    """An expression kept whole, as a function of the names that it reads, and its own rule.

    No derivative passes through a condition or a text.
    """

    def __init__(self, node: gast.AST, names: tuple[str, ...], boolean: bool, text: bool):
        super().__init__(self, "a kept expression")
        self.node, self.names, self.boolean = node, names, boolean
        self.flat = boolean or text

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Scalar(bool) if self.boolean else values.Unknown()

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

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        atoms = dict(zip(self.names, call.args, strict=True))
        return form.substitute(self.node, atoms)


def kept_expression(lowering: Lowering, node: gast.AST) -> Any:
    """The value of an expression that is kept whole."""
    for each in gast.walk(node):
        if isinstance(each, COMPREHENSIONS):
            raise lowering.refuse(each)
    tree = effects.kept(lowering, node)
    names = tuple(dict.fromkeys(form.reads(tree)))
    is_text = isinstance(node, gast.JoinedStr)
    rule = Kept(tree, names, is_boolean(node), is_text)
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
    """`a and b or c` Decided now as far as the operands are known, else kept whole."""
    stops = isinstance(node.op, gast.Or)
    for each in node.values:
        value = lowering.evaluate(each)
        truth = known_truth(value)
        if truth is None and each is node.values[-1]:
            return value  # the operands before it were known
        if truth is None:
            lowering.memory.share(tuple(lowering.frame.locals.values()))
            return kept_expression(lowering, node)
        if truth is stops:
            return value
    return value


def negated(lowering: Lowering, node: gast.UnaryOp) -> Any:
    """not x"""
    truth = known_truth(lowering.evaluate(node.operand))
    return kept_expression(lowering, node) if truth is None else not truth


@expression(gast.JoinedStr)
def text(lowering: Lowering, node: gast.JoinedStr) -> Any:
    """`f"{x:.3f}"` Text where all that it shows is known, else kept whole."""
    parts = [_part(lowering, each) for each in node.values]
    return kept_expression(lowering, node) if None in parts else "".join(parts)


CONVERSIONS: dict[int, Callable[[Any], Any]] = {-1: lambda value: value, 97: ascii, 114: repr}
CONVERSIONS |= {115: str}


def _part(lowering: Lowering, node: gast.AST) -> str | None:
    if isinstance(node, gast.Constant):
        return node.value
    if not isinstance(node.value, gast.Name | gast.Attribute | gast.Constant):
        return None
    value = lowering.evaluate(node.value)
    spec = "" if node.format_spec is None else text(lowering, node.format_spec)
    if not isinstance(value, str | int | float | complex) or not isinstance(spec, str):
        return None
    return format(CONVERSIONS[node.conversion](value), spec)


def known_truth(value: Any) -> bool | None:
    """Whether a value is true; None where it depends on values that are not known now."""
    value = constant_value(value)
    if isinstance(value, Symbol):
        return None
    if isinstance(value, Tree):
        return _tree_truth(value)
    if isinstance(value, Captured):
        return _object_truth(value.value)
    return bool(value) if isinstance(value, (*PLAIN, *values.PYTHON_NUMBERS, range)) else True


def constant_value(value: Any) -> Any:
    """The number that an operation on nothing but Python's numbers gives; other values as is."""
    if not isinstance(value, Symbol) or not isinstance(value.fact, values.Scalar):
        return value
    rule, operands, params = value.builder.definition(value)
    known = [constant_value(each) for each in operands]
    if rule is None or params or any(isinstance(each, Symbol) for each in known):
        return value
    return value if isinstance(rule, Kept) else rule.function(*known)


def _tree_truth(value: Tree) -> bool:
    if value.kind not in (tuple, list, dict):
        _refuse_own(value.kind)
    return bool(value.items) or not issubclass(value.kind, tuple | list | dict)


def _object_truth(value: Any) -> bool:
    if isinstance(value, enum.Enum | np.generic):
        return bool(value)
    _refuse_own(type(value))
    return True


def _refuse_own(kind: type) -> None:
    """An object that says itself whether it is true may say another thing at the next call."""
    own = [name for name in ("__bool__", "__len__") if hasattr(kind, name)]
    if own and not issubclass(kind, tuple | types.ModuleType):
        raise UnsupportedError(
            "S2S205", f"whether a {kind.__name__} is true", help="compare what you mean to know"
        )


@expression(gast.IfExp)
def choice(lowering: Lowering, node: gast.IfExp) -> Any:
    """`a if condition else b` Decided when code is generated."""
    test = lowering.evaluate(node.test)
    truth = known_truth(test)
    if truth is None:
        ask_for(lowering, test)
        raise lowering.refuse(node)
    return lowering.evaluate(node.body if truth else node.orelse)


@statement(gast.If)
def branch(lowering: Lowering, node: gast.If) -> Any:
    """`if condition:` Decided when code is generated; else it may only print, assert or raise."""
    try:
        test = lowering.evaluate(node.test)
    except UnsupportedError:
        if effects.keep_statement(lowering, node):
            return CONTINUE
        raise
    truth = known_truth(test)
    if truth is not None:
        return lowering.run(node.body if truth else node.orelse)
    if effects.keep_statement(lowering, node):
        return CONTINUE
    ask_for(lowering, test)
    raise lowering.refuse(node)


def ask_for(lowering: Lowering, test: Symbol) -> None:
    """Ask for the value of a condition on captured numbers and integer arguments alone."""
    names = lowering.builder.ancestors(test.name)
    inputs = [each for each in names if each not in lowering.builder.definitions]
    numbers = lowering.captures.numbers
    if all(each in numbers or lowering.builder.facts[each] == INTEGER for each in inputs):
        raise NeedStatic(test.name, "the condition")
