"""What is handed on where there is none: of loops without a pass, of one number for all samples."""

import math

import numpy as np

from s2s_ad import grad, vmap
from s2s_ad.check import central_differences

RATES = tuple(0.01 * 1.1**k for k in range(8))


def survival(rates, start, years):
    p = 1.0
    for k in range(years):
        p *= 1 - rates[start + k]
    return p


def premium(shock, interest):
    rates = tuple([q * (1 + shock) for q in RATES])
    v = 1 / (1 + interest)
    return sum(v ** (k + 1) * survival(rates, 2, k) * rates[2 + k] for k in range(5))


def slope(shock, interest):
    return sum(x**2 for x in grad(premium, (0, 1))(shock, interest))


def test_second_derivatives_of_a_list_made_in_each_pass():
    expected = central_differences(slope, [0.1, 0.03])
    np.testing.assert_allclose(grad(slope, (0, 1))(0.1, 0.03), expected, rtol=1e-6)


def height(o):
    rest = 1.0 - o * o
    if rest < 0.0:
        return None
    return 0.3 - math.sqrt(rest)


def lowest(r, o):
    best = r
    t = height(o)
    if t is not None and t < best:
        best = t
    return math.sqrt(best + 2.0)


def test_one_number_for_all_samples_that_may_be_none():
    batch = np.array([0.1, 0.2, -0.9])
    for o in (3.0, 0.2):
        expected = [lowest(r, o) for r in batch]
        np.testing.assert_allclose(vmap(lowest, (0, None))(batch, o), expected)
        slopes = [grad(lowest)(r, o) for r in batch]
        np.testing.assert_allclose(vmap(grad(lowest), (0, None))(batch, o), slopes)


def halved(y, count):
    for i in range(count):
        y = 0.5 * y
        if i > 1:
            return y
    return y


def added(s, count):
    total = s
    for _ in range(count):
        if count > 1:
            break
        k = 0
        while k < count and count > 0:
            k += 1
            total = total + halved(s, count)
    return total


def test_what_a_call_saves_in_a_while_that_may_have_no_pass():
    for count in (0, 1, 2):
        expected = central_differences(lambda s, count=count: added(s, count), [0.3])
        np.testing.assert_allclose(grad(added)(0.3, count), expected[0], rtol=1e-6)
