"""Compiled code as every function with the same code may use it.

Lambdas that are made anew at each pass of a loop differ in what their cells hold. Their code is
compiled once: of what it reads by way of the function only the way is kept (`Capture.path`), with
what has to stand there: the object itself where it shaped the code, an array or a number of the
same kind where the code takes its value from there.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from s2s_ad.core.program import CODE, DEFAULTS, GLOBAL, Capture, Names, Program, stands_at
from s2s_ad.load.dispatch import (
    GONE_ERRORS,
    Assumed,
    Specialisation,
    assembled,
    exact_key,
    read,
)
from s2s_ad.load.module import Loaded

MOST_KINDS = 64  # exact kinds of a captured value that are known to be alike


class Itself:
    """Stands for the function that is transformed, where its code reads it: it calls itself."""


class Called:
    """Stands for a function that is called: for any of this module whose code is the same.

    The code is a part of its own, and so is what the code reads.
    """

    def __init__(self, space: dict[str, Any]):
        self.space = space

    def fits(self, now: Any) -> bool:
        plain = type(now) is types.FunctionType and not vars(now)
        return plain and now.__globals__ is self.space


@dataclass(frozen=True, slots=True)
class Part:
    """What code reads by way of the function: the capture, bound to none, and what it has to be.

    `value` is the object that shaped the code, or the kind of number or array. `known` are exact
    kinds of values that are of this kind. `is_item` says that it is an item of a tuple, `is_tuple`
    that it is one.
    """

    capture: Capture
    value: Any
    known: set[Any]
    is_item: bool
    is_tuple: bool
    assumed: Assumed

    @classmethod
    def of(cls, capture: Capture, function: Any, assumed: Assumed) -> Part:
        value = capture.value
        if capture.name is not None:
            value = assumed.kind_of(capture, value)
        elif value is function:
            value = Itself
        elif capture.called:
            value = Called(value.__globals__)
        is_item, is_tuple = capture.holder is not None, capture.whole is not None
        return cls(_unbound(capture), value, set(), is_item, is_tuple, assumed)

    def fits(self, now: Any, function: Any) -> bool:
        """Whether the code is the code for what stands there."""
        if self.capture.name is None:
            return now is self.value or self._is_that(now, function)
        kind = exact_key(now)
        if kind in self.known:
            return True
        if self.assumed.kind_of(self.capture, now) != self.value:
            return False
        if len(self.known) < MOST_KINDS:
            self.known.add(kind)
        return True

    def _is_that(self, now: Any, function: Any) -> bool:
        if self.value is Itself:
            return now is function
        if isinstance(self.value, Called):
            return self.value.fits(now)
        if self.capture.aspect is not None:
            now = self.capture.aspect(now)
        if self.capture.same is not operator.is_:
            return self.capture.same(now, self.value)
        return type(now) is type(self.value) and type(now) in (str, bytes) and now == self.value

    def at(self, function: Any, now: Any) -> Capture:
        """The capture, bound to a function, where `now` stands at its place."""
        path, aspect = self.capture.path, self.capture.aspect

        def plain() -> Any:
            return stands_at(function, path)

        def seen() -> Any:
            return aspect(stands_at(function, path))

        return replace(
            self.capture,
            read=plain if aspect is None else seen,
            value=now if aspect is None else aspect(now),
            source=None if aspect is not None else _source(function, path),
            holder=stands_at(function, path[:-1]) if self.is_item else None,
            whole=(plain, _source(function, path)) if self.is_tuple else None,
        )


def _source(function: Any, path: tuple) -> tuple | None:
    """How a guard reads the place without a call (see `Capture.source`)."""
    (way, first), *rest = path
    keys = [key for step, key in rest if step == "item" and type(key) in (int, str)]
    if len(keys) < len(rest):
        return None
    if way == GLOBAL:
        return (Names(function.__globals__), first, *keys)
    return None if first == "__closure__" else (function, first, *keys)


def _unbound(capture: Capture) -> Capture:
    return replace(capture, read=None, value=None, source=None, holder=None, whole=None)


@dataclass(slots=True)
class Template:
    """Compiled code for all functions with the same code, as far as what they read is alike.

    `captures` are found without the function, and `bound` is what has to stand there. `function` is
    what a call runs, for all of them, where the code takes no value from what `parts` lead to.
    `again` says whether it served another function than the one that it was compiled for, `arrays`
    what memory of the user's it keeps: sizes of arrays by identity.
    """

    loaded: Loaded
    assemble: Callable
    assumed: Assumed
    captures: tuple[Capture, ...]
    bound: tuple
    parts: tuple[Part, ...]
    function: Callable | None
    again: bool = False
    arrays: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, made: Specialisation, function: Any) -> Template:
        """What serves other functions with the code of `function`, which this was compiled for."""
        own = [each for each in made.all_captures() if each.path is not None]
        parts = tuple(
            Part.of(each, function, made.assumed) for each in own if each.path not in IMPLIED
        )
        others = [
            (each, value)
            for each, value in zip(made.captures, made.bound, strict=True)
            if each.path is None
        ]
        values = [each.capture.name for each in parts if each.capture.name is not None]
        loaded = made.loaded.with_programs(lambda program: _with_captures(program, _unbound_own))
        loaded = loaded.rebound(dict.fromkeys(values)) if values else loaded
        return cls(
            loaded,
            made.assemble,
            made.assumed,
            tuple(each for each, _ in others),
            tuple(value for _, value in others),
            parts,
            None if values or _watches(loaded) else made.function,
        )

    def objects(self) -> tuple:
        """The objects of the user's that it keeps alive."""
        return (*self.bound, *(each.value for each in self.parts))

    def serving(self, function: Any, arguments: dict[str, Any]) -> Callable | None:
        """What a call of this function runs; None where this is not the code for it."""
        found = self._values(function)
        if found is None or not self.assumed.serves(arguments):
            return None
        if self.function is not None:
            return self.function
        if _watches(self.loaded):
            return self._moved(function, found).function
        return assembled(self.loaded.rebound(_named(self.parts, found)), self.assemble)

    def moved(self, function: Any) -> Specialisation | None:
        """The code bound to this function; None where it is not the code for it."""
        found = self._values(function)
        return None if found is None else self._moved(function, found)

    def _values(self, function: Any) -> list[Any] | None:
        """What stands at the places of the parts, where all is as it has to be."""
        for capture, value in zip(self.captures, self.bound, strict=True):
            if not capture.same(read(capture), value):
                return None
        try:
            found = [stands_at(function, each.capture.path) for each in self.parts]
        except GONE_ERRORS:
            return None
        pairs = zip(self.parts, found, strict=True)
        if not all(part.fits(now, function) for part, now in pairs):
            return None
        self.again = True
        return found

    def _moved(self, function: Any, found: list[Any]) -> Specialisation:
        own = [part.at(function, now) for part, now in zip(self.parts, found, strict=True)]
        own += [_implied(function, path) for path in IMPLIED]
        by_place = {(each.path, each.name, each.aspect is None): each for each in own}

        def bound(capture: Capture) -> Capture:
            key = capture.path, capture.name, capture.aspect is None
            return capture if capture.path is None else by_place[key]

        loaded = self.loaded.with_programs(lambda program: _with_captures(program, bound))
        changes = _named(self.parts, found)
        return Specialisation.of(
            loaded.rebound(changes) if changes else loaded, self.assemble, self.assumed
        )


#: what the code of a function implies: that it is this code, with so many defaults
IMPLIED = (CODE, DEFAULTS)


def _implied(function: Any, path: tuple) -> Capture:
    text = f"{function.__qualname__}.{path[0][1]}"
    source = (function, path[0][1])
    found = Capture(
        text, lambda: stands_at(function, path), stands_at(function, path), None, source
    )
    whole = (found.read, source) if path is DEFAULTS else None
    return replace(found, path=path, whole=whole)


def _unbound_own(capture: Capture) -> Capture:
    return capture if capture.path is None else _unbound(capture)


def _with_captures(program: Program, change: Callable[[Capture], Capture]) -> Program:
    captures, beside = (tuple(map(change, each)) for each in (program.captures, program.beside))
    return program.with_(captures=captures, beside=beside)


def _watches(loaded: Loaded) -> bool:
    """Whether calls are checked for captured arrays that share memory with arguments."""
    return bool(loaded.program.beside)


def _named(parts: tuple[Part, ...], found: list[Any]) -> dict[str, Any]:
    pairs = zip(parts, found, strict=True)
    return {part.capture.name: now for part, now in pairs if part.capture.name is not None}
