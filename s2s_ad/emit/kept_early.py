"""The value that a pass began with is kept, and read, before the next one is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import gast

from s2s_ad.core.callee import has_effect
from s2s_ad.emit.folding import inside_of, settings_of
from s2s_ad.emit.lines import Line, flat
from s2s_ad.emit.tidy import popped_from

Alike = Callable[[str, str], bool]
COMPUTES = ("assign", "unpack", "if")
#: the lines that a value may be computed behind: not those that leave the loop, or tell anyone
PASSED = ("assign", "unpack", "store", "moves", "if", "for")


def with_values_kept_early(lines: list[Line]) -> list[Line]:
    """Append to a list before the next value of what is appended is computed, where that can be.

    Before: `h_2 = f(h); steps.append(h); h = h_2`; after: `steps.append(h); h = f(h)`.
    """
    found = _in_blocks(lines, lambda _, block: with_values_kept_early(block))
    following = _following(found)
    for position, line in enumerate(found if following else ()):
        if line.store is not None and line.store.kind == "append":
            place = _place(found, position, following)
            if place < position:
                found.insert(place, found.pop(position))
    return found


def with_values_computed_late(
    lines: list[Line], alike: Alike, *, taken: bool = False
) -> list[Line]:
    """Compute a next value where the one before is read no more, where that can be.

    Before: `h_2 = f(w); g += h; h = h_2`; after: `g += h; h = f(w)`.

    Args:
        alike: whether two names may be one variable.
        taken: whether what the first line takes off a list is what a loop is over.
    """
    found = _in_blocks(lines, lambda line, block: _late_in_block(line, block, alike))
    following = {
        name: before
        for name, before in _following(found).items()
        if before not in _sources(found) and alike(name, before)
    }
    for inner in flat(found[-2::-1] if following else ()):  # what becomes the next value
        for name, atom in inner.moves:
            if name in following and isinstance(atom, gast.Name):
                following.setdefault(atom.id, following[name])
    for position in range(len(found) - 2, -1, -1) if following else ():
        line = found[position]
        before = {following[name] for name in _changed(line) if name in following}
        place = _last_read(found, position, before) if before else position
        stays = taken and not position and popped_from(line)
        if place > position and not stays and _may_follow(line, found[position + 1 : place + 1]):
            found.insert(place, found.pop(position))
    return found


def _late_in_block(line: Line, block: list[Line], alike: Alike) -> list[Line]:
    read = set().union(*map(_all_read, block))
    taken = line.kind == "for" and line.name not in read
    return with_values_computed_late(block, alike, taken=taken)


def _in_blocks(lines: list[Line], change: Callable[[Line, list[Line]], list[Line]]) -> list[Line]:
    return [
        replace(line, blocks=tuple(change(line, block) for block in line.blocks))
        if line.blocks and line.kind != "try"
        else line
        for line in lines
    ]


def _sources(lines: Sequence[Line]) -> set[str]:
    """What the moves at the end of a pass read."""
    return {*lines[-1].reads()}


def _last_read(lines: Sequence[Line], position: int, names: set[str]) -> int:
    """The last line, before the moves at the end, that reads one of the names; or the position."""
    reading = (i for i in range(len(lines) - 2, position, -1) if names & _all_read(lines[i]))
    return next(reading, position)


def _all_read(line: Line) -> set[str]:
    return {*line.reads(), *inside_of(line).reads}


def _changed(line: Line) -> set[str]:
    """What the line, and those in its blocks, assign or change."""
    items = popped_from(line)
    return {items, *line.assigns()} if items else inside_of(line).changes.union(line.assigns())


def _may_follow(moved: Line, others: Sequence[Line]) -> bool:
    """Whether a line that computes a value may as well stand behind the others."""
    if not popped_from(moved) and (moved.kind not in COMPUTES or has_effect(moved.statement)):
        return False
    read, changed = _all_read(moved), _changed(moved)
    if any(each.kind not in PASSED for line in (moved, *others) for each in flat([line])):
        return False
    return not any(
        settings_of(line.statement) != settings_of(moved.statement)
        or read & _changed(line)
        or changed & (_all_read(line) | _changed(line))
        for line in others
    )


def _following(lines: Sequence[Line]) -> dict[str, str]:
    """The next value of what a loop carries -> the value before it, at the end of a pass."""
    moves = lines[-1].moves if lines and lines[-1].kind == "moves" else ()
    return {getattr(atom, "id", ""): name for name, atom in moves}


def _place(lines: Sequence[Line], position: int, following: dict[str, str]) -> int:
    """Where the line should stand: before the first next value of something that it reads."""
    appending, best = lines[position], position
    read = set(appending.reads())  # the list among them
    for index in range(position - 1, -1, -1):
        line = lines[index]
        if not _may_pass(appending, line, read):
            break
        if line.kind == "assign" and following.get(line.name) in read:
            best = index
    return best


def _may_pass(appending: Line, line: Line, read: set[str]) -> bool:
    """Whether it is all the same which of the two lines comes first."""
    if line.kind not in ("assign", "store", "unpack") or line.blocks:
        return False
    if settings_of(line.statement) != settings_of(appending.statement):
        return False
    inside = inside_of(line)
    changed = inside.changes | {*line.assigns()}
    base = "" if appending.store is None else appending.store.base
    return not read & changed and base not in {*line.reads(), *changed}


__all__ = ["with_values_computed_late", "with_values_kept_early"]
