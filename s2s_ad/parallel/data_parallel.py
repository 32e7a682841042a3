"""`data_parallel`: a function on all chunks of its data, and the sum or mean of the results."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2s_ad.api import check_arguments as check
from s2s_ad.api.arguments import Arguments
from s2s_ad.api.batching import Vmap
from s2s_ad.api.function import Transformed
from s2s_ad.api.make import jit
from s2s_ad.api.tracebacks import short
from s2s_ad.api.transform import Differentiation, Jit, located
from s2s_ad.core import tree, values
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError, UnsupportedError
from s2s_ad.parallel.calls import Call, call_of
from s2s_ad.parallel.chunks import checked_size
from s2s_ad.parallel.engines import PATIENCE, SMALL_RESULT, Engine, engine_of
from s2s_ad.parallel.outcomes import Leaf, Outcome, changed_parameters, draws, outcome_of
from s2s_ad.parallel.outermost import Outermost
from s2s_ad.parallel.per_chunk import Held, PerChunk
from s2s_ad.parallel.tasks import ADDED, AVERAGED, JOINED, KEPT, Bound, Work, fresh_token
from s2s_ad.parallel.texts import Texts
from s2s_ad.parallel.travel import Batched
from s2s_ad.parallel.trees import added_here, tree_of
from s2s_ad.tensors import Parameter, plain


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

    `outcome` is what each gives, and behind it come the new values of the Parameters `writes`;
    `fates` say what becomes of each leaf of these. `seed` is where what they draw begins.
    """

    texts: Texts
    chunks: Sequence[int]
    outcome: Outcome
    writes: Sequence[Parameter]
    fates: str
    weights: list[float | None]
    seed: tuple[int, ...] | None = None

    @property
    def nbytes(self) -> int:
        """How many bytes a partial result takes."""
        written = sum(each.nbytes for each in self.writes)
        return written + sum(each.nbytes for each in self.outcome.leaves)

    @property
    def left_over(self) -> int:
        """How many results or sums the client adds: small ones need no way to a worker for it."""
        return SMALL_RESULT // max(self.nbytes, 1)

    def chunk_tasks(self, engine: Engine, bound: Bound) -> tuple[dict, list[str]]:
        """The graph that computes each chunk, and the keys of their results in order."""
        call = self.texts.call
        sent = engine.everywhere(bound)
        texts = {length: engine.text(each) for length, each in self.texts.packed.items()}
        name = next(iter(self.texts.packed.values())).name
        pieces = {(i, k): each for i in self.chunks for k, each in enumerate(call.pieces[i])}
        contents = engine.spread({at: each.content for at, each in pieces.items()}, call.sent)
        works, given = [], []
        for i, weight in zip(self.chunks, self.weights, strict=True):
            parts = [contents[i, k] for k in range(len(call.sources))]
            text, seed = texts[call.lengths[i]], self.seed and (*self.seed, i)
            rest = {"fates": self.fates, "weight": weight, "seed": seed}
            work, refs = Work.of(text, sent, parts, call.promised(i), **rest)
            works.append(work)
            given.append(refs)
        token = fresh_token()
        keys = [f"{name}-{token}-{i}" for i in self.chunks]
        graph: dict = {}
        for piece in pieces.values():
            graph.update(piece.graph)
        for key, task, refs in zip(keys, engine.tasks(works), given, strict=True):
            graph[key] = (task, *refs)
        return graph, keys

    def finished(self, leaves: list) -> Any:
        """The result, once the Parameters have their new values."""
        result, written = leaves[: len(self.outcome.leaves)], leaves[len(self.outcome.leaves) :]
        for parameter, value in zip(self.writes, written, strict=True):
            plain(parameter)[...] = value
        return self.outcome.assembled(result)


def drawn_seed() -> tuple[int, ...]:
    """One that set_seed decides."""
    return (int(np.random.randint(1 << 62)),)  # noqa: NPY002  (the state that it starts)


