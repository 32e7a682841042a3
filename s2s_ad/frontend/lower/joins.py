"""The values of several paths, joined leaf by leaf into what holds where the paths meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gast

from s2s_ad.core.builder import Symbol, to_node
from s2s_ad.core.program import TEMPORARY, Hint
from s2s_ad.core.tree import Tree
from s2s_ad.core.values import UNDEFINED, Scalar, join_all
from s2s_ad.frontend.lower import rows
from s2s_ad.frontend.lower.chosen import Choice, Taken
from s2s_ad.frontend.lower.derived import is_array_object, may_be_array
from s2s_ad.frontend.lower.entries import are_of_objects
from s2s_ad.frontend.lower.exits import FLAGS, LEAVES, is_flag, is_users
from s2s_ad.frontend.lower.iteration import InTurn
from s2s_ad.frontend.lower.kinds import (
    Kinds,
    Leaf,
    are_entries,
    describe,
    hint_of,
    hint_of_name,
    inner_hint,
    is_alike,
    is_leaf,
    is_list,
    is_number,
    is_of_one_kind,
    is_plain_sequence,
    is_same,
    list_of,
)
from s2s_ad.frontend.lower.optional import (
    KEYS,
    MISSING,
    entry_in,
    kind_of_nothing,
    merged,
    optional,
    parts,
    settled_by,
)
from s2s_ad.frontend.lower.paths import Path, at_the_end, defined
from s2s_ad.frontend.lower.picked import (
    are_several,
    flag_of,
    is_picked,
    is_told_apart,
    members,
    names_of,
    picked,
    table,
)
from s2s_ad.frontend.lower.picked import settled_by as which
from s2s_ad.frontend.lower.poisons import (
    Hole,
    Staying,
    Unjoined,
    is_unreadable,
    may_be_known,
    staying_of,
    unreadable,
)
from s2s_ad.frontend.lower.references import Box, Poison, Reference, changing, parts_of
from s2s_ad.frontend.lower.string_unions import is_text, text_of, word

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


class Join:
    """The joined values of several paths, and the columns of outputs that they need."""

    def __init__(self, lowering: Lowering, paths: Sequence[Path], chooser: Symbol | None = None):
        self.lowering, self.paths, self.chooser = lowering, paths, chooser
        self.columns: dict[tuple, tuple[list[gast.AST], list[Symbol]]] = {}
        self.hints: dict[tuple, Hint] = {}
        self.arrays: list[tuple[Reference, Sequence[Any]]] = []
        self._joined: dict[tuple, Any] = {}
        self.choices: list[Choice] = []
        self._bare = False  # whether it is the contents of objects that are joined

    def value(self, items: Sequence[Any], hint: Hint = TEMPORARY) -> Any:
        """The value that is one of these, one for each path, UNDEFINED where a path has none."""
        present = [each for each in items if each is not UNDEFINED]
        if not present:
            return UNDEFINED
        if self._is_unchanged(items, present[0]):
            return present[0]
        if any(isinstance(each, InTurn) for each in present):  # what they give is that of now
            items = [each.items if isinstance(each, InTurn) else each for each in items]
            present = [each for each in items if each is not UNDEFINED]
        key = tuple(map(id, items))
        if key not in self._joined:
            self._joined[key] = self._value(items, present, hint), items  # keeps the ids alive
        return self._joined[key][0]

    def _is_unchanged(self, items: Sequence[Any], first: Any) -> bool:
        """Whether it is the same object on all paths that come to an end, and not one's own.

        Where objects are told apart it is that one on the others, too.
        """
        if self._is_told_apart(first) and all(x is first or x is UNDEFINED for x in items):
            return True
        ends = [(x, path) for x, path in zip(items, self.paths, strict=True) if not path.stops]
        if not all(each is first for each, _ in ends):
            return False
        return len(ends) > 1 or not _is_of_path(first, ends[0][1])

    def _value(self, items: Sequence[Any], present: list, hint: Hint) -> Any:
        first = present[0]
        for each, path in zip(items, self.paths, strict=True):
            now = path.now(each)
            if is_unreadable(now):
                return self.of_those_that_stay(items, unreadable(now), hint)
        if all(is_same(first, each) for each in present) and not isinstance(first, Symbol | Tree):
            return self._known(items, first, hint)
        kind = kind_of_nothing(present)
        if kind is not None:
            return self.optional(items, hint, kind)
        several = are_several(present, self._is_one) and not self._may_be_decided()
        if all(map(is_leaf, present)) and not several:
            return self.leaf(items, hint)
        if all(map(is_text, present)):
            return word(self.leaf([*map(text_of, items)], hint))
        if several:
            return self.picked(items, hint)
        if any(isinstance(each, Tree) for each in present):
            joined = self.container(*self._as_boxes(items, present), hint)
            if joined is not None:
                return joined
        return self._unjoined(items, present, hint)

    def _unjoined(self, items: Sequence[Any], present: list, hint: Hint) -> Any:
        """A value that is of one kind on one path and of another on another: of a list and a tuple,
        or tuples of several lengths, it is said which it is."""
        first = present[0]
        pairs = zip(items, self.paths, strict=True)
        certain = [which(path.known, x) if is_picked(x) else x for x, path in pairs]
        if any(a is not b for a, b in zip(certain, items, strict=True)):
            return self.value(certain, hint)
        each_member = [one for each in present for one in members(each)]
        sequences = all(map(is_plain_sequence, each_member))
        plain = all(may_be_array(one) or is_leaf(one) for one in each_member)
        arrays = plain and any(map(is_array_object, each_member))
        several = len(table(items, self._is_one)) > 1
        if (sequences or arrays) and several and not self._may_be_decided():
            return self.picked(items, hint)
        other = next((each for each in present if not is_alike(first, each)), present[-1])
        what = f"{describe(first)} on one path and {describe(other)} on another"
        origin = self.lowering.builder.origin
        poison = Unjoined(self.lowering, what, origin, self.chooser)
        poison.entries = are_entries(present)
        return self.of_those_that_stay(items, poison, hint)

    def _may_be_decided(self) -> bool:
        """Whether the path depends on what the code can be made for: numbers that are captured, or
        whole ones among the arguments."""
        lowering, chooser = self.lowering, self.chooser
        if not isinstance(chooser, Symbol) or not may_be_known(lowering, chooser):
            return False
        names = lowering.builder.ancestors(chooser.name)
        return any(each not in lowering.builder.definitions for each in names)

    def _is_one(self, a: Any, b: Any) -> bool:
        """Whether two objects of two paths are joined into one; of others it is said which it is.

        Objects that stores have to follow stay themselves.
        """
        memory = self.lowering.memory
        if isinstance(a, Reference) and isinstance(b, Reference):
            return a is b or self._is_made(a) or self._is_made(b)
        if memory.choices is not None and isinstance(a, Box) and isinstance(b, Box):
            made = [self._is_made(each) for each in (a, b)]
            if not (all if memory.tells_apart else any)(made):
                return a is b
            return not memory.tells_apart or is_of_one_kind(a, b)
        return is_of_one_kind(a, b)

    def _is_told_apart(self, value: Any) -> bool:
        """Whether it stays what it is, wherever it is one."""
        return is_told_apart(value) and not self._is_made(value)

    def _is_made(self, value: Box | Reference) -> bool:
        return any(_is_of_path(value, path) for path in self.paths)

    def picked(self, items: Sequence[Any], hint: Hint) -> Any:
        """The object that is one of several, and a flag for each that says whether it is it."""
        columns, objects = zip(*table(items, self._is_one), strict=True)
        members = [self._member(each, hint) for each in objects]
        for each in members:
            if is_unreadable(each):
                return self.of_those_that_stay(items, each, hint)
        choices = []
        for flags, member, name in zip(columns, members, names_of(members), strict=True):
            flag = self.flag(flags, inner_hint(hint, flag_of(name)))
            self._note(flag, flags)
            choices.append((flag, member))
        return picked(choices)

    def _member(self, objects: Sequence[Any], hint: Hint) -> Any:
        """One of the objects that a value may be, as it is on the paths on which it is that one."""
        present = [each for each in objects if each is not UNDEFINED]
        same = all(each is present[0] for each in present)
        known = isinstance(present[0], Box) or is_told_apart(present[0])
        if known and same and not self._is_made(present[0]):
            return present[0]
        return self.value(objects, hint)

    def _known(self, items: Sequence[Any], value: Any, hint: Hint) -> Any:
        """An object that is known; where it reads what one path has computed, no other has that."""
        if not any(_is_of_path(value, path) for path in self.paths):
            return value
        what = "an iterable or a function that reads what one path has computed"
        poison = Unjoined(self.lowering, what, self.lowering.builder.origin, self.chooser)
        return self.of_those_that_stay(items, poison, hint)

    def optional(self, items: Sequence[Any], hint: Hint, kind: type) -> Any:
        """A value that is None, or an entry that is missing, on some of the paths."""
        known = [settled_by(path.known, x) for x, path in zip(items, self.paths, strict=True)]
        flags, held = zip(*(parts(each, kind) for each in known), strict=True)
        value = self.value(held, hint)
        if is_unreadable(value):
            return value
        flag = self.value(flags, inner_hint(hint, KEYS[kind][0]))
        self._note(flag, flags)
        return optional(flag, value, kind)

    def _note(self, flag: Any, flags: Sequence[Any]) -> None:
        """Where what chose the path is certain, so is what the flag was on that path."""
        if isinstance(flag, Symbol) and isinstance(self.chooser, Symbol) and len(flags) == 2:
            for truth, own in zip((True, False), flags, strict=True):
                if type(own) is bool:
                    self.lowering.assumptions.note_flag(self.chooser, truth, flag, own)

    def entries(self, items: Sequence[Any], present: list, hint: Hint) -> Tree:
        """What a dict or an object holds that has other entries on other paths."""
        kind, keys = merged(present)
        columns = [
            self.value([entry_in(each, key) for each in items], inner_hint(hint, key))
            for key in keys
        ]
        return Tree(kind, keys, tuple(columns))

    def of_those_that_stay(self, items: Sequence[Any], poison: Any, hint: Hint) -> Any:
        """The value where no path has left, which is all that what follows may read."""
        pairs = zip(items, self.paths, strict=True)
        staying = [UNDEFINED if path.left is LEAVES else staying_of(each) for each, path in pairs]
        if all(a is b for a, b in zip(staying, items, strict=True)) or any(
            is_unreadable(each) for each in staying
        ):
            return poison
        value = self.value(staying, hint)
        return poison if value is UNDEFINED or is_unreadable(value) else Staying(value, poison)

    def container(self, items: Sequence[Any], present: list, hint: Hint) -> Any:
        """Containers of one structure; lists of several lengths, or of a length not known."""
        first = present[0]
        bare, self._bare = self._bare, False
        if all(isinstance(each, Box) for each in present):
            contents = [
                each if each is UNDEFINED else path.content(each, each.content)
                for each, path in zip(items, self.paths, strict=True)
            ]
            content = self.content(contents, hint)
            if isinstance(content, Poison | Unjoined):
                return content
            return self.lowering.memory.joined_box(content, items, first.kind, contents, self.paths)
        if isinstance(first, Tree) and all(is_alike(first, each) for each in present):
            return self.tree(items, first, hint)
        lacks = self.lowering.lacks_entries and are_entries(present)
        if bare and (lacks or are_of_objects(present)):
            return self.entries(items, present, hint)
        pairs = zip(items, self.paths, strict=True)
        ends = [x if x is UNDEFINED else path.whole(x) for x, path in pairs]
        self.lowering.lumped |= any(True for _ in changing(present))
        if all(is_list(each) for each in present):
            poison = next((each for each in parts_of(ends) if is_unreadable(each)), None)
            if poison is not None:
                return poison
        if all(is_list(each) for each in ends if each is not UNDEFINED):
            symbol = self.leaf([*map(self.as_list, items, self.paths)], hint)
            if bare:
                return symbol
            pairs = zip(items, self.paths, strict=True)
            parts = [each if each is UNDEFINED else path.held_by(each) for each, path in pairs]
            return self.lowering.memory.joined_box(symbol, items, list, parts, self.paths)
        if all(rows.is_list_of_any(each) for each in ends if each is not UNDEFINED):
            return self.rows(items, ends, hint, bare)
        return None

    def _as_boxes(self, items: Sequence[Any], present: list) -> tuple[Sequence[Any], list]:
        """Dicts that are captured, beside one of the function's own: nobody may change them."""

        def as_box(value: Any) -> Any:
            if type(value) is not Tree or value.kind is not dict:
                return value
            box = self.lowering.memory.box(value)
            box.refusal = "a dict that is not the function's own is changed"
            return box

        if any(isinstance(each, Box) for each in present):
            items = [*map(as_box, items)]
        return items, [each for each in items if each is not UNDEFINED]

    def rows(self, items: Sequence[Any], ends: list, hint: Hint, bare: bool) -> Any:
        """A list of containers whose length is not known."""
        try:
            known = [each for each in ends if each is not UNDEFINED]
            template = rows.general_rows(self.lowering.builder, known, hint)
        except Kinds as kinds:
            origin = self.lowering.builder.origin
            return Unjoined(self.lowering, str(kinds), origin, self.chooser)
        parts = [rows.parts_of(template, each)[0] for each in ends]
        made = rows.rows(self._column(template.items[0], parts))
        if bare:
            return made
        contents = [path.held_by(x) for x, path in zip(items, self.paths, strict=True)]
        return self.lowering.memory.joined_box(made, items, list, contents, self.paths)

    def _column(self, template: Any, parts: list) -> Any:
        """The part of a list of containers that a template describes."""
        if isinstance(template, Leaf):
            return self.leaf([*map(self.as_list, parts, self.paths)], template.hint)
        if not isinstance(template, Tree):
            return template
        columns = [
            self._column(part, [x if x is UNDEFINED else x.items[index] for x in parts])
            for index, part in enumerate(template.items)
        ]
        return Tree(template.kind, template.keys, tuple(columns))

    def content(self, items: Sequence[Any], hint: Hint) -> Any:
        """The joined value of what objects hold on each path."""
        before, self._bare = self._bare, True
        result = self.value(items, hint)
        self._bare = before
        return result

    def as_list(self, value: Any, path: Path) -> Any:
        """A list as one value, whose length is not known."""
        now = value if value is UNDEFINED else path.whole(value)
        if now is UNDEFINED or isinstance(now, Symbol):
            return now
        with at_the_end(self.lowering, path):
            return list_of(self.lowering, now)

    def tree(self, items: Sequence[Any], first: Tree, hint: Hint) -> Tree:
        columns = []
        for index, key in enumerate(first.keys):
            column = [each if each is UNDEFINED else each.items[index] for each in items]
            columns.append(self.value(column, inner_hint(hint, key)))
        return Tree(first.kind, first.keys, tuple(columns))

    def leaf(self, items: Sequence[Any], hint: Hint) -> Any:
        """A new output of the region, or the condition itself where that is what it says."""
        if getattr(self.chooser, "fact", None) == Scalar(bool) and self._is_chooser(items):
            return self.chooser
        pairs = zip(items, self.paths, strict=True)
        atoms = [to_node(_certain(path.now(each), path.known)) for each, path in pairs]
        key = tuple(_atom_key(each) for each in atoms)
        others = list(self.arrays)
        symbol = joined_array(self.lowering, items, self.arrays)
        choices = self.lowering.memory.choices
        if choices is not None and isinstance(symbol, Reference):
            self.choices += choices.note(symbol, items, self.paths, others)
        self.columns.setdefault(key, (atoms, []))[1].append(symbol)
        if self.hints.get(key, TEMPORARY) is TEMPORARY:
            self.hints[key] = hint
        return symbol

    def flag(self, items: Sequence[Any], hint: Hint) -> Any:
        """The joined value of a truth that is only a condition: maybe that which chose the path."""
        return self.chooser if self._is_chooser(items) else self.value(items, hint)

    def _is_chooser(self, items: Sequence[Any]) -> bool:
        """Whether the items say which path was taken."""
        truths = all(type(each) is bool for each in items)
        return self.chooser is not None and truths and [*items] == [True, False]

    def decided_by(self, taken: Taken) -> None:
        """Tell the arrays that are others on other paths what says which one was taken."""
        for each in self.choices:
            each.taken = taken

    def bind(self, results: Sequence[Symbol]) -> None:
        """Give the joined values the names of the region's outputs."""
        for result, key in zip(results, self.columns, strict=True):
            self.lowering.builder.named(result, self.hints[key])
            for symbol in self.columns[key][1]:
                symbol.name = result.name

    def note_truths(self, condition: Symbol) -> None:
        """What was chosen by a condition between truths says how it was, and the other way."""
        for atoms, symbols in self.columns.values():
            truths = [getattr(each, "value", None) for each in atoms]
            if not all(type(each) is bool for each in truths):
                continue
            for side, truth in zip((True, False), truths, strict=True):
                self.lowering.assumptions.note_flag(condition, side, symbols[0], truth)
                if truths[0] is not truths[1]:
                    self.lowering.assumptions.note_flag(symbols[0], truth, condition, side)

    def outputs(self, index: int) -> list[gast.AST]:
        """The outputs of the block of one path."""
        return [atoms[index] for atoms, _ in self.columns.values()]


