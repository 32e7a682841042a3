"""Tensors from shapes and numbers. Without a dtype, numbers are float32 and ints int64."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.ops.arguments import array, axis_of, count_of, indices_of
from s2s_ad.tensors import Tensor


def ones(shape: Any, dtype: Any = None) -> Tensor:
    """A Tensor of ones of this shape (an int or a tuple), float32 without a dtype.

    Example:
        >>> ones((1, 2)).tolist()
        [[1.0, 1.0]]
    """
    return Tensor.from_numpy(np.ones(shape, np.float32 if dtype is None else dtype))


def zeros(size: Any, dtype: Any = None) -> Tensor:
    """A Tensor of zeros of this shape (an int or a tuple), float32 without a dtype."""
    return Tensor.from_numpy(np.zeros(size, np.float32 if dtype is None else dtype))


def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """A Tensor of one number; without a dtype of that which a Tensor of the number has.

    Example:
        >>> full((2,), 1.5).tolist()
        [1.5, 1.5]
    """
    return Tensor.from_numpy(np.full(size, fill_value, default_dtype(fill_value, dtype)))


def default_dtype(value: Any, dtype: Any) -> Any:
    """`dtype`, or the dtype of a Tensor that is made of `value`."""
    if dtype is not None:
        return dtype
    if isinstance(value, bool):
        return np.bool_
    if isinstance(value, int):
        return np.int64
    if isinstance(value, float):
        return np.float32
    if isinstance(value, complex):
        return np.complex128
    return array("full", value, "fill_value").dtype


def ones_like(input: Any, *, dtype: Any = None) -> Tensor:
    """Ones in the shape of `input`, of its dtype unless another is given."""
    return np.ones_like(array("ones_like", input), dtype=dtype)


def zeros_like(input: Any, *, dtype: Any = None) -> Tensor:
    """Zeros in the shape of `input`, of its dtype unless another is given."""
    return np.zeros_like(array("zeros_like", input), dtype=dtype)


def full_like(input: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """One number in the shape of `input`, of its dtype unless another is given."""
    like = array("full_like", input) if dtype is None else input.astype(dtype)
    return np.full_like(like, fill_value)


def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """The numbers from start up to end, not including it; with one argument from 0.

    Example:
        >>> arange(3).tolist()
        [0, 1, 2]
    """
    first, last = (0, start) if end is None else (start, end)
    return Tensor.from_numpy(np.arange(first, last, step, _range_dtype(first, last, step, dtype)))


def _range_dtype(first: Any, last: Any, step: Any, dtype: Any) -> Any:
    if dtype is not None:
        return dtype
    integers = isinstance(first, int) and isinstance(last, int) and isinstance(step, int)
    return np.int64 if integers else np.float32


def linspace(start: Any, end: Any, steps: int) -> Tensor:
    """`steps` float32 numbers from start to end, both included.

    Example:
        >>> linspace(0, 1, 3).tolist()
        [0.0, 0.5, 1.0]
    """
    return Tensor.from_numpy(np.linspace(start, end, steps, dtype=np.float32))


def logspace(start: Any, end: Any, steps: int, base: Any = 10, *, dtype: Any = None) -> Tensor:
    """base ** linspace(start, end, steps)."""
    kind = np.float32 if dtype is None else dtype
    return Tensor.from_numpy(np.logspace(start, end, steps, base=base, dtype=kind))


def eye(n: int, m: int | None = None, dtype: Any = None) -> Tensor:
    """A matrix of n rows and m columns (n without m), 1 on the diagonal and 0 elsewhere."""
    return Tensor.from_numpy(np.eye(n, m, dtype=np.float32 if dtype is None else dtype))


def one_hot(indices: Any, depth: int, on_value: Any = 1, off_value: Any = 0, axis: int = -1) -> Any:
    """on_value at the place that each index says, off_value elsewhere.

    Args:
        indices: integers of any shape; one outside [0, depth) gives off_value everywhere.
        depth: the length of the axis that is put in at `axis`.

    Example:
        >>> one_hot(Tensor([0, 2]), 3).tolist()
        [[1, 0, 0], [0, 0, 1]]
    """
    rank = np.ndim(indices_of("one_hot", indices))
    count_of("one_hot", depth, "depth")
    place = axis_of("one_hot", axis, rank + 1) % (rank + 1)
    places = np.arange(depth).reshape((depth,) + (1,) * (rank - place))
    kind = default_dtype(on_value, None)
    hot = np.expand_dims(indices, place) == places
    return np.where(hot, as_number(on_value, kind), as_number(off_value, kind))


def as_number(value: Any, dtype: Any) -> Any:
    """A number or 0-d array as one of this dtype."""
    return np.asarray(value, dtype)


def scalar_to_tensor(input_x: Any, dtype: Any = None) -> Tensor:
    """A 0-d Tensor of a number, float32 unless told otherwise."""
    return Tensor.from_numpy(np.asarray(input_x, np.float32 if dtype is None else dtype))


range = arange
