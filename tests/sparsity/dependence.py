"""What a program depends on, by the compiler and by trying it out."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad import jit
from s2s_ad.core import tree
from s2s_ad.simplify.dead import remove_dead
from s2s_ad.sparse.found import found_pattern

STEP = 1e-3


def by_program(fn: Callable, args: tuple, position: int) -> list[tuple[tree.Path, np.ndarray]]:
    """For each array or number of floats in an argument, which elements of the output (rows) may
    depend on which of its elements (columns)."""
    made = fn if hasattr(fn, "lower") else jit(fn)
    program = remove_dead(list(made.lower(*args).values())[-1])
    arguments = made.bind(tuple(args), {}).arguments
    found = []
    (given,) = [each for each in program.inputs if each.name == list(arguments)[position]]
    for leaf, path in zip(tree.leaves(given.tree), tree.paths(given.tree), strict=True):
        if np.asarray(tree.follow(args[position], path)).dtype.kind == "f":
            pattern, _ = found_pattern(program, arguments, leaf)
            dense = np.zeros((pattern.rows, pattern.width), bool)
            rows = np.repeat(np.arange(pattern.rows), np.diff(pattern.starts))
            dense[rows, pattern.columns] = True
            found.append((path, dense))
    return found


def by_trying(fn: Callable, args: tuple, position: int, path: tree.Path = ()) -> np.ndarray:
    """Which elements of the output change with which elements of an input, by differences."""
    size = np.size(tree.follow(args[position], path))
    columns = [_slope(fn, args, position, path, place) for place in range(size)]
    rows = len(flat(fn(*copy.deepcopy(args))))
    return np.array(columns, bool).T.reshape(rows, size)


def _slope(fn: Callable, args: tuple, position: int, path: tree.Path, place: int) -> np.ndarray:
    """Whether an element has a slope; a jump is none, nor is what is lost in rounding."""
    after, before, half, other = (
        flat(fn(*_moved(args, position, path, place, step * STEP))) for step in (1, -1, 0.5, -0.5)
    )
    wide, near = (after - before) / (2 * STEP), (half - other) / STEP
    least = 1e-7 * np.maximum(1.0, np.abs(after))
    return (np.abs(near) > least) & (np.abs(wide - near) < 0.1 * np.abs(near))


def _moved(args: tuple, position: int, path: tree.Path, place: int, step: float) -> list:
    moved = copy.deepcopy(list(args))
    moved[position] = _with(moved[position], path, place, step)
    return moved


def _with(value: Any, path: tree.Path, place: int, step: float) -> Any:
    if not path:
        if not isinstance(value, np.ndarray) or not value.ndim:
            return type(value)(value + step) if not isinstance(value, np.ndarray) else value + step
        result = value.copy()
        result.reshape(-1)[place] += step
        return result
    whole = tree.one_level(value)
    items = [
        _with(item, path[1:], place, step) if way == path[0] else item
        for way, item in zip(whole.steps(), whole.items, strict=True)
    ]
    return tree.build(whole.kind, whole.keys, items)


def flat(value: Any) -> np.ndarray:
    """All numbers of a result, one after the other."""
    leaves = tree.leaves(tree.from_object(value, lambda leaf, _: leaf))
    numbers = [np.ravel(np.asarray(each)).astype(float) for each in leaves if each is not None]
    return np.concatenate([*numbers, np.zeros(0)])


def assert_covers(fn: Callable, args: tuple, position: int) -> None:
    """The pattern has every element of the Jacobian that is not zero."""
    for path, found in by_program(fn, args, position):
        tried = by_trying(fn, args, position, path)
        assert found.shape == tried.shape
        missing = np.argwhere(tried & ~found)
        assert not len(missing), f"no element at {missing[:5].tolist()} by {path}"
