"""The names of dtypes, as `s2s_ad.float32`: NumPy takes them wherever it takes a dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

NAMES = ("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NAMES += ("float16", "float32", "float64", "complex64", "complex128")


class _OfNumpy(type):
    """The class of a DType has what the class of NumPy's dtype has: NumPy looks there."""

    numpy_class: type

    def __getattr__(cls, name: str) -> Any:
        if name == "numpy_class":
            raise AttributeError(name)
        return getattr(cls.numpy_class, name)


class DType(metaclass=_OfNumpy):
    """A dtype by name. `str` of it is 'Float32'; it equals NumPy's dtype of that name.

    NumPy reads the attribute `dtype`, so it stands wherever NumPy takes a dtype; to Python code it
    is one.
    """

    __slots__ = ("dtype", "text")

    def __new__(cls, name: str) -> DType:
        dtype = np.dtype(name.rstrip("_"))
        own = _OfNumpy(cls.__name__, (cls,), {"__slots__": (), "numpy_class": type(dtype)})
        self = object.__new__(own)
        self.dtype = dtype
        self.text = name.rstrip("_").capitalize().replace("Uint", "UInt")
        return self

    @property
    def __class__(self) -> type:
        return type(self.dtype)

    def __repr__(self) -> str:
        return self.text

    def __getattr__(self, name: str) -> Any:
        return getattr(self.dtype, name)

    def __eq__(self, other: object) -> Any:
        return self.dtype == plain_dtype(other)

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __reduce__(self) -> tuple:
        return of_numpy, (self.dtype,)


DTYPES = {name: DType(name) for name in NAMES}
_BY_NUMPY = {each.dtype: each for each in DTYPES.values()}


def is_dtype(value: Any) -> bool:
    """Whether it is a DType (`isinstance` says that one is a dtype of NumPy's, too)."""
    return issubclass(type(value), DType)


def plain_dtype(value: Any) -> Any:
    """NumPy's own dtype for a DType; anything else as it is."""
    return value.dtype if is_dtype(value) else value


def of_numpy(dtype: np.dtype) -> Any:
    """The DType for a dtype of NumPy; NumPy's own where there is none."""
    return _BY_NUMPY.get(dtype, dtype)


def dtype_of(value: Any) -> np.dtype:
    """NumPy's dtype for a DType, or for anything that NumPy takes for a dtype."""
    return np.dtype(plain_dtype(value))
