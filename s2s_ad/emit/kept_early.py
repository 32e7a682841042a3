"""What a pass keeps of the values that it began with is put into its list before they change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from s2s_ad.emit.folding import inside_of, settings_of
from s2s_ad.emit.lines import Line


def with_values_kept_early(lines: list[Line]) -> list[Line]:
    """Append to a list before the next value of what is appended is computed, where that can be.

    Before: `h_2 = f(h); steps.append(h); h = h_2`; after: `steps.append(h); h = f(h)`.
    """
    found = [
        replace(line, blocks=tuple(map(with_values_kept_early, line.blocks)))
        if line.blocks and line.kind != "try"
        else line
        for line in lines
    ]
    following = _following(found)
    for position, line in enumerate(found if following else ()):
        if line.store is not None and line.store.kind == "append":
            place = _place(found, position, following)
            if place < position:
                found.insert(place, found.pop(position))
    return found


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


__all__ = ["with_values_kept_early"]
