"""Calls with the arrays taken out: a function of a flat list of arrays, its adjoint, its batch.

Both bridges are made of these, so they know nothing of containers, and the adjoint of an adjoint is
a call like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad.api.make import grad, jit, vmap
from s2s_ad.core import tree


@dataclass(frozen=True, slots=True)
class Hole:
    """Where an array goes; `number` says which."""

    number: int


def taken_apart(value: Any, is_array: Callable[[Any], bool]) -> tuple[Any, list]:
    """(the containers with holes for arrays, the arrays)."""
    found: list = []

    def leaf(each: Any, _: tree.Path) -> Any:
        if not is_array(each):
            return each
        found.append(each)
        return Hole(len(found) - 1)

    return tree.from_object(value, leaf), found


def put_together(structure: Any, arrays: Sequence[Any]) -> Any:
    """The containers with arrays in their holes."""
    filled = tree.tree_map(
        lambda leaf: arrays[leaf.number] if isinstance(leaf, Hole) else leaf, structure
    )
    return tree.to_object(filled)


class Call:
    """A function with the structure of its arguments.

    Attributes:
        fn: the function; structure: of the tuple of its arguments, with holes for arrays.
        outputs, dtypes: the structure of its result, and the dtypes there, once they are known.
    """

    def __init__(self, fn: Callable, structure: Any, given: Sequence[Any] = ()):
        """`given` are the dtypes in which `fn` takes the last arrays."""
        self.fn, self.structure, self.given = fn, structure, given
        self.outputs: Any = None
        self.dtypes: list[Any] = []
        self.notes: dict[Any, Any] = {}  # what a bridge made of it
        self.count = sum(isinstance(each, Hole) for each in tree.leaves(structure))
        self._adjoints: dict[tuple[int, ...], Call] = {}
        self._batches: dict[tuple, Call] = {}

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The arrays of the result; what is None in it is left out."""
        result = self.fn(*self.arguments(arrays))
        self.outputs, found = taken_apart(result, lambda leaf: leaf is not None)
        found = [np.asarray(each) for each in found]
        self.dtypes = [each.dtype for each in found]
        return found

    def arguments(self, arrays: Sequence[np.ndarray]) -> Any:
        """What the function is called with."""
        first = len(arrays) - len(self.given)
        last = [
            each.astype(dtype, copy=False)
            for each, dtype in zip(arrays[first:], self.given, strict=True)
        ]
        return put_together(self.structure, [*arrays[:first], *last])

    def positions(self, wanted: Sequence[bool]) -> tuple[int, ...]:
        """The arguments with a wanted array in them."""
        return tuple(
            position
            for position, argument in enumerate(self.structure.items)
            if any(isinstance(e, Hole) and wanted[e.number] for e in tree.leaves(argument))
        )

    def adjoint(self, wanted: Sequence[bool]) -> Call:
        """The arrays, then an adjoint of each output -> what `adjoints_of` takes apart."""
        positions = self.positions(wanted)
        if positions not in self._adjoints:
            sens = tree.tree_map(
                lambda leaf: Hole(self.count + leaf.number) if isinstance(leaf, Hole) else leaf,
                self.outputs,
            )
            items = (*self.structure.items, sens)
            structure = tree.tuple_of(items)
            made = grad(self.fn, positions, sens_param=True)
            self._adjoints[positions] = Call(made, structure, self.dtypes)
        return self._adjoints[positions]

    def adjoints_of(self, call: Call, wanted: Sequence[bool], found: list) -> list:
        """For each array its adjoint among what `call` gave; None for what is not wanted."""
        positions = self.positions(wanted)
        arguments = [self.structure.items[each] for each in positions]
        results = call.outputs.items if len(positions) > 1 else (call.outputs,)
        adjoints: list[Any] = [None] * self.count
        for argument, result in zip(arguments, results, strict=True):
            pairs = zip(tree.leaves(argument), tree.leaves(result), strict=True)
            for hole, place in pairs:
                if isinstance(hole, Hole) and isinstance(place, Hole) and wanted[hole.number]:
                    adjoints[hole.number] = found[place.number]
        return adjoints

    def batched(self, axes: Sequence[int | None]) -> Call:
        """The call for a batch along an axis of some arrays; in results that axis is first."""
        key = tuple(axes)
        if key not in self._batches:
            in_axes = tree.to_object(
                tree.tree_map(
                    lambda leaf: axes[leaf.number] if isinstance(leaf, Hole) else None,
                    self.structure,
                )
            )
            made = vmap(self.fn, in_axes=in_axes)
            self._batches[key] = Call(made, self.structure, self.given)
        return self._batches[key]


def as_function(fn: Callable) -> Callable:
    """The function, compiled."""
    return fn if hasattr(fn, "transform") else jit(fn)


def key_of(structure: Any) -> Any:
    """What tells structures apart: what is no array counts by its value."""
    if isinstance(structure, tree.Tree):
        return structure.kind, structure.keys, *map(key_of, structure.items)
    if isinstance(structure, Hole):
        return Hole
    return type(structure), structure if structure.__hash__ else id(structure)
