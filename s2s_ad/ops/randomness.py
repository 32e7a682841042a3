"""Random numbers: all from NumPy's state, which `set_seed` starts; float32 unless told otherwise.

Inside `vmap` a draw is made once, and all samples share it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.ops.arguments import array, probability
from s2s_ad.tensors import Tensor


def set_seed(seed: int) -> None:
    """Start the random numbers of this package, and of np.random, at `seed`."""
    np.random.seed(seed)


def unseeded(api: str, seed: Any) -> None:
    """A seed for one call alone is refused: all draws are from one state."""
    if seed is not None:
        raise ArgumentValueError(
            "S2S502",
            f"{api}: argument 'seed' is {seed!r}; expected None",
            help="call set_seed(seed) before the draw",
        )


def rand(*size: Any, dtype: Any = None, seed: Any = None) -> Tensor:
    """Numbers evenly from [0, 1), in a shape given as ints or a tuple.

    Example:
        >>> rand(2, 3).shape
        (2, 3)
    """
    unseeded("rand", seed)
    return drawn(np.random.random(of_sizes(size)), dtype)


def randn(*size: Any, dtype: Any = None, seed: Any = None) -> Tensor:
    """Normal numbers of mean 0 and variance 1, in a shape given as ints or a tuple."""
    unseeded("randn", seed)
    return drawn(np.random.standard_normal(of_sizes(size)), dtype)


def of_sizes(size: tuple) -> tuple:
    """A shape that is given as ints or as one tuple or list."""
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], tuple | list) else size


def drawn(numbers: Any, dtype: Any) -> Any:
    """Random numbers as a Tensor, of float32 without a dtype."""
    return Tensor.from_numpy(np.asarray(numbers, np.float32 if dtype is None else dtype))


def standard_normal(shape: Any, seed: Any = None) -> Tensor:
    """Normal numbers of mean 0 and variance 1."""
    unseeded("standard_normal", seed)
    return drawn(np.random.standard_normal(shape), None)


def normal(shape: Any, mean: Any, stddev: Any, seed: Any = None) -> Tensor:
    """Normal numbers of a mean and a standard deviation."""
    return mean + stddev * standard_normal(shape, seed)


def uniform(shape: Any, minval: Any, maxval: Any, seed: Any = None, dtype: Any = None) -> Tensor:
    """Numbers evenly from [minval, maxval)."""
    unseeded("uniform", seed)
    return minval + (maxval - minval) * drawn(np.random.random(shape), dtype)


def randint(low: int, high: int, size: Any, seed: Any = None, *, dtype: Any = None) -> Tensor:
    """Integers evenly from low up to high, not including it."""
    unseeded("randint", seed)
    return drawn(np.random.randint(low, high, size), np.int64 if dtype is None else dtype)


def randperm(n: int, seed: Any = None, offset: int = 0, dtype: Any = None) -> Tensor:
    """The integers from 0 up to n, not including it, in a random order."""
    unseeded("randperm", seed)
    return drawn(np.argsort(np.random.random(n)), np.int64 if dtype is None else dtype)


def rand_like(input: Any, seed: Any = None, *, dtype: Any = None) -> Tensor:
    """Numbers evenly from [0, 1) in the shape and dtype of `input`."""
    unseeded("rand_like", seed)
    kind = array("rand_like", input).dtype if dtype is None else dtype
    return drawn(np.random.random(np.shape(input)), kind)


def randn_like(input: Any, seed: Any = None, *, dtype: Any = None) -> Tensor:
    """Normal numbers of mean 0 and variance 1 in the shape and dtype of `input`."""
    unseeded("randn_like", seed)
    kind = array("randn_like", input).dtype if dtype is None else dtype
    return drawn(np.random.standard_normal(np.shape(input)), kind)


def bernoulli(input: Any, p: Any = 0.5, seed: Any = None) -> Tensor:
    """1 with probability p and 0 otherwise, in the shape and dtype of `input`."""
    unseeded("bernoulli", seed)
    return (np.random.random(np.shape(array("bernoulli", input))) < p).astype(input.dtype)


def dropout(input: Any, p: float = 0.5, training: bool = True, seed: Any = None) -> Tensor:
    """Each element 0 with probability p, the others divided by 1 - p; `input` unless training.

    Raises:
        ArgumentValueError: p is not in [0, 1], or a seed is given.
    """
    unseeded("dropout", seed)
    probability("dropout", p)
    array("dropout", input)
    if not training or p == 0:
        return input
    kept = np.random.random(np.shape(input)) >= p
    return np.where(kept, input / (1 - p), 0) if p < 1 else np.zeros_like(input)
