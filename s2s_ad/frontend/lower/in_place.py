"""NumPy's functions and methods that write into an array: fill, sort, copyto, add.at, out=."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Symbol, describe
from s2s_ad.core.registry import rule_for
from s2s_ad.core.rule import Rule
from s2s_ad.core.tree import Tree, to_object
from s2s_ad.diagnostics import SharedMemoryError, UnsupportedError
from s2s_ad.frontend.lower.calls import HANDLERS, OUT, apply, as_argument, check_keywords
from s2s_ad.frontend.lower.containers import sequence
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.references import Reference, settled
from s2s_ad.frontend.lower.stores import (
    add_item,
    as_array,
    broadcast,
    check_cast,
    may_name_twice,
    overwrite,
    refuse_complex,
    replace,
    set_item,
    writable,
)
from s2s_ad.frontend.lower.subscripts import as_index
from s2s_ad.frontend.lower.views import in_order
from s2s_ad.frontend.resolve import unwrap
from s2s_ad.rules.composite_ufuncs import CompositeUfunc
from s2s_ad.rules.elementwise import Elementwise
from s2s_ad.rules.index_layout import index_of
from s2s_ad.rules.support import length, lengths, may_equal, normal_axis

#: functions that look at all that they are given before they store anything
STORING: set[Any] = set()


def evaluates(*functions: Any) -> Callable:
    """Register the handler of some functions: handler(lowering, array, ...)."""

    def register(handler: Callable) -> Callable:
        def checked(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
            first, *rest = args
            target = writable(lowering, first)
            if target.number is not False:
                raise _perhaps_a_number()
            return handler(lowering, target, *rest, **kwargs)

        HANDLERS.update(dict.fromkeys(functions, checked))
        STORING.update(functions)
        return handler

    return register


def _perhaps_a_number() -> SharedMemoryError:
    return SharedMemoryError(
        "S2S207",
        "a value that may be a number is changed in place",
        why="the method of a number changes nothing",
        help="write x = ...",
    )


def _rank(target: Reference, what: str) -> int:
    if target.ndim is None:
        raise UnsupportedError(
            "S2S205", f"{what} of an array whose rank is not known", help="give example arguments"
        )
    return target.ndim


# ---- whole arrays --------------------------------------------------------------------------------


@evaluates(np.ndarray.fill)
def fill(lowering: Lowering, target: Reference, value: Any) -> None:
    if not _is_scalar(lowering, as_array(lowering, value)):
        raise ValueError("setting an array element with a sequence.")
    set_item(lowering, target, Ellipsis, value)


@evaluates(np.ndarray.sort)
def sort(lowering: Lowering, target: Reference, axis: Any = -1, kind: Any = None) -> None:
    replace(lowering, target, lowering.builder.call(np.sort, (settled(target),), {"axis": axis}))


def _nan_to_num(lowering: Lowering, x: Any, copy: Any = True, **options: Any) -> Any:
    """With copy=False an array is changed; what is no array is made one."""
    result = lowering.call(np.nan_to_num, as_argument(lowering, x), **options)
    if unwrap(copy) is not False or not isinstance(x, Reference) or x.number is True:
        return result
    target = writable(lowering, x)
    if target.number is not False:
        raise _perhaps_a_number()
    replace(lowering, target, result)
    return target


HANDLERS[np.nan_to_num] = lambda lowering, args, kwargs: _nan_to_num(lowering, *args, **kwargs)


@evaluates(np.copyto)
def copy_to(
    lowering: Lowering, dst: Reference, src: Any, casting: Any = "same_kind", where: Any = True
) -> None:
    if where is True:
        return overwrite(lowering, dst, src, unwrap(casting))
    chosen = (as_array(lowering, where), as_array(lowering, src), settled(dst))
    return overwrite(lowering, dst, lowering.builder.call(np.where, chosen, {}), unwrap(casting))


@evaluates(np.putmask)
def put_mask(lowering: Lowering, a: Reference, mask: Any, values_: Any) -> None:
    """Each element that is chosen gets what stands in its own place among the values, repeated."""
    value, mask = as_array(lowering, values_), as_array(lowering, mask)
    _check_chosen(lowering, a, mask, value, "putmask")
    if _is_scalar(lowering, value):
        return set_item(lowering, a, mask, value)
    shape = tuple(lengths(settled(a), range(_rank(a, "np.putmask"))))
    whole = lowering.builder.call(np.resize, (value, shape), {})
    return replace(lowering, a, lowering.builder.call(np.where, (mask, whole, settled(a)), {}))


@evaluates(np.place)
def place(lowering: Lowering, a: Reference, mask: Any, vals: Any) -> None:
    """The elements that are chosen get the values one after the other."""
    chosen, value = as_array(lowering, mask), as_array(lowering, vals)
    _check_chosen(lowering, a, chosen, value, "place")
    put(lowering, a, lowering.builder.call(np.flatnonzero, (chosen,), {}), vals)


def _check_chosen(lowering: Lowering, a: Reference, mask: Any, value: Any, name: str) -> None:
    """np.putmask and np.place take a mask like the array, and no value that loses anything.

    Raises:
        TypeError, ValueError: as NumPy says it.
    """
    shape, own = values.shape_of(lowering.builder.fact(mask)), a.shape
    if shape is not None and own is not None and not may_equal(shape, own):
        raise ValueError(f"{name}: mask and data must be the same size")
    fact = lowering.builder.fact(value)
    weak = isinstance(fact, values.Scalar)
    kind = fact.kind(0) if weak else values.strong_dtype(fact)
    if values.missing((kind, a.dtype)) or (weak and np.result_type(a.dtype, kind) == a.dtype):
        return
    found = np.result_type(kind)
    if not np.can_cast(found, a.dtype, "safe"):
        raise TypeError(
            f"Cannot cast array data from {found!r} to {a.dtype!r} according to the rule 'safe'"
        )


def _is_scalar(lowering: Lowering, value: Any) -> bool:
    return values.shape_of(lowering.builder.fact(value)) == ()


def copied(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """x.copy() and x.flatten(): memory of its own, in the order of C if no other is asked for."""
    check_keywords(np.copy, kwargs)
    asked = [unwrap(each) for each in (*args[1:], kwargs.get("order", "C"))]
    function = np.ravel if kwargs.pop("flat", False) else np.copy
    made = lowering.memory.fresh(lowering.builder.call(function, settled(tuple(args)), kwargs))
    made.contiguous = made.ndim == 1 or asked[0] == "C" or in_order(args[0])
    return made


HANDLERS[np.ndarray.copy] = copied
HANDLERS[np.ndarray.flatten] = lambda lowering, args, kwargs: copied(
    lowering, args, kwargs | {"flat": True}
)

# ---- elements ------------------------------------------------------------------------------------


@evaluates(np.put, np.ndarray.put)
def put(lowering: Lowering, a: Reference, ind: Any, v: Any, mode: Any = "raise") -> None:
    index = _within(lowering, a, as_index(lowering, ind), unwrap(mode))
    value = as_array(lowering, v)
    number = isinstance(index, int) or (isinstance(index, Symbol) and index.shape == ())
    if not _is_scalar(lowering, value) and not number and not _same_length(index, value):
        count = len(index) if isinstance(index, list) else np.size(settled(index))
        value = lowering.builder.call(np.resize, (value, (count,)), {})  # NumPy repeats them
    if _rank(a, "np.put") == 1:
        return set_item(lowering, a, index, value)
    flat = lowering.builder.call(np.ravel, (settled(a),), {})
    stored = lowering.builder.call(runtime.index_set, (flat, settled(index), value), {})
    shape = tuple(lengths(settled(a), range(a.ndim)))
    return replace(lowering, a, np.reshape(stored, shape))


def _within(lowering: Lowering, a: Reference, index: Any, mode: str) -> Any:
    """The places that np.put writes to: what lies beyond the ends comes around, or is an end."""
    if mode == "raise":
        return index
    if isinstance(index, list):
        index = lowering.builder.call(np.array, (index,), {})
    size = np.size(settled(a))
    if mode == "wrap":
        return lowering.builder.call(np.remainder, (settled(index), size), {})
    return lowering.builder.call(np.clip, (settled(index), 0, size - 1), {})


def _same_length(index: Any, value: Any) -> bool:
    shape = (len(index),) if isinstance(index, list) else values.shape_of(index)
    return shape is not None and shape == values.shape_of(value)


@evaluates(np.fill_diagonal)
def fill_diagonal(lowering: Lowering, a: Reference, val: Any, wrap: Any = False) -> None:
    rank, value = _rank(a, "np.fill_diagonal"), as_array(lowering, val)
    if rank < 2:
        raise ValueError("array must be at least 2-d")
    if rank > 2 and not all(may_equal(a.shape[:1], (each,)) for each in a.shape):
        raise ValueError("All dimensions of input must be of equal length")
    call, sizes = lowering.builder.call, lengths(settled(a), range(rank))
    count = sizes[0]
    for axis in range(1, rank):
        if a.shape[axis] != a.shape[0]:
            count = call(np.minimum, (count, sizes[axis]), {})
    if 1 in a.shape:
        count = 1
    index = (call(np.arange, (count,), {}),) * rank
    if unwrap(wrap) and rank == 2:  # a row below is left out, and the diagonal begins anew
        flat = call(np.arange, (0, np.size(settled(a)), sizes[1] + 1), {})
        index, count = (flat // sizes[1], flat % sizes[1]), np.size(flat)
    if not _is_scalar(lowering, value) and (count == 1 or value.ndim != 1 or unwrap(wrap)):
        value = call(np.resize, (value, (count,)), {})  # NumPy repeats them
    set_item(lowering, a, index, value)


@evaluates(np.put_along_axis)
def put_along_axis(
    lowering: Lowering, arr: Reference, indices: Any, values_: Any, axis: Any
) -> None:
    rank, where = _rank(arr, "np.put_along_axis"), settled(indices)
    if unwrap(axis) is None and isinstance(where, Symbol) and where.ndim == 1:
        return put(lowering, arr, indices, np.broadcast_to(settled(values_), np.shape(where)))
    if unwrap(axis) is None or not isinstance(where, Symbol) or where.ndim != rank:
        raise UnsupportedError("S2S201", "np.put_along_axis without an axis")
    index = []
    for each in range(rank):
        if each == normal_axis(axis, rank):
            index.append(where)
            continue
        count = lowering.builder.call(np.arange, (length(settled(arr), each),), {})
        after = rank - 1 - each
        index.append(count[(slice(None), *(None,) * after)] if after else count)
    set_item(lowering, arr, index_of(tuple(index)), values_)


# ---- ufuncs --------------------------------------------------------------------------------------


def at(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> None:
    """np.add.at(a, indices, b): once for each time that an element is named."""
    function, first, indices, *rest = args
    ufunc, target = unwrap(function), writable(lowering, first)
    index = as_index(lowering, indices)
    if ufunc in (np.add, np.subtract):
        value = as_array(lowering, rest[0])
        if ufunc is np.subtract:
            value = lowering.builder.call(np.negative, (value,), {})
        refuse_complex(target.fact, lowering.builder.fact(value))
        return add_item(lowering, target, index, value)
    if may_name_twice(lowering, index):
        return _one_by_one(lowering, ufunc, target, index, [as_array(lowering, x) for x in rest])
    old = lowering.builder.call(operator.getitem, (settled(target), settled(index)), {})
    result = lowering.builder.call(ufunc, (old, *(as_array(lowering, x) for x in rest)), {})
    return set_item(lowering, target, index, result)


def _one_by_one(
    lowering: Lowering, ufunc: np.ufunc, target: Reference, index: Any, rest: list
) -> None:
    """`ufunc.at` where an element may be named twice: what is written is read again."""
    given = index if isinstance(index, tuple) else (index,)
    found = [lowering.builder.call(np.array, (x,), {}) if type(x) is list else x for x in given]
    if any(values.rank_of(lowering.builder.fact(each)) != 1 for each in found):
        raise UnsupportedError(
            "S2S201",
            f"np.{ufunc.__name__}.at with an index that may name an element twice",
            help="give an array of integers with one axis for each axis that is indexed",
        )
    several = len(found) > 1
    place = settled(tuple(found) if several else found[0])
    named = lowering.builder.call(operator.getitem, (settled(target), place), {})
    check_cast(lowering.builder.call(ufunc, (named, *rest), {}).fact, target.fact, "same_kind")
    operands = [x if _is_scalar(lowering, x) else _spread(lowering, x, named) for x in rest]
    arguments = {"a": target, "indices": sequence(tuple, found) if several else found[0]}
    arguments |= {"operands": sequence(tuple, operands), "function": ufunc}
    lowering.enter(_each_of_several if several else _each, arguments)


def _spread(lowering: Lowering, value: Any, like: Symbol) -> Any:
    return lowering.builder.call(np.broadcast_to, (value, np.shape(like)), {})


def _each(a, indices, operands, function):
    for k in range(len(indices)):
        a[indices[k]] = function(a[indices[k]], *[x if np.ndim(x) == 0 else x[k] for x in operands])


def _each_of_several(a, indices, operands, function):
    for k in range(len(indices[0])):
        index = tuple([each[k] for each in indices])
        a[index] = function(a[index], *[x if np.ndim(x) == 0 else x[k] for x in operands])


HANDLERS[np.ufunc.at] = at


def with_out(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """A call whose result goes into the memory of out=; gives that array."""
    function, *args = args
    rule = rule_for(unwrap(function))
    if rule is not None and not rule.fills_out:
        raise UnsupportedError(
            "S2S201",
            f"{describe(rule.function)} with out=",
            why="NumPy returns the result and leaves the array that it is given as it was",
            help="assign the result: out[:] = ...",
        )
    rest = {key: value for key, value in kwargs.items() if key != "out"}
    outs = kwargs["out"].items if isinstance(kwargs["out"], Tree) else (kwargs["out"],)
    targets = [None if each is None else writable(lowering, each) for each in outs]
    if isinstance(rest.get("where"), Tree):
        rest["where"] = as_array(lowering, rest["where"])
    if "where" in rest and isinstance(rule, Elementwise | CompositeUfunc):
        held = tuple(None if each is None else settled(each) for each in targets)
        rest["out"] = held[0] if isinstance(rule, Elementwise) else held
        result = lowering.call(unwrap(function), *map(_operand, args), **rest)
    else:
        result = apply(lowering, function, args, rest)
    results = result.items if isinstance(result, Tree) else result
    results = results if isinstance(results, tuple | list) else (results,)
    if rule is not None and rule.out != "out":
        _refuse_casts(rule, targets, results)
    casting = unwrap(rest.get("casting", "same_kind"))
    pairs = zip(targets, results, strict=True)
    stored = [_into(lowering, target, each, casting) for target, each in pairs]
    return stored[0] if len(stored) == 1 else sequence(tuple, stored)


def _refuse_casts(rule: Rule, targets: Sequence[Any], results: Sequence[Any]) -> None:
    """NumPy's rules of casting are not those of SciPy's filters."""
    for target, result in zip(targets, results, strict=True):
        if target is not None and target.dtype != getattr(result, "dtype", None):
            raise UnsupportedError(
                "S2S203",
                f"{describe(rule.function)} with an array of another dtype as {rule.out}=",
                help="store the result: output[:] = ...",
            )


def _operand(value: Any) -> Any:
    return to_object(value) if isinstance(value, Tree) else unwrap(value)


def _into(lowering: Lowering, target: Reference | None, result: Any, casting: str) -> Any:
    """The array with the result in it; where there is none, the result."""
    if target is None:
        return result
    if isinstance(result, Symbol) and target.shape is not None and result.shape != target.shape:
        result = broadcast(lowering, target, result)  # which refuses other lengths when it runs
    replace(lowering, target, result, casting)
    return target


HANDLERS[OUT] = with_out
