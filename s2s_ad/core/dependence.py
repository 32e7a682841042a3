"""Which elements depend on which: sets of numbers, one for each element of an array.

A `Links` says of one operation which elements of an operand an element of its result reads; the
rule of the operation gives it. A `Pattern` says which elements of the input of a whole function an
element of some value depends on; links lead from the pattern of an operand to that of the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Element i of a result reads the elements `sources[starts[i]:starts[i + 1]]` of an operand.

    Without `starts` it reads `sources[i]` alone, or nothing where that is below zero.
    """

    sources: np.ndarray
    starts: np.ndarray | None = None


class Everything:
    """Each element of the result reads all elements of the operand."""


EVERYTHING = Everything()

#: what a rule says of an operand; None where the derivative of the result by it is zero
Dependence = Links | Everything | None


@dataclass(frozen=True, slots=True)
class Use:
    """One operation for operands of known shapes.

    Attributes:
        shapes, shape: the shapes of the operands and of the result.
        params: the parameters; an `Undecided` stands for what the elements of the input decide.
        value: the value of an operand that depends on no element of the input; None of others.
    """

    shapes: Sequence[Shape]
    shape: Shape
    params: dict[str, Any]
    value: Callable[[int], Any] = field(default=lambda position: None)


class Undecided:
    """Stands for a number that is not known before the function runs."""


# ---- the links of operations ---------------------------------------------------------------------


def numbers(shape: Shape) -> np.ndarray:
    """The positions of the elements of an array, in an array of its shape."""
    return np.arange(math.prod(shape)).reshape(shape)


def broadcast(shape: Shape, to: Shape) -> Links:
    """Of an operand that is broadcast."""
    return Links(np.broadcast_to(numbers(shape), to).reshape(-1))


def same_elements(shape: Shape) -> Links:
    """Of an operand whose elements keep their order, whatever becomes of its shape."""
    return Links(np.arange(math.prod(shape)))


