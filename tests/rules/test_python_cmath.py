"""The cmath module: complex numbers of Python's, and real ones, which are made complex."""

import cmath

import numpy as np
import pytest

from rules.properties import module
from s2s_ad import grad, jvp, vmap

NAMES = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "log", "log10"]
NAMES += ["phase", "sin", "sinh", "sqrt", "tan", "tanh"]
CALLS = [f"cmath.{name}(z)" for name in NAMES]
CALLS += ["cmath.log(z, 2.5)", "cmath.rect(*cmath.polar(z)) * z", "cmath.rect(abs(z), 0.3)"]
CALLS += ["z.conjugate() * cmath.sqrt(z.real)", "z * cmath.isfinite(z)", "complex(z.imag, z.real)"]
CALLS += ["complex(z, 0.5 - 2 * z)", "complex(s, z)", "complex(z, t)"]
POINTS = [(0.7, 1.3), (-0.4, 0.2), (-1.5, -0.6)]
STEP = 1e-5


def central(function, s, t):
    along_s = (function(s + STEP, t) - function(s - STEP, t)) / (2 * STEP)
    along_t = (function(s, t + STEP) - function(s, t - STEP)) / (2 * STEP)
    return along_s, along_t


@pytest.mark.thinned(4)
@pytest.mark.parametrize("call", CALLS)
def test_function(call):
    text = f"import cmath\ndef f(s, t):\n    z = complex(s, t)\n    w = {call}\n"
    f = module(text + "    return abs(w) * w.real\n").f
    slope = grad(f)
    for point in POINTS:
        expected = central(f, *point)
        np.testing.assert_allclose(grad(f, (0, 1))(*point), expected, rtol=1e-7, atol=1e-8)
        second = jvp(slope, point, (1.0, 0.0))[1]
        np.testing.assert_allclose(second, central(slope, *point)[0], rtol=1e-6, atol=1e-7)
    batch = np.array(POINTS)
    expected = [f(*point) for point in POINTS]
    np.testing.assert_allclose(vmap(f)(batch[:, 0], batch[:, 1]), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["sqrt", "log", "acosh"])
def test_real_numbers_are_made_complex(name):
    f = module(f"import cmath\ndef f(s):\n    return abs(cmath.{name}(s))\n").f
    expected = (f(-0.6 + STEP) - f(-0.6 - STEP)) / (2 * STEP)
    np.testing.assert_allclose(grad(f)(-0.6), expected, rtol=1e-7)
    assert f(-0.6) == abs(getattr(cmath, name)(-0.6))


def test_math_takes_no_complex_numbers():
    f = module("import math\ndef f(s):\n    return math.sin(complex(s, s)) * s\n").f
    with pytest.raises(Exception, match="real number, not complex"):
        grad(f)(0.5)
