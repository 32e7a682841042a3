"""Which names are one variable in the text: moves between names that never live together go away.

Live ranges are exact on the structured lines. Two names interfere where one is assigned while the
other is still to be read; a move `a = b` alone does not make them interfere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import gast

from s2s_ad.core import form
from s2s_ad.core.program import Hint
from s2s_ad.emit.refold import Line

_NOTHING: frozenset[str] = frozenset()


class Liveness:
    """What is live after each assignment, as pairs of names that interfere.

    Attributes:
        interferes: name -> names that are live where it is assigned: the two are two variables.
        after: id of each line -> what is read after it.
    """

    def __init__(self, lines: list[Line], inputs: Sequence[str], outputs: Iterable[str]):
        self.interferes: dict[str, set[str]] = {}
        self.after: dict[int, set[str]] = {}
        self._exits: list[set[str]] = []
        live = self._lines(lines, set(outputs))
        for name in inputs:
            self._assigned(name, live | set(inputs))

    def _assigned(self, name: str, live: Iterable[str], source: str | None = None) -> None:
        own = self.interferes.setdefault(name, set())
        before = source in own
        own.update(live)
        own.discard(name)
        if not before:
            own.discard(source)

    def _lines(self, lines: Sequence[Line], live: set[str]) -> set[str]:
        """What is live before the lines, given what is after them."""
        for line in reversed(lines):
            live = self._line(line, live)
        return live

    def _line(self, line: Line, live: set[str]) -> set[str]:
        if line.kind == "break":
            return set(self._exits[-1])
        if line.kind == "if":
            sides = [self._lines(block, set(live)) for block in line.blocks]
            return set().union(*sides, line.reads())
        if line.kind == "try":
            return self._try(line, live)
        if line.kind in ("for", "while"):
            return self._loop(line, live)
        sources = {name: getattr(atom, "id", None) for name, atom in line.moves}
        self.after.setdefault(id(line), set()).update(live)
        assigned = line.assigns()
        for name in assigned:
            others = [each for each in assigned if each != name]
            self._assigned(name, [*live, *others], sources.get(name))
        return (live - set(assigned)) | set(line.reads())

    def _try(self, line: Line, live: set[str]) -> set[str]:
        """A handler may run after any line of the body: what it reads is live in all of it."""
        body, *handlers = line.blocks
        handled = set().union(*(self._lines(block, set(live)) for block in handlers))
        for each in flat(body):
            for name in each.assigns():
                self._assigned(name, handled)
        return self._lines(body, set(live)) | handled

    def _loop(self, line: Line, live: set[str]) -> set[str]:
        self._exits.append(live)
        head, before = set(live), set()
        while True:
            if line.kind == "for":
                before = self._lines(line.blocks[0], set(head))
                self._assigned(line.name, before | head)
                before = (before - {line.name}) | live
            else:
                test, body = line.blocks
                inside = self._lines(body, set(head)) | live | set(form.reads(line.expression))
                before = self._lines(test, inside)
            if before <= head:
                break
            head |= before
        self._exits.pop()
        return head | (set(line.reads()) if line.kind == "for" else set())


def flat(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines and all in their blocks, in the order of the text."""
    for line in lines:
        yield line
        for block in line.blocks:
            yield from flat(block)


class Variables:
    """The classes of names that are one variable.

    Args:
        fixed: names that stay alone: captured ones are the module's.
        aliases: variable -> further names that it stands for.
        hints: what names are called: two names of the user's stay two.
        weak: names that are called anything: copies that we put in.
    """

    def __init__(
        self,
        lines: list[Line],
        liveness: Liveness,
        fixed: Iterable[str],
        aliases: Mapping[str, list[str]],
        hints: Mapping[str, Hint],
        weak: Collection[str] = (),
    ):
        self._hints = {name: hint for name, hint in hints.items() if name not in weak}
        self.weak = weak
        self._leader: dict[str, str] = {}
        self.members = {name: [name, *others] for name, others in aliases.items()}
        self._interferes = {name: set(each) for name, each in liveness.interferes.items()}
        alone = set(fixed)
        for line in flat(lines):
            for name, atom in line.moves:
                if isinstance(atom, gast.Name) and not {name, atom.id} & alone:
                    self._merge(name, atom.id)

    def of(self, name: str) -> str:
        """The first of the names that are one variable."""
        while name in self._leader:
            name = self._leader[name]
        return name

    def names(self, variable: str) -> list[str]:
        return self.members.get(variable, [variable])

    def clash(self, a: str, b: str) -> bool:
        """Whether two variables live at the same time."""
        return any(
            not self._interferes.get(one, _NOTHING).isdisjoint(self.names(other))
            for one, other in ((a, b), (b, a))
        )

    def _are_alike(self, a: str, b: str) -> bool:
        """Whether one name serves both: the user's own names stand for his values only."""
        called, other = (
            {self._hints[n] for n in self.names(v) if n in self._hints} for v in (a, b)
        )
        texts = {hint.text for hint in called | other if hint.kind != "temporary" and hint.text}
        users = {hint.text for hint in called | other if hint.kind == "user"}
        return len(texts) < 2 or not users

    def _merge(self, a: str, b: str) -> None:
        a, b = self.of(a), self.of(b)
        if a == b or self.clash(a, b) or not self._are_alike(a, b):
            return
        self._leader[b] = a
        self.members[a] = [*self.names(a), *self.names(b)]
        self._interferes.setdefault(a, set()).update(self._interferes.pop(b, ()))


def ordered(moves: Sequence[tuple[str, gast.AST]]) -> list[list[tuple[str, gast.AST]]]:
    """Moves that happen at once as steps, one after the other; a cycle is one step."""
    waiting = [(name, atom) for name, atom in moves if getattr(atom, "id", None) != name]
    steps = []
    while waiting:
        ready = next((m for m in waiting if not _is_read(m[0], waiting, m)), None)
        step = [ready] if ready is not None else list(waiting)
        steps.append(step)
        waiting = [each for each in waiting if each not in step]
    return steps


def _is_read(name: str, moves: Sequence[tuple[str, gast.AST]], own: tuple) -> bool:
    return any(name in form.reads(atom) for each in moves if each is not own for atom in [each[1]])