def joined_array(lowering: Lowering, items: Sequence[Any], others: list) -> Symbol:
    """The array or number that is one of these; it gets its name when the region is emitted."""
    builder = lowering.builder
    present = [each for each in items if each is not UNDEFINED]
    pending = builder.symbol(join_all(map(builder.fact, present)))
    if all(type(each) is Symbol for each in present):
        return pending  # the content of an array, not the array
    result = lowering.memory.joined(builder, items, others)
    kinds = {is_number(each) for each in present}
    result.number = kinds.pop() if len(kinds) == 1 else None
    result.name = pending.name
    others.append((result, items))
    return result


def _certain(value: Any, known: Mapping[str, bool]) -> Any:
    """The value, or the truth that it is certain to be."""
    is_truth = isinstance(value, Symbol) and value.fact == Scalar(bool)
    return known.get(value.name, value) if is_truth else value


def _is_of_path(value: Any, path: Path) -> bool:
    """Whether the object was made on the path, so that nobody else holds it."""
    if isinstance(value, Reference | Box):
        return value.born > path.clock
    if isinstance(value, Symbol):
        return value.name in defined(path.body)
    if hasattr(value, "holds"):
        names = {each.name for each in parts_of(value) if isinstance(each, Symbol)}
        return bool(names & defined(path.body))
    return value is UNDEFINED or isinstance(value, Tree)


