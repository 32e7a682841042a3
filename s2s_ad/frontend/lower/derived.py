"""Classes that derive from list or dict: their objects hold one, and its methods are Python's.

Such an object is of a class below the user's, in which what list or dict says in C stands as it is
written here. So what the user's class overrides goes before, as does what it adds.
"""

from __future__ import annotations

import types
import weakref
from typing import Any

from s2s_ad.frontend.lower.classes import method_of

#: by the class that is derived from: the class in which its methods are written
WRITTEN: dict[type, type] = {}
#: the attribute of an object that holds the list or dict, which what is written of it reads
HELD = "_s2s_held"
#: the attributes of a made class: the methods of what it derives from, by name
METHODS = "__s2s_written__"

#: by the user's class: the class that was made, and what was written into it
_MADE: weakref.WeakKeyDictionary[type, tuple] = weakref.WeakKeyDictionary()

OF_C = types.MethodDescriptorType | types.WrapperDescriptorType


def base_of(kind: type) -> type | None:
    """The class of Python's own that a class derives from, where that is written here."""
    return next((each for each in kind.__mro__[1:] if each in WRITTEN), None)


def is_made(kind: type) -> bool:
    """Whether a class was made here."""
    return METHODS in vars(kind)


def is_read_as_dict(kind: type) -> bool:
    """Whether dict(value) and f(**value) read what it holds, whatever its `__getitem__` says."""
    return is_made(kind) and base_of(kind) is dict and "__iter__" in vars(kind)


def written_methods(kind: Any) -> dict[str, Any]:
    """The methods of list or dict of the objects of a class, where it is one that was made."""
    return getattr(kind, METHODS, {})


def with_written_methods(kind: type) -> type:
    """The class of the objects that a call of a class makes."""
    base = base_of(kind)
    if base is None:
        return kind
    space = _written(kind, base)
    made, before = _MADE.get(kind, (lambda: None, {}))
    if made() is None or space != before:
        _MADE[kind] = (weakref.ref(_made(kind, base, space)), space)
        return with_written_methods(kind)
    return made()


def _written(kind: type, base: type) -> dict[str, Any]:
    """What of a class is said in C, by list or dict, as it is written here."""
    methods, space = _methods(base), {}
    for name in {*methods, *_names_of_users(kind, base)}:
        found = method_of(kind, name)
        of_base = isinstance(found, OF_C) and issubclass(base, found.__objclass__)
        written = methods.get(getattr(found, "__name__", name))
        if written is not None and (of_base or found is None):
            space[name] = written
    return space


def _methods(base: type) -> dict[str, Any]:
    classes = reversed(WRITTEN[base].__mro__[:-1])
    return {name: x for each in classes for name, x in vars(each).items() if callable(x)}


def _made(kind: type, base: type, space: dict[str, Any]) -> type:
    own = {"__s2s_stands_for__": kind, METHODS: _methods(base)}
    own["__s2s_items__"] = HELD if base is list and "__iter__" in space else None
    own |= {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    return types.new_class(kind.__name__, (kind,), {}, lambda s: s.update(space | own))


def _names_of_users(kind: type, base: type) -> set[str]:
    """What the classes before list or dict say."""
    own = kind.__mro__[: kind.__mro__.index(base)]
    return {name for each in own for name in vars(each)}
