"""Text becomes a function: compiled with a place in linecache, so that tools show its lines."""

from __future__ import annotations

import itertools
import linecache
import types
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from s2s_ad.core.program import Program
from s2s_ad.core.sharing import quiet
from s2s_ad.emit.text import Text
from s2s_ad.load.libraries import BUILTINS, copies
from s2s_ad.load.noted import remember
from s2s_ad.load.runtime_diagnosis import located
from s2s_ad.load.text_files import kept
from s2s_ad.tensors import plain

_number = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A compiled function, its text, and the module it lives in."""

    function: Callable
    text: Text
    namespace: dict[str, Any]
    program: Program
    companions: list[Loaded] = field(default_factory=list)
    native: Any = None  # its load.native.Native, where it has native code

    def rebound(self, changes: Mapping[str, Any]) -> Loaded:
        """A module of its own with this code, and other objects for some captured ones.

        So are the functions that were compiled with it. Calls that are under way, and whoever knows
        the old function, keep what they are bound to.

        Args:
            changes: new objects by the Core name of the captured one.
        """
        captured = self.text.captured.items()
        values = {shown: plain(changes[name]) for shown, name in captured if name in changes}
        function, space = rebound(self.function, self.namespace, values)
        companions = [each.rebound(changes) for each in self.companions]
        return replace(
            self,
            function=function,
            namespace=space,
            companions=companions,
        )

    def with_programs(self, change: Callable[[Program], Program]) -> Loaded:
        """This code, with the programs that are known of it changed."""
        companions = [each.with_programs(change) for each in self.companions]
        return replace(self, program=change(self.program), companions=companions)


def _calls_functions(namespace: dict[str, Any], function: Callable) -> bool:
    """Whether the function, or one beside it, may read the name of one of them."""
    own = [each for each in namespace.values() if getattr(each, "__globals__", None) is namespace]
    return len(own) > 1 or function.__name__ in _names(function.__code__)


def _names(code: types.CodeType) -> set[str]:
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return {*code.co_names}.union(*map(_names, inner))


def rebound(
    function: Callable, namespace: dict[str, Any], values: Mapping[str, Any]
) -> tuple[Callable, dict[str, Any]]:
    """The function in a module of its own, with these values for names that were bound in it."""
    space = {**namespace, **values}
    for shown, value in namespace.items():
        if getattr(value, "__globals__", None) is namespace:
            space[shown] = types.FunctionType(value.__code__, space, value.__name__)
    alone = types.FunctionType(function.__code__, space, function.__name__)
    return space.get(function.__name__, alone), space


def load(program: Program, text: Text) -> Loaded:
    """Compile the text and bind what it refers to."""
    source, rows = text.module, text.module_rows
    file = kept(text.name, source) or f"<s2s_ad {text.name} {next(_number)}>"
    values = {capture.name: plain(capture.value) for capture in program.captured()}
    told = program.with_(captures=(), beside=())  # where it says where something stands
    bound = {
        **{name: located(name, told, rows) for name in text.helpers},
        **{shown: values[name] for shown, name in text.captured.items()},
        **text.objects,
    }
    function, namespace = executed(text.name, source, file, text.modules, bound)
    remember(file, rows, function.__code__)
    return Loaded(function, text, namespace, program)


def executed(
    name: str, source: str, file: str, modules: Iterable[str], bound: Mapping[str, Any]
) -> tuple[Callable, dict[str, Any]]:
    """The function of this name that the source of a module defines, and that module.

    Args:
        file: where tools find the lines of the source.
        modules: what it imports, NumPy apart.
        bound: what stands in the module beside that.
    """
    libraries = copies(("numpy", *modules))
    namespace = {
        "__name__": f"s2s_ad.generated.{name}",
        "__builtins__": BUILTINS,
        "np": libraries.pop("numpy"),
        **libraries,
        **bound,
    }
    before = dict(namespace)
    with quiet(file):  # Python gave them for the user's own text
        code = compile(source, file, "exec")
    exec(code, namespace)
    namespace.update({key: value for key, value in before.items() if key != name})
    function = namespace[name]
    if not _calls_functions(namespace, function):
        del namespace[name]  # no circle: what was captured goes when the function goes
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    weakref.finalize(function.__code__, linecache.cache.pop, file, None).atexit = False
    return function, namespace
