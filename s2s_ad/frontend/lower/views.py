"""What a call gives: an array of its own, a view of an argument, or what may be either."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, is_array_in_text
from s2s_ad.core.registry import rule_for
from s2s_ad.frontend.lower.heap import (
    Memory,
    Reference,
    View,
    is_immutable,
    settled,
    symbols,
)
from s2s_ad.rules.elementwise import Elementwise
from s2s_ad.rules.index_layout import is_array, is_integer
from s2s_ad.rules.shapes import reshape_like

SEVERAL = 4  # the elements of an axis of an example: more than `ddof`


def given(memory: Memory, function: Callable, args: tuple, kwargs: dict, result: Any) -> Any:
    """The result of an operation, as the array that it is."""
    if isinstance(result, tuple | list):
        items = [given(memory, function, args, kwargs, each) for each in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    if not isinstance(result, Symbol) or isinstance(result, Reference):
        return result
    number = _is_number(function, args, kwargs, result)
    whole = args[0] if args and isinstance(args[0], Reference) else None
    view = None
    if whole is not None and not number and _is_certain_array(whole, function, args[1:]):
        view = _view(function, whole, args[1:], kwargs, result) or _protected(
            function, whole, args[1:], kwargs, result
        )
    if view is IDENTITY:
        return whole
    if view is not None:
        made = memory.viewed(result, view)
        made.contiguous = _is_contiguous_view(function, whole, args)
    elif number or _of_numbers(args, kwargs) or _gives_new_memory(function, args, kwargs, result):
        made = memory.fresh(result)
        made.contiguous = "order" not in kwargs and _is_contiguous(function, args, result)
    else:
        made = memory.kindred(result, _sources(result, symbols((args, kwargs))))
    made.number = number
    return made


def _is_certain_array(whole: Reference, function: Callable, rest: tuple) -> bool:
    """Whether what a call is of is an array: it is known, or the call would raise."""
    sliced = function is operator.getitem and _slices(rest[0])
    return whole.number is False or (whole.number is None and sliced)


def _made_by_view(result: Symbol) -> bool:
    """Whether the operation that a call became is a view, though the function's own is none."""
    rule, _, _ = result.builder.definition(result)
    return rule is not None and rule.view


IDENTITY = object()


def _view(function: Callable, whole: Reference, args: tuple, kwargs: dict, result: Symbol) -> Any:
    """How the result is read from its first argument, where it is certain to be a view of it."""
    builder, rest, named = whole.builder, settled(args), settled(kwargs)

    def read(value: Symbol) -> Any:
        return builder.call(function, (value, *rest), named)

    if function is operator.getitem:
        if not is_basic(rest[0]):
            return None
        index = _items(rest[0])
        place = functools.partial(_place_in_item, index) if all(map(_keeps_place, index)) else None
        return View(whole, read, lambda x, part: stored(builder, x, rest[0], part), place)
    if whole.shape is None:
        return None
    way = _way_back(function)
    if way == "operand" or (function is np.real and values.is_real(whole.fact)):
        return IDENTITY if not (rest or named) else None
    if way == "part" and values.is_complex(whole.fact):
        return View(whole, read, functools.partial(_with_part, function))
    if way == "permutation":
        axes = _undone(function, whole.ndim, rest, named)
        place = functools.partial(_place_in_permutation, axes)
        return View(whole, read, lambda x, part: np.transpose(part, axes), place)
    flat = whole.ndim == 1 == result.ndim  # there all orders are one
    as_in_c = _is_in_order(whole) and (flat or not _names_order(rest, named))
    if way == "insertion" or (way == "reshape" and as_in_c):
        return View(whole, read, lambda x, part: reshape_like(part, x))
    if way == "involution":
        return View(whole, read, lambda x, part: read(part))
    return None


def _names_order(args: tuple, kwargs: dict) -> bool:
    """Whether a call asks for another order of the elements than that of C."""
    named = [each for each in (*args, kwargs.get("order")) if isinstance(each, str)]
    return any(each != "C" for each in named)


def _way_back(function: Callable) -> str:
    """How a view that the function gives is written back, see `Rule.written_back`."""
    rule = rule_for(function)
    return "" if rule is None else rule.written_back


def _protected(
    function: Callable, whole: Reference, args: tuple, kwargs: dict, result: Symbol
) -> View | None:
    """The view that nobody writes to, where the function is one or its call became one."""
    rules = rule_for(function), result.builder.definition(result)[0]
    known = [rule for rule in rules if rule is not None]
    if getattr(rules[0], "allocates", False) or not any(rule.overlapping for rule in known):
        return None
    rest, named = settled(args), settled(kwargs)

    def read(value: Symbol) -> Any:
        return value.builder.call(function, (value, *rest), named)

    return None if whole.shape is None else View(whole, read, None)


