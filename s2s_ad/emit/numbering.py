"""Which variables have one name in turn, and the numbers that tell those apart that cannot.

Variables get their names in the order in which the text assigns them. So a variable that is dead by
then is not looked at again, and neither is a number that is certain to be in use.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush

from s2s_ad.emit.coalesce import Variable, Variables

Test = Callable[[str], bool]


@dataclass
class _Holders:
    """The variables that have a name.

    Attributes:
        recent: those of them that may be live from here on.
        end: up to this line one of them is certain to be live.
    """

    all: list[Variable] = field(default_factory=list)
    recent: list[Variable] = field(default_factory=list)
    end: int = -1


@dataclass
class _Numbers:
    """The numbers that names which begin with one word have: `x` is number 1, `x_2` number 2.

    Attributes:
        count: how many have been tried.
        perhaps: those of them that may be free, in order.
        busy: (up to which line it is certain to be in use, number) of the others, a heap.
        unused: the first that perhaps no variable has had.
    """

    count: int = 0
    perhaps: list[int] = field(default_factory=list)
    busy: list[tuple[int, int]] = field(default_factory=list)
    unused: int = 1


class Numbering:
    """Finds the first of `x`, `x_2`, `x_3`, ... that a variable can have.

    Attributes:
        holders: name in the text -> the variables that have it.
    """

    def __init__(self, variables: Variables):
        self.variables = variables
        self.holders: dict[str, _Holders] = {}
        self._numbers: dict[str, _Numbers] = {}
        self._line = -1  # all variables before this line have names

    def take(self, text: str, variable: str) -> None:
        """The variable has this name."""
        taken, holders = (
            self.variables.variable(variable),
            self.holders.setdefault(text, _Holders()),
        )
        holders.all.append(taken)
        holders.recent.append(taken)
        if taken.is_one_range:
            holders.end = max(holders.end, taken.end)

    def held_by(self, text: str) -> list[Variable]:
        """The variables that have this name."""
        return self.holders[text].all if text in self.holders else []

    def unused(self, word: str, allowed: Test) -> str:
        """The first name that no variable has had."""
        numbers = self._numbers.setdefault(word, _Numbers())
        while _text(word, numbers.unused) in self.holders:
            numbers.unused += 1
        number = numbers.unused
        while _text(word, number) in self.holders or not allowed(_text(word, number)):
            number += 1
        return _text(word, number)

    def free(self, word: str, variable: str, allowed: Test) -> str:
        """The first name that no variable has which is live at the same time."""
        wanted = self.variables.variable(variable)
        texts = (_text(word, number) for number in self._candidates(word, wanted))
        return next(text for text in texts if allowed(text) and self._is_free(text, wanted))

    def _is_free(self, text: str, wanted: Variable) -> bool:
        holders = self.holders.get(text)
        if holders is None:
            return True
        if wanted.start < self._line:
            return not any(wanted.clashes(each) for each in holders.all)
        self._line = wanted.start
        holders.recent = [each for each in holders.recent if each.end > wanted.start]
        return not any(wanted.clashes(each) for each in holders.recent)

    def _candidates(self, word: str, wanted: Variable) -> Iterator[int]:
        """The numbers in order, without those that variables have which live where it begins."""
        numbers, start = self._numbers.setdefault(word, _Numbers()), wanted.start
        if start < self._line or not wanted.begins_assigned:
            yield from range(1, numbers.count + 1)
        else:
            while numbers.busy and numbers.busy[0][0] <= start:
                insort(numbers.perhaps, heappop(numbers.busy)[1])
            self._set_apart(word, numbers, start)
            yield from sorted({*numbers.perhaps, *self._moved_from(word, numbers, wanted)})
        while True:
            numbers.count += 1
            numbers.perhaps.append(numbers.count)
            yield numbers.count

    def _set_apart(self, word: str, numbers: _Numbers, line: int) -> None:
        """Note which numbers are certain to be in use there."""
        perhaps = []
        for number in numbers.perhaps:
            holders = self.holders.get(_text(word, number))
            if holders is not None and holders.end > line:
                heappush(numbers.busy, (holders.end, number))
            else:
                perhaps.append(number)
        numbers.perhaps = perhaps

    def _moved_from(self, word: str, numbers: _Numbers, wanted: Variable) -> Iterator[int]:
        """The numbers of what is moved to the variable: the two may be one name."""
        sources = {each.source for each in wanted.assignments} - {""}
        held = [self.variables.variable(self.variables.of(each)) for each in sources]
        for _, number in numbers.busy if held else ():
            if any(each in held for each in self.holders[_text(word, number)].all):
                yield number


def _text(word: str, number: int) -> str:
    return word if number == 1 else f"{word}_{number}"
