"""What the classes of objects define: their methods, and whether the user has written them."""

from __future__ import annotations

import inspect
import types
from typing import Any


def method_of(kind: type, name: str) -> Any:
    """What stands in a class or its bases, as it is written there; None where nothing does."""
    return inspect.getattr_static(kind, name, None)


def is_written(kind: type | None, name: str) -> bool:
    """Whether a class, or one of its bases, has such a method that is written in Python."""
    return kind is not None and isinstance(method_of(kind, name), types.FunctionType)


def is_generated(function: Any) -> bool:
    """Whether `dataclass` has written a method: its text stands in no file."""
    return isinstance(function, types.FunctionType) and function.__code__.co_filename == "<string>"
