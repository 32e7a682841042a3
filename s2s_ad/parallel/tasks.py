"""What runs on workers: the function on one chunk, and the sums of a fixed tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError, ParallelError
from s2s_ad.parallel.chunks import Loader
from s2s_ad.parallel.travel import Packed, called

ADDED, JOINED, KEPT = "added", "joined", "kept"  # what becomes of a leaf of the chunks' results


@dataclass(frozen=True, slots=True)
class Bound:
    """What is the same for all chunks of a step: arguments, and captured values by text."""

    shared: list
    captured: dict[str, list]

    @property
    def arrays(self) -> list[np.ndarray]:
        """Its arrays, each once."""
        held = [*self.shared, *(value for each in self.captured.values() for value in each)]
        return list({id(each): each for each in held if isinstance(each, np.ndarray)}.values())

    @property
    def nbytes(self) -> int:
        return sum(each.nbytes for each in self.arrays)


@dataclass(frozen=True, slots=True)
class Promised:
    """A part of a chunk as it was announced: what messages call it, its shape and its dtype."""

    what: str
    shape: tuple[int, ...]
    dtype: np.dtype

    def read(self, part: Any) -> np.ndarray:
        """The array, held against what was said of it: the text was compiled for that."""
        array = part() if isinstance(part, Loader) else part
        if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
            raise ArgumentTypeError(
                "S2S501", f"{self.what} was to be an array, and is {type(array).__name__}"
            )
        if array.shape != self.shape or array.dtype != self.dtype:
            raise ArgumentValueError(
                "S2S502",
                f"{self.what} was to have shape {self.shape} and dtype {self.dtype}, and has "
                f"{array.shape} and {array.dtype}",
                help="say what the loader gives, or make the dask array's chunks what it says",
            )
        return contiguous(array)


def contiguous(array: np.ndarray) -> np.ndarray:
    """The array as pickle would hand it on, so that sums round alike in this process and others."""
    array = np.asarray(array)
    return array if array.flags.forc else np.array(array, order="C")


def on_chunk(text: Packed, bound: Bound, parts: Sequence, promised: Sequence[Promised]) -> list:
    """The leaves of what the function gives for one chunk."""
    batched = [each.read(part) for each, part in zip(promised, parts, strict=True)]
    return called(text, bound.captured[text.digest], bound.shared, batched)


def weighed(
    text: Packed,
    bound: Bound,
    parts: Sequence,
    promised: Sequence[Promised],
    fates: str,
    weight: float | None,
) -> list:
    """The same as one part of a mean: what is added has the weight of the chunk."""
    leaves = on_chunk(text, bound, parts, promised)
    if weight is None:
        return leaves
    pairs = zip(fates.split(), leaves, strict=True)
    return [_times(leaf, weight) if fate == ADDED else leaf for fate, leaf in pairs]


def _times(leaf: Any, weight: float) -> Any:
    if not isinstance(leaf, np.ndarray):
        return leaf * weight
    return np.multiply(leaf, weight, out=np.empty_like(leaf))


def combined(fates: str, *parts: list) -> list:
    """One node of the tree: the leaves of its parts, added or joined in their order."""
    columns = zip(fates.split(), *parts, strict=True)
    return [_combined(fate, items) for fate, *items in columns]


def _combined(fate: str, items: list) -> Any:
    first = items[0]
    if fate == KEPT or len(items) == 1:
        return first
    if fate == JOINED:
        return np.concatenate(items)
    kinds = {(np.shape(each), np.result_type(each)) for each in items}
    if len(kinds) > 1 or np.result_type(first).kind not in "fciu":
        listed = ", ".join(sorted(f"{dtype} of shape {shape}" for shape, dtype in kinds))
        raise ParallelError(
            "S2S701",
            f"chunks gave results that cannot be added: {listed}",
            why="shape and dtype of a result depend on the values of the chunk",
            help="return the same dtype and shape on each path",
        )
    if not isinstance(first, np.ndarray):
        return sum(items[1:], first)
    total = first.copy()
    for each in items[1:]:
        total += each
    return total


def handed_on(value: Any) -> Any:
    """The task that holds a text or values: whoever needs them gets them from there, once."""
    return value


@dataclass(frozen=True, slots=True)
class Leaves:
    """The leaves of a result as one thing, which Dask does not look into for keys of tasks."""

    items: list


def picked(result: list | Leaves, indices: Sequence[int]) -> list:
    """Some leaves of a result."""
    items = result.items if isinstance(result, Leaves) else result
    return [items[i] for i in indices]
