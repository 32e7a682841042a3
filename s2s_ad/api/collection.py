"""Fewer runs of the garbage collector while code is derived: nearly all that is made then is kept.

With Python's thresholds a fifth of the time of a compilation goes into looking for garbage.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

PATIENCE = 100_000  # new objects before the collector looks at them; some tens of megabytes

_lock = threading.Lock()
_before: list[tuple[int, int, int]] = []  # the thresholds to come back to, once for each of us


@contextlib.contextmanager
def patient() -> Iterator[None]:
    """The collector runs seldom inside; thresholds that the program has set itself come back."""
    with _lock:
        _before.append(_before[0] if _before else gc.get_threshold())
        first, *others = _before[0]
        if first:  # zero says that it never runs
            gc.set_threshold(max(first, PATIENCE), *others)
    try:
        yield
    finally:
        with _lock:
            before = _before.pop()
            if not _before:
                gc.set_threshold(*before)
