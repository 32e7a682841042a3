"""The functions of numbers that native modules bring along, beside those of NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from native_code.interpreted import INTRINSICS
from native_code.test_native import loops_alone
from s2s_ad import jit
from s2s_ad.native.scalars import BOUNDED, VECTORISED
from s2s_ad.native.support import SUPPORT

pytest.importorskip("numba")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
rng = np.random.default_rng(5)

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, np.inf, -np.inf, np.nan])
SPECIAL = np.append(SPECIAL, [5e-324, -1e-310, 8e307, 1.7e308])
SMALL, LARGE = rng.uniform(-1, 1, 300), rng.uniform(-700, 700, 300)
NEAR = np.concatenate([SPECIAL, SMALL, LARGE, np.exp(LARGE), 1 + 1e-6 * SMALL, 1e-9 * SMALL])
FUNCTIONS = {
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
    "tanh": np.tanh,
    "atan": np.arctan,
    "atan2": np.arctan2,
}


def helpers():
    """The functions as Python runs them."""
    space = {"np": np, "math": math, "njit": lambda *_, **__: lambda f: f}
    space["intrinsic"] = lambda f: f
    bounded = [each.__name__ for each in BOUNDED]
    for name in [*FUNCTIONS, "quarters", *bounded, "complex_exp", "size_of", "quotient"]:
        exec(SUPPORT[name], space)
    space.update(INTRINSICS)
    return space


def test_each_function_that_loops_have_a_form_of_is_here():
    assert FUNCTIONS.keys() == VECTORISED


@pytest.fixture(autouse=True)
def natively(monkeypatch):
    monkeypatch.setenv("S2S_AD_NATIVE", "1")


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", FUNCTIONS)
@np.errstate(all="ignore")
def test_function_is_that_of_numpy(name):
    """To a few units in the last place; signs of zeros, infinities and nan are the same."""
    function = FUNCTIONS[name]
    args = [NEAR] if name != "atan2" else [e.ravel() for e in np.meshgrid(NEAR[::7], NEAR)]
    if name == "atan2":
        args = [np.append(a, b.ravel()) for a, b in zip(args, np.meshgrid(SPECIAL, SPECIAL))]
    one, two = (lambda x: function(x)), (lambda x, y: function(x, y))
    found = loops_alone(jit(one if len(args) == 1 else two), *args)
    exact = function(*(each.astype(np.longdouble) for each in args)).astype(float)
    np.testing.assert_allclose(found, exact, rtol=3e-15, atol=1e-320)
    is_zero = exact == 0
    np.testing.assert_array_equal(np.signbit(found)[is_zero], np.signbit(exact)[is_zero])


TURNS = np.arange(-400, 400) * (np.pi / 2)
ANGLES = np.concatenate([SPECIAL[:7], [np.nan, 5e-324, -1e-310], SMALL, LARGE, 1e-9 * SMALL, TURNS])
ANGLES = np.concatenate([ANGLES, TURNS * (1 + 1e-9), 99.0 * TURNS, rng.uniform(-1e5, 1e5, 999)])


@pytest.mark.parametrize("function", BOUNDED)
@np.errstate(all="ignore")
def test_function_of_bounded_angles_is_that_of_numpy(function):
    """To a few units in the last place, near its zeros, too."""
    found = loops_alone(jit(lambda x: function(x)), ANGLES)
    exact = function(ANGLES.astype(np.longdouble)).astype(float)
    np.testing.assert_allclose(found, exact, rtol=1e-15, atol=1e-320)
    np.testing.assert_array_equal(np.signbit(found)[exact == 0], np.signbit(exact)[exact == 0])


@pytest.mark.thinned(4)
@pytest.mark.parametrize("angle", [1.1e5, -1e22, np.inf])
@pytest.mark.parametrize("function", BOUNDED)
@np.errstate(all="ignore")
def test_function_of_large_angles_is_left_to_numpy(function, angle):
    angles, native = np.array([0.5, angle]), jit(lambda x: function(x))
    with pytest.raises((KeyError, NameError)):  # the code for NumPy, which is not there
        loops_alone(native, angles)
    np.testing.assert_array_equal(native(angles), function(angles))


@pytest.mark.parametrize("base, name, most", [(2, "log2", 1023), (10, "log10", 22)])
def test_logarithms_of_powers_are_exact(base, name, most):
    own = helpers()[name]
    for k in range(most + 1):
        assert own(float(base) ** k) == k


@np.errstate(all="ignore")
def test_exponentials_of_complex_numbers_are_those_of_numpy():
    """To a few units in the last place of the number; parts that are zero keep their sign."""
    own = helpers()["complex_exp"]
    for z in (complex(a, b) for a in (0.0, -3.5, 690.0, 709.9, -740.0) for b in ANGLES[::9]):
        exact, found = np.exp(np.clongdouble(z)), own(z)
        parts = [float(exact.real), float(exact.imag)]
        tiny = min(2e-15 * abs(exact), 1e300)
        np.testing.assert_allclose([found.real, found.imag], parts, rtol=2e-15, atol=tiny)
    for imag in (0.0, -0.0):
        assert np.signbit(own(complex(1.0, imag)).imag) == np.signbit(imag)


PARTS = [0.0, -0.0, 1.0, -2.0, 1e-200, 1e200, np.inf, -np.inf, np.nan, 5e-324, 1.7e308]


@np.errstate(all="ignore")
def test_sizes_and_quotients_of_complex_numbers_are_those_of_numpy():
    numbers = [complex(a, b) for a in map(float, PARTS) for b in PARTS]
    own, z = helpers(), np.array(numbers)
    sizes = [own["size_of"](each) for each in z]
    np.testing.assert_allclose(sizes, np.hypot(z.real, z.imag), rtol=1e-14, atol=0)
    for divisor in z:
        mine = np.array([own["quotient"](each, divisor) for each in z])
        for part in ("real", "imag"):
            found, expected = getattr(mine, part), getattr(z / divisor, part)
            np.testing.assert_allclose(found, expected, rtol=1e-14, atol=0)
