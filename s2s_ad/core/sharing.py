"""What threads share, and what a forked process finds of it: locks, settings of Python, imports."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

#: Held for short work that a forked process must not find half done: a fork waits for it.
unforked = threading.RLock()


class Locked:
    """Has a lock. A forked process gets another: the thread that held the lock is not there."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        _locked.add(self)


_locked: weakref.WeakSet[Locked] = weakref.WeakSet()


def _in_child() -> None:
    unforked.release()
    for each in _locked:
        each.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=unforked.acquire, after_in_parent=unforked.release, after_in_child=_in_child
    )


@contextlib.contextmanager
def quiet(file: str) -> Iterator[None]:
    """Without the warnings that Python gives where it compiles this file.

    All threads share one list of filters. `catch_warnings` puts back the one that it met: where two
    threads do that in turns, the process is left without warnings. So a filter for this file only
    is put into the list, and taken out of it.
    """
    if getattr(sys.flags, "context_aware_warnings", False):  # each thread has a list of its own
        with warnings.catch_warnings(action="ignore"):
            yield
        return
    # a text stands for itself there, as in Python's own filter for __main__
    ours = ("ignore", None, Warning, file.removesuffix(".py"), 0)
    filters: Any = warnings.filters
    filters.insert(0, ours)
    try:
        yield
    finally:
        filters.remove(ours)


class lazy:
    """functools.cached_property without a lock: until Python 3.12 all objects share one there."""

    def __init__(self, function: Any):
        self.function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self.name, self.function(instance))
