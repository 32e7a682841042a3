"""Where each line of generated text comes from: the user's lines, and what it computes or keeps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import gast

from s2s_ad.diagnostics import Origin

BLOCKS = ("body", "orelse", "handlers")


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of one line of the text.

    Attributes:
        origins: places in the user's code: first that of the statement itself, then those of what
            was folded into it. What has none of its own has those of the statement around it.
        phase: the sweep that it belongs to: "forward", "backward", "tangent" or "".
        defines: Core names of the values that it computes, or puts into a list.
        own: whether the origins are the statement's own.
    """

    origins: tuple[Origin, ...] = ()
    phase: str = ""
    defines: tuple[str, ...] = ()
    own: bool = True


NO_ROW = Row()  # a comment or an empty line
Node = TypeVar("Node", bound=gast.AST)


def with_origin(node: Node, origin: Origin | None, phase: str = "") -> Node:
    """A fresh statement or handler, with where it comes from and the sweep that it belongs to."""
    node.origin, node.phase = origin, phase
    return node


def mark(
    statement: gast.AST, origins: Iterable[Origin | None], defines: Iterable[str] = ()
) -> None:
    """Note where a statement comes from, unless that was noted before."""
    if not hasattr(statement, "origins"):
        statement.origins = [each for each in origins if each is not None]
        statement.defines = list(defines)


def absorb(statement: gast.AST, others: Iterable[gast.AST]) -> None:
    """Note that other statements are written into this one: it comes from where they come from."""
    statement.absorbed = [*getattr(statement, "absorbed", ()), *others]


def _noted(statement: gast.AST, what: str) -> list:
    """What was noted on a statement and on those that it absorbed, each once."""
    found = dict.fromkeys(getattr(statement, what, ()))
    for each in getattr(statement, "absorbed", ()):
        found |= dict.fromkeys(_noted(each, what))
    return [*found]


def settle(body: Sequence[gast.AST], around: tuple[Origin, ...]) -> None:
    """Make a Row of what was noted on the statements, those in blocks included."""
    for statement in body:
        origins = tuple(_noted(statement, "origins"))
        phase, defines = getattr(statement, "phase", ""), tuple(_noted(statement, "defines"))
        statement.row = Row(origins or around, phase, defines, bool(origins))
        for block in BLOCKS:
            inner = getattr(statement, block, None)
            if isinstance(inner, list):
                settle(inner, statement.row.origins)


__all__ = ["NO_ROW", "Node", "Row", "absorb", "mark", "settle", "with_origin"]
