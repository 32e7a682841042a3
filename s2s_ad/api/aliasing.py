"""Calls of functions that change an argument: no other argument may be the same memory."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2s_ad.core import tree
from s2s_ad.core.program import Program
from s2s_ad.diagnostics import ArgumentValueError

Assemble = Callable[[list[Callable]], Callable]


def told_apart(assemble: Assemble, program: Program) -> Assemble:
    """The same, with a check of the arguments at each call where the function changes some."""
    changed = {parameter for parameter, _ in program.mutated}
    names = [each.name for each in program.inputs]
    captured = [each for each in program.captured() if isinstance(each.value, np.ndarray)]
    if not changed or len(program.leaves()) + len(captured) < 2:
        return assemble

    def made(functions: list[Callable]) -> Callable:
        function = assemble(functions)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = dict(zip(names, args, strict=False)) | kwargs
            check(program.name, changed, given | {each.text: each.read() for each in captured})
            return function(*args, **kwargs)

        return call

    return made


def check(label: str, changed: set[str], arguments: dict[str, Any]) -> None:
    """Raise where an argument that is changed shares memory with another.

    In Python the function would see the change under both names; the generated code works on a
    copy of the one.
    """
    found = [(name, each) for name, value in arguments.items() for each in objects(value)]
    for i, (name, first) in enumerate(found):
        for other, second in found[i + 1 :]:
            if {name, other} & changed and may_share(first, second):
                raise ArgumentValueError(
                    "S2S502",
                    f"{label}: arguments {name!r} and {other!r} may share memory, and the function "
                    f"changes {' and '.join(sorted({name, other} & changed))} in place",
                    help=f"pass a copy: {other}.copy()",
                )


def objects(value: Any) -> Iterator[Any]:
    """The arrays and containers in an argument: what may change."""
    if isinstance(value, np.ndarray):
        yield value
    elif tree.is_container(value):
        yield value
        for item in tree.one_level(value).items:
            yield from objects(item)


def may_share(a: Any, b: Any) -> bool:
    """Whether a change of the one may be a change of the other."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.may_share_memory(a, b)
    return a is b and a != ()
