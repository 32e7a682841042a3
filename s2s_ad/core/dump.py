"""What passes make of programs, as text: the program before and after, or how the two differ."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Collection, Sequence

from s2s_ad.core.program import Program
from s2s_ad.core.text import program_text, program_texts

WHOLE = 24  # lines of both programs together; what is longer is shown as a difference
CONTEXT = 2  # lines around a difference


class Dump:
    """Watches passes, and writes what those of these names do.

    Args:
        write: is given one text for each step that is shown.
        names: the steps that are shown; without any those that change something.
        known: the names that there are, which others are compared with.
    """

    def __init__(
        self, write: Callable[[str], object], names: Sequence[str], known: Collection[str]
    ) -> None:
        self.write, self.names, self._known = write, frozenset(names), known
        self._is_told = False

    def __call__(self, step: str, before: Program | None, after: Program) -> None:
        self._tell_unknown_names()
        if self.names and step not in self.names:
            return
        changes = change_text(before, after)
        if changes or self.names:
            title = after.name if before is None else before.name
            self.write(f"# {step}: {title}\n{changes or 'nothing changes'}\n")

    def _tell_unknown_names(self) -> None:
        """Once, when all passes are there."""
        if self._is_told:
            return
        self._is_told = True
        strange = sorted(self.names.difference(self._known))
        if strange:
            self.write(f"# no pass is called {', '.join(strange)}: {', '.join(self._known)}\n")


def to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def change_text(before: Program | None, after: Program) -> str:
    """What a step has changed: both programs, or the difference of the two where that is shorter.

    Empty where they have the same text.
    """
    if before is None:
        return program_text(after)
    if before is after or program_text(before) == program_text(after):
        return ""
    pairs = [program_texts(before, after), (program_text(before), program_text(after))]
    differences = [_difference(*pair) for pair in pairs]
    old, new = pairs[1]
    if not all(differences):
        return ""  # names are all that is new
    if old.count("\n") + new.count("\n") + 2 <= WHOLE:
        return f"before\n{old}\nafter\n{new}"
    return min(differences, key=lambda each: each.count("\n"))


def _difference(old: str, new: str) -> str:
    lines = difflib.unified_diff(old.split("\n"), new.split("\n"), n=CONTEXT, lineterm="")
    return "\n".join([*lines][2:])  # without the names of files
