"""Sums in loops into elements that no pass has added to before: they are stores."""

from __future__ import annotations

from collections.abc import Sequence

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.analysis.elements import Nest
from s2s_ad.core import form
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Loop, everywhere, map_blocks, region_of
from s2s_ad.simplify.own_zeros import makes_zeros
from s2s_ad.simplify.sums import as_store, can_be_store


def set_first_sums(program: Program) -> Program:
    """What each pass adds to elements of its own is stored, where a loop begins with zeros.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.check.passes import after
        >>> def f(x):
        ...     y = np.zeros(9)
        ...     for i in range(4):
        ...         y[i] += x
        ...         y[8] += x
        ...     return y
        >>> print(after(SET_FIRST_SUMS, f, 1.0, derived=True))
        f(x: float):
            y = np.zeros(shape=9)
            y.5 = for i in range(4) with y.2 = y:
                y.3 = index_set(y.2, x, index=i)
                y.4 = index_add(y.3, x, index=8)
                next y.4
            return y.5
    """
    loops = [each for each in program.body if isinstance(region_of(each), Loop)]
    first = first_into_zeros(program, [each for each in loops if each.phase == "backward"])
    return _stored(program, first) if first else program


def first_into_zeros(program: Program, loops: Sequence[form.Statement]) -> set[str]:
    """The updates in loops that are of elements of zeros which these begin with, as they stand."""
    if not loops:
        return set()
    counts = liveness.counts(program.body, program.outputs())
    zeros = {
        each.target
        for each in program.body
        if isinstance(each, form.Op) and makes_zeros(each) and counts[each.target] == 1
    }
    first: set[str] = set()
    for statement in loops:
        loop = region_of(statement)
        if isinstance(statement, form.Op) and isinstance(loop, Loop):
            begun = [getattr(each, "id", "") for each in loop.parts(statement.operands).carried]
            indices = {index for index, name in enumerate(begun) if name in zeros}
            updates = Nest.outermost(statement, program).first_updates() if indices else ()
            first.update(name for index, name in updates if index in indices)
    return first


def _stored(program: Program, first: set[str]) -> Program:
    """The program with stores for those of these updates that are sums, in all its blocks."""
    program = map_blocks(program, lambda block: _stored(block, first))
    if first.isdisjoint(each.target for each in program.body):
        return program
    return program.with_body(
        [
            as_store(each, each.operands[0])
            if each.target in first
            and each.function is runtime.index_add
            and can_be_store(program, each)
            else each
            for each in program.body
        ]
    )


SET_FIRST_SUMS = Pass("set-first-sums", everywhere(set_first_sums))
