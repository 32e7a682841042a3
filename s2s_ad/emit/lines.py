"""A line: one thing that the code will do, from the opened blocks of Core to statements of Python.

`variables.py` makes lines of Core, with operations as they are there. Refolding puts expressions
into expressions, and `tidy.py` leaves out what nobody reads; then `statements.py` writes Python of
them. Native code is written of them as Core has made them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.diagnostics import Origin
from s2s_ad.emit.stores import Store

Moves = list[tuple[str, gast.AST]]  # (variable, atom), all at once


@dataclass(slots=True)
class Line:
    """One thing that happens.

    Kinds: "assign" (`name = expression`), "unpack" (`names = expression`), "effect", "store" (see
    `store`; the item of a "pop" is `name`), "moves" (all at once), "if", "for", "while", "try",
    "break".

    Attributes:
        expression: the value; the condition of an "if" or "while"; a list of bounds of a "for".
        index: of a "store" where it is.
        blocks: the lines of each block; of a "while" those before its condition, then its body.
        folded: where what was folded into it comes from.
        inside: what is known of its blocks, once that was asked.
    """

    kind: str
    statement: form.Statement
    name: str = ""
    expression: Any = None
    index: Any = None
    names: tuple[str | None, ...] = ()
    store: Store | None = None
    moves: Moves = field(default_factory=list)
    blocks: tuple[list[Line], ...] = ()
    backwards: bool = False
    errors: tuple = ()
    folded: Sequence[Origin] = ()
    inside: Any = None
    _read: tuple[Any, Any, tuple[str, ...]] | None = field(default=None, repr=False)

    def reads(self) -> list[str]:
        """The names that the line itself reads, its blocks apart."""
        known = self._read  # it is asked often
        if known is None or known[0] is not self.expression or known[1] is not self.index:
            parts = [each for each in (self.expression, self.index) if each is not None]
            known = self._read = self.expression, self.index, tuple(form.reads(parts))
        names = [*known[2]]
        if self.moves:
            names += form.reads([atom for _, atom in self.moves])
        if self.store is not None:
            names.append(self.store.base)
        return names

    def assigns(self) -> list[str]:
        """The variables that it assigns at once."""
        if self.kind == "moves":
            return [name for name, _ in self.moves]
        if self.kind == "for":
            return [self.name]
        if self.store is not None:
            return [self.name] if self.store.kind == "pop" and self.name else []
        return [name for name in (self.name, *self.names) if name]

    def origins(self) -> list[Origin]:
        """Where it comes from: its statement, then what was folded into it."""
        own = self.statement.origin
        return [*self.folded] if own is None else [own, *self.folded]


def flat(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines and all in their blocks."""
    waiting = list(reversed(lines))
    while waiting:
        line = waiting.pop()
        yield line
        waiting += (inner for block in reversed(line.blocks) for inner in reversed(block))


__all__ = ["Line", "Moves", "flat"]
