"""What the function's arrays and containers hold while it is lowered, and how that changes.

Core knows values only. While a function is lowered an array is a `Reference`: two expressions that
give the same array give the same Reference, and `name` is the value that it holds now. A store
changes the name, so every alias, container and closure that holds the Reference sees it. A view
is a Reference that is read from another one, and written back to it. Lists, dicts and objects that
may change are `Box`es.
"""

from __future__ import annotations

import bisect
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from s2s_ad import runtime
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.program import Hint
from s2s_ad.core.tree import Path, Tree, tuple_of
from s2s_ad.core.values import List, Row, Scalar
from s2s_ad.diagnostics import SharedMemoryError, UnsupportedError
from s2s_ad.frontend.lower.kinds import is_same, name_of
from s2s_ad.frontend.lower.lengths import OfOpenList, items_needed
from s2s_ad.frontend.lower.may_alias import (
    Kinship,
    holds_itself,
    is_known,
    link,
    link_with_kin,
    may_be_same,
    stale_with,
)
from s2s_ad.frontend.lower.references import (
    COPY,
    EACH,
    Box,
    Poison,
    Reference,
    Rows,
    View,
    changing,
    holds_numbers,
    is_immutable,
    is_open,
    is_rows,
    settled,
    symbols,
)

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.chosen import Choices

