"""What an index does to the axes of an array: which it takes, and where its own stand."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from s2s_ad.core import sizes, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.rule import Rule

UNKNOWN = object()


@dataclass(frozen=True, slots=True)
class Layout:
    """What an index does to the axes of an array.

    items: one per step, Ellipsis written out as slices.
    advanced: positions in `items` that take part in advanced indexing.
    block: the shape that the advanced items broadcast to; None without any.
    place: where that block stands in the result.
    shape: the shape of the result.
    """

    items: tuple
    advanced: tuple[int, ...]
    block: values.Shape | None
    place: int
    shape: values.Shape


def fact_of(item: Any) -> values.AbstractValue:
    """The fact of an item; a truth of Python's is a mask of one element, as NumPy takes it."""
    if isinstance(item, Symbol):
        fact = item.fact
    elif type(item) in values.PYTHON_NUMBERS:
        fact = values.Scalar(type(item))
    else:
        return values.Static(item)
    return values.Array(np.dtype(bool), ()) if fact == values.Scalar(bool) else fact


def is_integer(item: Any) -> bool:
    """A single integer, of Python's or NumPy's."""
    fact = fact_of(item)
    if isinstance(fact, values.Scalar):
        return fact.kind is int
    return isinstance(fact, values.Array) and fact.shape == () and dtype_kind(item) in "iu"


def is_array(item: Any) -> bool:
    """An array of integers with axes of its own, or a mask, which may be one truth."""
    fact = fact_of(item)
    if not isinstance(fact, values.Array) or fact.shape is None:
        return False
    return dtype_kind(item) in ("biu" if fact.shape else "b")


def dtype_kind(item: Any) -> str:
    """The kind of an item's dtype: "b" for a mask, "i" for what is no array, "?" if not known."""
    fact = fact_of(item)
    if not isinstance(fact, values.Array):
        return "i"
    return "?" if fact.dtype is None else fact.dtype.kind


def consumed(item: Any) -> int:
    """How many axes of the array the item takes."""
    if item is None:
        return 0
    return fact_of(item).rank if is_array(item) and dtype_kind(item) == "b" else 1


def layout(index: Any, shape: values.Shape) -> Layout | None:
    """The layout of an index into an array of this shape; None where facts do not tell."""
    items = list(index) if isinstance(index, tuple) else [index]
    for item in items:
        plain = item is None or item is Ellipsis or isinstance(item, slice)
        if not (plain or is_integer(item) or is_array(item)):
            return None
    taken = sum(consumed(item) for item in items if item is not Ellipsis)
    if taken > len(shape):
        raise IndexError(f"too many indices: {taken} for an array of rank {len(shape)}")
    gap = [slice(None)] * (len(shape) - taken)
    at = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    items[at : at + 1] = gap
    return _laid_out(tuple(items), shape)


def check_bounds(
    builder: Builder, index: Any, shape: values.Shape, *, assumed: bool = False
) -> None:
    """Compare the integers of an index with the lengths of the axes, where forms tell them, or
    where that one is out of bounds may be `assumed`.

    Raises:
        IndexError: one of them is certain to be out of bounds.
    """
    found, axis = layout(index, shape), 0
    for item in () if found is None else found.items:
        size = builder.size(item) if is_integer(item) else None
        if size is not None:
            count = values.size_of_dim(shape[axis])
            beyond = (size - count, -size - count - 1)
            if any(sizes.is_natural(each, assumed=assumed) for each in beyond):
                raise IndexError(f"index is out of bounds for axis {axis}")
        axis += consumed(item)


def required(builder: Builder, index: Any, shape: values.Shape | None) -> list[sizes.Size]:
    """What is not below 0 where each number of an index is in range."""
    found = None if shape is None else layout(index, shape)
    needed, axis = [], 0
    for item in () if found is None else found.items:
        if is_integer(item) or (is_array(item) and not is_mask(item)):
            needed += required_along(builder, item, shape[axis])
        axis += consumed(item)
    return needed


