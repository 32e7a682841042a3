"""Functions inside of functions keep their name, too: what they read around them is given to them.

`rhs` in `def f(theta): def rhs(y): ...` is lowered as if it were `def rhs(y, theta)`, and called as
`rhs(y, theta)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from s2s_ad.frontend.resolve import Frame
from s2s_ad.frontend.scopes import scope_of


def free_values(frame: Frame) -> dict[str, Any] | None:
    """The values around it that a function reads, or one that it may call.

    None where it cannot be given them: it assigns them, not all are there, or two have one name.
    """
    found: dict[str, Any] = {}
    own = {*_read_in(frame.source.node), *frame.scope.names}
    waiting, seen = [frame], set()
    while waiting:
        each = waiting.pop()
        if each.owner in seen:
            continue
        seen.add(each.owner)
        if each.scope.outer or each.scope.module or each.scope.refused is not None:
            return None
        around = _values_around(each)
        if around is None:
            return None
        for name, value in around.items():
            hidden = each is not frame and name in own  # there the name means something else
            if (name in found or hidden) and found.get(name, frame) is not value:
                return None
            found[name] = value
            if hasattr(value, "new_frame"):
                waiting.append(value.new_frame())
    return found


def _values_around(frame: Frame) -> dict[str, Any] | None:
    """The locals of functions around a function that it reads; None where one is not there, or
    is shared with a function that assigns it."""
    found = {}
    for name in _read_in(frame.source.node):
        holder = _holder(frame.parent, name)
        if holder is None:
            continue
        if name not in holder.locals or name in holder.scope.shared:
            return None
        found[name] = holder.locals[name]
    return found


def _holder(frame: Frame | None, name: str) -> Frame | None:
    """The function around in which a name is a local."""
    while frame is not None and name not in frame.locals and name not in frame.scope.names:
        frame = frame.parent
    return frame


def _read_in(function: gast.AST) -> Iterator[str]:
    """The names that are read in a function, or in one inside it, and are not its own."""
    names = scope_of(function).names
    body = [function.body] if isinstance(function, gast.Lambda) else function.body
    for node in (each for statement in body for each in gast.walk(statement)):
        if isinstance(node, gast.Name) and node.id not in names:
            yield node.id
