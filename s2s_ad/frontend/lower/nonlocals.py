"""Locals that functions inside assign: `nonlocal`. They are entries of a dict of the frame.

So what a function inside does to them, on one path or in one pass, is joined and carried as what is
done to any object.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import gast

from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.entries import held, put_entry, read_entry
from s2s_ad.frontend.lower.optional import MISSING
from s2s_ad.frontend.resolve import Frame

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


def share(lowering: Lowering, frame: Frame) -> None:
    """Put what functions inside assign into a dict, when the function begins."""
    for name, node in frame.scope.outer.items():
        if owner_of(frame, name) is None:
            raise lowering.refuse(
                node,
                f"'nonlocal {name}' in a function that was made outside",
                "make it in the function that is compiled, or return the new value",
            )
    if frame.scope.shared:
        names = [each for each in frame.locals if each in frame.scope.shared]
        values = tuple(frame.locals.pop(each) for each in names)
        frame.shared = lowering.memory.box(Tree(dict, tuple(names), values))


def owner_of(frame: Frame | None, name: str) -> Frame | None:
    """The frame among whose shared locals a name is; None where it is any other name."""
    while frame is not None and name not in frame.locals:
        if name in frame.scope.shared and frame.shared is not None:
            return frame
        if name in frame.scope.names:
            return None
        frame = frame.parent
    return None


def read_shared(lowering: Lowering, owner: Frame, node: gast.Name) -> Any:
    """The value of a shared local."""
    if held(lowering, owner.shared, node.id) is MISSING:
        what = f"the local name {node.id!r} is read before it is assigned"
        raise UnsupportedError("S2S202", what, origin=lowering.origin(node))
    error = UnboundLocalError(f"the local {node.id!r} is not assigned")
    return read_entry(lowering, owner.shared, node.id, error)


def give_name(lowering: Lowering, target: gast.Name, value: Any) -> None:
    """Let a local have a value."""
    owner = owner_of(lowering.frame, target.id)
    if owner is None:
        lowering.frame.locals[target.id] = value
    else:
        put_entry(lowering, owner.shared, target.id, value)


def refuse_shared(frame: Frame, names: Iterable[str]) -> None:
    """Refuse a comprehension that has a name of its own for a shared local."""
    for name in names:
        if owner_of(frame, name) is not None:
            raise UnsupportedError(
                "S2S201",
                f"a comprehension that binds {name!r}, which a function inside assigns",
                help="give it another name",
            )
