"""Reverse mode of random branches and loops in Core, against central differences."""

from __future__ import annotations

import numpy as np
import pytest

from programs.interpreter import interpret
from transforms.region_programs import arguments, random_program
from transforms.test_reverse_regions import differences, gradient_of


def check_gradient(made, derived, given, tolerance):
    """Where a step crosses to the other side of a branch differences of two steps disagree."""
    coarse, fine = (differences(made, given, step) for step in (1e-4, 1e-5))
    pairs = zip(interpret(derived, given), coarse, fine, strict=True)
    for ours, first, second in pairs:
        if np.allclose(first, second, rtol=1e-3, atol=1e-4):
            assert ours == pytest.approx(second, rel=tolerance, abs=tolerance)


@pytest.mark.thinned(8)
@pytest.mark.parametrize("seed", range(60))
def test_gradient_of_a_random_program(seed):
    made, given = random_program(seed), arguments(seed)
    check_gradient(made, gradient_of(made), given, 1e-5)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("seed", range(0, 60, 4))
def test_second_order_of_a_random_program(seed):
    once, given = gradient_of(random_program(seed)), arguments(seed)
    check_gradient(once, gradient_of(once), given, 1e-4)
