"""The lowering walk: dispatch on node types, frames of functions, and what an error says.

While a function is lowered its values are Symbols (known by abstract value only), Python objects
(known), Trees (containers of these), Captured objects and Closures.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gast
import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.core.builder import Builder, NeedStatic, Symbol, fresh_name, to_node
from s2s_ad.core.program import Hint, Input, Program
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import Origin, S2SError, UnsupportedError
from s2s_ad.frontend.lower.refused import refusal
from s2s_ad.frontend.resolve import Captured, Captures, Frame, cells_of
from s2s_ad.frontend.source import source_of

EXPRESSIONS: dict[type, Callable[[Lowering, Any], Any]] = {}
STATEMENTS: dict[type, Callable[[Lowering, Any], Any]] = {}

#: what a statement's handler gives back where the function goes on
CONTINUE = object()


def expression(*kinds: type) -> Callable:
    """Register the handler of some expression nodes."""
    return lambda handler: [EXPRESSIONS.update({kind: handler}) for kind in kinds] and handler


def statement(*kinds: type) -> Callable:
    """Register the handler of some statement nodes."""
    return lambda handler: [STATEMENTS.update({kind: handler}) for kind in kinds] and handler


class StaticNeeded(Exception):
    """A rule needs the value of some inputs: (parameter, path) of each, and what to say else."""

    def __init__(self, inputs: list[tuple[str, tree.Path]], error: S2SError):
        self.inputs, self.error = inputs, error
        super().__init__(str(error))


class Lowering:
    """The state while one function, with the helpers it calls, is lowered."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.captures = Captures(self.builder)
        self.frames: list[Frame] = []
        self.root = 0
        self.needed_at: Origin | None = None

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    # ---- nodes

    def evaluate(self, node: gast.AST) -> Any:
        """The value of an expression."""
        handler = EXPRESSIONS.get(type(node))
        if handler is None:
            raise self.refuse(node)
        with self.placed(node):
            return handler(self, node)

    def run(self, body: list[gast.stmt]) -> Any:
        """Lower statements up to a return; gives its value, or CONTINUE."""
        for node in body:
            if len(self.frames) == 1:
                self.root = node.lineno
            handler = STATEMENTS.get(type(node))
            if handler is None:
                raise self.refuse(node)
            with self.placed(node):
                result = handler(self, node)
            if result is not CONTINUE:
                return result
        return CONTINUE

    @contextmanager
    def placed(self, node: gast.AST) -> Iterator[None]:
        """Operations emitted inside, and errors raised, belong to this node."""
        origin = self.origin(node)
        with self.builder.at(origin):
            try:
                yield
            except S2SError as error:
                if error.origin is None:
                    raise type(error)(
                        error.code, error.what, origin=origin, why=error.why, help=error.help
                    ) from None
                raise
            except NeedStatic:
                self.needed_at = self.needed_at or origin
                raise
            except (IndexError, ValueError, TypeError, KeyError, AttributeError) as error:
                raise self.misuse(error, origin) from error

    def misuse(self, error: Exception, origin: Origin) -> S2SError:
        """A call that NumPy or Python itself would refuse."""
        return UnsupportedError(
            "S2S203", f"{type(error).__name__}: {error}", origin=origin, why="Python refuses this"
        )

    def origin(self, node: gast.AST) -> Origin:
        return self.frame.source.origin(node, self.root)

    def refuse(self, node: gast.AST, what: str = "", help: str = "") -> UnsupportedError:
        """The error for a construct that is not accepted."""
        default_what, default_help = refusal(type(node))
        return UnsupportedError(
            "S2S201", what or default_what, origin=self.origin(node), help=help or default_help
        )

    def lookup(self, node: gast.Name) -> Any:
        try:
            return self.frame.lookup(node.id, self.captures)
        except NameError:
            raise UnsupportedError(
                "S2S202", f"the name {node.id!r} is not defined", origin=self.origin(node)
            ) from None

    # ---- functions

    def enter(self, function: types.FunctionType, arguments: dict[str, Any]) -> Any:
        """The value of a call of a Python function, written in place."""
        source = source_of(function)
        frame = Frame(source, function.__globals__, cells_of(function))
        return self.enter_frame(frame, arguments)

    def enter_frame(self, frame: Frame, arguments: dict[str, Any]) -> Any:
        node = frame.source.node
        if any(other.source.node is node for other in self.frames):
            raise UnsupportedError(
                "S2S206",
                f"{frame.source.name} calls itself",
                origin=self.builder.origin,
                help="recursion comes with a later version; write a loop over NumPy arrays",
            )
        frame.locals.update(arguments)
        self.frames.append(frame)
        try:
            if isinstance(node, gast.Lambda):
                return self.evaluate(node.body)
            result = self.run(node.body)
            return None if result is CONTINUE else result
        finally:
            self.frames.pop()


