"""What runs on workers: the function on one chunk, and the sums of a fixed tree."""

from __future__ import annotations

import functools
import itertools
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import cloudpickle
import numpy as np

from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError, ParallelError
from s2s_ad.parallel.chunks import Loader
from s2s_ad.parallel.travel import Packed, called

#: what becomes of a leaf of the chunks' results; what is averaged has the weights of the chunks
ADDED, AVERAGED, JOINED, KEPT = "added", "averaged", "joined", "kept"


_number = itertools.count()


@functools.cache
def _process() -> int:
    return uuid.uuid4().int


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_process.cache_clear)


def fresh_token() -> str:
    """What no other task, of whichever process, has in its key: a word of Dask's kind."""
    return f"{(_process() + next(_number)) % (1 << 128):032x}"


@dataclass(frozen=True, slots=True)
class Bound:
    """What is the same for all chunks of a step: arguments, and captured values by text."""

    shared: list
    captured: dict[str, list]

    def __reduce__(self) -> tuple:
        return arrived, (self.shared, self.captured)

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
    """The array in a layout in which sums round alike in this process and others.

    Pickle hands on contiguous arrays; out of a message they come at any byte, and NumPy adds
    elements that are not aligned by way of a buffer, in another order.
    """
    array = np.asarray(array)
    if not array.flags.forc:
        return np.array(array, order="C")
    return array if array.flags.aligned else array.copy(order="A")


def arrived(shared: list, captured: dict[str, list]) -> Bound:
    """What is the same for all chunks, in the process that it was sent to."""
    return Bound(_contiguous(shared), {key: _contiguous(each) for key, each in captured.items()})


def _contiguous(values: list) -> list:
    return [contiguous(each) if isinstance(each, np.ndarray) else each for each in values]


def on_chunk(
    text: Packed,
    bound: Bound,
    parts: Sequence,
    promised: Sequence[Promised],
    seed: tuple[int, ...] | None = None,
) -> list:
    """The leaves of what the function gives for one chunk."""
    batched = [each.read(part) for each, part in zip(promised, parts, strict=True)]
    return called(text, bound.captured[text.digest], bound.shared, batched, seed)


class _WaitedFor(Enum):
    """Another task gives it, or the cluster holds it."""

    WAITED_FOR = "waited for"


WAITED_FOR = _WaitedFor.WAITED_FOR


@dataclass(frozen=True, slots=True)
class Work:
    """What a task does for one chunk; what it waits for it is called with, in this order.

    `text`, `bound` and `parts` are those of `on_chunk`, or WAITED_FOR; `weight` is that of the
    chunk in a mean.
    """

    text: Any
    bound: Any
    parts: tuple
    promised: tuple[Promised, ...]
    fates: str
    weight: float | None
    seed: tuple[int, ...] | None

    @classmethod
    def of(
        cls, text: Any, bound: Any, parts: Sequence, promised: Sequence[Promised], **rest: Any
    ) -> tuple[Work, tuple]:
        """The work, and what stands in a graph for what it waits for."""
        given = [text, bound, *parts]
        held = [WAITED_FOR if _waits(each) else each for each in given]
        work = cls(held[0], held[1], tuple(held[2:]), tuple(promised), **rest)
        return work, tuple(each for each in given if _waits(each))

    def __call__(self, *waited_for: Any) -> list:
        rest = iter(waited_for)
        held = (self.text, self.bound, *self.parts)
        text, bound, *parts = (next(rest) if each is WAITED_FOR else each for each in held)
        leaves = on_chunk(text, bound, parts, self.promised, self.seed)
        if self.weight is None:
            return leaves
        pairs = zip(self.fates.split(), leaves, strict=True)
        return [_times(leaf, self.weight) if fate == AVERAGED else leaf for fate, leaf in pairs]


def _waits(value: Any) -> bool:
    """Whether it stands for something else: the key of a task, or a Future."""
    return not isinstance(value, Packed | Bound | Loader | np.ndarray)


class Sealed:
    """Work as it travels: pickled here, and read where it runs.

    Dask pickles a graph for its scheduler, which takes it apart and pickles each task for a worker;
    it makes a name of all that is in it, too. Bytes pass through all that as they are.

    Args:
        common: what `common_to` gives, the same bytes for all chunks that share it.
    """

    __slots__ = ("common", "own")

    def __init__(self, common: bytes, work: Work):
        self.common = common
        own = work.parts, work.promised, work.fates, work.weight, work.seed
        self.own = cloudpickle.dumps(own)

    @staticmethod
    def common_to(work: Work) -> bytes:
        """What chunks of one length share, as bytes."""
        return cloudpickle.dumps((work.text, work.bound))

    def __dask_tokenize__(self) -> str:
        return fresh_token()  # no two tasks are taken for one

    def __call__(self, *waited_for: Any) -> list:
        work = Work(*cloudpickle.loads(self.common), *cloudpickle.loads(self.own))
        return work(*waited_for)


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
