"""Native code with Numba's check of each index, and a witness to what it raises."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

#: of the text for NumPy of a whole function, or of a part of it
FALLBACK = re.compile(r"_s2s_numpy_\w+")
OUT_OF_BOUNDS = "out of bounds"


@contextlib.contextmanager
def bounds_checked() -> Iterator[None]:
    """What is compiled meanwhile raises where an index is out of bounds, proved or not."""
    from numba import config

    before, config.BOUNDSCHECK = config.BOUNDSCHECK, 1
    try:
        yield
    finally:
        config.BOUNDSCHECK = before


def watched(function: Callable, *args: Any) -> tuple[Any, list[Exception]]:
    """The result of a function of `jit`, and what its loops raised: NumPy answered these calls."""
    loaded = function.specialised(args, {})
    space, raised = loaded.namespace, []

    def noted(answer: Callable) -> Callable:
        def called(*given: Any, **others: Any) -> Any:
            error = sys.exception()
            if error is not None and error not in raised:
                raised.append(error)
            return answer(*given, **others)

        return called

    answers = {k: e for k, e in space.items() if k == loaded.text.name or FALLBACK.fullmatch(k)}
    space.update({name: noted(each) for name, each in answers.items()})
    try:
        return loaded.function(*args), raised
    finally:
        space.update(answers)


def is_out_of_bounds(error: Exception) -> bool:
    """Whether Numba's check raised it; what loop text raises by itself says nothing."""
    return isinstance(error, IndexError) and OUT_OF_BOUNDS in str(error)
