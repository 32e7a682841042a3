"""What Python's own modules keep in classes of C: a deque with a greatest length, a namespace."""

from __future__ import annotations

import collections
import types
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any


class BoundedDeque:
    """collections.deque with `maxlen`: what comes in at one end pushes out what is at the other."""

    __s2s_stands_for__ = deque
    __s2s_items__ = "iterable"  # where NumPy finds the items

    def __init__(self, items: Iterable, maxlen: int):
        if maxlen < 0:
            raise ValueError("maxlen must be non-negative")
        self.maxlen = maxlen
        self.iterable = []
        self.extend(items)

    def append(self, item: Any) -> None:
        self.iterable.append(item)
        if len(self.iterable) > self.maxlen:
            self.iterable.pop(0)

    def appendleft(self, item: Any) -> None:
        self.iterable.insert(0, item)
        if len(self.iterable) > self.maxlen:
            self.iterable.pop()

    def extend(self, items: Iterable) -> None:
        for item in items:
            self.append(item)

    def extendleft(self, items: Iterable) -> None:
        for item in items:
            self.appendleft(item)

    def insert(self, index: int, item: Any) -> None:
        if len(self.iterable) >= self.maxlen:
            raise IndexError("deque already at its maximum size")
        self.iterable.insert(index, item)

    def pop(self) -> Any:
        return self.iterable.pop()

    def popleft(self) -> Any:
        return self.iterable.pop(0)

    def clear(self) -> None:
        self.iterable.clear()

    def copy(self) -> BoundedDeque:
        return BoundedDeque(self.iterable, self.maxlen)

    def __copy__(self) -> BoundedDeque:
        return BoundedDeque(self.iterable, self.maxlen)

    def count(self, item: Any) -> int:
        return self.iterable.count(item)

    def index(self, item: Any) -> int:
        return self.iterable.index(item)

    def remove(self, item: Any) -> None:
        self.iterable.remove(item)

    def reverse(self) -> None:
        self.iterable.reverse()

    def rotate(self, n: int = 1) -> None:
        length = len(self.iterable)
        if length > 0:
            start = (-n) % length
            self.iterable = self.iterable[start:] + self.iterable[:start]

    def __len__(self) -> int:
        return len(self.iterable)

    def __iter__(self) -> Iterator:
        return iter(self.iterable)

    def __contains__(self, item: Any) -> bool:
        return item in self.iterable

    def __getitem__(self, index: int) -> Any:
        return self.iterable[index]

    def __setitem__(self, index: int, item: Any) -> None:
        self.iterable[index] = item


class Counter:
    """collections.Counter: a dict of numbers, in which what is missing is 0."""

    __s2s_stands_for__ = collections.Counter

    def __init__(self, counted: Any = (), /, **more: Any):
        self.counts = {}
        self.update(counted, **more)

    def update(self, counted: Any = (), /, **more: Any) -> None:
        for key, count in counts_of(counted) + counts_of(more):
            self.counts[key] = self.counts.get(key, 0) + count

    def subtract(self, counted: Any = (), /, **more: Any) -> None:
        for key, count in counts_of(counted) + counts_of(more):
            self.counts[key] = self.counts.get(key, 0) - count

    def most_common(self, n: int | None = None) -> list:
        if n == 1 and self.counts:
            return [max(self.counts.items(), key=lambda each: each[1])]
        found = sorted(self.counts.items(), key=lambda each: each[1], reverse=True)
        return found if n is None else found[:n]

    def elements(self) -> list:
        return [key for key, count in self.counts.items() for _ in range(count)]

    def total(self) -> Any:
        return sum(self.counts.values())

    def copy(self) -> Counter:
        return Counter(self.counts)

    def __copy__(self) -> Counter:
        return Counter(self.counts)

    def get(self, key: Any, default: Any = None) -> Any:
        return self.counts.get(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        return self.counts.pop(key, *default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return self.counts.setdefault(key, default)

    def clear(self) -> None:
        self.counts.clear()

    def keys(self) -> Iterable:
        return self.counts.keys()

    def values(self) -> Iterable:
        return self.counts.values()

    def items(self) -> Iterable:
        return self.counts.items()

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator:
        return iter(self.counts)

    def __contains__(self, key: Any) -> bool:
        return key in self.counts

    def __getitem__(self, key: Any) -> Any:
        return self.counts.get(key, 0)

    def __setitem__(self, key: Any, count: Any) -> None:
        self.counts[key] = count

    def __delitem__(self, key: Any) -> None:
        self.counts.pop(key, None)

    def __add__(self, other: Counter) -> Counter:
        made = Counter(self.counts)
        made.update(other)
        return made.positive()

    def __sub__(self, other: Counter) -> Counter:
        made = Counter(self.counts)
        made.subtract(other)
        return made.positive()

    def positive(self) -> Counter:
        return Counter({key: count for key, count in self.counts.items() if count > 0})


def counts_of(counted: Any) -> list:
    """What is counted, each with how often; a mapping says that itself."""
    if isinstance(counted, Counter):
        return list(counted.counts.items())
    if isinstance(counted, dict):
        return list(counted.items())
    return [(each, 1) for each in counted]


def index(self: Any, value: Any, start: int = 0, stop: int | None = None) -> int:
    """collections.abc.Sequence.index"""
    return start + [each for each in self][start:stop].index(value)  # noqa: C416


def count(self: Any, value: Any) -> int:
    """collections.abc.Sequence.count"""
    return [each for each in self].count(value)  # noqa: C416


def contains(self: Any, value: Any) -> bool:
    """collections.abc.Sequence.__contains__"""
    return value in [each for each in self]  # noqa: C416


class Namespace:
    """types.SimpleNamespace"""

    __s2s_stands_for__ = types.SimpleNamespace

    def __init__(self, /, **attributes: Any):
        for name, value in attributes.items():
            setattr(self, name, value)


__all__ = ["BoundedDeque", "Counter", "Namespace"]
