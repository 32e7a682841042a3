"""Lowering one side of a branch or one pass of a loop: what it appends is cut out again.

The statements come first into the builder's body, like any others. Then they are taken out, and all
that they did to locals and to memory is undone; what was cut out becomes the block of a region.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gast

from s2s_ad.core import form, tree
from s2s_ad.core.builder import Symbol
from s2s_ad.core.callee import captured_names
from s2s_ad.core.program import Input, Program
from s2s_ad.core.values import UNDEFINED
from s2s_ad.frontend.lower.exits import STOPS, Exits, Raises
from s2s_ad.frontend.lower.references import Box, Poison, Reference, opened_by

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


class Unassigned:
    """What stands for a local that is not assigned yet."""


@dataclass(frozen=True, slots=True)
class Path:
    """What the lowering of some statements gave."""

    body: list[form.Statement]
    names: dict[str, Any]  # the frame's locals at the end
    changed: dict[int, tuple[Any, Any]]  # by identity: an object of before, and its content now
    held: dict[int, tuple[Any, Any]]  # the same with the views
    clock: int  # objects of the path are born after it
    left: Exits
    known: Mapping[str, bool]  # the truth of conditions at the end

    @property
    def stops(self) -> bool:
        return self.left is STOPS

    def name(self, name: str) -> Any:
        """The value of a local at the end; UNDEFINED where it has none."""
        value = UNDEFINED if self.stops else self.names.get(name, UNDEFINED)
        if isinstance(self.now(value), Poison):
            return self.now(value)
        return UNDEFINED if isinstance(value, Unassigned) else value

    def now(self, value: Any) -> Any:
        """An array as it is at the end."""
        if isinstance(value, Reference) and id(value) in self.held:
            return self.held[id(value)][1]
        return value

    def held_by(self, value: Any) -> Any:
        """What a container holds at the end; other values as they are."""
        return self.content(value, value.content) if isinstance(value, Box) else value

    def whole(self, value: Any) -> Any:
        """A value as it is at the end, with the containers in it as Trees."""
        return opened_by(lambda each: self.now(self.held_by(each)), value)

    def content(self, each: Any, before: Any) -> Any:
        """What an object of before holds at the end: a view, too."""
        if self.stops:
            return UNDEFINED
        return self.held[id(each)][1] if id(each) in self.held else before


def explore(lowering: Lowering, run: Callable[[], Exits]) -> Path:
    """What `run` does; nothing of it stays."""
    frame, builder, memory = lowering.frame, lowering.builder, lowering.memory
    before, origin, phase = frame.locals, builder.origin, builder.phase
    known = lowering.assumptions.known
    frames, start = len(lowering.frames), len(builder.body)
    mark = memory.mark()
    frame.locals = dict(before)
    try:
        try:
            left = run()
        except Raises:
            left = STOPS
        changed = {id(each): (each, memory.content(each)) for each in memory.changes(mark)}
        held = memory.held(mark)
        now = lowering.assumptions.known
        return Path(builder.body[start:], frame.locals, changed, held, mark.clock, left, now)
    except Exception:
        memory.bury(mark.clock)
        raise
    finally:
        del builder.body[start:]
        del lowering.frames[frames:]
        frame.locals = before
        builder.origin, builder.phase = origin, phase
        lowering.assumptions.known = known
        memory.rollback(mark)


def look(lowering: Lowering, run: Callable[[], Exits]) -> Path:
    """What `run` would do, of which nobody holds what it makes."""
    path = explore(lowering, run)
    lowering.memory.bury(path.clock)
    return path


@contextmanager
def at_the_end(lowering: Lowering, path: Path) -> Iterator[None]:
    """Operations emitted inside come at the end of the path's statements."""
    start = len(lowering.builder.body)
    yield
    path.body.extend(lowering.builder.body[start:])
    del lowering.builder.body[start:]


# ---- blocks --------------------------------------------------------------------------------------


def defined(body: Iterable[form.Statement]) -> set[str]:
    return {each.target for each in body if isinstance(each, form.Op)}


def free_names(
    lowering: Lowering, body: Sequence[form.Statement], outputs: Iterable[gast.AST]
) -> list[str]:
    """The names that a block reads and does not define, in order; captured ones left out."""
    read = [name for each in body for name in each.reads]
    read += [atom.id for atom in outputs if isinstance(atom, gast.Name)]
    left_out = defined(body) | lowering.captures.constants().keys()
    return [name for name in dict.fromkeys(read) if name not in left_out]


def block(
    lowering: Lowering,
    body: Sequence[form.Statement],
    leaves: Sequence[str],
    outputs: Sequence[gast.AST],
) -> Program:
    """The statements as a program of their own."""
    read = {name for each in body for name in (*each.reads, *captured_names(each))}
    read |= {atom.id for atom in outputs if isinstance(atom, gast.Name)}
    constants = lowering.captures.constants().items()
    return Program(
        name="block",
        doc="block",
        inputs=tuple(Input(each, each) for each in leaves),
        body=tuple(body),
        output=tree.tuple_of(outputs),
        facts=lowering.builder.facts,
        hints=lowering.builder.hints,
        captures=tuple(each for name, each in constants if name in read),
        origin=lowering.builder.origin,
    )


def as_symbols(lowering: Lowering, names: Iterable[str]) -> list[Symbol]:
    return [Symbol(lowering.builder, each) for each in names]