def required_along(builder: Builder, item: Any, dim: int | values.Dim) -> list[sizes.Size]:
    """What is not below 0 where a whole number, or each of an array of them, is in range."""
    count = values.size_of_dim(dim)
    low, high = range_of(builder, item)
    return [each for each in (count - high - 1, count + low) if not sizes.is_natural(each)]


def range_of(builder: Builder, item: Any) -> tuple[sizes.Size, sizes.Size]:
    """The least and the greatest that a whole number may be, or one of an array of them."""
    size = builder.size(item)
    if size is not None:
        return size, size
    rule, operands, params = builder.definition(item) if isinstance(item, Symbol) else (None,) * 3
    source = operands[0] if operands else None
    if rule is not None and isinstance(source, Symbol) and (rule.view or rule.converts):
        return range_of(builder, source)
    if rule is not None and rule.positions and source.ndim == 1:
        return sizes.of(0), values.size_of_dim(source.shape[0]) - 1
    stop = builder.size(params["start"]) if _counts_up(rule, params) else None
    if stop is not None:
        return sizes.of(0), stop - 1
    unknown = sizes.of(sizes.fresh(is_length=False))
    return unknown, unknown


def cover(indices: Sequence[Any], shape: values.Shape) -> bool:
    """Whether each element is in what one of the indices takes, as in x[:-1] and x[1:].

    Those that take whole axes but for one are looked at, axis by axis.
    """
    spans: list[list[_Span]] = [[] for _ in shape]
    for index in indices:
        found = layout(index, shape)
        if found is None or len(found.items) != len(shape):
            continue
        parts = [i for i, item in enumerate(found.items) if not _is_whole(item)]
        span = _span(found.items[parts[0]], shape[parts[0]]) if len(parts) == 1 else None
        if span is not None:
            spans[parts[0]].append(span)
    return any(
        _are_without_gap(each, assumed=assumed) for each in spans for assumed in (False, True)
    )


def _is_whole(item: Any) -> bool:
    """Whether an index takes all of its axis; what a Symbol equals is not known."""
    return isinstance(item, slice) and item.start is item.stop is item.step is None


_Span = tuple[sizes.Size, sizes.Size | None]  # from where to where; None: to the end


def _span(item: Any, dim: int | values.Dim) -> _Span | None:
    if type(item) is int:
        place = _counted(item, dim)
        return place, None if item == -1 else place + 1
    bounds = (item.start, item.stop) if isinstance(item, slice) else (UNKNOWN, UNKNOWN)
    known = all(each is None or type(each) is int for each in bounds)
    if not known or not (item.step is None or (type(item.step) is int and item.step == 1)):
        return None
    start, stop = bounds
    return _counted(start or 0, dim), None if stop is None else _counted(stop, dim)


def _counted(index: int, dim: int | values.Dim) -> sizes.Size:
    """An index counted from the front."""
    return sizes.of(index) if index >= 0 else values.size_of_dim(dim) + index


def _are_without_gap(spans: Sequence[_Span], *, assumed: bool) -> bool:
    """Whether spans lead from the first element to the last."""
    reached, waiting = [sizes.of(0)], list(spans)
    while waiting:
        follows = (
            each
            for each in waiting
            if any(sizes.is_natural(index - each[0], assumed=assumed) for index in reached)
        )
        span = next(follows, None)
        if span is None or span[1] is None:
            return span is not None
        waiting.remove(span)
        reached.append(span[1])
    return False


def _laid_out(items: tuple, shape: values.Shape) -> Layout:
    has_arrays = any(is_array(item) for item in items)
    advanced = [
        i for i, item in enumerate(items) if is_array(item) or (has_arrays and is_integer(item))
    ]
    dims: list[Any] = []
    place, axis = None, 0
    for i, item in enumerate(items):
        if i in advanced:
            place = len(dims) if place is None else place
        elif item is None:
            dims.append(1)
        elif isinstance(item, slice):
            dims.append(slice_dim(shape[axis], item))
        if is_array(item) and is_mask(item):
            _check_mask(fact_of(item).shape, shape[axis:])
        axis += consumed(item)
    if not advanced:
        return Layout(items, (), None, 0, tuple(dims))
    place = 0 if apart(advanced) else place
    block = values.broadcast(_block_shape(items[i]) for i in advanced)
    return Layout(items, tuple(advanced), block, place, (*dims[:place], *block, *dims[place:]))


