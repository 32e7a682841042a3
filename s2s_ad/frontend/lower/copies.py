"""copy.copy and copy.deepcopy: of arrays, containers and objects of the user's classes."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower import growing
from s2s_ad.frontend.lower.attributes import Made, Method, OwnMethod, read_attribute
from s2s_ad.frontend.lower.calls import HANDLERS, apply
from s2s_ad.frontend.lower.classes import is_written, method_of
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.derived import HELD, base_of, written_methods
from s2s_ad.frontend.lower.iteration import is_iterator
from s2s_ad.frontend.lower.lengths import items_needed
from s2s_ad.frontend.lower.objects import class_of, refuse_special
from s2s_ad.frontend.lower.references import Box, Reference, is_immutable, is_rows
from s2s_ad.frontend.resolve import PLAIN, Captured

#: what a copy of is the thing itself, beside numbers and texts
ITSELF = (*PLAIN, types.ModuleType, types.MethodType, slice)


class _Copier:
    """One call of copy or deepcopy: what was copied already is not copied again."""

    def __init__(self, lowering: Lowering, deep: bool):
        self.lowering, self.deep = lowering, deep
        self.made: dict[int, tuple[Any, Any]] = {}  # by identity, with the original

    def of(self, value: Any) -> Any:
        if not self.deep:
            return self._copied(value)
        if id(value) not in self.made:
            self.made[id(value)] = value, self._copied(value)
        return self.made[id(value)][1]

    def _part(self, value: Any) -> Any:
        return self.of(value) if self.deep else value

    def _copied(self, value: Any) -> Any:
        if isinstance(value, Made):
            value = value.opened(self.lowering)
        if is_iterator(value):
            raise UnsupportedError("S2S201", "a copy of an iterator", help="make a list: list(...)")
        own = self._by_method(value)
        if own is not None:
            return own()
        if isinstance(value, Symbol):
            return value if is_immutable(value) else self._array(value)
        if isinstance(value, Box) and value.is_dynamic:
            return self._growing(value)
        if isinstance(value, Tree):
            return self._container(value)
        if isinstance(value, Captured) and not isinstance(value.value, ITSELF):
            return self._outside(value)
        return value

    def _by_method(self, value: Any) -> Callable[[], Any] | None:
        """The user's own `__copy__` or `__deepcopy__`."""
        kind, name = class_of(value), "__deepcopy__" if self.deep else "__copy__"
        if not is_written(kind, name):
            return None
        args = [Memo(self)] if self.deep else []
        return lambda: apply(self.lowering, read_attribute(self.lowering, value, name), args, {})

    def _array(self, value: Symbol) -> Any:
        made = HANDLERS[np.ndarray.copy](self.lowering, [value], {})
        if isinstance(value, Reference):
            made.number = value.number
        return made

    def _growing(self, value: Box) -> Box:
        if self.deep and is_rows(value.content):
            error = UnsupportedError(
                "S2S201",
                "a deep copy of a list of containers whose length is not known",
                help="copy the items one by one",
            )
            raise items_needed(value, error)
        if self.deep:  # the arrays in it are others, though they hold the same
            return Box(self.lowering.memory, value.content, list)
        return growing.copy(self.lowering, value)

    def _container(self, value: Tree) -> Any:
        known = value.known() if isinstance(value, Box) else value
        if class_of(value) is not None and not issubclass(value.kind, tuple):
            refuse_special(self.lowering, value.kind)
            _refuse_own_filling(value.kind)
        items = tuple(
            self.of(each) if key == HELD else self._part(each)
            for key, each in zip(known.keys, known.items, strict=True)
        )
        if not self.deep:  # it stays bound to the original
            own = [isinstance(each, OwnMethod) for each in items]
            items = tuple(
                Method(each.function, value) if is_own else each
                for each, is_own in zip(items, own, strict=True)
            )
        made = Tree(known.kind, known.keys, items)
        if issubclass(known.kind, tuple):
            return made
        box = self.lowering.memory.box(made)
        box.factory = getattr(value, "factory", None)
        return box

    def _outside(self, value: Captured) -> Box:
        """An object of the user's as one of the function's own."""
        kind = type(value.value)
        refuse_special(self.lowering, kind)
        if not hasattr(value.value, "__dict__") or base_of(kind) is not None:
            which = "has __slots__" if base_of(kind) is None else "derives from a container"
            raise UnsupportedError(
                "S2S201",
                f"a copy of an object of class {kind.__name__}, which {which}",
                help="make another one of what it holds",
            )
        names = self.lowering.captures.attributes(value)
        items = (self.lowering.captures.attribute(value, name) for name in names)
        return self.lowering.memory.box(Tree(kind, names, tuple(map(self._part, items))))


def _refuse_own_filling(kind: type) -> None:
    """Python fills a copy of what derives from list by `append`, of a dict by `__setitem__`."""
    written = written_methods(kind)
    filled_by = "append" if "append" in written else "__setitem__"
    if written and method_of(kind, filled_by) is not written[filled_by]:
        raise UnsupportedError(
            "S2S201",
            f"a copy of an object of class {kind.__name__}, which has its own {filled_by}",
            why="Python calls that to fill the copy",
            help="give the class a __copy__ or a __deepcopy__",
        )


@dataclass(frozen=True, eq=False)
class Memo:
    """What `__deepcopy__` is given, to hand it on to copy.deepcopy."""

    in_python: ClassVar[str] = "dict"

    copier: _Copier


def _copy(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    (value,) = (*args, *kwargs.values())
    return _Copier(lowering, deep=False).of(value)


def _deepcopy(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    value, *memo = (*args, *kwargs.values())
    if not memo or memo == [None]:
        return _Copier(lowering, deep=True).of(value)
    if not isinstance(memo[0], Memo):
        raise UnsupportedError("S2S201", "copy.deepcopy with a memo", help="leave it out")
    return memo[0].copier.of(value)


HANDLERS[copy.copy] = _copy
HANDLERS[copy.deepcopy] = _deepcopy
