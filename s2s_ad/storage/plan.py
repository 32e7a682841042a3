"""The storage plan: for each value that the backward pass reads, how it is had, with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from s2s_ad.analysis.memory import Memory
from s2s_ad.core import form
from s2s_ad.core.program import Program
from s2s_ad.core.registry import rule_for


@dataclass(frozen=True, slots=True)
class Kept:
    """One value that the backward pass reads.

    Attributes:
        label: what it is called; place: the user's line; how: the decision and its reason.
    """

    label: str
    place: str
    how: str
    fact: Any


def plan(program: Program) -> list[Kept]:
    """Outside loops every value has one name, so what is needed is simply still there."""
    memory = Memory(program)
    forward = {
        form.target(s): s for s in program.body if not form.is_effect(s) and s.phase == "forward"
    }
    read = dict.fromkeys(
        name for s in program.body if s.phase == "backward" for name in form.reads(s)
    )
    kept = []
    for name in read:
        statement = forward.get(name)
        if statement is None or rule_for(form.function_of(statement)).cheap:
            continue
        label = program.hints[name].text or "(unnamed)"
        place = str(statement.origin.root) if statement.origin else "-"
        if memory.root(name) != name:
            kept.append(Kept(label, place, "a view: no memory of its own", None))
            continue
        how = "a local, still live: nothing overwrites it outside loops"
        kept.append(Kept(label, place, how, program.facts[name]))
    return kept
