"""What can be iterated over without being taken apart: ranges, zip(...), enumerate(...), ..."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.resolve import Frame, unwrap

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


@dataclass(frozen=True, eq=False, slots=True)
class Range:
    """range(start, stop, step) with bounds that are not all known."""

    start: Any
    stop: Any
    step: Any

    def holds(self) -> tuple:
        return (self.start, self.stop, self.step)


@dataclass(frozen=True, eq=False, slots=True)
class Items:
    """A number of items, and how each is computed from its position.

    `sources` are the values that it reads.
    """

    length: Any
    at: Callable[[Any], Any]
    sources: tuple

    def holds(self) -> tuple:
        return (self.length, *self.sources)

    def known(self) -> list | None:
        """The items, where their number is known."""
        return [*map(self.at, range(self.length))] if isinstance(self.length, int) else None


@dataclass(frozen=True, eq=False, slots=True)
class Reversed:
    """The items from the last to the first."""

    items: Any

    def holds(self) -> tuple:
        return (self.items,)


#: what these give is exhausted once it has been iterated over
ITERATORS = (enumerate, filter, iter, map, reversed, zip, itertools.accumulate, itertools.chain)
ITERATORS += (itertools.chain.from_iterable, itertools.combinations, itertools.islice)
ITERATORS += (itertools.combinations_with_replacement, itertools.pairwise, itertools.permutations)
ITERATORS += (
    itertools.product,
    itertools.repeat,
    itertools.zip_longest,
    np.ndenumerate,
    np.ndindex,
)


@dataclass(eq=False, slots=True)
class Once:
    """An iterator that has a name: who reads the name a second time finds it exhausted."""

    items: Any
    is_read: bool = False

    def holds(self) -> tuple:
        return (self.items,)

    def taken(self, name: str = "") -> Any:
        """The iterator, which nobody has consumed yet."""
        if self.is_read:
            which = f"the iterator {name!r}" if name else "an iterator"
            raise UnsupportedError(
                "S2S201",
                f"{which} is read twice, or in a loop",
                why="the first time exhausts it",
                help=f"make a list: {name or 'items'} = list(...)",
            )
        self.is_read = True
        return self.items


def named_once(lowering: Lowering, node: gast.expr, value: Any) -> Any:
    """A value that gets a name: an iterator can be read by it once."""
    if isinstance(node, gast.GeneratorExp) or isinstance(value, Produced):
        return Once(value)
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name | gast.Attribute):
        return value
    function = unwrap(lowering.evaluate(node.func))
    return Once(value) if any(function is each for each in ITERATORS) else value


@dataclass(frozen=True, eq=False, slots=True)
class Produced:
    """What a generator function has yielded, all at once.

    `watched` are the objects that it read: who iterates may not change them since `moment`.
    """

    items: Any
    watched: list
    moment: Any
    name: str

    def holds(self) -> tuple:
        return (self.items,)

    def check(self, lowering: Lowering) -> None:
        """Refuse where the generator would have seen a change, had it run step by step."""
        changed = lowering.memory.changes(self.moment)
        if any(each.root is other for each in self.watched for other in changed):
            raise UnsupportedError(
                "S2S201",
                f"what {self.name} reads is changed while its items are consumed",
                help="make a list of them first: list(...)",
            )


@dataclass(frozen=True, eq=False, slots=True)
class Generator:
    """A generator expression: its first iterable, and the frame in which it runs."""

    node: gast.GeneratorExp
    first: Any
    frame: Frame

    def holds(self) -> tuple:
        return (self.first,)
