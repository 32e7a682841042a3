"""What one pass makes of one function: for docstrings of passes, which are run as tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2s_ad.api.make import jit
from s2s_ad.core.passes import LOWER, Pass, run, watched
from s2s_ad.core.program import Program


def after(step: Pass, function: Callable, *args: Any) -> Program:
    """The program of a function for these arguments, in Core, after one pass and no other.

    Where the function is a transformed one the pass works on the last of its stages.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.simplify.dead import DEAD
        >>> def f(x):
        ...     unused = np.sin(x)
        ...     return np.cos(x)
        >>> print(after(Pass("nothing", lambda program: program), f, 2.0))
        f(x: float):
            unused = np.sin(x)
            t1 = np.cos(x)
            return t1
        >>> print(after(DEAD, f, 2.0))
        f(x: float):
            t1 = np.cos(x)
            return t1
    """
    if hasattr(function, "lower"):
        return run([*function.lower(*args).values()][-1], (step,))
    lowered: list[Program] = []
    with watched(lambda name, _, made: lowered.append(made) if name == LOWER else None):
        jit(function).lower(*args)
    return run(lowered[-1], (step,))
