"""Contractions of an array that is zero but for a part: so is the product, but for a part.

Where v_bar is zero but for v_bar[:, 0], v.T @ v_bar is v.T @ v_bar[:, 0] in its first column. A
factor that is infinite in another column has no part in it (see `masks.inside_mask`). Of columns
that a mask or an array of integers names, what was added there is multiplied: a column may be named
twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, is_same
from s2s_ad.rules import support
from s2s_ad.rules.arithmetic import is_zeros
from s2s_ad.rules.index_layout import is_array, layout
from s2s_ad.rules.masks import Write, condition_of, restricted, within
from s2s_ad.rules.specifications import parts

WHOLE = slice(None)


def inside_part(builder: Builder, operands: list, spec: str, write: Write, others: tuple) -> Any:
    """write(product, *others) in the part of a contraction that is not zero; None of any other."""
    *letters, out = parts(spec)
    for position in (0, 1):
        for axis, letter in enumerate(letters[position]):
            summed = letter in letters[1 - position] or letter not in out
            item = WHOLE if summed else part_of_axis(builder, operands[position], axis)
            if not _same_item(item, WHOLE):
                return _written(builder, operands, spec, (position, axis, item), write, others)
    mask = _mask_of_columns(builder, operands, (*letters, out))
    if mask is None:
        return None
    return within(mask, builder.call(runtime.contract, (spec, *operands), {}), write, others)


def _mask_of_columns(builder: Builder, operands: list, letters: tuple) -> Any:
    """The mask outside of which columns of a product are zero; None where none is known."""
    for position in (0, 1):
        own, other, out = letters[position], letters[1 - position], letters[2]
        if own and own[-1:] == out[-1:] and own[-1] not in other:
            mask = condition_of(builder, operands[position])
            if isinstance(mask, Symbol) and support.rank(mask) == 1:
                return mask
    return None


def part_of_axis(builder: Builder, array: Any, axis: int) -> Any:
    """The index along an axis outside of which an array is zero; all of it where none is known."""
    found, first = None, False
    while isinstance(array, Symbol) and not is_zeros(builder, array):
        rule, operands, params = builder.definition(array)
        if rule is not None and rule.leading:
            array, first = operands[0], True
            continue
        if rule is None or rule.function is not runtime.index_add:
            return WHOLE
        item = _item(params["index"], array, axis)
        if found is not None and not _same_item(found, item):
            return WHOLE
        if is_array(item) and not _is_all_of(builder, array):
            return WHOLE
        found, array = item, operands[0]
    return WHOLE if found is None or (first and not _counts_from_front(found)) else found


def _counts_from_front(item: Any) -> bool:
    """Whether an index takes the same of an array and of the first part of it."""
    if isinstance(item, slice):
        start = 0 if item.start is None else item.start
        return type(start) is int and start == 0 and type(item.stop) is int and item.stop > 0
    return type(item) is int and item >= 0


def _item(index: Any, array: Symbol, axis: int) -> Any:
    """What an index takes of one axis; all of it where it moves axes."""
    known = None if array.shape is None else layout(index, array.shape)
    if known is None or len(known.items) != len(array.shape):
        return WHOLE
    if any(each is None for each in known.items):
        return WHOLE
    arrays = [each for each in known.items if is_array(each)]
    if arrays and not (_is_vector(known.items[axis]) and _is_alone(arrays, known.items)):
        return WHOLE
    return known.items[axis]


def _is_vector(item: Any) -> bool:
    return is_array(item) and len(item.shape) == 1


def _is_alone(arrays: list, items: tuple) -> bool:
    """Whether one array among the items takes of its axis, and all is taken of the others."""
    others = [each for each in items if not is_array(each)]
    return len(arrays) == 1 and all(_same_item(each, WHOLE) for each in others)


def _is_all_of(builder: Builder, array: Symbol) -> bool:
    """Whether an array is zero but for what is added to it once, a number for each place."""
    _, (before, value), params = builder.definition(array)
    known = layout(params["index"], array.shape)
    return is_zeros(builder, before) and values.same_shape(support.shape(value), known.shape)


def _same_item(a: Any, b: Any) -> bool:
    if isinstance(a, slice) and isinstance(b, slice):
        pairs = ((a.start, b.start), (a.stop, b.stop), (a.step, b.step))
        return all(is_same(*pair) for pair in pairs)
    return is_same(a, b)


def _written(
    builder: Builder, operands: list, spec: str, part: tuple, write: Write, others: tuple
) -> Any:
    position, axis, item = part
    *letters, out = parts(spec)
    letter, array = letters[position][axis], operands[position]
    product = builder.call(runtime.contract, (spec, *operands), {})
    index = tuple(item if each == letter else WHOLE for each in out)
    rest = restricted(others, product, lambda each: each[index])
    if rest is None:
        return None
    if is_array(item):
        taken = builder.definition(array)[1][1]
    else:
        taken = array[tuple(item if i == axis else WHOLE for i in range(array.ndim))]
    if not isinstance(item, slice) and not is_array(item):
        letters[position], out = letters[position].replace(letter, ""), out.replace(letter, "")
    given = (taken, operands[1]) if position == 0 else (operands[0], taken)
    part_spec = f"{letters[0]},{letters[1]}->{out}"
    found = write(builder.call(runtime.contract, (part_spec, *given), {}), *rest)
    whole = (each for each in others if values.same_shape(support.shape(each), product.shape))
    like = next(whole, product)
    if not isinstance(found, Symbol) or found.dtype is None or found.dtype != like.dtype:
        return None
    return builder.call(runtime.index_add, (np.zeros_like(like), index, found), {})
