"""Lists of numbers, and of tuples of numbers, that native code is called with."""

import numpy as np
import pytest

from native_code.test_native import loops_alone
from s2s_ad import jit, value_and_grad
from s2s_ad.check import central_differences

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.setenv("S2S_AD_NATIVE", "1")


def picked(x, places):
    return sum(i * x[k] ** 2 for i, k in enumerate(places))


def weighed(x, weights):
    """Items by index, slices, lists that are joined and grow, and an array of all."""
    longer = weights[1:] + [1.0]
    longer.append(weights[0])
    total = 0.0
    for w, v in zip(longer, weights):
        total += np.sin(w * v * x[0])
    return total * np.sum(np.array(weights) * x[1])


def along(x, edges):
    """Tuples as a whole, their items, in turn and backwards."""
    total = 0.0
    for n, (i, j) in enumerate(edges):
        total += n * (x[i] - x[j]) ** 2
    for edge in reversed(edges):
        total = total * x[edge[1]] + len(edges)
    return total


def rated(x, games):
    ratings = x.copy()
    for one, other, score in games:
        change = 0.3 * (score - 1 / (1 + np.exp(ratings[other] - ratings[one])))
        ratings[one] += change
        ratings[other] -= change
    return np.sum(ratings**2)


WEIGHTS = [0.5, 1.5, 2.0, 0.3, 1.0, 0.2]
CASES = {
    "whole numbers": (picked, [0, 2, 3, 1, 1]),
    "numbers": (weighed, WEIGHTS),
    "complex numbers": (lambda x, z: np.abs(sum(a * x[1] + x[0] for a in z)), [1j, 2, 1, 1j, 3j]),
    "pairs": (along, [(0, 1), (1, 2), (3, 2)]),
    "tuples of two kinds": (rated, [(0, 1, 1.0), (1, 2, 0.0), (2, 3, 0.5)]),
    "tuples with bools": (rated, [(0, 1, True), (1, 2, False)]),
}
CASES["complex numbers"][1][:] = map(complex, CASES["complex numbers"][1])
X = np.array([0.3, 0.4, 0.5, 0.6])


@pytest.mark.parametrize("name", CASES)
def test_the_loops_take_a_list(name):
    function, given = CASES[name]
    value, slope = loops_alone(jit(value_and_grad(function)), X, given)
    np.testing.assert_allclose(value, function(X, given), rtol=1e-12)
    (expected,) = central_differences(lambda x: function(x, given), (X,))
    np.testing.assert_allclose(slope, expected, rtol=1e-6)


def test_lists_of_any_length_are_served_by_one_code():
    f = jit(value_and_grad(rated))
    for count in (3, 7, 5):
        games = [(k % 3, (k + 1) % 4, 0.5) for k in range(count)]
        np.testing.assert_allclose(f(X, games)[0], rated(X, games), rtol=1e-12)
    assert len(f._dispatch.by_signature) == 1


@pytest.mark.parametrize(
    "function, given, kind",
    [(picked, [0, 9, 0, 0, 0], IndexError), (picked, [0, 2**70, 0, 0, 0], IndexError)],
)
def test_what_the_loops_cannot_take_raises_as_in_python(function, given, kind):
    f = jit(function)
    f(X, [0] * 5)
    with pytest.raises(kind) as found:
        f(X, given)
    with pytest.raises(kind) as expected:
        function(X, given)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("same", [lambda x, w: (w, x[0]), lambda x, w: (w[:], x[0])])
def test_a_list_that_is_returned_is_a_list(same):
    found = jit(same)(X, WEIGHTS)[0]
    assert type(found) is list
    assert found == WEIGHTS
    assert (found is WEIGHTS) == (same(X, WEIGHTS)[0] is WEIGHTS)
