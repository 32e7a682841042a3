"""Classes that are defined inside the function: Python's own, whose methods are closures.

Such a class is made when its statement is lowered. What stands in it as a method is a function that
is never run: it holds the closure, which is lowered where the method is called.
"""

from __future__ import annotations

import abc
import ast
import copy
import dataclasses
import functools
import types
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.core.builder import Symbol
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.calls import known_object
from s2s_ad.frontend.lower.classes import CLOSURE, LOCAL, is_written
from s2s_ad.frontend.lower.core import Lowering, statement
from s2s_ad.frontend.lower.exits import CONTINUE
from s2s_ad.frontend.lower.functions import Closure, closure_of
from s2s_ad.frontend.lower.nonlocals import give_name
from s2s_ad.frontend.remembered import remembered
from s2s_ad.frontend.resolve import unwrap
from s2s_ad.frontend.source import mangle

#: what a method may be decorated with
KINDS_OF_METHODS = (property, staticmethod, classmethod, functools.cached_property)
KINDS_OF_METHODS += (abc.abstractmethod,)
#: what a class may be decorated with
OF_CLASSES = (dataclasses.dataclass, functools.total_ordering)
#: what may be the value of an attribute of the class
CONSTANT = (int, float, complex, str, bytes, bool, type(None), types.EllipsisType)


@statement(gast.ClassDef)
def local_class(lowering: Lowering, node: gast.ClassDef) -> Any:
    """`class C: ...` Of methods and constants; its objects do not leave the function."""
    body = _Body(lowering, node)
    for each in _mangled(node):
        with lowering.placed(each):
            body.run(each)
    kind = body.made()
    target = gast.Name(node.name, gast.Store(), None, None)
    give_name(lowering, gast.copy_location(target, node), kind)
    return CONTINUE


@remembered
def _mangled(node: gast.ClassDef) -> list[gast.stmt]:
    """The statements of the class, with what is private to it by the names that Python gives it."""
    body = [copy.deepcopy(each) for each in node.body]
    for each in body:
        mangle(each, node.name.lstrip("_"))
    return body


class _Body:
    """A class, while its statements are read."""

    def __init__(self, lowering: Lowering, node: gast.ClassDef):
        self.lowering, self.node = lowering, node
        frame = lowering.frame
        self.space: dict[str, Any] = {LOCAL: True, "__module__": frame.globals["__name__"]}
        self.space["__qualname__"] = f"{frame.source.name}.<locals>.{node.name}"
        self.annotations: dict[str, Any] = {}
        self.cell = types.CellType()

    def refuse(self, what: str) -> UnsupportedError:
        return self.lowering.refuse(
            self.node,
            f"a class defined inside the function, with {what}",
            "define it at module level",
        )

    def run(self, node: gast.stmt) -> None:
        """A statement of the class."""
        if isinstance(node, gast.FunctionDef):
            self._method(node)
        elif isinstance(node, gast.AnnAssign) and isinstance(node.target, gast.Name):
            self.annotations[node.target.id] = _text(node.annotation)
            if node.value is not None:
                self.space[node.target.id] = self.value(node.value)
        elif isinstance(node, gast.Assign) and all(isinstance(t, gast.Name) for t in node.targets):
            for target in node.targets:
                self.space[target.id] = self.value(node.value)
        elif not _does_nothing(node):
            raise self.refuse("a statement that is no method and no constant")

    def value(self, node: gast.AST) -> Any:
        """What an attribute of the class is: a constant, a field of a dataclass, another name."""
        if isinstance(node, gast.Name) and node.id in self.space:
            return self.space[node.id]
        if isinstance(node, gast.Call) and self._known(node.func) is dataclasses.field:
            given = {each.arg: self._argument(each.value) for each in node.keywords}
            return dataclasses.field(**given)
        value = self._known(node)
        items = value if isinstance(value, tuple) else (value,)
        if not all(isinstance(each, CONSTANT) for each in items):
            raise self.refuse("an attribute that is no constant")
        return value

    def _argument(self, node: gast.AST) -> Any:
        """A default of a field, or what makes it."""
        value = self.lowering.evaluate_any(node)
        return _stub(value) if isinstance(value, Closure) else known_object(value)

    def _known(self, node: gast.AST) -> Any:
        """A value that does not depend on the function's."""
        own = {name: each for name, each in self.space.items() if isinstance(each, CONSTANT)}
        node = form.substitute(node, {name: form.constant(each) for name, each in own.items()})
        value = self.lowering.evaluate_any(node)
        if isinstance(value, Symbol | Closure):
            raise self.refuse("an attribute that is computed")
        return known_object(value)

    def _method(self, node: gast.FunctionDef) -> None:
        cells = {"__class__": self.cell}
        found: Any = _stub(closure_of(self.lowering, node, node.name, cells))
        for each in reversed(node.decorator_list):
            found = self._decorator(each)(found)
        self.space[node.name] = found

    def _decorator(self, node: gast.AST) -> Any:
        if isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name):
            of_property = self.space.get(node.value.id)
            if isinstance(of_property, property):
                return getattr(of_property, node.attr)
        found = unwrap(self.lowering.evaluate_any(node))
        if not any(found is each for each in KINDS_OF_METHODS):
            raise self.refuse("a decorated method")
        return found

    def made(self) -> type:
        """The class."""
        bases = [unwrap(self.lowering.evaluate_any(each)) for each in self.node.bases]
        for each in bases:
            plain = isinstance(each, type) and type(each) in (type, abc.ABCMeta)
            own = plain and all(k in (object, abc.ABC) or _is_users(k) for k in each.__mro__)
            if not own or is_written(each, "__init_subclass__"):
                raise self.refuse("such a base")
        if self.node.keywords:
            raise self.refuse("keywords")
        if self.annotations:
            self.space["__annotations__"] = self.annotations
        kind = types.new_class(self.node.name, tuple(bases), {}, lambda s: s.update(self.space))
        self.cell.cell_contents = kind
        for each in reversed(self.node.decorator_list):
            kind = self._of_class(each)(kind)
        return kind

    def _of_class(self, node: gast.AST) -> Any:
        """A decorator of the class."""
        function = node.func if isinstance(node, gast.Call) else node
        found = unwrap(self.lowering.evaluate_any(function))
        if not any(found is each for each in OF_CLASSES):
            raise self.refuse("a decorator")
        if not isinstance(node, gast.Call):
            return found
        named = {
            each.arg: known_object(self.lowering.evaluate(each.value)) for each in node.keywords
        }
        return found(**named)


def _is_users(kind: type) -> bool:
    return kind.__module__.partition(".")[0] not in ("builtins", "typing", "enum", "numpy")


def _does_nothing(node: gast.stmt) -> bool:
    """`pass`, or a text."""
    is_text = isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant)
    return is_text or isinstance(node, gast.Pass)


def _text(node: gast.AST) -> str:
    return ast.unparse(gast.gast_to_ast(gast.Expression(copy.deepcopy(node))))


def _stub(closure: Closure) -> types.FunctionType:
    """A function that stands for a closure where Python looks for one: it is never run."""
    names = [each.id for each in (*closure.node.args.posonlyargs, *closure.node.args.args)]
    text = f"lambda {', '.join(names)}: None"
    stub = eval(compile(text, "<a class of a function>", "eval"))
    stub.__name__ = stub.__qualname__ = closure.name
    setattr(stub, CLOSURE, closure)
    return stub
