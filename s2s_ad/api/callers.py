"""Calls of a library's function with a function of the user's, lowered: what all have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad.api.inside import Local
from s2s_ad.api.parts import Part, as_array, label_of, names_of
from s2s_ad.core import tree, values
from s2s_ad.core.builder import Builder, Symbol, describe, static, to_node
from s2s_ad.core.callee import callee_of, item_of
from s2s_ad.core.program import Hint, Program
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.attributes import Made
from s2s_ad.frontend.lower.calls import apply, as_argument
from s2s_ad.frontend.lower.containers import sequence
from s2s_ad.frontend.lower.heap import settled
from s2s_ad.frontend.resolve import unwrap
from s2s_ad.rules import support
from s2s_ad.transforms.calls import with_inputs

SOLUTION = Hint("solution", "temporary")
REAL = "compute with the real and imaginary parts"


@dataclass(frozen=True)
class Users:
    """A function of the user's as a library calls it.

    Attributes:
        program: its leaves are the arguments that the library gives, then what else it reads.
        fixed: the values of the latter.
    """

    program: Program
    fixed: list[Symbol]


def users_function(
    lowering: Any,
    library: Callable,
    function: Any,
    facts: Sequence[Any],
    args: Any = (),
    result: Callable = as_array,
    slopes: Sequence[Any] = (),
) -> Users:
    """The function, called with arguments of these abstract values and then with `args`.

    `result` makes of what it returns what the library makes of it: an array of a list. With
    `slopes`, functions of the same arguments, it returns a tuple of what it and these return.
    """
    more = _listed(args)

    def call(own: list) -> Any:
        functions = [function, *slopes]
        found = [result(lowering, apply(lowering, f, [*own, *more], {})) for f in functions]
        return sequence(tuple, found) if slopes else found[0]

    names = names_of(function, len(facts))
    local = Local(lowering, Part(label_of(function), names, call))
    moment = lowering.memory.moment()
    program = local.__s2s_lower__(dict(zip(names, facts, strict=True)))
    if not lowering.memory.only_keeps(moment):
        raise refused(library, "with a function that changes its surroundings", "return the value")
    lowering.memory.rollback(moment)
    program = _opened(program)
    if any(map(values.is_complex, map(program.fact, program.outputs()))):
        raise refused(library, "with a function that returns complex numbers", REAL)
    leaves = program.leaves()
    fixed = [Symbol(lowering.builder, name) for name in leaves[len(facts) :]]
    return Users(with_inputs(program, leaves, {}), fixed)


def _listed(args: Any) -> list:
    """What stands in `args=`; SciPy takes one value for a tuple of one."""
    plain = unwrap(args)
    if isinstance(plain, tree.Tree):
        return list(plain.items) if plain.kind is tuple else [plain]
    return list(plain) if isinstance(plain, tuple) else [plain]


def _opened(program: Program) -> Program:
    """The program with the function that it begins with, which is the user's, written in place."""
    first, *rest = program.body or (None,)
    call = None if first is None else callee_of(first)
    if call is None or call.is_recursive:
        return program
    builder = Builder(merge=False)
    atoms = {name: builder.import_name(program, name) for name in program.leaves()}
    own = [builder.view(each, atoms) for each in first.operands]
    inner = call.program
    found = tree.leaves(builder.splice(inner, dict(zip(inner.leaves(), own, strict=True))))
    if not call.several:
        atoms[first.target] = found[0]
    for each in rest:
        item = item_of(each)
        if item is not None and item[0] == first.target:
            atoms[each.target] = found[item[1]]
            continue
        with builder.at(each.origin, each.phase):
            builder.replay(each, atoms, program)
    output = tree.tree_map(lambda atom: to_node(builder.view(atom, atoms)), program.output)
    return program.with_(
        body=tuple(builder.body),
        facts=builder.facts,
        hints=builder.hints,
        output=output,
        captures=inner.captures,
    )


# ---- arguments -----------------------------------------------------------------------------------


def arguments_of(
    lowering: Any, library: Callable, text: str, args: list, kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by name, those left out with their defaults.

    A keyword that the text does not name is refused by name.
    """
    return dict(support.bind_call(lowering.builder, Named(library), text, tuple(args), kwargs))


@dataclass(frozen=True)
class Named:
    """A library's function, as messages speak of it."""

    function: Callable

    @property
    def name(self) -> str:
        return self.function.__name__


def options_of(library: Callable, found: dict[str, Any], text: str) -> dict[str, Any]:
    """Of the arguments those that differ from their defaults, which have to be known now."""
    plain = {key: tree.to_object(unwrap(each)) for key, each in found.items()}
    known = {key: static(each, f"{key} of {describe(library)}") for key, each in plain.items()}
    return support.given(known, text)


def operand(lowering: Any, value: Any) -> Any:
    """A number or array that the library is given."""
    plain = as_argument(lowering, value)
    if isinstance(plain, tuple | list):
        plain = lowering.call(np.array, plain)
    return settled(plain)


def refused(library: Callable, what: str, help: str = "", why: str = "") -> UnsupportedError:
    return UnsupportedError("S2S203", f"{describe(library)} {what}", why=why, help=help)


def real_operand(lowering: Any, library: Callable, value: Any) -> Any:
    """A number or array that the library is given; complex numbers are refused by name."""
    found = operand(lowering, value)
    if values.is_complex(lowering.builder.fact(found)):
        raise refused(library, "of complex numbers", REAL)
    return found


def operands_of(lowering: Any, library: Callable, pair: Any) -> list:
    """The ends of an interval, which are given as a tuple, a list or an array."""
    pair = unwrap(pair)
    if pair is None:
        return []
    items = getattr(pair, "items", pair)
    if isinstance(pair, Symbol) or callable(items) or len(items) != 2:
        raise refused(library, "with an interval that is no pair", "give a tuple: (a, b)")
    return [real_operand(lowering, library, each) for each in items]


def as_vector(lowering: Any, value: Any) -> Any:
    """What the library makes of what the user's function returns: a vector, of a number too."""
    value = operand(lowering, value)
    if values.shape_of(lowering.builder.fact(value)) == ():
        return lowering.call(np.reshape, value, (1,))
    return value


def as_number(lowering: Any, value: Any) -> Any:
    """What the library makes of what the user's function returns: a number, of one element too."""
    value = operand(lowering, value)
    shape = values.shape_of(lowering.builder.fact(value))
    one = shape and all(each == 1 for each in shape)
    return lowering.call(np.reshape, value, ()) if one else value


def check_number(library: Callable, program: Program) -> None:
    """Refuse a function of the user's that returns anything but a number."""
    shape = values.shape_of(program.fact(program.outputs()[0]))
    if shape is None:
        raise refused(
            library,
            "with a function of values of unknown rank",
            "give example arguments, and return a number on all paths: value[0] of one element",
        )
    if shape:
        raise refused(library, "with a function that does not return a number", "use np.sum")


# ---- objects with results ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Result(Made):
    """The object with results that a library returns: attribute -> value."""

    library: Callable
    results: dict[str, Any]

    def holds(self) -> tuple:
        return tuple(self.results.values())

    def attribute(self, lowering: Any, name: str) -> Any:
        found = self.results.get(name)
        if found is None:
            known = ", ".join(f".{each}" for each in self.results)
            raise refused(self.library, f"and its result's .{name}", f"read {known}")
        return found.made() if isinstance(found, Later) else found


@dataclass(frozen=True, eq=False)
class Later:
    """A result that is computed where it is read."""

    made: Callable[[], Any]
