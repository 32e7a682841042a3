"""Lines that are part of another: an item off a list, a value that several elements become."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import gast

from s2s_ad.emit.provenance import BLOCKS, absorb
from s2s_ad.emit.sugar import called_on, names_of

#: what evaluates its parts once, and all of them: other expressions may leave a part out
WHOLE = (
    gast.BinOp,
    gast.UnaryOp,
    gast.Compare,
    gast.Call,
    gast.Subscript,
    gast.Slice,
    gast.Tuple,
    gast.List,
    gast.keyword,
)
SIMPLE = (gast.Assign, gast.AugAssign, gast.Expr, gast.Return)


def without_lines_between(body: list[gast.stmt]) -> list[gast.stmt]:
    """The statements of a function, fewer where one is part of another.

    Before: `x = xs.pop(); y_bar += x`; after: `y_bar += xs.pop()`; so is what an `if` asks for.
    Before: `x = 2 * y; a[i] = x; b[j] = x`; after: `a[i] = b[j] = 2 * y`.
    """
    names = [each for part in body for each in gast.walk(part) if isinstance(each, gast.Name)]
    reads = Counter(each.id for each in names if isinstance(each.ctx, gast.Load))
    bound = Counter(each.id for each in names if not isinstance(each.ctx, gast.Load))
    return _block(body, {name: reads[name] for name, count in bound.items() if count == 1})


def _block(body: list[gast.stmt], reads: dict[str, int]) -> list[gast.stmt]:
    """The statements of a block; `reads` says how often what is bound in one place is read."""
    found: list[gast.stmt] = []
    for statement in reversed(body):
        for name in BLOCKS:
            inner = getattr(statement, name, None)
            if isinstance(inner, list) and inner:
                setattr(statement, name, _block(inner, reads))
        name = _named(statement)
        if name in reads and _is_put_into(statement, name, reads[name], found):
            continue
        found.insert(0, statement)
    return found


def _named(statement: gast.stmt) -> str:
    """The name that the statement gives to a value, where that is no name of the user's."""
    if not isinstance(statement, gast.Assign) or getattr(statement, "of_user", False):
        return ""
    return getattr(statement.targets[0], "id", "") if len(statement.targets) == 1 else ""


def _is_put_into(statement: Any, name: str, reads: int, behind: list[gast.stmt]) -> bool:
    """Whether the value is now part of what stands behind, so that the statement may go."""
    if reads == 1 and (source := called_on(statement.value, "pop")):
        return not statement.value.args and _is_taken_later(statement, name, source, behind)
    return reads > 1 and _is_stored(statement, name, reads, behind)


# ---- items taken off a list ----------------------------------------------------------------------


def _is_taken_later(
    statement: gast.Assign, name: str, source: str, behind: Sequence[gast.stmt]
) -> bool:
    """Take an item off its list where it is read, unless the list is looked at before that."""
    for each in behind:
        if isinstance(each, gast.If) and name in names_of(each.test):
            return _is_asked(statement, name, source, each)
        mentioned = names_of(each)
        if isinstance(each, SIMPLE) and name in mentioned and source not in mentioned:
            if not _substitute(each, name, statement.value):
                return False
            absorb(each, [statement])
            return True
        if not isinstance(each, SIMPLE) or {name, source} & mentioned:
            return False
    return False


def _is_asked(statement: gast.Assign, name: str, source: str, branch: gast.If) -> bool:
    """Take an item off its list where a branch asks for it: `if conditions.pop():`."""
    asked = gast.Expr(branch.test)
    if source in names_of(branch.test) or not _substitute(asked, name, statement.value):
        return False
    branch.test = asked.value
    absorb(branch, [statement])
    return True


def _substitute(node: gast.AST, name: str, value: gast.AST) -> bool:
    """Write a value for a name where it is read as a whole, once; whether that was found."""
    for field, child in gast.iter_fields(node):
        for index, each in enumerate(child) if isinstance(child, list) else [(None, child)]:
            if isinstance(each, gast.Name) and each.id == name:
                if not isinstance(each.ctx, gast.Load):
                    return False
                if index is None:
                    setattr(node, field, value)
                else:
                    child[index] = value
                return True
            if isinstance(each, WHOLE) and _substitute(each, name, value):
                return True
    return False


# ---- values that are stored several times --------------------------------------------------------


def _is_stored(statement: gast.Assign, name: str, reads: int, behind: list[gast.stmt]) -> bool:
    """Write `a[i] = b[j] = value` where the next statements store the value, and nobody else."""
    stores = behind[:reads]
    if len(stores) < reads or not all(_is_store_of(each, name) for each in stores):
        return False
    first, *rest = stores
    first.targets = [target for each in stores for target in each.targets]
    first.value = statement.value
    absorb(first, [statement, *rest])
    del behind[1:reads]
    return True


def _is_store_of(statement: Any, name: str) -> bool:
    if not isinstance(statement, gast.Assign) or getattr(statement.value, "id", "") != name:
        return False
    return all(
        isinstance(each, gast.Subscript) and name not in names_of(each)
        for each in statement.targets
    )


__all__ = ["without_lines_between"]
