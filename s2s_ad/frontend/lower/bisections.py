"""bisect: where a value belongs in a sorted list."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.calls import HANDLERS, apply, known_object
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.heap import symbols


def _position(function: Callable, side: str) -> Callable:
    def handler(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
        items, value, *bounds = args
        if bounds or kwargs:
            raise UnsupportedError(
                "S2S205", "bisect with bounds or a key", help="bisect the part of the list"
            )
        if not any(True for _ in symbols((items, value))):
            return function(known_object(items), known_object(value))
        found = apply(lowering, np.searchsorted, [items, value], {"side": side})
        return apply(lowering, int, [found], {})

    return handler


HANDLERS[bisect.bisect_left] = _position(bisect.bisect_left, "left")
HANDLERS[bisect.bisect_right] = _position(bisect.bisect_right, "right")
