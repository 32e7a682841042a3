"""From the arguments of a call to the compiled function that serves them.

Three steps, each tried when the one before does not know: the fast path, generated comparisons
against what hot calls looked like (`load.fast`); a table by exact types, dtypes and shapes; a
table by signature (ranks and which lengths are one), whose miss compiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CellType
from typing import Any, Protocol

import numpy as np

from s2s_ad.core import sizes, tree, values
from s2s_ad.core.program import Capture, Program
from s2s_ad.core.sizes import Assumptions, Atom, Guard
from s2s_ad.diagnostics import S2SError
from s2s_ad.load.module import Loaded
from s2s_ad.load.real_gradients import have_powers, with_real_gradients
from s2s_ad.load.tensor_entry import with_door
from s2s_ad.tensors import Parameter

LARGEST_TABLE = 4096  # exact kinds of calls
MOST_COMPILED = 256  # signatures
MOST_VARIANTS = 8  # of one signature: captured objects that shaped the code differ
MOST_ASSUMED = 4  # of one signature: what is assumed of lengths differs; then nothing is assumed

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


def exact_key(value: Any, *, opens: bool = False) -> Any:
    """What tells two arguments apart for the tables: type, dtype and shape, or the value.

    With `opens` objects that hold floats are told apart by their attributes.
    """
    kind = type(value)
    if kind in values.ARRAY_TYPES:
        return (kind, value.dtype, value.shape)
    if kind in (float, int, complex) or isinstance(value, np.generic):
        return kind
    alike = values.kind_of_items(value) if kind is list else None
    if alike is not None:
        return (kind, alike, len(value))
    if tree.is_container(value) or (opens and tree.is_object(value)):
        top = tree.one_level(value)
        items = tuple(exact_key(each, opens=opens) for each in top.items)
        return (kind, keys_key(top.keys), items)
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
    if kind is tuple:  # a shape that counts by value
        return (kind, *map(static_key, value))
    return Same(value)


def keys_key(keys: tuple) -> tuple:
    """The keys of a container: 1, 1.0 and True are one key to Python, and three in code."""
    return keys if all(type(each) is str for each in keys) else tuple(map(static_key, keys))


def pattern(value: Any) -> Any:
    """The signature of an abstract value: sizes left out, but for which of them are one."""
    if isinstance(value, tree.Tree):
        return (value.kind, keys_key(value.keys), tuple(map(pattern, value.items)))
    if isinstance(value, values.Array):
        return (
            value.tensor,
            value.number,
            value.dtype,
            tuple(dim if isinstance(dim, int) else -1 for dim in value.shape),
        )
    if isinstance(value, values.Static):
        return static_key(value.value)
    return value


# ---- compiled code and what it is bound to -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assumed:
    """What code assumes of the lengths of its arguments.

    `abstract` are the abstract values that it was compiled for, by parameter; `captured` are the
    lengths of captured arrays that it depends on, each with the array's Core name and as text.
    `of_counts` are the guards about whole numbers among the arguments, which exact keys leave out.
    """

    abstract: dict[str, Any]
    guards: tuple[Guard, ...]
    required: tuple[Guard, ...] = ()  # by Python: the text does not depend on it
    captured: tuple[tuple[Atom, int, str, str], ...] = ()
    general: bool = False  # it may assume nothing, for what others assume has failed
    of_counts: tuple[Guard, ...] = ()

    @classmethod
    def of(cls, abstract: dict[str, Any], assumptions: Assumptions) -> Assumed:
        asked = assumptions.asked_of().items()
        captured = tuple((atom, assumptions.lengths[atom], *said) for atom, said in asked)
        guards, required = assumptions.needed(), assumptions.also_required()
        every = (*guards, *required)
        of_counts = tuple(each for each in every if _is_of_counts(each))
        return cls(abstract, guards, required, captured, assumptions.general, of_counts)

    def holds(self, arguments: dict[str, Any]) -> bool:
        """Whether the code serves a call with these arguments, which have the same signature."""
        return self._hold((*self.guards, *self.required), arguments)

    def serves(self, arguments: dict[str, Any]) -> bool:
        """Whether the code serves a call of the exact kind that it has served before."""
        return self._hold(self.of_counts, arguments)

    def _hold(self, guards: tuple[Guard, ...], arguments: dict[str, Any]) -> bool:
        if not guards:
            return True
        lengths = values.lengths_of_inputs(self.abstract, arguments)
        lengths |= {atom: length for atom, length, *_ in self.captured}
        return all(each.holds(lengths) for each in guards)

    def texts(self) -> list[str]:
        """What is assumed, in terms of the parameters and of what is captured."""
        names = values.names_of_inputs(self.abstract)
        names |= {atom: text for atom, *_, text in self.captured}
        return [*dict.fromkeys(sizes.guard_text(each, names) for each in self.guards)]

    def texts_of_counts(self, prefix: str) -> list[str]:
        """What `serves` asks, with parameters, and `prefix` before Python's own names."""
        names = values.names_of_inputs(self.abstract, f"{prefix}len")
        names |= {atom: str(size) for atom, size, *_ in self.captured}
        return [sizes.guard_text(each, names, prefix) for each in self.of_counts]

    def kind_of(self, capture: Capture, value: Any) -> Any:
        """What tells numbers and arrays apart that need code of their own where this one stands."""
        has_lengths = any(name == capture.name for _, _, name, _ in self.captured)
        return (kind_of(value), np.shape(value)) if has_lengths else kind_of(value)


