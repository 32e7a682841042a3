"""The pass manager: runs passes one after the other, verifies what they make, lets others watch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from s2s_ad.core.dump import Dump, to_stderr
from s2s_ad.core.program import Program

VERIFY = os.environ.get("S2S_AD_VERIFY", "") not in ("", "0")

#: what is told of a step: its name, the program before it (None: the step begins there), and after
Watcher = Callable[[str, Program | None, Program], None]

#: steps that are told of though they are more than one pass
LOWER, TRANSFORM, STORES = "lower", "transform", "stores"

#: names of all steps
KNOWN: dict[str, None] = dict.fromkeys((LOWER, TRANSFORM, STORES))


@dataclass(frozen=True, slots=True)
class Pass:
    """One step from Program to Program; what it does can be looked at by its name."""

    name: str
    run: Callable[[Program], Program]

    def __post_init__(self) -> None:
        KNOWN[self.name] = None


def run(program: Program, pipeline: Sequence[Pass]) -> Program:
    """The program after each pass in turn; verified between passes where S2S_AD_VERIFY is set."""
    for step in pipeline:
        made = step.run(program)
        tell(step.name, program, made)
        program = made
        if VERIFY:
            program.verify()
    return program


def lowered(program: Program) -> Program:
    """A program that is as the frontend has made it: told to watchers, and verified."""
    tell(LOWER, None, program)
    return program.verify() if VERIFY else program


def tell(step: str, before: Program | None, after: Program) -> None:
    """Show those who watch what a step has made of a program."""
    for watch in _watchers.get():
        watch(step, before, after)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Let `watcher` see each step that this thread takes meanwhile."""
    token = _watchers.set((*_watchers.get(), watcher))
    try:
        yield
    finally:
        _watchers.reset(token)


def _from_environment() -> tuple[Watcher, ...]:
    """What S2S_AD_DUMP asks for: names of passes, or `all`."""
    names = [each for each in os.environ.get("S2S_AD_DUMP", "").split(",") if each]
    if not names:
        return ()
    return (Dump(to_stderr, () if names == ["all"] else names, KNOWN),)


_asked_for = _from_environment()
_watchers: ContextVar[tuple[Watcher, ...]] = ContextVar("watchers", default=_asked_for)
