"""Nested containers (tuple, list, dict, namedtuple, dataclass, object) as trees of leaves."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from s2s_ad.core.homes import is_of_library
from s2s_ad.runtime import instance
from s2s_ad.tensors import ParameterTuple

Path = tuple[tuple[str, Any], ...]

#: what `keys()`, `values()` and `items()` of a dict give
KEYS_VIEW, VALUES_VIEW, ITEMS_VIEW = VIEWS = type({}.keys()), type({}.values()), type({}.items())


@dataclasses.dataclass(frozen=True, slots=True)
class Tree:
    """One container: its type, its keys (positions, dict keys or field names) and its items."""

    kind: type
    keys: tuple
    items: tuple

    def get(self, key: Any) -> Any:
        return self.items[self.keys.index(key)]

    def steps(self) -> Iterator[tuple[str, Any]]:
        """How each item is reached: ("item", key) or ("attribute", name)."""
        way = "item" if self.kind in (tuple, list, dict, *VIEWS) else "attribute"
        return ((way, key) for key in self.keys)


def tuple_of(items: Iterable[Any]) -> Tree:
    """A tuple of these items."""
    items = tuple(items)
    return Tree(tuple, tuple(range(len(items))), items)


def one_or_tuple(items: Sequence[Any]) -> Any:
    """The one item there is, or a tuple of them."""
    return items[0] if len(items) == 1 else tuple_of(items)


def is_namedtuple(kind: type) -> bool:
    return issubclass(kind, tuple) and kind is not tuple and hasattr(kind, "_fields")


@functools.cache
def _namedtuple_like(structure: Any) -> Any:
    fields = structure.__match_args__
    plain = len(fields) == structure.n_sequence_fields == structure.n_fields
    return collections.namedtuple(structure.__name__, fields) if plain else None


def as_namedtuple(value: Any) -> Any:
    """What Python's own code has made as a tuple with names, as a namedtuple: the version.

    None of anything else.
    """
    is_structure = isinstance(value, tuple) and hasattr(type(value), "n_sequence_fields")
    kind = _namedtuple_like(type(value)) if is_structure else None
    return None if kind is None else kind(*value)


def is_container(value: Any) -> bool:
    kind = type(value)
    if kind in (tuple, list, dict, ParameterTuple) or is_namedtuple(kind):
        return True
    return dataclasses.is_dataclass(kind)


def is_made_by_a_call(kind: type) -> bool:
    """Whether a call with the fields makes an object of the class; of others attributes are set."""
    return dataclasses.is_dataclass(kind) or is_namedtuple(kind)


def is_object(value: Any) -> bool:
    """Whether it is an object of a class of the user's that holds floats in its attributes.

    It is a container where somebody differentiates by it, or maps over it; elsewhere it is itself.
    """
    if is_container(value) or not has_plain_attributes(type(value)):
        return False
    try:
        return _holds_floats(value, ())
    except HoldsItself:
        return False


def _holds_floats(value: Any, around: tuple) -> bool:
    """Whether there are floats or arrays of them in an object, which does not hold itself."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "fc"
    if isinstance(value, float | complex):
        return True
    if is_container(value):
        items = one_level(value).items
    elif has_plain_attributes(type(value)):
        items = tuple(attributes_of(value).values())
    else:
        return False
    if any(each is value for each in around):
        raise HoldsItself
    found = [_holds_floats(each, (*around, value)) for each in items]
    return any(found)


class HoldsItself(Exception):
    """Objects that hold each other are no tree."""


def has_plain_attributes(kind: type) -> bool:
    """Whether the objects of a class are what their attributes are: Python's own reading, setting
    and making of them, and no state of a library's class below."""
    if hasattr(kind, "__array__") or hasattr(kind, "__getattr__"):
        return False
    usual = ("__getattribute__", "__setattr__", "__delattr__", "__new__")
    if any(getattr(kind, each) is not getattr(object, each) for each in usual):
        return False
    own = [each for each in kind.__mro__ if each is not object and _adds_state(each)]
    return bool(own) and all(map(_is_the_users, own))


def _adds_state(kind: type) -> bool:
    """Whether its objects hold more than those of object; those of ABC and Generic do not."""
    return bool(kind.__dictoffset__) or kind.__basicsize__ != object.__basicsize__


def _is_the_users(kind: type) -> bool:
    """Whether it has no state that the attributes of its objects do not show."""
    return not is_of_library(kind) and not issubclass(kind, enum.Enum | BaseException)


