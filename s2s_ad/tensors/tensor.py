"""Tensor: a NumPy array with MindSpore's default types, text, operators and methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.tensors.dtypes import dtype_of, of_numpy

#: the dtype that data without a dtype of its own gets, by the kind that NumPy finds
DEFAULTS = {"f": np.dtype(np.float32), "i": np.dtype(np.int64)}


class Tensor(np.ndarray):
    """An array: `Tensor([1.0, 2.0])` is of float32, as in MindSpore; NumPy takes it as its own.

    Example:
        >>> Tensor([1.0, 2.0]) * 2
        Tensor(shape=[2], dtype=Float32, value= [ 2.00000000e+00,  4.00000000e+00])
    """

    __slots__ = ()

    def __new__(cls, input_data: Any, dtype: Any = None) -> Tensor:
        if isinstance(input_data, np.ndarray | np.generic):
            data = np.asarray(input_data)
            shares = isinstance(input_data, Tensor)
        else:
            data = np.asarray(input_data)
            data, shares = data.astype(DEFAULTS.get(data.dtype.kind, data.dtype)), True
        if dtype is not None:
            data = data.astype(dtype_of(dtype), copy=False)
        return (data if shares else data.copy()).view(Tensor)

    @staticmethod
    def from_numpy(array: np.ndarray) -> Tensor:
        """A Tensor in the memory of an array."""
        return np.asarray(array).view(Tensor)

    def asnumpy(self) -> np.ndarray:
        """The array itself, in the same memory."""
        return self.view(np.ndarray)

    @property
    def dtype(self) -> Any:
        return of_numpy(np.ndarray.dtype.__get__(self))


def tensor(input_data: Any, dtype: Any = None) -> Tensor:
    """`Tensor(input_data, dtype)`."""
    return Tensor(input_data, dtype)


def plain(value: Any) -> Any:
    """The array that a Tensor is, for NumPy alone; anything else as it is."""
    return value.view(np.ndarray) if isinstance(value, Tensor) else value
