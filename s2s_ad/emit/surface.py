"""From one Core operation to the expression that a reader expects."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.callee import Callee
from s2s_ad.core.homes import Held, home_of
from s2s_ad.core.program import as_name
from s2s_ad.core.registry import rule_for
from s2s_ad.emit.literals import is_negative

BINARY = {
    operator.add: gast.Add,
    operator.and_: gast.BitAnd,
    operator.floordiv: gast.FloorDiv,
    operator.lshift: gast.LShift,
    operator.matmul: gast.MatMult,
    operator.mod: gast.Mod,
    operator.mul: gast.Mult,
    operator.or_: gast.BitOr,
    operator.pow: gast.Pow,
    operator.rshift: gast.RShift,
    operator.sub: gast.Sub,
    operator.truediv: gast.Div,
    operator.xor: gast.BitXor,
}
UNARY = {operator.invert: gast.Invert, operator.neg: gast.USub, operator.pos: gast.UAdd}
UNARY |= {operator.not_: gast.Not}
COMPARE = {
    operator.eq: gast.Eq,
    operator.ge: gast.GtE,
    operator.gt: gast.Gt,
    operator.le: gast.LtE,
    operator.lt: gast.Lt,
    operator.ne: gast.NotEq,
}
NUMBERS = {math.pi: "pi", math.e: "e", math.inf: "inf"}
#: what is written as a multiple of pi, or as a part of it
MULTIPLES = {count * math.pi: (count, gast.Mult()) for count in (2, 3, 4, 8)}
MULTIPLES |= {math.pi / count: (count, gast.Div()) for count in (2, 3, 4, 6, 8, 180)}


def _multiple_of_pi(value: float) -> gast.AST:
    """2 * np.pi, or np.pi / 2: as exact as the number that it is."""
    count, operator_ = MULTIPLES[abs(value)]
    number = gast.Constant(count if value > 0 else -count, None)
    pi = dotted("np", "pi")
    if isinstance(operator_, gast.Mult):
        return gast.BinOp(number, operator_, pi)
    return gast.BinOp(
        pi if value > 0 else gast.UnaryOp(gast.USub(), pi), operator_, gast.Constant(count, None)
    )


class Surface:
    """Turns operations into expressions, and objects into the names they are called by.

    Attributes:
        facts: of names, for rules that choose their form by them.
        objects: the names that the module uses for objects it cannot spell: name -> object.
        name_of: the name of a function that the text calls and the module holds.
        helpers, modules, builtins: the names of these that the text uses.
    """

    def __init__(
        self,
        facts: dict[str, values.AbstractValue],
        taken: set[str],
        objects: dict[str, Any],
        name_of: Callable[[Callee], str],
    ):
        self.facts, self.taken, self.objects, self.name_of = facts, taken, objects, name_of
        self.helpers: set[str] = set()
        self.modules: set[str] = set()
        self.builtins: set[str] = set()

    def fact(self, node: gast.AST) -> values.AbstractValue:
        if isinstance(node, gast.Name):
            return self.facts.get(node.id, values.Unknown())
        known = isinstance(node, gast.Constant)
        return values.of_constant(node.value) if known else values.Unknown()

    def expression(self, call: gast.Call) -> gast.AST:
        """The expression of one operation on atoms."""
        rule = rule_for(call.func.value)
        return self.spelled(rule.surface(call, self.fact) if rule else call)

    def spelled(self, node: Any) -> Any:
        """The tree with operators for operator functions and names for objects."""
        if isinstance(node, list):
            return [self.spelled(item) for item in node]
        if isinstance(node, gast.Constant):
            return self.constant(node)
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Constant):
            return self._call(node)
        if not isinstance(node, gast.AST) or isinstance(node, gast.Name):
            return node
        fields = {name: self.spelled(getattr(node, name, None)) for name in node._fields}
        return type(node)(**fields)

    def _call(self, node: gast.Call) -> gast.AST:
        function = node.func.value
        args = [self.spelled(each) for each in node.args]
        if function in BINARY and not node.keywords:
            return gast.BinOp(args[0], BINARY[function](), args[1])
        if function in UNARY:
            return gast.UnaryOp(UNARY[function](), args[0])
        if function in COMPARE:
            return gast.Compare(args[0], [COMPARE[function]()], [args[1]])
        return gast.Call(self.object(function), args, [*map(self._keyword, node.keywords)])

    def _keyword(self, keyword: gast.keyword) -> gast.keyword:
        """What a call is given by name; a dtype that Python has a class for is called that."""
        value = getattr(keyword.value, "value", None)
        if keyword.arg == "dtype" and isinstance(value, type) and issubclass(value, np.generic):
            plain = (each for each in values.PYTHON_NUMBERS if np.dtype(each).type is value)
            return gast.keyword(keyword.arg, self.object(next(plain, value)))
        return gast.keyword(keyword.arg, self.spelled(keyword.value))

    def constant(self, node: gast.Constant) -> gast.AST:
        value = node.value
        if isinstance(value, tuple):
            elts = [self.constant(gast.Constant(each, None)) for each in value]
            return gast.Tuple(elts, gast.Load())
        if isinstance(value, float) and (abs(value) in NUMBERS or value != value):
            number = dotted("np", "nan" if value != value else NUMBERS[abs(value)])
            return number if not value < 0 else gast.UnaryOp(gast.USub(), number)
        if isinstance(value, float) and abs(value) in MULTIPLES:
            return _multiple_of_pi(value)
        if isinstance(value, complex) and value == -1j * abs(value) and is_negative(value.real):
            return gast.UnaryOp(gast.USub(), gast.Constant(-value, None))  # what -2j is
        if isinstance(value, np.generic):
            return gast.Call(self.object(type(value)), [gast.Constant(value.item(), None)], [])
        plain = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis))
        return node if type(value) in plain else self.object(value)

    def object(self, value: Any) -> gast.AST:
        """How the text calls a function, a class or another object."""
        if isinstance(value, np.dtype):
            return gast.Call(dotted("np", "dtype"), [gast.Constant(value.str, None)], [])
        if isinstance(value, Callee):
            return gast.Name(self.name_of(value), gast.Load(), None, None)
        if isinstance(value, form.Handled):
            return gast.Name(self._named(value, value.name), gast.Load(), None, None)
        if isinstance(value, Held):
            return gast.Name(self._named(value.value, value.text), gast.Load(), None, None)
        label, home = getattr(value, "__name__", ""), home_of(value)
        if home is not None:
            self.modules |= {home.module} - {"numpy"}
            return dotted(*home.path.split("."))
        if label and getattr(runtime, label, None) is value:
            self.helpers.add(label)
            return gast.Name(label, gast.Load(), None, None)
        if label and getattr(builtins, label, None) is value:
            self.builtins.add(label)
            return gast.Name(label, gast.Load(), None, None)
        return gast.Name(self._named(value, label), gast.Load(), None, None)

    def _named(self, value: Any, label: str) -> str:
        """A free name for an object of the user's."""
        for name, known in self.objects.items():
            if known is value:
                return name
        name = base = as_name(label, type(value).__name__.lower())
        count = 2
        while name in self.taken or name in self.objects or hasattr(builtins, name):
            name, count = f"{base}_{count}", count + 1
        self.objects[name] = value
        return name


def dotted(*names: str) -> gast.AST:
    node: gast.AST = gast.Name(names[0], gast.Load(), None, None)
    for name in names[1:]:
        node = gast.Attribute(node, name, gast.Load())
    return node


Facts = Callable[[gast.AST], values.AbstractValue]
