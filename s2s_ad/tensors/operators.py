"""Operators of Tensors: NumPy's, on operands of the dtype that `promotion` says.

They are computed on plain arrays and the result is viewed as a Tensor, which is quicker than to
have NumPy look for what the subclass overrides. The compiler lowers operators by itself.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.tensors.conversion import array_of
from s2s_ad.tensors.promotion import operand_dtype

_view = np.ndarray.view
_dtype = np.ndarray.dtype.__get__
#: beside themselves and numbers, these are never cast
_INEXACT = frozenset(map(np.dtype, ("float16", "float32", "float64", "complex64", "complex128")))

NUMBERS = frozenset((float, int, bool, complex))
ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
BITWISE = ("and_", "or_", "xor", "lshift", "rshift")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def add_operators(tensor: type) -> type:
    """Give a subclass of arrays its operators, whose results are of that class."""
    for name in ARITHMETIC + BITWISE + COMPARISONS:
        function = getattr(operator, name)
        plain = name.rstrip("_")
        setattr(tensor, f"__{plain}__", _forward(function, tensor))
        if name in COMPARISONS:
            continue
        setattr(tensor, f"__r{plain}__", _reflected(function, tensor))
        setattr(tensor, f"__i{plain}__", _in_place(function, tensor))
    tensor.__divmod__ = lambda self, other: (self // other, self % other)
    tensor.__rdivmod__ = lambda self, other: (other // self, other % self)
    tensor.__hash__ = object.__hash__
    return tensor


def wrapped(value: Any, tensor: type) -> Any:
    """A result as a Tensor, where it is an array or a number of NumPy."""
    if type(value) is np.ndarray:
        return value.view(tensor)
    return np.asarray(value).view(tensor) if isinstance(value, np.generic) else value


def _forward(function: Callable, tensor: type) -> Callable:
    name = function.__name__

    def method(self, other):
        kind, dtype = type(other), _dtype(self)
        if dtype in _INEXACT and kind in NUMBERS:
            result = function(_view(self, np.ndarray), other)
        elif dtype in _INEXACT and kind is tensor and _dtype(other) is dtype:
            result = function(_view(self, np.ndarray), _view(other, np.ndarray))
        else:
            result = function(*_operands(name, self, other, tensor))
        return result.view(tensor) if type(result) is np.ndarray else wrapped(result, tensor)

    return _named(method, name)


def _reflected(function: Callable, tensor: type) -> Callable:
    name = function.__name__

    def method(self, other):
        right, left = _operands(name, self, other, tensor)
        return wrapped(function(left, right), tensor)

    return _named(method, "r" + name)


def _in_place(function: Callable, tensor: type) -> Callable:
    """The dtype stays: NumPy refuses what would have to become another."""
    name = function.__name__
    update = getattr(operator, "i" + name.rstrip("_"))

    def method(self, other):
        _, right = _operands(name, self, other, tensor)
        update(_view(self, np.ndarray), right)
        return self

    return _named(method, "i" + name)


def _named(method: Callable, name: str) -> Callable:
    method.__name__ = f"__{name.rstrip('_')}__"
    method.__qualname__ = f"Tensor.{method.__name__}"
    return method


def _operands(name: str, left: np.ndarray, right: Any, tensor: type) -> tuple[Any, Any]:
    """The operands as plain arrays of the dtype that is computed in; numbers stay as they are."""
    left, kind = _view(left, np.ndarray), type(right)
    if kind in NUMBERS:
        if left.dtype.kind == "V":  # bfloat16, beside which NumPy does not take numbers for weak
            return left, left.dtype.type(right)
        common = operand_dtype(name, left.dtype, kind)
        return (left if common is None else left.astype(common)), right
    if isinstance(right, tensor):
        right = _view(right, np.ndarray)
    elif isinstance(right, list | tuple):
        right = array_of("Tensor", right)
    elif kind is not np.ndarray and not isinstance(right, np.generic):
        return left, right
    common = operand_dtype(name, left.dtype, right.dtype)
    if common is None:
        return left, right
    return left.astype(common, copy=False), right.astype(common, copy=False)
