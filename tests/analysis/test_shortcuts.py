"""What the analysis of memory leaves out changes nothing: it is compared with doing all of it."""

from __future__ import annotations

import numpy as np
import pytest

from programs.test_corpus import CASES, moving, of_moving
from s2s_ad import grad, vmap
from s2s_ad.analysis.memory import Memory
from s2s_ad.core import tree
from s2s_ad.emit.copying import CopyPlan

#: programs in which copies are put before loops, before updates, at views and into lists
PROGRAMS = (
    "containers.overlapping_slices",
    "control.receding_horizon",
    "linear_algebra_by_hand.gauss_seidel",
    "linear_algebra_by_hand.thomas",
    "objects.polynomial_algebra",
    "pde.sor",
)
every_program = pytest.mark.parametrize(
    "name, batched",
    [
        pytest.param(name, batched, marks=pytest.mark.slow if batched or place % 2 else ())
        for place, name in enumerate(PROGRAMS)
        for batched in (False, True)
    ],
)


def text(name, batched):
    """The text of the gradient, or of its batch, compiled anew."""
    function, arguments = grad(of_moving(CASES[name])), moving(CASES[name])
    if not batched:
        return function.source(*arguments)
    twice = tree.from_object(arguments, lambda x, _: np.stack([np.asarray(x)] * 2))
    return vmap(function).source(*tree.to_object(twice))


@every_program
def test_a_copy_said_to_be_needed_is_one_that_cannot_be_dropped(name, batched, monkeypatch):
    said = text(name, batched)
    monkeypatch.setattr(CopyPlan, "_is_needed", lambda plan, edge: False)  # each one is tried
    assert text(name, batched) == said


@every_program
def test_a_statement_not_walked_again_would_have_given_the_same(name, batched, monkeypatch):
    walk, compared = Memory._walk, []

    def checked(memory, program, path, position, held):
        before = memory._growth
        walk(memory, program, path, position, held)
        known = memory._walked.get((path, position))
        if memory._growth == before and known is not None:
            del memory._walked[path, position]
            walk(memory, program, path, position, held)
            assert memory._growth == before
            assert memory._walked[path, position][1] == known[1]
            compared.append(position)

    monkeypatch.setattr(Memory, "_walk", checked)
    text(name, batched)
    assert compared