def _is_of_counts(guard: Guard) -> bool:
    return any(not atom.is_length for atom in sizes.atoms_of(guard.size))


NOTHING = Assumed({}, ())


@dataclass(frozen=True, slots=True)
class Specialisation:
    """Compiled code bound to captured objects: for others there is another specialisation.

    `function` is what a call runs; `assemble` makes it of the compiled functions.
    """

    loaded: Loaded
    assemble: Callable[[list[Callable], Program], Callable]
    function: Callable
    captures: tuple[Capture, ...]
    bound: tuple
    assumed: Assumed = NOTHING

    @classmethod
    def of(cls, loaded: Loaded, assemble: Callable, assumed: Assumed = NOTHING) -> Specialisation:
        found = {id(each): each for each in captures_of(loaded)}
        captures = tuple(each for each in found.values() if not _is_fixed(each))
        bound = tuple(each.value for each in captures)
        return cls(loaded, assemble, assembled(loaded, assemble), captures, bound, assumed)

    def all_captures(self) -> list[Capture]:
        """Those that are guarded, and those that cannot be others for this function."""
        return list({id(each): each for each in captures_of(self.loaded)}.values())

    def holds(self) -> bool:
        """Whether every captured object is still the one that stands there."""
        pairs = zip(self.captures, self.bound, strict=True)
        return all(each.same(read(each), value) for each, value in pairs)

    def followed(self) -> Specialisation | None:
        """The code bound to what stands there now; None where it is not the code for that."""
        now = tuple(read(each) for each in self.captures)
        changes = {}
        for capture, value, before in zip(self.captures, now, self.bound, strict=True):
            if not capture.same(value, before):
                free = capture.name is not None  # it did not shape the code
                kinds = [self.assumed.kind_of(capture, each) for each in (value, before)]
                if not free or kinds[0] != kinds[1]:
                    return None
                changes[capture.name] = value
        loaded = self.loaded.rebound(changes)
        function = assembled(loaded, self.assemble)
        return Specialisation(loaded, self.assemble, function, self.captures, now, self.assumed)


def captures_of(loaded: Loaded) -> Iterator[Capture]:
    """The captures of the function and of those that are compiled with it."""
    programs = [made.program for made in (loaded, *loaded.companions)]
    return (each for program in programs for each in (*program.captures, *program.beside))


def _is_fixed(capture: Capture) -> bool:
    """Whether what is read there cannot be another: a Parameter, by its identity; a cell."""
    is_parameter = capture.name is not None and isinstance(capture.value, Parameter)
    return is_parameter or isinstance(capture.value, CellType)


def assembled(loaded: Loaded, assemble: Callable) -> Callable:
    """What a call runs: the compiled functions behind their doors, put together."""
    every = (loaded, *loaded.companions)
    looks = have_powers([each.program for each in every])
    functions = [with_real_gradients(each) if looks else each.function for each in every]
    return assemble(list(map(with_door, every, functions)), loaded.program)


