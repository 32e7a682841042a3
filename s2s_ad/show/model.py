"""What a page of the explorer shows, without a word of how it is drawn."""

from __future__ import annotations

from dataclasses import dataclass, field

from s2s_ad.diagnostics import S2SError

Place = tuple[str, int]  # file and line


@dataclass(frozen=True, slots=True)
class Kept:
    """What a line keeps for the backward pass: how much, and why."""

    name: str
    size: str
    when: str
    why: str


@dataclass(frozen=True, slots=True)
class Time:
    """What a line takes in a call: microseconds, and the share of the whole call."""

    microseconds: float
    share: float


@dataclass(frozen=True, slots=True)
class Line:
    """One line of generated text.

    Attributes:
        places: the user's lines that it comes from; the first is that of its statement.
        phase: the sweep: "forward", "backward", "tangent" or "".
        columns: where the expression in the first of these lines is that it comes from.
    """

    text: str
    places: tuple[Place, ...] = ()
    phase: str = ""
    kept: tuple[Kept, ...] = ()
    time: Time | None = None
    columns: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that the bar says of a text."""

    label: str
    value: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """One text, under its tab: of a function (language "python") or of Core ("core").

    Attributes:
        about: what the text is, in a sentence.
        families: each name of the text, and the one that it is made of: `x_bar` of `x`.
        refused: instead of a text, why there is none.
    """

    key: str
    label: str
    about: str = ""
    language: str = "python"
    lines: tuple[Line, ...] = ()
    families: dict[str, str] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    kept: tuple[Kept, ...] = ()
    refused: S2SError | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the user's; `parts` are the ranges of lines that are shown, the last included."""

    file: str
    label: str
    lines: tuple[str, ...]
    parts: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Page:
    """The user's files on the left, panels on the right."""

    title: str
    like: str
    sources: tuple[Source, ...]
    panels: tuple[Panel, ...]
    selected: str

    @property
    def shown(self) -> Panel:
        """The panel that is seen first."""
        return next(each for each in self.panels if each.key == self.selected)


__all__ = ["Fact", "Kept", "Line", "Page", "Panel", "Place", "Source", "Time"]
