"""What one pass makes of one function: for docstrings of passes, which are run as tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2s_ad.api.make import jit
from s2s_ad.core.passes import LOWER, Pass, run, watched
from s2s_ad.core.program import Program
from s2s_ad.core.regions import map_blocks


def after(step: Pass, function: Callable, *args: Any, derived: bool = False) -> Program:
    """The program of a function for these arguments, in Core, after one pass and no other.

    Args:
        step: the pass.
        function: a function of the user's, or what a transform made of one: its last stage.
        args: example arguments.
        derived: let all of it count as written by reverse mode: most passes leave alone what the
            user wrote.

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
    program = _lowered(function, *args)
    return run(_as_derived(program) if derived else program, (step,))


def _lowered(function: Callable, *args: Any) -> Program:
    """The program before any pass, or the last stage of a transform."""
    if hasattr(function, "lower"):
        return [*function.lower(*args).values()][-1]
    lowered: list[Program] = []
    with watched(lambda name, _, made: lowered.append(made) if name == LOWER else None):
        jit(function).lower(*args)
    return lowered[-1]


def _as_derived(program: Program) -> Program:
    """The program, each statement of which belongs to the backward sweep."""
    program = map_blocks(program, _as_derived)
    return program.with_body([each.at(each.origin, "backward") for each in program.body])