def _with_part(function: Callable, x: Symbol, part: Any) -> Symbol:
    """Complex numbers whose real or imaginary part is another one."""
    whole = part + 1j * np.imag(x) if function is np.real else np.real(x) + 1j * part
    return whole if values.is_dtype(x.dtype, complex) else whole.astype(x.dtype.type)


def stored(builder: Builder, whole: Symbol, index: Any, part: Any) -> Any:
    return builder.call(runtime.index_set, (whole, index, part), {})


def is_basic(index: Any) -> bool:
    """Whether an index takes a view: integers, slices, None and Ellipsis."""
    return all(
        each is None or each is Ellipsis or isinstance(each, slice) or _is_place(each)
        for each in _items(index)
    )


def _items(index: Any) -> tuple:
    return index if isinstance(index, tuple) else (index,)


# ---- where an element of a view stands in the array ----------------------------------------------

WHOLE = slice(None)


def _keeps_place(item: Any) -> bool:
    return _is_place(item) or _is_whole(item)


def _is_whole(item: Any) -> bool:
    return isinstance(item, slice) and item.start is None and item.stop is None is item.step


def _place_in_item(outer: tuple, index: Any) -> Any:
    """The index that stands for `x[outer][index]`, where outer is of numbers and whole axes.

    Example:
        >>> _place_in_item((2, slice(None), 3), 5)
        (2, 5, 3)
    """
    inner = () if index is Ellipsis else _items(index)
    plain = all(isinstance(each, slice) or _is_place(each) for each in inner)
    if not plain and (len(inner) > 1 or not _is_one_array(inner[0]) or not all_places(outer)):
        return None
    rest = iter(inner)
    items = [each if _is_place(each) else next(rest, WHOLE) for each in outer]
    return (*items, *rest)


def _is_one_array(item: Any) -> bool:
    return isinstance(item, list) or is_array(item)


def all_places(index: tuple) -> bool:
    return all(map(_is_place, index))


def _place_in_permutation(axes: tuple[int, ...], index: Any) -> Any:
    """The index into an array that stands for an index into the array with its axes permuted.

    Only where what is left of the axes keeps its order: numbers, and slices in the same order.
    """
    inner = () if index is Ellipsis else _items(index)
    if not all(isinstance(each, slice) or _is_place(each) for each in inner):
        return None
    inner = (*inner, *[WHOLE] * (len(axes) - len(inner)))
    left = [axis for axis in axes if isinstance(inner[axis], slice)]
    return tuple(inner[axis] for axis in axes) if left == sorted(left) else None


def _is_place(item: Any) -> bool:
    return type(item) is not bool and not isinstance(item, list) and is_integer(item)


def _undone(function: Callable, rank: int, args: tuple, kwargs: dict) -> tuple[int, ...]:
    """The axes that transpose the result of a permutation back."""
    lengths = tuple(range(2, 2 + rank))
    example = np.broadcast_to(np.empty(()), lengths)
    permuted = function(example, *args, **kwargs).shape
    return tuple(permuted.index(length) for length in lengths)


def _gives_new_memory(function: Callable, args: tuple, kwargs: dict, result: Symbol) -> bool:
    rule = rule_for(function)
    if rule is None:
        return False
    if rule.allocates:
        return "copy" not in kwargs
    if function is operator.getitem:
        index = args[1]
        return any(map(_is_one_array, _items(index)))
    if rule.view or hasattr(rule, "meaning") or rule.written_back == "operand":
        return False
    return not _made_by_view(result)


def _changes_dtype(x: Any, builder: Builder, name: str) -> bool:
    """Whether a conversion is certain to give new memory, even where it was told to make none."""
    dtypes = (values.strong_dtype(builder.fact(x)), values.strong_dtype(builder.facts[name]))
    return not values.missing(dtypes) and dtypes[0] != dtypes[1]


def _sources(result: Symbol, arguments: Iterable[Symbol]) -> list[Reference]:
    """The arguments that the result is computed from by views alone, or by nothing at all."""
    given_ = [each for each in arguments if isinstance(each, Reference)]
    names = {each.name for each in given_}
    chain = []
    for name in _seen_through(result.builder, result.name):
        if name in names:
            return [each for each in given_ if each.name == name]
        chain.append(name)
    if result.builder.definitions.get(chain[-1]) is None:
        return given_
    # a view of a view may have become one of the array itself
    return [e for e in given_ if chain[-1] in _seen_through(result.builder, e.name)]


def _seen_through(builder: Builder, name: str) -> Iterator[str]:
    """The name of a value, and of each that it is computed from by views alone."""
    while True:
        yield name
        rule, operands, _ = builder.definitions.get(name, (None, [], {}))
        if rule is None or not operands or not isinstance(operands[0], Symbol):
            return
        converts = rule.function is np.ndarray.astype
        if not rule.view and (not converts or _changes_dtype(operands[0], builder, name)):
            return
        name = operands[0].name


