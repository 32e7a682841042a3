"""Values that are None on some paths: a flag that says so, and what they are on the others.

`best = None` before a loop and `best = x` in it make such a value. `best is None` is its flag.
Where a condition on the path has settled the flag, it is None or a plain value; where not, using it
is checked at run time.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.core.values import UNDEFINED


class Optional(tuple):
    """The kind of a Tree of a flag and a value; the value is UNDEFINED where the flag is True."""

    __slots__ = ()


#: the keys of the flag and of the value: what they add to the name of the whole
KEYS = ("is_none", "")


def is_optional(value: Any) -> bool:
    """Whether it may be None, and that is not known now."""
    return isinstance(value, Tree) and value.kind is Optional


def optional(is_none: Any, value: Any) -> Any:
    """The value that is None where the flag is True."""
    if isinstance(is_none, bool):
        return None if is_none else value
    return Tree(Optional, KEYS, (is_none, value))


def settled_by(known: Mapping[str, bool], value: Any) -> Any:
    """The value, None or plain where the truth of these conditions makes that certain."""
    if not is_optional(value):
        return value
    is_none, held = value.items
    return optional(known.get(is_none.name, is_none), held)


def parts(value: Any) -> tuple[Any, Any]:
    """The flag and the value of any value."""
    if value is UNDEFINED:
        return UNDEFINED, UNDEFINED
    if is_optional(value):
        return value.items
    return (True, UNDEFINED) if value is None else (False, value)


class Assumptions:
    """What is certain of conditions on the path that is lowered.

    Attributes:
        known: the truth of conditions by their name.
        consequences: what else holds where a condition is true, or where it is false.
    """

    def __init__(self) -> None:
        self.known: dict[str, bool] = {}
        self.consequences: dict[tuple[str, bool], list[tuple[Symbol, bool]]] = {}

    def assume(self, condition: Any, truth: bool) -> None:
        """From here to the end of the path the condition is true, or is false."""
        waiting = [(condition, truth)]
        while waiting:
            each, truth = waiting.pop()
            if isinstance(each, Symbol) and each.name not in self.known:
                self.known = self.known | {each.name: truth}
                waiting += [*self.consequences.get((each.name, truth), ()), *_implied(each, truth)]

    def note(self, stops: bool, result: Any, first: Any, second: Any) -> None:
        """The result is `first or second` where the first one `stops`, `first and second` else."""
        if isinstance(result, Symbol):
            found = [(each, not stops) for each in (first, second) if isinstance(each, Symbol)]
            self.consequences.setdefault((result.name, not stops), []).extend(found)

    def settled(self, value: Any) -> Any:
        """The value, None or plain where that is certain."""
        return settled_by(self.known, value)


def _implied(condition: Symbol, truth: bool) -> Iterator[tuple[Any, bool]]:
    """What holds of the operands of a condition that is an operation on truths."""
    rule, operands, _ = condition.builder.definition(condition)
    function = None if rule is None else rule.function
    if function is operator.not_:
        yield operands[0], not truth
    elif function is (np.logical_and if truth else np.logical_or):
        yield from ((each, truth) for each in operands)
    elif function is operator.eq and type(operands[1]) is int and operands[1] == 0:
        yield operands[0], not truth
