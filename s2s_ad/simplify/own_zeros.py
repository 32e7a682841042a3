"""Arrays of one number, zeros above all, and identities for each that begins with one: none is the
copy of another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.core.builder import DERIVED, fresh_name
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.regions import Loop, everywhere, region_of


def own_zeros(program: Program) -> Program:
    """Zeros, and the like, that several updates and loops begin with are made for each of them.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.check.passes import after
        >>> def f(x):
        ...     a = np.zeros_like(x)
        ...     a[0] = 1.0
        ...     b = np.zeros_like(x)
        ...     b[1] = 2.0
        ...     return a * b
        >>> print(after(OWN_ZEROS, f, np.ones(3)))
        f(x: f64[n]):
            a = np.zeros_like(x)
            a.2 = index_set(a, 1.0, index=0)
            b = np.zeros_like(x)
            b.2 = index_set(b, 2.0, index=1)
            t1 = a.2 * b.2
            return t1
    """
    made = {
        each.target: each
        for each in program.body
        if isinstance(each, form.Op) and (each.rule.gives_identity or _number(each) is not None)
    }
    if not made:
        return program
    filled = [name for each in program.body for name in _fills(each)]
    others = _others(program, made)
    shared = others | {name for name in made if filled.count(name) > 1}
    if not shared:
        return program
    facts, hints, met = dict(program.facts), dict(program.hints), set()
    body: list[form.Statement] = []
    for statement in program.body:
        for name in [each for each in _fills(statement) if each in shared]:
            if name not in met | others:
                met.add(name)
                continue
            own = fresh_name()
            facts[own], hints[own] = facts[name], TEMPORARY
            zeros = made[name]
            near = zeros if zeros.phase == statement.phase else statement
            another = near.beside(own, zeros.function, zeros.operands, zeros.parameters)
            body.insert(_place_of(another, body), another)
            statement = _with_own(statement, name, own, hints.get(name, TEMPORARY).text)
        if getattr(statement, "target", None) not in others:
            body.append(statement)
    return program.with_(body=tuple(body), facts=facts, hints=hints)


def _place_of(zeros: form.Op, body: list[form.Statement]) -> int:
    """The place before the empty lists that a loop will fill: arrays stand beside each other."""
    index = len(body)
    while index and _stands_anywhere(body[index - 1]) and body[index - 1].target not in zeros.reads:
        index -= 1
    return index


def _stands_anywhere(statement: form.Statement) -> bool:
    return isinstance(statement, form.Op) and not statement.reads and region_of(statement) is None


def makes_zeros(statement: form.Op) -> bool:
    """Whether it makes an array of zeros."""
    return _number(statement) == 0


def _number(statement: form.Op) -> Any:
    """The number that all elements of the result are; None where that is not known."""
    known = [each.value if isinstance(each, gast.Constant) else each for each in statement.operands]
    return statement.rule.filled_with(known)


def _others(program: Program, made: Mapping[str, form.Op]) -> set[str]:
    """Zeros of the user's with which only adjoints begin: none of them is that variable."""
    hints, outputs = program.hints, {getattr(atom, "id", "") for atom in program.outputs()}
    found = {each for each in made if hints.get(each, TEMPORARY).kind == "user"} - outputs
    begun: set[str] = set()
    for statement in program.body if found else ():
        fills = set(_fills(statement)) if statement.phase in DERIVED else set()
        begun |= fills
        found -= set(statement.reads) - fills
    return found & begun


def _fills(statement: form.Statement) -> Iterator[str]:
    """The arrays that a statement begins with and that it may change."""
    loop = region_of(statement)
    atoms = ()
    if isinstance(loop, Loop):
        atoms = loop.parts(statement.operands).carried
    elif statement.rule.updates:
        atoms = statement.operands[:1]
    for each in atoms:
        if isinstance(each, gast.Name):
            yield each.id


def _with_own(statement: form.Statement, name: str, own: str, called: str) -> form.Statement:
    """The statement that begins with another array at one place where it began with one.

    It is the last one, and of a loop the last one that goes by another name in it, if there is one.
    """
    loop, operands = region_of(statement), list(statement.operands)
    if not isinstance(loop, Loop):
        operands[0] = form.name(own)
        return statement.with_operands(operands)
    first, leaves = 3 if loop.is_for else 0, loop.leaves(loop.body).carried
    places = [k for k in range(loop.carried) if getattr(operands[first + k], "id", "") == name]
    others = [k for k in places if loop.body.hints.get(leaves[k], TEMPORARY).text != called]
    operands[first + (others or places)[-1]] = form.name(own)
    return statement.with_operands(operands)


OWN_ZEROS = Pass("own-zeros", everywhere(own_zeros))
