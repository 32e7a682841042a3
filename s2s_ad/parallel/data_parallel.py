"""`data_parallel`: a function on all chunks of its data, and the sum or mean of the results."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad.api import check_arguments as check
from s2s_ad.api.batching import Vmap
from s2s_ad.api.function import Transformed
from s2s_ad.api.make import jit
from s2s_ad.api.tracebacks import short
from s2s_ad.api.transform import Differentiation, Jit, located
from s2s_ad.core import tree, values
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError, UnsupportedError
from s2s_ad.load.module import Loaded
from s2s_ad.parallel.calls import Call, call_of
from s2s_ad.parallel.engines import PATIENCE, SMALL_RESULT, Engine, engine_of
from s2s_ad.parallel.outcomes import Leaf, Outcome, outcome_of
from s2s_ad.parallel.tasks import (
    ADDED,
    JOINED,
    KEPT,
    Bound,
    Promised,
    combined,
    contiguous,
    weighed,
)
from s2s_ad.parallel.travel import Batched, Packed, packed

FAN_IN = 4  # results that one node of the tree adds


def axes_of(label: str, in_axes: Any) -> Vmap:
    """`in_axes`, checked as those of vmap are."""
    check.check_axes(label, "in_axes", in_axes)
    check.check_axis_names(label, in_axes)
    axes = Vmap(tree.from_object(in_axes, lambda leaf, _: leaf))
    axes.check_mapped(label)
    return axes


@dataclass(frozen=True)
class Step:
    """All that a computation over some chunks of a call needs.

    `texts` are the texts by length of chunk; `fates` says what becomes of each leaf of the
    results, `outcome` what they are.
    """

    call: Call
    chunks: Sequence[int]
    texts: dict[int, Packed]
    loaded: dict[int, Loaded]
    outcome: Outcome
    fates: list[str]
    weights: list[float | None]

    @property
    def nbytes(self) -> int:
        """How many bytes a partial result takes."""
        return sum(each.nbytes for each in self.outcome.leaves)

    def bound(self) -> Bound:
        """Arguments and captured values as they are now."""
        captured = {}
        for length, text in self.texts.items():
            loaded = self.loaded[length]
            captured[text.digest] = [_sent(loaded.namespace[name]) for name in loaded.text.captured]
        return Bound([_sent(each) for each in self.call.shared], captured)

    def chunk_tasks(self, engine: Engine, bound: Bound) -> tuple[dict, list[str]]:
        """The graph that computes each chunk, and the keys of their results in order."""
        call = self.call
        sent = engine.everywhere(bound)
        texts = {length: engine.text(text) for length, text in self.texts.items()}
        pieces = [piece for i in self.chunks for piece in call.pieces[i]]
        contents = engine.spread([piece.content for piece in pieces])
        graph: dict = {}
        for piece in pieces:
            graph.update(piece.graph)
        token, count = uuid.uuid4().hex, len(call.sources)
        keys = []
        for k, i in enumerate(self.chunks):
            key = f"{next(iter(self.texts.values())).name}-{token}-{i}"
            parts = contents[k * count : (k + 1) * count]
            promised = [
                Promised(f"chunk {i} of {source.what}", piece.shape, piece.dtype)
                for source, piece in zip(call.sources, call.pieces[i], strict=True)
            ]
            text = texts[call.lengths[i]]
            fates, weight = " ".join(self.fates), self.weights[k]
            graph[key] = (weighed, text, sent, parts, promised, fates, weight)
            keys.append(key)
        return graph, keys


def _sent(value: Any) -> Any:
    return contiguous(value) if isinstance(value, np.ndarray) else value


def tree_of(keys: list[str], fates: list[str], last: int = 1) -> tuple[dict, list[str]]:
    """The nodes that add the results of `keys`, which depend on their number alone.

    Args:
        last: how many partial sums may be left over.

    Returns:
        The tasks, and the keys of what is left: one, or no more than `last`.
    """
    graph, level = {}, 0
    while len(keys) > max(last, 1):
        level += 1
        groups = [keys[i : i + FAN_IN] for i in range(0, len(keys), FAN_IN)]
        above = []
        for i, group in enumerate(groups):
            if len(group) == 1:
                above.append(group[0])
                continue
            key = f"s2s-sum-{keys[0].rsplit('-', 2)[1]}-{level}.{i}"
            graph[key] = (combined, " ".join(fates), *group)
            above.append(key)
        keys = above
    return graph, keys


class DataParallel:
    """A function over data in chunks. Call it as the function itself.

    Made by `data_parallel`, which says what its arguments are.
    """

    label = "data_parallel"

    def __init__(
        self,
        function: Transformed,
        in_axes: Any,
        reduce: str,
        chunk_size: int | None,
        client: Any,
        patience: float,
    ):
        functools.update_wrapper(self, function, updated=())
        self.function, self.axes, self.reduce = function, axes_of(self.label, in_axes), reduce
        self.axes.check_signature(self.label, function.__signature__)
        self.chunk_size, self.client, self.patience = chunk_size, client, patience
        self._packed: dict[Any, tuple[Loaded, Packed]] = {}

    @short
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.on(self.call(*args, **kwargs))

    def call(self, *args: Any, **kwargs: Any) -> Call:
        """The call in chunks, for which nothing has been run."""
        return call_of(self.label, self.function, self.axes, args, kwargs, self.chunk_size)

    def on(self, call: Call, chunks: Sequence[int] | None = None) -> Any:
        """The result for some chunks of a call, or for all, as parameters are now."""
        step = self.step(call, chunks)
        engine = engine_of(self.label, self.client, self.patience)
        bound = step.bound()

        def computed() -> list:
            graph, keys = step.chunk_tasks(engine, bound)
            last = FAN_IN if step.nbytes * FAN_IN <= SMALL_RESULT else 1
            nodes, keys = tree_of(keys, step.fates, last)
            return combined(" ".join(step.fates), *engine.run({**graph, **nodes}, keys))

        return step.outcome.assembled(engine.tried(computed))

    def step(self, call: Call, chunks: Sequence[int] | None = None) -> Step:
        """What computes some chunks of a call.

        Raises:
            UnsupportedError, ArgumentTypeError: the results cannot be put together, or the
                function cannot travel.
        """
        chunks = range(len(call.lengths)) if chunks is None else chunks
        lengths = [call.lengths[i] for i in chunks]
        loaded = {length: call.loaded(length) for length in dict.fromkeys(lengths)}
        outcome, fates = self._fates(call, loaded, max(lengths))
        texts = {n: self._text(call, each) for n, each in loaded.items()}
        total = sum(lengths)
        alone = self.reduce == "sum" or len(lengths) == 1
        weights = [None if alone else n / total for n in lengths]
        return Step(call, chunks, texts, loaded, outcome, fates, weights)

    def _fates(
        self, call: Call, loaded: dict[int, Loaded], longest: int
    ) -> tuple[Outcome, list[str]]:
        """What chunks give, and what becomes of each leaf of that."""
        self._refuse_gradients_of_samples(call)
        # of a chunk of one sample nobody could tell which lengths are the number of samples
        length = max(longest, 2)
        outcome = outcome_of(call, loaded.get(length) or call.loaded(length), length)
        for each in loaded.values():
            outcome_of(call, each, longest)
        return outcome, [self._fate(call, each) for each in outcome.leaves]

    def _fate(self, call: Call, leaf: Leaf) -> str:
        if isinstance(leaf.fact, values.Static):
            return KEPT
        what = f"{self.label}: {leaf.path} of {call.function.__name__}"
        if leaf.own is None or not isinstance(leaf.fact, values.Array | values.Scalar):
            raise UnsupportedError(
                "S2S402",
                f"{what} has a shape that only the run tells",
                why="nobody could say whether what chunks give is to be added",
                help="return numbers, or arrays whose shape follows from those of the arguments",
            )
        if leaf.per_sample and None not in leaf.own[1:]:
            return JOINED
        if None in leaf.own:
            raise UnsupportedError(
                "S2S402",
                f"{what} has a length along axis {leaf.own.index(None)} that depends on the number "
                "of samples, or on their values",
                why="sums of such arrays over chunks mean nothing",
                help="return its sum or mean over the samples; or let samples come first (axis 0)",
            )
        kind = leaf.dtype.kind if leaf.dtype is not None else "f"
        if kind == "b" or (kind in "iu" and self.reduce == "mean"):
            raise ArgumentTypeError(
                "S2S304",
                f"{what} is of {leaf.dtype}, and its {self.reduce} would be of another dtype",
                help="return a floating-point number: np.mean(...), or x.astype(np.float64)",
            )
        return ADDED

    def _refuse_gradients_of_samples(self, call: Call) -> None:
        """The gradient of a mean with respect to a sample is not that of its chunk's mean."""
        function, signature = call.function, call.function.__signature__
        while isinstance(function, Transformed) and isinstance(function.transform, Jit):
            function = function.fn
        transform = getattr(function, "transform", None)
        if not isinstance(transform, Differentiation):
            return
        from s2s_ad.api.arguments import Arguments

        for slot in located(transform.positions, Arguments(signature, call.form)):
            form = call.form[slot.name]
            leaves = tree.leaves(form if slot.step is None else form.get(slot.step[1]))
            if any(isinstance(each, Batched) for each in leaves):
                raise ArgumentValueError(
                    "S2S502",
                    f"{self.label}: {function!r} gives the gradient with respect to "
                    f"{slot.text()}, which comes in chunks",
                    why="such a gradient has a part for each sample",
                    help="take the gradient of the parameters; of each sample: "
                    "parallel.vmap(grad(f, position), in_axes)",
                )

    def _text(self, call: Call, loaded: Loaded) -> Packed:
        """The text as it travels, packed once."""
        form = call.travelling()
        known = self._packed.get(id(loaded.text))
        if known is None or known[0].text is not loaded.text or known[2] != form:
            known = self._packed[id(loaded.text)] = (loaded, packed(loaded, form, self.label), form)
        return known[1]

    def __repr__(self) -> str:
        return f"data_parallel({self.function!r}, reduce={self.reduce!r})"


