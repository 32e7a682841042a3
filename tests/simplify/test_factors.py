"""Products in derivatives: known numbers are one, numbers come before arrays, values stay right."""

import math

import numpy as np
import pytest

from frontend.loading import load
from s2s_ad import grad, jvp
from s2s_ad.check import check

X, A = np.array([0.3, -0.7, 1.9]), np.array([1.1, 0.6, 2.3])


def norm(x):
    return np.linalg.norm(x)


def root(x, c):
    return c * np.sqrt(x @ x + 1.0)


def roots(x):
    return 3.0 * np.sum(np.sqrt(x * x + 1.0))


def logs(x, a):
    return np.sum(np.log(x**2 + a**2)) / 2


def down(x, c):
    return -c * 0.25 * np.sqrt(2 * np.sum(x * x) + c)


def twice(x):
    """The norm's derivative is read by two factors."""
    n = np.sqrt(np.sum(x**2))
    return n * np.sum(2 * x) + np.sin(n)


def whole(x, n):
    return np.sum(np.sqrt(n + x * x)) * n * 2


def below_numbers(x, c):
    return np.log(2 * c) * 2 + np.sum(x) * 0.5 / c


def mean_error(x, a):
    """The error is the negative of the mean."""
    return np.mean((a - x) ** 2)


def distances(x, a):
    points = np.stack([x, a], axis=1)
    difference = points[:, None] - points[None]
    return np.sum(np.sqrt(np.sum(difference**2, axis=2) + 1.0))


def weighted_squares(x, a):
    return np.sum(a[:, None] * np.sin(np.outer(x, a)) ** 2)


def layer(x, a):
    """The gain is a factor of what is divided, and the mean is taken off."""
    rows = np.outer(x, a) + np.outer(a, np.sin(x))
    centred = rows - np.mean(rows, axis=1, keepdims=True)
    std = np.sqrt(np.mean(centred**2, axis=1, keepdims=True) + 0.1)
    return np.sum((a * centred / std) ** 3)


def multiples(x, c):
    """What c * x is divided by, or taken the logarithm of."""
    s = np.sum(x**2)
    return np.log(c * s) + np.sum(np.sqrt(c)) / (2 * s)


def scaled_logistic(x, c):
    return np.sum(c * x / (1 + np.exp(-5 * x)))


def ones(x, c):
    return np.sum((np.sum(x) * np.ones(4)) ** 2) * c


PROGRAMS = {
    "norm": (norm, (X,), "x / np.sqrt(np.sum(x**2))"),
    "number above": (root, (X, 1.7), "c / np.sqrt(x @ x + 1.0) * x"),
    "array below": (roots, (X,), "3.0 * x / np.sqrt(x * x + 1.0)"),
    "logarithm": (logs, (X, A), "x / (x**2 + a**2)"),
    "sign": (down, (X, 1.3), "2.0 * (-c * 0.25) / np.sqrt("),
    "read twice": (twice, (X,), "(0.5 / n)"),
    "whole numbers": (whole, (X, 3), "2.0 * n * x / np.sqrt(n + x * x)"),
    "length": (mean_error, (X, A), "-2 / len(x) * (a - x)"),
    "view of a product": (distances, (X, A), "= (1 / np.sqrt("),
    "smaller first": (weighted_squares, (X, A), "2 * a[:, None] * "),
    "smaller below": (layer, (X, A), "        / std\n        * centred\n"),
    "multiples": (multiples, (X, 1.7), "np.sum(np.sqrt(c)) / (2 * s) / s"),
    "ones": (ones, (X, 1.7), "np.sum("),
    "no arrays": (below_numbers, (X, 1.7), "np.full_like(x, 0.5 / c)"),
}


@pytest.mark.parametrize("f, args, text", PROGRAMS.values(), ids=PROGRAMS)
def test_known_numbers_are_one(f, args, text):
    check(f, *args)
    assert text in grad(f).source(*args)


@pytest.mark.parametrize("f, args, text", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_stays(f, args, text, dtype):
    own = [each.astype(dtype) if isinstance(each, np.ndarray) else each for each in args]
    found, expected = grad(f)(*own), grad(f)(*args)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype == np.float32 else 1e-12)


def test_the_slope_of_a_scaled_logistic_function_is_finite_where_an_exponential_is_not():
    x = np.array([-800.0, 0.3, 800.0])
    sigmoid = np.array([0.0, 1 / (1 + math.exp(-1.5)), 1.0])
    with np.errstate(over="ignore"):
        found = grad(scaled_logistic)(x, 2.0)
    np.testing.assert_allclose(found, 2.0 * (sigmoid + 5 * x * sigmoid * (1 - sigmoid)))


def test_complex_numbers_stay_as_they_are():
    def f(x):
        z = np.exp(1j * x)
        return np.sum(np.abs(2 * z / (z + 2.0)) ** 2)

    check(f, X)


FAR_FROM_ONE = {
    "large": (lambda x: 1e200 * (1e200 * (1e-300 * np.sqrt(x))), 0.5e100 / np.sqrt(A)),
    "small": (lambda x: 1e-200 * (1e-200 * (1e300 * np.sqrt(x))), 0.5e-100 / np.sqrt(A)),
    "divided": (lambda x: 1e-200 * (1e300 * np.sqrt(x)) / 1e200, 0.5e-100 / np.sqrt(A)),
}


@pytest.mark.parametrize("f, expected", FAR_FROM_ONE.values(), ids=FAR_FROM_ONE)
def test_known_numbers_stay_apart_where_their_product_is_infinite_or_lost(f, expected):
    with np.errstate(all="raise"):
        np.testing.assert_allclose(jvp(f, (A,), (np.ones(3),))[1], expected, rtol=1e-12)


def test_whether_it_is_depends_on_the_dtype():
    def f(x):
        return 400 * (300 * (0.001 * np.sqrt(x)))

    x = A.astype(np.float16)
    with np.errstate(all="raise"):
        found = jvp(f, (x,), (np.ones_like(x),))[1]
    np.testing.assert_allclose(found, 60 / np.sqrt(A), rtol=0.01)


def test_what_is_divided_by_zero_is_infinite():
    def f(x, s):
        return 2 * np.sum(x**2) * math.sqrt(s)

    with np.errstate(divide="ignore"):
        assert grad(f, 1)(X, 0.0) == np.inf
    np.testing.assert_allclose(grad(f, 1)(X, 2.0), np.sum(X**2) / math.sqrt(2.0))


def test_tangents():
    n = np.linalg.norm(X)
    np.testing.assert_allclose(jvp(norm, (X,), (A,))[1], A @ X / n)
    second = (np.eye(3) - np.outer(X, X) / n**2) / n
    np.testing.assert_allclose(jvp(grad(norm), (X,), (A,))[1], second @ A)


@pytest.mark.slow
def test_a_chain_of_thousands_is_no_deep_recursion(tmp_path):
    lines = "".join(f"        x = x * s[{i % 3}]\n" for i in range(2000))
    f = load(
        tmp_path, f"    import numpy as np\n\n    def f(x, s):\n{lines}        return np.sum(x)\n"
    ).f
    np.testing.assert_allclose(grad(f)(X, np.ones(3)), np.ones(3))
