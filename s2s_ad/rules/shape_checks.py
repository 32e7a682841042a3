"""Shapes that a library refuses where the NumPy that its function is written as would broadcast.

What facts leave open, two lengths that are not known, the text finds out when it runs, for lengths
that are not 1 broadcast only where they are equal.
"""

from __future__ import annotations

from typing import Any

from s2s_ad.core import values
from s2s_ad.core.measure import rank, shape
from s2s_ad.rules.support import may_equal


def check_rank(x: Any, ranks: int | tuple[int, ...], message: str) -> None:
    """Refuse an array that is known to have none of these ranks.

    Raises:
        ValueError: as the library says it.
    """
    found = rank(x)
    if found is not None and found not in (ranks if isinstance(ranks, tuple) else (ranks,)):
        raise ValueError(message)


def check_equal(a: values.Shape | None, b: values.Shape | None, message: str) -> None:
    """Refuse shapes, or parts of shapes, that are known to differ.

    Raises:
        ValueError: as the library says it.
    """
    if a is not None and b is not None and not may_equal(a, b):
        raise ValueError(message)


def ends(*arrays: Any, axes: slice = slice(-1, None)) -> list[values.Shape | None]:
    """The lengths of the last axes of each array, or of those that `axes` takes."""
    return [None if shape(each) is None else shape(each)[axes] for each in arrays]
