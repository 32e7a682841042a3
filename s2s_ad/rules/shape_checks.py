"""Shapes that a library refuses where the NumPy that its function is written as would broadcast.

Lengths of arguments are compared where the function is called. What they leave open the text finds
out when it runs, for lengths that are not 1 broadcast only where they are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import describe
from s2s_ad.core.measure import rank, shape


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
    if a is None or b is None:
        return
    if len(a) != len(b):
        raise ValueError(message)
    for one, other in zip(a, b, strict=True):
        values.check_fit(one, other, message)


def check_square(
    x: Any, function: Callable, raises: type[Exception] = np.linalg.LinAlgError
) -> None:
    """Refuse matrices that are known not to be square.

    Raises:
        LengthError: Python `raises` such an exception.
    """
    found = shape(x) or ()
    if len(found) > 1:
        what = f"{describe(function)} of a matrix that is not square"
        values.check_fit(found[-2], found[-1], what, raises)


def ends(*arrays: Any, axes: slice = slice(-1, None)) -> list[values.Shape | None]:
    """The lengths of the last axes of each array, or of those that `axes` takes."""
    return [None if shape(each) is None else shape(each)[axes] for each in arrays]