class DataParallel(Outermost):
    """A function over data in chunks. Call it as the function itself.

    Made by `data_parallel`, which says what its arguments are.
    """

    label = "data_parallel"

    def __init__(
        self,
        function: Transformed,
        in_axes: Any,
        reduce: str | None,
        chunk_size: int | None,
        client: Any,
        patience: float,
    ):
        functools.update_wrapper(self, function, updated=())
        self.function, self.axes, self.reduce = function, axes_of(self.label, in_axes), reduce
        self.axes.check_signature(self.label, function.__signature__)
        self.chunk_size, self.client, self.patience = chunk_size, client, patience

    @short
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.on(self.call(*args, **kwargs))

    def call(self, *args: Any, **kwargs: Any) -> Call:
        """The call in chunks, for which nothing has been run."""
        return call_of(self.label, self.function, self.axes, args, kwargs, self.chunk_size)

    def on(
        self,
        call: Call,
        chunks: Sequence[int] | None = None,
        seed: tuple[int, ...] | None = None,
    ) -> Any:
        """The result for some chunks of a call, or for all, as parameters are now.

        Args:
            seed: where random numbers begin; without it NumPy's state says.
        """
        step = self.step(call, chunks)
        if any(map(draws, step.texts.loaded.values())):
            step = replace(step, seed=seed or drawn_seed())
        engine = engine_of(self.label, self.client, self.patience)
        stays = self.reduce is None  # parameters may change before results are asked for
        bound = step.texts.bound(copied=stays)
        if stays:
            held = Held(engine, lambda: step.chunk_tasks(engine, bound), len(step.chunks))
            parts = [PerChunk(held, i) for i in range(len(step.outcome.leaves))]
            return step.outcome.structured(parts)

        def computed() -> list:
            graph, keys = step.chunk_tasks(engine, bound)
            nodes, keys = tree_of(keys, step.fates, step.left_over)
            return added_here(engine.run({**graph, **nodes}, keys), step.fates)

        return step.finished(engine.tried(computed))

    def step(self, call: Call, chunks: Sequence[int] | None = None) -> Step:
        """What computes some chunks of a call.

        Raises:
            UnsupportedError, ArgumentTypeError: the results cannot be put together, or the
                function cannot travel.
        """
        chunks = range(len(call.lengths)) if chunks is None else chunks
        lengths = [call.lengths[i] for i in chunks]
        texts = Texts.of(call, lengths)
        outcome, writes, fates = self._fates(texts, max(lengths))
        total = sum(lengths)
        weights = [None if len(lengths) == 1 else n / total for n in lengths]
        return Step(texts, chunks, outcome, writes, fates, weights)

    def _fates(self, texts: Texts, longest: int) -> tuple[Outcome, list[Parameter], str]:
        """What chunks give, Parameters that they change, and what becomes of each leaf of that."""
        call = texts.call
        self._refuse_gradients_of_samples(call)
        # of a chunk of one sample nobody could tell which lengths are the number of samples
        length = max(longest, 2)
        outcome = outcome_of(call, texts.loaded.get(length) or call.loaded(length), length)
        writes = changed_parameters(self.label, texts.loaded.values(), self.reduce is not None)
        fates = [*(self._fate(call, each) for each in outcome.leaves), *[AVERAGED] * len(writes)]
        return outcome, writes, " ".join(fates)

    def _fate(self, call: Call, leaf: Leaf) -> str:
        """What becomes of a leaf of the results; raises where nothing sensible can."""
        if leaf.fixed or isinstance(leaf.fact, values.Static) or self.reduce is None:
            return KEPT
        what = f"{self.label}: {leaf.path} of {check.name_of(call.function.root)}"
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
        return ADDED if self.reduce == "sum" else AVERAGED

    def _refuse_gradients_of_samples(self, call: Call) -> None:
        """The gradient of a mean with respect to a sample is not that of its chunk's mean."""
        function, signature = call.function, call.function.__signature__
        while isinstance(function, Transformed) and isinstance(function.transform, Jit):
            function = function.fn
        transform = getattr(function, "transform", None)
        if not isinstance(transform, Differentiation):
            return
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

    def __repr__(self) -> str:
        return f"data_parallel({self.function!r}, reduce={self.reduce!r})"


def data_parallel(
    fn: Callable,
    in_axes: Any = 0,
    reduce: str | None = "mean",
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
            "sum" for sums. None leaves the results of chunks with the workers, as `PerChunk`s, for
            `nn.DistributedGradReducer`.
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
    if reduce not in ("sum", "mean", None):
        raise ArgumentValueError(
            "S2S502",
            "data_parallel: argument 'reduce' must be 'sum', 'mean' or None, "
            f"got {check.shown(reduce)}",
        )
    size = checked_size("data_parallel", chunk_size)
    function = fn if isinstance(fn, Transformed) else jit(fn, native=False)
    return DataParallel(function, in_axes, reduce, size, client, patience)
