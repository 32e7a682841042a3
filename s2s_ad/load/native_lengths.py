"""Native code asks for itself whether it was compiled for the lengths that it is called with.

There a comparison costs a nanosecond; the shape of an array costs Python fifty.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from s2s_ad.core import sizes, tree, values
from s2s_ad.core.program import Program
from s2s_ad.core.sizes import Atom
from s2s_ad.load.dispatch import Assumed
from s2s_ad.native.state import is_passed


class Unserved(Exception):
    """Code was called with lengths that it was not compiled for: other code serves the call."""


def misfits(program: Program, assumed: Assumed) -> str | None:
    """When arguments have other lengths than the code is for: an expression of Python's.

    The leaves that native code is called with stand in it as {0}, {1}, …

    Returns:
        None where what is assumed is no comparison of sums of the lengths of these leaves.
    """
    texts: list[str] = []
    names = {atom: str(length) for atom, length, *_ in assumed.captured}
    leaves = _leaves(program, assumed)
    if leaves is None:
        return None
    for index, fact in enumerate(leaves):
        for axis, dim in enumerate(values.shape_of(fact) or ()):
            length = f"{{{index}}}.shape[{axis}]"
            atom = None if isinstance(dim, int) else sizes.atom_of(dim.size)
            if isinstance(dim, int):
                texts.append(f"{length} != {dim}")
            elif atom is None:
                return None
            elif atom in names:
                texts.append(f"{length} != {names[atom]}")
            else:
                names[atom] = length
                texts += [f"{length} == 1"] if atom.not_one else []
    for guard in (*assumed.guards, *assumed.required):
        if guard in assumed.of_counts:
            continue  # these are asked before the call
        if not all(isinstance(each, Atom) and each in names for each, _ in guard.size.terms):
            return None
        texts.append(sizes.guard_text(replace(guard, answer=not guard.answer), names))
    return " or ".join(texts)


def _leaves(program: Program, assumed: Assumed) -> list[Any] | None:
    """What is known of the arguments that native code is called with, one by one."""
    if any(each.name not in assumed.abstract for each in program.inputs):
        return None
    return [
        fact
        for each in program.inputs
        for leaf, fact in zip(
            tree.leaves(each.tree), tree.leaves(assumed.abstract[each.name]), strict=True
        )
        if is_passed(program.facts[leaf])
    ]


def with_check(text: str, name: str, misfits: str) -> str:
    """The module of native code whose function of this name refuses other lengths."""
    module = ast.parse(text)
    function = next(e for e in module.body if isinstance(e, ast.FunctionDef) and e.name == name)
    given = [each.arg for each in function.args.args]
    first = function.body[1 if ast.get_docstring(function) is not None else 0]
    lines = text.splitlines()
    lines[first.lineno - 1 : first.lineno - 1] = [
        f"    if {misfits.format(*given)}:",
        "        raise Unserved",
    ]
    return "\n".join([f"from {Unserved.__module__} import {Unserved.__name__}", *lines, ""])
