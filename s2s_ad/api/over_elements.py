"""NumPy's functions that call the user's: np.vectorize, apply_along_axis, piecewise, fromfunction.

The user's function is lowered once. What is computed for each element or row is a batch of it.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from s2s_ad.api.batching import Vmap
from s2s_ad.api.callers import arguments_of
from s2s_ad.api.function import Transformed
from s2s_ad.api.inside import Local
from s2s_ad.api.parts import Part, as_array, label_of, names_of
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.calls import (
    CAPTURED_OBJECTS,
    HANDLERS,
    OBJECT_FINDERS,
    apply,
    known_object,
)
from s2s_ad.frontend.lower.containers import known_items, sequence
from s2s_ad.frontend.lower.effects import require
from s2s_ad.frontend.lower.functions import Closure
from s2s_ad.frontend.lower.subscripts import read_item, write_item
from s2s_ad.frontend.numba_ import python_of_elements
from s2s_ad.frontend.resolve import unwrap
from s2s_ad.rules import support
from s2s_ad.rules.support import normal_axis


def _refused(what: str, help: str = "") -> UnsupportedError:
    return UnsupportedError("S2S205", what, help=help)


# ---- batches over several axes -------------------------------------------------------------------


def _over_axes(lowering: Any, part: Part, levels: list[tuple], args: list) -> Any:
    """The part for each place of some axes; a level tells which arguments have the axis in front.

    An axis goes with one batch: so elementwise code stays as it is, for arrays of any rank.
    """
    if not levels:
        return part.call(args)
    inner = dataclasses.replace(
        part, call=lambda args: _over_axes(lowering, part, levels[1:], args)
    )
    axes = tree.from_object(levels[0], lambda leaf, _: leaf)
    made = Transformed(Local(lowering, inner), Vmap(axes), "vmap")
    return made.__s2s_call__(lowering, args, {})


def _rank(value: Any, what: str) -> int:
    shape = values.shape_of(value)
    if isinstance(value, Symbol) and shape is None:
        raise _refused(f"{what} of an array whose rank is not known", "give example arguments")
    return len(shape or ())


# ---- np.vectorize --------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class Vectorized:
    """A function of numbers, called with arrays; computed in the precision of the arrays."""

    function: Any
    dtypes: list | None
    count: int | None = None

    def holds(self) -> tuple:
        return (self.function,)

    def __s2s_call__(self, lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        keys = list(kwargs)
        given = _strong(lowering, [as_array(lowering, e) for e in (*args, *kwargs.values())])
        rank = max((_rank(each, "np.vectorize") for each in given), default=0)
        given, levels = _aligned(lowering, given, rank)

        def call(args: list) -> Any:
            split = len(args) - len(keys)
            named = dict(zip(keys, args[split:], strict=True))
            return apply(lowering, self.function, args[:split], named)

        names = names_of(self.function, len(given) - len(keys)) + keys
        part = Part(label_of(self.function), names, call)
        return self._typed(lowering, _over_axes(lowering, part, levels, given))

    def _typed(self, lowering: Any, result: Any) -> Any:
        """The results in the types that were asked for."""
        if self.dtypes is None:
            return result
        several = isinstance(result, Tree)
        items = result.items if several else (result,)
        pairs = zip(items, self.dtypes, strict=True)
        made = [lowering.call(np.asarray, each, dtype=dtype) for each, dtype in pairs]
        return sequence(tuple, made) if several else made[0]


def _strong(lowering: Any, given: list) -> list:
    """Python's numbers as the arrays that NumPy makes of them, where that is another precision."""
    short = [x for x in given if isinstance(x, Symbol) and x.dtype in (np.float16, np.float32)]
    return [support.strong(lowering.builder, each) for each in given] if short else given


def _aligned(lowering: Any, given: list, rank: int) -> tuple[list, list[tuple]]:
    """The arguments without axes that only broadcast, and which have each axis of the result."""
    shapes = [values.shape_of(each) or () for each in given]
    full = values.broadcast(shapes)
    kept, has = [], []
    for value, shape in zip(given, shapes, strict=True):
        padded = (1,) * (rank - len(shape)) + shape
        mine = [
            not (a == 1 and b != 1) and slot >= rank - len(shape)
            for slot, (a, b) in enumerate(zip(padded, full, strict=True))
        ]
        unsure = [
            m and not values.same_dim(a, b) for m, a, b in zip(mine, padded, full, strict=True)
        ]
        if any(unsure):
            raise _refused("np.vectorize of arrays whose lengths may be 1", "use np.broadcast_to")
        if shape and not all(mine[rank - len(shape) :]):
            index = tuple(slice(None) if m else 0 for m in mine[rank - len(shape) :])
            value = read_item(lowering, value, sequence(tuple, list(index)))
        kept.append(value)
        has.append(mine)
    return kept, [tuple(0 if mine[axis] else None for mine in has) for axis in range(rank)]


