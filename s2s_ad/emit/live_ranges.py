"""Live ranges: between which lines of the text each name is still to be read.

The lines are numbered in the order of the text. That a name is live after some lines is a range of
their numbers, so a value that is kept from the first line to the last costs one range. Ranges are
exact on the structured lines.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from s2s_ad.core import form
from s2s_ad.emit.lines import Line, flat


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """The lines after which a name is live: from `start` to the one before `end`.

    `handled` says that a handler reads the name: a move from it is an assignment like any other.
    """

    start: int
    end: int
    name: str
    handled: bool = False


@dataclass(frozen=True, slots=True, order=True)
class Assignment:
    """A name is assigned; where that is a move, from `source`."""

    line: int
    name: str
    source: str = ""


class Ranges:
    """Ranges by their start, with the furthest end of those up to each of them."""

    def __init__(self, ranges: Iterable[Range] = ()):
        self.all: list[Range] = []
        self._furthest: list[int] = []
        for each in ranges:
            self.add(each)

    def add(self, new: Range) -> None:
        at = bisect_left(self.all, new)
        self.all.insert(at, new)
        self._furthest.insert(at, new.end)
        furthest = self._furthest[at - 1] if at else 0
        for index in range(at, len(self.all)):
            furthest = max(furthest, self.all[index].end)
            if index > at and self._furthest[index] == furthest:
                break
            self._furthest[index] = furthest

    def after(self, line: int) -> Iterator[Range]:
        """Those that the end of the line is in."""
        index = bisect_left(self.all, line + 1, key=_start) - 1
        while index >= 0 and self._furthest[index] > line:
            if self.all[index].end > line:
                yield self.all[index]
            index -= 1

    def __len__(self) -> int:
        return len(self.all)

    @property
    def end(self) -> int:
        """The line from which on nothing is live."""
        return self._furthest[-1] if self.all else -1


def _start(each: Range) -> int:
    return each.start


class Liveness:
    """Walks the lines from the last to the first with what is live.

    Attributes:
        ranges: name -> where it is live.
        assignments: name -> where it is assigned; an input is so before the first line.
        read_again: (id of a line, name that it assigns and that is read after it).
    """

    def __init__(self, lines: list[Line], inputs: Sequence[str], outputs: Iterable[str]):
        self.ranges: defaultdict[str, list[Range]] = defaultdict(list)
        self.assignments: defaultdict[str, list[Assignment]] = defaultdict(list)
        self.read_again: set[tuple[int, str]] = set()
        self._live: dict[str, int] = {}  # name -> the end of the range that it is in
        self._log: list[tuple[str, int | None]] = []  # what _live said before, for each change
        self._noted: list[list] = []  # the lists that something was appended to
        self._exits: list[int] = []  # of each loop around, the length of the log at its end
        self._sizes: dict[int, int] = {}
        end = self._measure(lines)
        for name in outputs:
            self._read(name, end)
        self._lines(lines, end)
        for name in dict.fromkeys(inputs):
            self._assigned(name, -1)
            self._read(name, 0)  # they are there together, read or not
        for name in list(self._live):
            self._leave(name, -1)

    def _measure(self, lines: Sequence[Line]) -> int:
        """The number of lines, with those in blocks."""
        total = 0
        for line in lines:
            size = 1 + sum(map(self._measure, line.blocks))
            self._sizes[id(line)] = size
            total += size
        return total

    # ---- what is live

    def _read(self, name: str, line: int) -> None:
        """The name is live before the line."""
        if name not in self._live:
            self._log.append((name, None))
            self._live[name] = line

    def _leave(self, name: str, line: int) -> None:
        """The name is not live before the line any more; after it, it was."""
        end = self._live.pop(name, None)
        if end is not None:
            self._log.append((name, end))
            if line < end:
                self._note(self.ranges[name], Range(line, end, name))

    def _assigned(self, name: str, line: int, source: str = "") -> None:
        self._note(self.assignments[name], Assignment(line, name, source))

    def _note(self, entries: list, new: Range | Assignment) -> None:
        self._noted.append(entries)
        entries.append(new)

    def _before(self, mark: int) -> dict[str, int | None]:
        """For the names of which the log says something since the mark what was so then."""
        return dict(reversed(self._log[mark:]))

    def _restore(self, mark: int, line: int) -> None:
        """Before the line that is live which was so at the mark."""
        for name, end in self._before(mark).items():
            if end is None:
                self._leave(name, line)
            else:
                self._read(name, line)

    def _undo(self, mark: int, noted: int) -> None:
        """Forget all since then."""
        for name, end in reversed(self._log[mark:]):
            if end is None:
                del self._live[name]
            else:
                self._live[name] = end
        for entries in self._noted[noted:]:
            entries.pop()
        del self._log[mark:], self._noted[noted:]

    # ---- lines

    def _lines(self, lines: Sequence[Line], end: int) -> None:
        """Go through lines of which the last is the one before `end`."""
        for line in reversed(lines):
            end -= self._sizes[id(line)]
            self._line(line, end)

    def _line(self, line: Line, at: int) -> None:
        if line.kind == "break":
            self._restore(self._exits[-1], at)
        elif line.kind == "if":
            for name in self._sides(line.blocks, at + 1)[0]:
                self._read(name, at + 1)
            self._reads(line.reads(), at)
        elif line.kind == "try":
            self._try(line, at)
        elif line.kind in ("for", "while"):
            self._loop(line, at)
        else:
            self._simple(line, at)

    def _simple(self, line: Line, at: int) -> None:
        sources = {name: getattr(atom, "id", "") for name, atom in line.moves}
        assigned = line.assigns()
        self.read_again.update((id(line), name) for name in assigned if name in self._live)
        for name in assigned:
            self._assigned(name, at, sources.get(name, ""))
        if len(assigned) > 1:
            self._reads(assigned, at + 1)  # they are there together, read or not
        for name in assigned:
            self._leave(name, at)
        self._reads(line.reads(), at)

    def _reads(self, names: Iterable[str], line: int) -> None:
        for name in names:
            self._read(name, line)

    # ---- blocks

    def _sides(self, blocks: Sequence[Sequence[Line]], start: int) -> tuple[list[str], set[str]]:
        """Blocks of which one runs, the first from line `start` on, with what is live after them.

        Then what is live is that before the first of them. Returns, of the names for which not
        every block leaves it at that, those that are live before one of them, and all of them.
        """
        starts = [start]
        for block in blocks:
            starts.append(starts[-1] + self._length(block))
        after: dict[str, int | None] = {}
        sides = []
        for number in reversed(range(len(blocks))):
            mark = len(self._log)
            self._lines(blocks[number], starts[number + 1])
            changed = self._before(mark)
            after = changed | after
            sides.append((changed, {name for name in changed if name in self._live}))
            if number:
                self._restore(mark, starts[number])
        live = [
            name
            for name, was in after.items()
            if any(
                name in inside if name in changed else was is not None for changed, inside in sides
            )
        ]
        return live, set(after)

    def _length(self, block: Sequence[Line]) -> int:
        return sum(self._sizes[id(line)] for line in block)

    def _try(self, line: Line, at: int) -> None:
        """A handler may run after any line of the body: what it reads is live in all of it."""
        body, *handlers = line.blocks
        end = at + 1 + self._length(body)
        mark = len(self._log)
        read, changed = self._sides(handlers, end)
        self._restore(mark, end)
        handled = set(read)
        inside = len(self._log)
        self._lines(body, end)
        moved = {getattr(atom, "id", "") for each in flat(body) for _, atom in each.moves}
        was = self._before(inside)
        for name in {*was, *moved} - changed:
            if was[name] is not None if name in was else name in self._live:
                handled.add(name)
        for name in sorted(handled):
            self._note(self.ranges[name], Range(at + 1, end, name, handled=True))
            self._read(name, at + 1)

    def _loop(self, line: Line, at: int) -> None:
        """What is live at the end of a pass is what is so before the loop: a fixpoint."""
        mark, noted = len(self._log), len(self._noted)
        self._exits.append(mark)
        carried: dict[str, None] = {}
        end = at + self._sizes[id(line)]
        while True:
            self._reads(carried, end)
            head = len(self._log)
            self._pass(line, at, end, mark)
            before = self._before(head)
            new = [name for name, was in before.items() if was is None and name in self._live]
            new = [name for name in new if line.kind != "for" or name != line.name]
            if not new:
                break
            self._undo(mark, noted)
            carried.update(dict.fromkeys(new))
        self._exits.pop()
        self._reads([name for name, was in before.items() if was is not None], at + 1)
        if line.kind == "for":
            self._assigned(line.name, at)
            if line.name in before and before[line.name] is None:
                self._leave(line.name, at)
            self._reads(line.reads(), at)

    def _pass(self, line: Line, at: int, end: int, mark: int) -> None:
        if line.kind == "for":
            self._lines(line.blocks[0], end)
            return
        test, body = line.blocks
        self._lines(body, end)
        start = at + 1 + self._length(test)
        outside = [name for name, was in self._before(mark).items() if was is not None]
        self._reads([*outside, *form.reads(line.expression)], start)
        self._lines(test, start)
