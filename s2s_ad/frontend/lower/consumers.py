"""sum, max, min, all, any, list, tuple, dict, reduce and filter of what is not taken apart."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from s2s_ad.core.builder import NeedStatic, Symbol
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower import slots
from s2s_ad.frontend.lower.builtin import evaluates
from s2s_ad.frontend.lower.calls import HANDLERS, STEP_THROUGH, known_object
from s2s_ad.frontend.lower.comprehensions import consumed, generator_over
from s2s_ad.frontend.lower.containers import known_items, opened, sequence
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.entries import may_lack_items
from s2s_ad.frontend.lower.iterables import is_apart, passes_of
from s2s_ad.frontend.lower.iteration import (
    Generator,
    Items,
    Iterator,
    Produced,
    Range,
    Reversed,
    is_iterator,
)
from s2s_ad.frontend.lower.lengths import PURPOSE, items_needed
from s2s_ad.frontend.lower.references import Box, symbols
from s2s_ad.frontend.resolve import Captured

HERE = gast.Constant(value=None, kind=None)


def _generator(lowering: Lowering, items: Any) -> Generator:
    return generator_over(lowering, items, HERE)


@evaluates(sum)
def total(lowering: Lowering, items: Any, start: Any = 0) -> Any:
    return consumed(
        lowering, _generator(lowering, items), "T = S", "T = T + E", values={"S": start}
    )


@evaluates(all)
def all_true(lowering: Lowering, items: Any) -> Any:
    each, inner = "if not E:\n    T = False\n    break", "if not T:\n    break"
    return consumed(lowering, _generator(lowering, items), "T = True", each, inner=inner)


@evaluates(any)
def any_true(lowering: Lowering, items: Any) -> Any:
    each, inner = "if E:\n    T = True\n    break", "if T:\n    break"
    return consumed(lowering, _generator(lowering, items), "T = False", each, inner=inner)


CALLED = {max: "largest", min: "smallest"}


def _extreme(function: Callable, compares: str) -> Callable:
    before = "F = True"
    each = f"V = E\nif F:\n    T = V\n    F = False\nelif V {compares} T:\n    T = V"
    by_key = "V = E\nW = G(V)\nif F:\n    T = V\n    N = W\n    F = False\n"
    by_key += f"elif W {compares} N:\n    T = V\n    N = W"

    def handler(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
        items = sequence(tuple, args) if len(args) > 1 else args[0]
        if is_apart(items) and not any(True for _ in symbols(items)) and not kwargs:
            return function(map(known_object, known_items(lowering, items)))
        values, after = {"R": ValueError}, f"if F:\n    raise R('{function.__name__}() of nothing')"
        if "default" in kwargs:
            values, after = {"D": kwargs.pop("default")}, "if F:\n    T = D"
        if kwargs.get("key") is not None:
            values["G"] = kwargs.pop("key")
        text = by_key if "G" in values else each
        found, called = _generator(lowering, items), CALLED[function]
        return consumed(lowering, found, before, text, after=after, values=values, called=called)

    return handler


HANDLERS[max], HANDLERS[min] = _extreme(max, ">"), _extreme(min, "<")


@evaluates(functools.reduce)
def reduced(lowering: Lowering, function: Any, items: Any, *start: Any) -> Any:
    found, values = _generator(lowering, items), {"G": function}
    if start:
        values["S"] = start[0]
        return consumed(lowering, found, "T = S", "T = G(T, E)", values=values)
    each = "V = E\nif F:\n    T = V\n    F = False\nelse:\n    T = G(T, V)"
    return consumed(lowering, found, "F = True", each, values=values)


@evaluates(filter)
def filtered(lowering: Lowering, function: Any, items: Any) -> Any:
    return consumed(
        lowering,
        _generator(lowering, items),
        "T = []",
        "V = E\nif V:\n    T.append(V)" if function is None else "V = E\nif G(V):\n    T.append(V)",
        values={"G": function},
    )


LAZY = (Generator, Items, Produced, Range, Reversed, range, Symbol)


def _unless_apart(kind: type, make: Callable) -> None:
    """Where the items are not known one by one, `make` serves; else the handler that there is."""
    known = HANDLERS[kind]

    def handler(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
        if args and isinstance(args[0], Captured | Box):
            args = [_iterated(lowering, args[0]), *args[1:]]
        if kind is list and args and may_lack_items(args[0]):
            return slots.copy(lowering, args[0])
        lazy = args and isinstance(args[0], LAZY)
        if lazy and kind is tuple and isinstance(args[0], range):
            return sequence(tuple, [*args[0]])
        if not lazy and not (args and isinstance(args[0], Box) and args[0].is_dynamic):
            return known(lowering, args, kwargs)
        return make(lowering, _generator(lowering, args[0]), **kwargs)

    HANDLERS[kind] = handler


def _iterated(lowering: Lowering, value: Any) -> Any:
    """What the `__iter__` of an object of the user's yields, if it yields; else the object."""
    found = opened(lowering, value)
    inner = HANDLERS[Iterator](lowering, found) if is_iterator(found) else None
    return inner if isinstance(inner, Produced) else value


STEP_THROUGH.extend((sum, all, any, max, min, functools.reduce))


def _list(lowering: Lowering, items: Generator) -> Any:
    return consumed(lowering, items, "T = []", "T.append(E)")


def _tuple(lowering: Lowering, items: Generator) -> Any:
    if isinstance(items.first, range | Range | Symbol):
        items = replace(items, first=_one_by_one(lowering, items.first))
    made = _list(lowering, items)
    found = known_items(lowering, made)
    if found is None:
        what = "tuple() of a number of items that is not known"
        raise items_needed(made, UnsupportedError("S2S205", what, help="make a list"))
    return sequence(tuple, found)


def _one_by_one(lowering: Lowering, items: Any) -> Any:
    """The numbers of a range, or the rows of an array: how many there are is asked for."""
    passes = passes_of(lowering, items)
    for each in passes.bounds:
        if isinstance(each, Symbol):
            raise NeedStatic(each.name, PURPOSE)
    return sequence(tuple, [passes.item(index) for index in passes.known()])


def _dict(lowering: Lowering, items: Generator, **more: Any) -> Any:
    made = consumed(lowering, items, "T = D()", "V = E\nT[V[0]] = V[1]", values={"D": dict})
    for key, value in more.items():
        made = HANDLERS[dict](lowering, [made], {key: value})
    return made


_unless_apart(list, _list)
_unless_apart(tuple, _tuple)
_unless_apart(dict, _dict)
_unless_apart(OrderedDict, _dict)
