"""What NumPy says of arrays and types without a look at their elements: known while lowering."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.core.builder import Symbol, describe
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.builtin import evaluates
from s2s_ad.frontend.lower.calls import HANDLERS, known_object, of_text
from s2s_ad.frontend.lower.containers import known_items, sequence
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.heap import Reference
from s2s_ad.frontend.lower.refused import LAYOUT, OUTSIDE
from s2s_ad.frontend.resolve import unwrap


def _refused(function: Any, why: str, help: str = "") -> UnsupportedError:
    return UnsupportedError("S2S205", f"{describe(function)} of a value", why=why, help=help)


def _dtype_of(function: Any, value: Symbol) -> np.dtype:
    if value.dtype is None:
        raise _refused(function, "its dtype is not known", "give example arguments")
    return value.dtype


# ---- types ---------------------------------------------------------------------------------------


def _of_types(function: Callable, stand_in: Callable[[Any, Symbol], Any]) -> None:
    """Let the function be asked of `stand_in` in place of a value."""

    def handler(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
        def known(value: Any) -> Any:
            found = tree.tree_map(
                lambda each: stand_in(function, each) if isinstance(each, Symbol) else each, value
            )
            return known_object(found)

        named = {key: known(each) for key, each in kwargs.items()}
        result = function(*map(known, args), **named)
        return sequence(tuple, list(result)) if isinstance(result, tuple) else result

    HANDLERS[function] = handler


def _example(function: Any, value: Symbol) -> Any:
    """An array, or a Python number, of the same type."""
    if isinstance(value.fact, values.Scalar):
        return value.fact.kind(0)
    return np.empty(0, _dtype_of(function, value))


def _exact(function: Any, value: Symbol) -> Any:
    raise _refused(function, "it depends on the value", "pass a dtype: x.dtype")


for _function in (np.common_type, np.iscomplexobj, np.isrealobj, np.result_type):
    _of_types(_function, _example)
for _function in (np.can_cast, np.promote_types):
    _of_types(_function, _dtype_of)
for _function in (np.broadcast_shapes, np.min_scalar_type):
    _of_types(_function, _exact)
for _function in (issubclass, np.dtype, np.isdtype, np.issubdtype):
    _of_types(_function, _exact)


def _limits(function: Any) -> Callable:
    """np.finfo(x.dtype), whose attributes are numbers known now."""

    def handler(lowering: Lowering, value: Any) -> Any:
        dtype = _dtype_of(function, value) if isinstance(value, Symbol) else known_object(value)
        return lowering.captures.held(function(dtype), f"{function.__name__}_{np.dtype(dtype)}")

    return handler


for _function in (np.finfo, np.iinfo):
    evaluates(_function)(_limits(_function))


# ---- places of elements --------------------------------------------------------------------------


@evaluates(np.unravel_index)
def unravel_index(lowering: Lowering, indices: Any, shape: Any, order: Any = "C") -> Any:
    """The index in each axis; of indices that are not known, by division."""
    sizes = known_items(lowering, shape) if isinstance(shape, Tree) else [shape]
    number = not isinstance(shape, Symbol) or isinstance(shape.fact, values.Scalar)
    if sizes is None or not number or known_object(order) != "C":
        raise _refused(np.unravel_index, "the shape or the order is not known")
    if not any(isinstance(each, Symbol) for each in (indices, *sizes)):
        known = np.unravel_index(known_object(indices), tuple(map(known_object, sizes)))
        return sequence(tuple, [lowering.call(np.asarray, each.tolist()) for each in known])
    slots = []
    for size in reversed(sizes[1:]):
        slots.append(lowering.call(operator.mod, indices, size))
        indices = lowering.call(operator.floordiv, indices, size)
    return sequence(tuple, [indices, *reversed(slots)])


@evaluates(np.ravel_multi_index)
def ravel_multi_index(
    lowering: Lowering, multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C"
) -> Any:
    if any(isinstance(each, Symbol) for arg in (multi_index, dims) for each in tree.leaves(arg)):
        raise _refused(
            np.ravel_multi_index, "it raises where an index is too large", "write i * n + j"
        )
    given = map(known_object, (multi_index, dims, mode, order))
    return lowering.call(np.asarray, np.ravel_multi_index(*given).tolist())


# ---- what kind of object -------------------------------------------------------------------------


@evaluates(np.isscalar)
def is_scalar(lowering: Lowering, element: Any) -> Any:
    if not isinstance(element, Symbol):
        return np.isscalar(unwrap(element)) and not isinstance(element, Tree)
    number = getattr(element, "number", False if element.shape else None)
    if isinstance(element.fact, values.Scalar) or number is not None:
        return isinstance(element.fact, values.Scalar) or bool(number)
    raise _refused(np.isscalar, "it may be an array without axes", "write np.ndim(x) == 0")


@evaluates(np.iterable)
def is_iterable(lowering: Lowering, y: Any) -> Any:
    if not isinstance(y, Symbol):
        return isinstance(y, Tree) or np.iterable(unwrap(y))
    if y.shape is None:
        raise _refused(np.iterable, "its rank is not known", "give example arguments")
    return bool(y.shape)


@evaluates(np.isfortran)
def is_fortran(lowering: Lowering, a: Any) -> Any:
    flat = isinstance(a, Symbol) and a.shape is not None and len(a.shape) < 2
    if flat or getattr(a, "contiguous", False):
        return False
    what = f"np.isfortran of an array whose layout is not known: {LAYOUT}"
    raise UnsupportedError("S2S205", what, help=OUTSIDE)


def _shares(function: Any) -> Callable:
    """Whether two arrays share memory, where that is certain."""

    def handler(lowering: Lowering, a: Any, b: Any, *options: Any, **more: Any) -> Any:
        if a is b and isinstance(a, Reference):
            return lowering.call(operator.gt, lowering.call(np.size, a), 0)
        both = isinstance(a, Reference) and isinstance(b, Reference)
        if both and not lowering.memory.may_share(a, b):
            return False
        raise _refused(function, "whether the arrays share memory is not certain")

    return handler


for _function in (np.may_share_memory, np.shares_memory):
    evaluates(_function)(_shares(_function))


# ---- patterns, and plans -------------------------------------------------------------------------


def _by_pattern(function: Any) -> Callable:
    """What a function of `re` gives for texts that are known; a function is no text."""

    def handler(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
        if any(not isinstance(unwrap(each), str | int) for each in (*args, *kwargs.values())):
            raise _refused(function, "its arguments have to be texts that are known")
        return of_text(lowering, function, args, kwargs)

    return handler


for _function in (re.escape, re.findall, re.split, re.sub):
    HANDLERS[_function] = _by_pattern(_function)


@evaluates(np.einsum_path)
def einsum_path(lowering: Lowering, *operands: Any, optimize: Any = "greedy") -> Any:
    """A plan for np.einsum(optimize=...), which says how and not what: it is made there."""
    return sequence(tuple, [True, ""])
