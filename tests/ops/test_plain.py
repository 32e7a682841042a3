"""Functions of `ops` that have no derivative worth a test: what they give, eager and compiled."""

import numpy as np
import pytest

from s2s_ad import jit, ops, vmap

X = np.array([[3.0, -1.0, 0.0], [2.0, 2.0, -5.0]])
Y = np.array([[3.0, 1.0, -1.0], [0.0, 2.0, 4.0]])
SPECIAL = np.array([1.0, np.nan, np.inf, -np.inf])
N, K = np.array([12, 10, 7]), np.array([10, 3, 1])
Z = np.array([1 + 1j, -2j])

CALLS = {
    "equal": (lambda: ops.equal(X, Y), [[True, False, False], [False, True, False]]),
    "not_equal": (lambda: ops.ne(X, Y), [[False, True, True], [True, False, True]]),
    "greater": (lambda: ops.gt(X, Y), [[False, False, True], [True, False, False]]),
    "greater_equal": (lambda: ops.ge(X, Y), [[True, False, True], [True, True, False]]),
    "less": (lambda: ops.lt(X, Y), [[False, True, False], [False, False, True]]),
    "less_equal": (lambda: ops.le(X, Y), [[True, True, False], [False, True, True]]),
    "isclose": (lambda: ops.isclose(X, X + 1e-9), [[True] * 3] * 2),
    "isfinite": (lambda: ops.isfinite(SPECIAL), [True, False, False, False]),
    "isinf": (lambda: ops.isinf(SPECIAL), [False, False, True, True]),
    "isnan": (lambda: ops.isnan(SPECIAL), [False, True, False, False]),
    "logical_and": (
        lambda: ops.logical_and(X > 0, Y > 0),
        [[True, False, False], [False, True, False]],
    ),
    "logical_or": (lambda: ops.logical_or(X > 0, Y > 0), [[True, True, False], [True, True, True]]),
    "logical_xor": (
        lambda: ops.logical_xor(X > 0, Y > 0),
        [[False, True, False], [True, False, True]],
    ),
    "logical_not": (lambda: ops.logical_not(X > 0), [[False, True, True], [False, False, True]]),
    "bitwise_and": (lambda: ops.bitwise_and(N, K), [8, 2, 1]),
    "bitwise_or": (lambda: ops.bitwise_or(N, K), [14, 11, 7]),
    "bitwise_xor": (lambda: ops.bitwise_xor(N, K), [6, 9, 6]),
    "all": (lambda: ops.all(X > -2, 1), [True, False]),
    "any": (lambda: ops.any(X > 2, 1, True), [[True], [False]]),
    "count_nonzero": (lambda: ops.count_nonzero(X, 1), [2, 3]),
    "argmax": (lambda: ops.argmax(X, 0, True), [[0, 1, 0]]),
    "argmin": (lambda: ops.argmin(X, 1), [1, 2]),
    "argmin all": (lambda: ops.argmin(X), 5),
    "max places": (lambda: ops.max(X, 1)[1], [0, 0]),
    "searchsorted": (lambda: ops.searchsorted(np.array([1, 3, 5]), np.array([3, 6])), [1, 3]),
    "real": (lambda: ops.real(Z), [1.0, 0.0]),
    "imag": (lambda: ops.imag(Z), [1.0, -2.0]),
    "conj": (lambda: ops.conj(Z), [1 - 1j, 2j]),
    "angle": (lambda: ops.angle(Z), [np.pi / 4, -np.pi / 2]),
    "column_stack": (lambda: ops.column_stack((N, K)), [[12, 10], [10, 3], [7, 1]]),
    "dstack": (lambda: ops.dstack((N, K)), [[[12, 10], [10, 3], [7, 1]]]),
    "meshgrid": (lambda: ops.meshgrid(N, K)[1], [[10] * 3, [3] * 3, [1] * 3]),
    "logspace": (lambda: ops.logspace(0, 2, 3), [1.0, 10.0, 100.0]),
    "zeros_like": (lambda: ops.zeros_like(X), [[0.0] * 3] * 2),
    "shape": (lambda: ops.shape(X), (2, 3)),
    "rank": (lambda: ops.rank(X), 2),
    "numel": (lambda: ops.numel(X), 6),
    "scalar_to_tensor": (lambda: ops.scalar_to_tensor(2), 2.0),
}

#: the shape of these depends on the numbers
EAGER = {
    "masked_select": (lambda: ops.masked_select(X, X > 1), [3.0, 2.0, 2.0]),
    "nonzero": (lambda: ops.nonzero(X > 1), [[0, 0], [1, 0], [1, 1]]),
    "nonzero tuple": (lambda: ops.nonzero(X > 1, as_tuple=True), [[0, 1, 1], [0, 0, 1]]),
}

DRAWS = {
    "standard_normal": (lambda: ops.standard_normal((40, 50)), 0, 1),
    "normal": (lambda: ops.normal((40, 50), 3.0, 2.0), 3, 2),
    "uniform": (lambda: ops.uniform((40, 50), 1.0, 3.0), 2, 2 / np.sqrt(12)),
    "rand": (lambda: ops.rand(40, 50), 0.5, 1 / np.sqrt(12)),
    "rand_like": (lambda: ops.rand_like(np.zeros((40, 50))), 0.5, 1 / np.sqrt(12)),
    "randn_like": (lambda: ops.randn_like(np.zeros((40, 50))), 0, 1),
    "bernoulli": (lambda: ops.bernoulli(np.zeros((40, 50)), 0.2), 0.2, 0.4),
    "randint": (lambda: ops.randint(0, 3, (40, 50)), 1, np.sqrt(2 / 3)),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_it_gives_eager_and_compiled(name):
    call, expected = CALLS[name]
    for found in (call(), jit(call)()):
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-12)


@pytest.mark.parametrize("name", EAGER)
def test_what_has_a_shape_that_the_numbers_say(name):
    call, expected = EAGER[name]
    np.testing.assert_array_equal(np.asarray(call()), expected)


@pytest.mark.parametrize("name", DRAWS)
def test_draws_have_their_mean_and_spread(name):
    call, mean, spread = DRAWS[name]
    ops.set_seed(0)
    for numbers in (call(), jit(call)()):
        assert numbers.shape == (40, 50)
        assert np.asarray(numbers).mean() == pytest.approx(mean, abs=6 * spread / np.sqrt(2000))
        assert np.asarray(numbers).std() == pytest.approx(spread, rel=0.1)


def test_a_permutation_has_each_number_once():
    for numbers in (ops.randperm(20), jit(lambda: ops.randperm(20))()):
        assert sorted(numbers.tolist()) == list(range(20))


def test_samples_of_different_numbers_of_elements_are_refused():
    with pytest.raises(Exception, match="nonzero"):
        vmap(lambda x: ops.nonzero(x))(X)


def test_special_functions_say_which_extra_they_need(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "s2s_ad.ops.special", None)
    with pytest.raises(ops.S2SError, match=r"ops.erf needs SciPy"):
        ops.erf(X)
