"""One cache for the process: what is compiled for a function serves all that have its code.

A family are the functions with one code under one chain of transforms: `grad(f)` that is written
inline, or of a lambda that is made anew at each pass of a loop. It is known as long as there is the
code, and for a limited number of codes.
"""

from __future__ import annotations

import functools
import operator
import types
import weakref
from collections.abc import Callable
from typing import Any

from s2s_ad.api.recent import MOST_HELD, Recent, arrays_of
from s2s_ad.api.transform import Transform
from s2s_ad.core import tree
from s2s_ad.core.sharing import Locked
from s2s_ad.frontend.resolve import LIBRARIES
from s2s_ad.load.dispatch import MOST_VARIANTS, Specialisation
from s2s_ad.load.module import Loaded
from s2s_ad.load.templates import Template
from s2s_ad.tensors import Parameter

MOST_KINDS = 64  # exact kinds of calls, and signatures, of one family

Chain = tuple[tuple[str, Transform], ...]


class Family(Locked):
    """What functions with the same code share: signatures, options that were learnt, templates.

    `by_value` are the places of arguments that count by value, `floats` those of them where floats
    do, too, `opened` the parameters in which objects are trees; `lists_apart` says whether each
    item of a list is an input, however long it is, `numbers_are_fixed` whether defaults are always
    part of the code.
    """

    def __init__(self, key: Any = None):
        super().__init__()
        self.key = key
        self.code: weakref.ref | None = None
        self.signatures: Any = None
        self.by_value: tuple[tuple[str, tree.Path], ...] = ()
        self.floats: frozenset[tuple[str, tree.Path]] = frozenset()
        self.opened: frozenset[str] = frozenset()
        self.lists_apart = False
        self.numbers_are_fixed = False
        self._numbers: dict[str, str] | None = None
        self._varying: frozenset[str] = frozenset()
        self._exact: dict[Any, list[Template]] = {}
        self._by_signature: dict[Any, list[Template]] = {}
        self._compiled: set[int] = set()

    def is_of(self, function: Any) -> bool:
        """Whether the function is still one of these: its code may be replaced in place."""
        return self.key is not None and self.key[:-1] == _key_of(function)

    def serving(
        self, exact: Any, function: types.FunctionType, arguments: dict[str, Any]
    ) -> Callable | None:
        """What a call with arguments of this exact kind runs, where it is known."""
        for template in self._exact.get(exact, ()):
            found = template.serving(function, arguments)
            if found is not None:
                return found
        return None

    def latest(self) -> Loaded | None:
        """What was compiled last."""
        known = next(reversed(self._by_signature.values()), None)
        return known[-1].loaded if known else None

    def varying(self, function: Any) -> frozenset[str]:
        """The parameters whose defaults are numbers that differ from function to function.

        Those that are the same for all stand in the text as they are, and so do all where the code
        cannot do without.
        """
        if self.numbers_are_fixed:
            return frozenset()
        if self.key is not None:
            now = _numbers(function)
            if self._numbers is None:
                self._numbers = now
            self._varying |= {name for name in now if now[name] != self._numbers.get(name)}
        return self._varying

    # ---- what a table of one of the functions does not know (see `dispatch.Shared`)

    def templates(self, signature: Any) -> list[Template]:
        return self._by_signature.get(signature, [])

    def moved(self, owner: Any, signature: Any, arguments: dict[str, Any]) -> Specialisation | None:
        known = sorted(self.templates(signature), key=lambda each: each.assumed.general)
        for template in known:
            if template.assumed.holds(arguments):
                found = template.moved(owner.root)
                if found is not None:
                    self._enter(owner.exact_key(arguments), template)
                    return found
        return None

    def add(
        self, owner: Any, signature: Any, made: Specialisation, arguments: dict[str, Any]
    ) -> None:
        if self.key is not None and self.is_of(owner.root):
            template = self._template(signature, made, owner.root)
            if template is not None:
                self._enter(owner.exact_key(arguments), template)

    def _enter(self, exact: Any, template: Template) -> None:
        known = _room(self._exact, MOST_KINDS).setdefault(exact, [])
        if not any(each is template for each in known):
            known.insert(0, template)
            del known[MOST_VARIANTS:]

    def _template(
        self, signature: Any, made: Specialisation, function: types.FunctionType
    ) -> Template | None:
        """Keep what was compiled, but not what holds arrays of the user's and may be asked once."""
        template = Template.of(made, function)
        known = arrays_of(self.parameters())  # which the key holds already
        template.arrays = arrays_of(template.objects()) | known
        if template.arrays.keys() - known and hash(signature) not in self._compiled:
            self._compiled.add(hash(signature))  # the next time it is kept
            return None
        variants = _room(self._by_signature, MOST_KINDS).setdefault(signature, [])
        variants.append(template)
        for gone in variants[:-MOST_VARIANTS]:
            self._forget(gone)
        self._make_room(template)
        every = [each for known in self._by_signature.values() for each in known]
        FAMILIES.holds(self.key, functools.reduce(operator.or_, [e.arrays for e in every]))
        return template

    def _make_room(self, coming: Template) -> None:
        """Templates that hold objects with large arrays, and were not asked for again, go."""
        held = dict(coming.arrays)
        every = [each for known in self._by_signature.values() for each in known]
        for template in reversed([e for e in every if e is not coming and not e.again]):
            held |= template.arrays
            if template.arrays and sum(held.values()) > MOST_HELD:
                self._forget(template)

    def parameters(self) -> list[Parameter]:
        """Those with respect to which functions of the family are differentiated."""
        weights = [getattr(transform, "weights", None) for _, transform in self.key[-1]]
        return [each for one in weights if one is not None for each in one.parameters]

    def _forget(self, template: Template) -> None:
        for known in (*self._exact.values(), *self._by_signature.values()):
            known[:] = [each for each in known if each is not template]


