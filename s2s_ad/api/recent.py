"""A small memory: what was made for the objects met last, told apart by identity."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from s2s_ad.core.sharing import Locked


@dataclass(slots=True)
class Made:
    """A value, the objects that it was made for, and whether it was asked for again."""

    value: Any
    objects: tuple
    again: bool = False


class Recent(Locked):
    """At most `size` values. Each keeps the objects it was made for alive, so that ids stay theirs.

    Example:
        >>> recent = Recent()
        >>> recent.get((sum,), lambda: "made"), recent.get((sum,), lambda: "made again")
        ('made', 'made')
    """

    def __init__(self, size: int = 64):
        super().__init__()
        self.size = size
        self._made: dict[tuple[int, ...], Made] = {}

    def get(self, objects: tuple, make: Callable[[], Any]) -> Any:
        """The value for these objects, made where it is not known."""
        key = tuple(map(id, objects))
        entry = self._made.get(key)
        if entry is not None:
            entry.again = True
            return entry.value
        with self.lock:
            entry = self._made.get(key)
            if entry is None:
                entry = Made(make(), objects)
                self._make_room()
                self._made[key] = entry
        return entry.value

    def _make_room(self) -> None:
        """The oldest goes; what was asked for since it was last the oldest stays a round more."""
        while len(self._made) >= self.size:
            key = next(iter(self._made))
            entry = self._made.pop(key)
            if entry.again:
                entry.again = False
                self._made[key] = entry


def parts_of(function: Any) -> tuple:
    """What a function is made of: two with the same parts do the same.

    A lambda in a loop is a new object each time round, with the same code and the same cells.
    """
    if isinstance(function, types.MethodType):
        return (*parts_of(function.__func__), function.__self__)
    if isinstance(function, functools.partial):
        names = map(sys.intern, function.keywords)
        given = (*function.args, *names, *function.keywords.values())
        return (functools.partial, *parts_of(function.func), *given)
    if not isinstance(function, types.FunctionType):
        return (function,)
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    cells = function.__closure__ or ()
    return (function.__code__, function.__globals__, *cells, *defaults)
