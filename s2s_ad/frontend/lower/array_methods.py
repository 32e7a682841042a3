"""Attributes and methods of arrays that no function of NumPy is: flat, item, tolist, view."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s_ad.core import sizes, values
from s2s_ad.core.builder import Symbol, constant_value
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import SharedMemoryError, UnsupportedError
from s2s_ad.frontend.lower import in_place
from s2s_ad.frontend.lower.attributes import PROPERTIES, SETTERS
from s2s_ad.frontend.lower.builtin import evaluates
from s2s_ad.frontend.lower.calls import HANDLERS, apply
from s2s_ad.frontend.lower.containers import known_items, new_list, rows, sequence
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.derived import ARRAY_VIEW
from s2s_ad.frontend.lower.heap import READ_ONLY, Reference, View, settled
from s2s_ad.frontend.lower.kinds import is_number
from s2s_ad.frontend.lower.stores import as_array, replace, set_item
from s2s_ad.frontend.lower.subscripts import read_item
from s2s_ad.frontend.resolve import unwrap
from s2s_ad.rules.shapes import reshape_like

#: Python's numbers by the kind of the dtype
NUMBERS = {"b": bool, "c": complex, "f": float, "i": int, "u": int}


def _refused(what: str, help: str) -> UnsupportedError:
    return UnsupportedError("S2S204", f"{what} is not supported", help=help)


# ---- attributes ----------------------------------------------------------------------------------


def _flat(lowering: Lowering, x: Symbol) -> Any:
    """x.flat: the elements in order; what is written there stands in the array."""
    if not isinstance(x, Reference) or x.shape is None:
        raise _refused("'flat' of an array whose rank is not known", "give example arguments")
    view = View(x, np.ravel, lambda whole, part: reshape_like(part, whole))
    return lowering.memory.viewed(np.ravel(settled(x)), view)


def _set_flat(lowering: Lowering, x: Reference, value: Any) -> None:
    """`x.flat = values`: one after the other, over and over until the array is full."""
    whole, part = _flat(lowering, x), as_array(lowering, value)
    if isinstance(part, Symbol) and part.shape != ():
        part = np.ravel(part)
        given, count = (values.size_of_dim(each.shape[0]) for each in (part, whole))
        if not sizes.differs(given, 0) and (given.known == 0 or sizes.is_assumed(given, 0)):
            return  # NumPy stores nothing
        if not sizes.equals(given, count):
            part = lowering.builder.call(np.resize, (part, (np.size(settled(x)),)), {})
    set_item(lowering, whole, Ellipsis, part)


def _itemsize(lowering: Lowering, x: Symbol) -> int:
    if x.dtype is None:
        raise _refused("'itemsize' where the dtype is not known", "give example arguments")
    return x.dtype.itemsize


PROPERTIES |= {
    "device": lambda lowering, x: "cpu",
    "flat": _flat,
    "itemsize": _itemsize,
    "nbytes": lambda lowering, x: np.size(x) * _itemsize(lowering, x),
}

# ---- numbers and lists ---------------------------------------------------------------------------


@evaluates(np.ndarray.item)
def item(lowering: Lowering, x: Symbol, *index: Any) -> Any:
    """x.item(), x.item(5), x.item(1, 2): one element, as Python's number."""
    if x.shape is None or x.dtype is None:
        raise _refused("'item' of an array whose type is not known", "give example arguments")
    if not index:
        _check_single(lowering, x.shape)
    if len(index) > 1 and len(index) != len(x.shape):
        raise ValueError("incorrect number of indices for array")
    place = index[0] if len(index) == 1 else sequence(tuple, list(index) or [0] * len(x.shape))
    if not isinstance(place, Tree) and len(x.shape) != 1:
        x = lowering.call(np.ravel, x)
    found = read_item(lowering, x, place) if x.shape else x
    return lowering.call(NUMBERS[x.dtype.kind], found)


