"""Pickling of transformed functions: by name where they have one, else by what they are made of."""

from __future__ import annotations

import copy
import functools
import importlib
import types
from collections.abc import Callable
from typing import Any

from s2s_ad.api.transform import Transform


class Inner:
    """What the transforms around it hide: found where they stand, then `depth` inside.

    `holder` is a module's name, or the object that a method is bound to.
    """

    def __init__(self, holder: Any, qualname: str, depth: int):
        self.holder, self.qualname, self.depth = holder, qualname, depth

    def find(self) -> Any:
        found = _standing(self.holder, self.qualname)
        for _ in range(self.depth):
            found = found.fn
        return found


def reduced(transformed: Any) -> str | tuple:
    """What `__reduce__` gives for a Transformed."""
    inner = _inner(transformed)
    if inner is None:
        kind = transformed.kind
        return _restore, (kind, by_name(transformed.fn), transformed.transform, transformed.label)
    is_global = isinstance(inner.holder, str) and not inner.depth and inner.find() is transformed
    return inner.qualname if is_global else (_find, (inner,))


def deep_copied(transformed: Any, memo: dict[int, Any]) -> Any:
    """What `__deepcopy__` gives for a Transformed.

    Where the function inside is shared by its copies, as functions are, so are the Parameters that
    it reads; those of an object are copied with the object. Of a partial nobody knows whether they
    are the function's or an argument's: it is refused.
    """
    if isinstance(transformed.__reduce__(), str):
        return transformed
    fn, transform = copy.deepcopy(transformed.fn, memo), transformed.transform
    if fn is not transformed.fn:
        transform = copy.deepcopy(transform, {} if _is_partial(fn) else memo)
    return transformed.kind(fn, transform, transformed.label)


def _is_partial(fn: Any) -> bool:
    while _is_transformed(fn):
        fn = fn.fn
    return isinstance(fn, functools.partial)


def reduced_wrapper(wrapper: Any, *parts: Any) -> str | tuple:
    """What `__reduce__` gives for what `type(wrapper)(*parts)` made: its name where it has one."""
    inner = _inner(wrapper)
    is_global = inner is not None and isinstance(inner.holder, str) and not inner.depth
    return inner.qualname if is_global else (type(wrapper), parts)


def by_name(fn: Callable) -> Any:
    """What pickle can find `fn` by: itself, or a stand-in where transforms took its name."""
    inner = _inner(fn)
    return inner if inner is not None and inner.depth else fn


def _inner(fn: Any) -> Inner | None:
    """Where `fn` is found under its own name; None where that name leads to something else."""
    core = fn
    while _is_transformed(core):
        core = core.fn
    if isinstance(core, types.MethodType):
        holder, qualname = core.__self__, core.__name__
    else:
        holder, qualname = getattr(core, "__module__", None), getattr(core, "__qualname__", "")
    try:
        found = _standing(holder, qualname)
    except (ImportError, AttributeError, TypeError, ValueError):
        return None
    depth = 0
    while not _same(found, fn):
        if not _is_transformed(found):
            return None
        found, depth = found.fn, depth + 1
    return Inner(holder, qualname, depth)


def _standing(holder: Any, qualname: str) -> Any:
    """The object of this name, in the module of that name or in an object."""
    start = importlib.import_module(holder) if isinstance(holder, str) else holder
    return functools.reduce(getattr, qualname.split("."), start)


def _is_transformed(value: Any) -> bool:
    return isinstance(getattr(value, "transform", None), Transform)


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if _is_transformed(one) and _is_transformed(other):
        parts = one.label == other.label and one.transform == other.transform
        return parts and _same(one.fn, other.fn)
    return isinstance(one, types.MethodType) and one == other


def _restore(kind: type, fn: Any, transform: Any, label: str) -> Any:
    return kind(fn.find() if isinstance(fn, Inner) else fn, transform, label)


def _find(inner: Inner) -> Any:
    return inner.find()
