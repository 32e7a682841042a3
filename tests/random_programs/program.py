"""A program with a hole in it, and what holds when Python comes to the hole."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import linecache
import signal
import sys
import time
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

MODULE = "random_program"
PASSES = 300  # of all loops and calls of one run


class Reached(BaseException):
    """Python has come to the hole: the variables that it has there."""

    def __init__(self, variables: dict[str, Any]):
        self.variables = variables


class Endless(BaseException):
    """More passes than a program should have."""


@dataclasses.dataclass(eq=False)
class Line:
    """A statement of one line."""

    text: str


@dataclasses.dataclass(eq=False)
class Hole:
    """Where the next statement goes."""


@dataclasses.dataclass(eq=False)
class Clause:
    """A header with a block; while its block is written it is entered by another header."""

    header: str
    body: list = dataclasses.field(default_factory=list)
    entered_by: str | None = None
    at_the_hole: bool = False

    @property
    def is_loop(self) -> bool:
        return self.header.startswith(("for ", "while "))


@dataclasses.dataclass(eq=False)
class Compound:
    """A statement with blocks."""

    clauses: list[Clause]


@dataclasses.dataclass(eq=False)
class Function:
    """A function at module level, with the texts of arguments that it is written for."""

    name: str
    parameters: str
    body: list
    arguments: list[str]


@dataclasses.dataclass(eq=False)
class Program:
    """Classes as text, then functions, of which the last is the one that is differentiated."""

    classes: list[str] = dataclasses.field(default_factory=list)
    functions: list[Function] = dataclasses.field(default_factory=list)

    def source(self, probing: bool = False) -> str:
        parts = [
            "import math\nfrom dataclasses import dataclass\n\nimport numpy as np",
            *self.classes,
        ]
        for function in self.functions:
            body = list(_lines(function.body, 1, probing)) or ["    pass"]
            if probing:
                body.insert(0, "    __tick__()")
            parts.append("\n".join([f"def {function.name}({function.parameters}):", *body]))
        return "\n\n\n".join(parts) + "\n"

    def at_hole(self, function: Function | None = None) -> dict[str, Any] | Exception | None:
        """The variables at the hole; the exception if Python fails before, None if it passes by."""
        function = function or self.functions[-1]
        try:
            scope = namespace(self.source(probing=True))
            with quiet():
                scope[function.name](*[eval(each, scope) for each in function.arguments])
        except Reached as reached:
            return {**scope, **reached.variables}
        except Endless:
            return RecursionError()
        except Exception as error:
            return error
        return None


def _lines(block: list, depth: int, probing: bool) -> Iterator[str]:
    margin = "    " * depth
    written = False
    for node in block:
        if isinstance(node, Hole):
            if probing:
                yield f"{margin}__probe__(locals())"
                written = True
            continue
        written = True
        if isinstance(node, Line):
            yield f"{margin}{node.text}"
            continue
        for clause in node.clauses:
            entered = probing and clause.at_the_hole and clause.entered_by is not None
            yield f"{margin}{clause.entered_by if entered else clause.header}"
            if probing and clause.is_loop:
                yield f"{margin}    __tick__()"
            yield from _lines(clause.body, depth + 1, probing)
    if not written:
        yield f"{margin}pass"


_NUMBERS = itertools.count()


def _probe(variables: dict[str, Any]) -> None:
    raise Reached(variables)


def namespace(source: str, *, readable: bool = False) -> dict[str, Any]:
    """What the module of a program defines; `readable` if its functions are to be compiled."""
    file = f"<random program {next(_NUMBERS)}>"
    module = types.ModuleType(MODULE)
    if readable:
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        sys.modules[MODULE] = module  # dataclasses look there
    scope = module.__dict__
    ticks = itertools.count()

    def tick() -> None:
        if next(ticks) > PASSES:
            raise Endless

    scope.update(__tick__=tick, __probe__=_probe)
    sys.modules[MODULE] = module
    with warnings.catch_warnings(action="ignore"):
        exec(compile(source, file, "exec"), scope)
    return scope


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Neither warnings nor prints."""
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        yield


class TimeIsUp(BaseException):
    """A program took longer than it may."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeIsUp if what is done takes longer."""

    def ring(*_: Any) -> None:
        raise TimeIsUp

    before, start = signal.signal(signal.SIGALRM, ring), time.monotonic()
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)  # of a limit around this one
    try:
        yield
    finally:
        rest = max(left - (time.monotonic() - start), 0.01) if left else 0
        signal.setitimer(signal.ITIMER_REAL, rest)
        signal.signal(signal.SIGALRM, before)
