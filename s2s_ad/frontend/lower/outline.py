"""Helpers that are more than one expression keep their name: what they did becomes a call.

A helper is lowered in place first. Then the operations that it appended are taken out of the body
and become a Program of their own, whose leaves are the arguments. A second call with arguments of
the same kind finds that program and lowers nothing.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from s2s_ad.core import form, sizes, tree, values
from s2s_ad.core.builder import Symbol, constant_value, to_node
from s2s_ad.core.callee import Callee, captured_names
from s2s_ad.core.program import Capture, Hint, Input, Program
from s2s_ad.core.sizes import Atom, Size
from s2s_ad.core.tree import Tree, tuple_of
from s2s_ad.diagnostics import S2SError
from s2s_ad.frontend.called import name_of_method, name_of_special
from s2s_ad.frontend.lower.exits import Raises
from s2s_ad.frontend.lower.kinds import is_number
from s2s_ad.frontend.lower.lifting import free_values
from s2s_ad.frontend.lower.optional import Missing
from s2s_ad.frontend.lower.outside import held_outside
from s2s_ad.frontend.lower.poisons import is_unreadable
from s2s_ad.frontend.lower.recursion import (
    NEVER,
    NeedsNumbers,
    OpenCall,
    closed,
    handed_back,
    is_value,
    value_leaves,
)
from s2s_ad.frontend.lower.references import (
    Reference,
    opened,
    rebuilt,
    settled,
    symbols,
)
from s2s_ad.frontend.resolve import PLAIN, Captured, Frame
from s2s_ad.frontend.source import Source

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering

MOST_CALLS = 300  # of a function that is written out for the integers that it is called with

STATIC = (
    Missing,
    str,
    bytes,
    bool,
    type(None),
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
)
RESULTS = (Symbol, Captured, int, float, complex, np.generic, *PLAIN)


@dataclass(frozen=True, slots=True)
class Output:
    """An output of the call, by position, and whether it is a number."""

    position: int
    number: bool | None


@dataclass(frozen=True, slots=True)
class Argument:
    """A leaf of the arguments that the helper hands back as it is."""

    position: int


@dataclass(frozen=True, slots=True)
class Outlined:
    """A helper for arguments of one kind: the callee, and its result in terms of the call."""

    callee: Callee
    result: Any  # a Tree of Outputs, Arguments and objects that are known
    given: tuple[int, ...]  # the leaves of the arguments that it is given
    parameters: tuple[Capture, ...] = ()  # the captured Parameters that it reads
    loops: tuple[tuple, ...] = ()  # by output: the loops that made it and could be written out

    def call(self, lowering: Lowering, arguments: dict[str, Any]) -> Any:
        """The result of a call with these arguments."""
        operands = leaves_of(arguments)
        held = (lowering.captures.parameter(each.value, each.text) for each in self.parameters)
        given_to = [settled(each) for each in (*(operands[i] for i in self.given), *held)]
        results = self.callee.call(lowering.builder, given_to)
        made = [lowering.memory.returned(each) for each in results]
        for each, loops in zip(results, self.loops, strict=True):
            if loops:
                lowering.rolled[each.name] = loops[0]

        def given(leaf: Any) -> Any:
            if isinstance(leaf, Output):
                if isinstance(made[leaf.position], Reference):
                    made[leaf.position].number = leaf.number
                return made[leaf.position]
            return operands[leaf.position] if isinstance(leaf, Argument) else leaf

        return lowering.memory.returned(tree.tree_map(given, self.result))


@dataclass(frozen=True, slots=True)
class Recursive:
    """A kept function that calls itself: each value among its arguments is an operand."""

    callee: Callee
    result: Any  # a Tree of Returned and of objects that are known
    free: tuple[str, ...]  # the values of functions around it that it reads
    changed: tuple[int, ...]  # see `OpenCall`

    def call(self, lowering: Lowering, arguments: dict[str, Any]) -> Any:
        more = [Symbol(lowering.builder, name) for name in self.free]
        results = self.callee.call(lowering.builder, [*value_leaves(arguments), *more])
        name, changed = self.callee.program.name, [*self.changed]
        return handed_back(lowering, name, arguments, self.result, results, changed)


def keeps_name(source: Source) -> bool:
    """Whether the helper is more than one expression, or calls itself."""
    if isinstance(source.node, gast.Lambda):
        return False
    if calls_itself(source):
        return True
    first, *rest = source.node.body
    documented = isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant)
    return len(rest if documented else source.node.body) > 1


def calls_itself(source: Source) -> bool:
    """Whether the function's own name stands in its body, where it is no name of a local."""
    nodes = [each for each in gast.walk(source.node) if isinstance(each, gast.Name)]
    own = [each for each in nodes if each.id == source.node.name]
    return bool(own) and all(isinstance(each.ctx, gast.Load) for each in own)


