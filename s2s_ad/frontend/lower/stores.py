"""Writing into arrays: elements, slices, whole arrays, and `a += b` on whatever a is.

A store is a new value of the array, and of everything that it is a view of.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.program import Hint
from s2s_ad.core.tree import Tree, to_object
from s2s_ad.frontend.lower.calls import as_argument
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.kinds import class_name, with_article
from s2s_ad.frontend.lower.references import Reference, is_immutable, settled
from s2s_ad.frontend.lower.views import is_basic
from s2s_ad.rules.elementwise import UnfitTypes
from s2s_ad.rules.index_layout import check_bounds, is_array, layout, may_repeat
from s2s_ad.rules.support import lengths


def writable(lowering: Lowering, value: Any) -> Reference:
    """The array as one that may be written to; an error where it may not."""
    if not isinstance(value, Reference):
        raise TypeError(f"{with_article(class_name(value))} is no array that could be changed")
    if is_immutable(value):
        kind = "float" if value.dtype is None else value.dtype.name
        raise TypeError(f"a number of type {kind} cannot be changed")
    return value


def set_item(lowering: Lowering, whole: Symbol, index: Any, value: Any) -> None:
    """`whole[index] = value`; the index has the form that rules take."""
    number = _class_of_number(whole)
    if number:
        error = TypeError(f"{number!r} object does not support item assignment")
        raise lowering.there_is_none(error)
    within_bounds(lowering, whole, settled(index))
    target, index = placed(writable(lowering, whole), settled(index))
    value = fitted(lowering, target, index, as_array(lowering, value))
    if index is Ellipsis and target.source is not None and target.view is None:
        return replace(lowering, target, value, "unsafe")  # it is a copy already, or a Parameter
    return update(lowering, target, runtime.index_set, index, value)


def _class_of_number(value: Symbol) -> str:
    """What Python calls the class of a value that is certain to be a number; "" where it is not."""
    if isinstance(value.fact, values.Scalar):
        return value.fact.kind.__name__
    number = isinstance(value, Reference) and is_immutable(value) and value.dtype is not None
    return f"numpy.{value.dtype.name}" if number else ""


def within_bounds(lowering: Lowering, array: Symbol, index: Any) -> None:
    """Let the path raise an IndexError where an index is certain to be out of bounds."""
    if array.shape is None:
        return
    caught = lowering.is_caught(IndexError())  # the types of what follows depend on it
    try:
        check_bounds(lowering.builder, index, array.shape, assumed=caught)
    except IndexError as error:
        raise lowering.there_is_none(error) from None


def add_item(lowering: Lowering, whole: Symbol, index: Any, value: Any) -> None:
    """`whole[index] += value`, which adds once for each time that an element is named."""
    within_bounds(lowering, whole, settled(index))
    target, index = placed(writable(lowering, whole), settled(index))
    update(lowering, target, runtime.index_add, index, settled(as_array(lowering, value)))


def update(lowering: Lowering, target: Reference, function: Any, index: Any, value: Any) -> None:
    """Store what a function of the array, an index and a value gives."""
    lowering.memory.allow(target)
    result = lowering.builder.call(function, (settled(target), index, value), {})
    lowering.memory.store(target, result)


def placed(target: Reference, index: Any) -> tuple[Reference, Any]:
    """Where the elements stand: in the array that the view is of, as long as an index says so."""
    while target.view is not None and target.view.place is not None:
        inner = target.view.place(index)
        if inner is None:
            break
        target, index = target.view.base, inner
    return target, index


def as_array(lowering: Lowering, value: Any) -> Any:
    """A value to be stored: lists become arrays."""
    is_list = isinstance(value, Tree) and value.kind in (tuple, list)
    if hasattr(getattr(value, "kind", None), "in_python"):
        raise TypeError(f"{with_article(class_name(value))} in an array of numbers")
    plain = settled(as_argument(lowering, value)) if is_list else to_object(settled(value))
    is_open = isinstance(plain, Symbol) and isinstance(plain.fact, values.List)
    if is_open or isinstance(plain, tuple | list):
        return lowering.builder.call(np.array, (plain,), {})
    return plain


def fitted(lowering: Lowering, target: Reference, index: Any, value: Any) -> Any:
    """The value as NumPy stores it: what has more axes than its place loses those of length one."""
    if not isinstance(value, Symbol | complex | int | float | np.generic):
        raise TypeError(f"{with_article(class_name(value))} in an array of numbers")
    fact = lowering.builder.fact(value)
    refuse_complex(target.fact, fact)
    if target.shape is None or not isinstance(value, Symbol) or value.shape is None:
        return value
    found = layout(index, target.shape)
    extra = 0 if found is None else len(value.shape) - len(found.shape)
    if extra <= 0:
        return value
    if any(map(values.known_not_one, value.shape[:extra])):
        raise ValueError("could not broadcast the value to the shape of its place")
    if all(dim == 1 for dim in value.shape[:extra]):
        return value[(0,) * extra]
    return np.squeeze(value, axis=tuple(range(extra)))  # which refuses any other length


def refuse_complex(array: Any, value: Any) -> None:
    """NumPy drops the imaginary part, or raises."""
    dtypes = [values.strong_dtype(each) for each in (array, value)]
    if not values.missing(dtypes) and dtypes[1].kind == "c" and dtypes[0].kind != "c":
        raise UnfitTypes("a complex value in an array of real numbers")


# ---- whole arrays --------------------------------------------------------------------------------


def overwrite(lowering: Lowering, target: Reference, value: Any, casting: str) -> None:
    """Give all elements of an array new values, which are broadcast and cast to it."""
    value = as_array(lowering, value)
    check_cast(lowering.builder.fact(value), target.fact, casting)
    set_item(lowering, target, Ellipsis, value)


def check_cast(value: Any, array: Any, casting: str) -> None:
    """Whether values may be written into an array where NumPy asks for this kind of casting."""
    dtypes = [values.strong_dtype(each) for each in (value, array)]
    if values.missing(dtypes):
        return
    weak = isinstance(value, values.Scalar) and values.is_inexact(value) is False
    if not weak and not np.can_cast(dtypes[0], dtypes[1], casting):
        raise TypeError(f"cannot put values of {dtypes[0]} into an array of {dtypes[1]}")


def replace(lowering: Lowering, target: Reference, result: Any, casting: str = "same_kind") -> None:
    """Let an array hold the result of an operation on it: `a *= 2`, out=a."""
    lowering.memory.allow(target)
    fact = lowering.builder.fact(result)
    check_cast(fact, target.fact, casting)
    if not isinstance(result, Symbol):
        return update(lowering, target, runtime.index_set, Ellipsis, result)
    result = settled(result)
    may_differ = result.dtype != target.dtype or values.may_be_wider(result.fact)
    if target.dtype is not None and may_differ:
        result = lowering.builder.call(np.ndarray.astype, (result, target.dtype.type), {})
    if target.shape is not None and values.same_shape(target.shape, result.shape):
        values.check_stored(target.shape, result.shape)
    elif target.shape is not None:
        result = broadcast(lowering, target, result)
    if target.born == 0:  # a Parameter: where it is stored, the text should say what it is
        name = lowering.builder.hints[target.name].text.removeprefix("new_")
        lowering.builder.named(result, Hint(f"new_{name}", "derived"))
    return lowering.memory.store(target, result)


def broadcast(lowering: Lowering, target: Reference, result: Symbol) -> Symbol:
    shape = result.shape
    if shape is not None:
        grows = any(
            old == 1 and values.known_not_one(new)
            for old, new in zip(target.shape[::-1], shape[::-1], strict=False)
        )
        if len(target.shape) < len(shape) or grows:
            text = "the result has another shape than the array that is to hold it"
            raise lowering.there_is_none(ValueError(text))
    wanted = tuple(lengths(settled(target), range(len(target.shape))))
    return lowering.builder.call(np.broadcast_to, (result, wanted), {})


# ---- a += b --------------------------------------------------------------------------------------


def updated(lowering: Lowering, old: Symbol, result: Any) -> Any:
    """What `old op= value` leaves behind, where `result` is `old op value`."""
    if is_immutable(old):
        return result
    target = writable(lowering, old)
    if target.number is None and not isinstance(target.fact, values.List):
        return either(lowering, target, result)
    replace(lowering, target, result)
    return target


def either(lowering: Lowering, old: Reference, result: Any) -> Any:
    """What is left behind where nobody knows whether that is an array or a number.

    If it is an array, nobody else may hold it, because a number would not change for them.

    What else may hold the array is not readable from now on.
    """
    memory = lowering.memory
    if old.source is not None:
        memory.mutated[old.source] = None
    if not isinstance(result, Symbol):
        return result
    new = memory.kindred(settled(result), ())
    new.number, new.refusal = result.number if isinstance(result, Reference) else None, old.refusal
    new.source = old.source
    if memory.choices is not None and memory.choices.rebinds(old, new):
        return new
    memory.forget(old.root, "a value that, if it is an array, was changed")
    return new


def add_in_place(lowering: Lowering, whole: Symbol, index: Any, value: Any) -> bool:
    """Whether `whole[index] += value` is one addition, and if so do it.

    An index that names an element twice adds once only, and an array of integers cuts off.
    """
    if not isinstance(whole, Reference) or not values.is_inexact(whole.fact):
        return False
    if isinstance(whole.fact, values.Unknown) and not is_basic(index):
        return False
    if may_name_twice(lowering, index):
        return False
    refuse_complex(whole.fact, lowering.builder.fact(value))
    add_item(lowering, whole, index, value)
    return True


def may_name_twice(lowering: Lowering, index: Any) -> bool:
    items = index if isinstance(index, tuple) else (index,)
    lists = [each for each in items if isinstance(each, list)]
    if lists:
        others = [each for each in items if each is not lists[0]]
        known = all(type(each) is int and each >= 0 for each in lists[0])
        return not known or len(set(lists[0])) < len(lists[0]) or any(map(is_array, others))
    return may_repeat(index, lowering.builder)


__all__ = ["add_in_place", "overwrite", "replace", "set_item", "updated", "writable"]
