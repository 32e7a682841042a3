"""Numbers of Python's stay that where NumPy takes them for doubles."""

import numpy as np
import pytest

from s2s_ad import grad, vmap
from transforms.differences import differences

X = np.array([0.4, -1.2, 0.7, 1.5])


def mean_of_elements(x):
    total = 0.0
    for k in range(len(x)):
        total += (np.sin(x[0]) - x[k]) ** 2
    return total / len(x)


def subtracted(x):
    total, y = 0.0, x
    for k in range(len(x)):
        y = np.exp(0.1 * y)
        total -= y[k] - np.log(np.sum(y))
    return total / len(x)


def on_a_side(x):
    total = 0.0
    for k in range(len(x)):
        if x[k] > 0:
            total += x[k] ** 3
    return total / len(x)


PROGRAMS = [mean_of_elements, subtracted, on_a_side]


@pytest.mark.parametrize("f", PROGRAMS)
def test_the_gradient_and_its_precision(f):
    expected = differences(f, X)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-8)
    single = grad(f)(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-4, atol=1e-5)
    batch = np.stack([X, X[::-1]])
    np.testing.assert_allclose(vmap(grad(f))(batch), [grad(f)(each) for each in batch], rtol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS)
def test_nothing_is_converted(f):
    assert "float64" not in grad(f).source(X)


def test_a_number_by_which_a_number_is_divided_is_converted():
    def f(x, s):
        total = np.float64(0.0)
        for k in range(len(x)):
            total = total + x[k] / (s * k)
        return total / s

    with np.errstate(all="ignore"):
        assert np.isinf(grad(f)(X, 2.0)[0])
