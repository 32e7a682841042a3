"""From a callable and the abstract values of its arguments to its Program."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from s2s_ad.core import faults, tree, values
from s2s_ad.core.builder import NeedKind, NeedStatic, Symbol, describe, fresh_name, to_node
from s2s_ad.core.program import Hint, Input, Program
from s2s_ad.core.registry import rule_for
from s2s_ad.core.rule import Rule
from s2s_ad.core.tree import Tree, tuple_of
from s2s_ad.diagnostics import (
    ArgumentTypeError,
    EndlessError,
    Origin,
    S2SError,
    SharedMemoryError,
    StepwiseError,
    UnsupportedError,
)
from s2s_ad.frontend.called import called, name_of_call
from s2s_ad.frontend.lower.calls import LIBRARIES, apply, array_of
from s2s_ad.frontend.lower.caught import is_error
from s2s_ad.frontend.lower.classes import method_of
from s2s_ad.frontend.lower.core import HANDLERS, REFUSALS, CallsItself, Lowering, StaticNeeded
from s2s_ad.frontend.lower.derived import is_array_object, may_be_array
from s2s_ad.frontend.lower.exits import Raises
from s2s_ad.frontend.lower.kinds import class_name, with_article
from s2s_ad.frontend.lower.lengths import PURPOSE
from s2s_ad.frontend.lower.loops import ask_for
from s2s_ad.frontend.lower.objects import returned
from s2s_ad.frontend.lower.optional import is_optional
from s2s_ad.frontend.lower.outside import store_outside
from s2s_ad.frontend.lower.picked import EACH, is_picked, is_told_apart, members
from s2s_ad.frontend.lower.references import Box, settled
from s2s_ad.frontend.lower.string_unions import as_result, is_word
from s2s_ad.frontend.lower.texts import none_or
from s2s_ad.frontend.resolve import Captured, items_of
from s2s_ad.frontend.scopes import bound_otherwise
from s2s_ad.frontend.signatures import signature_of
from s2s_ad.frontend.source import source_of
from s2s_ad.rules.list_lengths import enter_list
from s2s_ad.rules.real_powers import asks_of_powers

OUTPUTS = (int, float, complex, str, bytes, type(None), np.dtype, type, types.EllipsisType)


def lower(
    function: Callable, arguments: dict[str, Any], varying: frozenset[str] = frozenset()
) -> Program:
    """The Core of a function for arguments of these abstract values.

    Args:
        function: a Python function, a bound method, a functools.partial or a callable object.
        arguments: the abstract value (Tree of abstract values) of each parameter that is given,
            by name; the others have their defaults.
        varying: parameters whose defaults are values of the program, and no part of its text.

    Raises:
        S2SError: the function uses what is not supported; the error points at the place.
    """
    ways = Ways()
    while True:
        lowering = Lowering(**vars(ways))
        inputs, given = inputs_of(lowering, function, arguments)
        try:
            program = _program(lowering, function, inputs, given, varying)
            if not asks_of_powers(lowering.builder):
                return program
            ways = replace(ways, real_powers=True)
        except NeedStatic as need:
            ways = _with_static(ways, lowering, inputs, need)
        except CallsItself as found:
            if found.node in ways.recursive:
                raise found.error from None
            ways = replace(ways, recursive=ways.recursive | {found.node})
        except StepwiseError as error:
            if error.generator is None or error.generator in ways.stepwise:
                raise
            ways = replace(ways, stepwise=ways.stepwise | {error.generator})
        except UnsupportedError as error:
            try:
                ways = _by_other_means(ways, lowering, error)
            except NeedStatic as need:
                ways = _with_static(ways, lowering, inputs, need)


@dataclass(frozen=True)
class Ways:
    """How a function is lowered, see `Lowering`: first as simply as can be."""

    static: frozenset[tuple] = frozenset()
    apart: frozenset[tuple] = frozenset()
    recursive: frozenset[gast.AST] = frozenset()
    lacks_entries: bool = False
    follows: bool = False
    tells_apart: bool = False
    real_powers: bool = False
    refused: S2SError | None = None
    lengths: bool = False
    passes: bool = False
    stepwise: frozenset[gast.AST] = frozenset()
    knows_arrays: bool = False


def _with_static(
    ways: Ways, lowering: Lowering, inputs: tuple[Input, ...], need: NeedStatic
) -> Ways:
    """How to lower the function so that a value is known."""
    ancestors = lowering.builder.ancestors(*need.names)
    places = lowering.captures
    captured = places.numbers | places.arrays | places.lists
    numbers = {captured.get(name) for name in ancestors} - {None, *ways.static}
    loops = {lowering.rolled.get(name) for name in ancestors} - {None}
    if not ways.lacks_entries and getattr(need.error, "entries", False):
        return replace(ways, lacks_entries=True)  # rather than code for one length
    if loops:
        return replace(ways, apart=ways.apart | loops)
    if isinstance(need, NeedKind):
        error = _cannot_be_known(need, lowering.needed_at)
        return _with_conditions(ways, lowering, error, of_lengths=True)
    if numbers:
        return replace(ways, static=ways.static | numbers)
    needed = _static_needed(lowering, inputs, ancestors, need)
    arrays = {items_of(places.arrays[name]) for name in ancestors if name in places.arrays}
    if not needed.inputs and (arrays - ways.static or not ways.knows_arrays):
        return replace(ways, static=ways.static | arrays, knows_arrays=True)
    if lowering.lumped and not ways.tells_apart and not _may_be_asked(lowering, inputs, ancestors):
        return replace(ways, tells_apart=True)
    raise needed from None


def _by_other_means(ways: Ways, lowering: Lowering, error: UnsupportedError) -> Ways:
    """How to lower a function that was refused, if there is another way to."""
    if lowering.left_to_passes:
        return replace(ways, passes=True)
    if not ways.lacks_entries and getattr(error, "entries", False):
        return replace(ways, lacks_entries=True)
    if not ways.follows and isinstance(error, SharedMemoryError):
        return replace(ways, follows=True)
    if isinstance(error, SharedMemoryError):
        loops = {place for place, bounds in lowering.sharing.items() if _are_known(bounds)}
        if loops - ways.apart:
            return replace(ways, apart=ways.apart | loops)
        for bounds in lowering.sharing.values():
            ask_for(lowering, bounds, error)
        if error.items:
            raise NeedStatic(error.items, PURPOSE, error)
    if not ways.tells_apart and (lowering.lumped or isinstance(error, SharedMemoryError)):
        return replace(ways, tells_apart=True)
    return _with_conditions(ways, lowering, error, of_lengths=isinstance(error, EndlessError))


def _with_conditions(ways: Ways, lowering: Lowering, error: S2SError, *, of_lengths: bool) -> Ways:
    """How to lower a refused function so that it has fewer branches: those on numbers among its
    arguments are known, and those on lengths, where the rank, the dtype or the depth depends on
    these."""
    if ways.refused is None and lowering.branches:
        return replace(ways, refused=error.with_traceback(None))
    if of_lengths and not ways.lengths and lowering.branches:
        return replace(ways, lengths=True)
    raise (ways.refused or error) from None


def _are_known(bounds: Sequence[Any]) -> bool:
    """Whether it is known how often a loop runs."""
    return not any(isinstance(each, Symbol) for each in bounds)


def _program(
    lowering: Lowering,
    function: Callable,
    inputs: tuple[Input, ...],
    given: dict[str, Any],
    varying: frozenset[str],
) -> Program:
    args, kwargs = as_call(signature_of(function), given)
    if is_of_library(function):
        name, origin = _name_of_library(function), None
        result = _by_its_rule(lowering, function, args, kwargs)
        return _finished(lowering, name, name, origin, inputs, result)
    plain = plain_function(function)
    source = source_of(plain)
    origin = source.origin(source.node)
    lowering.root = source.node.lineno
    is_plain = isinstance(function, types.FunctionType)
    if is_plain:
        lowering.captures.start(function, varying)
    name = name_of_call(function, plain)
    with lowering.builder.at(origin):
        target = function if is_plain else lowering.captures.held(function, name)
        lowering.captures.defaults(plain)  # of those that a call leaves out the value is passed
        try:
            result = apply(lowering, target, args, kwargs)
            result = _present(lowering, result, _shown(origin, plain))
            store_outside(lowering)
        except Raises:
            result = float("nan")  # never reached: the body ends with the raise
    return _finished(lowering, name, source.name, origin, inputs, result)


def _finished(
    lowering: Lowering,
    name: str,
    shown: str,
    origin: Origin | None,
    inputs: tuple[Input, ...],
    result: Any,
) -> Program:
    """The program that returns `result`; a message calls the function as it is `shown`."""
    output = output_of(result, shown, origin)
    writes = lowering.captures.written()
    if writes:
        nodes = [output_node(settled(held), shown, origin) for _, held in writes]
        output = tuple_of([output, *nodes])
    return Program(
        name=name,
        doc=name,
        inputs=inputs,
        body=tuple(lowering.builder.body),
        output=output,
        facts=lowering.builder.facts,
        hints=lowering.builder.hints,
        captures=lowering.captures.all(),
        origin=origin,
        mutated=tuple(lowering.memory.mutated),
        writes=tuple(capture for capture, _ in writes),
        derived=lowering.derived,
        tensors=any(map(values.is_tensor, lowering.builder.facts.values())),
    )


def is_of_library(function: Any) -> bool:
    """Whether it is a function of a library whose rule stands for its code."""
    if isinstance(function, types.FunctionType):
        home = (function.__module__ or "").partition(".")[0]
        return home in LIBRARIES and rule_for(function) is not None
    return not isinstance(function, Rule) and rule_for(function) is not None


def _by_its_rule(lowering: Lowering, function: Callable, args: list, kwargs: dict[str, Any]) -> Any:
    try:
        return apply(lowering, function, args, kwargs)
    except REFUSALS as error:
        if faults.is_meant(error):
            raise
        raise lowering.explained(error, None) from error


def _name_of_library(function: Any) -> str:
    path, _, name = describe(function).rpartition(".")
    return name if path and name.isidentifier() else "f"  # `abs` calls Python's


def _shown(origin: Origin, function: Callable) -> str:
    """What an error that the generated code raises calls the result."""
    return f"the result of {function.__name__} ({origin.place})"


def _present(lowering: Lowering, result: Any, shown: str) -> Any:
    """The result of the function that is differentiated: it may not be None where it is asked."""
    if is_word(result) or is_error(result):
        return as_result(result)
    if is_optional(result):
        if is_word(result.items[1]) or is_error(result.items[1]):
            return none_or(lowering, result)
        return lowering.present(result, shown)
    several = members(result) if is_picked(result) else []
    if any(map(is_told_apart, several)) or (several and all(map(may_be_array, several))):
        with lowering.with_its_result():
            return HANDLERS[EACH](lowering, [result, array_of], {})
    if not isinstance(result, Tree) or (isinstance(result, Box) and result.is_dynamic):
        return result
    if is_array_object(result):
        return returned(result)
    items = [_present(lowering, each, shown) for each in result.items]
    changed = any(a is not b for a, b in zip(items, result.items, strict=True))
    return Tree(result.kind, result.keys, tuple(items)) if changed else result


def plain_function(function: Any) -> types.FunctionType:
    """The Python function whose code runs when the object is called."""
    if isinstance(function, types.FunctionType):
        return function
    if isinstance(function, functools.partial):
        return plain_function(function.func)
    if isinstance(function, types.MethodType):
        return plain_function(function.__func__)
    if called(function) is not function:
        return plain_function(called(function))
    if hasattr(type(function), "__s2s_call__") and hasattr(function, "__wrapped__"):
        return plain_function(function.__wrapped__)  # as where `construct` is a jit function
    method = method_of(type(function), "__call__")
    if isinstance(method, types.FunctionType):
        return method
    raise ArgumentTypeError(
        "S2S103", f"{function!r} is not a Python function", help="wrap it: def f(x): return ..."
    )


def mentioned(function: Callable) -> set[str]:
    """The names that stand in the body of the function that a call runs."""
    if is_of_library(function):
        return set(signature_of(function).parameters)
    body = source_of(plain_function(function)).node.body
    statements = body if isinstance(body, list) else [body]
    nodes = (node for statement in statements for node in gast.walk(statement))
    return {node.id for node in nodes if isinstance(node, gast.Name)}


def as_call(signature: inspect.Signature, given: dict[str, Any]) -> tuple[list, dict[str, Any]]:
    """The arguments of a call that gives each of these parameters its value."""
    args, kwargs = [], {}
    by_name = False
    for name, parameter in signature.parameters.items():
        if name not in given:
            by_name = True
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            args += given[name].items
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            kwargs |= dict(zip(given[name].keys, given[name].items, strict=True))
        elif by_name or parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            kwargs[name] = given[name]
        else:
            args.append(given[name])
    return args, kwargs


# ---- values that are needed while code is generated ----------------------------------------------


def _static_needed(
    lowering: Lowering, inputs: tuple[Input, ...], ancestors: set[str], need: NeedStatic
) -> StaticNeeded:
    """Which inputs the value that is needed was computed from."""
    found = [
        (each.name, path)
        for each in inputs
        for leaf, path in zip(tree.leaves(each.tree), tree.paths(each.tree), strict=True)
        if leaf in ancestors
    ]
    return StaticNeeded(found, _cannot_be_known(need, lowering.needed_at))


def _may_be_asked(lowering: Lowering, inputs: tuple[Input, ...], names: set[str]) -> bool:
    """Whether among these values are inputs that may be part of the signature: whole numbers, or
    arrays of lengths that are not known."""
    leaves = {leaf for each in inputs for leaf in tree.leaves(each.tree)} & names
    facts = [lowering.builder.facts.get(each) for each in leaves]
    arrays = [each for each in facts if isinstance(each, values.Array) and each.shape is not None]
    open_ = any(not isinstance(length, int) for each in arrays for length in each.shape)
    return open_ or any(each == values.Scalar(int) for each in facts)


def _cannot_be_known(need: NeedStatic, origin: Origin | None) -> S2SError:
    if need.error is not None:
        return need.error.at(origin)
    return UnsupportedError(
        "S2S205",
        f"{need.purpose} must be known when the code is generated",
        origin=origin,
        help="pass it as a plain Python int or a constant; as text without example arguments "
        "it cannot be known",
    )


# ---- inputs and outputs --------------------------------------------------------------------------


def inputs_of(
    lowering: Lowering, function: Callable, arguments: dict[str, Any]
) -> tuple[tuple[Input, ...], dict[str, Any]]:
    """The program's inputs, and the value of each parameter while lowering."""
    inputs, given = [], {}
    parameters = signature_of(function).parameters
    whole = all(isinstance(each, values.AbstractValue) for each in arguments.values())
    taken = set() if whole else {*parameters, *_bound_otherwise(function)}
    for parameter in parameters.values():
        if parameter.name not in arguments:
            continue
        abstract = arguments[parameter.name]
        names = tree.tree_map(lambda _: fresh_name(), abstract)
        paths = iter(tree.paths(abstract))

        def enter(name: str, fact: Any, paths=paths, parameter=parameter) -> Any:
            path = next(paths)
            symbol = lowering.builder.adopt(name, fact, _leaf_hint(parameter.name, path, taken))
            if values.atom_of_count(fact) is not None:
                lowering.builder.facts[name] = fact  # whose unknown is the one that guards ask for
            enter_list(symbol)
            if not isinstance(fact, values.Static):
                return symbol
            return _static(lowering, fact.value, tree.path_text(parameter.name, path))

        value = tree.tree_map(enter, names, abstract)
        given[parameter.name] = lowering.memory.passed(value, parameter.name)
        inputs.append(Input(parameter.name, names, parameter.kind))
    return tuple(inputs), given


