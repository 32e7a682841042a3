"""The simulation of many workers computes with the rules that the package has."""

import sys
from pathlib import Path

import pytest

from s2s_ad.parallel import engines, trees

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
import scaling


def test_it_knows_what_the_package_does():
    mine = scaling.FAN_IN, scaling.LARGE, scaling.SMALL_RESULT
    assert mine == (trees.FAN_IN, engines.LARGE, engines.SMALL_RESULT)


def test_a_step_of_few_workers_by_hand():
    of = scaling.Constants(start=1.0, task=0.1, hop=0.5, byte=1e-6, add=1e-7)
    assert scaling.step(1, 1000, 8.0, of) == pytest.approx(1.0 + 0.1 + 8.0 + 0.004)
    # a million: one round down, three tasks, one node that fetches two of 4 MB, and back
    down, tasks, node = 2 * (0.5 + 4.0), 3 * 0.1, 0.1 + 0.5 + 2 * 4.0 + 3 * 0.4
    assert scaling.step(3, 10**6, 6.0, of) == pytest.approx(1.0 + down + tasks + 2.0 + node + 4.0)
