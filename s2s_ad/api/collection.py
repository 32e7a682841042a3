"""Fewer runs of the garbage collector while code is derived: nearly all that is made then is kept.

With Python's thresholds a fifth of the time of a compilation goes into looking for garbage.
"""

from __future__ import annotations

import contextlib
import gc
import os
import threading
from collections.abc import Iterator

from s2s_ad.core.sharing import unforked

PATIENCE = 100_000  # new objects before the collector looks at them; some tens of megabytes

_inside: list[int] = []  # the threads that derive code, each as often as it does
_before: list[tuple[int, int, int]] = []  # the thresholds to come back to, where there is a thread


@contextlib.contextmanager
def patient() -> Iterator[None]:
    """The collector runs seldom inside; thresholds that the program has set itself come back."""
    thread = threading.get_ident()
    with unforked:
        if not _inside:
            _before[:] = [gc.get_threshold()]
        _inside.append(thread)
        first, *others = _before[0]
        if first:  # zero says that it never runs
            gc.set_threshold(max(first, PATIENCE), *others)
    try:
        yield
    finally:
        with unforked:
            _inside.remove(thread)
            _come_back()


def _come_back() -> None:
    if _before and not _inside:
        gc.set_threshold(*_before.pop())


def _in_child() -> None:
    """Of the threads only the one that forked is there."""
    _inside[:] = [each for each in _inside if each == threading.get_ident()]
    _come_back()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
