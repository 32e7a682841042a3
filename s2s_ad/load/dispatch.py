"""From the arguments of a call to the compiled function that serves them.

Three steps, each tried when the one before does not know: the fast path, one generated comparison
against what a hot call looked like (`load.fast`); a table by exact types, dtypes and shapes; a
table by signature (ranks and which lengths are one), whose miss compiles.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.core.program import Capture
from s2s_ad.diagnostics import S2SError
from s2s_ad.load.module import Loaded

LARGEST_TABLE = 4096  # exact kinds of calls
MOST_COMPILED = 256  # signatures
MOST_VARIANTS = 8  # of one signature: captured objects that shaped the code differ

#: objects that count by value where they are part of a signature; all others by identity
BY_VALUE = {bool, bytes, complex, float, int, range, str, type(None), type(Ellipsis)}

#: what reading a place raises where nothing stands there any more
GONE_ERRORS = (AttributeError, IndexError, KeyError, NameError, TypeError, ValueError)
_GONE = object()


# ---- keys ----------------------------------------------------------------------------------------


class Same:
    """Stands for an object in a key by its identity, and keeps it alive as long as the key."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return type(other) is Same and other.value is self.value


def exact_key(value: Any) -> Any:
    """What tells two arguments apart for the tables: type, dtype and shape, or the value."""
    kind = type(value)
    if kind in values.ARRAY_TYPES:
        return (kind, value.dtype, value.shape)
    if kind in (float, int, complex) or isinstance(value, np.generic):
        return kind
    if tree.is_container(value):
        top = tree.one_level(value)
        return (kind, keys_key(top.keys), tuple(map(exact_key, top.items)))
    return static_key(value)


def static_key(value: Any) -> Any:
    """A key for an object that is part of the code: equal only for the same code."""
    kind = type(value)
    if kind in (float, complex):
        return (kind, repr(value))  # tells 0.0 from -0.0, and nan is nan
    if kind in BY_VALUE or isinstance(value, np.dtype):
        return (kind, value)
    if kind is slice:
        return (kind, *map(static_key, (value.start, value.stop, value.step)))
    return Same(value)


def keys_key(keys: tuple) -> tuple:
    """The keys of a container: 1, 1.0 and True are one key to Python, and three in code."""
    return keys if all(type(each) is str for each in keys) else tuple(map(static_key, keys))


def pattern(value: Any) -> Any:
    """The signature of an abstract value: sizes left out, but for which of them are one."""
    if isinstance(value, tree.Tree):
        return (value.kind, keys_key(value.keys), tuple(map(pattern, value.items)))
    if isinstance(value, values.Array):
        return (value.dtype, tuple(dim if isinstance(dim, int) else -1 for dim in value.shape))
    if isinstance(value, values.Static):
        return static_key(value.value)
    return value


# ---- compiled code and what it is bound to -------------------------------------------------------


@dataclass(slots=True)
class Specialisation:
    """One compiled function with the captured objects that it is bound to."""

    loaded: Loaded
    captures: tuple[Capture, ...]
    bound: list[Any]

    @classmethod
    def of(cls, loaded: Loaded) -> Specialisation:
        programs = [loaded.program, *(each.program for each in loaded.companions)]
        captures = tuple({id(each): each for made in programs for each in made.captures}.values())
        return cls(loaded, captures, [each.value for each in captures])

    def holds(self) -> bool:
        """Whether every captured object is still the one that stands there."""
        pairs = zip(self.captures, self.bound, strict=True)
        return all(each.same(read(each), value) for each, value in pairs)

    def rebind(self) -> bool:
        """Follow captured numbers and arrays of the same kind; False where the code is stale."""
        now = [read(each) for each in self.captures]
        changed = [
            i for i, capture in enumerate(self.captures) if not capture.same(now[i], self.bound[i])
        ]
        if not all(self._follows(i, now[i]) for i in changed):
            return False
        for i in changed:
            self.loaded.rebind(self.captures[i], now[i])
            self.bound[i] = now[i]
        return True

    def _follows(self, i: int, now: Any) -> bool:
        capture = self.captures[i]
        if capture.name is None or now is _GONE:
            return False
        companions = (own for made in self.loaded.companions for own in made.program.captures)
        if any(each is capture for each in companions):
            return False  # what was returned before may still run them
        try:
            return pattern(values.of_leaf(now)) == pattern(values.of_leaf(self.bound[i]))
        except S2SError:
            return False  # compiling says what is wrong with it


def read(capture: Capture) -> Any:
    """The object that stands now where the captured one stood."""
    try:
        return capture.read()
    except GONE_ERRORS:
        return _GONE


@dataclass(slots=True)
class Entry:
    """What serves calls of one exact kind, and how often it has since something changed."""

    found: Specialisation
    calls: int = 0

    @property
    def is_hot(self) -> bool:
        """Seldom enough that two kinds of calls in turn do not rewrite the fast path for ever."""
        return self.calls in (2, 8) or (self.calls > 8 and self.calls.bit_count() == 1)


class Dispatcher:
    """Finds or makes the specialisation for a call.

    Args:
        key: arguments -> their exact key. It may change while a call is compiled: an argument
            that a rule needs to know counts by value from then on.
        prepare: arguments -> abstract values by name; raises on what is refused.
        compile: (abstract values, arguments) -> Loaded.
    """

    def __init__(
        self,
        key: Callable[[dict], Any],
        prepare: Callable[[dict], Any],
        compile: Callable[[Any, dict], Loaded],
    ):
        self.key, self.prepare, self.compile = key, prepare, compile
        self.exact: dict[Any, Entry] = {}
        self.by_signature: dict[Any, list[Specialisation]] = {}
        self.lock = threading.RLock()

    def find(self, arguments: dict[str, Any]) -> Entry:
        """What serves these arguments."""
        entry = self.exact.get(self.key(arguments))
        if entry is None or not entry.found.holds():
            with self.lock:
                entry = self._enter(arguments)
        entry.calls += 1
        return entry

    def _enter(self, arguments: dict[str, Any]) -> Entry:
        abstract = self.prepare(arguments)
        found = self._variant(self.by_signature.get(_signature(abstract), ()))
        if found is None:
            found = Specialisation.of(self.compile(abstract, arguments))
            self._keep(_signature(self.prepare(arguments)), found)
        if len(self.exact) >= LARGEST_TABLE:
            self.exact.clear()
        entry = self.exact[self.key(arguments)] = Entry(found)
        return entry

    def _variant(self, variants: Iterable[Specialisation]) -> Specialisation | None:
        """The one that is bound to what stands there now, or that can be."""
        variants = list(variants)
        held = next((each for each in variants if each.holds()), None)
        return held or next((each for each in reversed(variants) if each.rebind()), None)

    def _keep(self, signature: Any, found: Specialisation) -> None:
        variants = self.by_signature.setdefault(signature, [])
        variants.append(found)
        del variants[:-MOST_VARIANTS]
        if len(self.by_signature) > MOST_COMPILED:
            del self.by_signature[next(iter(self.by_signature))]
            self.exact.clear()

    def latest(self) -> Loaded | None:
        """What was compiled last."""
        variants = next(reversed(self.by_signature.values()), None)
        return variants[-1].loaded if variants else None


def _signature(abstract: dict[str, Any]) -> Any:
    return tuple((name, pattern(fact)) for name, fact in abstract.items())
