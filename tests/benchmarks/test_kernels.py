"""Adjoints of the kernels by hand are right, ours agree with them, and a row can be made."""

import copy
import pathlib
import sys

import numpy as np
import pytest

from s2s_ad.check import central_differences

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
import kernels

pytestmark = pytest.mark.thinned(2)


def _small(kernel):
    return kernels.make_case(kernel, large=False)


def _gradients(case, fn):
    result = fn(*copy.deepcopy(case.args))
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("kernel", kernels.ARGUMENTS, ids=lambda kernel: kernel.__name__)
def test_the_adjoint_by_hand_is_the_slope_and_ours_agrees(kernel):
    case = _small(kernel)

    def value(*counting):
        args = list(copy.deepcopy(case.args))
        for position, arg in zip(case.counting, counting):
            args[position] = arg.copy()
        return case.kernel(*args)

    slopes = central_differences(value, [case.args[position] for position in case.counting])
    by_hand = _gradients(case, case.by_hand)
    for ours, theirs, slope in zip(_gradients(case, case.ours), by_hand, slopes, strict=True):
        np.testing.assert_allclose(theirs, slope, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


def test_statements_of_a_text_and_of_what_it_calls():
    assert (
        kernels.statements('def f(x):\n    """Doc."""\n    if x:\n        y = 1\n    return y\n')
        == 3
    )
    assert kernels.source_by_hand(kernels.kernel_adjoints.lu).startswith("def _factors(A)")


def test_the_peak_is_that_of_what_is_alive_at_once():
    one = kernels.peak(lambda n: np.ones(n) + 1.0, (10_000,))
    assert 160_000 <= one < 200_000


def test_a_case_is_measured():
    case = _small(next(iter(kernels.ARGUMENTS)))
    pairs = kernels.measured(case, rounds=2, at_least=1e-5)
    assert set(pairs) == set(kernels.GOALS)
    assert all(ours > 0 < theirs for ours, theirs in pairs.values())
