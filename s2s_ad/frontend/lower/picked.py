"""Objects that differ from path to path: `force = spring if x > 0 else damper`.

Such a value is one of several objects. Which they may be is known; a flag for each of them says
when the code runs whether it is that one. What is done with the value is done with each of them, on
a path of its own (`conditions.for_each_picked`), so an object that is changed is the object itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from s2s_ad.core.builder import Symbol
from s2s_ad.core.program import identifier
from s2s_ad.core.tree import Tree, is_namedtuple
from s2s_ad.core.values import UNDEFINED
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.resolve import Captured

#: objects that are known, of which a value may be one; so may be what the function makes of these
KNOWN = Captured | type | np.dtype | range


#: the key of the handler of what is done with each of several objects
EACH = "each of several objects"


class OfOurs:
    """The base of the kinds of Trees that stand for no object of the user's."""

    __slots__ = ()


class Picked(tuple):
    """The kind of a Tree of flags, and of the objects of which the first with a true flag is it."""

    in_python = "object"

    __slots__ = ()


def is_picked(value: Any) -> bool:
    """Whether it is one of several objects, and which is not known now."""
    return isinstance(value, Tree) and value.kind is Picked


def is_object(value: Any) -> bool:
    """Whether it is an object of a class of the user's that is no container."""
    kind = value.kind if isinstance(value, Tree) else dict
    if kind in (dict, list, set, tuple) or issubclass(kind, OfOurs):
        return False
    return not issubclass(kind, tuple) or is_namedtuple(kind)


def may_be_picked(value: Any) -> bool:
    """Whether it is an object or a function, so that a value may be this one or another."""
    if isinstance(value, Tree):
        return is_picked(value) or is_object(value) or is_told_apart(value)
    if isinstance(value, KNOWN) or is_told_apart(value):
        return True
    made = hasattr(value, "function") or hasattr(value, "new_frame")
    return made if hasattr(value, "holds") else callable(value)


def is_told_apart(value: Any) -> bool:
    """Whether it is an array, a list, a dict or an object that is not to be taken for another."""
    if not hasattr(type(value), "memory") or not value.memory.tells_apart:
        return False
    return isinstance(value, Tree) or value.number is False


def options(value: Any) -> list[tuple[Any, Any]]:
    """The objects that it may be, each with its flag."""
    if not is_picked(value):
        return [(True, value)]
    count = len(value.items) // 2
    return list(zip(value.items[:count], value.items[count:], strict=True))


def members(value: Any) -> list[Any]:
    """The objects that it may be."""
    return [member for _, member in options(value)]


def picked(choices: Sequence[tuple[Any, Any]]) -> Any:
    """The value that is the first of these objects whose flag is true."""
    possible = [(flag, member) for flag, member in choices if flag is not False]
    certain = next((i for i, (flag, _) in enumerate(possible) if flag is True), None)
    if certain is not None:
        possible = possible[: certain + 1]
    if len(possible) == 1:
        return possible[0][1]
    flags, objects = zip(*possible, strict=True)
    names = names_of(objects)
    return Tree(Picked, (*map(flag_of, names), *names), (*flags, *objects))


def flag_of(name: str) -> str:
    """What the flag of an object is called."""
    return f"is_{name}"


def names_of(objects: Iterable[Any]) -> list[str]:
    """What the objects are called, each in another way."""
    found: dict[str, None] = {}
    for each in objects:
        name = plain = _name(each)
        count = 1
        while name in found:
            count += 1
            name = f"{plain}_{count}"
        found[name] = None
    return [*found]


def _name(value: Any) -> str:
    if isinstance(value, Tree):
        return value.kind.__name__.lower()
    if isinstance(value, Symbol):
        return "array"
    if isinstance(value, Captured):
        return identifier(value.place.text).lower()
    whole = getattr(value, "function", value)
    name = getattr(whole, "__name__", None) or getattr(whole, "name", None)
    return name.lower() if isinstance(name, str) and name.isidentifier() else "other"


def settled_by(known: Mapping[str, bool], value: Tree) -> Any:
    """The value as far as the truth of conditions says which object it is."""
    choices = [
        (known.get(flag.name, flag) if isinstance(flag, Symbol) else flag, member)
        for flag, member in options(value)
    ]
    if not any(flag is not False for flag, _ in choices):
        return value
    changed = any(a is not b for (a, _), b in zip(choices, value.items, strict=False))
    return picked(choices) if changed else value


Alike = Callable[[Any, Any], bool]


def table(values: Sequence[Any], alike: Alike) -> list[tuple[list, list]]:
    """The objects that some values may be: a row (flags, objects) for each, a column for a value.

    No two objects of one value share a row, those of others do where they are alike.
    """
    rows: list[tuple[Any, list, list]] = []
    for index, value in enumerate(values):
        for flag, member in [] if value is UNDEFINED else options(value):
            free = [row for row in rows if row[2][index] is UNDEFINED]
            same = [row for row in free if row[0] is member] or [
                row for row in free if alike(row[0], member)
            ]
            if not same:
                flags = [UNDEFINED if each is UNDEFINED else False for each in values]
                same = [(member, flags, [UNDEFINED] * len(values))]
                rows += same
            _, flags, objects = same[0]
            flags[index], objects[index] = flag, member
    return [(flags, objects) for _, flags, objects in rows]


def are_the_same(a: Any, b: Any, alike: Alike) -> bool:
    """Whether two values may be the same objects, in the same order."""
    pair = [members(each) for each in (a, b)]
    return is_picked(a) and is_picked(b) and len(pair[0]) == len(pair[1]) and all(map(alike, *pair))


def are_several(values: Sequence[Any], alike: Alike) -> bool:
    """Whether values on several paths are objects that are not to be one."""
    if not all(map(may_be_picked, values)):
        return False
    first = values[0]
    return any(map(is_picked, values)) or not all(alike(first, each) for each in values)


def one_of_several(value: Tree, what: str) -> UnsupportedError:
    """The error for what is not done with each of the objects that a value may be."""
    return UnsupportedError(
        "S2S205",
        f"one of several objects, {what}",
        why="which of them it is depends on values: " + " or ".join(names_of(members(value))),
        help="ask which it is first: if value is one_of_them",
    )
