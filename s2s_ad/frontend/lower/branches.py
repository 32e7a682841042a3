"""if: decided now where the condition is known, else a branch."""

from __future__ import annotations

import gast

from s2s_ad.diagnostics import NoDerivative, UnsupportedError
from s2s_ad.frontend.lower import effects
from s2s_ad.frontend.lower.conditions import condition
from s2s_ad.frontend.lower.core import Lowering, statement
from s2s_ad.frontend.lower.exits import CONTINUE, Exits
from s2s_ad.frontend.lower.meeting import branch


@statement(gast.If)
def if_(lowering: Lowering, node: gast.If) -> Exits:
    """`if condition:` A branch; one that only prints, asserts or raises is kept as it stands."""
    try:
        test = condition(lowering, node.test)
    except (NoDerivative, UnsupportedError):
        if effects.keep_statement(lowering, node):
            return CONTINUE
        raise
    if isinstance(test, bool):
        return lowering.run(node.body if test else node.orelse)
    if effects.keep_statement(lowering, node):
        if any(isinstance(each, gast.Raise) for each in node.body):
            lowering.assumptions.assume(test, False)
        return CONTINUE
    sides = [lambda each=each: lowering.run(each) for each in (node.body, node.orelse)]
    return branch(lowering, test, *sides)
