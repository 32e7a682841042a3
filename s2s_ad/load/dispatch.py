"""The steady-state call: from arguments to the specialisation that serves them.

Three steps, each tried when the one before does not know: the `fast path`, one generated
comparison against the types, dtypes and shapes of the hot call; a table by exact types, dtypes
and shapes; a table by signature (ranks and which lengths are one), whose miss compiles.
"""

from __future__ import annotations

import inspect
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.core.program import Capture
from s2s_ad.load.module import Loaded

LARGEST_TABLE = 4096
HOT = 8  # calls of one kind in a row before the fast path follows them


@dataclass(slots=True)
class Specialisation:
    """One compiled function with the captured objects that it is bound to."""

    loaded: Loaded
    captures: list[Capture]
    bound: list[Any]

    def holds(self) -> bool:
        """Whether every captured object is still the one that stands there."""
        pairs = zip(self.captures, self.bound, strict=True)
        return all(each.same(_read(each), value) for each, value in pairs)

    def rebind(self) -> bool:
        """Follow captured numbers and arrays of the same kind; False where the code is stale."""
        for i, capture in enumerate(self.captures):
            now = _read(capture)
            if capture.same(now, self.bound[i]):
                continue
            if capture.name is None or not _same_kind(now, self.bound[i]):
                return False
            self.loaded.rebind(capture, now)
            self.bound[i] = now
        return True


_GONE = object()


def _read(capture: Capture) -> Any:
    try:
        return capture.read()
    except (AttributeError, KeyError, IndexError, ValueError, NameError):
        return _GONE


def _same_kind(a: Any, b: Any) -> bool:
    return a is not _GONE and pattern(values.of_leaf(a)) == pattern(values.of_leaf(b))


def exact_key(value: Any) -> Any:
    """What tells two arguments apart for the tables: type, dtype and shape, or the value."""
    kind = type(value)
    if kind in values.ARRAY_TYPES:
        return (kind, value.dtype, value.shape)
    if kind in (float, int, complex) or isinstance(value, np.generic):
        return kind
    if tree.is_container(value):
        top = tree.one_level(value)
        return (kind, top.keys, tuple(map(exact_key, top.items)))
    return static_key(value)


