"""The math module: values, both modes, second order and batches, against differences and loops."""

import math
import random
import time

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, vmap

POINTS = {"acosh": 1.4, "log": 0.7, "sqrt": 0.8}
UNARY = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "degrees"]
UNARY += [
    "gamma",
    "lgamma",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "log",
    "log10",
    "log1p",
    "log2",
]
UNARY += ["radians", "sin", "sinh", "sqrt", "tan", "tanh"]
BINARY = ["atan2", "copysign", "fmod", "hypot", "pow"]


def unary(x, name):
    return getattr(math, name)(x) * x


def binary(x, y, name):
    return getattr(math, name)(x, y) * x


def slope(f, x, step=1e-6):
    return (f(x + step) - f(x - step)) / (2 * step)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", UNARY)
def test_function_of_one_number(name):
    x = POINTS.get(name, 0.37)
    f = lambda x: unary(x, name)
    assert jit(unary)(x, name) == f(x)
    assert grad(unary)(x, name) == pytest.approx(slope(f, x), rel=1e-6)
    assert jvp(f, (x,), (2.0,))[1] == pytest.approx(2 * slope(f, x), rel=1e-6)
    second = slope(lambda x: grad(unary)(x, name), x)
    assert grad(grad(unary))(x, name) == pytest.approx(second, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
def test_a_batch_of_numbers(name):
    xs = POINTS.get(name, 0.37) * np.array([1.0, 1.1, 1.3])
    expected = [grad(unary)(float(x), name) for x in xs]
    found = vmap(grad(unary), in_axes=(0, None))(xs, name)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", BINARY)
def test_function_of_two_numbers(name):
    x, y = 2.3, 0.9
    of_x, of_y = grad(binary, (0, 1))(x, y, name)
    assert of_x == pytest.approx(slope(lambda x: binary(x, y, name), x), rel=1e-6)
    assert of_y == pytest.approx(slope(lambda y: binary(x, y, name), y), rel=1e-6, abs=1e-9)


def logarithm(x, base):
    return math.log(x, base)


def test_the_base_of_a_logarithm():
    assert grad(logarithm)(3.0, 2.0) == pytest.approx(1 / (3.0 * math.log(2.0)))


def steps(x):
    return x * math.floor(x) + math.ceil(x) + math.trunc(x) + int(x) * x


def test_steps_have_no_slope():
    assert grad(steps)(2.4) == 4.0


def where_finite(x):
    if math.isnan(x) or math.isinf(x):
        return 0.0 * x
    return x * x if math.isfinite(x) else x


def test_tests_of_numbers_choose_the_path():
    assert grad(where_finite)(1.5) == 3.0
    assert grad(where_finite)(math.inf) == 0.0
    assert grad(where_finite)(math.nan) == 0.0


CLOCKS = [time.monotonic, time.perf_counter, time.process_time, time.time, time.time_ns]


@pytest.mark.parametrize("clock", CLOCKS, ids=lambda each: each.__name__)
def test_every_clock_has_no_slope(clock):
    assert grad(lambda x: x * x + 0.0 * x * clock())(2.0) == 4.0


def with_noise(x, rng):
    noise = rng.normal(size=3)
    print("drawn")
    return np.sum(noise * x * x)


def module_noise(x):
    return x * np.random.normal() + x * random.gauss(0.0, 1.0) + np.sum(np.random.rand(2, 3)) * x


def timed(x):
    start = time.perf_counter()
    return x * x + 0 * (time.perf_counter() - start)


def shifted(mean):
    return np.random.normal(mean, 1.0)


def test_numbers_are_drawn_once_in_the_forward_pass(capsys):
    x = np.array([1.0, 2.0, 3.0])
    expected = 2 * x * np.random.default_rng(0).normal(size=3)
    np.testing.assert_allclose(grad(with_noise)(x, np.random.default_rng(0)), expected)
    assert capsys.readouterr().out.split() == ["drawn"]


def test_numbers_of_the_modules_come_in_the_order_of_the_text():
    np.random.seed(3)
    random.seed(3)
    expected = np.random.normal() + random.gauss(0.0, 1.0) + np.sum(np.random.rand(2, 3))
    np.random.seed(3)
    random.seed(3)
    assert grad(module_noise)(2.0) == pytest.approx(expected)


def test_a_clock_is_read():
    assert grad(timed)(3.0) == 6.0


def test_a_draw_moves_with_its_mean():
    assert grad(shifted)(1.0) == 1.0
