"""`parallel.vmap`: a function on each sample of dask arrays; its results are dask arrays, too."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad.api.check_arguments import name_of
from s2s_ad.api.function import Transformed
from s2s_ad.api.make import vmap as vmap_of
from s2s_ad.api.tracebacks import short
from s2s_ad.core import tree, values
from s2s_ad.diagnostics import InternalError, UnsupportedError
from s2s_ad.parallel.calls import Call, call_of
from s2s_ad.parallel.chunks import checked_size
from s2s_ad.parallel.outcomes import Leaf, Outcome, outcome_of, refuse_state
from s2s_ad.parallel.outermost import Outermost
from s2s_ad.parallel.tasks import Bound, Promised, fresh_token, handed_on, on_chunk
from s2s_ad.parallel.texts import Texts
from s2s_ad.parallel.travel import Packed
from s2s_ad.transforms.batches import prefix

LABEL = "parallel.vmap"


@dataclass(frozen=True, slots=True)
class Column:
    """One leaf of the results of all chunks: the axis of the samples, and the shape of each."""

    axis: int
    dtype: np.dtype
    shapes: tuple[tuple[int, ...], ...]

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of the chunks along each axis, as Dask has them."""
        first = self.shapes[0]
        along = tuple(shape[self.axis] for shape in self.shapes)
        return tuple(along if i == self.axis else (n,) for i, n in enumerate(first))


class Mapped(Outermost):
    """A function on each sample of arguments in chunks; its results are dask arrays.

    Made by `parallel.vmap`, which says what its arguments are.
    """

    label = LABEL

    def __init__(self, function: Transformed, chunk_size: int | None):
        functools.update_wrapper(self, function, updated=())
        self.function, self.chunk_size = function, chunk_size
        self.axes = function.transform

    @short
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        import dask.array

        call = call_of(LABEL, self.function, self.axes, args, kwargs, self.chunk_size)
        texts = Texts.of(call)
        outcome, columns = self._known(call, texts)
        graph, keys = _graph(call, texts, columns)
        token = fresh_token()
        arrays = []
        for i, column in enumerate(columns):
            name = f"{name_of(self.function.root)}-{i}-{token}"
            own = {
                (name, *(k if j == column.axis else 0 for j in range(len(column.chunks)))): (
                    leaf_of,
                    key,
                    i,
                )
                for k, key in enumerate(keys)
            }
            arrays.append(
                dask.array.Array({**graph, **own}, name, column.chunks, dtype=column.dtype)
            )
        return outcome.structured(arrays)

    def _known(self, call: Call, texts: Texts) -> tuple[Outcome, list[Column]]:
        """What the compiler knows of the results: their structure, and each leaf in chunks."""
        for each in texts.loaded.values():
            refuse_state(LABEL, each)
        by_length = {n: outcome_of(call, loaded, n) for n, loaded in texts.loaded.items()}
        first = by_length[call.lengths[0]]
        axes = tree.leaves(prefix(self.axes.out_axes, first.result, f"{LABEL}: out_axes"))
        columns = [
            self._column([by_length[n].leaves[i] for n in call.lengths], axis, call.lengths)
            for i, axis in enumerate(axes)
        ]
        return first, columns

    def _column(self, leaves: list[Leaf], axis: int | None, lengths: Sequence[int]) -> Column:
        first = leaves[0]
        what = f"{LABEL}: {first.path} of {name_of(self.function.root)}"
        if axis is None:
            raise UnsupportedError(
                "S2S402",
                f"{what} has out_axes None",
                why="there would be one such value for each chunk",
                help="compute it outside of the function that is mapped",
            )
        known = isinstance(first.fact, values.Array) and first.shape is not None
        if not known or None in first.shape or first.dtype is None:
            lacks = "dtype" if known and None not in first.shape else "shape"
            raise UnsupportedError(
                "S2S402",
                f"{what} has a {lacks} that only the run tells",
                why="a dask array says its shape and dtype before anything is computed",
                help="allocate it with its size (np.zeros), or return the same dtype on each path",
            )
        shapes = tuple(each.shape for each in leaves)
        place = axis % len(first.shape)
        if [shape[place] for shape in shapes] != list(lengths):
            raise InternalError("S2S901", f"{what}: shapes {shapes} for {lengths} samples")
        return Column(place, first.dtype, shapes)

    def __repr__(self) -> str:
        return f"parallel.{self.function!r}"


def _graph(call: Call, step: Texts, columns: list[Column]) -> tuple[dict, list[str]]:
    """The tasks of all chunks, and the key of each: texts and values are tasks of their own."""
    token = fresh_token()
    name = next(iter(step.packed.values())).name
    graph: dict = {f"s2s-values-{token}": (handed_on, step.bound(copied=True))}
    for text in step.packed.values():
        graph[text.key] = (handed_on, text)
    keys = []
    for k, (pieces, length) in enumerate(zip(call.pieces, call.lengths, strict=True)):
        given = [
            Promised(f"result {i} of chunk {k}", column.shapes[k], column.dtype)
            for i, column in enumerate(columns)
        ]
        parts = [piece.content for piece in pieces]
        for piece in pieces:
            graph.update(piece.graph)
        key = f"{name}-{token}-{k}"
        text = step.packed[length].key
        graph[key] = (checked, text, f"s2s-values-{token}", parts, call.promised(k), given)
        keys.append(key)
    return graph, keys


def leaf_of(leaves: list, index: int) -> np.ndarray:
    """One leaf of a chunk's results."""
    return np.asarray(leaves[index])


def checked(
    text: Packed,
    bound: Bound,
    parts: Sequence,
    promised: Sequence[Promised],
    given: Sequence[Promised],
) -> list:
    """The leaves for one chunk, which have the shapes and dtypes that were said beforehand."""
    leaves = on_chunk(text, bound, parts, promised)
    return [each.read(np.asarray(leaf)) for each, leaf in zip(given, leaves, strict=True)]


def vmap(
    fn: Callable, in_axes: Any = 0, out_axes: Any = 0, *, chunk_size: int | None = None
) -> Mapped:
    """`s2s_ad.vmap` over arguments in chunks: what comes back are dask arrays, computed by no one.

    Shapes and dtypes come from the compiler: nothing is run for them. What is the same for all
    samples, parameters and captured values, is that of the call, whenever the result is computed.

    Args:
        fn: a function of one sample, or what a transform gave: `grad(loss)`, `jacrev(f)`.
        in_axes, out_axes: as for `vmap`. A batched argument is a dask array, a list of chunks
            (arrays, dask arrays, `Loader`s), or an array.
        chunk_size: samples in a chunk, where all batched arguments are arrays; without it they are
            cut into eight chunks.

    Returns:
        A function whose results have dask arrays in the place of arrays, in any nesting.

    Raises:
        ArgumentTypeError, ArgumentValueError, UnsupportedError: when it is called, before anything
            is computed.

    Example:
        >>> import dask.array as da, numpy as np
        >>> from s2s_ad import grad, parallel
        >>> def loss(w, x):
        ...     return np.sum(np.tanh(x * w))
        >>> x = da.ones((6, 2), chunks=(3, 2))
        >>> slopes = parallel.vmap(grad(loss), (None, 0))(np.zeros(2), x)
        >>> slopes.shape, slopes.chunks, slopes.dtype
        ((6, 2), ((3, 3), (2,)), dtype('float64'))
        >>> print(slopes.sum().compute())
        12.0
    """
    return Mapped(vmap_of(fn, in_axes, out_axes), checked_size("parallel.vmap", chunk_size))
