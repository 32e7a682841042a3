"""A call whose arguments come in chunks: what differs from chunk to chunk, and what does not."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s_ad.api.arguments import Arguments, exact_leaf
from s2s_ad.api.batching import Vmap
from s2s_ad.api.function import Transformed
from s2s_ad.core import tree, values
from s2s_ad.diagnostics import ArgumentTypeError
from s2s_ad.load.module import Loaded
from s2s_ad.parallel.chunks import Loader, Piece, Source, common_lengths, is_dask_array, source_of
from s2s_ad.parallel.tasks import Promised
from s2s_ad.parallel.travel import Batched, Shared
from s2s_ad.tensors import Tensor


@dataclass
class Sent:
    """What a cluster holds of the pieces of a call: by (chunk, source) what stands for it.

    `epoch` is the time in which the cluster has lost nothing that it was sent.
    """

    epoch: str = ""
    held: dict[tuple[int, int], Any] = field(default_factory=dict)
    nbytes: int = 0


@dataclass(frozen=True)
class Call:
    """The arguments of a call of `function`, in chunks of `lengths` samples.

    `form` has by parameter a Tree with Batched and Shared as leaves; `shared` and `sources` are
    what these stand for. `pieces[i][k]` is the part of source k in chunk i; `sent` is what an
    engine has sent of them, which serves each step that this call is computed in.
    """

    label: str
    function: Transformed
    form: dict[str, Any]
    shared: list
    sources: list[Source]
    lengths: tuple[int, ...]
    pieces: list[tuple[Piece, ...]]
    sent: Sent = field(default_factory=lambda: Sent(), compare=False, repr=False)

    def arguments(self, length: int) -> dict[str, Any]:
        """Arguments of the kind of a chunk of so many samples; those in chunks take no memory."""
        return self._filled(lambda source: _stand_in(source, length))

    def axes(self) -> dict[str, Any]:
        """The arguments with a batch axis, or None, in the place of each leaf."""
        return self._filled(lambda source: source.axis, lambda value: None)

    def _filled(self, batched: Callable, shared: Callable = lambda value: value) -> dict[str, Any]:
        def leaf(each: Batched | Shared) -> Any:
            if isinstance(each, Batched):
                return batched(self.sources[each.index])
            return shared(self.shared[each.index])

        return {name: tree.to_object(tree.tree_map(leaf, each)) for name, each in self.form.items()}

    def loaded(self, length: int) -> Loaded:
        """What is compiled for chunks of this length."""
        bound = self._bound(self.arguments(length))
        return self.function.specialised(bound.args, bound.kwargs)

    def promised(self, index: int) -> list[Promised]:
        """What is said of the parts of a chunk."""
        return [
            Promised(f"chunk {index} of {source.what}", piece.shape, piece.dtype)
            for source, piece in zip(self.sources, self.pieces[index], strict=True)
        ]

    def travelling(self) -> tree.Tree:
        """The form of a call as tasks make it: (positional, by name)."""
        bound = self._bound(self.form)
        positional = tree.tuple_of(bound.args)
        return tree.Tree(
            tuple,
            (0, 1),
            (positional, tree.Tree(dict, tuple(bound.kwargs), tuple(bound.kwargs.values()))),
        )

    def _bound(self, arguments: dict[str, Any]) -> inspect.BoundArguments:
        signature = self.function.__signature__
        spread = {
            name: _top(value) if isinstance(value, tree.Tree) else value
            for name, value in arguments.items()
            if signature.parameters[name].kind in VARIADIC
        }
        return inspect.BoundArguments(signature, {**arguments, **spread})


VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _top(value: tree.Tree) -> Any:
    """The outermost container as Python's, with Trees in it."""
    return tree.build(value.kind, value.keys, list(value.items))


def _stand_in(source: Source, length: int) -> np.ndarray:
    first = source.pieces[0]
    shape = (*first.shape[: source.axis], length, *first.shape[source.axis + 1 :])
    made = np.broadcast_to(np.zeros((), first.dtype), shape)
    return made.view(Tensor) if source.tensor else made


def call_of(
    label: str,
    function: Transformed,
    axes: Vmap,
    args: tuple,
    kwargs: dict[str, Any],
    chunk_size: int | None = None,
) -> Call:
    """The call, once nothing is wrong with its chunks.

    Args:
        axes: `in_axes` as vmap understands them; for a list of chunks it is the axis of each.
        chunk_size: samples in a chunk, where all arguments are arrays.

    Raises:
        ArgumentTypeError, ArgumentValueError: it cannot be computed chunk by chunk.
    """
    bound = function.bind(args, kwargs)
    given = {name: _structure(value) for name, value in bound.arguments.items()}
    facts = {name: _facts(name, each) for name, each in given.items()}
    arguments = Arguments(function.__signature__, facts)
    by_leaf = axes.axes(label, arguments)
    shared: list = []
    sources: list[Source] = []

    def entered(what: str, value: Any, axis: int | None) -> Any:
        if axis is None:
            return tree.from_object(
                value, lambda leaf, path: hold(tree.path_text(what, path), leaf)
            )
        sources.append(source_of(label, what, value, axis))
        return Batched(len(sources) - 1)

    def hold(what: str, value: Any) -> Shared:
        refuse_in_chunks(label, what, value)
        shared.append(value)
        return Shared(len(shared) - 1)

    form = {}
    for name, each in given.items():
        names = iter([tree.path_text(name, path) for path in tree.paths(each)])
        form[name] = tree.tree_map(
            lambda value, axis, names=names: entered(f"argument {next(names)}", value, axis),
            each,
            by_leaf[name],
        )
    axes.check(label, arguments)
    lengths = common_lengths(label, sources, chunk_size)
    cut = [source.cut(lengths) for source in sources]
    return Call(label, function, form, shared, sources, lengths, [*zip(*cut, strict=True)])


def _structure(value: Any) -> Any:
    """The containers of an argument as Trees; but for lists, which may be lists of chunks."""
    if not tree.is_container(value) or type(value) is list:
        return value
    top = tree.one_level(value)
    return tree.Tree(top.kind, top.keys, tuple(map(_structure, top.items)))


def _facts(name: str, given: Any) -> Any:
    """What is known of an argument before its chunks are looked at."""
    names = iter([tree.path_text(name, path) for path in tree.paths(given)])
    return tree.tree_map(lambda leaf: _fact(leaf, next(names)), given)


def _fact(value: Any, name: str) -> values.AbstractValue:
    in_chunks = is_dask_array(value) or isinstance(value, Loader)
    if type(value) is list or in_chunks or hasattr(value, "__dask_graph__"):
        return values.Unknown()
    return exact_leaf(value, name)


def refuse_in_chunks(label: str, what: str, value: Any) -> None:
    """Refuse what comes in chunks where the same value is needed for all of them."""
    if is_dask_array(value) or isinstance(value, Loader):
        raise ArgumentTypeError(
            "S2S501",
            f"{label}: {what} is {type(value).__name__} of shape {value.shape}, and in_axes says "
            "that it is the same for all samples",
            why="parameters go to each worker as a whole, once a step",
            help="compute it before, w = w.compute(), or give it a batch axis in in_axes",
        )
