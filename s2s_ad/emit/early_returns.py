"""A path that has its results at once returns them: what follows needs no `else`."""

from __future__ import annotations

import gast

from s2s_ad.core import form
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
    if not isinstance(last, gast.Return) or not isinstance(branch, gast.If) or not branch.orelse:
        return body
    room = width - INDENT - len("return ")
    then = _returned(branch.body, last, own, room)
    orelse = _returned(branch.orelse, last, own, room)
    if then is None and orelse is None:
        return body
    inner, outer = [*branch.body, _again(last)], [*branch.orelse, _again(last)]
    branch.body = with_early_returns(inner, own, width - INDENT) if then is None else [then]
    branch.orelse = []
    return [*before, *(with_early_returns(outer, own, width) if orelse is None else [orelse])]


def _returned(
    block: list[gast.stmt], last: gast.Return, own: set[str], room: int
) -> gast.Return | None:
    """What a block returns that does no more than to name it, if that is a short line."""
    made = _again(last)
    computed: list[str] = []
    for statement in reversed(block):
        if not isinstance(statement, gast.Assign) or statement.value is None:
            return None
        names = [each.id for each in statement.targets if isinstance(each, gast.Name)]
        reads = form.reads(made.value)
        if len(names) < len(statement.targets) or own.intersection(names):
            return None
        if any(reads.count(name) != 1 for name in names):
            return None
        computed = [*([] if _is_still(statement.value) else names), *computed]
        value: gast.AST = statement.value
        made.value = form.substitute(made.value, dict.fromkeys(names, value))
    in_order = [each for each in form.reads(last.value) if each in computed]
    if in_order != computed and any(isinstance(each, gast.Call) for each in gast.walk(made.value)):
        return None  # it may draw a number, or take it off a list
    if len(print_expression(made.value)) > room:
        return None
    absorb(made, block)
    return made


def _is_still(value: gast.AST) -> bool:
    """Whether a value is the same whatever else is computed before."""
    plain = gast.Name | gast.Constant | gast.UnaryOp | gast.unaryop | gast.expr_context
    return all(isinstance(each, plain) for each in gast.walk(value))


def _again(last: gast.Return) -> gast.Return:
    made = with_origin(gast.Return(last.value), None)
    mark(made, last.origins, last.defines)
    return made