def _atom_key(atom: gast.AST) -> Any:
    if isinstance(atom, gast.Name):
        return atom.id
    plain = is_leaf(atom.value) or is_text(atom.value)
    return (type(atom.value), repr(atom.value), None if plain else id(atom.value))


# ---- frames and memory ---------------------------------------------------------------------------


def joined_names(lowering: Lowering, join: Join) -> dict[str, Any]:
    """The locals after the paths have met."""
    names = dict.fromkeys(name for path in join.paths for name in path.names)
    result = {}
    for name in names:
        items = [path.name(name) for path in join.paths]
        carry_holes(lowering, name, items, join.paths)
        if name in FLAGS:
            flags = zip(items, join.paths, strict=True)
            items = [each if path.stops else _flag(each) for each, path in flags]
        else:
            items = _missing(name, items, join.paths)
        joined = join.flag if is_flag(name) else join.value
        value = joined(items, hint_of_name(name))
        if value is UNDEFINED:
            value = _hole(name, join.paths)
        if value is not UNDEFINED:
            result[name] = value
    return result


def _missing(name: str, items: list, paths: Sequence[Path]) -> list:
    """The values of a local, MISSING on a path that comes to its end without having assigned it.

    A name of our own (a flag, what `return` hands over) is read where it was assigned only.
    """
    ends = [x for x, path in zip(items, paths, strict=True) if not path.stops]
    lacking = any(x is UNDEFINED for x in ends) and any(x is not UNDEFINED for x in ends)
    if not lacking or not is_users(name):
        return items
    return [
        MISSING if x is UNDEFINED and not path.stops and name not in path.names else x
        for x, path in zip(items, paths, strict=True)
    ]


