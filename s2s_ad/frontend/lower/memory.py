"""Which arrays are certain to have memory of their own, so that `a += b` is a new value of `a`.

Core knows values only. Memory is known by the Symbol objects of the lowering: two expressions
that give the very same array give the very same Symbol, and every new array a Symbol of its own.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable
from typing import Any

from s2s_ad.core.builder import Symbol
from s2s_ad.core.registry import rule_for
from s2s_ad.core.tree import Tree
from s2s_ad.core.values import Scalar


class Memory:
    """The Symbols that nothing else shares memory with."""

    def __init__(self) -> None:
        self._own: dict[int, Symbol] = {}

    def noted(self, function: Callable, arguments: Any, result: Any) -> Any:
        """The result of an operation, as a Symbol of its own where its memory is new."""
        if not isinstance(result, Symbol):
            return result
        if _is_copy(function, arguments) or _is_new(result, arguments):
            return self.renewed(result, own=True)
        same = [each for each in symbols(arguments) if each.name == result.name]
        self.share(arguments)
        return same[0] if same else result

    def renewed(self, value: Symbol, *, own: bool) -> Symbol:
        """The result of a call, as a Symbol of its own."""
        value = Symbol(value.builder, value.name)
        if own:
            self._own[id(value)] = value
        return value

    def share(self, value: Any) -> None:
        """Something may hold the memory of these values from now on."""
        for each in symbols(value):
            self._own.pop(id(each), None)

    def is_own(self, value: Symbol) -> bool:
        """Whether no other array shares the memory of this one, or nothing can change it."""
        return id(value) in self._own or is_immutable(value)


def is_immutable(value: Symbol) -> bool:
    """Python's numbers, and NumPy's that an index with a number for each axis gave."""
    if isinstance(value.fact, Scalar):
        return True
    rule, _, params = value.builder.definition(value)
    if rule is None or rule.function is not operator.getitem or value.shape != ():
        return False
    index = params["index"]
    return not any(each is Ellipsis for each in (index if isinstance(index, tuple) else (index,)))


def _is_copy(function: Callable, arguments: tuple) -> bool:
    """Whether the function gives new memory, whatever simpler value stands for its result."""
    rule = rule_for(function)
    return rule is not None and rule.allocates and "copy" not in arguments[1]


def _is_new(result: Symbol, arguments: Any) -> bool:
    """Whether the operation behind the result makes an array."""
    rule, _, _ = result.builder.definition(result)
    if rule is None or rule.view or rule_for(rule.function) is None:
        return False
    return not any(each.name == result.name for each in symbols(arguments))


def symbols(value: Any) -> Iterable[Symbol]:
    """The Symbols in a value, with those in its containers and closures."""
    if isinstance(value, Symbol):
        yield value
    elif isinstance(value, slice):
        yield from symbols((value.start, value.stop, value.step))
    elif isinstance(value, dict):
        yield from symbols(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from symbols(item)
    elif isinstance(value, Tree):
        yield from symbols(value.items)
    elif dataclasses.is_dataclass(value) and hasattr(value, "holds"):
        yield from symbols(value.holds())
