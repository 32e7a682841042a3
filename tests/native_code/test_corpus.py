"""The corpus in native code: the same values and gradients as by the text for NumPy."""

from __future__ import annotations

import copy
import functools

import numpy as np
import pytest

from native_code.test_native import leaves, loops_alone
from programs.refused import REFUSED
from programs.test_corpus import CASES
from s2s_ad import jit, value_and_grad

pytest.importorskip("numba")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
NAMES = [each for each in CASES if each not in REFUSED]
PARTS = 12
#: what their loops raise the program handles, so that the text for NumPy answers
HANDLED = {"statistics.gaussian_process"}


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.setenv("S2S_AD_NATIVE", "1")


@pytest.mark.parametrize("part", range(PARTS))
def test_gradients_agree(part):
    """Each program that has native code; most of them have."""
    names, served = NAMES[part::PARTS], 0
    for name in names:
        case = CASES[name]
        places = case.wrt if len(case.wrt) > 1 else case.wrt[0]
        plain = value_and_grad(case.function, places)
        compiled = jit(plain)
        if not compiled.text(*copy.deepcopy(case.arguments)).native:
            continue
        served += 1
        expected = plain(*copy.deepcopy(case.arguments))
        call = compiled if name in HANDLED else functools.partial(loops_alone, compiled)
        found = call(*copy.deepcopy(case.arguments))
        for mine, its in zip(leaves(found), leaves(expected), strict=True):
            if isinstance(its, float | np.ndarray | np.generic):
                np.testing.assert_allclose(mine, its, rtol=1e-9, atol=1e-11, err_msg=name)
                assert np.shape(mine) == np.shape(its), name
                assert np.asarray(mine).dtype == np.asarray(its).dtype, name
            else:
                assert mine == its, name
    assert served >= 0.6 * len(names)
