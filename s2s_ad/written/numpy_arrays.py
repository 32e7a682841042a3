"""The methods of ndarray for objects of classes that derive from it: they hold an array.

What NumPy's functions do with such an object, and of which class their result is, `array_classes`
says in the frontend. Here stands what Python asks an object for, in terms of these functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def method_of_arrays(name: str, *given: Any) -> Any:
    """The method of ndarray itself, whatever the class of the object says: lowered as that."""
    return getattr(np.ndarray, name)(*given)


def without_overrides(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """What ndarray says in `__array_ufunc__`: lowered as the call that it stands for."""
    return np.ndarray.__array_ufunc__(self, ufunc, method, *inputs, **kwargs)


def implementation(function: Any, args: Any, kwargs: Any) -> Any:
    """What ndarray says in `__array_function__`: lowered as the call that it stands for."""
    return function._implementation(*args, **kwargs)


def mean(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    """What np.mean does with an object whose class wraps sums in its own way."""
    total = np.add.reduce(a, axis=axis, dtype=dtype, keepdims=keepdims)
    count = np.size(a) / np.size(total)
    if isinstance(total, np.ndarray):
        held = np.asarray(total)
        held /= count
        return total
    return total / count


class Elements:
    """What a class has of ndarray."""

    _s2s_held: np.ndarray

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return without_overrides(self, ufunc, method, *inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return implementation(func, args, kwargs)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: Any = False) -> Any:
        return method_of_arrays("__array_wrap__", self, array, context, return_scalar)

    def __array_finalize__(self, obj: Any) -> None:
        pass

    def __len__(self) -> int:
        return len(self._s2s_held)

    def __iter__(self) -> Iterator:
        return method_of_arrays("__iter__", self)

    def __reversed__(self) -> Iterator:
        return reversed([*method_of_arrays("__iter__", self)])

    def __contains__(self, item: Any) -> bool:
        return item in self._s2s_held

    def __bool__(self) -> bool:
        return bool(self._s2s_held)

    def __int__(self) -> int:
        return int(self._s2s_held)

    def __float__(self) -> float:
        return float(self._s2s_held)

    def __complex__(self) -> complex:
        return complex(self._s2s_held)

    def __getitem__(self, index: Any) -> Any:
        return method_of_arrays("__getitem__", self, index)

    def __setitem__(self, index: Any, item: Any) -> None:
        method_of_arrays("__setitem__", self, index, item)

    def __abs__(self) -> Any:
        return np.absolute(self)

    def __neg__(self) -> Any:
        return np.negative(self)

    def __pos__(self) -> Any:
        return np.positive(self)

    def __invert__(self) -> Any:
        return np.invert(self)

    def __eq__(self, other: object) -> Any:
        return np.equal(self, other)

    def __ne__(self, other: object) -> Any:
        return np.not_equal(self, other)

    def __lt__(self, other: Any) -> Any:
        return np.less(self, other)

    def __le__(self, other: Any) -> Any:
        return np.less_equal(self, other)

    def __gt__(self, other: Any) -> Any:
        return np.greater(self, other)

    def __ge__(self, other: Any) -> Any:
        return np.greater_equal(self, other)

    def __add__(self, other: Any) -> Any:
        return np.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return np.add(other, self)

    def __iadd__(self, other: Any) -> Any:
        return np.add(self, other, out=self)

    def __sub__(self, other: Any) -> Any:
        return np.subtract(self, other)

    def __rsub__(self, other: Any) -> Any:
        return np.subtract(other, self)

    def __isub__(self, other: Any) -> Any:
        return np.subtract(self, other, out=self)

    def __mul__(self, other: Any) -> Any:
        return np.multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return np.multiply(other, self)

    def __imul__(self, other: Any) -> Any:
        return np.multiply(self, other, out=self)

    def __truediv__(self, other: Any) -> Any:
        return np.true_divide(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return np.true_divide(other, self)

    def __itruediv__(self, other: Any) -> Any:
        return np.true_divide(self, other, out=self)

    def __floordiv__(self, other: Any) -> Any:
        return np.floor_divide(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return np.floor_divide(other, self)

    def __mod__(self, other: Any) -> Any:
        return np.remainder(self, other)

    def __rmod__(self, other: Any) -> Any:
        return np.remainder(other, self)

    def __pow__(self, other: Any) -> Any:
        return np.power(self, other)

    def __rpow__(self, other: Any) -> Any:
        return np.power(other, self)

    def __ipow__(self, other: Any) -> Any:
        return np.power(self, other, out=self)

    def __matmul__(self, other: Any) -> Any:
        return np.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return np.matmul(other, self)

    def __and__(self, other: Any) -> Any:
        return np.bitwise_and(self, other)

    def __rand__(self, other: Any) -> Any:
        return np.bitwise_and(other, self)

    def __or__(self, other: Any) -> Any:
        return np.bitwise_or(self, other)

    def __ror__(self, other: Any) -> Any:
        return np.bitwise_or(other, self)

    def __xor__(self, other: Any) -> Any:
        return np.bitwise_xor(self, other)

    def __rxor__(self, other: Any) -> Any:
        return np.bitwise_xor(other, self)


__all__ = ["Elements", "implementation", "mean", "method_of_arrays", "without_overrides"]
