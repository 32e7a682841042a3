"""The methods of list and dict for objects of classes that derive from these: they hold one.

The attribute that holds it is known to the frontend (`frontend/lower/derived`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from s2s_ad.written.marks import unsupported


class Holding:
    """What a class has of both."""

    _s2s_held: Any

    def __len__(self) -> int:
        return len(self._s2s_held)

    def __iter__(self) -> Iterator:
        return iter(self._s2s_held)

    def __reversed__(self) -> Iterator:
        return reversed(self._s2s_held)

    def __contains__(self, item: Any) -> bool:
        return item in self._s2s_held


class Items(Holding):
    """What a class has of list."""

    _s2s_held: list

    def __init__(self, items: Iterable = (), /):
        object.__setattr__(self, "_s2s_held", list(items))

    def append(self, item: Any, /) -> None:
        self._s2s_held.append(item)

    def extend(self, items: Iterable, /) -> None:
        self._s2s_held.extend(items)

    def insert(self, index: int, item: Any, /) -> None:
        self._s2s_held.insert(index, item)

    def pop(self, index: int = -1, /) -> Any:
        return self._s2s_held.pop(index)

    def remove(self, item: Any, /) -> None:
        self._s2s_held.remove(item)

    def clear(self) -> None:
        self._s2s_held.clear()

    def copy(self) -> list:
        return self._s2s_held.copy()

    def count(self, item: Any, /) -> int:
        return self._s2s_held.count(item)

    def index(self, item: Any, /, *bounds: int) -> int:
        return self._s2s_held.index(item, *bounds)

    def reverse(self) -> None:
        self._s2s_held.reverse()

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        self._s2s_held.sort(key=key, reverse=reverse)

    def __getitem__(self, index: Any) -> Any:
        return self._s2s_held[index]

    def __setitem__(self, index: Any, item: Any) -> None:
        self._s2s_held[index] = item

    def __delitem__(self, index: Any) -> None:
        del self._s2s_held[index]

    def __add__(self, other: Any) -> Any:
        return self._s2s_held + list(other) if isinstance(other, list) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return list(other) + self._s2s_held if isinstance(other, list) else NotImplemented

    def __iadd__(self, other: Iterable) -> Any:
        self._s2s_held.extend(other)
        return self

    def __mul__(self, count: int) -> list:
        return self._s2s_held * count

    def __rmul__(self, count: int) -> list:
        return self._s2s_held * count

    def __eq__(self, other: object) -> Any:
        return self._s2s_held == list(other) if isinstance(other, list) else NotImplemented

    def __ne__(self, other: object) -> Any:
        return self._s2s_held != list(other) if isinstance(other, list) else NotImplemented


class Entries(Holding):
    """What a class has of dict."""

    _s2s_held: dict

    def __init__(self, *given: Any, **more: Any):
        held = {}
        held.update(*given, **more)
        object.__setattr__(self, "_s2s_held", held)

    def update(self, *given: Any, **more: Any) -> None:
        self._s2s_held.update(*given, **more)

    def keys(self) -> Iterable:
        return self._s2s_held.keys()

    def values(self) -> Iterable:
        return self._s2s_held.values()

    def items(self) -> Iterable:
        return self._s2s_held.items()

    def get(self, key: Any, default: Any = None, /) -> Any:
        return self._s2s_held.get(key, default)

    def pop(self, key: Any, /, *default: Any) -> Any:
        return self._s2s_held.pop(key, *default)

    def popitem(self) -> tuple:
        return self._s2s_held.popitem()

    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        return self._s2s_held.setdefault(key, default)

    def clear(self) -> None:
        self._s2s_held.clear()

    def copy(self) -> dict:
        return self._s2s_held.copy()

    def __getitem__(self, key: Any) -> Any:
        if key in self._s2s_held or not hasattr(type(self), "__missing__"):
            return self._s2s_held[key]
        return self.__missing__(key)

    def __setitem__(self, key: Any, item: Any) -> None:
        self._s2s_held[key] = item

    def __delitem__(self, key: Any) -> None:
        del self._s2s_held[key]

    def __or__(self, other: Any) -> Any:
        return self._s2s_held | dict(other) if isinstance(other, dict) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return dict(other) | self._s2s_held if isinstance(other, dict) else NotImplemented

    def __ior__(self, other: Any) -> Any:
        self._s2s_held.update(other)
        return self

    def __eq__(self, other: object) -> Any:
        return self._s2s_held == dict(other) if isinstance(other, dict) else NotImplemented

    def __ne__(self, other: object) -> Any:
        return self._s2s_held != dict(other) if isinstance(other, dict) else NotImplemented


class Ordered(Entries):
    """What a class has of OrderedDict, which puts entries into itself by `__setitem__`."""

    def __init__(self, *given: Any, **more: Any):
        self.update(*given, **more)

    def update(self, *given: Any, **more: Any) -> None:
        for key, item in dict(*given, **more).items():
            self[key] = item

    def popitem(self, last: bool = True) -> tuple:
        key = [*self._s2s_held][-1 if last else 0]
        return key, self._s2s_held.pop(key)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def move_to_end(self, key: Any, last: bool = True) -> None:
        item = self._s2s_held.pop(key)
        if last:
            self._s2s_held[key] = item
        else:
            object.__setattr__(self, "_s2s_held", {key: item, **self._s2s_held})

    def copy(self) -> Any:
        return unsupported("a copy of what derives from OrderedDict", "make a dict of it: dict(x)")

    def __or__(self, other: Any) -> Any:
        return unsupported("| of what derives from OrderedDict", "make a dict of it: dict(x)")

    def __ror__(self, other: Any) -> Any:
        return unsupported("| of what derives from OrderedDict", "make a dict of it: dict(x)")

    def __eq__(self, other: object) -> Any:
        return unsupported("== of what derives from OrderedDict", "make a dict of it: dict(x)")

    def __ne__(self, other: object) -> Any:
        return unsupported("!= of what derives from OrderedDict", "make a dict of it: dict(x)")


__all__ = ["Entries", "Items", "Ordered"]
