"""What can be iterated over without being taken apart: ranges, zip(...), enumerate(...), ..."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from s2s_ad.frontend.resolve import Frame


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


@dataclass(frozen=True, eq=False, slots=True)
class Generator:
    """A generator expression: its first iterable, and the frame in which it runs."""

    node: gast.GeneratorExp
    first: Any
    frame: Frame

    def holds(self) -> tuple:
        return (self.first,)