def _check_single(lowering: Lowering, shape: tuple) -> None:
    """Raise where an array has several elements, as its lengths are in the call."""
    lengths = [values.size_of_dim(dim) for dim in shape]
    if any(sizes.differs(each, 1) for each in lengths):
        error = ValueError("can only convert an array of size 1 to a Python scalar")
        raise lowering.there_is_none(error)
    if not all(sizes.equals(each, sizes.of(1)) for each in lengths):
        raise _refused("'item' of an array that may have several elements", "index it")


@evaluates(np.ndarray.tolist)
def to_list(lowering: Lowering, x: Symbol) -> Any:
    """Lists in lists; the innermost items are Python's numbers."""
    if x.shape is None:
        raise _refused("'tolist' of an array whose rank is not known", "give example arguments")
    if not x.shape:
        return item(lowering, x)
    if len(x.shape) == 1 and x.dtype is None:
        return HANDLERS[list](lowering, [x], {})
    if len(x.shape) == 1:
        return lowering.enter(_numbers, {"x": x, "kind": NUMBERS[x.dtype.kind]})
    if not isinstance(x.shape[0], int):
        return lowering.enter(_nested, {"x": x}) if len(x.shape) == 2 else _too_deep()
    return new_list(lowering, [to_list(lowering, row) for row in rows(lowering, x, x.shape[0])])


def _numbers(x, kind):
    return [kind(each) for each in x]


def _nested(x):
    return [row.tolist() for row in x]


def _too_deep() -> Any:
    raise _refused("'tolist' of an array of three axes or more", "index the array: x[i, j, k]")


# ---- views, and changes in place -----------------------------------------------------------------


@evaluates(np.ndarray.view)
def view(lowering: Lowering, x: Symbol, dtype: Any = None, **more: Any) -> Any:
    kind = unwrap(more.pop("type", dtype))
    if isinstance(kind, type) and issubclass(kind, np.ndarray) and not more:
        return HANDLERS[ARRAY_VIEW](lowering, [x, kind, x], {})
    if dtype is not None or more:
        raise _refused("'view' of the memory as another type", "use x.astype(dtype)")
    if is_number(x):
        return x
    return read_item(lowering, x, Ellipsis)


@evaluates(np.astype)
def astype(
    lowering: Lowering, x: Symbol, dtype: Any, *, copy: Any = True, device: Any = None
) -> Any:
    """np.astype(x, dtype): the method."""
    more = {} if copy is True else {"copy": copy}
    return lowering.call(np.ndarray.astype, x, dtype, **more)


@evaluates(np.ndarray.compress)
def compress(lowering: Lowering, x: Symbol, condition: Any, axis: Any = None) -> Any:
    plain = condition if isinstance(condition, Symbol) else [*condition.items]
    return lowering.call(np.compress, plain, x, axis=axis)


@in_place.evaluates(np.ndarray.partition)
def partition(
    lowering: Lowering, target: Reference, kth: Any, axis: Any = -1, kind: Any = None
) -> None:
    result = lowering.builder.call(np.partition, (settled(target), kth), {"axis": axis})
    replace(lowering, target, result)


def _is_own(x: Symbol) -> bool:
    """Whether it is an array with memory of its own, that the function has made."""
    return _is_made(x) and x.view is None


def _is_made(x: Symbol) -> bool:
    """Whether it is an array that the function has made, or a view."""
    made = isinstance(x, Reference) and x.born > 0 and x.source is None and not x.refusal
    return made and not x.kin and x.number is False


@evaluates(np.ndarray.setflags)
def set_flags(lowering: Lowering, x: Symbol, write: Any = None, **more: Any) -> None:
    """x.setflags(write=...) of an array that the function has made: nobody writes to it after it
    was made read-only."""
    write = unwrap(write)
    if not isinstance(write, bool) or more or not _is_own(x):
        raise SharedMemoryError(
            "S2S207",
            "setflags of an array that others may see, or of more than write",
            why="who passed the array would see the change, and compiled code checks no flags",
            help="work on a copy: y = x.copy()",
        )
    if not write:
        x.refusal = READ_ONLY


