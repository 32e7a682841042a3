"""Calls: of functions with a rule, of the user's functions, of classes and of other objects."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import gast

from s2s_ad.core import tree
from s2s_ad.core.builder import Symbol, no_rule
from s2s_ad.core.registry import rule_for
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import ArgumentTypeError, UnsupportedError
from s2s_ad.frontend.lower.attributes import Method
from s2s_ad.frontend.lower.containers import known_items, sequence
from s2s_ad.frontend.lower.core import Lowering, expression
from s2s_ad.frontend.lower.functions import Closure
from s2s_ad.frontend.resolve import Captured, unwrap

#: functions that are evaluated while lowering: function -> handler(lowering, args, kwargs)
HANDLERS: dict[Any, Callable] = {}


@expression(gast.Call)
def call(lowering: Lowering, node: gast.Call) -> Any:
    function = lowering.evaluate(node.func)
    args: list = []
    for each in node.args:
        if isinstance(each, gast.Starred):
            args += known_items(lowering, lowering.evaluate(each.value), each)
        else:
            args.append(lowering.evaluate(each))
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        value = lowering.evaluate(keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
        elif isinstance(value, Tree) and value.kind is dict:
            kwargs.update(zip(value.keys, value.items, strict=True))
        else:
            raise lowering.refuse(node, "'**' of something that is not a known dict")
    return apply(lowering, function, args, kwargs)


def apply(lowering: Lowering, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """The value of a call."""
    if isinstance(function, Method):
        return apply(lowering, function.function, [function.holder, *args], kwargs)
    if isinstance(function, Closure):
        arguments = bind(lowering, function.signature(), function.name, args, kwargs)
        return lowering.enter_frame(function.new_frame(), arguments)
    if isinstance(function, Captured):
        return _of_object(lowering, function, args, kwargs)
    if isinstance(function, Symbol | Tree):
        raise UnsupportedError("S2S203", "a call of a value that is not a function")
    handler = _handler(function)
    if handler is not None:
        return handler(lowering, args, kwargs)
    if rule_for(function) is not None:
        return _by_rule(lowering, function, args, kwargs)
    if hasattr(function, "__s2s_program__"):
        return _derived(lowering, function, args, kwargs)
    if isinstance(function, types.FunctionType):
        return _of_function(lowering, function, args, kwargs)
    if isinstance(function, type):
        return _construct(lowering, function, args, kwargs)
    if isinstance(function, types.MethodDescriptorType) and isinstance(args[0], str):
        return function(*map(unwrap, args))
    raise no_rule(function, lowering.builder.origin)


def _handler(function: Any) -> Callable | None:
    try:
        return HANDLERS.get(function)
    except TypeError:
        return None


def _by_rule(lowering: Lowering, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """An operation; containers reach the rule as Python's own."""
    plain = [_as_argument(each) for each in args]
    named = {key: _as_argument(value) for key, value in kwargs.items()}
    result = lowering.builder.call(function, plain, named)
    return (
        tree.from_object(result, lambda leaf, _: leaf)
        if isinstance(result, tuple | list)
        else result
    )


def _as_argument(value: Any) -> Any:
    return unwrap(tree.to_object(value))


def _of_function(
    lowering: Lowering, function: types.FunctionType, args: list, kwargs: dict[str, Any]
) -> Any:
    """A function of the user's, written in place."""
    if getattr(function, "__s2s_static__", False):
        return function(
            *map(_known(lowering), args), **{k: _known(lowering)(v) for k, v in kwargs.items()}
        )
    module = (function.__module__ or "").partition(".")[0]
    if module in ("numpy", "scipy"):
        raise no_rule(function, lowering.builder.origin)
    signature = inspect.signature(function, follow_wrapped=False)
    arguments = bind(lowering, signature, function.__qualname__, args, kwargs)
    supplied = _supplied(signature, args, kwargs)
    for name in arguments.keys() - supplied:
        parameter = signature.parameters[name]
        if parameter.default is not inspect.Parameter.empty:
            arguments[name] = _default(lowering, function, name, parameter.default)
    return lowering.enter(function, arguments)


def _known(lowering: Lowering) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        plain = tree.to_object(value)
        if any(isinstance(each, Symbol) for each in tree.leaves(value)):
            raise UnsupportedError(
                "S2S205",
                "an argument that has to be known when code is generated",
                origin=lowering.builder.origin,
            )
        return unwrap(plain)

    return check


def _default(lowering: Lowering, function: types.FunctionType, name: str, default: Any) -> Any:
    """A default is an object that the user did not pass: captured like any other."""

    def read() -> Any:
        return inspect.signature(function, follow_wrapped=False).parameters[name].default

    plain = (int, float, str, bool, type(None))
    if isinstance(default, plain):
        return default
    return lowering.captures.of(default, f"{function.__qualname__}.{name}", read)


def _supplied(signature: inspect.Signature, args: list, kwargs: dict[str, Any]) -> set[str]:
    return set(signature.bind(*args, **kwargs).arguments)


