"""np.polynomial.Polynomial made inside a function: NumPy's values, gradients by differences."""

import numpy as np
import pytest

from frontend.every_mode import assert_batched, assert_both_modes
from s2s_ad import S2SError, grad

P = np.polynomial.Polynomial
X = np.array([0.5, -1.2, 0.8, 1.9])


def of_constants(x):
    p = P([1.0, 2.0, 0.5])
    return p(x[0]) + p.deriv()(x[1]) + p.integ()(x[2]) + p.degree() * x[3] + len(p)


def operators(x):
    p = P(coef=x[:3])
    q = p * P([1, 2]) + 3.0 - p**2
    return q(x[3]) + (2 * p)(x[1]) + (1 - p)(x[0]) + (p / 2.0)(x[1]) + (-p + [1.0, 2.0])(x[2])


def with_a_domain(x):
    p = P(x[:3], domain=[0, 4], window=[-1, 1])
    return np.sum(p(x)) + p.deriv(2)(x[0]) + np.sum(p.coef) + sum(p.mapparms()) + sum(p.domain)


def higher(x):
    p = P(x)
    return p.deriv(m=2)(x[0]) + p.integ(2, k=[1.0, 2.0])(x[1]) + np.sum([c * c for c in p.copy()])


@pytest.mark.thinned(2)
@pytest.mark.parametrize("function", [of_constants, operators, with_a_domain, higher])
def test_in_all_modes(function):
    assert_both_modes(function, (X,))
    assert_batched(function, (X,))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (P(x, domain=[0, 1]) + P(x))(x[0]),
        lambda x: P(x, domain=[0, 1]).integ()(x[0]),
        lambda x: x[0] * (P(x) == P(x)),
    ],
)
def test_what_is_not_written_is_refused(function):
    with pytest.raises(S2SError):
        grad(function)(X)
