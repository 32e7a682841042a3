"""The pattern of the Jacobian of a program for the arguments of a call, and what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.core.dependence import Pattern, stacked
from s2s_ad.core.homes import Held
from s2s_ad.core.program import Program
from s2s_ad.sparse.elements import UNKNOWN, Value, known, leaves, patterns_of
from s2s_ad.sparse.walk import Walk
from s2s_ad.tensors import plain

#: (how something is read from the arguments by name, what it was when the pattern was found)
Ground = tuple[Callable[[Mapping[str, Any]], Any], Any]


def found_pattern(
    program: Program, arguments: Mapping[str, Any], target: str
) -> tuple[Pattern, tuple[Ground, ...]]:
    """Which elements of the outputs depend on which elements of an input.

    Args:
        arguments: by parameter; `target` is the leaf that the derivative is by.
    """
    inputs, reads = _inputs(program, arguments)
    width = np.size(reads[target](arguments))
    captured = {}
    for each in program.captured():
        captured[each.name] = plain(each.read())
        reads[each.name] = _of_capture(each.read)
    walk = Walk(width, captured)
    given = []
    for leaf, value in inputs:
        if leaf == target:
            fact = _with_lengths(program.facts[leaf], np.shape(value))
            given.append(Value(fact, UNKNOWN, Pattern.identity(width)))
        else:
            given.append(known(value, frozenset({leaf})))
    found = [each for output in walk.run(program, given) for each in leaves(output)]
    grounds = [(reads[each], _kept(reads[each](arguments))) for each in walk.decided_by]
    grounds += [_of_matrix(each) for each in walk.held]
    return stacked(patterns_of(found, width), width), tuple(grounds)


def shapes_of(program: Program, arguments: Mapping[str, Any]) -> list[Value]:
    """The leaves of the result for arrays of the arguments' shapes, whatever their elements."""
    inputs, _ = _inputs(program, arguments)
    captured = {each.name: plain(each.read()) for each in program.captured()}
    given = [
        Value(_with_lengths(program.facts[leaf], np.shape(value)))
        if isinstance(value, np.ndarray)
        else known(value)
        for leaf, value in inputs
    ]
    return Walk(0, captured).run(program, given)


def _inputs(program: Program, arguments: Mapping[str, Any]) -> tuple[list, dict[str, Callable]]:
    """(leaf, value) for each leaf, and how each value is read."""
    inputs, reads = [], {}
    for each in program.inputs:
        pairs = zip(tree.leaves(each.tree), tree.paths(each.tree), strict=True)
        for leaf, path in pairs:
            reads[leaf] = _of_argument(each.name, path)
            inputs.append((leaf, reads[leaf](arguments)))
    return inputs, reads


def _of_argument(name: str, path: tree.Path) -> Callable[[Mapping[str, Any]], Any]:
    return lambda arguments: plain(tree.follow(arguments[name], path))


def _of_capture(read: Callable[[], Any]) -> Callable[[Mapping[str, Any]], Any]:
    return lambda arguments: plain(read())


def _of_matrix(held: Held) -> Ground:
    """A sparse matrix: the structure of what it holds."""

    def structure(arguments: Mapping[str, Any]) -> Any:
        from s2s_ad.sparse.scipy_matrices import coordinates

        return np.stack(coordinates(held.value))

    return structure, structure({})


def _kept(value: Any) -> Any:
    """A copy of what may be changed in place."""
    return value.copy() if isinstance(value, np.ndarray) else value


def _with_lengths(fact: Any, shape: tuple[int, ...]) -> Any:
    return values.Array(fact.dtype, shape) if isinstance(fact, values.Array) else fact
