"""Arguments in chunks: arrays that are cut, dask arrays, lists of chunks, and loaders of files."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s_ad.api.check_arguments import shown
from s2s_ad.core import values
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError
from s2s_ad.tensors import Tensor, plain

DEFAULT_COUNT = 8  # chunks that arrays are cut into where nothing else says how many


class Loader:
    """A chunk that is read where it is needed: `function(*args, **kwargs)` gives the array.

    Shape and dtype are said beforehand, so that wrong calls are refused before anything is read;
    what the function gives is held against them.

    Args:
        function: what reads the chunk, as np.load.
        args, kwargs: what it is called with, as a path that all workers can read.
        shape, dtype: what it gives.

    Example:
        >>> import numpy as np
        >>> chunk = Loader(np.full, (2, 3), 1.0, shape=(2, 3), dtype=np.float64)
        >>> chunk().sum()
        np.float64(6.0)
    """

    def __init__(self, function: Callable, *args: Any, shape: Iterable[int], dtype: Any, **kwargs):
        if not callable(function):
            raise ArgumentTypeError(
                "S2S501", f"Loader: argument 'function' must be callable, got {shown(function)}"
            )
        self.function, self.args, self.kwargs = function, args, kwargs
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)

    def __call__(self) -> np.ndarray:
        return self.function(*self.args, **self.kwargs)

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", repr(self.function))
        given = ", ".join([name, *map(repr, self.args)])
        return f"Loader({given}, shape={self.shape}, dtype={self.dtype.name!r})"


def checked_size(label: str, size: Any) -> int | None:
    """`chunk_size` as it was given."""
    if size is not None and (type(size) is not int or size < 1):
        raise ArgumentValueError(
            "S2S502",
            f"{label}: argument 'chunk_size' must be a positive int, got {shown(size)}",
        )
    return size


@dataclass(frozen=True, slots=True)
class Piece:
    """One chunk of one argument.

    `content` is what a task is given of it: an array, a Loader, or the key of a task of `graph`.
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    content: Any
    graph: Mapping = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Source:
    """An argument, or a part of one, that has the batch along `axis`.

    Either its chunks are given, as `pieces`, or it is an `array` that may be cut anywhere. `what`
    is what messages call it; `tensor` says that the user's function sees a Tensor.
    """

    what: str
    axis: int
    tensor: bool
    pieces: tuple[Piece, ...]
    array: np.ndarray | None = None

    @property
    def total(self) -> int:
        return sum(self.lengths)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Those of the chunks, or of the whole array."""
        return tuple(each.shape[self.axis] for each in self.pieces)

    def cut(self, lengths: tuple[int, ...]) -> tuple[Piece, ...]:
        """The pieces; those of an array have these lengths."""
        if self.array is None:
            return self.pieces
        ends = itertools.accumulate(lengths, initial=0)
        before = (slice(None),) * self.axis
        parts = [self.array[(*before, slice(a, b))] for a, b in itertools.pairwise(ends)]
        return tuple(Piece(each.shape, each.dtype, each) for each in parts)


def source_of(label: str, what: str, value: Any, axis: int) -> Source:
    """The argument as something in chunks.

    Raises:
        ArgumentTypeError, ArgumentValueError: it cannot be taken chunk by chunk.
    """
    items = value if type(value) is list else [value]
    if not items:
        raise ArgumentValueError("S2S502", f"{label}: {what} is a list without chunks")
    names = [f"{what}[{i}]" for i in range(len(items))] if type(value) is list else [what]
    pieces: list[Piece] = []
    for name, item in zip(names, items, strict=True):
        pieces += _pieces(label, name, item, axis)
    rank = len(pieces[0].shape)
    place = axis % rank
    _check_alike(label, what, pieces, place)
    tensor = any(isinstance(each, Tensor) for each in items)
    array = plain(value) if isinstance(value, np.ndarray) else None
    return Source(what, place, tensor, tuple(pieces), array)


def _pieces(label: str, what: str, value: Any, axis: int) -> list[Piece]:
    """The chunks that an argument, or an item of a list of chunks, is or has."""
    if is_dask_array(value):
        return _blocks(label, what, value, _axis(label, what, value.shape, axis))
    if isinstance(value, Loader):
        _axis(label, what, value.shape, axis)
        return [Piece(value.shape, value.dtype, value)]
    if type(value) in values.ARRAY_TYPES:
        _axis(label, what, value.shape, axis)
        array = plain(value)
        return [Piece(array.shape, array.dtype, array)]
    if callable(value) or hasattr(value, "__dask_graph__"):
        raise ArgumentTypeError(
            "S2S501",
            f"{label}: {what} is {shown(value)}, whose shape and dtype nobody knows before it runs",
            help="say them: parallel.Loader(function, *args, shape=..., dtype=...), or "
            "dask.array.from_delayed(value, shape, dtype)",
        )
    raise ArgumentTypeError(
        "S2S501",
        f"{label}: {what} must be an array, a dask array, a Loader or a list of these, "
        f"got {shown(value)}",
        help="give it None in in_axes where it is the same for all samples",
    )


def is_dask_array(value: Any) -> bool:
    """Asked without importing Dask: who has such an array has imported it."""
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(value, module.Array)


def _axis(label: str, what: str, shape: tuple, axis: int) -> int:
    if not -len(shape) <= axis < len(shape):
        raise ArgumentValueError(
            "S2S502",
            f"{label}: in_axes = {axis} is out of range for {what} of shape {shape}",
            help="give it None in in_axes where it is the same for all samples",
        )
    return axis % len(shape)


def _blocks(label: str, what: str, array: Any, axis: int) -> list[Piece]:
    """The chunks of a dask array, each with the tasks that make it and no others."""
    from dask import optimize
    from dask.optimization import cull

    for i, lengths in enumerate(array.chunks):
        if any(length != length for length in lengths):  # nan
            raise ArgumentValueError(
                "S2S502",
                f"{label}: {what} has chunks of unknown size along axis {i}",
                help="x.compute_chunk_sizes() finds them",
            )
        if i != axis and len(lengths) > 1:
            raise ArgumentValueError(
                "S2S502",
                f"{label}: {what} is in {len(lengths)} chunks along axis {i}, which is not the "
                f"batch axis {axis}",
                why="each sample has to be in one chunk",
                help=f"x.rechunk({{{i}: -1}})",
            )
    graph = dict(array.__dask_graph__())
    if not any(map(_is_future, graph.values())):  # Dask's optimisation loses these
        (array,) = optimize(array)
        graph = dict(array.__dask_graph__())
    keys = [_key(array, axis, i) for i in range(len(array.chunks[axis]))]
    shapes = [(*array.shape[:axis], n, *array.shape[axis + 1 :]) for n in array.chunks[axis]]
    pieces = []
    for shape, key in zip(shapes, keys, strict=True):
        held = _is_future(graph[key])
        content, tasks = (graph[key], {}) if held else (key, dict(cull(graph, [key])[0]))
        pieces.append(Piece(tuple(map(int, shape)), array.dtype, content, tasks))
    return pieces


def _is_future(value: Any) -> bool:
    """Whether it stands for what a cluster holds, as in an array that was persisted."""
    module = sys.modules.get("distributed")
    return module is not None and isinstance(value, module.Future)


def _key(array: Any, axis: int, index: int) -> tuple:
    return (array.name, *(index if i == axis else 0 for i in range(array.ndim)))


def _check_alike(label: str, what: str, pieces: list[Piece], axis: int) -> None:
    """Chunks of one argument have one dtype, and one shape but for the batch axis."""
    first = pieces[0]
    for i, each in enumerate(pieces):
        if each.dtype != first.dtype:
            raise ArgumentTypeError(
                "S2S501",
                f"{label}: chunk {i} of {what} is of {each.dtype}, chunk 0 of {first.dtype}",
                why="a whole array has one dtype, and the gradient that of its parameter",
                help=f"give all chunks one dtype: chunk.astype(np.{first.dtype.name})",
            )
        if _without(each.shape, axis) != _without(first.shape, axis):
            raise ArgumentValueError(
                "S2S502",
                f"{label}: chunk {i} of {what} has shape {each.shape}, chunk 0 {first.shape}",
                why=f"they may differ along the batch axis {axis} alone",
            )


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


def common_lengths(label: str, sources: list[Source], size: int | None) -> tuple[int, ...]:
    """How many samples each chunk has, which is the same for all arguments.

    Args:
        size: samples in a chunk, where all arguments are arrays.

    Raises:
        ArgumentValueError: the arguments differ, a chunk has no samples, or there are none at all.
    """
    totals = {each.what: each.total for each in sources}
    if len(set(totals.values())) > 1:
        listed = ", ".join(f"{what} has {count}" for what, count in totals.items())
        raise ArgumentValueError("S2S502", f"{label}: numbers of samples differ: {listed}")
    total = next(iter(totals.values()))
    if not total:
        listed = " and ".join(totals)
        raise ArgumentValueError("S2S502", f"{label}: there are no samples in {listed}")
    chunked = [each for each in sources if each.array is None]
    if not chunked:
        each = size or -(-total // DEFAULT_COUNT)
        return tuple(min(each, total - start) for start in range(0, total, each))
    if size is not None:
        raise ArgumentValueError(
            "S2S502",
            f"{label}: argument 'chunk_size' is {size}, and {chunked[0].what} is in chunks already",
            help="leave it out, or x.rechunk({axis: chunk_size})",
        )
    for other in chunked[1:]:
        _check_same_lengths(label, chunked[0], other)
    lengths = chunked[0].lengths
    if 0 in lengths:
        raise ArgumentValueError(
            "S2S502",
            f"{label}: chunk {lengths.index(0)} of {chunked[0].what} has no samples",
            help="leave it out, or x.rechunk(...)",
        )
    return lengths


def _check_same_lengths(label: str, one: Source, other: Source) -> None:
    if one.lengths == other.lengths:
        return
    pairs = itertools.zip_longest(one.lengths, other.lengths)
    index, (mine, its) = next((i, pair) for i, pair in enumerate(pairs) if pair[0] != pair[1])
    raise ArgumentValueError(
        "S2S502",
        f"{label}: chunks differ between arguments: {one.what} has {len(one.lengths)}, "
        f"{other.what} {len(other.lengths)}, and chunk {index} has {mine} and {its} samples",
        why="a sample's parts have to be in the same chunk of each argument",
        help=f"x.rechunk({{{other.axis}: {one.lengths[:4]}}})"
        if len(one.lengths) <= 4
        else f"rechunk {other.what} as {one.what} is",
    )