def _vectorize(lowering: Any, args: list, kwargs: dict[str, Any]) -> Vectorized:
    names = ("pyfunc", "otypes", "doc", "excluded", "cache", "signature")
    given = dict(zip(names, args, strict=False)) | kwargs
    for each in ("excluded", "signature"):
        if unwrap(given.get(each)):
            raise _refused(
                f"np.vectorize with {each}=", "use vmap, which says which axes are mapped"
            )
    otypes = given.get("otypes")
    dtypes = None if otypes is None else [np.dtype(each) for each in known_object(otypes)]
    return Vectorized(given["pyfunc"], dtypes)


def _captured_vectorize(lowering: Any, holder: Any) -> Vectorized:
    """A function of the user's module that is decorated with np.vectorize."""
    made = holder.value
    if made.excluded or made.signature:
        raise _refused("np.vectorize with excluded= or signature=", "use vmap")
    function = lowering.captures.of(made.pyfunc, holder.attribute("pyfunc"))
    return Vectorized(function, made.otypes and [np.dtype(each) for each in made.otypes])


def _vectorized_by_numba(value: Any) -> Any:
    """A function of the user's module that is decorated with numba.vectorize."""
    function = python_of_elements(value)
    if function is None:
        return None
    return lambda lowering, holder: Vectorized(
        lowering.captures.of(function, holder.attribute("__wrapped__")), None
    )


def _from_python(lowering: Any, args: list, kwargs: dict[str, Any]) -> Vectorized:
    """np.frompyfunc: the results are numbers here, where NumPy has arrays of objects."""
    return Vectorized(args[0], None)


# ---- np.apply_along_axis, np.apply_over_axes -----------------------------------------------------


