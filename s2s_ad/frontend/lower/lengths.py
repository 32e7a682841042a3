"""What is raised where it has to be known how many items a value has."""

from __future__ import annotations

from typing import Any

from s2s_ad.core.builder import NeedStatic
from s2s_ad.diagnostics import S2SError
from s2s_ad.frontend.lower.references import symbols

PURPOSE = "the number of items"


class OfOpenList(str):
    """Why nobody may write to what a list holds whose length is not known: it is no object yet."""

    __slots__ = ()


def items_needed(value: Any, error: S2SError) -> Exception:
    """Asks for what the number of items depends on; the error where it cannot be known.

    Lengths of arguments then count by value, and loops that made the items are written out.
    """
    first = next(symbols(value), None)
    return error if first is None else NeedStatic(first.name, PURPOSE, error)
