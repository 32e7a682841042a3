"""Expressions of loop text, put together with what is obvious left out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form
from s2s_ad.emit.surface import dotted

Expression = gast.AST


def name(text: str) -> gast.Name:
    return form.name(text)


def number(value: Any) -> Expression:
    """A constant; nan and the infinities as NumPy calls them."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, complex):
        return _complex(value)
    if isinstance(value, float) and not math.isfinite(value):
        if value != value:
            return dotted("np", "nan")
        return dotted("np", "inf") if value > 0 else gast.UnaryOp(gast.USub(), dotted("np", "inf"))
    if type(value) in (int, float) and value < 0:
        return gast.UnaryOp(gast.USub(), form.constant(-value))
    return form.constant(value)


def _complex(value: complex) -> Expression:
    """A complex constant, with the signs of its zeros."""
    is_plain = math.copysign(1.0, value.real) > 0 and value.real == 0 and math.isfinite(value.imag)
    if is_plain and math.copysign(1.0, value.imag) > 0:
        return form.constant(value)
    return call("complex", number(value.real), number(value.imag))


def value_of(node: Expression) -> int | float | None:
    """The number that an expression is, where it is one."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        inner = value_of(node.operand)
        return None if inner is None else -inner
    plain = isinstance(node, gast.Constant) and type(node.value) in (int, float)
    return node.value if plain else None


def same(one: Expression, other: Expression) -> bool:
    return gast.dump(one) == gast.dump(other)


def binary(left: Expression, operator: type, right: Expression) -> Expression:
    return gast.BinOp(left, operator(), right)


def plus(left: Expression, right: Expression) -> Expression:
    """The sum of two whole numbers, which are lengths or indices."""
    a, b = value_of(left), value_of(right)
    if a is not None and b is not None:
        return number(a + b)
    if b is None and a is not None:
        left, right, a, b = right, left, b, a
    if b is None:
        negative = _negated(right)
        return binary(left, gast.Add, right) if negative is None else minus(left, negative)
    if b == 0:
        return left
    if isinstance(left, gast.BinOp) and isinstance(left.op, gast.Add | gast.Sub):
        inner = value_of(left.right)
        if type(inner) is int:
            own = inner if isinstance(left.op, gast.Add) else -inner
            return plus(left.left, number(own + b))
    return binary(left, gast.Add, number(b)) if b > 0 else binary(left, gast.Sub, number(-b))


def _negated(node: Expression) -> Expression | None:
    is_negative = isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub)
    return node.operand if is_negative else None


def minus(left: Expression, right: Expression) -> Expression:
    """The difference of two whole numbers."""
    b = value_of(right)
    if b is not None:
        return plus(left, number(-b))
    if same(left, right):
        return number(0)
    return binary(left, gast.Sub, right)


def times(left: Expression, right: Expression) -> Expression:
    """The product of two whole numbers."""
    a, b = value_of(left), value_of(right)
    if a is not None and b is not None:
        return number(a * b)
    if 1 in (a, b):
        return right if a == 1 else left
    return binary(left, gast.Mult, right)


def element(array: Expression, index: tuple[Expression, ...], *, store: bool = False) -> Expression:
    """array[i, j]"""
    context = gast.Store() if store else gast.Load()
    at = index[0] if len(index) == 1 else gast.Tuple(list(index), gast.Load())
    return gast.Subscript(array, at, context)


def field(record: Expression, part: int) -> Expression:
    """record.f0"""
    return gast.Attribute(record, f"f{part}", gast.Load())


def listed(one: Expression, each: str, source: Expression) -> Expression:
    """[one for each in source]"""
    return gast.ListComp(one, [gast.comprehension(form.name(each, gast.Store), source, [], 0)])


def call(function: str, *args: Expression, **kwargs: Expression) -> Expression:
    keywords = [gast.keyword(key, value) for key, value in kwargs.items()]
    return gast.Call(dotted(*function.split(".")), list(args), keywords)


def compare(left: Expression, operator: type, right: Expression) -> Expression:
    return gast.Compare(left, [operator()], [right])


def either(condition: Expression, then: Expression, orelse: Expression) -> Expression:
    return gast.IfExp(condition, then, orelse)


def both(*conditions: Expression) -> Expression:
    return conditions[0] if len(conditions) == 1 else gast.BoolOp(gast.And(), list(conditions))


def negation(condition: Expression) -> Expression:
    return gast.UnaryOp(gast.Not(), condition)


def assign(target: str | Expression, value: Expression) -> gast.stmt:
    if isinstance(target, str):
        target = form.name(target, gast.Store)
    return gast.Assign([target], value, None)


def add_to(target: Expression, value: Expression) -> gast.stmt:
    """target += value"""
    negative = _negated(value)
    operator, value = (gast.Add(), value) if negative is None else (gast.Sub(), negative)
    return gast.AugAssign(target, operator, value)


def loop(index: str, bounds: list[Expression], body: list[gast.stmt]) -> gast.stmt:
    return gast.For(form.name(index, gast.Store), call("range", *bounds), body, [], None)


def if_(condition: Expression, body: list[gast.stmt], orelse: list | None = None) -> gast.stmt:
    return gast.If(condition, body, orelse or [])


def raised(kind: str = "ValueError") -> gast.stmt:
    return gast.Raise(name(kind), None)


def unused(text: str, taken: set[str]) -> str:
    """A name that is not taken yet; it is then."""
    own, count = text, 2
    while own in taken:
        own, count = f"{text}_{count}", count + 1
    taken.add(own)
    return own


def put(own: str, node: gast.AST, where: Callable[[Any], bool]) -> None:
    """Write a name in a tree, in the place of the expressions that `where` says."""
    for key in node._fields:
        value = getattr(node, key, None)
        items = value if isinstance(value, list) else [value]
        for place, each in enumerate(items):
            if where(each):
                items[place] = name(own)
            elif isinstance(each, gast.AST):
                put(own, each, where)
        setattr(node, key, items if isinstance(value, list) else items[0])


def names_in(node: Any) -> set[str]:
    """All names that a tree reads or assigns."""
    return {each.id for each in gast.walk(node) if isinstance(each, gast.Name)}
