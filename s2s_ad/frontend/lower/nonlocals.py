"""Locals that functions inside assign, `nonlocal`: entries of a dict of the frame.

So what a function inside does to them, on one path or in one pass, is joined and carried as what is
done to any object. So are the names of a module that functions assign (`global`): see `outside`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import gast

from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.entries import held, put_entry, read_entry
from s2s_ad.frontend.lower.optional import MISSING
from s2s_ad.frontend.lower.outside import hold
from s2s_ad.frontend.resolve import Comprehension, Frame
from s2s_ad.frontend.scopes import bound_names, scope_of

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


def share(lowering: Lowering, frame: Frame) -> None:
    """Put what functions inside assign into a dict, when the function begins."""
    frame.outside = lowering.outside
    for name, node in frame.scope.module.items():
        hold(lowering, frame, name, node)
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


def owner_of(frame: Frame | None, name: str) -> Any:
    """The frame among whose shared locals a name is, or the `Outside` that it is; None where it is
    any other name."""
    while frame is not None and name not in frame.locals:
        if name in frame.scope.module or (frame.parent is None and name not in frame.cells):
            is_local = name in frame.scope.names or name in frame.scope.shared
            if name in frame.scope.module or not is_local:
                return frame.outside.get((id(frame.globals), name))
        if name in frame.scope.shared and frame.shared is not None:
            return frame
        if name in frame.scope.names:
            return None
        frame = frame.parent
    return None


def read_shared(lowering: Lowering, owner: Any, node: gast.Name) -> Any:
    """The value of a shared local."""
    if held(lowering, owner.shared, node.id) is MISSING and not lowering.memory.explores:
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


# ---- names that functions inside read ------------------------------------------------------------


def names_read(function: gast.FunctionDef | gast.Lambda) -> set[str]:
    """The names that a function reads of the functions around it, or of the module."""
    names = {each.id for each in gast.walk(function) if isinstance(each, gast.Name)}
    return names - scope_of(function).names


def value_around(around: Frame | None, name: str) -> Any:
    """What a name stands for in the functions around; None where none of them has it."""
    while around is not None and name not in around.locals:
        around = around.parent
    return None if around is None else around.locals[name]


def may_be_bound_again(around: Frame, name: str) -> bool:
    """Whether a name that a function inside reads may be another value at its next call."""
    if owner_of(around, name) is not None or isinstance(around, Comprehension):
        return True
    frame: Frame | None = around
    while frame is not None:
        if name in frame.scope.names:
            return _is_bound_again(frame, name)
        frame = frame.parent
    return False


def _is_bound_again(around: Frame, name: str) -> bool:
    """Whether the function binds a local more than once, or in a loop."""
    function = around.source.node
    loops = [each for each in gast.walk(function) if isinstance(each, gast.For | gast.While)]
    in_loops = any(name in names for names in bound_names(loops))
    stores = [each for each in gast.walk(function) if _binds(each, name)]
    return in_loops or len(stores) > 1


def _binds(node: gast.AST, name: str) -> bool:
    if isinstance(node, gast.FunctionDef):
        return node.name == name
    return isinstance(node, gast.Name) and node.id == name and not isinstance(node.ctx, gast.Load)
