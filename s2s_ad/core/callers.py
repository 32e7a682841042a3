"""Calls of a library's function that calls a function of the user's: brentq(f, a, b, args=(c,))."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast

from s2s_ad.core import form, tree
from s2s_ad.core.callee import Callee, Compound
from s2s_ad.core.program import Program

#: the expressions that stand for what the library is given -> arguments, and keyword arguments
Spelling = Callable[[list[gast.AST]], tuple[list[gast.AST], dict[str, gast.AST]]]


def in_order(given: list[gast.AST]) -> tuple[list[gast.AST], dict[str, gast.AST]]:
    return given, {}


@dataclass(frozen=True)
class Library:
    """A function of a library that calls the user's, and how a call of it is written.

    Attributes:
        function: the function itself.
        options: keyword arguments that are known now.
        facts: the abstract values of the operands -> those of the results, where its kind of call
            does not tell.
        fields: what the results are called where they are attributes of one object.
        spelling: how what the library is given is written.
        alone: how the first result is written where no other is read.
    """

    function: Callable
    options: dict[str, Any]
    facts: Any = None
    fields: tuple[str, ...] = ()
    spelling: Spelling = in_order
    alone: Library | None = field(default=None)


class Caller(Compound):
    """A call of a library's function that calls a function of the user's.

    The operands are what the library is `given`, then what the user's function reads besides the
    arguments that the library calls it with. There are kinds of these, which know derivatives.

    Attributes:
        library: what is called.
        given: the number of operands that it is given.
        count: the number of results where they are a tuple, or attributes of one object.
    """

    of_complex = False

    def __init__(self, library: Library, program: Program, given: int, count: int | None = None):
        super().__init__(library.function.__name__, (program,))
        self.library, self.given, self._count = library, given, count
        self.callee = Callee(program)

    @property
    def program(self) -> Program:
        """The user's function: the arguments that the library calls it with, then the others."""
        return self.blocks[0]

    @property
    def count(self) -> int | None:
        return self._count

    @property
    def fields(self) -> tuple[str, ...]:
        """What the results are called where they are attributes of one object."""
        return self.library.fields

    def with_program(self, program: Program) -> Caller:
        """This call with another program of the user's function."""
        made = copy.copy(self)
        made.function, made.blocks, made.derived = made, (program,), {}
        made.callee = Callee(program)
        made.__dict__.pop("effects", None)
        return made

    def alone(self) -> Caller | None:
        """The call that gives the first result alone, where there is one."""
        if self.library.alone is None:
            return None
        made = Caller(self.library.alone, self.program, self.given)
        made.callee = self.callee
        return made

    def infer(self, operands: list, params: dict[str, Any]) -> Any:
        facts = tuple(self.library.facts(operands))
        return facts[0] if self.count is None else tree.tuple_of(facts)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        args, keywords = self.library.spelling(call.args[: self.given])
        fixed = call.args[self.given :]
        if fixed:
            keywords = keywords | {"args": gast.Tuple(fixed, gast.Load())}
        keywords |= {key: literal(value) for key, value in self.library.options.items()}
        named = [gast.keyword(*pair) for pair in keywords.items()]
        return gast.Call(
            form.constant(self.library.function), [form.constant(self.callee), *args], named
        )


def literal(value: Any) -> gast.AST:
    """The expression of a constant, which may be a container of constants."""
    if isinstance(value, dict):
        return gast.Dict([form.constant(key) for key in value], [*map(literal, value.values())])
    if isinstance(value, tuple | list):
        kind = gast.Tuple if isinstance(value, tuple) else gast.List
        return kind([*map(literal, value)], gast.Load())
    return form.constant(value)


__all__ = ["Caller", "Library", "in_order", "literal"]
