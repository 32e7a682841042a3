"""Native code that is called often is asked for no shape: it says itself what it serves."""

import numpy as np
import pytest

from s2s_ad import grad, jit

pytest.importorskip("numba")
pytestmark = pytest.mark.thinned(2)
R = np.random.default_rng(3)
C = R.standard_normal(4)


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.setenv("S2S_AD_NATIVE", "1")


def product(x, y):
    return np.sum(x * y * y)


def captured(x):
    return np.sum(x * C)


def columns(p):
    return np.sum(p["a"][:, :2] * p["b"]) + p["a"][0, 1]


def rows(x, k):
    return np.sum(x[:k] * x[-k:])


def vectors(*lengths):
    return tuple(R.standard_normal(n) for n in lengths)


def pair(a, b):
    return ({"a": R.standard_normal(a), "b": R.standard_normal(b)},)


#: what is called often, and then what differs from it in lengths alone
CALLS = {
    "lengths that are one": (product, vectors(3, 3), [vectors(1, 3), vectors(5, 5)]),
    "lengths that do not fit": (product, vectors(3, 3), [vectors(4, 3)]),
    "one that is captured": (captured, vectors(4), [vectors(1), vectors(3)]),
    "items": (columns, pair((3, 2), (3, 2)), [pair((3, 4), (1, 2)), pair((1, 3), (4, 1))]),
    "counts": (rows, (*vectors(6), 2), [(*vectors(6), 6), (*vectors(3), 4), (*vectors(1), 2)]),
    "none at all": (product, vectors(3, 3), [vectors(0, 0), vectors(3, 0)]),
    "an array that is not contiguous": (
        product,
        vectors(3, 3),
        [(R.standard_normal(9)[::3], C[:1])],
    ),
}


def assert_like_numpy(fast, function, args):
    try:
        expected = function(*args)
    except ValueError:
        with pytest.raises(ValueError, match=r"broadcast|shapes|lengths"):
            fast(*args)
    else:
        np.testing.assert_allclose(fast(*args), expected, rtol=1e-12)


@pytest.mark.parametrize("name", CALLS)
def test_calls_of_other_lengths_are_served_by_other_code(name):
    function, often, others = CALLS[name]
    fast = jit(function)
    for _ in range(20):
        fast(*often)
    assert ".shape" not in "".join(fast._hot[0].tests)
    for args in [*others, often, *others]:
        assert_like_numpy(fast, function, args)


def test_so_are_calls_that_numba_compiles_nothing_for(monkeypatch):
    """The function for NumPy was written for the lengths that the loops were written for."""
    slope = jit(grad(product))
    x, y = vectors(3, 3)
    for _ in range(20):
        slope(x, y)
    kernel = slope._dispatch.latest().function.__globals__["_s2s_kernel"]
    kernel.disable_compile()
    (z,) = vectors(1)
    np.testing.assert_allclose(slope(x[::-1], z), np.full(3, z[0] ** 2), rtol=1e-12)
    np.testing.assert_allclose(slope(z, y[::-1]), [np.sum(y * y)], rtol=1e-12)