def _check_alone(x: Symbol, what: str, help: str) -> None:
    """Raise where another array may share the memory, which would then see another layout."""
    if not _is_own(x) or not _is_in_order(x):
        raise SharedMemoryError(
            "S2S207",
            f"{what} of an array that is not certain to be alone in its memory, in the order of C",
            why="its views would see memory that is no longer theirs",
            help=f"make a new array: {help}",
        )


def _is_in_order(x: Reference) -> bool:
    """Whether the elements stand in the order of C, and no view shows them."""
    viewed = any(each() is not None for each in x.views)
    return not viewed and x.contiguous and bool(x.shape)


def _is_its_shape(x: Symbol, shape: Any) -> bool:
    """Whether an array has this shape already, so that giving it to it changes nothing."""
    lengths = shape if isinstance(shape, tuple) else (shape,)
    if x.shape is None or len(lengths) != len(x.shape) or -1 in map(constant_value, lengths):
        return False
    return values.are_equal(tuple(map(operator.index, lengths)), x.shape)


def set_shape(lowering: Lowering, x: Symbol, shape: Any) -> None:
    """`x.shape = shape`: the elements stay where they are."""
    memory = lowering.memory
    if isinstance(shape, Tree):
        shape = tuple(known_items(lowering, shape))
    shape = unwrap(settled(shape))
    if _is_its_shape(x, shape):
        return
    of_view = _is_made(x) and x.view is not None and memory.is_of_this_path(x)
    if not of_view or not _is_in_order(x):
        _check_alone(x, "the shape", "x = x.reshape(shape)")
    reshaped = np.reshape(settled(x), shape)
    if of_view:
        memory.show_otherwise(x, _reshaped(x.view, shape), reshaped)
    else:
        memory.assign(x, reshaped)


def _reshaped(view: View, shape: Any) -> View:
    """A view by which the elements are seen in another shape."""
    write = view.write

    def put(whole: Any, part: Any) -> Any:
        return write(whole, reshape_like(part, view.read(whole)))

    return View(
        view.base, lambda whole: np.reshape(view.read(whole), shape), None if write is None else put
    )


SETTERS |= {"flat": _set_flat, "shape": set_shape}


@evaluates(np.ndarray)
def allocated(lowering: Lowering, shape: Any, dtype: Any = float, **layout: Any) -> Any:
    """np.ndarray(shape, dtype): an array that is to be filled, as np.empty gives it."""
    if layout:
        raise _refused(
            f"np.ndarray with {', '.join(layout)}", "use np.empty, or a view of an array"
        )
    return apply(lowering, np.empty, [shape], {"dtype": dtype})


@evaluates(np.ndarray.resize)
def resize(lowering: Lowering, x: Symbol, *new_shape: Any, refcheck: Any = True) -> None:
    """x.resize(shape): the first elements in order, and zeros behind them."""
    _check_alone(x, "resize", "np.resize, np.concatenate, x[:n].copy()")
    known = sequence(tuple, list(new_shape)) if len(new_shape) != 1 else new_shape[0]
    lengths = tuple(known.items) if isinstance(known, Tree) else (known,)
    if any(isinstance(each, int) and each < 0 for each in lengths):
        raise ValueError("negative dimensions are not allowed")
    count: Any = 1
    for each in lengths:
        count = lowering.call(operator.mul, count, each)
    flat = np.ravel(settled(x))
    missing = lowering.call(np.maximum, lowering.call(operator.sub, count, np.size(flat, 0)), 0)
    zeros = lowering.builder.call(np.zeros, (missing,), {"dtype": x.dtype})
    whole = np.concatenate([flat[:count], zeros])
    lowering.memory.assign(x, np.reshape(whole, lengths))
