"""The names of dtypes, as `s2s_ad.float32`: NumPy takes them wherever it takes a dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

NAMES = ("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NAMES += ("float16", "float32", "float64", "complex64", "complex128")


class DType:
    """A dtype by name. `str` of it is 'Float32'; it equals NumPy's dtype of that name.

    NumPy reads the attribute `dtype`, so it stands wherever NumPy takes a dtype.
    """

    __slots__ = ("dtype", "text")

    def __init__(self, name: str):
        self.dtype = np.dtype(name.rstrip("_"))
        self.text = name.rstrip("_").capitalize().replace("Uint", "UInt")

    def __repr__(self) -> str:
        return self.text

    def __getattr__(self, name: str) -> Any:
        return getattr(self.dtype, name)

    def __eq__(self, other: object) -> Any:
        return self.dtype == (other.dtype if isinstance(other, DType) else other)

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __reduce__(self) -> tuple:
        return of_numpy, (self.dtype,)


DTYPES = {name: DType(name) for name in NAMES}
_BY_NUMPY = {each.dtype: each for each in DTYPES.values()}


def of_numpy(dtype: np.dtype) -> Any:
    """The DType for a dtype of NumPy; NumPy's own where there is none."""
    return _BY_NUMPY.get(dtype, dtype)


def dtype_of(value: Any) -> np.dtype:
    """NumPy's dtype for a DType, or for anything that NumPy takes for a dtype."""
    return value.dtype if isinstance(value, DType) else np.dtype(value)
