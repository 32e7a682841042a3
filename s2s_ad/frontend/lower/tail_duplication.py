"""What follows a branch goes into it where the sides leave arrays that may be the same, or not.

    b = a                               b = a
    if c:                               if c:
        b = a.copy()                        b = a.copy()
    b[0] = 1.0                              b[0] = 1.0
    return a * b                            return a * b
                                        else:
                                            b[0] = 1.0
                                            return a * b

On the left nobody knows whether the store changes `a`; on the right it is known on each side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import gast

from s2s_ad.diagnostics import SharedMemoryError
from s2s_ad.frontend.lower.exits import Exits
from s2s_ad.frontend.lower.meeting import go_on

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering

LARGEST = 24  # statements that are written twice
MOST = 6  # times that it is tried in a function


def decides(node: gast.stmt) -> bool:
    """Whether the statement is a branch, or an assignment of one of two values."""
    return isinstance(node, gast.If) or (
        isinstance(node, gast.Assign) and isinstance(node.value, gast.IfExp)
    )


def branch_and_rest(
    lowering: Lowering,
    node: gast.stmt,
    rest: Sequence[gast.stmt],
    run: Callable[[gast.stmt], Exits],
) -> Exits:
    """Lower a branch and what follows it, which is written into both sides if that decides."""
    memory, start = lowering.memory, _Start(lowering)
    links = made = len(memory.links)
    try:
        left = run(node)
        made = len(memory.links)
        return go_on(lowering, left, lambda: lowering.run(rest))
    except SharedMemoryError:
        if made == links or not _is_worth_it(lowering, rest):
            raise
        start.come_back()
        lowering.written_twice += 1
    test, body, orelse = _sides(node)
    joined = gast.If(test, [*body, *rest], [*orelse, *rest])
    return run(gast.copy_location(joined, node))


def _sides(node: gast.stmt) -> tuple[gast.expr, list[gast.stmt], list[gast.stmt]]:
    if isinstance(node, gast.If):
        return node.test, node.body, node.orelse
    choice = node.value
    sides = [gast.Assign(node.targets, each, None) for each in (choice.body, choice.orelse)]
    return choice.test, *([gast.copy_location(each, node)] for each in sides)


def _is_worth_it(lowering: Lowering, rest: Sequence[gast.stmt]) -> bool:
    count = sum(isinstance(each, gast.stmt) for node in rest for each in gast.walk(node))
    return count <= LARGEST and lowering.written_twice < MOST


class _Start:
    """How everything was before the branch."""

    def __init__(self, lowering: Lowering):
        self.lowering, self.frame = lowering, lowering.frame
        self.locals, self.known = dict(lowering.frame.locals), lowering.assumptions.known
        self.count, self.depth = len(lowering.builder.body), len(lowering.frames)
        self.moment = lowering.memory.moment()

    def come_back(self) -> None:
        lowering, memory = self.lowering, self.lowering.memory
        memory.bury(self.moment.clock)
        memory.rollback(self.moment)
        del lowering.builder.body[self.count :], lowering.frames[self.depth :]
        self.frame.locals, lowering.assumptions.known = self.locals, self.known


__all__ = ["branch_and_rest"]
