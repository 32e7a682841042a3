"""Values that are None on some paths: a flag that says so, and what they are on the others.

`best = None` before a loop and `best = x` in it make such a value. `best is None` is its flag.
Where a condition on the path has settled the flag, it is None or a plain value; where not, using it
is checked at run time. An entry that a dict or an object has on some paths only is the same, with
MISSING for None (see `entries`).
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.core.values import UNDEFINED
from s2s_ad.frontend.lower import picked
from s2s_ad.frontend.lower.picked import is_picked


class Optional(tuple):
    """The kind of a Tree of a flag and a value; the value is UNDEFINED where the flag is True."""

    __slots__ = ()


class Lacking(tuple):
    """The kind of a Tree of a flag and an entry; the entry is UNDEFINED where the flag is True."""

    __slots__ = ()


class Missing:
    """What a dict or an object holds in the place of an entry that it does not have."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()

#: the kinds, what stands for no value, and the keys of the flag and of the value, which are what
#: they add to the name of the whole; an entry that is there may be None
NOTHING: dict[type, Any] = {Lacking: MISSING, Optional: None}
KEYS = {Lacking: ("is_missing", ""), Optional: ("is_none", "")}


class Partial(tuple):
    """The kind of the content of a dict or an object `of` a class that may lack entries.

    `ordered` tells that those that are there stand in the order of the keys.
    """

    __slots__ = ()
    of: type
    ordered: bool


#: by the class that they are of; each goes when no program has it any more
_PARTIALS: weakref.WeakValueDictionary[tuple[type, bool], type] = weakref.WeakValueDictionary()


def partial_of(kind: type, ordered: bool = True) -> type:
    """The kind of what is a dict or an object of this class, but may lack entries."""
    known = _PARTIALS.get((kind, ordered))
    if known is None:
        made = type("Partial", (Partial,), {"__slots__": (), "of": kind, "ordered": ordered})
        known = _PARTIALS.setdefault((kind, ordered), made)
    return known


def is_ordered(content: Tree) -> bool:
    """Whether the entries of a dict, as far as they are there, stand in the order of its keys."""
    return not is_partial(content) or content.kind.ordered


def merged(contents: Sequence[Tree]) -> tuple[type, tuple]:
    """The kind of what dicts or objects of one class hold on several paths, and all the keys."""
    given = [each.keys for each in contents]
    orders = [
        tuple(dict.fromkeys(key for keys in (each, *given) for key in keys)) for each in given
    ]
    kept = [keys for keys in orders if all(_is_within(each, keys) for each in given)]
    ordered = bool(kept) and all(map(is_ordered, contents))
    return partial_of(whole(contents[0].kind), ordered), (kept or orders)[0]


def _is_within(keys: tuple, others: tuple) -> bool:
    """Whether some keys stand among others in the same order."""
    indices = [others.index(each) for each in keys]
    return indices == sorted(indices)


def is_partial(content: Any) -> bool:
    """Whether it is what a dict or an object holds that may lack entries."""
    return isinstance(content, Tree) and issubclass(content.kind, Partial)


def whole(kind: type) -> type:
    """The class of the dict or object whose content is of this kind."""
    return kind.of if issubclass(kind, Partial) else kind


def is_optional(value: Any) -> bool:
    """Whether it may be None, and that is not known now."""
    return isinstance(value, Tree) and value.kind is Optional


def is_uncertain(value: Any) -> bool:
    """Whether it may be None or missing, and that is not known now."""
    return isinstance(value, Tree) and value.kind in NOTHING


def kind_of_nothing(values: Iterable[Any]) -> type | None:
    """Optional if one of the values may be None, Lacking if one may be missing; else None."""
    known = list(values)
    for kind, nothing in NOTHING.items():
        if any(each is nothing or (is_uncertain(each) and each.kind is kind) for each in known):
            return kind
    return None


def optional(is_none: Any, value: Any, kind: type = Optional) -> Any:
    """The value that is None, or missing, where the flag is True."""
    if isinstance(is_none, bool):
        return NOTHING[kind] if is_none else value
    return Tree(kind, KEYS[kind], (is_none, value))


def settled_by(known: Mapping[str, bool], value: Any) -> Any:
    """The value, None or plain where the truth of these conditions makes that certain."""
    if not is_uncertain(value):
        return value
    is_none, held = value.items
    return optional(known.get(is_none.name, is_none), held, value.kind)


def parts(value: Any, kind: type = Optional) -> tuple[Any, Any]:
    """The flag and the value of any value."""
    if value is UNDEFINED:
        return UNDEFINED, UNDEFINED
    if is_uncertain(value) and value.kind is kind:
        return value.items
    return (True, UNDEFINED) if value is NOTHING[kind] else (False, value)


def entry_in(content: Any, key: Any) -> Any:
    """What a content holds in the place of an entry; UNDEFINED where there is no content."""
    if content is UNDEFINED:
        return UNDEFINED
    return content.get(key) if key in content.keys else MISSING


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

    def note_flag(self, condition: Symbol, truth: bool, flag: Symbol, own: bool) -> None:
        """Where the condition has this truth, the flag has its own."""
        self.consequences.setdefault((condition.name, truth), []).append((flag, own))

    def settled(self, value: Any) -> Any:
        """The value, None or plain or a certain object where that is known."""
        if is_picked(value):
            return picked.settled_by(self.known, value)
        return settled_by(self.known, value)


def _implied(condition: Symbol, truth: bool) -> Iterator[tuple[Any, bool]]:
    """What holds of the operands of a condition that is an operation on truths."""
    rule, operands, _ = condition.builder.definition(condition)
    function = None if rule is None else rule.function
    if function is operator.not_:
        yield operands[0], not truth
    elif rule is not None and rule.shared_truth is truth:
        yield from ((each, truth) for each in operands)
    elif function is operator.eq and type(operands[1]) is int and operands[1] == 0:
        yield operands[0], not truth
