"""Arrays that are one of several, one for each path: a store changes what the path has chosen.

    if c:                 if c:
        b = a                 b = a
    a += 1.0              a += 1.0
    return b              if c:
                              b = a
                          return b

On the left `b` shares memory with `a` on one path. What was certain while the paths were lowered,
and the condition that tells which of them was taken, say what `b` holds after the store.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol, to_node
from s2s_ad.core.regions import Branch
from s2s_ad.frontend.lower.paths import Path, as_symbols, block, defined, free_names
from s2s_ad.frontend.lower.poisons import is_unreadable
from s2s_ad.frontend.lower.references import Reference, settled

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


@dataclass(frozen=True, slots=True)
class Taken:
    """Which path was taken: the truth of a condition, or the number of the path."""

    symbol: Symbol
    is_number: bool

    def test(self, lowering: Lowering, index: int) -> tuple[Symbol, bool]:
        """(condition, its truth on that path)."""
        if self.is_number:
            return lowering.call(operator.eq, self.symbol, index), True
        return self.symbol, index == 0


@dataclass(eq=False, slots=True)
class Choice:
    """On one path a joined array is `item`, which is an array of before or a view of one."""

    index: int
    path: Path
    item: Reference
    taken: Taken | None = None


class Choices:
    """Which arrays share memory on certain paths, and on no other.

    Attributes:
        sources: by joined array the arrays of before that it may be, and when it is.
        users: by array what was joined from it.
        explained: pairs that share memory by choices alone.
    """

    def __init__(self, lowering: Lowering):
        self.lowering = lowering
        self.sources: dict[int, list[tuple[Reference, list[Choice]]]] = {}
        self.users: dict[int, list[Reference]] = {}
        self.explained: set[frozenset[int]] = set()
        self._complete: set[int] = set()  # joined arrays of which all is known
        self._noted: list[tuple[Reference, list]] = []  # what was joined, and its kin: ids stay

    def explains(self, a: Any, b: Any) -> bool:
        """Whether two objects share memory only where choices say so."""
        return frozenset((id(a), id(b))) in self.explained

    # ---- what joins say

    def note(
        self, joined: Reference, items: Sequence[Any], paths: Sequence[Path], others: list
    ) -> list[Choice]:
        """Note what an array was joined from; `others` were joined over the same paths before it.

        Returns:
            the choices, to be told what says which path was taken.
        """
        found: dict[int, tuple[Reference, list[Choice]]] = {}
        near, unexplained = [], []
        for index, (item, path) in enumerate(zip(items, paths, strict=True)):
            if not isinstance(item, Reference) or item.number:
                continue
            root = item.root
            exact = isinstance(root, Reference) and root.born <= path.clock
            if not exact or item.number is None or not all(map(_is_array, _bases(item))):
                unexplained += [root, *root.kin]
                continue
            found.setdefault(id(root), (root, []))[1].append(Choice(index, path, item))
            near.append(root)
            for other in root.kin:
                if other is not joined:
                    (near if self.explains(root, other) else unexplained).append(other)
        unknown = {id(each) for each in unexplained}
        if not unknown:
            self._complete.add(id(joined))
            near += [each for each, _ in others if id(each) in self._complete]
        self._noted.append((joined, near))
        known = [each for each in near if id(each) not in unknown and each is not joined]
        self.explained |= {frozenset((id(joined), id(each))) for each in known}
        sources = [each for key, each in found.items() if key not in unknown]
        self.sources[id(joined)] = sources
        for root, _ in sources:
            self.users.setdefault(id(root), []).append(joined)
        return [each for _, several in sources for each in several]

    def rebinds(self, old: Reference, new: Reference) -> bool:
        """`old op= value` of what is an array on some paths and a number on the others.

        There it changes that array, which `new` then is; here it binds `new` alone. False where
        that cannot be said.
        """
        memory, content = self.lowering.memory, self.lowering.memory.content(new)
        choices = [each for _, several in self.sources.get(id(old), ()) for each in several]
        conditions = list(map(self._certain, choices))
        dtypes = [values.strong_dtype(each.fact) for each in (old, new)]
        arrays = [each for each in old.kin if not getattr(each, "number", False)]
        known = id(old) in self._complete and all(self.explains(old, each) for each in arrays)
        typed = not values.missing(dtypes) and dtypes[0] == dtypes[1]
        if not (choices and known and typed) or values.missing(conditions):
            return False
        for choice, condition in zip(choices, conditions, strict=True):
            if not self._set(old, choice, condition, lambda: content):
                return False
        self.follow(old)
        near = [old, *arrays]
        for each in near:
            memory.relate(new, each)
            self.explained.add(frozenset((id(new), id(each))))
        again = [Choice(each.index, each.path, old, each.taken) for each in choices]
        self.sources[id(new)] = [(old, again)]
        self.users.setdefault(id(old), []).append(new)
        self._complete.add(id(new))
        self._noted.append((new, near))
        return True

    def forget(self, clock: int) -> None:
        """A path is left: what was joined on it since then has no conditions any more."""
        while self._noted and self._noted[-1][0].born > clock:
            joined, near = self._noted.pop()
            self._complete.discard(id(joined))
            self.explained -= {frozenset((id(joined), id(each))) for each in near}
            for root, _ in self.sources.pop(id(joined)):
                users = self.users[id(root)]
                users[:] = [each for each in users if each is not joined]

    # ---- what stores do

    def follow(self, stored: Any) -> None:
        """Bring up to date what shares the memory of an array that was stored to.

        First what it may be, then what that is, from the newest array to the oldest; with these
        all that was joined from them, from the oldest to the newest.
        """
        spoiled: set[int] = set()
        changed = self._go_down(stored, spoiled)
        waiting = {id(user): user for each in changed for user in self._users(each)}
        while waiting:
            each = min(waiting.values(), key=lambda user: user.born)
            del waiting[id(each)]
            if each is not stored:
                self._read(each, spoiled)
            waiting |= {id(user): user for user in self._users(each)}

    def _users(self, each: Any) -> list[Reference]:
        return self.users.get(id(each), [])

    def _go_down(self, stored: Any, spoiled: set[int]) -> list[Any]:
        """Write what was stored into the arrays of before; all that may have changed."""
        waiting, found = {id(stored): stored}, []
        when: dict[int, Symbol | None] = {id(stored): None}  # where it was changed
        while waiting:
            joined = max(waiting.values(), key=lambda each: each.born)
            del waiting[id(joined)]
            found.append(joined)
            for whole, choices in self.sources.get(id(joined), []):
                waiting[id(whole)] = whole
                for choice in choices:
                    self._write(whole, choice, joined, when, spoiled)
        return found

    def _write(
        self,
        whole: Reference,
        choice: Choice,
        joined: Reference,
        when: dict[int, Symbol | None],
        spoiled: set[int],
    ) -> None:
        """Where the joined array was changed, so was the whole that it is a part of."""
        memory = self.lowering.memory
        views = (each.view for each in _bases(choice.item) if each.view is not None)
        closed = any(view.write is None for view in views)
        if closed or id(joined) in spoiled or any(map(is_unreadable, (whole, joined))):
            self._spoil(whole, spoiled)
            when[id(whole)] = None
            return
        part, condition = memory.content(joined), self._certain(choice)
        if condition is not None and when[id(joined)] is not None:
            condition = self.lowering.call(operator.and_, condition, when[id(joined)])
        if not self._set(whole, choice, condition, lambda: self._whole(choice.item, part, choice)):
            self._spoil(whole, spoiled)
            condition = None
        elif id(whole) in when:
            before = when[id(whole)]
            condition = None if before is None else condition
            if before is not None:
                condition = self.lowering.call(operator.or_, before, condition)
        when[id(whole)] = condition
        memory.note(whole)

    def _read(self, joined: Reference, spoiled: set[int]) -> None:
        """What the joined array holds now that what it may be was changed."""
        if is_unreadable(joined):
            spoiled.add(id(joined))
            return
        for whole, choices in self.sources[id(joined)]:
            for choice in choices:
                fails = id(whole) in spoiled or is_unreadable(whole)
                if fails or not self._set(
                    joined, choice, self._certain(choice), lambda c=choice: self._value(c.item, c)
                ):
                    self._spoil(joined, spoiled)
                    return

    def _spoil(self, each: Reference, spoiled: set[int]) -> None:
        spoiled.add(id(each))
        if not is_unreadable(each):
            self.lowering.memory.spoil([each])

    def _certain(self, choice: Choice) -> Symbol | None:
        """Whether the path of the choice was taken."""
        if choice.taken is None:
            return None
        condition, truth = choice.taken.test(self.lowering, choice.index)
        if truth and values.is_truth(condition.fact):
            return condition
        return self.lowering.call(bool if truth else operator.not_, condition)

    def _value(self, item: Reference, choice: Choice) -> Any:
        """What an array or a view of it holds now."""
        if item.view is None or item.born <= choice.path.clock:
            return self.lowering.memory.content(item)
        return item.view.read(self._value(item.view.base, choice))

    def _whole(self, item: Reference, part: Any, choice: Choice) -> Any:
        """What the array holds that the item is a view of, once the item holds `part`."""
        if item.view is None:
            return part
        base = item.view.base
        return self._whole(base, item.view.write(self._value(base, choice), part), choice)

    def _set(
        self,
        target: Reference,
        choice: Choice,
        condition: Symbol | None,
        value: Callable[[], Any],
    ) -> bool:
        """Let the target hold a value where the condition is true; whether that can be said."""
        lowering, memory = self.lowering, self.lowering.memory
        if condition is None:
            return False
        before = memory.content(target)
        start = len(lowering.builder.body)
        outputs = [to_node(value())]
        body = lowering.builder.body[start:]
        del lowering.builder.body[start:]
        free = free_names(lowering, body, outputs)
        if defined(choice.path.body) & set(free):
            return False  # an index that only the path knows
        names = list(dict.fromkeys([*free, before.name]))
        sides = (body, outputs), ([], [to_node(before)])
        blocks = [block(lowering, statements, names, atoms) for statements, atoms in sides]
        operands = [settled(condition), *as_symbols(lowering, names)]
        (after,) = Branch(*blocks).call(lowering.builder, operands)
        lowering.builder.facts[after.name] = lowering.builder.facts[before.name]
        lowering.builder.named(after, lowering.builder.hints[before.name])
        memory.hold(target, after)
        return True


def _bases(item: Reference) -> Iterator[Any]:
    """A view, what it is a view of, and so on up to the array whose memory it is."""
    while item.view is not None:
        yield item
        item = item.view.base
    yield item


def _is_array(value: Any) -> bool:
    return isinstance(value, Reference)


__all__ = ["Choice", "Choices", "Taken"]
