"""Text becomes a function: compiled with a place in linecache, so that tools show its lines."""

from __future__ import annotations

import itertools
import linecache
import types
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from s2s_ad.core.program import Program
from s2s_ad.core.sharing import quiet
from s2s_ad.emit.write import Text
from s2s_ad.load.libraries import BUILTINS, copies
from s2s_ad.load.located import located
from s2s_ad.load.noted import remember
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

    def rebound(self, changes: Mapping[str, Any]) -> Loaded:
        """The same code in a module of its own, with other objects for some captured ones.

        So are the functions that were compiled with it. Calls that are under way, and whoever knows
        the old function, keep what they are bound to.

        Args:
            changes: new objects by the Core name of the captured one.
        """
        space = dict(self.namespace)
        for shown, name in self.text.captured.items():
            if name in changes:
                space[shown] = plain(changes[name])
        for shown, value in self.namespace.items():
            if getattr(value, "__globals__", None) is self.namespace:
                space[shown] = types.FunctionType(value.__code__, space, value.__name__)
        function = types.FunctionType(self.function.__code__, space, self.function.__name__)
        companions = [each.rebound(changes) for each in self.companions]
        return replace(
            self,
            function=space.get(self.function.__name__, function),
            namespace=space,
            companions=companions,
        )

    def with_programs(self, change: Callable[[Program], Program]) -> Loaded:
        """The same code, of which other programs are known."""
        companions = [each.with_programs(change) for each in self.companions]
        return replace(self, program=change(self.program), companions=companions)


def _calls_functions(namespace: dict[str, Any], function: Callable) -> bool:
    """Whether the function, or one beside it, may read the name of one of them."""
    own = [each for each in namespace.values() if getattr(each, "__globals__", None) is namespace]
    return len(own) > 1 or function.__name__ in _names(function.__code__)


def _names(code: types.CodeType) -> set[str]:
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return {*code.co_names}.union(*map(_names, inner))


def load(program: Program, text: Text) -> Loaded:
    """Compile the text and bind what it refers to."""
    file = f"<s2s_ad {text.name} {next(_number)}>"
    source = text.module
    values = {capture.name: plain(capture.value) for capture in program.captured()}
    libraries = copies(("numpy", *text.modules))
    told = program.with_(captures=(), beside=())  # where it says where something stands
    namespace = {
        "__name__": f"s2s_ad.generated.{text.name}",
        "__builtins__": BUILTINS,
        "np": libraries.pop("numpy"),
        **libraries,
        **{name: located(name, told, source) for name in text.helpers},
        **{shown: values[name] for shown, name in text.captured.items()},
        **text.objects,
    }
    bound = dict(namespace)
    with quiet(file):  # Python gave them for the user's own text
        code = compile(source, file, "exec")
    exec(code, namespace)
    namespace.update({key: value for key, value in bound.items() if key != text.name})
    function = namespace[text.name]
    if not _calls_functions(namespace, function):
        del namespace[text.name]  # no circle: what was captured goes when the function goes
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    remember(file, told, function.__code__)
    weakref.finalize(function.__code__, linecache.cache.pop, file, None).atexit = False
    return Loaded(function, text, namespace, program)