def outlined_call(lowering: Lowering, frame: Frame, arguments: dict[str, Any]) -> Any:
    """The result of a helper that keeps its name."""
    try:
        return _outlined_call(lowering, frame, arguments)
    except NeedsNumbers as need:
        again = frame.owner in lowering.exact
        whole = [each for each in value_leaves(arguments) if type(each) is int]
        if need.call.function is not frame.owner or again or not whole:
            raise need.error from None
        lowering.exact[frame.owner] = Exact(need.error)
    return _outlined_call(lowering, _again(frame), arguments)


@dataclass(slots=True)
class Exact:
    """A function that calls itself, whose calls are told apart by the integers in them.

    `error` says what it is refused with where that leads to too many calls.
    """

    error: S2SError
    calls: int = 0

    def count(self) -> None:
        self.calls += 1
        if self.calls > MOST_CALLS:
            raise self.error


def _outlined_call(lowering: Lowering, frame: Frame, arguments: dict[str, Any]) -> Any:
    if frame.owner in lowering.exact:
        lowering.exact[frame.owner].count()
    family, key = call_key(lowering, frame.owner, arguments)
    leaves = leaves_of(arguments)
    facts = [each.fact for each in leaves]
    for found, before, decided in lowering.outlined.get(key, ()) if key is not None else ():
        if values.in_another_call(before, facts) and _decides_alike(leaves, decided):
            return found.call(lowering, arguments)
    if family is not None and family in lowering.open:
        return lowering.open[family].enter(lowering, arguments)
    call = OpenCall(frame.source.name, frame.owner)
    if family is not None:
        lowering.open[family] = call
    try:
        with _numbers_of_any_size(lowering, arguments) as numbers, _asked(lowering) as asked:
            inside = [each.fact for each in leaves]
            found, result = _lowered(lowering, call, frame, arguments, numbers)
    finally:
        lowering.open.pop(family, None)
    if found is None:
        return result
    if key is not None and not getattr(found, "free", ()):
        entry = found, inside, _decided(leaves, asked)
        lowering.outlined[key] = *lowering.outlined.get(key, ()), entry
    return found.call(lowering, arguments)


@contextmanager
def _asked(lowering: Lowering) -> Iterator[set[str]]:
    """The names of which it is asked meanwhile whether they are certain numbers."""
    builder = lowering.builder
    before, builder.asked = builder.asked, set()
    try:
        yield builder.asked
    finally:
        builder.asked = before | builder.asked


def _decided(leaves: list[Symbol], asked: set[str]) -> dict[int, Any]:
    """The arguments that are certain numbers, `0.03 + 0.0`, and may have decided in it."""
    known = {i: constant_value(each) for i, each in enumerate(leaves) if each.name in asked}
    return {i: number for i, number in known.items() if not isinstance(number, Symbol)}


def _decides_alike(leaves: list[Symbol], decided: dict[int, Any]) -> bool:
    now = {i: constant_value(leaves[i]) for i in decided}
    return all(
        type(now[i]) is type(number) and repr(now[i]) == repr(number)
        for i, number in decided.items()
    )


@contextmanager
def _numbers_of_any_size(
    lowering: Lowering, arguments: dict[str, Any]
) -> Iterator[dict[Atom, Size]]:
    """Let the whole numbers that a function is given be sizes of their own, for other calls give
    it others; and what is assumed of them be assumed of all calls."""
    builder = lowering.builder
    outside = {each.name: each.fact for each in leaves_of(arguments)}
    inside = {name: values.told_apart(fact) for name, fact in outside.items()}
    builder.facts |= inside
    numbers = values.numbers_given(inside.values(), outside.values())
    sizes.give(numbers)
    try:
        yield numbers
    finally:
        builder.facts |= outside


def _lowered(
    lowering: Lowering,
    call: OpenCall,
    frame: Frame,
    arguments: dict[str, Any],
    numbers: dict[Atom, Size],
) -> tuple[Outlined | Recursive | None, Any]:
    """(what a call stands for, None) or, where it is written in place, (None, its result).

    Args:
        numbers: the whole numbers inside, and for which they stand in this call.
    """
    start, depth = len(lowering.builder.body), len(lowering.frames)
    outlined, moment = dict(lowering.outlined), lowering.memory.moment()
    raises, reads = False, len(lowering.captures.reads)
    try:
        result = lowering.enter_frame(frame, arguments)
    except Raises:
        result, raises = None, True
    if raises and not call.entered:
        raise Raises
    if not call.entered:
        changes = lowering.memory.changes(moment)
        own = [*symbols(tuple(arguments.values()))]
        given = {each.name for each in own if not is_unreadable(each)}
        twice = given & _captured(lowering, start, reads)
        if changes or twice or lowering.memory.shares(result, moment.clock, own):
            return None, result  # `twice`: another call may be given another array for it
        return outline(lowering, frame, arguments, start, result), result
    sizes.take_back(numbers)
    del lowering.builder.body[start:], lowering.frames[depth:]
    lowering.memory.rollback(moment)
    lowering.outlined = outlined  # they hold calls that never came back
    first = NEVER if raises else result
    callee, result = closed(lowering, call, lambda: _again(frame), arguments, first)
    return Recursive(callee, result, tuple(call.free), tuple(call.changed)), None