ONE_OF = "an item of a list is changed that is one of several"
TWICE = "an item of a list that may hold the same array twice is changed"
CHANGED = "a value that may share memory with what was changed"
UNCERTAIN = "whether that is the same memory is not known when the code is generated"
PERHAPS_SHARED = "an array that may share memory with another is changed"
FOREIGN = "an array that is not the function's own is changed"
READ_ONLY = "an array is changed that was made read-only"
WHY = {
    READ_ONLY: "x.setflags(write=False) did that, and NumPy would raise a ValueError here",
    FOREIGN: "it stands outside the function, and who calls the function would see the change",
    PERHAPS_SHARED: "which other arrays would change with it is not known here",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment: how much was changed before it, and which objects there were."""

    changes: int
    ties: int
    clock: int
    depth: int


class Change(NamedTuple):
    """An object held something until then; how many statements there were is `at`.

    `kept` says that it only keeps what it would compute again.
    """

    each: Any
    before: Any
    at: int
    kept: bool = False


def _content(value: Symbol) -> Any:
    """What a list that is an argument holds; of tuples that is a list of each of their parts."""
    row = value.fact.item
    if not isinstance(row, Row):
        return value
    parts = range(len(row.kinds))
    lists = tuple_of(
        value.builder.call(runtime.list_parts, (value,), {"part": part}) for part in parts
    )
    return Tree(Rows, (EACH,), (lists,))


def _is_as_it_was(before: Any, now: Any) -> bool:
    """Whether an object holds the very values that it held."""
    if not (isinstance(before, Tree) and isinstance(now, Tree)) or before.keys != now.keys:
        return before is now
    return all(map(is_same, before.items, now.items))


def _in_a_circle(box: Box, content: Tree) -> UnsupportedError:
    """The error for a container, or an object, that would hold itself, or what holds it."""
    name = name_of(box.kind)
    if any(each is box for each in content.items):
        what, help = f"a {name} that holds itself", "hold what is needed of it, not the object"
        return UnsupportedError("S2S201", what, help=help)
    return UnsupportedError(
        "S2S201",
        f"what is put into a {name} holds that {name}: objects that hold each other",
        why="what a function makes is a tree: a parent holds its children, or a child its parent",
        help="leave one direction out: hand the parent to the method that asks for it, or keep the "
        "name of the parent, or its place in a list of all",
    )


class Memory(Kinship):
    """What the objects of the function hold, and a journal of how that changed.

    Attributes:
        mutated: the sources of the arguments that the function changes.
    """

    def __init__(self, builder: Builder | None = None) -> None:
        super().__init__()
        self.builder = builder
        self.journal: list[Change] = []
        self._keeps = False
        self.mutated: dict[tuple, None] = {}
        self.choices: Choices | None = None  # where stores follow them
        self.tells_apart = False  # whether an object that is another on each path stays itself
        self._clock = 0
        self._marks: list[int] = []
        self._dead: list[tuple[int, int]] = []  # from when to when objects were born in vain
        self._ties: list[tuple[Any, weakref.ref]] = []  # objects, and the views taken of them

    def tick(self) -> int:
        self._clock += 1
        return self._clock

    # ---- journal

    def mark(self) -> Mark:
        """This moment, to come back to. Marks nest: the last one is rolled back first."""
        self._marks.append(self._clock)
        return Mark(len(self.journal), len(self._ties), self._clock, len(self._marks))

    @property
    def explores(self) -> bool:
        """Whether what is lowered now is on a path that may not be taken."""
        return bool(self._marks)

    def moment(self) -> Mark:
        """This moment, to know what was changed since."""
        return Mark(len(self.journal), len(self._ties), self._clock, len(self._marks) + 1)

    def rollback(self, mark: Mark) -> None:
        """Undo what was done since to the objects that existed then; newer ones are left alone."""
        if self.choices is not None:
            self.choices.forget(mark.clock)
        since = self.journal[mark.changes :]
        for change in reversed(since):
            if change.each.born <= mark.clock:
                change.each.content = change.before
        self.journal[mark.changes :] = [c for c in since if c.each.born > mark.clock]
        for base, view in self._ties[mark.ties :]:
            if base.born <= mark.clock:  # the view was taken on a path that is left
                base.views[:] = [each for each in base.views if each is not view]
        self._ties[mark.ties :] = [e for e in self._ties[mark.ties :] if e[0].born > mark.clock]
        del self._marks[mark.depth - 1 :]

    def bury(self, clock: int) -> None:
        """Nobody holds what was born since: the path it was made on will be lowered anew."""
        self._dead = [each for each in self._dead if each[0] < clock]
        self._dead.append((clock, self._clock))

    def _is_dead(self, each: Any) -> bool:
        index = bisect.bisect_left(self._dead, (each.born, 0)) - 1  # the last one before its birth
        return index >= 0 and each.born <= self._dead[index][1]

    def changes(self, mark: Mark) -> list[Any]:
        """The objects that existed then and were changed since, in order of their first change.

        Views are left out: they change with what they are views of.
        """
        since = (change.each for change in self.journal[mark.changes :])
        changed = {id(each): each for each in since if each.born <= mark.clock}
        return [e for e in changed.values() if e.view is None and not self._is_dead(e)]

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """What changes meanwhile is kept so that it need not be computed again."""
        before, self._keeps = self._keeps, True
        try:
            yield
        finally:
            self._keeps = before

    def only_keeps(self, mark: Mark) -> bool:
        """Whether nothing that existed then is another now, but for what it keeps."""
        since = [each for each in self.journal[mark.changes :] if each.each.born <= mark.clock]
        first: dict[int, Change] = {}
        for change in since:
            if not change.kept:
                first.setdefault(id(change.each), change)
        return all(_is_as_it_was(each.before, each.each.content) for each in first.values())

    def held(self, mark: Mark) -> dict[int, tuple[Any, Any]]:
        """By identity what the objects that existed then and were changed since hold, and views."""
        since = (change.each for change in self.journal[mark.changes :])
        own = (each for each in since if each.born <= mark.clock and not self._is_dead(each))
        return {id(each): (each, self.content(each)) for each in own}

    def first_changes(self, mark: Mark) -> dict[int, tuple[Any, int]]:
        """By identity what objects that existed then held after the first change since, and when:
        how many statements there were."""
        found: dict[int, tuple[Any, int]] = {}
        later: dict[int, Any] = {}  # what each held before the change that came next
        for each, before, at, _ in reversed(self.journal[mark.changes :]):
            if each.born <= mark.clock:
                found[id(each)] = later.get(id(each), each.content), at
                later[id(each)] = before
        return found

    def content(self, value: Any) -> Any:
        """What an object holds: a Symbol or a Poison of an array, a Tree or a Symbol of a Box."""
        if isinstance(value, Reference) and isinstance(value.content, str):
            return Symbol(value.builder, value.content)
        return value.content

    def assign(self, value: Any, content: Any, parts: Iterable[Any] = ()) -> None:
        """Let an object hold something else from now on; its views follow.

        `parts` are what a list held on the paths that its content was joined from.
        """
        if value.view is not None:
            raise TypeError("a view changes with what it is a view of")
        if isinstance(value, Box) and is_open(content):
            for each in (value.content, *parts):
                if isinstance(each, Tree) and not is_rows(each):
                    self.hold_all(value, each)
        self._hold(value, content)
        self._refresh(value)

    def is_of_this_path(self, value: Any) -> bool:
        """Whether an object was made on the path that is lowered now: undoing that leaves none."""
        return not self._marks or value.born > self._marks[-1]

    def show_otherwise(self, value: Reference, view: View, content: Symbol) -> None:
        """Let a view that was made on this path show its array in another way from now on."""
        value.view = view
        self._hold(value, content)

    def _hold(self, value: Any, content: Any) -> None:
        at = len(self.builder.body) if self.builder else 0
        self.journal.append(Change(value, value.content, at, self._keeps))
        if isinstance(value, Reference) and isinstance(content, Symbol):
            before = content.builder.hints.get(value.content)
            if before is not None:  # what is changed in place keeps its name
                content.builder.named(content, Hint(before.text, "derived"))
            content = content.name
        value.content = content

    def _refresh(self, value: Any, written: Any = None) -> None:
        """Read the views of an array again; the one that was written has its value already."""
        content = self.content(value)
        for each in [view() for view in value.views]:
            if each is None or each is written or each.view is None:
                continue
            self._hold(each, each.view.read(content) if is_open(content) else content)
            self._refresh(each)

    # ---- arrays

    def fresh(self, symbol: Symbol) -> Reference:
        """An array with memory of its own, which holds the value."""
        return Reference(self, symbol.builder, symbol.name)

    def argument(self, symbol: Symbol, source: tuple) -> Reference:
        """An array that was passed to the function, or a number."""
        result = self.fresh(symbol)
        result.source = source
        if isinstance(result.fact, Scalar):
            result.number = True
        elif result.shape in ((), None):
            result.number = getattr(result.fact, "number", None)
        return result

    def captured(self, symbol: Symbol, number: bool, parameter: str = "") -> Reference:
        """An array, number or list that stands outside; a Parameter may be changed."""
        if isinstance(symbol.fact, List):
            box = Box(self, _content(symbol), list)
            box.refusal = "a list that is not the function's own is changed"
            return box
        result = self.fresh(symbol)
        if parameter:
            result.source = (parameter, ())
            result.born = 0  # wherever it is first met, it was there before
        else:
            result.number, result.refusal = number, FOREIGN
        return result

    def viewed(self, symbol: Symbol, view: View) -> Reference:
        """A view of an array."""
        result = self.fresh(symbol)
        self._tie(result, view)
        return result

    def _tie(self, result: Any, view: View) -> None:
        result.view, result.refusal = view, view.base.refusal
        view.base.views.append(weakref.ref(result))
        self._ties.append((view.base, view.base.views[-1]))

    def kindred(self, symbol: Symbol, others: Iterable[Any]) -> Reference:
        """An array that may share memory with others, or may not."""
        result = self.fresh(symbol)
        for each in others:
            self.relate(result, each)
        return result

    def returned(self, result: Any, arguments: Iterable[Any] = ()) -> Any:
        """The result of a call, which may share memory with these arguments."""
        if isinstance(result, Box):
            return result
        if is_rows(result):
            return Box(self, settled(result), list)
        if isinstance(result, Tree):
            items = tuple(self.returned(each, arguments) for each in result.items)
            made = Tree(result.kind, result.keys, items)
            return made if issubclass(result.kind, tuple) else self.box(made)
        if not isinstance(result, Symbol) or isinstance(result, Reference):
            return result
        if isinstance(result.fact, List):
            return Box(self, result, list)
        made = self.kindred(result, arguments)
        made.number = None if result.shape in ((), None) else False
        return made

    def renewed(self, symbol: Symbol, *, own: bool) -> Reference:
        """The result of a call: an array with memory of its own, or one that nobody may change."""
        result = self.fresh(symbol)
        result.refusal = "" if own else PERHAPS_SHARED
        return result

    # ---- stores

    def allow(self, target: Any) -> None:
        """Raise where nobody may write to the array."""
        if target.refusal:
            raise SharedMemoryError(
                "S2S207", target.refusal, why=WHY.get(target.refusal, ""), help=COPY
            )
        self._allow_item(target)
        if target.view is not None and target.view.write is None:
            raise ValueError("assignment destination is read-only")

    def _allow_item(self, target: Any) -> None:
        """Raise where an item is written of a list that has come to hold one twice, perhaps."""
        root = target.root
        if target.view is not None and isinstance(root, Box) and not root.distinct:
            raise items_needed(root, SharedMemoryError("S2S207", TWICE, help=COPY))

    def store(self, target: Any, value: Symbol) -> None:
        """Write a value of its shape and dtype into an array, as the user's code does."""
        self.allow(target)
        root = target.root
        kin = [k for k in root.kin if isinstance(root, Box) or not is_known(k)]
        if self.choices is not None:
            kin = [each for each in kin if not self.choices.explains(root, each)]
        self.spoil([*kin, *self.unions_after(root)], changed=root)
        self.note(root)
        self._write(target, value)
        if self.choices is not None:
            self.choices.follow(root)

    def hold(self, root: Any, value: Symbol) -> None:
        """Let an array hold a value of its shape and dtype from now on, with its views."""
        self._hold(root, value)
        self._refresh(root)

    def _write(self, target: Any, value: Any) -> None:
        """Let an object hold a value, and what it is a view of the whole that goes with it."""
        written, holder, part = None, target, value
        while True:
            self._hold(holder, part)
            self._refresh(holder, written)
            if holder.view is None:
                return
            base = holder.view.base
            part = holder.view.write(self.content(base), part)
            written, holder = holder, base

    def note(self, root: Any) -> None:
        """The function changes its argument; of a list perhaps one that is among the items."""
        for each in (root, *(root.kin if isinstance(root, Box) else ())):
            if each.source is not None:
                self.mutated[each.source] = None

    def forget(self, root: Any, what: str) -> None:
        """From now on nobody may read an array, nor what may share its memory."""
        self.note(root)
        self.spoil([root, *(k for k in root.kin if not is_known(k))], what)

    def spoil(self, values: Iterable[Any], what: str = CHANGED, changed: Any = None) -> None:
        """From now on nobody may read these, for an object was changed that they may share."""
        values = [*values]
        near = [*values, changed]
        lists = [each for each in near if isinstance(each, Box) and each.is_dynamic]
        items = next((symbol.name for each in lists for symbol in symbols(each)), "")
        origin = self.builder.origin if self.builder else None
        for each in values:
            self._hold(each, Poison(what, origin, UNCERTAIN, items))
            self._refresh(each)

    # ---- containers

    def box(self, content: Tree) -> Box:
        """A list, dict or object that the function makes."""
        return Box(self, content)

    def list_of(self, value: Symbol) -> Box:
        """A list whose length is not known now, which a value of Core is."""
        return Box(self, _content(value), list)

    def passed(self, value: Any, name: str, path: Path = ()) -> Any:
        """An argument: its arrays and containers may be changed, which nobody outside sees."""
        if isinstance(value, Symbol) and isinstance(value.fact, List):
            box = self.list_of(value)
            box.source = (name, path)
            return box
        if isinstance(value, Symbol):
            return self.argument(value, (name, path))
        if not isinstance(value, Tree):
            return value
        steps = zip(value.items, value.steps(), strict=True)
        items = tuple(self.passed(item, name, (*path, step)) for item, step in steps)
        result = Tree(value.kind, value.keys, items)
        if issubclass(value.kind, tuple):
            return result
        box = self.box(result)
        box.source = (name, path)
        return box

    def joined_box(
        self,
        content: Any,
        items: Sequence[Any],
        kind: type,
        parts: Iterable[Any],
        paths: Any = None,
    ) -> Box:
        """The list, dict or object that is one of these, one for each path; `parts` as above.

        What is joined of the same `paths` is told apart where it is another one on each.
        """
        result = Box(self, content, kind)
        result.joined = None if paths is None else (paths, items)
        if is_open(content):
            for each in parts:
                if isinstance(each, Tree) and not is_rows(each):
                    self.hold_items(result, each)
        factories = {id(each.factory): each.factory for each in items if isinstance(each, Box)}
        result.factory = factories.popitem()[1] if len(factories) == 1 else None
        for each in items:
            if isinstance(each, Box):
                may_be_same(result, each)
                link_with_kin(result, each.root)
                result.refusal = result.refusal or each.refusal
                if each.view is not None:
                    result.refusal = OfOpenList(ONE_OF)
                    each.root.parts.append(result)
        return result

    def change(self, box: Box, content: Any, added: Any = None) -> None:
        """Let a list, dict or object hold something else, as the user's code does.

        `added` is what a list whose length is not known holds from now on, too.
        """
        if box.refusal:
            error = SharedMemoryError("S2S207", box.refusal, help=COPY)
            raise items_needed(box, error) if isinstance(box.refusal, OfOpenList) else error
        self._allow_item(box)
        if isinstance(content, Tree) and any(each is box for each in changing(content)):
            raise _in_a_circle(box, content)
        self.note(box.root)
        stale = [each for each in stale_with(box) if not holds_itself(each, box)]
        self.spoil(stale, changed=box.root)
        if is_open(content):
            if not box.is_dynamic:
                self.hold_items(box, box.content)
            self._detach(box)
            self.hold_items(box, added, self._marks[-1] if self._marks else 0)
        elif box.is_dynamic:
            self._detach(box, holds=False)
        self._write(box, content)

    def _detach(self, box: Box, *, holds: bool = True) -> None:
        """The items that somebody holds stay what they are; where they stand is not known.

        Two of them may be one item, and be what was put into the list.
        """
        for each in [view() for view in box.views]:
            if each is None or each.view is None:
                continue
            each.view = None
            if isinstance(each, Box):
                for other in box.kin:
                    if isinstance(other, Box):
                        may_be_same(each, other)
                if holds:
                    each.holders.append(box)
            link_with_kin(each, box)

    def popped(self, box: Box, symbol: Symbol) -> Any:
        """An item that a list whose length is not known holds no longer."""
        if not box.distinct:
            return self.item_of(box, symbol)
        result = self.returned(symbol)
        if isinstance(result, Reference) and holds_numbers(box.content):
            result.number = True
            return result
        for each in [other for item in box.kin for other in (item, *item.kin)]:
            if each is not box:
                link(result, each)
        return result

    def row_of(self, box: Box, content: Tree, view: View) -> Box:
        """An object that is an item of a list whose length is not known, and changes with it."""
        result = self.box(content)
        self._tie(result, view)
        return result

    def item_of(self, box: Box, symbol: Symbol, view: View | None = None) -> Any:
        """An item of a list whose length is not known, as the number, array or list that it is."""
        if view is not None and not box.distinct:
            view = None
        is_list = isinstance(symbol.fact, List)
        result = Box(self, symbol, list) if is_list else self.fresh(symbol)
        if isinstance(result, Reference) and holds_numbers(box.content):
            result.number = True
            return result
        if view is None:
            link_with_kin(result, box.root)
            if not box.distinct:
                result.refusal = OfOpenList(TWICE)
        else:
            self._tie(result, view)
        return result


__all__ = ["Box", "Memory", "Poison", "Reference", "View", "is_immutable", "settled", "symbols"]