def _static(lowering: Lowering, value: Any, text: str) -> Any:
    """An argument that is part of the signature; the attributes of an object are captured."""
    is_number = type(value) in values.PYTHON_NUMBERS
    return value if is_number else lowering.captures.held(value, text)


def _bound_otherwise(function: Callable) -> set[str]:
    """The names that a function binds to something else than to items or attributes so called."""
    if is_of_library(function):
        return set()
    node = source_of(plain_function(function)).node
    return bound_otherwise([node.body] if isinstance(node, gast.Lambda) else node.body)


def _leaf_hint(parameter: str, path: tree.Path, taken: Collection[str]) -> Hint:
    """params["W1"] is called W1 unless that is `taken`, layers[0]["w"] is called layers_0_w."""
    if not path:
        return Hint(parameter, "user")
    key = path[0][1]
    if len(path) == 1 and isinstance(key, str) and key.isidentifier() and key not in taken:
        return Hint(key, "user")
    steps = "_".join(str(key) for _, key in path)
    text = "".join(c if c.isalnum() else "_" for c in f"{parameter}_{steps}")
    return Hint(text, "user")


def output_of(result: Any, name: str, origin: Origin) -> Any:
    """What the function returns, as a Tree of atoms."""
    try:
        return tree.tree_map(lambda leaf: output_node(leaf, name, origin), returned(result))
    except UnsupportedError as error:
        raise error.at(origin) from None
    except NeedStatic as need:
        error = None if need.error is None else need.error.at(origin)
        raise NeedStatic(need.name, need.purpose, error, need.names) from None


def output_node(leaf: Any, name: str, origin: Origin) -> gast.AST:
    if isinstance(leaf, Captured):
        leaf = leaf.value
    if isinstance(leaf, (Symbol, *OUTPUTS)):
        return to_node(leaf)
    raise UnsupportedError(
        "S2S304",
        f"{name} returns {with_article(class_name(leaf))}",
        origin=origin,
        help="return arrays, numbers, and tuples, lists, dicts, namedtuples or dataclasses of them",
    )
