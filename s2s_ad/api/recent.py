"""A small memory: what was made for the objects met last, told apart by identity."""

from __future__ import annotations

import functools
import gc
import sys
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad.core.sharing import Locked

#: what stays whether we hold it or not
SHARED = (type, types.ModuleType, types.CodeType, types.BuiltinFunctionType, str, bytes)
MOST_SEEN = 2000  # objects that are looked at
MOST_HELD = 1 << 26  # bytes of arrays that are kept though nobody may ever ask again
MOST_HELD_AGAIN = 1 << 29  # the same where somebody has


@dataclass(slots=True)
class Made:
    """A value, the objects that it was made for, and whether it was asked for again.

    `arrays` are the sizes of the arrays that the objects held then, by identity.
    """

    value: Any
    objects: tuple
    arrays: dict[int, int]
    again: bool = False


class Recent(Locked):
    """At most `size` values. Each keeps the objects it was made for alive, so that ids stay theirs.

    A lambda that holds a batch, made anew for each, is never asked for again: the arrays of such
    values are at most MOST_HELD bytes, but for the last one.

    Example:
        >>> recent = Recent()
        >>> recent.get((sum,), lambda: "made"), recent.get((sum,), lambda: "made again")
        ('made', 'made')
    """

    def __init__(self, size: int = 64):
        super().__init__()
        self.size = size
        self._made: dict[tuple, Made] = {}

    def get(self, objects: tuple, make: Callable[[], Any], key: Any = None) -> Any:
        """The value for these objects and this key, made where it is not known."""
        key = (key, *map(id, objects))
        entry = self._made.get(key)
        if entry is not None:
            entry.again = True
            return entry.value
        with self.lock:
            entry = self._made.get(key)
            if entry is None:
                entry = Made(make(), objects, arrays_of(objects))
                self._make_room(entry)
                self._made[key] = entry
        return entry.value

    def known(self, key: Any) -> Any:
        """The value for a key, if there is one."""
        try:
            entry = self._made.get((key,))
        except TypeError:  # it is no key
            return None
        if entry is None:
            return None
        entry.again = True
        return entry.value

    def holds(self, key: Any, arrays: dict[int, int]) -> None:
        """Note that the value for a key has come to hold arrays of these sizes."""
        with self.lock:
            entry = self._made.pop((key,), None)
            if entry is not None:
                entry.arrays = arrays
                self._make_room(entry)
                self._made[key,] = entry

    def forget(self, key: Any) -> None:
        """Let go of the value for a key, which nobody will ask for again."""
        self._made.pop((key,), None)

    def clear(self) -> None:
        """Let go of all values."""
        self._made.clear()

    def _make_room(self, coming: Made) -> None:
        """The oldest goes; what was asked for since it was last the oldest stays a round more."""
        for again, most in ((False, MOST_HELD), (True, MOST_HELD_AGAIN)):
            held, known = dict(coming.arrays), self._made.copy()  # objects that die are forgotten
            for key, each in reversed([e for e in known.items() if e[1].again is again]):
                held |= each.arrays
                if sum(held.values()) > most and each.arrays:
                    self._made.pop(key, None)
        while len(self._made) >= self.size:
            key = next(iter(self._made))
            entry = self._made.pop(key)
            if entry.again:
                entry.again = False
                self._made[key] = entry


def arrays_of(objects: Iterable[Any], deep: int = 5) -> dict[int, int]:
    """The sizes of the arrays that objects hold: in cells and containers, as attributes."""
    found: dict[int, int] = {}
    waiting = [(each, deep) for each in objects]
    seen: set[int] = set()
    while waiting and len(seen) < MOST_SEEN:
        value, left = waiting.pop()
        if id(value) in seen or not left or isinstance(value, SHARED) or _is_module(value):
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            found[id(value)] = value.nbytes
        elif isinstance(value, types.FunctionType):
            waiting += [(each, left) for each in parts_of(value)[2:]]
        else:
            waiting += [(each, left - 1) for each in gc.get_referents(value)]
    return found


def _is_module(value: Any) -> bool:
    """Whether it is the names of a module."""
    return type(value) is dict and "__builtins__" in value


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