def _room(table: dict, most: int) -> dict:
    """The table, emptied where it is full."""
    if len(table) >= most:
        table.clear()
    return table


FAMILIES = Recent(size=256)


def _key_of(function: types.FunctionType) -> tuple:
    """What functions have in common that may have the same code.

    Those whose globals are others have other helpers: what is compiled keeps these, and so the
    globals, alive, so that their identity stays theirs.
    """
    defaults = function.__defaults__
    return (
        id(function.__code__),
        id(function.__globals__),
        function.__name__,
        0 if defaults is None else len(defaults),
        tuple(function.__kwdefaults__ or ()),
    )


def family_of(function: Any, chain: Chain, make: Callable[[Family], None]) -> Family:
    """The family of a function under a chain of transforms, from the inside out.

    Args:
        make: fills in what is known of the signature, and refuses what is wrong with it.
    """
    if not is_plain(function):
        family = Family()
        make(family)
        return family
    key = (*_key_of(function), chain)
    known = FAMILIES.known(key)
    if known is not None:
        return known
    try:
        return FAMILIES.get((), lambda: _made(key, function, make), key)
    except TypeError:
        if is_hashable(chain):
            raise
    family = Family()
    make(family)
    return family


def _made(key: tuple, function: types.FunctionType, make: Callable[[Family], None]) -> Family:
    family = Family(key)
    forget = functools.partial(FAMILIES.forget, key)
    family.code = weakref.ref(function.__code__, lambda _: forget())
    make(family)
    return family


def _numbers(function: types.FunctionType) -> dict[str, str]:
    """The numbers among the defaults of a function, by parameter, as text."""
    count = function.__code__.co_argcount
    positional = function.__defaults__ or ()
    names = function.__code__.co_varnames[count - len(positional) : count]
    pairs = [*zip(names, positional, strict=True), *(function.__kwdefaults__ or {}).items()]
    return {name: repr(value) for name, value in pairs if type(value) in (int, float, complex)}


def is_plain(function: Any) -> bool:
    """Whether it is a function of which nothing but code, names and defaults says what it does.

    Of a library's functions their identity says it, for they may have rules.
    """
    if type(function) is not types.FunctionType:
        return False
    of_library = (function.__module__ or "").partition(".")[0] in LIBRARIES
    return not of_library and not function.__dict__.keys() & {"__signature__", "__s2s_lower__"}


def is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