def _again(frame: Frame) -> Frame:
    """A frame for another call of the same function."""
    made = Frame(frame.owner, frame.source, frame.globals, frame.cells, frame.parent)
    made.is_kept = True
    return made


def _captured(lowering: Lowering, start: int, reads: int) -> set[str]:
    """The captured names that the helper, or a function that it calls, reads by itself."""
    asked = symbols(tuple(lowering.captures.reads[reads:]))
    called = (name for each in lowering.builder.body[start:] for name in captured_names(each))
    return {*(each.name for each in asked), *called}


def leaves_of(arguments: dict[str, Any]) -> list[Symbol]:
    """The values that are not known now, each once, in the order of the parameters."""
    leaves = [leaf for value in arguments.values() for leaf in tree.leaves(opened(value))]
    named = {leaf.name: leaf for leaf in leaves if isinstance(leaf, Symbol)}
    return list(named.values())


def call_key(lowering: Lowering, function: Any, arguments: dict[str, Any]) -> tuple[Any, Any]:
    """(what all calls of the same form have in common, what tells this call apart).

    Both are None where that cannot be said, the second where it is not known what is read around.
    """
    order: dict[str, int] = {}
    exact = function in lowering.exact
    family: list[Any] = [function]
    details: list[Any] = []
    facts: list[Any] = []
    for name, value in arguments.items():
        value = opened(value)
        for path, leaf in zip(tree.paths(value), tree.leaves(value), strict=True):
            if isinstance(leaf, Symbol):
                place = order.setdefault(leaf.name, len(order))
                details.append((place, is_number(leaf)))
                facts.append(leaf.fact)
            elif exact and type(leaf) is int:
                family.append((name, path, leaf))
                continue
            elif is_value(leaf):
                details.append((type(leaf), repr(leaf)))
            elif isinstance(leaf, STATIC):
                family.append((name, path, type(leaf), leaf))
                continue
            elif isinstance(leaf, Captured):
                family.append((name, path, id(leaf.value)))
                continue
            elif _is_function(leaf):
                family.append((name, path, leaf))
                continue
            else:
                return None, None
            family.append((name, path))
        family.append((name, _structure(value)))
    state = _read_around(
        [leaf for value in arguments.values() for leaf in tree.leaves(opened(value))]
    )
    if state is None:
        return None, None
    family += [*state, *lowering.raising, *held_outside(lowering)]  # which the function may read
    common = tuple(family)
    return common, (common, tuple(details), values.canonical(facts))


def _read_around(given: Iterable[Any]) -> list[tuple] | None:
    """What functions among some values, and those that these may call, read around them.

    None where that cannot be said.
    """
    waiting: list[Any] = [each for each in given if _is_function(each)]
    found: list[tuple] = []
    seen = set(waiting)
    while waiting:
        function = waiting.pop()
        free = free_values(function.new_frame())
        if free is None:
            return None
        for name, value in free.items():
            value = opened(value)
            found.append((function, name, _structure(value)))
            for path, leaf in zip(tree.paths(value), tree.leaves(value), strict=True):
                what = _what_it_is(leaf)
                if what is None:
                    return None
                found.append((function, name, path, what))
                if _is_function(leaf) and leaf not in seen:
                    seen.add(leaf)
                    waiting.append(leaf)
    return found


def _what_it_is(leaf: Any) -> tuple | None:
    """What tells a value apart from others."""
    if isinstance(leaf, Symbol):
        return Symbol, leaf.name
    if is_value(leaf):
        return type(leaf), repr(leaf)
    if isinstance(leaf, Captured):
        return Captured, id(leaf.value)
    return (type(leaf), leaf) if isinstance(leaf, STATIC) or _is_function(leaf) else None


def _is_function(leaf: Any) -> bool:
    """Whether it is a function of the function around."""
    return not isinstance(leaf, Symbol | Captured) and hasattr(leaf, "new_frame")


def _structure(value: Any) -> Any:
    """The kinds and keys of the containers: they have methods, a length, and may be returned."""
    if not isinstance(value, Tree):
        return None
    return (value.kind, value.keys, tuple(map(_structure, value.items)))


