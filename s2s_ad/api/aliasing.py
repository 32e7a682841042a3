"""Calls of functions that change arguments or Parameters: nothing else may be the same memory."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from s2s_ad.core import tree
from s2s_ad.core.callee import captured_names
from s2s_ad.core.program import Program
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.simplify.dead import remove_dead
from s2s_ad.tensors import plain

Assemble = Callable[[list[Callable], Program], Callable]


def watching(program: Program) -> Program:
    """The user's program, which notes the captured arrays that what it gives depends on.

    A derivative need not read what the function reads.
    """
    if not program.mutated or program.beside:
        return program
    read = {getattr(atom, "id", None) for atom in program.outputs()}
    for each in remove_dead(program).body:
        read.update(each.reads, captured_names(each))
    read.update(each.name for each in program.writes)
    captured = (each for each in program.captured() if isinstance(each.value, np.ndarray))
    return program.with_(beside=tuple(each for each in captured if each.name in read))


def told_apart(assemble: Callable[[list[Callable]], Callable]) -> Assemble:
    """`assemble`, with a check of the arguments at each call where the function changes some."""

    def made(functions: list[Callable], program: Program) -> Callable:
        function = assemble(functions)
        changed = {parameter for parameter, _ in program.mutated}
        names = [each.name for each in program.inputs]
        if not changed or len(program.leaves()) + len(program.beside) < 2:
            return function
        # what was captured stays the same as long as this function serves calls
        held = list(named_objects({each.text: each.read() for each in program.beside}))
        check(program.name, changed, itertools.combinations(held, 2))
        arguments_change = bool(changed & set(names))
        rest = held if arguments_change else [each for each in held if each[0] in changed]
        arrays = [each for _, each in rest]

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if arguments_change or share(args, arrays) or share(kwargs.values(), arrays):
                given = list(named_objects(dict(zip(names, args, strict=False)) | kwargs))
                both = itertools.combinations(given, 2), itertools.product(given, rest)
                check(program.name, changed, itertools.chain(*both))
            return function(*args, **kwargs)

        return call

    return made


def check(label: str, changed: set[str], pairs: Iterable[tuple]) -> None:
    """Raise where of two objects one that is changed shares memory with the other.

    In Python the function would see the change under both names; the generated code works on a
    copy of the one.
    """
    for (name, first), (other, second) in pairs:
        if (name in changed or other in changed) and may_share(first, second):
            raise ArgumentValueError(
                "S2S502",
                f"{label}: arguments {name!r} and {other!r} may share memory, and the function "
                f"changes {' and '.join(sorted({name, other} & changed))} in place",
                help=f"pass a copy: {other}.copy()",
            )


def share(arguments: Iterable[Any], arrays: list[np.ndarray]) -> bool:
    """Whether an array among the arguments may share memory with one of these."""
    for value in arguments:
        for each in objects(value):
            if isinstance(each, np.ndarray):
                for array in arrays:
                    if np.may_share_memory(each, array):
                        return True
    return False


def named_objects(arguments: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The arrays and containers in arguments, each with the name of its argument."""
    return ((name, each) for name, value in arguments.items() for each in objects(value))


def objects(value: Any) -> Iterator[Any]:
    """The arrays and containers in an argument: what may change."""
    if isinstance(value, np.ndarray):
        yield plain(value)
    elif tree.is_container(value):
        yield value
        for item in tree.one_level(value).items:
            yield from objects(item)


def may_share(a: Any, b: Any) -> bool:
    """Whether a change of the one may be a change of the other."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.may_share_memory(a, b)
    return a is b and a != ()
