"""What is known of the values of a run of Core: shapes, some values, and who depends on whom."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2s_ad.core import sizes, values
from s2s_ad.core.dependence import Pattern, union
from s2s_ad.core.values import UNDEFINED
from s2s_ad.diagnostics import UnsupportedError


class Unknown:
    """Stands for a value that only the run tells."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()
NONE: frozenset = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """An array or number of the run.

    Attributes:
        fact: its abstract value, whose lengths are numbers.
        known: the value itself where no element of the input decides it; else UNKNOWN.
        pattern: which elements of the input each of its elements depends on; None: on none.
        sources: what was read to know it: arguments, and captured objects.
    """

    fact: Any
    known: Any = UNKNOWN
    pattern: Pattern | None = None
    sources: frozenset = NONE

    @property
    def is_known(self) -> bool:
        return self.known is not UNKNOWN

    @property
    def shape(self) -> tuple[int, ...]:
        return values.shape_of(self.fact) or ()

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def known(value: Any, sources: frozenset = NONE) -> Any:
    """A value that is known; of a list, or a tuple, its items."""
    if isinstance(value, tuple | list):
        items = [known(each, sources) for each in value]
        return items if isinstance(value, list) else tuple(items)
    return Value(_fact(value), value, None, sources)


def _fact(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return values.Array(value.dtype, value.shape)
    if type(value) is int:
        return values.Scalar(int, sizes.of(value))
    if type(value) in (bool, float, complex):
        return values.Scalar(type(value))
    return values.Static(value)


def raw(value: Any) -> Any:
    """The value itself of what is known all through; slices and containers are those of values."""
    if isinstance(value, Value):
        return value.known
    if isinstance(value, slice):
        return slice(raw(value.start), raw(value.stop), raw(value.step))
    if isinstance(value, tuple | list):
        return type(value)([raw(each) for each in value])
    return value


def leaves(value: Any) -> Iterator[Value]:
    """The values in containers and slices."""
    if isinstance(value, Value):
        yield value
    elif isinstance(value, slice):
        yield from leaves((value.start, value.stop, value.step))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from leaves(each)


def sources_of(value: Any) -> frozenset:
    return NONE.union(*(each.sources for each in leaves(value)))


def undecided(value: Any) -> Any:
    """Values of which only the run tells what they are; where they come from stays known."""
    if isinstance(value, tuple | list):
        return type(value)([undecided(each) for each in value])
    fact = replace(value.fact, size=None) if isinstance(value.fact, values.Scalar) else value.fact
    return Value(fact, UNKNOWN, value.pattern)


def join(one: Any, other: Any, width: int) -> Any:
    """What holds of a value that is one of two, by what the run decides."""
    if one is other:
        return one
    if _is_absent(one) or _is_absent(other):  # nobody reads it on that path
        return undecided(other if _is_absent(one) else one)
    containers = isinstance(one, tuple | list), isinstance(other, tuple | list)
    if any(containers):
        if not all(containers) or len(one) != len(other):
            raise shape_decided("the length of a list")
        return type(one)([join(a, b, width) for a, b in zip(one, other, strict=True)])
    if one.shape != other.shape:
        raise shape_decided("the shape of an array")
    patterns = [each.pattern for each in (one, other) if each.pattern is not None]
    pattern = union(patterns, one.size, width) if patterns else None
    if one.is_known and other.is_known and same(one.known, other.known):
        return Value(one.fact, one.known, None, one.sources | other.sources)
    joined = values.join(one.fact, other.fact)
    fact = joined if values.shape_of(joined) == one.shape else values.Array(None, one.shape)
    return undecided(Value(fact, UNKNOWN, pattern))


def _is_absent(value: Any) -> bool:
    return isinstance(value, Value) and value.known is UNDEFINED


def same(one: Any, other: Any) -> bool:
    """Whether two objects are the same value, of the same type."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray | np.generic):
        alike = one.dtype == other.dtype and one.shape == other.shape
        return alike and bool(np.array_equal(one, other))
    return bool(one == other)


def is_stable(before: Any, after: Any) -> bool:
    """Whether a further pass of a loop has said nothing new of a value."""
    if isinstance(before, tuple | list):
        return all(map(is_stable, before, after))
    if before.is_known != after.is_known:
        return False
    if before.pattern is None or after.pattern is None:
        return before.pattern is after.pattern
    return before.pattern.is_same(after.pattern)


def patterns_of(found: Sequence[Value], width: int) -> list[Pattern]:
    return [
        Pattern.empty(each.size, width) if each.pattern is None else each.pattern for each in found
    ]


def shape_decided(what: str) -> UnsupportedError:
    return UnsupportedError(
        "S2S302",
        f"{what} is decided by the elements of the input, so no pattern holds for all of them",
        help="say which elements depend on which with pattern=, or use jacfwd or jacrev",
    )
