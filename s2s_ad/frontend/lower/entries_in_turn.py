"""The entries of a dict that may lack some, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.frontend.lower.core import HANDLERS, Lowering
from s2s_ad.frontend.lower.desugar import quote
from s2s_ad.frontend.lower.entries import held, may_lack
from s2s_ad.frontend.lower.optional import MISSING, is_ordered
from s2s_ad.frontend.lower.references import Box, unknown_entries

HERE = gast.Constant(value=None, kind=None)


def in_turn(lowering: Lowering, value: Box, part: Callable[[Any, Any], Any]) -> Any:
    """A list of what `part` gives of each entry that is there, and its key, in their order."""
    if not is_ordered(value.content):
        raise unknown_entries(value.content)
    made = HANDLERS[list](lowering, [], {})
    for key in value.content.keys:
        found = held(lowering, value, key)
        if found is MISSING:
            continue
        flag, item = found.items if may_lack(found) else (False, found)
        places = {"F": form.constant(flag), "L": form.constant(made)}
        places["V"] = form.constant(part(key, lowering.noted(item, found)))
        test = "if not F:\n    L.append(V)" if may_lack(found) else "L.append(V)"
        lowering.run(quote(test, HERE, places))
    return made