def kind_of(value: Any) -> Any:
    """What tells captured numbers and arrays apart that need code of their own."""
    whole = values.of_long_list(value)
    if whole is not None:
        return whole
    try:
        return pattern(values.of_leaf(value))
    except S2SError:
        return Same(value)  # compiling says what is wrong with it


def read(capture: Capture) -> Any:
    """The object that stands now where the captured one stood."""
    try:
        return capture.read()
    except GONE_ERRORS:
        return _GONE


class Shared(Protocol):
    """What objects share that calls are made of, in tables of its own."""

    lock: Any

    def templates(self, signature: Any) -> Iterable[Any]:
        """What was compiled for calls of this signature."""

    def moved(self, owner: Any, signature: Any, arguments: dict) -> Specialisation | None:
        """What was compiled for another object and serves this one as well."""

    def add(self, owner: Any, signature: Any, found: Specialisation, arguments: dict) -> None:
        """Keep what was compiled for an object."""


@dataclass(slots=True)
class Entry:
    """What serves calls of one exact kind, and how often it has since something changed."""

    found: Specialisation
    calls: int = 0

    @property
    def is_hot(self) -> bool:
        """Seldom enough that many kinds of calls in turn do not rewrite the fast path for ever."""
        return self.calls in (2, 8) or (self.calls > 8 and self.calls.bit_count() == 1)


class Dispatcher:
    """Finds or makes the specialisation for a call.

    It does not know the object that calls are made of, which holds it: that is the first argument
    of all that follows. In a circle what was captured would stay until garbage is collected.

    Args:
        key: arguments -> their exact key. It may change while a call is compiled: an argument
            that a rule needs to know counts by value from then on.
        prepare: arguments -> abstract values by name; raises on what is refused.
        compile: (abstract values, arguments, whether lengths may be assumed) -> what was compiled,
            what makes of the compiled functions the one that a call runs, and what is assumed.
        family: object -> what it shares with others: the lock, and what was compiled for these.
    """

    def __init__(
        self,
        key: Callable[[Any, dict], Any],
        prepare: Callable[[Any, dict], Any],
        compile: Callable[[Any, Any, dict, bool], tuple[Loaded, Callable, Assumed]],
        family: Callable[[Any], Shared],
    ):
        self.key, self.prepare, self.compile, self.family = key, prepare, compile, family
        self.exact: dict[Any, Entry] = {}
        self.by_signature: dict[Any, list[Specialisation]] = {}

    def find(self, owner: Any, arguments: dict[str, Any]) -> Entry:
        """What serves these arguments."""
        entry = self.exact.get(self.key(owner, arguments))
        if entry is None or not (entry.found.holds() and entry.found.assumed.serves(arguments)):
            with self.family(owner).lock:
                entry = self._enter(owner, arguments)
        entry.calls += 1
        return entry

    def _enter(self, owner: Any, arguments: dict[str, Any]) -> Entry:
        abstract = self.prepare(owner, arguments)
        variants = self.by_signature.get(_signature(abstract), [])
        found = self._variant(variants, arguments)
        if found is None:
            found = self.family(owner).moved(owner, _signature(abstract), arguments)
            if found is not None:
                self._keep(_signature(abstract), found)
        if found is None:
            known = [*variants, *self.family(owner).templates(_signature(abstract))]
            assumes = len({id(each.assumed) for each in known}) < MOST_ASSUMED
            found = Specialisation.of(*self.compile(owner, abstract, arguments, assumes))
            signature = _signature(self.prepare(owner, arguments))
            self._keep(signature, found)
            self.family(owner).add(owner, signature, found, arguments)
        if len(self.exact) >= LARGEST_TABLE:
            self.exact.clear()
        entry = self.exact[self.key(owner, arguments)] = Entry(found)
        return entry

    def _variant(
        self, variants: list[Specialisation], arguments: dict[str, Any]
    ) -> Specialisation | None:
        """The one that is bound to what stands there now, or that can be."""
        fitting = [i for i, each in enumerate(variants) if each.assumed.holds(arguments)]
        for i in fitting:
            if variants[i].holds():
                return variants[i]
        for i in fitting:
            found = variants[i].followed()
            if found is not None:
                variants[i] = found
                return found
        return None

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
