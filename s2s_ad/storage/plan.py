"""The storage plan: for each value that the backward pass reads, how it is had, with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from s2s_ad.analysis.memory import Memory
from s2s_ad.core import form
from s2s_ad.core.program import Program
from s2s_ad.core.registry import rule_for
from s2s_ad.diagnostics import Origin


@dataclass(frozen=True, slots=True)
class Kept:
    """One value of the forward pass that the backward pass reads.

    Attributes:
        name: its Core name; origin: where the user computes it.
        how: the decision; why: its reason.
        owns: whether it has memory of its own.
    """

    name: str
    origin: Origin | None
    how: str
    why: str
    owns: bool


def plan(program: Program) -> Iterator[Kept]:
    """Outside loops every value has one name, so what is needed is simply still there."""
    memory = Memory(program)
    forward = {
        form.target(s): s for s in program.body if not form.is_effect(s) and s.phase == "forward"
    }
    read = dict.fromkeys(
        name for s in program.body if s.phase == "backward" for name in form.reads(s)
    )
    for name in read:
        statement = forward.get(name)
        if statement is None:
            continue
        if rule_for(form.function_of(statement)).cheap:
            yield Kept(name, statement.origin, "computed again", "it costs next to nothing", False)
        elif memory.root(name) != name:
            yield Kept(name, statement.origin, "a view", "it has no memory of its own", False)
        else:
            why = "nothing overwrites it outside loops"
            yield Kept(name, statement.origin, "a local, still live", why, True)
