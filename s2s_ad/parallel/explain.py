"""`explain_parallel`: what a step sends, how its results are added, and what a fault costs."""

from __future__ import annotations

from typing import Any

from s2s_ad.api.check_arguments import shown
from s2s_ad.api.tracebacks import short
from s2s_ad.diagnostics import ArgumentTypeError
from s2s_ad.parallel.chunks import Loader
from s2s_ad.parallel.data_parallel import DataParallel, Step
from s2s_ad.parallel.engines import LARGE
from s2s_ad.parallel.trees import FAN_IN, depth_of, tree_of


@short
def explain_parallel(function: DataParallel, *args: Any, **kwargs: Any) -> str:
    """What a call with these arguments would do; nothing is run for it.

    Returns:
        A table: what travels, its bytes, to whom and how often; the depth of the tree of sums; what
        is computed again when a worker dies.

    Raises:
        ArgumentTypeError: `function` was not made by `data_parallel`.

    Example:
        >>> import numpy as np
        >>> from s2s_ad import grad, parallel
        >>> step = parallel.data_parallel(grad(lambda w, x: np.mean(x @ w)), in_axes=(None, 0))
        >>> print(parallel.explain_parallel(step, np.ones(3), np.ones((80, 3))).splitlines()[0])
        8 chunks of 10 samples each, mean of 80
    """
    if not isinstance(function, DataParallel):
        raise ArgumentTypeError(
            "S2S501",
            "explain_parallel: argument 'function' must be what data_parallel gave, "
            f"got {shown(function)}",
        )
    step = function.step(function.call(*args, **kwargs))
    rows = [("what", "bytes", "how it travels"), *_texts(step), *_values(step), *_results(step)]
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    table = [f"{a.ljust(widths[0])}  {b.rjust(widths[1])}  {c}" for a, b, c in rows]
    return "\n".join([_head(function, step), *table, *_faults(step)])


def _head(function: DataParallel, step: Step) -> str:
    lengths = step.texts.call.lengths
    sizes = sorted(set(lengths), reverse=True)
    samples = (
        f"{sizes[0]} samples each" if len(sizes) == 1 else f"{sizes[-1]} to {sizes[0]} samples"
    )
    what = {"mean": f"mean of {sum(lengths)}", "sum": f"sum of {sum(lengths)}"}
    reduce = what.get(function.reduce, "left where they are")
    return f"{len(lengths)} chunks of {samples}, {reduce}"


def _texts(step: Step) -> list[tuple[str, str, str]]:
    pairs = zip(step.texts.packed.values(), step.texts.loaded.values(), strict=True)
    rows = {}
    for text, loaded in pairs:
        way = f"to each worker once, sha256 {text.digest[:12]}"
        way += "" if loaded.native is None else ", native code"
        rows[text.digest] = (f"text of {text.name}", f"{len(text.payload):,}", way)
    return [*rows.values()]


def _values(step: Step) -> list[tuple[str, str, str]]:
    bound = step.texts.bound()
    by_itself = bound.nbytes > LARGE
    way = "to each worker, once a step" if by_itself else "with each chunk, because it is small"
    rows = [("what is the same for all chunks", f"{bound.nbytes:,}", way)]
    arrays = 0
    for k, source in enumerate(step.texts.call.sources):
        pieces = [each[k] for each in step.texts.call.pieces]
        sent = sum(getattr(each.content, "nbytes", 0) for each in pieces)
        read = sum(isinstance(each.content, Loader) for each in pieces)
        tasks = sum(not isinstance(each.content, Loader) for each in pieces if each.graph)
        ways = {
            "to one worker, once a step": sent,
            f"{read} chunks read by the workers": read,
            f"{tasks} chunks computed by the workers": tasks,
        }
        text = ", ".join(way for way, some in ways.items() if some) or "on the workers already"
        rows.append((source.what, f"{sent:,}", text))
        arrays += sent
    if by_itself:
        total, further = arrays + bound.nbytes, f" with one worker, {bound.nbytes:,} more for each"
    else:
        total, further = arrays + bound.nbytes * len(step.chunks), ", however many there are"
    return [*rows, ("sent in a step", f"{total:,}", f"to all workers{further}")]


def _results(step: Step) -> list[tuple[str, str, str]]:
    count = len(step.chunks)
    graph, left = tree_of([str(i) for i in range(count)], step.fates, step.left_over)
    back = "the result" if len(left) == 1 else f"{len(left)} parts, added here,"
    return [
        ("result of a chunk", f"{step.nbytes:,}", "between workers, where a sum needs it"),
        (
            "what comes back",
            f"{step.nbytes * len(left):,}",
            f"{back} of a tree of depth {depth_of(count)}, {FAN_IN} at a node: {len(graph)} nodes "
            "on workers",
        ),
    ]


def _faults(step: Step) -> list[str]:
    return [
        "when a worker dies:",
        f"  its chunks are computed again, each 1/{len(step.chunks)} of the step, and its sums;",
        "  what only it had been sent is sent again; the result is the same to the last bit",
    ]
