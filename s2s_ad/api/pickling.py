"""Pickling of transformed functions: by name where they have one, else by what they are made of."""

from __future__ import annotations

import importlib
import sys
from typing import Any


class Inner:
    """A function that the transforms around it hide: found by their name, then `depth` inside."""

    def __init__(self, module: str, qualname: str, depth: int):
        self.module, self.qualname, self.depth = module, qualname, depth

    def find(self) -> Any:
        found: Any = importlib.import_module(self.module)
        for part in self.qualname.split("."):
            found = getattr(found, part)
        for _ in range(self.depth):
            found = found.fn
        return found


def reduced(transformed: Any) -> str | tuple:
    """What `__reduce__` gives for a Transformed."""
    if transformed.unbound is not None:
        return _bind, transformed.unbound
    if depth_of(transformed) == 0:
        return transformed.__qualname__
    kind = type(transformed).__mro__[1]  # below the class made for this one
    parts = by_name(transformed.fn), transformed.transform, transformed.label
    return _restore, (kind, *parts)


def by_name(fn: Any) -> Any:
    """What pickle can find `fn` by: itself, or a stand-in where a decorator took its name."""
    depth = depth_of(fn)
    return Inner(fn.__module__, fn.__qualname__, depth) if depth else fn


def depth_of(fn: Any) -> int | None:
    """How many transforms hide `fn` under its own name: 0 none; None: that name is another's."""
    found: Any = sys.modules.get(getattr(fn, "__module__", None))
    for part in getattr(fn, "__qualname__", "<nowhere>").split("."):
        found = getattr(found, part, None)
    depth = 0
    while found is not None and found is not fn:
        found, depth = getattr(found, "fn", None), depth + 1
    return None if found is None else depth


def _restore(kind: type, fn: Any, transform: Any, label: str) -> Any:
    return kind(fn.find() if isinstance(fn, Inner) else fn, transform, label)


def _bind(unbound: Any, instance: Any) -> Any:
    return unbound.__get__(instance, type(instance))