def reduced(shape: Shape, axes: Iterable[int]) -> Links:
    """Of an operand that is reduced along some axes, which the result may keep at length one."""
    axes = tuple(axes)
    moved = np.moveaxis(numbers(shape), axes, range(len(shape) - len(axes), len(shape)))
    length = math.prod(shape[axis] for axis in axes)
    return _in_groups(moved.reshape(-1), length, math.prod(shape) // length if length else 0)


def unbroadcast(shape: Shape, to: Shape) -> Links:
    """Of an operand that is summed to a shape that broadcasts to its own."""
    targets = np.broadcast_to(numbers(to), shape).reshape(-1)
    return scattered(targets, math.prod(to))


def scattered(targets: np.ndarray, count: int) -> Links:
    """Of an operand whose element i is added to element `targets[i]` of `count`."""
    order = np.argsort(targets, kind="stable")
    return Links(order, np.searchsorted(targets[order], np.arange(count + 1)))


def along(shape: Shape, to: Shape, axes: Iterable[int]) -> Links:
    """Of an operand that is mixed along some axes, which may have another length in the result."""
    axes = tuple(axes)
    kept = tuple(1 if axis in axes else length for axis, length in enumerate(shape))
    rows = np.broadcast_to(numbers(kept), to).reshape(-1)
    whole = reduced(shape, axes)
    length = math.prod(shape[axis] for axis in axes)
    if length * len(rows) > LARGEST:
        raise TooDense
    members = whole.sources.reshape(-1, length) if length else np.zeros((1, 0), int)
    return _in_groups(members[rows].reshape(-1) if length else members[0], length, len(rows))


def per_sample(shape: Shape, to: Shape, lead: int) -> Dependence:
    """Of an operand whose first axes, so many, number samples that have nothing to do with each
    other."""
    if lead < 1 or shape[:lead] != to[:lead]:
        return EVERYTHING
    samples = (math.prod(shape[:lead]), math.prod(shape[lead:]))
    return along(samples, (samples[0], math.prod(to[lead:])), (1,))


def up_to(shape: Shape, axis: int, *, backwards: bool = False) -> Links:
    """Of an operand whose elements are accumulated along an axis."""
    length = shape[axis]
    if length * math.prod(shape) > LARGEST:
        raise TooDense
    lines = np.moveaxis(numbers(shape), axis, -1).reshape(-1, max(length, 1))
    read = np.tri(lines.shape[1], dtype=bool)
    line, to, source = np.nonzero(
        np.broadcast_to(read.T if backwards else read, (len(lines), *read.shape))
    )
    return from_pairs(lines[line, to], lines[line, source], math.prod(shape))


def from_pairs(targets: np.ndarray, sources: np.ndarray, count: int) -> Links:
    """Element `targets[k]` of `count` reads element `sources[k]`, for each k."""
    order = np.argsort(targets, kind="stable")
    return Links(sources[order], np.searchsorted(targets[order], np.arange(count + 1)))


def _in_groups(sources: np.ndarray, length: int, count: int) -> Links:
    return Links(sources, np.arange(count + 1) * length)


# ---- patterns ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Row i depends on the elements `columns[starts[i]:starts[i + 1]]` of `width`, in order."""

    starts: np.ndarray
    columns: np.ndarray
    width: int

    @classmethod
    def empty(cls, rows: int, width: int) -> Pattern:
        return cls(np.zeros(rows + 1, np.int64), np.zeros(0, np.int64), width)

    @classmethod
    def identity(cls, width: int, first: int = 0, rows: int | None = None) -> Pattern:
        """Rows that are the elements from `first` on."""
        rows = width if rows is None else rows
        return cls(np.arange(rows + 1), np.arange(first, first + rows), width)

    @property
    def rows(self) -> int:
        return len(self.starts) - 1

    def through(self, links: Dependence, rows: int) -> Pattern:
        """The pattern of a result with so many elements, this being that of the operand."""
        if links is None or not len(self.columns):
            return Pattern.empty(rows, self.width)
        if isinstance(links, Everything):
            return self.total().take(np.zeros(rows, np.int64))
        if links.starts is None:
            return self.take(links.sources)
        taken = self.take(links.sources)
        groups = np.repeat(np.arange(rows), np.diff(taken.starts[links.starts]))
        return _of_keys(groups * self.width + taken.columns, rows, self.width)

    def take(self, index: np.ndarray) -> Pattern:
        """The rows at these positions; a position below zero is that of an empty row."""
        counts = np.diff(self.starts)[index]
        if len(index) and index.min() < 0:
            counts[index < 0] = 0
        starts = np.concatenate(([0], np.cumsum(counts)))
        if starts[-1] > LARGEST:
            raise TooDense
        indices = np.arange(starts[-1]) + np.repeat(self.starts[index] - starts[:-1], counts)
        return Pattern(starts, self.columns[indices], self.width)

    def total(self) -> Pattern:
        """One row with what any row depends on."""
        columns = np.unique(self.columns)
        return Pattern(np.array([0, len(columns)]), columns, self.width)

    def keys(self) -> np.ndarray:
        """A number for each row and column that belong together, in order."""
        return np.repeat(np.arange(self.rows), np.diff(self.starts)) * self.width + self.columns

    def is_same(self, other: Pattern) -> bool:
        alike = len(self.columns) == len(other.columns)
        return (
            alike
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.columns, other.columns)
        )


#: entries of a pattern beyond which the Jacobian is no sparse matrix
LARGEST = 100_000_000


class TooDense(Exception):
    """A pattern has more entries than a sparse matrix is made for."""


def union(patterns: Sequence[Pattern], rows: int, width: int) -> Pattern:
    """What each row depends on by any of the patterns."""
    found: list[Pattern] = []
    for each in patterns:
        if len(each.columns) and not any(each is other or each.is_same(other) for other in found):
            found.append(each)
    if len(found) < 2:
        return found[0] if found else Pattern.empty(rows, width)
    return _of_keys(np.concatenate([each.keys() for each in found]), rows, width)


def stacked(patterns: Sequence[Pattern], width: int) -> Pattern:
    """The rows of all patterns, one after the other."""
    counts = [np.diff(each.starts) for each in patterns]
    starts = np.concatenate(([0], np.cumsum(np.concatenate([*counts, np.zeros(0, np.int64)]))))
    columns = np.concatenate([*(each.columns for each in patterns), np.zeros(0, np.int64)])
    return Pattern(starts.astype(np.int64), columns.astype(np.int64), width)


def _of_keys(keys: np.ndarray, rows: int, width: int) -> Pattern:
    """The pattern with these rows and columns, in any order and with repeats."""
    keys = np.unique(keys)
    starts = np.searchsorted(keys, np.arange(rows + 1) * width)
    return Pattern(starts, keys % width, width)


__all__ = [
    "EVERYTHING",
    "Dependence",
    "Everything",
    "Links",
    "Pattern",
    "TooDense",
    "Undecided",
    "Use",
]
