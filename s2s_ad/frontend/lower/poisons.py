"""Values that nobody may read, and why: those of one kind on one path and another on another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s_ad.core.builder import NeedStatic, Symbol, names_in
from s2s_ad.core.values import Scalar
from s2s_ad.diagnostics import Origin, UnsupportedError
from s2s_ad.frontend.lower.exits import Raises
from s2s_ad.frontend.lower.paths import Unassigned
from s2s_ad.frontend.lower.references import Poison, Reference

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


class StructureChanges(UnsupportedError):
    """A value is read that is of one kind on one path and of another kind on another.

    `source` is the condition or the loop that the paths come from; `entries` tells whether it is a
    dict or an object that has other entries.
    """

    source: Any = None
    entries = False


class Unjoined:
    """A value that is of one kind on one path and of another on another: nobody may read it."""

    def __init__(self, lowering: Lowering, what: str, origin: Origin | None, source: Any):
        self.lowering, self.what, self.origin, self.source = lowering, what, origin, source
        self.entries = False

    def error(self, lowering: Lowering | None = None) -> Exception:
        """What reading it raises; where the condition can be known, the path is decided."""
        lowering = lowering or self.lowering
        error = self._refusal(lowering)
        if isinstance(self.source, Symbol) and may_be_known(lowering, self.source):
            return NeedStatic(self.source.name, "the condition of the branch", error)
        return error

    def _refusal(self, lowering: Lowering) -> StructureChanges:
        line = self.origin.line if self.origin else "?"
        error = StructureChanges(
            "S2S201",
            f"a value that is {self.what}",
            origin=lowering.builder.origin,
            why=f"which of them it is, the branch or loop at line {line} decides",
            help="give it the same kind and the same structure on all paths",
        )
        error.source, error.entries = self.source, self.entries
        return error


class Staying(Unjoined):
    """A value that is there on the paths on which nothing was left, and a poison on others."""

    def __init__(self, value: Any, poison: Any):
        self.value, self.poison = value, poison

    def error(self, lowering: Lowering | None = None) -> Exception:
        return self.poison.error(lowering)


@dataclass(frozen=True, slots=True)
class Holes:
    """The locals that only an earlier pass of a loop can have assigned, as the last look saw them.

    Attributes:
        read: where a path of the pass reads each.
        handed_on: those that a path leaves as they are.
    """

    read: dict[str, Origin | None] = field(default_factory=dict)
    handed_on: set[str] = field(default_factory=set)


class Hole(Unjoined, Unassigned):
    """A local that only an earlier pass of the loop can have assigned.

    While it is not known what that pass assigned, nothing follows its being read.
    """

    def __init__(self, name: str, found: Holes):
        self.name, self.found = name, found

    def error(self, lowering: Lowering | None = None) -> Exception:
        self.found.read.setdefault(self.name, lowering.builder.origin if lowering else None)
        return Raises()

    def hand_on(self) -> None:
        """A path leaves the local as it is: it is to be carried, whether a path reads it or not."""
        self.found.handed_on.add(self.name)


def may_be_known(
    lowering: Lowering, condition: Symbol, *, lengths: bool = True, passes: bool = True
) -> bool:
    """Whether a condition depends on captured numbers, whole numbers among the arguments, and, if
    these count, `lengths` and what the `passes` of a loop make of these alone."""
    found = _known_by(lowering, condition.name)
    if found is None or (LENGTH in found and not lengths):
        return False
    return passes or PASS not in found


LENGTH, PASS = "length", "pass"
ALONE: frozenset[str] = frozenset()


def _known_by(lowering: Lowering, name: str) -> frozenset[str] | None:
    """By what a value may be known, beside numbers; None where it depends on anything else."""
    builder, known, waiting = lowering.builder, lowering.known_by, [name]
    while waiting:
        each = waiting[-1]
        rule, operands, params = builder.definitions.get(each, (None, None, {}))
        if each in known or operands is None:
            known.setdefault(each, ALONE if _is_plain(lowering, each) else None)
        elif rule is not None and rule.function is np.size:
            known[each] = frozenset({LENGTH})
        else:
            sources = [*names_in([*operands, *params.values()])]
            missing = [source for source in sources if source not in known]
            if missing:
                waiting += missing
                continue
            found = [known[source] for source in sources]
            own = ALONE if rule is not None else {PASS}  # what a pass of a loop starts from
            known[each] = None if None in found else ALONE.union(own, *found)
        waiting.pop()
    return known[name]


def _is_plain(lowering: Lowering, name: str) -> bool:
    return name in lowering.captures.numbers or lowering.builder.facts[name] == Scalar(int)


def is_unreadable(value: Any) -> bool:
    """Whether nobody may read the value."""
    if isinstance(value, Reference):
        return not isinstance(value.content, str)
    return isinstance(value, Poison | Unjoined)


def unreadable(value: Any) -> Any:
    """What says why nobody may read the value."""
    return value.content if isinstance(value, Reference) else value


def readable(lowering: Lowering, value: Any) -> Any:
    """The value, where somebody may read it.

    Raises:
        Exception: what reading it raises.
    """
    if is_unreadable(value):
        raise unreadable(value).error(lowering)
    return value


def after_pass(value: Any) -> Any:
    """A value as the next pass has it: what is there where nothing was left, this pass computed."""
    while isinstance(value, Staying):
        value = value.poison
    return value


def staying_of(value: Any) -> Any:
    """The value where nothing was left."""
    return value.value if isinstance(value, Staying) else value