def _hole(name: str, paths: Sequence[Path]) -> Any:
    """What no path assigns is after them still what an earlier pass left."""
    found = [path.names.get(name, UNDEFINED) for path in paths if not path.stops]
    return found[0] if found and all(isinstance(each, Hole) for each in found) else UNDEFINED


def _flag(value: Any) -> Any:
    return False if value is UNDEFINED else value


def carry_holes(lowering: Lowering, name: str, items: list[Any], paths: Sequence[Path]) -> None:
    """A path that does not assign a local leaves it as an earlier pass did: it is to be carried."""
    if any(each is not UNDEFINED for each in items):
        for path in paths:
            hole = path.names.get(name)
            if isinstance(hole, Hole) and not path.stops:
                hole.hand_on()


def joined_contents(lowering: Lowering, join: Join) -> list[tuple[Any, Any]]:
    """The objects that a path changed, and what they hold after the paths have met.

    What was a view on one path, and is none since another, has to be told what it holds.
    """
    held = {key: each for path in join.paths for key, (each, _) in path.held.items()}
    changed = {key: each for key, each in held.items() if each.view is None}
    result = []
    for each in changed.values():
        before = lowering.memory.content(each)
        items = [path.content(each, before) for path in join.paths]
        result.append((each, join.content(items, hint_of(lowering, each))))
    return result
