"""with: the contexts that are known."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad.frontend.lower.core import Lowering, statement
from s2s_ad.frontend.lower.exits import Exits
from s2s_ad.frontend.resolve import unwrap

QUIET = ("ignore", "warn")
KINDS = ("divide", "over", "under", "invalid")


#: functions that make a context which changes how its body is compiled
CONTEXTS: dict[Any, Callable[[Lowering, gast.With, gast.withitem], Exits]] = {}


@statement(gast.With)
def with_(lowering: Lowering, node: gast.With) -> Exits:
    """`with np.errstate(...)`, `with insert_grad_of(x) as x_bar` Settings that do not raise."""
    made = [_maker(lowering, item) for item in node.items]
    if len(made) == 1 and made[0] in CONTEXTS:
        return CONTEXTS[made[0]](lowering, node, node.items[0])
    settings = dict(lowering.settings)
    for item, function in zip(node.items, made, strict=True):
        if function is not np.errstate:
            raise lowering.refuse(
                node, "'with' of anything but np.errstate", "enter the context around the call"
            )
        with lowering.placed(item.context_expr):
            settings |= _settings(lowering, node, item.context_expr)
    with lowering.under(tuple(settings.items())):
        return lowering.run(node.body)


def _maker(lowering: Lowering, item: gast.withitem) -> Any:
    """The function whose call makes the context."""
    call = item.context_expr
    if not isinstance(call, gast.Call):
        return None
    function = unwrap(lowering.evaluate(call.func))
    return function if isinstance(function, type | types.FunctionType) else None


def _settings(lowering: Lowering, node: gast.With, call: gast.Call) -> dict[str, str]:
    """Warnings of NumPy are no part of what the function computes; exceptions are."""
    settings = {each.arg: unwrap(lowering.evaluate(each.value)) for each in call.keywords}
    if call.args or any(each not in QUIET for each in settings.values()):
        raise lowering.refuse(
            node,
            "np.errstate with anything but 'ignore' or 'warn'",
            "enter the context around the call, or compare with np.isfinite",
        )
    return {each: settings["all"] for each in KINDS if "all" in settings} | {
        name: value for name, value in settings.items() if name != "all"
    }
