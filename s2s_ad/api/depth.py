"""Programs that are nested more deeply than Python's stack: these are compiled on a larger one.

A sum of 2,000 terms is an expression in an expression 2,000 times, and the passes walk expressions
by functions that call themselves. Where the usual stack does not do, a thread of its own has one
that does; what does not need it pays nothing.
"""

from __future__ import annotations

import contextvars
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from s2s_ad.core.sharing import unforked
from s2s_ad.diagnostics import NestingError

DEEPEST = 100_000  # calls inside of each other
STACK = 512 * 2**20  # bytes, of which the system gives those that are touched

T = TypeVar("T")

_here = threading.local()
_limits: list[int] = []  # the limit to come back to, once for each of us


def deep_enough(call: Callable[[], T]) -> T:
    """What the call returns or raises, on a larger stack where the one here is too small."""
    try:
        return call()
    except (RecursionError, NestingError):
        if getattr(_here, "is_deep", False):
            raise
    return _on_large_stack(call)


def _on_large_stack(call: Callable[[], T]) -> T:
    results: list[Any] = []

    def run() -> None:
        _here.is_deep = True
        try:
            results.append((call(), None))
        except BaseException as error:  # raised again by who waits
            results.append((None, error))

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(run,), daemon=True)
    with unforked:
        _limits.append(_limits[0] if _limits else sys.getrecursionlimit())
        sys.setrecursionlimit(max(DEEPEST, _limits[0]))
    try:
        before = threading.stack_size(STACK)
        try:
            thread.start()
        finally:
            threading.stack_size(before)
        thread.join()
    finally:
        with unforked:
            limit = _limits.pop()
            if not _limits:
                sys.setrecursionlimit(limit)
    value, error = results.pop()
    try:
        if error is not None:
            raise error
    finally:
        del error  # it leads to this frame, and the frame to it
    return value


def _in_child() -> None:
    """Of the threads only the one that forked is there, and it waits for no other."""
    if _limits:
        sys.setrecursionlimit(_limits[0])
        _limits.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
