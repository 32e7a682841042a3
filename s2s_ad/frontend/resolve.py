"""Names bound to objects: what a name or an attribute of the user's code is, and how it is read."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.core.builder import Builder, Symbol, fresh_name
from s2s_ad.core.program import Capture, Hint
from s2s_ad.core.tree import Tree

LIBRARIES = ("numpy", "math", "builtins")


@dataclass(frozen=True, slots=True)
class Captured:
    """An object of the user's that is neither a number nor a container: its attributes are read."""

    value: Any
    text: str
    read: Callable[[], Any]


class Captures:
    """The objects that a function reads and the user did not pass, each noted once."""

    def __init__(self, builder: Builder):
        self.builder = builder
        self.found: dict[str, Capture] = {}
        self._values: dict[str, Any] = {}

    def of(
        self,
        value: Any,
        text: str,
        read: Callable[[], Any],
        source: tuple[dict, str] | None = None,
    ) -> Any:
        """What the compiler works with for a captured object that `read()` leads to."""
        key = f"{id(source[0]) if source else ''}:{text}"
        if key not in self._values:
            self._values[key] = self._enter(key, value, text, read, source)
        return self._values[key]

    def _enter(self, key: str, value: Any, text: str, read: Callable, source: Any) -> Any:
        kind = type(value)
        if kind in values.ARRAY_TYPES or isinstance(value, np.generic) or _is_number(value):
            name = fresh_name()
            self.found[key] = Capture(text, read, value, name, source)
            fact = values.of_leaf(value, text)
            return self.builder.adopt(name, fact, Hint(_identifier(text), "user"))
        if tree.is_container(value):
            return self._container(key, value, text, read)
        self.found[key] = Capture(text, read, value, None, source)
        if isinstance(value, np.ndarray):
            values.of_leaf(value, text)  # refuses subclasses
        plain = (str, bytes, type(None), bool, type, np.dtype, types.EllipsisType, np.ufunc)
        callables = (types.FunctionType, types.BuiltinFunctionType)
        if isinstance(value, plain + callables) or value is NotImplemented:
            return value
        return Captured(value, text, read)

    def _container(self, key: str, value: Any, text: str, read: Callable) -> Any:
        def structure() -> Any:
            now = read()
            return (type(now), tree.one_level(now).keys) if tree.is_container(now) else None

        self.found[key] = Capture(text, structure, structure(), None, None, lambda a, b: a == b)
        top = tree.one_level(value)
        items = []
        for item, step in zip(top.items, top.steps(), strict=True):
            path = (step,)
            label = tree.path_text(text, path)
            items.append(self.of(item, label, lambda path=path: tree.follow(read(), path)))
        return Tree(top.kind, top.keys, tuple(items))

    def attribute(self, holder: Captured, name: str) -> Any:
        """`holder.name`, where the class gives no function for it."""
        value = getattr(holder.value, name)
        module = isinstance(holder.value, types.ModuleType)
        text = f"{holder.text}.{name}"
        if module and holder.value.__name__.partition(".")[0] in LIBRARIES:
            inside = isinstance(value, types.ModuleType)  # a library's objects do not change
            return Captured(value, text, lambda: value) if inside else value
        source = (vars(holder.value), name) if module else None
        return self.of(value, text, lambda: getattr(holder.read(), name), source)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float, complex)


def _identifier(text: str) -> str:
    """A name for a captured path: r_tp1, self.w -> self_w, params["W1"] -> params_W1."""
    joined = "".join(c if c.isalnum() or c == "_" else "_" for c in text)
    return "_".join(filter(None, joined.split("_"))) or "captured"


class Frame:
    """One function being lowered: its locals, the frame it was defined in, cells and globals."""

    def __init__(
        self,
        source: Any,
        function_globals: dict,
        cells: dict[str, types.CellType],
        parent: Frame | None = None,
    ):
        self.source, self.globals, self.cells, self.parent = source, function_globals, cells, parent
        self.locals: dict[str, Any] = {}

    def lookup(self, name: str, captures: Captures) -> Any:
        """The value of a name; raises NameError, as Python does."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.locals:
                return frame.locals[name]
            frame = frame.parent
        if name in self.cells:
            cell = self.cells[name]
            return captures.of(cell.cell_contents, name, lambda: cell.cell_contents)
        if name in self.globals:
            place = self.globals
            return captures.of(place[name], name, lambda: place[name], (place, name))
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(name)


def cells_of(function: types.FunctionType) -> dict[str, types.CellType]:
    names = function.__code__.co_freevars
    return dict(zip(names, function.__closure__ or (), strict=True))


def unwrap(value: Any) -> Any:
    """The object itself."""
    return value.value if isinstance(value, Captured) else value


__all__ = ["Captured", "Captures", "Frame", "Symbol", "cells_of", "unwrap"]
