"""return, break and continue: flags among the frame's locals, joined like any local."""

from __future__ import annotations

import gast

from s2s_ad.frontend.lower.core import Lowering, statement
from s2s_ad.frontend.lower.exits import BREAK, LEAVES, SKIP, Exits, leave
from s2s_ad.frontend.lower.references import settled


@statement(gast.Return)
def returned(lowering: Lowering, node: gast.Return) -> Exits:
    """`return value` Anywhere in the function, also in branches and loops."""
    value = None if node.value is None else lowering.evaluate_any(node.value)
    if len(lowering.frames) == 1:
        settled(value)  # here is where a reader looks for what may not be read
    return leave(lowering.frame.locals, value)


@statement(gast.Break)
def broken(lowering: Lowering, node: gast.Break) -> Exits:
    """`break`"""
    lowering.frame.locals |= {BREAK: True, SKIP: True}
    return LEAVES


@statement(gast.Continue)
def skipped(lowering: Lowering, node: gast.Continue) -> Exits:
    """`continue`"""
    lowering.frame.locals[SKIP] = True
    return LEAVES
