"""Abstract values: what is known of a name when code is generated, and the algebra of shapes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2s_ad.core import tree as trees
from s2s_ad.diagnostics import ArgumentTypeError

ARRAY_TYPES: set[type] = {np.ndarray, np.memmap}

_fresh = itertools.count()


@dataclass(frozen=True, slots=True)
class Dim:
    """A length known by symbol: `base` less `drop` elements (never below 0).

    Two Dims with the same base and drop are the same length. `maybe_one` is False where the
    length is known not to be 1, which is all that broadcasting has to know.
    """

    base: int
    drop: int = 0
    maybe_one: bool = False

    def less(self, count: int) -> Dim:
        return self if count == 0 else Dim(self.base, self.drop + count, True)


def fresh_dim(maybe_one: bool = True) -> Dim:
    return Dim(next(_fresh), 0, maybe_one)


Shape = tuple[int | Dim, ...]


@dataclass(frozen=True, slots=True)
class Array:
    """An array or NumPy scalar; dtype or shape is None where it is not known."""

    dtype: np.dtype | None
    shape: Shape | None

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A Python number: bool, int, float or complex. Its dtype is weak, as in NumPy 2."""

    kind: type
    shape = ()
    rank = 0


@dataclass(frozen=True, slots=True)
class Static:
    """An object that is part of the signature: a string, None, a dtype, a function."""

    value: Any


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything at all; `inexact` where it holds floating-point numbers.

    Values of the same `form` have the same shape, whatever it turns out to be.
    """

    inexact: bool = False
    form: int | None = None


AbstractValue = Array | Scalar | Static | Unknown

PYTHON_NUMBERS = (bool, int, float, complex)


def of_object(value: Any, name: str = "value") -> Any:
    """The abstract value of an object; containers give a Tree of abstract values.

    Example:
        >>> of_object(2.0), of_object(True)
        (Scalar(kind=<class 'float'>), Static(value=True))
    """
    return trees.from_object(value, lambda leaf, path: of_leaf(leaf, trees.path_text(name, path)))


def of_leaf(value: Any, name: str = "value") -> AbstractValue:
    kind = type(value)
    if kind in ARRAY_TYPES or isinstance(value, np.generic):
        if value.dtype.kind not in "biufc":
            raise ArgumentTypeError(
                "S2S501",
                f"argument {name} has dtype {value.dtype}",
                why="only boolean, integer, floating-point and complex arrays can be compiled",
            )
        return Array(value.dtype, tuple(1 if n == 1 else fresh_dim(False) for n in value.shape))
    if kind in (int, float, complex):
        return Scalar(kind)
    if isinstance(value, np.ndarray):
        raise ArgumentTypeError(
            "S2S501",
            f"argument {name} is a {kind.__module__}.{kind.__qualname__}",
            why="subclasses of ndarray may give operations another meaning",
            help="pass np.asarray(...) of it",
        )
    return Static(value)


def of_constant(value: Any) -> AbstractValue:
    """The abstract value of an object that stands in the code itself."""
    if type(value) in PYTHON_NUMBERS:
        return Scalar(type(value))
    return of_leaf(value) if isinstance(value, np.generic) else Static(value)


def unknown(inexact: bool = False) -> Unknown:
    """An Unknown of a form of its own."""
    return Unknown(inexact, next(_fresh))


def same_form(a: Any, b: Any) -> bool:
    """Whether two values of unknown shape are certain to have the same."""
    both = isinstance(a, Unknown) and isinstance(b, Unknown)
    return both and a.form is not None and a.form == b.form


def shape_of(value: Any) -> Shape | None:
    return getattr(value, "shape", None)


def rank_of(value: Any) -> int | None:
    shape = shape_of(value)
    return None if shape is None else len(shape)


def is_inexact(value: Any) -> bool | None:
    """Whether the value holds floating-point or complex numbers; None where it is not known."""
    if isinstance(value, Scalar):
        return value.kind in (float, complex)
    if isinstance(value, Array) and value.dtype is not None:
        return value.dtype.kind in "fc"
    if isinstance(value, Static):
        return False
    return True if isinstance(value, Unknown) and value.inexact else None


def dtype_argument(value: Any) -> Any:
    """What NumPy's promotion takes for the value: a dtype, or a Python type (weak)."""
    if isinstance(value, Scalar):
        return np.dtype(bool) if value.kind is bool else value.kind
    return getattr(value, "dtype", None)


def strong_dtype(value: Any) -> np.dtype | None:
    """The dtype that np.asarray gives the value."""
    if isinstance(value, Scalar):
        return np.dtype(value.kind)
    return getattr(value, "dtype", None)


def missing(items: Iterable[Any]) -> bool:
    """Whether one of the items is None (NumPy's float64 dtype claims to equal None)."""
    return any(each is None for each in items)


def is_dtype(dtype: np.dtype | None, other: Any) -> bool:
    """Whether a dtype is known to be `other`."""
    return dtype is not None and dtype == np.dtype(other)


# ---- shapes ------------------------------------------------------------------------------------


def known_not_one(dim: int | Dim) -> bool:
    return dim != 1 if isinstance(dim, int) else not dim.maybe_one


def broadcast_dims(a: int | Dim, b: int | Dim) -> int | Dim:
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if known_not_one(a) and known_not_one(b):  # equal, or NumPy raises
        return a if isinstance(a, int) else b
    if known_not_one(a):
        return a
    return b if known_not_one(b) else fresh_dim()


def broadcast(shapes: Iterable[Shape | None]) -> Shape | None:
    """The shape that NumPy broadcasts the shapes to; None where one of them is not known."""
    result: Shape = ()
    for shape in shapes:
        if shape is None:
            return None
        rank = max(len(result), len(shape))
        left, right = (1,) * (rank - len(result)) + result, (1,) * (rank - len(shape)) + shape
        result = tuple(map(broadcast_dims, left, right))
    return result


def same_dim(a: int | Dim, b: int | Dim) -> bool:
    """Whether the two lengths are certain to be equal, given that they broadcast together.

    Of lengths that need not broadcast (the two axes of a matrix, say) it says nothing: use ==.
    """
    return a == b or (known_not_one(a) and known_not_one(b))


def same_shape(a: Shape | None, b: Shape | None) -> bool:
    """Whether the shapes are certain to be equal, given that they broadcast together."""
    return a is not None and b is not None and len(a) == len(b) and all(map(same_dim, a, b))


def with_shape(value: Any, shape: Shape | None) -> Array:
    return Array(strong_dtype(value), shape)


def add_axis(value: Any, axis: int, dim: int | Dim) -> Any:
    """The abstract value of a batch of `value`: one more dimension, before `axis`."""
    if isinstance(value, Unknown):
        return value
    shape = shape_of(value)
    if shape is None:
        return with_shape(value, None)
    return with_shape(value, (*shape[:axis], dim, *shape[axis:]))


def as_inexact(value: Any) -> Any:
    return replace(value, inexact=True) if isinstance(value, Unknown) else value
