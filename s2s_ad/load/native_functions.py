"""The functions of a native module: what several modules define alike is one, compiled once."""

from __future__ import annotations

import ast
import copy
import threading
from collections.abc import Collection, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any
from weakref import WeakValueDictionary

from s2s_ad.load.numba_cache import digest_of, tell_apart
from s2s_ad.native import generated

#: those of the modules that are in use, by what tells them apart
_shared: WeakValueDictionary[str, Any] = WeakValueDictionary()
_lock = threading.Lock()


class NativeModule:
    """The text of a module, as functions that call each other.

    Attributes:
        is_recursive: whether a function calls itself, perhaps through others.
    """

    def __init__(self, text: str):
        module = ast.parse(text)
        self.digest = digest_of(text)
        self.functions = {e.name: e for e in module.body if isinstance(e, ast.FunctionDef)}
        self.imports = _imports_in(module.body)
        self.reads = {
            name: {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            for name, node in self.functions.items()
        }
        calls = {name: reads & self.functions.keys() for name, reads in self.reads.items()}
        try:
            self.order = [*TopologicalSorter(calls).static_order()]
            self.is_recursive = False
        except CycleError:
            self.order, self.is_recursive = [*self.functions], True

    def define(self, file: str, entries: Collection[str]) -> dict[str, Any]:
        """The functions, by name; entries come last.

        One that another module in use defines by the same text, and that calls what that one calls,
        is the function of that module: what Numba has compiled of it is there.

        Args:
            file: what the code is said to be from.
            entries: those that Python calls, which are never another module's.
        """
        if self.is_recursive:
            return self._made(self.order, file, {}, self.digest)
        found: dict[str, Any] = {}
        digests: dict[str, str] = {}
        for name in self.order:
            called = {each: found[each] for each in sorted(self.reads[name] & found.keys())}
            digests[name] = digest = self._digest(name, [digests[each] for each in called])
            if name in entries:
                found |= self._made([name], file, called, self.digest)
                continue
            with _lock:
                function = _shared.get(digest)
                if function is None:
                    function = self._made([name], file, called, digest)[name]
                    _shared[digest] = function
            found[name] = function
        return found

    def _digest(self, name: str, called: Iterable[str]) -> str:
        """What tells a function from others; `called` tells those that it calls."""
        parts = [*self._imports_of([name]), self.functions[name]]
        return digest_of("\n".join([*map(ast.unparse, parts), repr([*called])]))

    def _imports_of(self, names: Iterable[str]) -> list[ast.stmt]:
        read = set[str]().union(*map(self.reads.__getitem__, names))
        return [each for name, each in self.imports.items() if name in read]

    def _made(
        self, names: Collection[str], file: str, called: Mapping[str, Any], digest: str
    ) -> dict[str, Any]:
        """Functions of this module, in a space of their own."""
        body = [*self._imports_of(names), *map(self.functions.__getitem__, names)]
        space = {"__name__": generated.__name__, **called}
        exec(compile(ast.Module(body, []), file, "exec"), space)
        made = {name: space[name] for name in names}
        tell_apart(made, digest)
        return made


def _imports_in(body: Iterable[ast.stmt]) -> dict[str, ast.stmt]:
    """The imports of a module, one for each name."""
    found: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for each in node.names:
                one = copy.copy(node)
                one.names = [each]
                found[each.asname or each.name] = one
    return found