def lower(function: Callable, arguments: dict[str, Any]) -> Program:
    """The Core of a function for arguments of these abstract values.

    Args:
        function: a Python function, a bound method, a functools.partial or a callable object.
        arguments: the abstract value (Tree of abstract values) of each parameter, by name.

    Raises:
        S2SError: the function uses what is not supported; the error points at the place.
    """
    from s2s_ad.frontend.lower.calls import resolve_callable

    lowering = Lowering()
    plain, bound = resolve_callable(lowering, function)
    source = source_of(plain)
    entry = Frame(source, plain.__globals__, cells_of(plain))
    lowering.frames.append(entry)
    lowering.root = source.node.lineno
    inputs, given = _inputs(lowering, function, arguments)
    lowering.frames.pop()
    try:
        result = lowering.enter_frame(entry, bound(given))
    except NeedStatic as need:
        raise _static_needed(lowering, inputs, need) from None
    builder = lowering.builder
    name = plain.__name__ if plain.__name__ != "<lambda>" else "f"
    return Program(
        name=name,
        doc=name,
        inputs=inputs,
        body=tuple(builder.body),
        output=tree.tree_map(lambda leaf: _output(leaf, source), _plain(result)),
        facts=builder.facts,
        hints=builder.hints,
        captures=tuple(lowering.captures.found.values()),
        origin=source.origin(source.node),
    )


def _static_needed(lowering: Lowering, inputs: tuple[Input, ...], need: NeedStatic) -> Exception:
    """Which inputs the value that is needed was computed from."""
    waiting, ancestors = [need.name], set()
    while waiting:
        name = waiting.pop()
        ancestors.add(name)
        _, operands, _ = lowering.builder.definitions.get(name, (None, [], {}))
        waiting += [each.name for each in operands if isinstance(each, Symbol)]
    found = [
        (each.name, path)
        for each in inputs
        for leaf, path in zip(tree.leaves(each.tree), tree.paths(each.tree), strict=True)
        if leaf in ancestors
    ]
    origin = lowering.needed_at
    return StaticNeeded(
        found,
        UnsupportedError(
            "S2S205",
            f"{need.purpose} must be known when the code is generated",
            origin=origin,
            help="pass it as a plain Python int or a constant; as text without example arguments "
            "it cannot be known",
        ),
    )


def _inputs(
    lowering: Lowering, function: Callable, arguments: dict[str, Any]
) -> tuple[tuple[Input, ...], dict[str, Any]]:
    """The program's inputs, and the value of each parameter while lowering."""
    inputs, given = [], {}
    for parameter in inspect.signature(function).parameters.values():
        abstract = arguments[parameter.name]
        names = tree.tree_map(lambda _: fresh_name(), abstract)
        labels = iter(tree.paths(abstract))

        def enter(name: str, fact: Any, labels=labels, parameter=parameter) -> Any:
            hint = _leaf_hint(parameter.name, next(labels))
            symbol = lowering.builder.adopt(name, fact, hint)
            return fact.value if isinstance(fact, values.Static) else symbol

        given[parameter.name] = tree.tree_map(enter, names, abstract)
        inputs.append(Input(parameter.name, names, parameter.kind))
    return tuple(inputs), given


def _leaf_hint(parameter: str, path: tree.Path) -> Hint:
    """params["W1"] is called W1, layers[0]["w"] layers_0_w, unless the user names it."""
    if not path:
        return Hint(parameter, "user")
    if len(path) == 1 and isinstance(path[0][1], str) and path[0][1].isidentifier():
        return Hint(path[0][1], "derived")
    steps = "_".join(str(key) for _, key in path)
    text = "".join(c if c.isalnum() else "_" for c in f"{parameter}_{steps}")
    return Hint(text, "derived")


def _plain(result: Any) -> Any:
    return result.value if isinstance(result, Captured) else result


def _output(leaf: Any, source: Any) -> gast.AST:
    plain = (int, float, complex, bool, str, bytes, type(None), np.dtype, type)
    if isinstance(leaf, Symbol) or isinstance(leaf, plain) or leaf is Ellipsis:
        return to_node(leaf)
    raise UnsupportedError(
        "S2S304",
        f"{source.name} returns a {type(leaf).__name__}",
        origin=source.origin(source.node),
        help="return arrays, numbers, and tuples, lists, dicts, namedtuples or dataclasses of them",
    )


__all__ = ["CONTINUE", "Lowering", "Tree", "expression", "lower", "statement"]
