"""Decorators inside functions: calls of them; and functions that keep their results.

What a function with `functools.cache` gives for the same arguments is the same, as long as it
changes nothing; so it may as well be called again.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import Any

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.callee import may_run_again
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.called import CACHED
from s2s_ad.frontend.lower.calls import (
    CAPTURED_OBJECTS,
    HANDLER_FINDERS,
    HANDLERS,
    apply,
    make_partial,
)
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.functions import DECORATED, Closure, Remembering
from s2s_ad.frontend.lower.nonlocals import may_be_bound_again, names_read, value_around
from s2s_ad.frontend.lower.references import Box, changing
from s2s_ad.frontend.numba_ import compiles, is_range
from s2s_ad.frontend.resolve import Captured, unwrap


def decorated(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """`@decorator` above a function of the function."""
    decorator, function = args
    return apply(lowering, decorator, [function], {})


def wrapping(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """functools.wraps(f), which changes nothing but what a function is called."""
    return make_partial(lowering, [_itself], {})


def _itself(function: Any) -> Any:
    return function


def _of_numba(function: Any) -> Callable | None:
    """`@njit`, `@njit(parallel=True)`, `prange(n)`: they do what the Python does."""
    if is_range(function):
        return lambda lowering, args, kwargs: apply(lowering, range, args, kwargs)
    return _compiled if compiles(function) else None


def _compiled(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    if args and (isinstance(args[0], Closure) or isinstance(unwrap(args[0]), types.FunctionType)):
        return args[0]
    return make_partial(lowering, [_itself], {})  # of a signature, or options


def remembering(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """functools.cache, and functools.lru_cache with and without arguments."""
    if len(args) == 1 and isinstance(args[0], Closure) and not kwargs:
        return Remembering(args[0], args[0].name)
    if any(isinstance(each, Closure) for each in args) or unwrap(kwargs.get("typed", False)):
        raise UnsupportedError("S2S201", "such a use of functools.lru_cache")
    return make_partial(lowering, [functools.cache], {})


def remembered(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """A call of a function that keeps its results."""
    kept, *args = args
    for each in (*args, *kwargs.values()):
        array = isinstance(each, Symbol) and values.rank_of(each.fact) != 0
        if array or isinstance(each, Box):
            raise TypeError("an argument of a function with a cache is not hashable")
    inside = any(each.owner is kept.function for each in lowering.frames)
    if isinstance(kept.function, Closure) and not inside:  # there the call around has checked it
        _check_what_it_reads(lowering, kept)
    moment, start = lowering.memory.moment(), len(lowering.builder.body)
    result = apply(lowering, kept.function, args, kwargs)
    if lowering.memory.changes(moment) or not may_run_again(lowering.builder.body[start:]):
        raise UnsupportedError(
            "S2S201",
            f"a call of {kept.name}, which keeps its results, and does more",
            why="it would do that at its first call only",
            help="leave the cache out",
        )
    for each in changing(result):
        each.refusal = "what a function with a cache has returned is changed"
    return result


def _remembering_outside(lowering: Lowering, holder: Captured) -> Remembering:
    """A function of the user's that keeps its results."""
    inner = lowering.captures.of(holder.value.__wrapped__, holder.attribute("__wrapped__"))
    return Remembering(inner, holder.place.text)


def _check_what_it_reads(lowering: Lowering, kept: Remembering) -> None:
    """Its results may be kept only if what it reads of the function around it stays the same."""
    around = kept.function.frame
    for name in sorted(names_read(kept.function.node)):
        value = value_around(around, name)
        now = value, [each.content for each in changing(value)]
        first, held = kept.read.setdefault(name, now)
        same = first is value and all(map(operator.is_, held, now[1]))
        if not same or may_be_bound_again(around, name):
            raise UnsupportedError(
                "S2S201",
                f"a call of {kept.name}, which keeps its results and reads {name!r}",
                why=f"{name!r} may be another one at the next call",
                help="leave the cache out, or pass it as an argument",
            )


HANDLER_FINDERS.append(_of_numba)
CAPTURED_OBJECTS[CACHED] = _remembering_outside
HANDLERS[DECORATED] = decorated
HANDLERS[Remembering] = remembered
HANDLERS[_itself] = lambda lowering, args, kwargs: args[0]
HANDLERS[functools.wraps] = wrapping
HANDLERS[functools.cache] = HANDLERS[functools.lru_cache] = remembering
