"""Tensor: a NumPy array with MindSpore's default types, text, operators and methods.

Its methods are Python functions over NumPy in the classes `Elementwise`, `Reductions` and
`Structure`, whose source the compiler lowers. The array's own, written in C, are: astype, copy,
cumprod, cumsum, diagonal, fill, ravel, repeat, reshape, swapaxes, tolist and the
attributes T, mT, real, imag, shape, ndim, size, itemsize, nbytes, flat. `EAGER` has those whose
Python is for eager values only, where the compiler does what it does for arrays.

Indexing and reductions give Tensors of no axes, never numbers of NumPy. `np.*` functions keep
NumPy's rules for dtypes and give Tensors where they are given one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError
from s2s_ad.tensors import text
from s2s_ad.tensors.conversion import array_of, filled
from s2s_ad.tensors.dtypes import is_dtype, of_numpy
from s2s_ad.tensors.elementwise import Elementwise
from s2s_ad.tensors.operators import add_operators, wrapped
from s2s_ad.tensors.reductions import Reductions
from s2s_ad.tensors.structure import Structure

_view = np.ndarray.view
_dtype = np.ndarray.dtype.__get__
_getitem = np.ndarray.__getitem__

#: the functions of NumPy that call a function of the user's, which is to see Tensors
CALLING = frozenset((np.apply_along_axis, np.apply_over_axes, np.piecewise))

#: types of the commonest arguments of functions, which are no Tensors
_LEAVES = frozenset((int, float, bool, str, type(None), np.ndarray))

#: methods whose Python the compiler does not lower: it takes those of arrays
EAGER = frozenset(("item",))


class Tensor(Elementwise, Reductions, Structure, np.ndarray):
    """An array: `Tensor([1.0, 2.0])` is of Float32, as in MindSpore; NumPy takes it as its own.

    An array is copied, a Tensor is shared. Numbers and sequences get Float32, Int64, Bool or
    Complex128; arrays keep their dtype.

    Args:
        input_data: an array, a Tensor, a number, or a list or tuple of these.
        dtype: a dtype of this library; by default that of the data.
        shape, init: instead of data: the shape, and what fills it, a number, 'zeros', 'ones' or
            an initializer of `s2s_ad.nn`.

    Raises:
        ArgumentTypeError: the data is not numbers, or the dtype is not one of this library.

    Example:
        >>> Tensor([1.0, 2.0]) * 2
        Tensor(shape=[2], dtype=Float32, value= [ 2.00000000e+00,  4.00000000e+00])
        >>> print(Tensor([[1, 2], [3, 4]]) / 2)
        [[0.5 1. ]
         [1.5 2. ]]
    """

    def __new__(
        cls, input_data: Any = None, dtype: Any = None, shape: Any = None, init: Any = None
    ) -> Tensor:
        if input_data is None and not shape is dtype is init is None:
            return filled("Tensor", shape, dtype, init).view(cls)
        array = array_of("Tensor", input_data, dtype)
        if shape is not None and array.shape != (shape if np.iterable(shape) else (shape,)):
            raise ArgumentValueError(
                "S2S502",
                f"Tensor: argument 'shape' is {shape}; input_data has shape {array.shape}",
                help="leave shape out: it is for Tensors that init fills",
            )
        is_theirs = isinstance(input_data, np.ndarray) and not isinstance(input_data, Tensor)
        if is_theirs and np.may_share_memory(array, input_data):
            array = array.copy()
        return array.view(cls)

    @staticmethod
    def from_numpy(array: np.ndarray) -> Tensor:
        """A Tensor in the memory of an array.

        Raises:
            ArgumentTypeError: it is not an array, or not one of numbers.
        """
        if not isinstance(array, np.ndarray):
            kind = type(array).__name__
            raise ArgumentTypeError("S2S501", f"from_numpy: expected an array, got a {kind}")
        return array_of("from_numpy", array).view(Tensor)

    def asnumpy(self) -> np.ndarray:
        """The array itself, in the same memory."""
        return _view(self, np.ndarray)

    @property
    def dtype(self) -> Any:
        return of_numpy(_dtype(self))

    @property
    def device(self) -> str:
        return "CPU"

    # ---- one element, and items --------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        found = _getitem(self, index)
        return found if isinstance(found, np.ndarray) else wrapped(found, Tensor)

    def item(self, *index: Any) -> Any:
        """The element, or the one at this index, as a number of Python.

        Raises:
            ArgumentValueError: there are several and no index is given.
        """
        if index:
            return np.ndarray.item(self, *index)
        return _single(self, "item")

    def __float__(self) -> float:
        return float(_single(self, "float"))

    def __int__(self) -> int:
        return int(_single(self, "int"))

    def __complex__(self) -> complex:
        return complex(_single(self, "complex"))

    # ---- Tensors of the same dtype -------------------------------------------------------------

    def new_zeros(self, size: Any, dtype: Any = None) -> Tensor:
        return Tensor.from_numpy(np.zeros(size, self.dtype if dtype is None else dtype))

    def new_ones(self, size: Any, dtype: Any = None) -> Tensor:
        return Tensor.from_numpy(np.ones(size, self.dtype if dtype is None else dtype))

    def new_empty(self, size: Any, dtype: Any = None) -> Tensor:
        return Tensor.from_numpy(np.zeros(size, self.dtype if dtype is None else dtype))

    def new_full(self, size: Any, fill_value: Any, dtype: Any = None) -> Tensor:
        return Tensor.from_numpy(np.full(size, fill_value, self.dtype if dtype is None else dtype))

    def new_tensor(self, data: Any, dtype: Any = None) -> Tensor:
        return Tensor(data, self.dtype if dtype is None else dtype)

    # ---- text ----------------------------------------------------------------------------------

    def __str__(self) -> str:
        return text.shown(_view(self, np.ndarray))

    def __repr__(self) -> str:
        return text.represented(_view(self, np.ndarray), self.dtype)

    def __format__(self, form: str) -> str:
        return format(self.item(), form) if form and self.size == 1 else format(str(self), form)

    # ---- functions of NumPy --------------------------------------------------------------------

    def __array_function__(
        self, function: Callable, types: Any, args: tuple, kwargs: dict[str, Any]
    ) -> Any:
        for kind in types:
            if kind is not Tensor and not issubclass(kind, np.ndarray):
                return NotImplemented
        if function in CALLING:
            return _tensors(super().__array_function__(function, types, args, kwargs))
        result = function(*map(_arrays, args), **{k: _arrays(v) for k, v in kwargs.items()})
        return _tensors(result) if kwargs.get("out") is None else kwargs["out"]


add_operators(Tensor)


def tensor(input_data: Any, dtype: Any = None) -> Tensor:
    """`Tensor(input_data, dtype)`."""
    return Tensor(input_data, dtype)


def plain(value: Any) -> Any:
    """The array that a Tensor is, for NumPy alone; anything else as it is."""
    return _view(value, np.ndarray) if isinstance(value, Tensor) else value


def _arrays(value: Any) -> Any:
    """An argument of a function of NumPy, with each Tensor as the array that it is."""
    kind = type(value)
    if kind is Tensor or (kind not in _LEAVES and isinstance(value, Tensor)):
        return _view(value, np.ndarray)
    return kind(map(_arrays, value)) if kind is tuple or kind is list else value


def _tensors(value: Any) -> Any:
    """What a function of NumPy gave, with each numeric array and number of NumPy as a Tensor."""
    if isinstance(value, np.ndarray | np.generic):
        return wrapped(value, Tensor) if is_dtype(of_numpy(value.dtype)) else value
    if isinstance(value, tuple):
        items = map(_tensors, value)
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return list(map(_tensors, value)) if isinstance(value, list) else value


def _single(value: Tensor, api: str) -> Any:
    if value.size == 1:
        return np.ndarray.item(value)
    raise ArgumentValueError(
        "S2S502",
        f"{api}: only one element Tensors can be converted to Python scalars, this one has "
        f"{value.size}",
        help="index it, x[i].item(), or use tolist()",
    )
