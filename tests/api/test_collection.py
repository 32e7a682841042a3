"""The garbage collector while code is derived, and after."""

from __future__ import annotations

import gc

import pytest

from s2s_ad import grad
from s2s_ad.api.collection import PATIENCE, patient


@pytest.fixture
def threshold():
    before = gc.get_threshold()
    yield gc.set_threshold
    gc.set_threshold(*before)


@pytest.mark.parametrize(
    "own, inside", [(700, PATIENCE), (2 * PATIENCE, 2 * PATIENCE), (0, 0)], ids=str
)
def test_it_runs_seldom_inside_and_as_before_outside(threshold, own, inside):
    threshold(own, 7, 5)
    with patient():
        assert gc.get_threshold()[0] == inside
        with patient():
            assert gc.get_threshold()[0] == inside
        assert gc.get_threshold()[0] == inside
    assert gc.get_threshold()[:2] == (own, 7)


def refused(x):
    return x.no_such_thing


def test_what_is_refused_leaves_no_trace(threshold):
    threshold(700, 7, 5)
    with pytest.raises(Exception, match="no_such_thing"):
        grad(refused)(2.0)
    assert gc.get_threshold()[:2] == (700, 7)
