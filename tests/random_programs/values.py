"""Values of programs: their types, their leaves, and how arguments are made and moved."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

LARGEST = 40.0  # what a program computes stays below, so that differences are precise


@dataclasses.dataclass(frozen=True)
class Type:
    """What the generator knows of a value; the shape of what is no array is None."""

    dtype: str  # one of b i f c, with the width of what is a NumPy value: f4, f8, i8, ...
    shape: tuple[int, ...] | None = None


def type_of(value: Any) -> Type | None:
    """The type of a number or an array; None of anything else."""
    if isinstance(value, np.ndarray):
        return Type(value.dtype.str[1:], value.shape) if value.dtype.kind in "bifc" else None
    if isinstance(value, np.generic):
        return Type(value.dtype.str[1:]) if value.dtype.kind in "bifc" else None
    return {bool: Type("b"), int: Type("i"), float: Type("f"), complex: Type("c")}.get(type(value))


def children(value: Any) -> Iterator[tuple[str, Any]]:
    """What a container holds, with the text that selects it."""
    if isinstance(value, list | tuple):
        fields = getattr(value, "_fields", None)
        for i, item in enumerate(value):
            yield (f".{fields[i]}" if fields else f"[{i}]"), item
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"[{key!r}]", item
    elif hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        for name, item in vars(value).items():
            yield f".{name}", item


def is_container(value: Any) -> bool:
    return isinstance(value, list | tuple | dict) or (
        type(value).__module__ == "random_program" and hasattr(value, "__dict__")
    )


def is_deep(value: Any, depth: int = 6) -> bool:
    """Whether containers are nested deeper than that; those that hold themselves are."""
    if not is_container(value):
        return False
    return not depth or any(is_deep(item, depth - 1) for _, item in children(value))


def leaves(value: Any, depth: int = 0) -> list:
    """The numbers, arrays and other objects in a nest of containers."""
    if depth < 20 and is_container(value):
        return [leaf for _, item in children(value) for leaf in leaves(item, depth + 1)]
    return [value]


def rebuilt(value: Any, leaf: Callable[[Any], Any], lists: Callable[[list], list] = list) -> Any:
    """The same containers with other leaves, which are made in the order of `leaves`."""
    if isinstance(value, list):
        return lists([rebuilt(item, leaf, lists) for item in value])
    if isinstance(value, tuple):
        items = [rebuilt(item, leaf, lists) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, dict):
        return {key: rebuilt(item, leaf, lists) for key, item in value.items()}
    if is_container(value):
        made = copy.copy(value)
        for name, item in list(vars(value).items()):
            object.__setattr__(made, name, rebuilt(item, leaf, lists))
        return made
    return leaf(value)


def kind(leaf: Any) -> str:
    """The letter of the leaf's dtype, an empty text of what is no number."""
    known = type_of(leaf)
    return known.dtype[0] if known else ""


def is_inexact(leaf: Any) -> bool:
    return kind(leaf) in ("f", "c")


def inexact(value: Any) -> list:
    """The floating-point and complex leaves."""
    return [leaf for leaf in leaves(value) if is_inexact(leaf)]


def is_tame(value: Any) -> bool:
    """Whether all numbers in a value are finite and small enough to go on with."""
    for leaf in leaves(value):
        if kind(leaf) and np.size(leaf):
            if not np.all(np.isfinite(leaf)) or np.max(np.abs(leaf)) > LARGEST:
                return False
            if np.size(leaf) > 64:
                return False
    return True


def like(value: Any, example: Any) -> Any:
    """A value with the type and the dtype of the example."""
    if isinstance(example, np.ndarray):
        return np.asarray(value, dtype=example.dtype)
    return type(example)(value)


def random_like(leaf: Any, rng: np.random.Generator, scale: float = 1.0) -> Any:
    """Random numbers of the type, the dtype and the shape of a leaf that is inexact."""
    shape = np.shape(leaf)
    made = rng.standard_normal(shape) * scale
    if kind(leaf) == "c":
        made = made + 1j * rng.standard_normal(shape) * scale
    return like(made, leaf)


def widened(value: Any) -> Any:
    """The same with double precision in the place of single precision."""

    def leaf(each: Any) -> Any:
        if isinstance(each, np.ndarray) and each.dtype == np.float32:
            return each.astype(np.float64)
        if isinstance(each, np.float32):
            return np.float64(each)
        return each

    return rebuilt(value, leaf)


def is_single(value: Any) -> bool:
    """Whether a leaf is of single precision."""
    return any(getattr(leaf, "dtype", None) == np.float32 for leaf in leaves(value))
