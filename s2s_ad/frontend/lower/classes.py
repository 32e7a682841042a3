"""What the classes of objects define: their methods, and whether the user has written them."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

#: the attribute of a function that stands in a class of the function's own: what is run for it
CLOSURE = "__s2s_closure__"
#: the attribute of an object that holds the list, dict or array from whose class its own derives
HELD = "_s2s_held"
#: the attribute of such a class
LOCAL = "__s2s_local__"


def is_local(kind: Any) -> bool:
    """Whether a class is defined inside the function."""
    return LOCAL in vars(kind)


def method_of(kind: type, name: str) -> Any:
    """What stands in a class or its bases, as it is written there; None where nothing does. What
    classes themselves have, as that they are called, their objects have not."""
    return next((vars(each)[name] for each in kind.__mro__ if name in vars(each)), None)


def is_written(kind: type | None, name: str) -> bool:
    """Whether a class, or one of its bases, has such a method that is written in Python."""
    return kind is not None and isinstance(method_of(kind, name), types.FunctionType)


def is_iterated_by_class(kind: type | None) -> bool:
    """Whether a class says in Python what iterating over its objects gives."""
    return is_written(kind, "__iter__") or is_read_by_index(kind)


def is_read_by_index(kind: Any) -> bool:
    """Whether Python iterates over objects of a class by `__getitem__`: for want of `__iter__`, or
    because it is that of `collections.abc.Sequence`, which does the same."""
    if not is_written(kind, "__getitem__"):
        return False
    return not hasattr(kind, "__iter__") or method_of(kind, "__iter__") is Sequence.__iter__


def is_generated(function: Any) -> bool:
    """Whether `dataclass` has written a method: its text stands in no file."""
    return isinstance(function, types.FunctionType) and function.__code__.co_filename == "<string>"
