"""A path that has its results at once returns them: what follows needs no `else`."""

from __future__ import annotations

import copy
from collections import Counter

import gast

from s2s_ad.emit.printer import print_expression
from s2s_ad.emit.provenance import absorb, mark, with_origin

INDENT = 4


def with_early_returns(body: list[gast.stmt], own: set[str], width: int) -> list[gast.stmt]:
    """The body of a function, whose last statement returns, in lines of so many columns.

    Before: `if c: a = b = 0.0, else: ..., return a, b`; after: `if c: return 0.0, 0.0`, and what
    stood behind `else` follows. What the user returns by a name, one of his `own`, stays so.
    """
    *before, last = body
    branch = before[-1] if before else None
    if not isinstance(branch, gast.If) or not branch.orelse:
        return body
    room = width - INDENT - len("return ")
    sides = [_returned(side, last, own, room) for side in (branch.body, branch.orelse)]
    if sides == [None, None]:
        return body
    branch.body, orelse = (
        [made] if made is not None else with_early_returns([*side, _again(last)], own, each)
        for made, side, each in zip(
            sides, (branch.body, branch.orelse), (width - INDENT, width), strict=True
        )
    )
    branch.orelse = []
    return [*before, *orelse]


def _returned(
    block: list[gast.stmt], last: gast.Return, own: set[str], room: int
) -> gast.Return | None:
    """What a block returns that does no more than to name it, if that is a short line."""
    made = _again(last)
    for statement in reversed(block):
        targets = getattr(statement, "targets", ()) if isinstance(statement, gast.Assign) else ()
        if not targets or not all(isinstance(each, gast.Name) for each in targets):
            return None
        names = {each.id for each in targets}
        count = Counter(n.id for n in gast.walk(made.value) if isinstance(n, gast.Name))
        if own & names or any(count[name] != 1 for name in names):
            return None
        made.value = _Values(names, statement.value).visit(made.value)
    if len(print_expression(made.value)) > room:
        return None
    absorb(made, block)
    return made


def _again(last: gast.Return) -> gast.Return:
    made = with_origin(gast.Return(copy.deepcopy(last.value)), None)
    mark(made, last.origins, last.defines)
    return made


class _Values(gast.NodeTransformer):
    """Writes a value for each of some names."""

    def __init__(self, names: set[str], value: gast.AST):
        self.names, self.value = names, value

    def visit_Name(self, node: gast.Name) -> gast.AST:
        return copy.deepcopy(self.value) if node.id in self.names else node
