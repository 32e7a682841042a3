"""Gradients from evaluations alone, against derivatives that are known in closed form."""

import numpy as np
import pytest

from s2s_ad import S2SError
from s2s_ad.check import central_differences, complex_step

X = np.array([0.5, -1.5, 2.0])
A = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]])

# function, arguments, gradients
FUNCTIONS = [
    (lambda x: np.sum(x**3), (X,), (3 * X**2,)),
    (np.sin, (X,), (np.cos(X),)),
    (lambda A, x: A @ x, (A, X), (np.ones((2, 1)) * X, A.sum(axis=0))),
    (lambda x, y: x * y, (2.0, 3.0), (3.0, 2.0)),
    (lambda x: (x * x, [np.exp(x)]), (0.5,), (1.0 + np.exp(0.5),)),
    (lambda p, n: p["a"] ** n, ({"a": 2.0, "b": X}, 3), ({"a": 12.0, "b": 0 * X}, None)),
    (lambda x: x / (1 + x * x), (np.array(0.25),), ((1 - 0.0625) / 1.0625**2,)),
    (lambda x: np.sum(x), (np.zeros((0, 2)),), (np.zeros((0, 2)),)),
    (lambda x: 1e8 * x, (np.array([1e-8, 0.0]),), (np.array([1e8, 1e8]),)),
]


def assert_close(found, expected, rtol):
    if expected is None:
        assert found is None
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            assert_close(found[key], expected[key], rtol)
    else:
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("fn, args, expected", FUNCTIONS)
def test_central_differences(fn, args, expected):
    for found, each in zip(central_differences(fn, args), expected, strict=True):
        assert_close(found, each, 1e-8)


@pytest.mark.parametrize("fn, args, expected", FUNCTIONS)
def test_complex_step(fn, args, expected):
    for found, each in zip(complex_step(fn, args), expected, strict=True):
        assert_close(found, each, 1e-14)


def test_functions_are_called_with_the_dtypes_they_are_given():
    seen = []

    def note(x, n):
        seen.append((type(x), x.dtype, type(n)))
        return x * n

    found = central_differences(note, (np.array([1.0, 2.0], np.float32), 3))
    assert set(seen) == {(np.ndarray, np.dtype(np.float32), int)}
    np.testing.assert_allclose(found[0], [3.0, 3.0], rtol=1e-3)


def test_arguments_are_left_alone():
    x = X.copy()
    central_differences(np.sin, (x,))
    complex_step(np.sin, (x,))
    assert np.array_equal(x, X)


@pytest.mark.parametrize("differentiate", [central_differences, complex_step])
def test_function_without_numbers_in_its_output_is_refused(differentiate):
    with pytest.raises(S2SError, match="no floating-point number"):
        differentiate(lambda x: "text", (1.0,))
