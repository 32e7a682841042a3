"""The pass manager: a pass declares what it keeps, and the manager checks every step."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from s2s_ad.core.program import Program

VERIFY = os.environ.get("S2S_AD_VERIFY", "") not in ("", "0")


@dataclass(frozen=True, slots=True)
class Pass:
    """One step from Program to Program.

    `needs` names the facts it relies on ("values", "hints", "phases"), `keeps` the ones that
    hold for its result as they held for its input.
    """

    name: str
    run: Callable[[Program], Program]
    needs: frozenset[str] = frozenset({"values"})
    keeps: frozenset[str] = frozenset({"values", "hints", "phases"})


class PassOrderError(Exception):
    """A pipeline runs a pass whose needs an earlier pass did not keep."""


def run(program: Program, pipeline: Sequence[Pass]) -> Program:
    """The program after each pass in turn; verified between passes where S2S_AD_VERIFY is set."""
    facts = {"values", "hints", "phases"}
    for step in pipeline:
        if not step.needs <= facts:
            missing = ", ".join(sorted(step.needs - facts))
            raise PassOrderError(f"{step.name} needs {missing}, which an earlier pass dropped")
        program = step.run(program)
        facts &= step.keeps
        if VERIFY:
            program.verify()
    return program