def attributes_of(value: Any) -> dict[str, Any]:
    """The attributes that an object has itself, in the order in which they were set."""
    slots = [each for kind in type(value).__mro__ for each in _slots(kind) if hasattr(value, each)]
    return {each: getattr(value, each) for each in slots} | getattr(value, "__dict__", {})


def _slots(kind: type) -> list[str]:
    return [key for key, each in vars(kind).items() if type(each) is types.MemberDescriptorType]


def kind_of(value: Any) -> type:
    """The type of a value, of a Tree that of the container that it stands for."""
    return value.kind if isinstance(value, Tree) else type(value)


def one_level(value: Any) -> Tree:
    """The container `value` as a Tree whose items are left as they are."""
    if isinstance(value, Tree):
        return value
    kind = type(value)
    if kind in (tuple, list, ParameterTuple):
        kind = tuple if kind is ParameterTuple else kind
        return Tree(kind, tuple(range(len(value))), tuple(value))
    if kind is dict:
        return Tree(kind, tuple(value), tuple(value.values()))
    if is_namedtuple(kind):
        return Tree(kind, kind._fields, tuple(value))
    if not dataclasses.is_dataclass(kind):
        found = attributes_of(value)
        return Tree(kind, tuple(found), tuple(found.values()))
    names = tuple(field.name for field in dataclasses.fields(value))
    return Tree(kind, names, tuple(getattr(value, name) for name in names))


def is_deeper(value: Any, most: int) -> bool:
    """Whether containers stand in each other more than `most` deep, as they do in themselves."""
    level = [value] if is_container(value) else []
    for _ in range(most):
        trees = list(map(one_level, level))
        inner = {id(each): each for outer in trees for each in outer.items}
        level = [each for each in inner.values() if is_container(each)]
        if not level:
            return False
    return True


def from_object(
    value: Any, leaf: Callable[[Any, Path], Any], path: Path = (), *, opens: bool = False
) -> Any:
    """`value` with its containers as Trees and every other object mapped by leaf(object, path).

    With `opens` objects of the user's that hold floats are containers too.
    """
    if not is_container(value) and not (opens and is_object(value)):
        return leaf(value, path)
    top = one_level(value)
    items = tuple(
        from_object(item, leaf, (*path, step), opens=opens)
        for item, step in zip(top.items, top.steps(), strict=True)
    )
    return Tree(top.kind, top.keys, items)


def to_object(tree: Any) -> Any:
    """The Python containers that a tree of leaves stands for."""
    if not isinstance(tree, Tree):
        return tree
    return build(tree.kind, tree.keys, [to_object(item) for item in tree.items])


def build(kind: type, keys: tuple, items: list) -> Any:
    if kind in (tuple, list):
        return kind(items)
    if kind is dict:
        return dict(zip(keys, items, strict=True))
    if is_namedtuple(kind):
        return kind(*items)
    named = dict(zip(keys, items, strict=True))
    return kind(**named) if is_made_by_a_call(kind) else instance(kind, **named)


def leaves(tree: Any) -> list:
    if not isinstance(tree, Tree):
        return [tree]
    return [leaf for item in tree.items for leaf in leaves(item)]


def paths(tree: Any, path: Path = ()) -> list[Path]:
    """The path of each leaf, in the order of `leaves`."""
    if not isinstance(tree, Tree):
        return [path]
    steps = zip(tree.items, tree.steps(), strict=True)
    return [each for item, step in steps for each in paths(item, (*path, step))]


def tree_map(function: Callable, tree: Any, *others: Any) -> Any:
    """`function` applied to each leaf (of several trees of the same structure)."""
    if not isinstance(tree, Tree):
        return function(tree, *others)
    columns = zip(tree.items, *(other.items for other in others), strict=True)
    return Tree(tree.kind, tree.keys, tuple(tree_map(function, *column) for column in columns))


def follow(value: Any, path: Path) -> Any:
    """The object that `path` leads to from `value`."""
    for way, key in path:
        value = getattr(value, key) if way == "attribute" else value[key]
    return value


def path_text(root: str, path: Path) -> str:
    """The path as Python: params["W1"], self.layers[0].weight."""
    steps = (f".{key}" if way == "attribute" else f"[{_quoted(key)}]" for way, key in path)
    return root + "".join(steps)


def _quoted(key: Any) -> str:
    return f'"{key}"' if isinstance(key, str) and '"' not in key else repr(key)
