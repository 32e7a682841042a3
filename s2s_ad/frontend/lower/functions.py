"""Lambdas and functions defined inside functions: closures over what is being lowered."""

from __future__ import annotations

import inspect
import types
from dataclasses import dataclass, field
from typing import Any, ClassVar

import gast

from s2s_ad.core.tree import Tree
from s2s_ad.frontend.lower.attributes import Made
from s2s_ad.frontend.lower.core import CONTINUE, HANDLERS, Lowering, expression, statement
from s2s_ad.frontend.lower.entries import has_entry, read_entry
from s2s_ad.frontend.lower.nonlocals import give_name
from s2s_ad.frontend.resolve import Captured, Frame
from s2s_ad.frontend.scopes import scope_of
from s2s_ad.frontend.source import Source

#: what a function has from its definition, and what a Closure calls it
DEFINED = {"__doc__": "doc", "__name__": "name", "__qualname__": "qualified"}

#: the key of the handler of decorators inside functions
DECORATED = object()


@dataclass(frozen=True, eq=False)
class Closure(Made):
    """A function defined while lowering: its definition, where it was defined, its defaults.

    `attributes` is a Box: those that are set on it. `repeats` says that it was made where a loop
    may make another one by the same statement.
    """

    in_python: ClassVar[str] = "function"

    node: gast.Lambda | gast.FunctionDef
    frame: Frame
    defaults: dict[str, Any]
    name: str
    attributes: Any
    cells: dict[str, Any] = field(default_factory=dict)
    repeats: bool = False

    def same(self, other: Closure) -> bool:
        """Whether one will do for both: passes made them by one statement, and neither keeps
        anything."""
        alone = any(x.defaults or x.cells or x.attributes.content.keys for x in (self, other))
        both = self.repeats and other.repeats and not alone
        return both and self.node is other.node and self.frame is other.frame

    def signature(self) -> inspect.Signature:
        """Its signature, with the defaults' values."""
        args, parameters = self.node.args, []
        kinds = inspect.Parameter

        def add(node: gast.Name, kind: Any) -> None:
            default = self.defaults.get(node.id, inspect.Parameter.empty)
            parameters.append(inspect.Parameter(node.id, kind, default=default))

        for each in args.posonlyargs:
            add(each, kinds.POSITIONAL_ONLY)
        for each in args.args:
            add(each, kinds.POSITIONAL_OR_KEYWORD)
        if args.vararg:
            add(args.vararg, kinds.VAR_POSITIONAL)
        for each in args.kwonlyargs:
            add(each, kinds.KEYWORD_ONLY)
        if args.kwarg:
            add(args.kwarg, kinds.VAR_KEYWORD)
        return inspect.Signature(parameters)

    @property
    def yields(self) -> bool:
        """Whether a call of it gives a generator."""
        return isinstance(scope_of(self.node).refused, gast.Yield | gast.YieldFrom)

    def new_frame(self) -> Frame:
        defined = self.frame.source
        source = Source(self.node, defined.file, defined.lines, self.name)
        cells = self.frame.cells | self.cells if self.cells else self.frame.cells
        return Frame(self, source, self.frame.globals, cells, self.frame)

    def holds(self) -> tuple:
        """The values that it keeps, but for what it reads in its frame."""
        return (*self.defaults.values(), self.attributes)

    @property
    def qualified(self) -> str:
        owner = self.frame.owner
        around = owner.qualified if isinstance(owner, Closure) else owner.__qualname__
        return f"{around}.<locals>.{self.name}"

    @property
    def doc(self) -> str | None:
        """What Python makes of the text at the top: newer versions take off its indentation."""
        first = None if isinstance(self.node, gast.Lambda) else self.node.body[0]
        text = getattr(getattr(first, "value", None), "value", None)
        if not isinstance(first, gast.Expr) or not isinstance(text, str):
            return None
        made: dict[str, Any] = {}
        exec(f"def documented():\n    {text!r}", made)
        return made["documented"].__doc__

    def attribute(self, lowering: Lowering, name: str) -> Any:
        """An attribute of the function: what was set, or what it has from its definition."""
        if name in DEFINED and not has_entry(lowering, self.attributes, name):
            return getattr(self, DEFINED[name])
        error = AttributeError(f"'function' object has no attribute {name!r}")
        return read_entry(lowering, self.attributes, name, error)


@dataclass(frozen=True, eq=False)
class Remembering:
    """A function that keeps its results: functools.cache.

    `read` holds what it read of the function around it, if there is one, at its first call: names,
    and contents.
    """

    in_python: ClassVar[str] = "function"

    function: Closure | Captured | types.FunctionType
    name: str
    read: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    def holds(self) -> tuple:
        return (self.function,)


@dataclass(frozen=True, eq=False)
class MakesManagers:
    """A generator function under contextlib.contextmanager: a call of it gives a manager."""

    in_python: ClassVar[str] = "function"

    function: Closure | types.FunctionType

    def holds(self) -> tuple:
        return (self.function,)


@expression(gast.Lambda)
def lambda_(lowering: Lowering, node: gast.Lambda) -> Any:
    """`lambda x: value` Anywhere, with all kinds of parameters."""
    return closure_of(lowering, node, "<lambda>")


@statement(gast.FunctionDef)
def nested(lowering: Lowering, node: gast.FunctionDef) -> Any:
    """`def f(x): ...` A function in the function, with all kinds of parameters and decorators."""
    decorators = [lowering.evaluate(each) for each in node.decorator_list]
    value: Any = closure_of(lowering, node, node.name)
    for each in reversed(decorators):
        value = HANDLERS[DECORATED](lowering, [each, value], {})
    give_name(
        lowering, gast.copy_location(gast.Name(node.name, gast.Store(), None, None), node), value
    )
    return CONTINUE


def closure_of(
    lowering: Lowering,
    node: gast.Lambda | gast.FunctionDef,
    name: str,
    cells: dict[str, Any] | None = None,
) -> Closure:
    """A function of the function; a method also reads the class that it stands in."""
    attributes = lowering.memory.box(Tree(types.FunctionType, (), ()))
    defaults = _defaults(lowering, node.args)
    parts = (defaults, name, attributes, cells or {}, lowering.memory.explores)
    return Closure(node, lowering.frame.around(), *parts)


def may_be_two(left: Any, right: Any) -> bool:
    """Whether values are functions that passes of a loop define, of which one stands for both."""
    both = isinstance(left, Closure) and isinstance(right, Closure)
    return both and left.same(right)


def _defaults(lowering: Lowering, args: gast.arguments) -> dict[str, Any]:
    positional = [*args.posonlyargs, *args.args]
    first = len(positional) - len(args.defaults)
    pairs = list(zip(positional[first:], args.defaults, strict=True))
    pairs += [
        (name, default)
        for name, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
        if default is not None
    ]
    return {name.id: lowering.evaluate_any(default) for name, default in pairs}
