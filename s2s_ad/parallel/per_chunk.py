"""Results that stay where chunks were computed until they are reduced: `reduce=None`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s_ad.parallel.engines import Engine
from s2s_ad.parallel.tasks import ADDED, fresh_token, picked
from s2s_ad.parallel.trees import tree_of

Graph = tuple[dict, list[str]]


class Held:
    """The results of chunks, on the workers that computed them.

    Args:
        chunks: sends what is needed, and gives the tasks of all chunks with their keys.
        count: how many chunks there are.
    """

    def __init__(self, engine: Engine, chunks: Callable[[], Graph], count: int):
        self.engine, self.chunks, self.count = engine, chunks, count
        self._results: list | None = None
        engine.tried(self._computed)

    def _computed(self) -> list:
        """What stands for the results in a graph; what is lost is computed again."""
        if self._results is None:
            self._results = self.engine.kept(*self.chunks())
        return self._results

    def each(self, index: int) -> list:
        """One leaf of the results, chunk by chunk."""
        return [leaf for (leaf,) in self._run(lambda keys: ({}, keys), [index])]

    def summed(self, indices: Sequence[int]) -> list:
        """Some leaves of the results, added over the chunks."""
        fates = " ".join([ADDED] * len(indices))
        return self._run(lambda keys: tree_of(keys, fates), indices)[0]

    def _run(self, then: Callable[[list[str]], Graph], indices: Sequence[int]) -> list:
        """The results of what `then` makes of the chosen leaves of each chunk."""

        def attempt() -> list:
            results = self._computed()
            token = fresh_token()
            keys = [f"s2s-leaves-{token}-{i}" for i in range(self.count)]
            pairs = zip(keys, results, strict=True)
            graph = {key: (picked, result, indices) for key, result in pairs}
            more, last = then(keys)
            try:
                return self.engine.run({**graph, **more}, last)
            except Exception:
                self._results = None  # it may be lost: the next attempt computes it again
                raise

        return self.engine.tried(attempt)


class PerChunk:
    """One value for each chunk, as each device has one in MindSpore.

    `nn.DistributedGradReducer` adds such gradients; `values()` brings them here.
    """

    def __init__(self, held: Held, index: int):
        self._held, self._index = held, index

    @property
    def count(self) -> int:
        """How many chunks there are."""
        return self._held.count

    def values(self) -> list[np.ndarray]:
        """The value of each chunk, in their order."""
        return self._held.each(self._index)

    @staticmethod
    def __s2s_all_reduce__(parts: Sequence[PerChunk], factor: float | None) -> list[Any]:
        """The sums of these over their chunks, times `factor`: one pass for all of them."""
        totals: dict[int, Any] = {}
        for held in {id(each._held): each._held for each in parts}.values():
            mine = [each for each in parts if each._held is held]
            for each, total in zip(mine, held.summed([e._index for e in mine]), strict=True):
                totals[id(each)] = total if factor is None else total * factor
        return [totals[id(each)] for each in parts]

    def __repr__(self) -> str:
        return f"PerChunk({self.count} chunks)"