def _of_numbers(args: tuple, kwargs: dict) -> bool:
    """Whether all that is computed from are numbers: they have no memory that could be shared."""
    return all(map(is_immutable, symbols((args, kwargs))))


def _is_number(function: Callable, args: tuple, kwargs: dict, result: Symbol) -> bool | None:
    """Whether the result is a number, which nothing changes; None where it may be an array."""
    if isinstance(result.fact, values.Scalar):
        return True
    if function is operator.getitem and _selects_several(args[1]):
        return False
    if result.shape is None:
        return None
    rule = rule_for(function)
    if result.shape or (rule is not None and rule.gives_array):
        return False
    if function is operator.getitem:
        return not any(each is Ellipsis for each in _items(args[1]))
    if isinstance(rule, Elementwise) or (rule is not None and rule.reduction):
        return True
    if isinstance(function, type) and issubclass(function, np.generic):  # np.float64(x)
        return True
    return _gives_number(function, args, kwargs)


def _selects_several(index: Any) -> bool:
    """Whether an index gives an array, whatever the rank of what it is an index into."""
    items = _items(index)
    masks = (isinstance(e, Symbol) and values.is_dtype(e.dtype, bool) for e in items)
    return any(is_array(e) or isinstance(e, list) for e in items) or any(masks) or _slices(index)


def _slices(index: Any) -> bool:
    """Whether an index can only be one into an array that has axes."""
    return any(isinstance(each, slice) for each in _items(index))


def _gives_number(function: Callable, args: tuple, kwargs: dict) -> bool | None:
    """What NumPy gives for an argument of the kind; None where that cannot be told.

    A view of an array without axes is an array, and a number in most forms is a number.
    """
    whole, *rest = args or (None,)
    if not isinstance(whole, Reference) or whole.number is None or whole.shape is None:
        return None
    rule = rule_for(function)
    if rule is None or [*symbols((rest, kwargs))]:
        return None
    moves = rule.written_back == "operand" or rule.converts or hasattr(rule, "meaning")
    if not (moves or rule.view):
        return None
    example: Any = np.zeros([dim if dim == 1 else SEVERAL for dim in whole.shape])
    if whole.number:
        example = 1.0 if isinstance(whole.fact, values.Scalar) else np.float64(1)
    method = getattr(np.ndarray, getattr(function, "__name__", ""), None) is function
    call = getattr(example, function.__name__) if method else functools.partial(function, example)
    try:
        return not isinstance(call(*rest, **kwargs), np.ndarray)
    except (TypeError, ValueError, np.linalg.LinAlgError):  # of this example
        return None


def as_array_of_no_axes(value: Any) -> Any:
    """The value, where the user's code has an array without axes, as one in the text, too.

    An update in place is an operation there, which gives a number.
    """
    if not isinstance(value, Reference) or value.number is not False or value.shape != ():
        return value
    content, builder = settled(value), value.builder
    derived = content.name in builder.derived_names  # which is a number wherever it has no axes
    if derived or getattr(value.fact, "tensor", False) or is_array_in_text(content):
        return value
    return builder.call(runtime.array_without_axes, (content,), {})


def _is_contiguous(function: Callable, args: tuple, result: Symbol) -> bool:
    """Whether the elements of a new array are certain to stand in memory in the order of C."""
    if result.ndim == 1 and _gives_new_memory(function, args, {}, result):
        return True
    order = getattr(rule_for(function), "in_c_order", "")
    if any(isinstance(each, str) for each in args):
        return False  # which may be the order that is asked for
    if order == "indices":
        return args[0].ndim == 1 and is_array(args[1]) and in_order(args[1])
    if order == "first":
        return not isinstance(args[0], Symbol) or in_order(args[0])
    rows = (each.ndim in (0, 1) or in_order(each) for each in symbols(args))
    return order == "always" or (order == "operands" and all(rows))


def in_order(value: Any) -> bool:
    """Whether the elements are certain to stand in the order of C."""
    if not isinstance(value, Symbol):
        return True
    return isinstance(value, Reference) and _is_in_order(value)


def _is_in_order(value: Reference) -> bool:
    one = value.shape is not None and all(length == 1 for length in value.shape)
    return value.contiguous or one


def _is_contiguous_view(function: Callable, whole: Reference, args: tuple) -> bool:
    if not whole.contiguous:
        return False
    if function is operator.getitem:
        index = args[1]
        single = index if not isinstance(index, tuple) else index[0] if len(index) == 1 else None
        if not isinstance(single, slice):
            return is_integer(single)
        return single.step is None or (type(single.step) is int and single.step == 1)
    return _way_back(function) in ("reshape", "insertion")
