"""What Python's own modules keep in classes of C: a deque with a greatest length, a namespace."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any


class BoundedDeque:
    """collections.deque with `maxlen`: what comes in at one end pushes out what is at the other."""

    __s2s_stands_for__ = deque
    __s2s_items__ = "items"  # where NumPy finds the items

    def __init__(self, items: Iterable, maxlen: int):
        if maxlen < 0:
            raise ValueError("maxlen must be non-negative")
        self.maxlen = maxlen
        self.items = []
        self.extend(items)

    def append(self, item: Any) -> None:
        self.items.append(item)
        if len(self.items) > self.maxlen:
            self.items.pop(0)

    def appendleft(self, item: Any) -> None:
        self.items.insert(0, item)
        if len(self.items) > self.maxlen:
            self.items.pop()

    def extend(self, items: Iterable) -> None:
        for item in items:
            self.append(item)

    def extendleft(self, items: Iterable) -> None:
        for item in items:
            self.appendleft(item)

    def insert(self, index: int, item: Any) -> None:
        if len(self.items) >= self.maxlen:
            raise IndexError("deque already at its maximum size")
        self.items.insert(index, item)

    def pop(self) -> Any:
        return self.items.pop()

    def popleft(self) -> Any:
        return self.items.pop(0)

    def clear(self) -> None:
        self.items.clear()

    def copy(self) -> BoundedDeque:
        return BoundedDeque(self.items, self.maxlen)

    def __copy__(self) -> BoundedDeque:
        return BoundedDeque(self.items, self.maxlen)

    def count(self, item: Any) -> int:
        return self.items.count(item)

    def index(self, item: Any) -> int:
        return self.items.index(item)

    def remove(self, item: Any) -> None:
        self.items.remove(item)

    def reverse(self) -> None:
        self.items.reverse()

    def rotate(self, n: int = 1) -> None:
        length = len(self.items)
        if length > 0:
            start = (-n) % length
            self.items = self.items[start:] + self.items[:start]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator:
        return iter(self.items)

    def __contains__(self, item: Any) -> bool:
        return item in self.items

    def __getitem__(self, index: int) -> Any:
        return self.items[index]

    def __setitem__(self, index: int, item: Any) -> None:
        self.items[index] = item


class Namespace:
    """types.SimpleNamespace"""

    __s2s_stands_for__ = types.SimpleNamespace

    def __init__(self, /, **attributes: Any):
        for name, value in attributes.items():
            setattr(self, name, value)


__all__ = ["BoundedDeque", "Namespace"]
