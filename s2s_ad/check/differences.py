"""Gradients from evaluations alone, element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s_ad.core import tree
from s2s_ad.diagnostics import ArgumentTypeError


def central_differences(fn: Callable, args: Sequence[Any], *, step: float | None = None) -> tuple:
    """The gradient of the sum of all floating-point outputs of `fn`, two calls an element.

    Args:
        fn: any function of numbers, arrays and containers; it need not be one that compiles.
        args: where.
        step: how far each element is moved, relative to its size; by default the cube root of
            the precision of its dtype.

    Returns:
        For each argument a container of the same structure; None in the place of what holds no
        floating-point numbers.

    Example:
        >>> central_differences(lambda x, n: x**n, (3.0, 2))[0].round(6)
        np.float64(6.0)
    """

    def partial(path: tree.Path, x: Any, unit: np.ndarray) -> Any:
        size = float(np.max(np.abs(x * unit))) or 1.0
        near = (step or precision([x]) ** (1 / 3)) * size
        after, before = (moved(tuple(args), path, unit * each) for each in (near, -near))
        taken = np.sum(tree.follow(after, path) - tree.follow(before, path), dtype=float)
        return (_total(fn(*after)) - _total(fn(*before))) / taken

    return _elementwise(args, partial)


def complex_step(fn: Callable, args: Sequence[Any], *, step: float = 1e-30) -> tuple:
    """Like `central_differences`, right to the last digits, for functions that are analytic.

    One call an element, which has an imaginary part added to it. What drops imaginary parts
    (`np.abs`, comparisons, casts to float) gives wrong numbers.

    Example:
        >>> complex_step(np.exp, (0.0,))
        (np.float64(1.0),)
    """

    def partial(path: tree.Path, x: Any, unit: np.ndarray) -> Any:
        return np.imag(_total(fn(*moved(tuple(args), path, unit * (step * 1j))))) / step

    return _elementwise(args, partial)


def _elementwise(args: Sequence[Any], partial: Callable) -> tuple:
    """The partial derivative with respect to each element of the floating-point leaves."""

    def leaf(x: Any, path: tree.Path) -> Any:
        if not is_real(x):
            return None
        found = np.zeros(np.shape(x))
        for index in np.ndindex(found.shape):
            unit = np.zeros(found.shape)
            unit[index] = 1.0
            found[index] = partial(path, x, unit)
        return found[()]

    return tree.to_object(tree.from_object(tuple(args), leaf))


def moved(args: Any, path: tree.Path, change: Any) -> Any:
    """The container with `change` added at one leaf, which keeps its type if that is real."""

    def at(leaf: Any, here: tree.Path) -> Any:
        if here != path:
            return leaf
        return leaf + change if np.iscomplexobj(change) else like(leaf + change, leaf)

    return tree.to_object(tree.from_object(args, at))


def like(value: Any, example: Any) -> Any:
    """The value as a number or an array of the type and the dtype of the example."""
    if not isinstance(example, np.ndarray):
        return type(example)(value)
    return np.asarray(value, dtype=example.dtype)


def _total(value: Any) -> Any:
    outputs = inexact_leaves(value)
    if not outputs:
        raise ArgumentTypeError("S2S304", f"no floating-point number in the output {value!r}")
    return sum(np.sum(leaf, dtype=np.result_type(leaf, float)) for leaf in outputs)


def leaves(value: Any) -> list:
    """The objects in a nest of containers."""
    return tree.leaves(tree.from_object(value, lambda leaf, _: leaf))


def inexact_leaves(value: Any) -> list:
    """Those of them that are floating-point or complex."""
    return [leaf for leaf in leaves(value) if _kind(leaf) in ("f", "c")]


def is_real(value: Any) -> bool:
    """Whether the object is a floating-point number or an array of these."""
    return _kind(value) == "f"


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind
    return {float: "f", complex: "c"}.get(type(value), "")


def precision(values: Sequence[Any]) -> float:
    """The spacing at one of the coarsest floating-point dtype among the values; 0 without one."""
    dtypes = [np.result_type(each) for each in values]
    return max((float(np.finfo(each).eps) for each in dtypes if each.kind in "fc"), default=0.0)
