"""What Python's own modules keep in classes of C: a deque with a greatest length, a namespace."""

from __future__ import annotations

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


class Namespace:
    """types.SimpleNamespace"""

    __s2s_stands_for__ = types.SimpleNamespace

    def __init__(self, /, **attributes: Any):
        for name, value in attributes.items():
            setattr(self, name, value)


__all__ = ["BoundedDeque", "Namespace"]
