"""Methods of generators of random numbers, by others of them, as Python and NumPy draw."""

from __future__ import annotations

from math import ceil, log, prod
from typing import Any

import numpy as np

from s2s_ad.written.marks import unsupported


class Python:
    """Those of random.Random."""

    def choice(self, seq: Any) -> Any:
        return seq[self.randrange(len(seq))]

    def shuffle(self, x: Any) -> None:
        for i in range(len(x) - 1, 0, -1):
            j = self.randrange(i + 1)
            x[i], x[j] = x[j], x[i]

    def sample(self, population: Any, k: int) -> list:
        n = len(population)
        if n > 21 + (4 ** ceil(log(k * 3, 4)) if k > 5 else 0):
            raise NotImplementedError("a sample of a few out of a long population")
        pool, result = list(population), []
        for i in range(k):
            j = self.randrange(n - i)
            result.append(pool[j])
            pool[j] = pool[n - i - 1]
        return result


class Numpy:
    """Those of Generator and RandomState alike."""

    def shuffle(self, x: Any) -> None:
        order = self.permutation(len(x))
        x[:] = x[order] if isinstance(x, np.ndarray) else [x[i] for i in order]


class State(Numpy):
    """Those of RandomState."""

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        count = a if np.ndim(a) == 0 else len(a)
        if p is not None:
            if not replace:
                unsupported("choice without replacement and with p", "Draw by permutation.")
            up_to = np.cumsum(np.asarray(p, dtype=float))
            places = np.searchsorted(up_to / up_to[-1], self.random_sample(size), side="right")
        elif replace:
            places = self.randint(0, count, size=size)
        else:
            places = self.permutation(count)
            if size is None:
                places = places[0]
            elif isinstance(size, int):
                places = places[:size]
            else:
                places = np.reshape(places[: prod(size)], size)
        return places if np.ndim(a) == 0 else np.asarray(a)[places]


__all__ = ["Numpy", "Python", "State"]
