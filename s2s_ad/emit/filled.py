"""Lists that a loop fills: how many items they have, as the text says it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.emit.sugar import called_on, names_of


def is_filled_as_often(before: Sequence[gast.stmt], name: str, count: gast.AST) -> bool:
    """Whether a list has an item for each pass of a loop over `count`, which follows.

    It is made empty, and the only loop that mentions it after that puts something into it in each
    of as many passes.
    """
    slot = place_of(before, name)
    behind: list[Any] = [] if slot is None else [*before[slot + 1 :]]
    fillers = [index for index, each in enumerate(behind) if name in names_of(each)]
    if len(fillers) != 1 or not _appends_always(behind[fillers[0]], name):
        return False
    passes = _passes_of(behind[fillers[0]].iter)
    alike = gast.dump(passes) == gast.dump(_passes_of(count))
    return alike and not _may_change(behind[fillers[0] :], names_of(count))


def place_of(before: Sequence[gast.stmt], name: str) -> int | None:
    """Where `name = []` stands for the last time."""
    for index in range(len(before) - 1, -1, -1):
        if makes_list(before[index]) and getattr(before[index].targets[0], "id", "") == name:
            return index
    return None


def makes_list(statement: gast.stmt) -> bool:
    if not isinstance(statement, gast.Assign) or len(statement.targets) != 1:
        return False
    empty = isinstance(statement.value, gast.List) and not statement.value.elts
    return empty and isinstance(statement.targets[0], gast.Name)


def _appends_always(loop: gast.stmt, name: str) -> bool:
    if not isinstance(loop, gast.For) or name in names_of(loop.iter) | names_of(loop.target):
        return False
    mentions = [each for each in loop.body if name in names_of(each)]
    leaves = (gast.Break, gast.Continue, gast.Return)
    return (
        len(mentions) == 1
        and isinstance(mentions[0], gast.Expr)
        and called_on(mentions[0].value, "append") == name
        and not any(name in names_of(each) for each in mentions[0].value.args)
        and not any(isinstance(each, leaves) for each in gast.walk(loop))
    )


def _passes_of(iterable: gast.AST) -> gast.AST:
    """The range that a loop goes through, or one of the length of what it goes through."""
    called = getattr(getattr(iterable, "func", None), "id", "")
    if called in ("enumerate", "reversed"):
        return _passes_of(iterable.args[0])
    if isinstance(iterable, gast.Call):
        return iterable
    return gast.Call(form.name("range"), [gast.Call(form.name("len"), [iterable], [])], [])


def _may_change(statements: Sequence[gast.stmt], names: set[str]) -> bool:
    """Whether a name is bound, or a list of that name changed in length."""
    for node in (each for statement in statements for each in gast.walk(statement)):
        if isinstance(node, gast.Name) and node.id in names and not isinstance(node.ctx, gast.Load):
            return True
        if any(called_on(node, method) in names for method in ("append", "pop")):
            return True
    return False