def bind(
    lowering: Lowering, signature: inspect.Signature, name: str, args: list, kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments by parameter name, as Python binds them."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise ArgumentTypeError(
            "S2S203", f"{name}: {error}", origin=lowering.builder.origin
        ) from None
    bound.apply_defaults()
    arguments = dict(bound.arguments)
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            arguments[parameter.name] = sequence(tuple, list(arguments[parameter.name]))
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            extra = arguments[parameter.name]
            arguments[parameter.name] = Tree(dict, tuple(extra), tuple(extra.values()))
    return arguments


def _of_object(lowering: Lowering, holder: Captured, args: list, kwargs: dict[str, Any]) -> Any:
    """functools.partial, bound methods, and objects with __call__."""
    value = holder.value
    if isinstance(value, functools.partial):
        first = [
            lowering.captures.of(
                each, f"{holder.text}.args[{i}]", lambda i=i: holder.read().args[i]
            )
            for i, each in enumerate(value.args)
        ]
        named = {
            key: lowering.captures.of(
                each,
                f"{holder.text}.keywords[{key!r}]",
                lambda key=key: holder.read().keywords[key],
            )
            for key, each in value.keywords.items()
        }
        inner = lowering.captures.of(value.func, f"{holder.text}.func", lambda: holder.read().func)
        return apply(lowering, inner, [*first, *args], named | kwargs)
    if isinstance(value, types.MethodType):
        text = f"{holder.text}.__self__"
        own = lowering.captures.of(value.__self__, text, lambda: holder.read().__self__)
        return apply(lowering, value.__func__, [own, *args], kwargs)
    if hasattr(value, "__s2s_program__"):
        return _derived(lowering, value, args, kwargs)
    handler = _handler(value)
    if handler is not None:
        return handler(lowering, args, kwargs)
    if rule_for(value) is not None:
        return _by_rule(lowering, value, args, kwargs)
    method = getattr(type(value), "__call__", None)
    if isinstance(method, types.FunctionType):
        return apply(lowering, method, [holder, *args], kwargs)
    raise no_rule(value, lowering.builder.origin)


def _construct(lowering: Lowering, kind: type, args: list, kwargs: dict[str, Any]) -> Any:
    """A namedtuple or dataclass of the user's; other classes are refused."""
    if tree.is_namedtuple(kind):
        arguments = bind(lowering, inspect.signature(kind), kind.__name__, args, kwargs)
        return Tree(kind, kind._fields, tuple(arguments[each] for each in kind._fields))
    if _is_plain_dataclass(kind):
        arguments = bind(lowering, inspect.signature(kind), kind.__name__, args, kwargs)
        names = tuple(arguments)
        return Tree(kind, names, tuple(arguments.values()))
    raise UnsupportedError(
        "S2S201",
        f"an object of class {kind.__name__} made inside the function",
        origin=lowering.builder.origin,
        help="use a dataclass without __post_init__, a namedtuple or a dict",
    )


def _is_plain_dataclass(kind: type) -> bool:
    import dataclasses

    if not dataclasses.is_dataclass(kind) or hasattr(kind, "__post_init__"):
        return False
    factories = [
        f for f in dataclasses.fields(kind) if f.default_factory is not dataclasses.MISSING
    ]
    return not factories and all(field.init for field in dataclasses.fields(kind))


def _derived(lowering: Lowering, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """A call of grad(f), vmap(f), ... inside a function: its program, written in place."""
    program, leaves = function.__s2s_program__(lowering.builder.fact, args, kwargs)
    for capture in program.captures:
        lowering.captures.found.setdefault(f"{id(capture.read)}:{capture.text}", capture)
    return lowering.builder.splice(program, dict(zip(program.leaves(), leaves, strict=True)))


# ---- the function that is compiled -----------------------------------------------------------------


def resolve_callable(
    lowering: Lowering, function: Any
) -> tuple[types.FunctionType, Callable[[dict[str, Any]], dict[str, Any]]]:
    """The plain function behind a callable, and how to complete its arguments."""
    if isinstance(function, types.FunctionType):
        return function, lambda given: given
    holder = lowering.captures.of(
        function, getattr(function, "__name__", "function"), lambda: function
    )
    if isinstance(function, functools.partial):
        return _resolve_partial(lowering, holder, function)
    if isinstance(function, types.MethodType):
        own, plain = function.__self__, function.__func__
        self_value = lowering.captures.of(own, "self", lambda: function.__self__)
    else:
        plain = getattr(type(function), "__call__", None)
        self_value = holder
    if not isinstance(plain, types.FunctionType):
        raise ArgumentTypeError(
            "S2S103",
            f"{function!r} is not a Python function",
            help="wrap it: def f(x): return ...",
        )
    first = plain.__code__.co_varnames[0]
    return plain, lambda given: {first: self_value, **given}


def _resolve_partial(lowering: Lowering, holder: Any, function: functools.partial) -> tuple:
    plain, complete = resolve_callable(lowering, function.func)
    signature = inspect.signature(function.func)
    known = signature.bind_partial(*function.args, **function.keywords).arguments

    def bound(given: dict[str, Any]) -> dict[str, Any]:
        fixed = {
            name: lowering.captures.of(
                value,
                name,
                lambda name=name: signature.bind_partial(
                    *function.args, **function.keywords
                ).arguments[name],
            )
            for name, value in known.items()
            if name not in given
        }
        return complete({**fixed, **given})

    return plain, bound
