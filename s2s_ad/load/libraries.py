"""Libraries as they are when text is loaded: what others put into them later is not for the text.

The user's code is followed where it goes (a function of NumPy's that was replaced is another
captured object), while a derivative calls the functions that it was written with.
"""

from __future__ import annotations

import builtins
import importlib
import operator
from collections.abc import Collection
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from s2s_ad.core.homes import PREFIXES

BUILTINS = dict(vars(builtins))


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a module, in which its submodules are copies, too; and what was copied."""

    module: ModuleType
    copied: list[tuple[dict[str, Any], dict[str, Any]]]

    def is_current(self) -> bool:
        """Whether the same objects stand in the modules as when they were copied."""
        return all(
            len(now) == len(then) and all(map(operator.is_, now.values(), then.values()))
            for now, then in self.copied
        )


_COPIES: dict[tuple[str, ...], Copy] = {}


def copies(names: Collection[str]) -> dict[str, ModuleType]:
    """Copies of the modules of these names, by what `import a.b` binds: a."""
    paths = {module.__name__ for module in PREFIXES} | set(names)
    return {root: _copy(root, paths) for root in {name.partition(".")[0] for name in names}}


def _copy(root: str, paths: set[str]) -> ModuleType:
    paths = {each for each in paths if each.partition(".")[0] == root}
    parents = {each[:i] for each in paths for i, c in enumerate(each) if c == "."}
    key = (root, *sorted(paths | parents))
    if key not in _COPIES or not _COPIES[key].is_current():
        _COPIES[key] = _copied(key)
    return _COPIES[key].module


def _copied(paths: tuple[str, ...]) -> Copy:
    made: dict[str, ModuleType] = {}
    copied = []
    for path in dict.fromkeys(paths):  # a module comes before those in it
        module = importlib.import_module(path)
        made[path] = ModuleType(module.__name__)
        vars(made[path]).update(vars(module))
        vars(made[path]).pop("__getattr__", None)  # nothing is imported late: attributes are fast
        copied.append((vars(module), dict(vars(module))))
        parent, _, name = path.rpartition(".")
        if parent:
            setattr(made[parent], name, made[path])
    return Copy(made[paths[0]], copied)
