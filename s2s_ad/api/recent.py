"""A small memory: what was made for the objects met last, told apart by identity."""

from __future__ import annotations

import functools
import sys
import threading
import types
from collections.abc import Callable
from typing import Any


class Recent:
    """At most `size` values. Each keeps the objects it was made for alive, so that ids stay theirs.

    Example:
        >>> recent = Recent()
        >>> recent.get((sum,), lambda: "made"), recent.get((sum,), lambda: "made again")
        ('made', 'made')
    """

    def __init__(self, size: int = 64):
        self.size = size
        self._values: dict[tuple[int, ...], tuple[tuple, Any]] = {}
        self._lock = threading.Lock()

    def get(self, objects: tuple, make: Callable[[], Any]) -> Any:
        """The value for these objects, made where it is not known."""
        key = tuple(map(id, objects))
        with self._lock:
            entry = self._values.pop(key, None)
            if entry is None:
                entry = objects, make()
            self._values[key] = entry  # now the last one
            while len(self._values) > self.size:
                del self._values[next(iter(self._values))]
        return entry[1]


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
