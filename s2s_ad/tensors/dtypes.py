"""The names of dtypes, as `s2s_ad.float32`: NumPy takes them wherever it takes a dtype."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentTypeError, S2SError

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

    Example:
        >>> import numpy as np, s2s_ad
        >>> print(s2s_ad.float32, s2s_ad.float32 == np.float32, np.zeros(2, s2s_ad.int8).dtype)
        Float32 True int8
    """

    __slots__ = ("dtype", "text")

    def __new__(cls, dtype: np.dtype) -> DType:
        own = _OfNumpy(cls.__name__, (cls,), {"__slots__": (), "numpy_class": type(dtype)})
        self = object.__new__(own)
        self.dtype = dtype
        self.text = dtype.name.capitalize().replace("Uint", "UInt").replace("Bf", "BF")
        return self

    @property
    def __class__(self) -> type:
        return type(self.dtype)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"s2s_ad.{self.dtype.name}" + "_" * (self.dtype == bool)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.dtype, name)

    def __eq__(self, other: object) -> Any:
        return self.dtype == plain_dtype(other)

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __reduce__(self) -> tuple:
        return of_numpy, (self.dtype,)


DTYPES = {name: DType(np.dtype(name.rstrip("_"))) for name in NAMES}
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


def dtype_argument(api: str, value: Any) -> np.dtype:
    """The dtype that the argument `dtype` names: one of this library, or NumPy's object of one.

    Raises:
        ArgumentTypeError: a string, or a type of Python or NumPy.
    """
    if is_dtype(value):
        return value.dtype
    if isinstance(value, np.dtype) and value in _BY_NUMPY:
        return value
    raise ArgumentTypeError(
        "S2S501",
        f"{api}: argument 'dtype' got {value!r}; expected a dtype of this library",
        help=_advice(value),
    )


def _advice(value: Any) -> str:
    try:
        found = _BY_NUMPY[np.dtype(value)]
    except (TypeError, KeyError):
        return "one of " + ", ".join(map(repr, DTYPES.values()))
    return f"write {found!r}"


def bfloat16() -> DType:
    """The dtype `s2s_ad.bfloat16`, which NumPy has from the library ml_dtypes.

    Raises:
        S2SError: ml_dtypes is not installed.
    """
    try:
        library = importlib.import_module("ml_dtypes")
    except ImportError:
        raise S2SError(
            "S2S501",
            "NumPy has no bfloat16 of its own",
            help="install the library that adds it: pip install ml_dtypes",
        ) from None
    dtype = np.dtype(library.bfloat16)
    return _BY_NUMPY.setdefault(dtype, DType(dtype))
