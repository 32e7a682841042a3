"""Python's own functions on numbers and containers, evaluated while lowering."""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.calls import HANDLERS, apply
from s2s_ad.frontend.lower.containers import sequence
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.resolve import unwrap


def handles(*functions: Any) -> Callable:
    """Register the handler of some functions."""
    return lambda handler: [HANDLERS.update({each: handler}) for each in functions] and handler


def _refuse(lowering: Lowering, what: str, help: str) -> UnsupportedError:
    return UnsupportedError("S2S205", what, origin=lowering.builder.origin, help=help)


def _items(lowering: Lowering, value: Any, what: str) -> list:
    if isinstance(value, Tree):
        return list(value.keys if value.kind is dict else value.items)
    if isinstance(value, range | str):
        return list(value)
    if isinstance(value, Symbol) and value.shape and isinstance(value.shape[0], int):
        return [value[i] for i in range(value.shape[0])]
    raise _refuse(lowering, f"{what} of a value whose length is not known", "use NumPy's function")


@handles(len)
def length(lowering: Lowering, args: list, kwargs: dict) -> Any:
    (value,) = args
    if isinstance(value, Tree):
        return len(value.items)
    return np.size(value, 0) if isinstance(value, Symbol) else len(unwrap(value))


@handles(float)
def to_float(lowering: Lowering, args: list, kwargs: dict) -> Any:
    """float(x) of a floating-point number is x."""
    (value,) = args
    if not isinstance(value, Symbol):
        return float(unwrap(value))
    if value.shape == () and values.is_inexact(value.fact) and values.is_dtype(value.dtype, float):
        return value
    if isinstance(value.fact, values.Scalar):
        return value * 1.0
    raise _refuse(lowering, "float() of an array", "leave it out, or use .astype(float)")


@handles(int)
def to_int(lowering: Lowering, args: list, kwargs: dict) -> Any:
    (value,) = args
    if not isinstance(value, Symbol):
        return int(unwrap(value))
    if value.fact == values.Scalar(int):
        return value
    raise _refuse(lowering, "int() of a value", "use .astype(int)")


@handles(sum)
def total(lowering: Lowering, args: list, kwargs: dict) -> Any:
    items = _items(lowering, args[0], "sum()")
    start = args[1:] or [kwargs.get("start", 0)]
    return functools.reduce(operator.add, items, *start)


@handles(min, max)
def extreme(lowering: Lowering, args: list, kwargs: dict) -> Any:
    items = args if len(args) > 1 else _items(lowering, args[0], "min() or max()")
    if any(isinstance(each, Symbol | Tree) for each in items):
        raise _refuse(lowering, "min() or max() of values", "use np.minimum or np.maximum")
    raise _refuse(lowering, "min() or max()", "write the number")


def _converter(kind: type) -> Callable:
    def handler(lowering: Lowering, args: list, kwargs: dict) -> Any:
        return sequence(kind, _items(lowering, args[0], kind.__name__) if args else [])

    return handler


@handles(dict)
def make_dict(lowering: Lowering, args: list, kwargs: dict) -> Any:
    entries: dict = {}
    if args:
        if not isinstance(args[0], Tree) or args[0].kind is not dict:
            raise _refuse(lowering, "dict() of something that is not a known dict", "write it out")
        entries.update(zip(args[0].keys, args[0].items, strict=True))
    entries.update(kwargs)
    return Tree(dict, tuple(entries), tuple(entries.values()))


@handles(dict.get)
def dict_get(lowering: Lowering, args: list, kwargs: dict) -> Any:
    value, key, *default = args
    return value.get(key) if key in value.keys else (default[0] if default else None)


@handles(zip)
def zipped(lowering: Lowering, args: list, kwargs: dict) -> Any:
    columns = [_items(lowering, each, "zip()") for each in args]
    return sequence(list, [sequence(tuple, list(row)) for row in zip(*columns, strict=False)])


@handles(enumerate)
def enumerated(lowering: Lowering, args: list, kwargs: dict) -> Any:
    items = _items(lowering, args[0], "enumerate()")
    return sequence(list, [sequence(tuple, [i, each]) for i, each in enumerate(items)])


@handles(range)
def make_range(lowering: Lowering, args: list, kwargs: dict) -> Any:
    if any(isinstance(each, Symbol) for each in args):
        raise _refuse(lowering, "a range whose bounds are not known", "use np.arange")
    return range(*args)


@handles(isinstance)
def is_instance(lowering: Lowering, args: list, kwargs: dict) -> Any:
    value, kinds = args
    kinds = tuple(map(unwrap, kinds.items)) if isinstance(kinds, Tree) else (unwrap(kinds),)
    if isinstance(value, Tree):
        return issubclass(value.kind, kinds)
    if not isinstance(value, Symbol):
        return isinstance(unwrap(value), kinds)
    if isinstance(value.fact, values.Scalar):
        return issubclass(value.fact.kind, kinds)
    if isinstance(value.fact, values.Array) and value.shape:
        return issubclass(np.ndarray, kinds)
    raise _refuse(lowering, "isinstance() of a value that is not known", "leave the check out")


@handles(getattr)
def get_attribute(lowering: Lowering, args: list, kwargs: dict) -> Any:
    from s2s_ad.frontend.lower.attributes import read_attribute

    value, name = args[:2]
    return read_attribute(lowering, lowering.frame.source.node, value, name)


@handles(map)
def mapped(lowering: Lowering, args: list, kwargs: dict) -> Any:
    function, *columns = args
    rows = zip(*(_items(lowering, each, "map()") for each in columns), strict=False)
    return sequence(list, [apply(lowering, function, list(row), {}) for row in rows])


@handles(pow)
def power(lowering: Lowering, args: list, kwargs: dict) -> Any:
    return lowering.builder.call(operator.pow, args, {})


HANDLERS[tuple], HANDLERS[list] = _converter(tuple), _converter(list)
HANDLERS[dict.keys] = lambda lowering, args, kwargs: sequence(list, list(args[0].keys))
HANDLERS[dict.values] = lambda lowering, args, kwargs: sequence(list, list(args[0].items))
HANDLERS[dict.items] = lambda lowering, args, kwargs: sequence(
    list, [sequence(tuple, [k, v]) for k, v in zip(args[0].keys, args[0].items, strict=True)]
)
HANDLERS[builtins.slice] = lambda lowering, args, kwargs: slice(*args)
