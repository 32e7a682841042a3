"""Which objects may share memory, without it being certain: what a store through one may change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.core.values import Array
from s2s_ad.frontend.lower.references import Box, Reference, changing, holds_values, symbols


class Kinship:
    """The relations between the objects of a function.

    Attributes:
        links: pairs of objects that may share memory, in the order in which that was found out.
        unions: lists that came from several paths: nobody knows which arrays they hold.
    """

    def __init__(self) -> None:
        self.links: list[tuple[Any, Any]] = []
        self.linked: set[frozenset[int]] = set()
        self.unions: list[Box] = []

    def relate(self, a: Any, b: Any) -> None:
        """From now on a may share memory with b, and with all that b may share memory with."""
        if not isinstance(b, Reference | Box) or getattr(b, "number", False):
            return
        link_with_kin(a.root, b.root)
        a.refusal = a.refusal or b.refusal

    def may_share(self, a: Any, b: Any) -> bool:
        """Whether two values may be, or share, the same memory."""
        if not isinstance(a, Reference) or not isinstance(b, Reference):
            return False
        return a.root is b.root or any(b.root is each for each in a.root.kin)

    def joined(
        self, builder: Builder, items: Sequence[Any], others: Iterable[tuple[Any, Sequence]] = ()
    ) -> Reference:
        """The array that is one of these, one for each path; its name is set later.

        `others` are the arrays that were joined over the same paths before it, with their items:
        two of them may be the same array only where they are on one path.
        """
        result = Reference(self, builder, "")
        arrays = [each for each in items if isinstance(each, Reference)]
        kinds = {each.number for each in arrays} | ({True} if len(arrays) < len(items) else set())
        result.number = kinds.pop() if len(kinds) == 1 else None
        result.contiguous = all(each.contiguous for each in arrays)
        pairs = list(others)
        group = {id(other) for other, _ in pairs}
        for each in arrays:
            for other in () if each.number else _and_kin(each):
                if id(other) not in group:
                    link(result, other)
            result.refusal = result.refusal or each.refusal
        shared = [{id(x) for x in _and_kin(each)} for each in items]
        for other, column in pairs:
            roots = (id(x.root) if isinstance(x, Reference) else None for x in column)
            if any(root in known for root, known in zip(roots, shared, strict=True)):
                link(result, other)
        return result

    def shares(self, result: Any, clock: int, arguments: Iterable[Any]) -> bool:
        """Whether a result may share memory with what was born before, or with itself."""
        own, seen = [*arguments], []
        for each in changing(result):
            if any(each is other for other in own) and isinstance(each, Reference):
                continue
            older = (each, each.root, *each.kin, *each.root.kin)
            if any(other.born <= clock for other in older):
                return True
            again = any(each is other for other in seen) and isinstance(each, Box)
            if again or any(self.may_share(each, other) for other in seen if other is not each):
                return True
            seen.append(each)
        return False

    def hold_all(self, box: Box, items: Tree) -> None:
        """A list whose length is not known holds what it, or one that it came from, held before:
        of lists none twice, where it is sure that no two of them are one."""
        own = items.items
        plain = all(isinstance(x, Box) and x.view is None and not x.refusal for x in own)
        apart = plain and not any(
            a is b or any(b is each for each in a.kin) for i, a in enumerate(own) for b in own[:i]
        )
        distinct = box.distinct and apart
        self.hold_items(box, items)
        box.distinct = box.distinct or distinct

    def hold_items(self, box: Box, value: Any, born_after: int = 0) -> None:
        """A list whose length is not known holds these arrays and lists from now on: as values.

        In a loop it may hold again and again what was not `born_after` the pass began.
        """
        seen: list[Any] = []
        for each in changing(value):
            again = any(each.root is other for other in (*seen, *box.kin))
            uncertain = each.view is not None or each.kin or each.refusal
            if again or uncertain or each.born <= born_after:
                box.distinct = False
            seen.append(each.root)
        for each in seen:
            link_with_kin(box, each)
            if isinstance(each, Box):
                each.holders.append(box)
        if any(type(each) is Symbol and isinstance(each.fact, Array) for each in symbols(value)):
            box.distinct = False  # arrays that are captured

    def share_items(self, a: Box, b: Box) -> None:
        """Two lists whose lengths are not known hold the same arrays."""
        a.distinct &= holds_values(a.content)
        b.distinct &= holds_values(b.content)
        link_with_kin(a, b)

    def unions_after(self, root: Any) -> list[Box]:
        """The lists that came from several paths, and may hold an array that is older."""
        return [each for each in self.unions if each.born > root.born]


def _and_kin(value: Any) -> tuple:
    """The memory of an array, and what may share it."""
    return (value.root, *value.root.kin) if isinstance(value, Reference) else ()


def link_with_kin(a: Any, b: Any) -> None:
    """`a` may share memory with b, and so with all that b may share memory with."""
    for each in (b, *b.kin):
        link(a, each)


def may_be_same(result: Box, each: Box) -> None:
    """`result` is `each`, or it is another object: what `each` may be it may be, too.

    But for what comes from the same paths, and is another one on each: `a, b = b, a` in a branch.
    """
    for one in (each, *each.same):
        known = one is result or any(one is other for other in result.same)
        if not known and not _are_apart(one, result):
            result.same.append(one)
            one.same.append(result)


def _are_apart(one: Box, other: Box) -> bool:
    """Whether two objects of the same paths are two objects, whichever is taken."""
    if one.joined is None or other.joined is None or one.joined[0] is not other.joined[0]:
        return False
    pairs = zip(one.joined[1], other.joined[1], strict=True)
    return not any(a is b or any(a is each for each in getattr(b, "same", ())) for a, b in pairs)


def may_be_one(a: Box, b: Box) -> bool:
    """Whether two objects may be the same: as items of one list, too."""
    if any(a is each for each in b.same):
        return True
    pairs = ((a, b), (b, a))
    return any(
        x.view is not None and (y.root is x.root or any(y is each for each in x.root.kin))
        for x, y in pairs
    )


def stale_with(box: Box) -> list[Box]:
    """What is not what it was, or may not be, once an object is changed: what may be the object,
    and lists that hold one of these as a value."""
    found = [*box.same]
    if box.view is not None:  # an item of a list, which others may hold or be
        root = box.root
        found += [each for each in root.kin if isinstance(each, Box) and each is not root]
        for part in root.parts:
            found += [part, *part.same]
    waiting = [box, *found]
    seen = {id(each) for each in (*waiting, box.root)}
    while waiting:
        one = waiting.pop()
        for holder in one.holders:
            for each in (holder, *holder.same):
                if id(each) not in seen:
                    seen.add(id(each))
                    found.append(each)
                    waiting.append(each)
    return found


def is_known(value: Any) -> bool:
    """Whether it is a list that holds arrays themselves, and changes with them."""
    return isinstance(value, Box) and not value.is_dynamic


def holds_itself(holder: Box, box: Box) -> bool:
    """Whether a list holds the object, not its value: on a path that is left it held that."""
    return is_known(holder) and any(each is box for each in changing(holder.content))


def link(a: Any, b: Any) -> None:
    """Two objects may share memory."""
    memory, pair = a.memory, frozenset((id(a), id(b)))
    if a is not b and pair not in memory.linked:
        memory.linked.add(pair)  # `links` keeps both alive
        a.kin.append(b)
        b.kin.append(a)
        memory.links.append((a, b))
