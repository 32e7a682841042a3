"""Classes that derive from list, dict or ndarray: their objects hold one, and its methods are
Python's.

Such an object is of a class below the user's, in which what list or dict says in C stands as it is
written here; what ndarray says is asked of NumPy (`array_classes`). So what the user's class
overrides goes before, as does what it adds.
"""

from __future__ import annotations

import types
import weakref
from typing import Any

import numpy as np

from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.frontend.lower.classes import HELD, method_of
from s2s_ad.frontend.lower.entries import held

#: by the class that is derived from: the class in which its methods are written
WRITTEN: dict[type, type] = {}
#: the attributes of a made class: the methods of what it derives from, by name
METHODS = "__s2s_written__"

#: by the user's class: the class that was made, and what was written into it
_MADE: weakref.WeakKeyDictionary[type, tuple] = weakref.WeakKeyDictionary()

#: the keys of the handlers of what is done with objects that hold an array
ARRAY_ATTRIBUTE, SET_ARRAY_ATTRIBUTE = "an attribute of ndarray", "an attribute of ndarray is set"
ARRAY_CALL, ARRAY_VIEW = "a call with such an object", "a view of another class"
#: the classes whose `__new__` may be overridden
MADE_BY_NEW = (object, np.ndarray)

OF_C = types.MethodDescriptorType | types.WrapperDescriptorType


def base_of(kind: type) -> type | None:
    """The class of Python's own that a class derives from, where that is written here."""
    return next((each for each in kind.__mro__[1:] if each in WRITTEN), None)


def is_made(kind: type) -> bool:
    """Whether a class was made here."""
    return METHODS in vars(kind)


def is_array_object(value: Any) -> bool:
    """Whether it is an object of a class that derives from ndarray."""
    return isinstance(value, Tree) and is_made(value.kind) and base_of(value.kind) is np.ndarray


def shows_part_of(lowering: Any, holder: Any, value: Any) -> bool:
    """Whether what an index of an object gave is a view of the array that it holds."""
    if not is_array_object(holder) or not is_array_object(value):
        return False
    written = written_methods(holder.kind)
    own = any(
        method_of(holder.kind, each) is not written[each] for each in ("__getitem__", "__setitem__")
    )
    return not own and getattr(held(lowering, value, HELD), "view", None) is not None


def may_be_array(value: Any) -> bool:
    """Whether it is an array, or an object that holds one."""
    return isinstance(value, Symbol) or is_array_object(value)


def holds_array_objects(value: Any) -> bool:
    """Whether it is such an object, or a tuple or list of NumPy's arguments with one."""
    if not isinstance(value, Tree) or value.kind not in (tuple, list):
        return is_array_object(value)
    return not getattr(value, "is_dynamic", False) and any(map(holds_array_objects, value.items))


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