def outline(
    lowering: Lowering, frame: Frame, arguments: dict, start: int, result: Any
) -> Outlined | None:
    """Take the operations from `start` on out of the body; None where nothing is gained."""
    builder = lowering.builder
    segment = builder.body[start:]
    defined = {each.target for each in segment if isinstance(each, form.Op)}
    inputs = leaves_of(arguments)
    leaves = list(symbols(result))
    outputs = list(dict.fromkeys(leaf.name for leaf in leaves if leaf.name in defined))
    constants, parameters = lowering.captures.constants(), lowering.captures.named_parameters()
    names = {each.name for each in inputs}
    read = dict.fromkeys(name for each in segment for name in each.reads)
    free = read.keys() - defined - names
    known = free <= {*constants, *parameters}
    if len(segment) < 2 or not outputs or not known or not _is_plain(result):
        return None
    more = [parameters[name] for name in read if name in free and name in parameters]
    places = {each.name: i for i, each in enumerate(inputs)}

    def described(leaf: Any) -> Any:
        if not isinstance(leaf, Symbol):
            return leaf
        if leaf.name in defined:
            return Output(outputs.index(leaf.name), getattr(leaf, "number", None))
        return Argument(places[leaf.name]) if leaf.name in places else leaf

    loops = tuple(tuple(_loops(lowering, each)) for each in outputs)
    unread = _inside(arguments) - read.keys()
    given = [each for each in inputs if each.name not in unread]
    callee = _callee(lowering, frame, arguments, [*given, *more], segment, outputs, free)
    del builder.body[start:]
    positions = tuple(places[each.name] for each in given)
    return Outlined(callee, rebuilt(result, described), positions, tuple(more), loops)


def _inside(arguments: dict[str, Any]) -> set[str]:
    """The values that only stand inside of objects, lists and dicts: of these a helper is given
    what it reads, as other parts may be long histories."""
    parts = [leaf for value in arguments.values() for leaf in tree.leaves(opened(value))]
    plain = {
        opened(value).name for value in arguments.values() if isinstance(opened(value), Symbol)
    }
    return {leaf.name for leaf in parts if isinstance(leaf, Symbol)} - plain


def _loops(lowering: Lowering, name: str) -> set[tuple]:
    """Where the loops stand that a value comes of, which can be written out."""
    if not lowering.rolled:
        return set()
    found = map(lowering.rolled.get, lowering.builder.ancestors(name))
    return {each for each in found if each is not None}


def _callee(
    lowering: Lowering,
    frame: Frame,
    arguments: dict,
    inputs: list[Symbol | Capture],
    segment: list,
    outputs: list,
    free: set,
) -> Callee:
    """The operations as a program of their own: what they read is given, or captured."""
    builder = lowering.builder
    read = free | {name for each in segment for name in captured_names(each)}
    nodes = [to_node(Symbol(builder, name)) for name in outputs]
    several = tuple_of(nodes)
    hints = builder.hints | _parameter_hints(arguments)
    leaves = [each.name for each in inputs]
    captures = [each for key, each in lowering.captures.constants().items() if key in read]
    own = [*leaves, *(each.target for each in segment if isinstance(each, form.Op))]
    own += [each.name for each in captures if each.name is not None]
    name = _name(frame, arguments)
    program = Program(
        name=name,
        doc=name,
        inputs=tuple(Input(hints[each].text, each) for each in leaves),
        body=tuple(segment),
        output=nodes[0] if len(nodes) == 1 else several,
        facts={each: builder.facts[each] for each in own},
        hints=hints,
        captures=tuple(captures),
        origin=frame.source.origin(frame.source.node),
    )
    return Callee(program)


def _name(frame: Frame, arguments: dict) -> str:
    """Its own name; what a call of an object runs is called as the object."""
    holder = next(iter(arguments.values()), None)
    name = None
    if isinstance(holder, Captured):
        name = name_of_method(frame.owner, holder.value, holder.place.text)
    if name is not None:
        return name
    kind = type(holder.value) if isinstance(holder, Captured) else getattr(holder, "kind", None)
    return name_of_special(frame.source.name, kind if isinstance(kind, type) else None)


def _is_plain(result: Any) -> bool:
    """Whether the result holds no function or slice that reads values of the helper's own."""
    return all(isinstance(leaf, RESULTS) for leaf in tree.leaves(settled(result)))


def _parameter_hints(arguments: dict[str, Any]) -> dict[str, Hint]:
    """In its own text the helper calls its arguments by its parameters' names."""
    hints = {}
    for name, value in arguments.items():
        value = opened(value)
        for path, leaf in zip(tree.paths(value), tree.leaves(value), strict=True):
            if isinstance(leaf, Symbol):
                steps = "_".join(str(key) for _, key in path)
                text = "".join(c if c.isalnum() else "_" for c in f"{name}_{steps}".strip("_"))
                hints.setdefault(leaf.name, Hint(text if path else name, "user"))
    return hints


__all__ = ["call_key", "calls_itself", "keeps_name", "outlined_call"]
