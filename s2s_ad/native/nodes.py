"""What a name of Core is in loop text: a value of which any element can be written down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import gast
import numpy as np

from s2s_ad.core.sizes import Size
from s2s_ad.core.values import Dim
from s2s_ad.native.spelling import Expression, element, name, number

Index = tuple[Expression, ...]


class NotNative(Exception):
    """Something has no native form; the text for NumPy serves the call."""


@dataclass(frozen=True, slots=True)
class Length:
    """The length of an axis: as text, and as what is known of it."""

    text: Expression
    dim: int | Dim


@dataclass(frozen=True, slots=True)
class Node:
    """A value of which any element can be written down.

    Attributes:
        at: the text of the element at an index, one expression for each axis.
        reads: the variables that this text reads.
        cost: of computing an element, in additions; 0: it is there.
        whole: the text of the value itself, where memory holds it.
        is_view: memory holds its elements, though perhaps no array has them alone.
        is_python: a Python number, with the errors of Python's arithmetic.
        constant: what each element is, where that is known.
        kept: the name of the array that has it, C-contiguous and alone, where there is one.
        is_contiguous: `whole` is rows of such an array that stand one behind the other.
    """

    dtype: np.dtype
    shape: tuple[Length, ...]
    at: Callable[[Index], Expression] = field(repr=False)
    reads: frozenset[str] = frozenset()
    cost: int = 0
    whole: Callable[[], Expression] | None = None
    is_view: bool = False
    is_python: bool = False
    constant: float | None = None
    kept: str = ""
    is_contiguous: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)


def variable(text: str, dtype: np.dtype, *, is_python: bool = False) -> Node:
    """A number that has a name."""
    reads = frozenset({text})
    return Node(
        dtype, (), lambda _: name(text), reads, whole=lambda: name(text), is_python=is_python
    )


def array(text: str, dtype: np.dtype, shape: tuple[Length, ...], *, own: bool = False) -> Node:
    """An array that has a name; `own`: it was allocated here."""
    return Node(
        dtype,
        shape,
        lambda index: element(name(text), index),
        frozenset({text}),
        whole=lambda: name(text),
        is_view=True,
        kept=text if own else "",
    )


def constant(value: object, dtype: np.dtype, shape: tuple[Length, ...], text: Expression) -> Node:
    """One number at each index."""
    return Node(dtype, shape, lambda _: text, constant=value)


@dataclass(frozen=True, slots=True)
class ListNode:
    """A list that grows: its name, and what an item is.

    Attributes:
        count: of a stack, whose items an array holds side by side: how many there are.
        is_exact: the array has room for all that will come.
    """

    text: str
    item: object
    count: str = ""
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class RowNode:
    """A tuple of numbers, an item of a list which is given: a record, of which each is a field."""

    text: str


@dataclass(frozen=True, slots=True)
class SavedNode:
    """What a forward pass saves, as one value."""

    text: str


def constant_of(value: float, dtype: np.dtype, shape: tuple[Length, ...]) -> Node:
    """A number of a dtype, at each index of a shape."""
    text = number(dtype.type(value).item())
    if dtype.name not in ("bool", "int64", "float64", "complex128"):
        text = gast.Call(name("np." + dtype.name), [text], [])
    return constant(value, dtype, shape, text)


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number among parameters, and the size that it is, where that is known."""

    node: Node
    size: Size | None
