"""Functions of libraries that were replaced by something else: nothing is compiled then.

Rules are written as the NumPy that they mean, so they would call what stands there now.
"""

from __future__ import annotations

import operator
from typing import Any

from s2s_ad.core.homes import PREFIXES
from s2s_ad.core.registry import rule_for
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.core import HANDLERS

#: each module's objects when this library was imported, or when they were first seen
_BEFORE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (text, vars(module), dict(vars(module))) for module, text in PREFIXES.items()
]


def refuse_replaced() -> None:
    """Refuse to compile while one of the functions that rules are about is another.

    Raises:
        UnsupportedError: it says which one.
    """
    for text, now, before in _BEFORE:
        if list(now) == list(before) and all(map(operator.is_, now.values(), before.values())):
            continue
        for name, value in before.items():
            if now.get(name) is not value and _is_known(value):
                raise UnsupportedError(
                    "S2S302",
                    f"{text}.{name} was replaced by something else",
                    why="derivatives are written with the library's own functions",
                    help="put it back, or give your function a name of its own",
                )
        before |= {name: value for name, value in now.items() if name not in before}


def _is_known(value: Any) -> bool:
    """Whether the compiler knows what the function means."""
    try:
        return rule_for(value) is not None or value in HANDLERS
    except TypeError:  # no key of a dict
        return False
