"""The forms that SciPy asks for: minimize, curve_fit."""

import numpy as np
import pytest
from scipy.optimize import check_grad, curve_fit, minimize

from s2s_ad import hessian, interop
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(30, 2)), rng.normal(size=30)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def squares(parameters, x, y):
    residuals = x @ parameters["w"] + parameters["b"] - y
    return np.mean(residuals**2)


def wave(t, size, rate, shift):
    return size * np.exp(-rate * t) * np.cos(t + shift)


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "Newton-CG", "trust-ncg"])
def test_minimize(method):
    both = interop.fun_and_jac(rosenbrock)
    more = {"hessp": interop.hessp(rosenbrock)} if "-ncg" in method.lower() else {}
    if method == "Newton-CG":
        more = {"hessp": interop.hessp(rosenbrock)}
    found = minimize(both, np.zeros(4), jac=True, method=method, **more)
    np.testing.assert_allclose(found.x, 1.0, rtol=1e-3)
    value, slope = both(np.zeros(4))
    assert type(value) is float
    assert (slope.dtype, slope.shape) == (np.float64, (4,))
    assert check_grad(rosenbrock, lambda x: both(x)[1], rng.normal(size=4)) < 1e-4


def test_products_are_those_with_the_hessian():
    x, p = rng.normal(size=4), rng.normal(size=4)
    found = interop.hessp(rosenbrock)(x, p)
    np.testing.assert_allclose(found, hessian(rosenbrock)(x) @ p)


def test_containers_of_parameters():
    like = {"w": np.zeros(2, np.float32), "b": 0.0}
    both = interop.fun_and_jac(squares, like)
    start = interop.vector(like)
    found = minimize(both, start, args=(X, Y), jac=True, hessp=interop.hessp(squares, like),
                     method="trust-ncg")  # fmt: skip
    expected, *_ = np.linalg.lstsq(np.column_stack([X, np.ones(30)]), Y)
    np.testing.assert_allclose(found.x, expected, rtol=1e-3, atol=1e-4)
    with pytest.raises(ArgumentValueError, match="5 numbers, where 'like' has 3"):
        both(np.zeros(5), X, Y)


def test_curve_fit():
    t = np.linspace(0, 3, 40)
    truth = (2.0, 0.7, 0.3)
    found, _ = curve_fit(wave, t, wave(t, *truth), p0=(1.0, 1.0, 0.0), jac=interop.jac(wave))
    np.testing.assert_allclose(found, truth)
    slopes = interop.jac(wave)(t, *truth)
    assert slopes.shape == (40, 3)
    for place in range(3):
        moved = [np.array(truth) + step * np.eye(3)[place] for step in (1e-6, -1e-6)]
        central = (wave(t, *moved[0]) - wave(t, *moved[1])) / 2e-6
        np.testing.assert_allclose(slopes[:, place], central, atol=1e-8)


def test_what_is_refused():
    for made in (interop.fun_and_jac, interop.hessp, interop.jac):
        with pytest.raises(ArgumentTypeError):
            made(3)
    for made in (interop.fun_and_jac, interop.hessp):
        with pytest.raises(ArgumentTypeError, match="'like' holds"):
            made(squares, {"w": np.zeros(2), "b": 1})