def static_key(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return (type(value), id(value))
    return (type(value), value)


def pattern(value: Any) -> Any:
    """The signature of an abstract value: sizes left out, but for which of them are one."""
    if isinstance(value, tree.Tree):
        return (value.kind, value.keys, tuple(map(pattern, value.items)))
    if isinstance(value, values.Array):
        return (value.dtype, tuple(dim if isinstance(dim, int) else -1 for dim in value.shape))
    if isinstance(value, values.Static):
        return static_key(value.value)
    return value


class Dispatcher:
    """Finds or makes the specialisation for a call.

    Args:
        signature: of the user's function.
        prepare: bound arguments -> abstract values by name; raises on what is refused.
        compile: (abstract values, bound arguments) -> Loaded.
        key: bound arguments -> exact key, where some arguments count by value.
    """

    def __init__(
        self,
        signature: inspect.Signature,
        prepare: Callable[[dict], dict],
        compile: Callable[[dict, dict], Loaded],
        key: Callable[[dict], Any],
    ):
        self.signature, self.prepare, self.compile, self.key = signature, prepare, compile, key
        self.exact: dict[Any, Specialisation] = {}
        self.by_pattern: dict[Any, Specialisation] = {}
        self.keep: list[Any] = []  # unhashable static arguments, kept so that ids stay theirs
        self.lock = threading.RLock()
        self.hot: tuple[Any, int] = (None, 0)

    def bind(self, args: tuple, kwargs: dict) -> inspect.BoundArguments:
        """The arguments as Python binds them; its TypeError is the user's to read."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound

    def find(self, bound: inspect.BoundArguments) -> Specialisation:
        """The specialisation that serves these arguments."""
        key = self.key(bound.arguments)
        found = self.exact.get(key)
        if found is not None and (found.holds() or self._followed(found)):
            return found
        with self.lock:
            return self._by_signature(key, bound)

    def _followed(self, found: Specialisation) -> bool:
        with self.lock:
            return found.rebind()

    def _by_signature(self, key: Any, bound: inspect.BoundArguments) -> Specialisation:
        abstract = self.prepare(bound.arguments)
        signature = tuple(map(pattern, abstract.values()))
        found = self.by_pattern.get(signature)
        if found is None or not found.rebind():
            loaded = self.compile(abstract, bound.arguments)
            captures = list(loaded.program.captures)
            found = Specialisation(loaded, captures, [each.value for each in captures])
            key = self.key(bound.arguments)  # compiling may have made an argument static
            abstract = self.prepare(bound.arguments)
            self.by_pattern[tuple(map(pattern, abstract.values()))] = found
        if len(self.exact) >= LARGEST_TABLE:
            self.exact.clear()
        self.exact[key] = found
        self.keep.append([v for v in bound.arguments.values() if _is_unhashable(v)])
        return found

    def hot_call(self, key: Any) -> bool:
        """Whether this kind of call has come often enough to lead the fast path."""
        last, count = self.hot
        self.hot = (key, count + 1) if key == last else (key, 1)
        return self.hot[1] in (1, HOT) if last is None else self.hot[1] == HOT


def _is_unhashable(value: Any) -> bool:
    kind = type(value)
    plain = kind in values.ARRAY_TYPES or isinstance(value, np.generic)
    return not plain and kind not in (int, float, complex, str, bool, type(None), tuple, list, dict)


# ---- the fast path -------------------------------------------------------------------------------


def fast_call(
    signature: inspect.Signature,
    arguments: dict[str, Any],
    found: Specialisation,
    slow: Callable,
    by_value: set[str],
) -> Callable | None:
    """A method that serves calls like this one after a comparison; others go to `slow`.

    None where the signature has parameters that a plain comparison cannot serve.
    """
    names = list(signature.parameters)
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    plain = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY}
    if not kinds <= plain or any(name.startswith("_s2s") for name in names):
        return None
    space: dict[str, Any] = {"_s2s_f": found.loaded.function, "_s2s_slow": slow}
    space |= {"_s2s_array": np.ndarray, "_s2s_key": exact_key, "_s2s_type": type}
    tests = []
    for i, name in enumerate(names):
        tests += _argument_tests(i, name, arguments[name], space, name in by_value)
    tests += _guard_tests(found, space)
    listed = ", ".join(names)
    head = ", ".join(_with_default(each, space) for each in signature.parameters.values())
    condition = " and ".join(tests) or "True"
    source = (
        f"def __call__(_s2s_self, {head}):\n"
        f"    if {condition}:\n"
        f"        return _s2s_f({listed})\n"
        f"    return _s2s_slow(({listed}{',' if names else ''}))\n"
    )
    exec(_as_closure(source, space), made := dict(space))
    return made["_s2s_make"](*space.values())


def _as_closure(source: str, space: dict[str, Any]) -> types.CodeType:
    """The function inside a factory, so that what it compares with are its cells."""
    body = "".join(f"    {line}\n" for line in source.splitlines())
    text = f"def _s2s_make({', '.join(space)}):\n{body}    return __call__\n"
    return compile(text, "<s2s_ad dispatch>", "exec")


def _with_default(parameter: inspect.Parameter, space: dict[str, Any]) -> str:
    if parameter.default is inspect.Parameter.empty:
        return parameter.name
    space[f"_s2s_default_{parameter.name}"] = parameter.default
    return f"{parameter.name}=_s2s_default_{parameter.name}"


def _argument_tests(i: int, name: str, value: Any, space: dict, by_value: bool) -> list[str]:
    kind = type(value)
    if by_value:
        space[f"_s2s_k{i}"] = value
        return [f"_s2s_type({name}) is {kind.__name__}", f"{name} == _s2s_k{i}"]
    if kind is np.ndarray:
        space[f"_s2s_d{i}"], space[f"_s2s_s{i}"] = value.dtype, value.shape
        tests = [f"_s2s_type({name}) is _s2s_array", f"{name}.dtype is _s2s_d{i}"]
        return [*tests, f"{name}.shape == _s2s_s{i}"]
    if kind in (float, int, complex) or isinstance(value, np.generic):
        space[f"_s2s_t{i}"] = kind
        return [f"_s2s_type({name}) is _s2s_t{i}"]
    if value is None or kind is bool:
        return [f"{name} is {value}"]
    space[f"_s2s_k{i}"] = exact_key(value)
    return [f"_s2s_key({name}) == _s2s_k{i}"]


def _guard_tests(found: Specialisation, space: dict[str, Any]) -> list[str]:
    """Captured objects have to be the ones that the code is bound to."""
    tests = []
    for i, (capture, value) in enumerate(zip(found.captures, found.bound, strict=True)):
        if capture.source is not None:
            holder, key = capture.source
            space[f"_s2s_h{i}"], space[f"_s2s_c{i}"] = holder, value
            tests.append(f"_s2s_h{i}.get({key!r}) is _s2s_c{i}")
    rest = [
        (capture, value)
        for capture, value in zip(found.captures, found.bound, strict=True)
        if capture.source is None
    ]
    if rest:
        space["_s2s_rest"] = lambda: all(c.same(_read(c), v) for c, v in rest)
        tests.append("_s2s_rest()")
    return tests