def _check_mask(mask: values.Shape, axes: values.Shape) -> None:
    """Refuse a mask that is not as long as the axes that it is for.

    Raises:
        LengthError: NumPy raises an IndexError.
    """
    for one, other in zip(mask, axes, strict=False):
        if one != other:
            values.check_fit(one, other, "a mask and an axis of different lengths", IndexError)


def apart(advanced: Sequence[int]) -> bool:
    """Whether something stands between advanced indices: then their block comes first."""
    return any(after != before + 1 for before, after in pairwise(advanced))


def _block_shape(item: Any) -> values.Shape:
    if dtype_kind(item) != "b":
        return fact_of(item).shape
    return (item.builder.count(item) if isinstance(item, Symbol) else values.fresh_dim(),)


def slice_dim(dim: int | values.Dim, item: slice) -> int | values.Dim:
    """The length of a slice, as far as it follows from its bounds."""
    bounds = (item.start, item.stop, item.step)
    if isinstance(dim, int) and not any(isinstance(each, Symbol) for each in bounds):
        return len(range(*item.indices(dim)))
    if item.step == -1 and item.start is None and item.stop is None:
        return dim
    step = 1 if item.step is None else item.step
    ends = [each if each is None else _size(each) for each in (item.start, item.stop)]
    if isinstance(step, Symbol) or any(each is UNKNOWN for each in ends):
        return values.fresh_dim()
    count = sizes.between if step > 0 else sizes.backwards
    size = count(values.size_of_dim(dim), *ends)
    if size is None:
        return values.fresh_dim()
    return values.dim_of_size(sizes.quotient(size + (abs(step) - 1), abs(step)))


def _size(bound: Any) -> Any:
    if not isinstance(bound, Symbol):
        return sizes.of(int(bound))
    size = bound.builder.size(bound)
    if size is None and is_integer(bound):
        return bound.builder.number(bound)
    return UNKNOWN if size is None else size


def index_of(items: tuple) -> Any:
    return items[0] if len(items) == 1 else items


def may_repeat(index: Any, builder: Builder) -> bool:
    """Whether an index may name an element twice, so that `x[index] += v` would lose a term."""
    items = index if isinstance(index, tuple) else (index,)
    arrays = [item for item in items if is_array(item) and dtype_kind(item) != "b"]
    unsure = [i for i in items if isinstance(i, Symbol) and not is_integer(i) and not is_array(i)]
    if unsure or not arrays:
        return bool(unsure)  # what is not known may be longer than the others
    block = values.broadcast(item.shape for item in arrays)
    counted = {_counted_axis(builder, item, block) for item in arrays}
    return any(n != 1 and axis - len(block) not in counted for axis, n in enumerate(block))


def _counted_axis(builder: Builder, item: Symbol, block: values.Shape) -> int | None:
    """The axis of the block, from its end, along which an array of indices is all different.

    np.arange(n), or np.arange(n)[:, None], whose other axes are of length one.
    """
    rule, operands, params = builder.definition(item)
    source = item
    if rule is not None and rule.function is operator.getitem:
        parts = params.get("index", operands[1] if len(operands) > 1 else None)
        spread = isinstance(parts, tuple) and all(map(_keeps, parts))
        source = operands[0] if spread else item
    if not _is_distinct(builder, source) or len(source.shape) != 1:
        return None
    longer = [axis - len(item.shape) for axis, n in enumerate(item.shape) if n != 1]
    same = len(longer) == 1 and values.same_dim(item.shape[longer[0]], block[longer[0]])
    return longer[0] if same else None


def _keeps(item: Any) -> bool:
    """Whether this item of an index leaves all elements in their order: None, or a whole slice."""
    whole = isinstance(item, slice) and item.start is item.stop is item.step is None
    return item is None or whole


def _is_distinct(builder: Builder, item: Symbol) -> bool:
    """Every element differs, and none counts from the end: np.arange(n), np.flatnonzero(x)."""
    rule, _, params = builder.definition(item)
    return _counts_up(rule, params) or item.fact.selects


