"""What can be iterated over without being taken apart: ranges, zip(...), enumerate(...), ..."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import gast
import numpy as np

from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import StepwiseError, UnsupportedError
from s2s_ad.frontend.lower.picked import OfOurs
from s2s_ad.frontend.lower.references import Box, Poison, Reference, changing
from s2s_ad.frontend.resolve import Frame

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


@dataclass(frozen=True, eq=False, slots=True)
class Range:
    """range(start, stop, step) with bounds that are not all known."""

    in_python: ClassVar[str] = "range"

    start: Any
    stop: Any
    step: Any

    def holds(self) -> tuple:
        return (self.start, self.stop, self.step)

    def arguments(self) -> list:
        """What `range`, or `np.arange`, is given for it."""
        given = [*self.holds()]
        if type(self.step) is int and self.step == 1:
            given.pop()
            if type(self.start) is int and self.start == 0:
                given.pop(0)
        return given


#: the number of items of itertools.count()
ENDLESS = sys.maxsize


@dataclass(frozen=True, eq=False, slots=True)
class Items:
    """A number of items, and how each is computed from its position.

    `sources` are the values that it reads.
    """

    in_python: ClassVar[str] = "iterator"

    length: Any
    at: Callable[[Any], Any]
    sources: tuple

    def holds(self) -> tuple:
        return (self.length, *self.sources)

    def known(self) -> list | None:
        """The items, where their number is known."""
        if not isinstance(self.length, int) or self.length == ENDLESS:
            return None
        return [*map(self.at, range(self.length))]


@dataclass(frozen=True, eq=False, slots=True)
class Reversed:
    """The items from the last to the first."""

    in_python: ClassVar[str] = "iterator"

    items: Any

    def holds(self) -> tuple:
        return (self.items,)


@dataclass(frozen=True, eq=False, slots=True)
class Deferred(Tree):
    """Items that Python reads when it comes to them, from what may change until then.

    `items` are those of the moment when it was made; `count()` says how many there are now, and
    `at(i)` what one of them is now, read from `sources`.
    """

    at: Callable[[int], Any]
    count: Callable[[], int]
    sources: tuple

    def holds(self) -> tuple:
        return (*self.items, *self.sources)

    def known(self) -> list:
        return [self.at(i) for i in range(self.count())]


@dataclass(frozen=True, eq=False, slots=True)
class InTurn:
    """What an iterator holds that reads such items: a loop carries how far it is, and no item."""

    in_python: ClassVar[str] = "iterator"

    items: Deferred

    def holds(self) -> tuple:
        return self.items.holds()


def deferred(
    at: Callable[[int], Any], count: Callable[[], int], *sources: Any, kind: type = list
) -> Deferred:
    """Items that are read from what may change."""
    items = tuple(at(i) for i in range(count()))
    return Deferred(kind, tuple(range(len(items))), items, at, count, sources)


#: what these give is an iterator, and each item is read when the iterator comes to it
READ_IN_TURN = (enumerate, reversed, zip, itertools.count, itertools.repeat)
READ_IN_TURN += (np.ndenumerate, np.ndindex)
#: what these give is an iterator, too; all items are made at once, so arguments may not change
CHOOSE_ITEMS = (itertools.chain, itertools.chain.from_iterable, itertools.combinations)
CHOOSE_ITEMS += (itertools.combinations_with_replacement, itertools.islice, itertools.pairwise)
CHOOSE_ITEMS += (itertools.permutations, itertools.product, itertools.zip_longest)
CHOOSE_ITEMS += (itertools.cycle,)
COMPUTE_ITEMS = (filter, itertools.accumulate, map)
ITERATORS = READ_IN_TURN + CHOOSE_ITEMS + COMPUTE_ITEMS


#: the handler that gives what an iterator reads which nobody else holds
IN_PLACE = "an iterator that nobody holds"


class Iterator(OfOurs):
    """The kind of a Box that holds what an iterator reads, and how many items were read."""

    in_python = "iterator"

    __slots__ = ()


def is_iterator(value: Any) -> bool:
    return isinstance(value, Box) and value.kind is Iterator


def iterator(lowering: Lowering, value: Any) -> Any:
    """An iterator at its first item."""
    if is_iterator(value):
        return value
    value = InTurn(value) if isinstance(value, Deferred) else value
    return lowering.memory.box(Tree(Iterator, ("items", "position"), (value, 0)))


@dataclass(frozen=True, slots=True)
class ReadOn(Poison):
    """What an iterator holds that somebody else reads on."""

    def error(self, *_: Any) -> UnsupportedError:
        name = self.why
        which = f"the iterator {name!r}" if name else "an iterator"
        return UnsupportedError(
            "S2S201",
            f"{which} is read twice, or in a loop",
            why="the first time exhausts it",
            help=f"make a list: {name or 'items'} = list(...)",
        )


@dataclass(frozen=True, eq=False, slots=True)
class Produced:
    """What a generator function has yielded, all at once.

    `watched` are the objects that it read: who iterates may not change them since `moment`.
    """

    in_python: ClassVar[str] = "generator"

    items: Any
    watched: list
    moment: Any
    name: str
    node: gast.AST | None = None

    def holds(self) -> tuple:
        return (self.items,)

    def check(self, lowering: Lowering) -> None:
        """Refuse where the generator would have seen a change, had it run step by step."""
        changed = lowering.memory.changes(self.moment)
        if any(each.root is other for each in self.watched for other in changed):
            error = StepwiseError(
                "S2S201",
                f"what {self.name} reads is changed while its items are consumed",
                help="make a list of them first: list(...)",
            )
            error.generator = self.node
            raise error


@dataclass(frozen=True, eq=False, slots=True)
class Suspended:
    """A generator between two steps: the scope of what lasts, and the function that goes on.

    The iterator that it is holds, as a third item, what that scope's locals are now.
    """

    in_python: ClassVar[str] = "generator"

    around: Frame
    resume: gast.FunctionDef

    def holds(self) -> tuple:
        return tuple(self.around.locals.values())


def generator_in(value: Any) -> Suspended | None:
    """The generator that runs step by step which an iterator is; None for other values."""
    inner = value.known().items[0] if is_iterator(value) else None
    return inner if isinstance(inner, Suspended) else None


def state_of(value: Box) -> Box:
    """What the generator keeps that an iterator is."""
    return value.known().items[2]


@dataclass(frozen=True, eq=False, slots=True)
class Generator:
    """A generator expression: its first iterable, and the frame in which it runs."""

    in_python: ClassVar[str] = "generator"

    node: gast.GeneratorExp
    first: Any
    frame: Frame

    def holds(self) -> tuple:
        return (self.first,)


def iterated_over(lowering: Lowering, function: Any, args: list, result: Any) -> Box:
    """The iterator that a call of one of ITERATORS gives."""
    in_turn = any(function is each for each in READ_IN_TURN)
    if in_turn or (function is map and isinstance(result, Items)):
        return iterator(lowering, result)
    computes = any(function is each for each in COMPUTE_ITEMS)
    watched = [*(changing([args, read_by(args)]) if computes else chosen_from(function, args))]
    made = Produced(result, watched, lowering.memory.moment(), f"{function.__name__}()")
    if not isinstance(result, Tree) or isinstance(result, Box):
        return iterator(lowering, made if watched else result)

    def at(i: int) -> Any:
        made.check(lowering)
        return result.items[i]

    return iterator(
        lowering, deferred(at, lambda: len(result.items), *watched) if watched else result
    )


def chosen_from(function: Any, args: list) -> list:
    """The containers from which items are taken; changes of what the items hold are seen anyway."""
    found: list = []
    for each in args:
        if not isinstance(each, Tree) or each.kind not in (list, tuple):
            found += [part for part in changing(each) if isinstance(part, Box) or part is each]
            continue
        inner = function == itertools.chain.from_iterable and not getattr(each, "is_dynamic", False)
        containers = (each, *(each.items if inner else ()))
        found += [part for part in containers if isinstance(part, Box | Reference)]
    return found


def read_by(args: list) -> list:
    """What the functions among the arguments may read, which were made where they are called."""
    made = [each for each in args if hasattr(each, "node") and hasattr(each, "frame")]
    names = ((f.frame, n.id) for f in made for n in gast.walk(f.node) if isinstance(n, gast.Name))
    return [frame.locals[name] for frame, name in names if name in frame.locals]