def _along_axis(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    function, axis, array, *more = args
    array = as_array(lowering, array)
    rank = _rank(array, "np.apply_along_axis")
    axis = normal_axis(known_object(axis), rank)

    def call(args: list) -> Any:
        return as_array(lowering, apply(lowering, function, [*args, *more], kwargs))

    moved = lowering.call(np.moveaxis, array, axis, -1) if axis != rank - 1 else array
    part = Part(label_of(function), names_of(function, 1), call)
    result = _over_axes(lowering, part, [(0,)] * (rank - 1), [moved])
    own = _rank(result, "np.apply_along_axis: the result") - (rank - 1)
    if not own or axis == rank - 1:
        return result
    from_, to = (tuple(range(start, start + own)) for start in (rank - 1, axis))
    return lowering.call(np.moveaxis, result, from_, to)


def _over_all_axes(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    function, array, axes = (*args, *kwargs.values())
    value = as_array(lowering, array)
    axes = known_object(axes)
    for axis in axes if isinstance(axes, tuple | list) else (axes,):
        rank = _rank(value, "np.apply_over_axes")
        result = apply(lowering, function, [value, axis], {})
        lost = _rank(result, "np.apply_over_axes: the result") == rank - 1
        value = lowering.call(np.expand_dims, result, axis) if lost else result
    return value


# ---- np.fromfunction, np.fromiter, np.piecewise --------------------------------------------------


def _from_function(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    function, shape = args
    dtype = known_object(kwargs.pop("dtype", float))
    sizes = known_items(lowering, shape)
    if sizes is None:
        raise _refused("np.fromfunction of a shape whose length is not known")
    grid = []
    for axis, size in enumerate(sizes):
        indices = lowering.call(np.arange, size, dtype=dtype)
        after = [None] * (len(sizes) - 1 - axis)
        if after:
            indices = read_item(lowering, indices, sequence(tuple, [slice(None), *after]))
        grid.append(lowering.call(np.broadcast_to, indices, tuple(sizes)))
    return apply(lowering, function, grid, kwargs)


def _from_iterable(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    text = "iter, dtype, count=-1, like=None"
    found = arguments_of(lowering, np.fromiter, text, args, kwargs)
    if unwrap(found["like"]) is not None:
        raise _refused("np.fromiter with like=")
    made = HANDLERS[list](lowering, [found["iter"]], {})
    array = lowering.call(np.array, _listed(made), dtype=known_object(found["dtype"]))
    count = unwrap(found["count"])
    if type(count) is int and count == -1:
        return array
    size, error = lowering.call(np.size, array), ValueError("iterator too short")
    if unwrap(size) is not count:
        require(lowering, size, count, error, at_least=True)
        array = read_item(lowering, array, slice(None, count))
    return array


def _listed(value: Any) -> Any:
    if isinstance(value, Tree) and not isinstance(getattr(value, "content", None), Symbol):
        return tree.to_object(value)
    return value.content


def _piecewise(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """Each function for the elements where its condition holds, the last for the rest."""
    x, conditions, functions, *more = args
    x = as_array(lowering, x)
    found = known_items(lowering, conditions) if isinstance(conditions, Tree) else [conditions]
    if not _rank(x, "np.piecewise"):  # a number is given to the functions as an array of one
        ones = [lowering.call(np.reshape, as_array(lowering, each), (1,)) for each in (x, *found)]
        given = [ones[0], sequence(list, ones[1:]), functions, *more]
        return lowering.call(np.reshape, _piecewise(lowering, given, kwargs), ())
    chosen = known_items(lowering, functions)
    found = [as_array(lowering, each) for each in found]
    if len(chosen) == len(found) + 1:
        any_ = functools.reduce(lambda a, b: lowering.call(np.logical_or, a, b), found)
        found.append(lowering.call(np.logical_not, any_))
    if len(chosen) != len(found):
        raise ValueError(f"with {len(found)} conditions, {len(found)} functions are expected")
    result = lowering.call(np.zeros_like, x)
    for condition, function in zip(found, chosen, strict=True):
        result = _where(lowering, result, condition, function, x, more, kwargs)
    return result


def _where(
    lowering: Any, result: Any, condition: Any, function: Any, x: Any, more: list, kwargs: dict
) -> Any:
    """`result` with what the function gives where the condition holds.

    A function that is harmless elsewhere is computed for all elements: a choice is cheaper.
    """
    if not _is_function(function):
        value = as_array(lowering, function)
        return _chosen(lowering, condition, value, result, x)
    mark, start = lowering.builder.mark(), len(lowering.builder.body)
    before = lowering.memory.moment()
    value = apply(lowering, function, [x, *more], kwargs)
    if lowering.memory.changes(before):
        raise _refused("np.piecewise of a function that changes its surroundings")
    if _is_harmless(lowering, start):
        return _chosen(lowering, condition, value, result, x)
    lowering.builder.undo(mark)
    part = apply(lowering, function, [read_item(lowering, x, condition), *more], kwargs)
    return _stored(lowering, condition, part, result)


def _chosen(lowering: Any, condition: Any, value: Any, result: Any, x: Any) -> Any:
    """A choice, where it has the dtype of the array that NumPy writes into."""
    made = lowering.call(np.where, condition, value, result)
    if made.dtype == x.dtype:
        return made
    if isinstance(value, Symbol) and value.shape != ():
        value = read_item(lowering, value, condition)
    return _stored(lowering, condition, value, result)


def _stored(lowering: Any, condition: Any, value: Any, result: Any) -> Any:
    target = lowering.call(np.copy, result)
    write_item(lowering, target, condition, value)
    return target


def _is_function(value: Any) -> bool:
    return isinstance(value, Closure) or (not isinstance(value, Symbol) and callable(unwrap(value)))


def _is_harmless(lowering: Any, start: int) -> bool:
    """Whether all that was computed since is elementwise and total."""
    builder = lowering.builder
    for statement in builder.body[start:]:
        if isinstance(statement, form.Effect):
            return False
        rule, operands, _ = builder.definitions.get(statement.target, (None, [], {}))
        if rule is None or not rule.elementwise or not rule.is_total(operands):
            return False
    return True


def handle_callers() -> None:
    """Let NumPy's functions that take functions be called inside functions."""
    HANDLERS.update(
        {
            np.apply_along_axis: _along_axis,
            np.apply_over_axes: _over_all_axes,
            np.fromfunction: _from_function,
            np.fromiter: _from_iterable,
            np.frompyfunc: _from_python,
            np.piecewise: _piecewise,
            np.vectorize: _vectorize,
        }
    )
    CAPTURED_OBJECTS[np.vectorize] = _captured_vectorize
    OBJECT_FINDERS.append(_vectorized_by_numba)