def _counts_up(rule: Rule | None, params: Mapping[str, Any]) -> bool:
    """Whether it is np.arange(n)."""
    return rule is not None and rule.counts_up and set(params) == {"start"}


def counts_up(builder: Builder, item: Any) -> bool:
    """Whether it is np.arange(n)."""
    return is_indices(item) and _counts_up(*builder.definition(item)[::2])


def is_indices(item: Any) -> bool:
    """An array of whole numbers."""
    return is_array(item) and dtype_kind(item) in "iu"


def selects(item: Any) -> bool:
    """An array of indices of which none is another."""
    return is_array(item) and fact_of(item).selects


def is_mask(item: Any) -> bool:
    return is_array(item) and dtype_kind(item) == "b"


def joined_index(builder: Builder, row: Any, index: Any) -> tuple[Symbol, tuple] | None:
    """(A, (i, j)) for the index j of A[i], (x, (j + 1,)) for that of x[1:]; the part has no name
    of the user's.

    Both hold whole numbers and slices. Where it is not certain which element a slice has at a
    place, or that it has one there if the array does, there is none.
    """
    rule, inner, params = builder.definition(row)
    if rule is None or rule.function is not operator.getitem or row.ndim is None:
        return None
    if builder.hints[row.name].kind == "user" or not isinstance(inner[0].fact, values.Array):
        return None
    first, second = (
        each if isinstance(each, tuple) else (each,) for each in (params["index"], index)
    )
    plain = all(isinstance(each, slice) or is_integer(each) for each in (*first, *second))
    if not plain or len(second) > row.ndim:
        return None
    if all(map(is_integer, first)):
        return inner[0], (*first, *second)
    joined = _joined(builder, first, second, inner[0].shape, row.shape)
    return None if joined is None or not any(map(is_integer, second)) else (inner[0], joined)


def _joined(
    builder: Builder, first: tuple, second: tuple, whole: values.Shape, row: values.Shape
) -> tuple | None:
    """The index that does what `second` does to what `first` takes: axis by axis.

    Args:
        whole: the shape of what `first` is the index of.
        row: that of what it takes.
    """
    items, after, dims = [], [*second], [*row]
    for item, length in zip(first, whole, strict=False):
        if isinstance(item, slice):
            lengths = [values.size_of_dim(each) for each in (length, dims.pop(0))]
            item = _within(builder, item, after.pop(0), *lengths) if after else item
        if item is None:
            return None
        items.append(item)
    return (*items, *after)


def _within(builder: Builder, part: slice, item: Any, length: sizes.Size, count: sizes.Size) -> Any:
    """What an item of an index takes of a slice with `count` of the elements of an axis.

    None where it is not certain which element that is, or that it is one of the slice if it is
    one of the array.
    """
    if _is_whole(part):
        return item
    if isinstance(item, slice):
        return part if _is_whole(item) else None
    start = 0 if part.start is None else part.start
    step = 1 if part.step is None else part.step
    place, first = builder.size(item), builder.size(start)
    if type(step) is not int or step < 1 or values.missing((place, first)):
        return None
    from_end = type(start) is int and start < 0
    begins = sizes.at_least(length, -first) if from_end else sizes.is_natural(first)
    to_end = part.stop is None and not from_end  # what is behind the slice is behind the array
    if not begins or not sizes.is_natural(place):
        return None
    if not to_end and not sizes.at_least(count, place + 1):
        return None
    return _sum(builder, _times(builder, step, item), start)


def _times(builder: Builder, step: int, item: Any) -> Any:
    if type(item) is int:
        return step * item
    return item if step == 1 else builder.call(operator.mul, (step, item), {})


def _sum(builder: Builder, item: Any, start: Any) -> Any:
    if isinstance(start, Symbol):
        return builder.call(operator.add, (start, item), {})
    if type(item) is int or start == 0:
        return item + start if type(item) is int else item
    function = operator.add if start > 0 else operator.sub
    return builder.call(function, (item, abs(start)), {})
