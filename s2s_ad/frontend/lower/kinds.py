"""What tells values apart where paths meet: their kind and structure, and what they are called."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.program import TEMPORARY, Hint
from s2s_ad.core.tree import Tree
from s2s_ad.core.values import PYTHON_NUMBERS, List
from s2s_ad.frontend.lower.caught import is_error
from s2s_ad.frontend.lower.classes import HELD
from s2s_ad.frontend.lower.exits import BREAK, FAILED, RESULT, RETURN, SKIP
from s2s_ad.frontend.lower.optional import is_optional, whole
from s2s_ad.frontend.lower.picked import is_picked
from s2s_ad.frontend.lower.poisons import is_unreadable
from s2s_ad.frontend.lower.references import Box, Reference, is_immutable, settled
from s2s_ad.frontend.lower.string_unions import is_word
from s2s_ad.frontend.resolve import PLAIN, Captured, unwrap

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


def is_leaf(value: Any) -> bool:
    return isinstance(value, Symbol) or type(value) in PYTHON_NUMBERS


def is_number(value: Any) -> bool | None:
    """Whether a value is a number, which nothing changes; None where it may be one."""
    if not isinstance(value, Symbol) or is_immutable(value):
        return True
    return value.number if isinstance(value, Reference) else False


def is_same(a: Any, b: Any) -> bool:
    """Whether two values that are known are the same."""
    if a is b:
        return True
    if isinstance(a, Captured) and isinstance(b, Captured):
        return a.value is b.value
    if isinstance(a, types.MethodType | Symbol | Tree) or type(a) is not type(b):
        return False
    if hasattr(a, "same"):
        return a.same(b)
    if type(a) in PYTHON_NUMBERS:
        return repr(a) == repr(b)
    return isinstance(a, PLAIN) and bool(a == b)


def is_alike(a: Any, b: Any) -> bool:
    """Whether two values have the same structure at the top."""
    if isinstance(a, Tree):
        return type(a) is type(b) and a.kind is b.kind and a.keys == b.keys
    return is_same(a, b) or (is_leaf(a) and is_leaf(b))


def is_of_one_kind(a: Any, b: Any) -> bool:
    """Whether two objects are the same, or are of one class and hold what can be joined."""
    if not (isinstance(a, Tree) and isinstance(b, Tree)):
        return is_same(a, b)
    return a is b or (a.kind is b.kind and _fits(contents(a), contents(b)))


def _fits(a: Any, b: Any) -> bool:
    """Whether no tuple in one value is of another length than its counterpart."""
    if not (isinstance(a, Tree) and isinstance(b, Tree)):
        return True
    a, b = contents(a), contents(b)
    if not (isinstance(a, Tree) and isinstance(b, Tree)) or a.keys != b.keys:
        return not all(getattr(each, "kind", None) is tuple for each in (a, b))
    return all(map(_fits, a.items, b.items))


def is_plain_sequence(value: Any) -> bool:
    """Whether it is a list or a tuple, whose length is known."""
    plain = isinstance(value, Tree) and value.kind in (list, tuple)
    return plain and not (isinstance(value, Box) and value.is_dynamic)


def are_entries(contents: Sequence[Any]) -> bool:
    """Whether these are what dicts, or objects of one class, hold: entries by their keys."""
    if not all(isinstance(each, Tree) for each in contents):
        return False
    (kind, *others) = {whole(each.kind) for each in contents}
    return not others and kind is not list and not issubclass(kind, tuple | set)


def class_name(value: Any) -> str:
    """What Python calls the class of a value, whatever stands for it here."""
    if isinstance(value, Symbol):
        return "float" if value.shape == () else "numpy.ndarray"
    return name_of(whole(value.kind) if isinstance(value, Tree) else type(unwrap(value)))


def name_of(kind: type) -> str:
    """What Python calls a class, whichever stands for it here."""
    return getattr(kind, "in_python", kind.__name__)


def with_article(name: str) -> str:
    return f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}"


def describe(value: Any) -> str:
    if value is None:
        return "None"
    if is_leaf(value):
        return "a number or an array"
    if is_optional(value):
        return f"None or {describe(value.items[1])}"
    if is_word(value):
        return "one of several texts"
    if is_error(value):
        return "an exception"
    if is_picked(value):
        return "one of several objects"
    if isinstance(value, Tree):
        is_own = hasattr(value.kind, "in_python")
        return with_article(class_name(value)) + (f" of {len(value.items)}" if not is_own else "")
    return with_article(class_name(value))


def contents(value: Any) -> Any:
    """What a list or dict holds; other values as they are."""
    return value.content if isinstance(value, Box) else value


def is_list(value: Any) -> bool:
    """Whether the content is that of a list of numbers, of arrays, or of lists of these."""
    value = contents(value)
    if isinstance(value, Tree):
        items = [*map(contents, value.items)]
        return value.kind is list and (all(map(is_leaf, items)) or all(map(is_list, items)))
    return isinstance(value, Symbol) and isinstance(value.fact, List)


def list_of(lowering: Lowering, value: Any) -> Any:
    """A known list as one value."""
    value = value.content if isinstance(value, Box) else value
    if not isinstance(value, Tree):
        return settled(value)
    items = tuple(list_of(lowering, each) for each in value.items)
    return lowering.builder.call(runtime.list_of, items, {})


# ---- what a loop carries -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Leaf:
    """A carried value; `free` are the lengths in its fact that stand for any."""

    fact: Any
    hint: Hint
    free: frozenset = frozenset()

    def joined(self, fact: Any, alike: Alike | None = None) -> Leaf:
        """The leaf that holds for values of this kind, too."""
        shape = None if alike is None else self._shape(fact, alike)
        accepted = values.accepts(self.fact, fact, self.free)
        if accepted and (shape is None or shape == self.fact.shape):
            return self
        general = values.join(self.fact, fact)
        general = general if shape is None else replace(general, shape=shape)
        made = values.dims_of(general) - values.dims_of(self.fact) - values.dims_of(fact)
        return Leaf(general, self.hint, self.free | made)

    def _shape(self, fact: Any, alike: Alike) -> values.Shape | None:
        """The lengths of an array that is this before a pass and that after it, of equal ranks."""
        ranks = [
            each.rank if isinstance(each, values.Array) else None for each in (self.fact, fact)
        ]
        if ranks[0] is None or ranks[0] != ranks[1]:
            return None
        pairs = zip(self.fact.shape, fact.shape, strict=True)
        return tuple(alike.joined(a, b, free=a in self.free) for a, b in pairs)


class Alike:
    """The lengths that one pass of a loop changes alike: they were equal, and stay it.

    A free length of which one array makes another one than the next does is divided. `held_by`
    says what a container holds after the pass, `clock` when the loop began.
    """

    def __init__(self, held_by: Callable[[Any], Any], clock: int) -> None:
        self.held_by, self.clock = held_by, clock
        self._after: dict[Any, Any] = {}
        self._made: dict[tuple, values.Dim] = {}

    def joined(self, before: Any, after: Any, *, free: bool) -> Any:
        """The length that is this one before a pass, and this one after it."""
        if before == after and not free:
            return before
        not_one = values.known_not_one(after)
        stands_for = free and (before.maybe_one or not_one)
        if stands_for and self._after.setdefault(before, after) == after:
            return before
        if (before, after) not in self._made:
            not_one = not_one and values.known_not_one(before)
            self._made[before, after] = values.fresh_dim(not not_one)
        return self._made[before, after]


class Kinds(Exception):
    """What is carried is of one kind before the loop and of another kind after a pass.

    `entries` tells whether it is a dict or an object that has other entries.
    """

    def __init__(self, what: str, entries: bool = False):
        self.entries = entries
        super().__init__(what)


# ---- names ---------------------------------------------------------------------------------------

HINTS = {
    RETURN: ("returned", "derived"),
    BREAK: ("stopped", "derived"),
    SKIP: ("skipped", "derived"),
    RESULT: ("result", "derived"),
    FAILED: ("failed", "derived"),
}


def hint_of_name(name: str) -> Hint:
    """What the value of a local is called."""
    word = name.rpartition(" ")[2]
    private = (word, "derived") if word.islower() and word.isidentifier() else ("", "temporary")
    other = (name, "user") if name.isidentifier() else private
    return Hint(*HINTS.get(name.partition(" at ")[0], other))


def hint_of(lowering: Lowering, value: Any) -> Hint:
    """What an array, a container or an object is called."""
    if isinstance(value, Box):
        names = (name for name, each in lowering.frame.locals.items() if each is value)
        name = next(filter(str.isidentifier, names), "")
        return Hint(name, "derived") if name else _hint_of_item(lowering, value)
    if isinstance(value, Symbol) and not is_unreadable(value):
        return lowering.builder.hints.get(value.name, TEMPORARY)
    return TEMPORARY


def _hint_of_item(lowering: Lowering, value: Box) -> Hint:
    """What is held by an object with a name is called as its attribute is."""
    for holder in lowering.frame.locals.values():
        content = holder.content if isinstance(holder, Box) else None
        items = zip(content.keys, content.items, strict=True) if isinstance(content, Tree) else ()
        for key, each in items:
            if each is value and isinstance(key, str) and key.isidentifier():
                return Hint(key, "derived")
    return Hint("", "derived")


def inner_hint(hint: Hint, key: Any) -> Hint:
    if not hint.text or key in ("", HELD):
        return hint
    text = "".join(c if c.isalnum() else "_" for c in f"{hint.text}_{key}")
    return Hint(text, hint.kind)
