"""Functions mapped over nested tuples and lists, and functions chosen by the types of arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError

__all__ = ["HyperMap", "Map", "MultitypeFuncGraph", "partial"]


class MultitypeFuncGraph:
    """A function of several definitions; the types of the arguments choose one.

    Example:
        >>> double = MultitypeFuncGraph("double")
        >>> @double.register("Tensor")
        ... def of_tensor(x):
        ...     return x * 2
        >>> double(np.array([1.0])).tolist()
        [2.0]
    """

    def __init__(self, name: str, read_value: bool = False):
        self.name = name
        self.entries: list[tuple[tuple[str, ...], Callable]] = []

    def register(self, *type_names: str) -> Callable:
        """A decorator for the definition for arguments of these types.

        Args:
            type_names: 'Tensor', 'Number', 'Int', 'Float', 'Bool', 'String', 'Tuple', 'List',
                'Dictionary', 'Function' or 'None', one for each argument; 'Any' is any of them.
        """
        names = tuple(name_of_type(each) for each in type_names)
        for name in names:
            if name not in TYPES:
                raise ArgumentValueError(
                    "S2S502",
                    f"MultitypeFuncGraph.register: {name!r} is no type; "
                    f"expected one of {', '.join(TYPES)}",
                )

        def keep(function: Callable) -> Callable:
            self.entries.append((names, function))
            return function

        return keep

    def __call__(self, *args: Any) -> Any:
        for names, function in self.entries:
            if fits(names, args):
                return function(*args)
        kinds = ", ".join(type(each).__name__ for each in args)
        raise ArgumentTypeError("S2S501", f"{self.name}: no definition for ({kinds})")


#: the types that a definition may name
TYPES: dict[str, Any] = {
    "Any": object,
    "Bool": bool,
    "Dictionary": dict,
    "Float": float,
    "Function": Callable,
    "Int": int,
    "List": list,
    "None": type(None),
    "Number": (int, float, complex),
    "String": str,
    "Tensor": (np.ndarray, np.generic),
    "Tuple": tuple,
}


def name_of_type(kind: Any) -> Any:
    """The name of a type that is given by name or as a class."""
    if isinstance(kind, str):
        return kind
    known = next((name for name, each in TYPES.items() if each == kind), None)
    return getattr(kind, "__name__", kind) if known is None else known


def fits(names: tuple[str, ...], args: tuple) -> bool:
    """Whether arguments are of these types."""
    return len(names) == len(args) and all(map(is_of_type, names, args))


def is_of_type(name: str, value: Any) -> bool:
    """Whether a value is of the type of this name."""
    if name == "Any":
        return True
    if name == "Function":
        return callable(value)
    return isinstance(value, TYPES[name])


class HyperMap:
    """A function applied to the leaves of nested tuples and lists that have one structure.

    Args:
        ops: the function; without it the first argument of the call is.
        reverse: go from the last item to the first.

    Example:
        >>> HyperMap()(lambda x, y: x + y, (1, (2, 3)), (10, (20, 30)))
        (11, (22, 33))
    """

    def __init__(self, ops: Callable | None = None, reverse: bool = False):
        self.ops, self.reverse = ops, reverse

    def __call__(self, *args: Any) -> Any:
        if self.ops is None:
            return mapped(args[0], self.reverse, args[1:])
        return mapped(self.ops, self.reverse, args)


class Map:
    """A function applied to the items of tuples and lists of one length.

    Args:
        ops: the function; without it the first argument of the call is.
        reverse: go from the last item to the first.

    Example:
        >>> Map()(lambda x, y: x + y, (1, 2), (10, 20))
        (11, 22)
    """

    def __init__(self, ops: Callable | None = None, reverse: bool = False):
        self.ops, self.reverse = ops, reverse

    def __call__(self, *args: Any) -> Any:
        function, trees = (args[0], args[1:]) if self.ops is None else (self.ops, args)
        of_one_length("Map", trees)
        return collected(trees[0], [function(*items) for items in rows(trees, self.reverse)], self)


def mapped(function: Callable, reverse: bool, trees: tuple) -> Any:
    """The function of leaves at the same place, in the structure of the first tree."""
    leaves = list(zip(*[leaves_like(trees[0], each) for each in trees], strict=True))
    order = list(reversed(leaves)) if reverse else leaves
    results = [function(*items) for items in order]
    return nested(trees[0], list(reversed(results)) if reverse else results)


def leaves_like(like: Any, tree: Any) -> list:
    """What a tree has where `like` has its leaves, in order."""
    if not isinstance(like, tuple | list):
        return [tree]
    of_one_length("HyperMap", (like, tree))
    pairs = zip(like, tree, strict=True)
    return [leaf for inner, each in pairs for leaf in leaves_like(inner, each)]


def nested(like: Any, leaves: list) -> Any:
    """Leaves in the structure of `like`, whose tuples and lists become tuples."""
    if not isinstance(like, tuple | list):
        return leaves[0]
    items, start = [], 0
    for each in like:
        count = len(leaves_like(each, each))
        items.append(nested(each, leaves[start : start + count]))
        start += count
    return tuple(items)


def rows(trees: tuple, reverse: bool) -> list:
    """The items at the same place of each."""
    found = list(zip(*trees, strict=True))
    return list(reversed(found)) if reverse else found


def collected(like: Any, results: list, holder: Any) -> Any:
    """The results in the order of the items."""
    return tuple(reversed(results)) if holder.reverse else tuple(results)


def of_one_length(api: str, trees: tuple) -> None:
    """All of them are tuples or lists of one length."""
    for index, each in enumerate(trees):
        if not isinstance(each, tuple | list):
            raise ArgumentTypeError(
                "S2S501", f"{api}: argument {index} is a {type(each).__name__}; expected a tuple"
            )
        if len(each) != len(trees[0]):
            raise ArgumentValueError(
                "S2S502",
                f"{api}: argument {index} has {len(each)} items, argument 0 has {len(trees[0])}",
            )