def data_parallel(
    fn: Callable,
    in_axes: Any = 0,
    reduce: str = "mean",
    *,
    chunk_size: int | None = None,
    client: Any = None,
    patience: float = PATIENCE,
) -> DataParallel:
    """`fn` computed chunk by chunk of its batched arguments, and the results added.

    What `fn` gives for a chunk, a value and gradients of any structure, is added over a tree that
    depends on the number of chunks alone: the result is the same to the last bit whatever the
    number of workers. A leaf that has an entry for each sample along its first axis is not added:
    those of all chunks are put together in their order.

    Args:
        fn: what a transform gave, as `value_and_grad(loss)`, or a function.
        in_axes: as for `vmap`: the axis of the samples of each argument, None where it is the same
            for all. A batched argument is an array, a dask array, or a list of chunks: arrays, dask
            arrays or `Loader`s.
        reduce: "mean" for losses that are a mean over their samples: chunks weigh by their number;
            "sum" for sums.
        chunk_size: samples in a chunk, where all batched arguments are arrays; without it they are
            cut into eight chunks.
        client: a `dask.distributed.Client`, a cluster, the address of a scheduler, or "threads".
            Without it the client that is active, or, where there is none, threads of this process.
        patience: seconds to wait where no worker is left.

    Raises:
        ArgumentTypeError, ArgumentValueError, UnsupportedError: before anything runs.
        ParallelError: the workers cannot go on.

    Example:
        >>> import numpy as np
        >>> from s2s_ad import parallel, value_and_grad
        >>> def loss(w, x, y):
        ...     return np.mean((x @ w - y) ** 2)
        >>> step = parallel.data_parallel(value_and_grad(loss), in_axes=(None, 0, 0))
        >>> value, slope = step(np.zeros(2), np.ones((10, 2)), np.ones(10))
        >>> print(value, slope)
        1.0 [-2. -2.]
    """
    check.check_callable("data_parallel", fn)
    if reduce not in ("sum", "mean"):
        raise ArgumentValueError(
            "S2S502",
            f"data_parallel: argument 'reduce' must be 'sum' or 'mean', got {check.shown(reduce)}",
        )
    if chunk_size is not None and (type(chunk_size) is not int or chunk_size < 1):
        raise ArgumentValueError(
            "S2S502",
            f"data_parallel: argument 'chunk_size' must be a positive int, "
            f"got {check.shown(chunk_size)}",
        )
    function = fn if isinstance(fn, Transformed) else jit(fn)
    return DataParallel(function, in_axes, reduce, chunk_size, client, patience)
