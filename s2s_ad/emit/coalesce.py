"""Which names are one variable in the text: moves between names that never live together go away.

Two names interfere where one is assigned while the other is still to be read; a move `a = b` alone
does not make them interfere.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import gast

from s2s_ad.core import form
from s2s_ad.core.program import Hint
from s2s_ad.core.sharing import lazy
from s2s_ad.emit.lines import Line, flat
from s2s_ad.emit.live_ranges import Assignment, Liveness, Range, Ranges


class Variable:
    """Names that are one variable: where it is assigned and live, and what it is called."""

    def __init__(self, names: Sequence[str], liveness: Liveness, hints: Mapping[str, Hint]):
        self.names = list(names)
        self.assignments = sorted(a for n in names for a in liveness.assignments.get(n, ()))
        self.ranges = Ranges(each for n in names for each in liveness.ranges.get(n, ()))
        called = [hints[name] for name in names if name in hints]
        self.texts = {hint.text for hint in called if hint.kind != "temporary" and hint.text}
        self.users = {hint.text for hint in called if hint.kind == "user"}

    @lazy
    def start(self) -> int:
        """The first line in which it is assigned, or after which it is live."""
        return min(
            [each.line for each in self.assignments[:1]]
            + [each.start for each in self.ranges.all[:1]],
            default=-1,
        )

    @lazy
    def end(self) -> int:
        """The line from which on it is neither assigned nor live."""
        return max(self.ranges.end, *(each.line + 1 for each in self.assignments[-1:]), -1)

    @property
    def begins_assigned(self) -> bool:
        return bool(self.assignments) and self.assignments[0].line == self.start

    @property
    def is_one_range(self) -> bool:
        """Whether it is live from the line that assigns it first up to its end."""
        whole = len(self.ranges) == 1 and self.ranges.end == self.end
        return whole and self.begins_assigned and self.ranges.all[0].start == self.start

    def clashes(self, other: Variable) -> bool:
        """Whether the two live at the same time."""
        return self.is_assigned_in(other) or other.is_assigned_in(self)

    def serves(self, other: Variable) -> bool:
        """Whether one name serves both: the user's own names stand for his values only."""
        return len(self.texts | other.texts) < 2 or not self.users | other.users

    def take(self, other: Variable) -> None:
        """From now on the names of the other are names of this one."""
        for cached in ("start", "end"):
            self.__dict__.pop(cached, None)
        self.names += other.names
        self.texts |= other.texts
        self.users |= other.users
        self.assignments = sorted(self.assignments + other.assignments)
        fewer, self.ranges = sorted((self.ranges, other.ranges), key=len)
        for each in fewer.all:
            self.ranges.add(each)

    def is_assigned_in(self, other: Variable) -> bool:
        """Whether it is assigned where the other is live, and not by a move from that."""
        if len(self.assignments) <= len(other.ranges):
            return any(
                _interfere(each, live)
                for each in self.assignments
                for live in other.ranges.after(each.line)
            )
        return any(
            _interfere(each, live) for live in other.ranges.all for each in self._within(live)
        )

    def _within(self, live: Range) -> Iterator[Assignment]:
        index = bisect_left(self.assignments, live.start, key=_line)
        while index < len(self.assignments) and self.assignments[index].line < live.end:
            yield self.assignments[index]
            index += 1


def _line(each: Assignment) -> int:
    return each.line


def _interfere(assigned: Assignment, live: Range) -> bool:
    return live.handled or assigned.source != live.name


def are_alike(hints: Mapping[str, Hint], a: str, b: str) -> bool:
    """Whether one name serves two values."""
    liveness = Liveness([], (), ())
    one, other = (Variable([name], liveness, hints) for name in (a, b))
    return one.serves(other)


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
        self._aliases, self._liveness = aliases, liveness
        self._found: dict[str, Variable] = {}
        alone = set(fixed)
        for line in flat(lines):
            for name, atom in line.moves:
                if isinstance(atom, gast.Name) and not {name, atom.id} & alone:
                    self._merge(name, atom.id)

    def of(self, name: str) -> str:
        """The first of the names that are one variable."""
        first = name
        while first in self._leader:
            first = self._leader[first]
        while name in self._leader:
            self._leader[name], name = first, self._leader[name]
        return first

    def variable(self, first: str) -> Variable:
        """The variable of which this is the first name."""
        if first not in self._found:
            names = [first, *self._aliases.get(first, ())]
            self._found[first] = Variable(names, self._liveness, self._hints)
        return self._found[first]

    def names(self, variable: str) -> list[str]:
        return self.variable(variable).names

    def _merge(self, a: str, b: str) -> None:
        a, b = self.of(a), self.of(b)
        if (
            a == b
            or self.variable(a).clashes(self.variable(b))
            or not self.variable(a).serves(self.variable(b))
        ):
            return
        self._leader[b] = a
        self.variable(a).take(self._found.pop(b))


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
