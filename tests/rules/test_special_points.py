"""Derivatives at points where a step on the way is 0 * inf: powers of zero, poles that a mask
leaves out, exponentials that overflow, norms of zero whose square is smooth.

What is expected is the derivative of the function as a whole, worked out by hand. All modes have
to agree: reverse, forward, batches of gradients, gradients of batches; and the second derivative
has to be right where the table names it.
"""

import math
import warnings

import numpy as np
import pytest

from rules.properties import module
from s2s_ad import Tensor, grad, hessian, jvp, ops, vmap

pytestmark = pytest.mark.thinned(3)

E2 = math.exp(2.0)
S1, S2 = math.sin(1.0), math.sin(2.0)
SIG1 = 1 / (1 + math.exp(-1.0))
#: text of the function of x, x, its gradient, and its second derivative where that is asked for
POWERS = [
    ("x ** 0", 0.0, 0.0, 0.0),
    ("x ** 0", 2.0, 0.0, 0.0),
    ("x ** 0.0", 0.0, 0.0, 0.0),
    ("np.power(x, 0)", 0.0, 0.0, 0.0),
    ("np.float_power(x, 0)", 0.0, 0.0, 0.0),
    ("math.pow(x, 0)", 0.0, 0.0, 0.0),
    ("x ** np.float64(0.0)", 0.0, 0.0, 0.0),
    ("x ** np.int8(1)", 0.0, 1.0, 0.0),
    ("x ** np.uint8(0)", 0.0, 0.0, 0.0),
    ("np.sum(np.arange(1.0, 5.0) * x ** np.arange(4))", 0.0, 2.0, 6.0),
    ("np.sum(np.arange(1.0, 5.0) * x ** np.arange(4.0))", 0.0, 2.0, 6.0),
    ("np.sum(np.arange(1.0, 5.0) * np.power(x, np.arange(4)))", 2.0, 2 + 12 + 48, 6 + 48),
    ("np.sum(x ** np.array([True, False]))", 0.0, 1.0, 0.0),
    ("sum((i + 1) * x**i for i in range(4))", 0.0, 2.0, 6.0),
    ("t = 0.0\n for i in range(4):\n  t += (i + 1) * x**i\n return t", 0.0, 2.0, 6.0),
    ("t = x * 1.0\n t **= 0\n return t", 0.0, 0.0, 0.0),
    ("2.0 ** (x * 0 + x ** 0)", 0.0, 0.0, 0.0),
    ("np.real((x + 0j) ** 0 + (x + 0j) ** 2 + x)", 0.0, 1.0, None),
]
MASKED = [
    ("np.where(x > 0.003, np.abs(x) ** (1 / 2.4), 12.92 * x)", 0.0, 12.92),
    ("np.sum(np.where(x > 0, np.log(x), 0.0))", [0.0, 2.0], [0.0, 0.5]),
    ("np.sum(np.where(x == 0, 0.0, x * np.log(np.abs(x))))", [0.0, 1.0], [0.0, 1.0]),
    ("np.sum(np.select([x > 1, x > 0], [x, np.sqrt(x)], 3.0))", [0.0, 4.0], [0.0, 1.0]),
    ("r = np.sqrt(x)\n return np.sum(r[x > 0])", [0.0, 4.0], [0.0, 0.25]),
    ("np.sum(np.sqrt(x)[1:])", [0.0, 4.0], [0.0, 0.25]),
    ("np.sum(np.diff(np.sqrt(x))[1:])", [0.0, 4.0, 1.0], [0.0, -0.25, 0.5]),
    ("np.sum(np.diff(np.sqrt(x))[x[:2] > 0])", [0.0, 4.0, 1.0], [0.0, -0.25, 0.5]),
    ("np.sum(np.where(x[:2] > 0, np.diff(np.sqrt(x)), 0.0))", [0.0, 4.0, 1.0], [0.0, -0.25, 0.5]),
    ("np.sum(np.diff(np.sqrt(x), 2)[1:])", [0.0, 4.0, 1.0, 4.0], [0.0, 0.25, -1.0, 0.25]),
    ("r = np.diff(np.sqrt(x))\n r[0] = 0.0\n return np.sum(r)", [0.0, 4.0, 1.0], [0.0, -0.25, 0.5]),
    (  # means of what is counted, where there is something
        "n = np.array([2, 0])\n return np.sum(np.where(n > 0, x / n, 0.0))",
        [3.0, 4.0],
        [0.5, 0.0],
    ),
    (
        "m = np.array([True, False])\n return np.sum(np.where(m, x / m, 0.0) ** 2)",
        [3.0, 4.0],
        [6.0, 0.0],
    ),
    ("np.sum(np.delete(np.sqrt(x), 0))", [0.0, 4.0], [0.0, 0.25]),
    ("np.sum(np.delete(np.sqrt(x), [0, -1], axis=1))", [[0.0, 4.0, 0.0]], [[0.0, 0.25, 0.0]]),
    ("np.sum(np.take(np.sqrt(x), [1, 1]))", [0.0, 4.0], [0.0, 0.5]),
    ("r = np.sqrt(x)\n r[0] = 1.0\n return np.sum(r * r)", [0.0, 4.0], [0.0, 1.0]),
    ("y = np.zeros(3)\n y[1:] = x\n return np.sum(np.sqrt(y))", [1.0, 4.0], [0.5, 0.25]),
    ("m = x > 0\n return np.sum((m * np.sqrt(x))[m])", [0.0, 4.0], [0.0, 0.25]),
    ("m = (x > 0).astype(float)\n return np.sum(m * np.sqrt(x))", [0.0, 4.0], [0.0, 0.25]),
    ("np.max(np.sqrt(x))", [0.0, 4.0], [0.0, 0.25]),
    ("np.sum(np.maximum(np.sqrt(x), 1.0))", [0.0, 4.0], [0.0, 0.25]),
    ("np.sum(np.clip(np.log(x), -1, 3))", [0.0, 4.0], [0.0, 0.25]),
    ("np.sum(np.nan_to_num(np.log(x), neginf=0.0))", [0.0, 4.0], [0.0, 0.25]),
    ("np.sum(np.sort(np.sqrt(x))[1:])", [0.0, 4.0], [0.0, 0.25]),
    ("np.median(np.sqrt(x))", [0.0, 4.0, 9.0], [0.0, 0.25, 0.0]),
    ("np.sum(np.roll(np.sqrt(x), 1)[[0]])", [0.0, 4.0], [0.0, 0.25]),
    ("np.sum(np.sqrt(x)[::-1][:1])", [0.0, 4.0], [0.0, 0.25]),
    ("np.sum((np.sqrt(x)[::-1] ** 3)[:1])", [0.0, 4.0], [0.0, 3.0]),
    ("np.sum(np.cumsum(np.sqrt(x))[:2])", [4.0, 1.0, 0.0], [0.5, 0.5, 0.0]),
    ("np.cumsum(np.sqrt(x)[::-1])[1]", [0.0, 4.0, 1.0], [0.0, 0.25, 0.5]),
    ("np.sum(np.cumsum(np.sqrt(x)[::-1])[:-1] ** 2)", [0.0, 4.0, 1.0], [0.0, 1.5, 4.0]),
    ("np.sum(np.sqrt(x).reshape(2, 1)[1:])", [0.0, 4.0], [0.0, 0.25]),
    ("np.trace(np.sqrt(x))", [[4.0, 0.0], [0.0, 4.0]], [[0.25, 0.0], [0.0, 0.25]]),
    ("np.sum(np.tril(1 / x))", [[1.0, 0.0], [2.0, 1.0]], [[-1.0, 0.0], [-0.25, -1.0]]),
    ("np.fmax(2, np.linalg.norm(x))", [0.0, 0.0], [0.0, 0.0]),
    ("np.sum(x / np.maximum(np.linalg.norm(x), 0.5))", [0.0, 0.0], [2.0, 2.0]),
    ("n = np.linalg.norm(x)\n return np.sum(x / np.where(n == 0, 1.0, n))", [0.0, 0.0], [1, 1]),
    (
        "n = np.linalg.norm(x, axis=1, keepdims=True)\n"
        " return np.sum(np.where(n > 0, x / n, 0.0)[:, 0])",
        [[0.0, 0.0], [3.0, 4.0]],
        [[0.0, 0.0], [16 / 125, -12 / 125]],
    ),
    (  # distances of points to each other, each pair once
        "d = x[:, None] - x\n r = np.sqrt(d**2)\n r[r > 0] = 1.0 / r[r > 0]\n"
        " return np.sum(np.triu(r, 1))",
        [1.0, 2.0, 4.0],
        [1 + 1 / 9, -1 + 1 / 4, -1 / 9 - 1 / 4],
    ),
    (
        "d = x[:, None] - x\n e = np.where(np.eye(3) > 0, 0.0, x[:, None] * x / np.abs(d))\n"
        " return 0.5 * np.sum(e)",
        [1.0, 2.0, 4.0],
        [2 + 4 / 3 + 2 + 4 / 9, 1 + 2 - 2 + 2, 1 / 3 + 1 - 4 / 9 - 2],
    ),
    (  # the usual way to write the logistic function without overflow
        "np.sum(np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x))))",
        [-800.0, 800.0, 1.0],
        [0.0, 0.0, SIG1 * (1 - SIG1)],
    ),
]
SMOOTH = [
    ("0.5 * np.linalg.norm(x) ** 2", [0.0, 0.0], [0.0, 0.0]),
    ("np.sqrt(np.sum(x * x)) ** 2", [0.0, 0.0], [0.0, 0.0]),
    ("np.linalg.norm(x) ** 3", [0.0, 0.0], [0.0, 0.0]),
    ("n = np.linalg.norm(x)\n return n * n + n**4", [0.0, 0.0], [0.0, 0.0]),
    ("np.hypot(x[0], x[1]) ** 2", [0.0, 0.0], [0.0, 0.0]),
    ("np.abs(x[0] + 1j * x[1]) ** 2", [0.0, 0.0], [0.0, 0.0]),
    ("np.std(x) ** 2", [1.0, 1.0], [0.0, 0.0]),
    ("np.sum(np.maximum(np.sqrt(x) - 1, 0) ** 2)", [0.0, 4.0], [0.0, 0.5]),
    ("np.sum(np.minimum(0.0, -np.log(x)) ** 2)", [0.0, np.e], [0.0, 2 / np.e]),
    ("np.sum(np.maximum(x, 0.0) ** 2) + np.sum(np.minimum(0, x) ** 3)", [0.5, -0.5], [1.0, 0.75]),
    ("np.sqrt(x) ** 2", 0.0, 1.0),
    ("x + np.sqrt(x - x)", 0.5, 1.0),
    ("np.sum(np.sqrt(np.var(x[:, None], axis=1)) + x)", [1.0, 2.0], [1.0, 1.0]),
]
SETTLED = [
    ("1 / (1 + np.exp(-x))", -800.0, 0.0),
    ("1 / (1 + np.exp(-3 * x)) ** 2", -800.0, 0.0),
    ("2 / (1 + np.exp(-2 * x)) - 1", -800.0, 0.0),
    ("np.sum(x / (1 + np.exp(-x)))", [-800.0, 0.0], [0.0, 0.5]),
    ("np.sum(1 / (1 + np.exp(-np.exp(x))))", [800.0, 0.0], [0.0, SIG1 * (1 - SIG1)]),
    ("np.sum(x / (1 + np.exp(-np.exp(x))))", [800.0, 0.0], [1.0, SIG1]),
    ("x**3 / (np.exp(x) - 1)", 800.0, 0.0),
    ("1 / np.cosh(x) ** 2", 800.0, 0.0),
    ("np.reciprocal(1 + np.exp(x))", 800.0, 0.0),
    ("np.exp(-np.exp(-x))", -800.0, 0.0),
    ("np.tanh(np.exp(x))", 800.0, 0.0),
    ("np.arctan(np.sinh(x))", 800.0, 0.0),
    ("h = 1 / (1 + np.exp(-x))\n return 1 / (1 + np.exp(-h))", -800.0, 0.0),
    ("s = 0.0\n for i in range(3):\n  s += 1 / (1 + np.exp(-x * (i + 1)))\n return s", -800.0, 0.0),
]
#: text of a function of x and k: what a path leaves out, at x = 0, and its derivative by x there
LEFT_OUT = [
    ("y = x + x**1.5\n return k if k > 2 else (3 * k if x < 1 else y)", 0.0),
    ("y = x**0.5\n return k if k > 2 else (1.5 * x if x < 1 else y)", 1.5),
    (
        "y = np.sqrt(x)\n if k > 2:\n  return y * 3\n elif x <= 0:\n  return 0.0\n return y * 2",
        0.0,
    ),
    (
        "y = np.log(x)\n if k > 2:\n  z = y\n elif x <= 0:\n  z = x\n elif k > 1:\n  z = 2 * y\n"
        " else:\n  z = y\n return z * 2",
        2.0,
    ),
    ("y = np.sqrt(x)\n if k > 2:\n  raise ValueError\n elif not x:\n  y = x\n return y", 1.0),
]
DATA = [1.0, np.inf, np.nan, -np.inf, 2.0]
#: text of a function of data x and of `a`, some of which is not finite; the slopes by x = 0.5
NOT_FINITE = [
    ("np.sum(np.where(np.isfinite(a), a * x, 0))", [1, 0, 0, 0, 2]),
    ("np.sum(np.where(np.isfinite(a), np.exp(a * x), 0))", [math.exp(0.5), 0, 0, 0, 2 * math.e]),
    ("np.sum(np.where(np.isfinite(a), np.sin(a * x), 0) ** 2)", [S1, 0, 0, 0, 2 * S2]),
    ("np.sum(np.where(np.isfinite(a), (a - x) ** 2, 0))", [-1, 0, 0, 0, -3]),
    ("np.sum((a * x)[np.isfinite(a)])", [1, 0, 0, 0, 2]),
    ("m = ~(np.isnan(a) | np.isinf(a))\n return np.sum((a * x)[m])", [1, 0, 0, 0, 2]),
    ("np.sum(a * x, where=np.isfinite(a))", [1, 0, 0, 0, 2]),
    ("np.mean((a - x) ** 2, where=np.isfinite(a))", [-0.5, 0, 0, 0, -1.5]),
    ("np.sum(np.compress(np.isfinite(a), a * x))", [1, 0, 0, 0, 2]),
    ("y = a * x\n y[~np.isfinite(y)] = 0.0\n return np.sum(y * y)", [1, 0, 0, 0, 4]),
    ("np.sum(np.nan_to_num(a * x, posinf=0.0, neginf=0.0))", [1, 0, 0, 0, 2]),
    ("np.nansum(np.where(np.isinf(a), np.nan, a * x))", [1, 0, 0, 0, 2]),
    ("np.nanmean((np.where(np.isinf(a), np.nan, a) - x) ** 2)", [-0.5, 0, 0, 0, -1.5]),
    ("np.sum(np.where(np.abs(a) < np.inf, a * x, 0))", [1, 0, 0, 0, 2]),
    ("np.sum(np.where((a == a) & (abs(a) != np.inf), a * x, 0))", [1, 0, 0, 0, 2]),
    ("np.sum(np.where(np.isfinite(a), x / a, 0))", [1, 0, 0, 0, 0.5]),
]
#: here the value is infinite, or has a corner or a pole: no number may be given for a derivative
WITHOUT = [
    ("np.log(1 + np.exp(x))", 800.0),
    ("np.log(1 / (1 + np.exp(-x)))", -800.0),
    ("np.linalg.norm(x)", [0.0, 0.0]),
    ("np.sum(np.where(x >= 0, np.cos(np.sqrt(x)), 1.0))", [0.0, 1.0]),
    ("np.sqrt(x) * np.sin(np.sqrt(x))", 0.0),
]


def function(text, parameters="x"):
    body = text if "return" in text else f"return {text}"
    return module(f"import math\ndef f({parameters}):\n {body}\n").f


def directions(x):
    """Steps along each axis."""
    for index in np.ndindex(np.shape(x)):
        step = np.zeros(np.shape(x))
        step[index] = 1.0
        yield index, step if np.shape(x) else 1.0


@pytest.fixture(autouse=True)
def _without_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def check(text, x, expected, dtype=float):
    """The gradient in each mode."""
    f, x = function(text), np.asarray(x, dtype)[()]
    options = {"rtol": 100 * np.finfo(dtype).eps, "atol": 0}
    np.testing.assert_allclose(grad(f)(x), expected, **options)
    for index, step in directions(x):
        _, slope = jvp(f, (x,), (np.asarray(step, dtype)[()],))
        np.testing.assert_allclose(slope, np.asarray(expected)[index], **options, err_msg="jvp")
    if "math." not in text:
        batch = np.stack([x, x + 0.25])
        of_samples = [grad(f)(each) for each in batch]
        np.testing.assert_allclose(vmap(grad(f))(batch), of_samples, **options, err_msg="vmap")
        of_sum = grad(lambda batch: np.sum(vmap(f)(batch)))(batch)
        np.testing.assert_allclose(of_sum, of_samples, **options, err_msg="grad of vmap")


@pytest.mark.parametrize("text, x, slope, curve", POWERS)
def test_power_at_zero(text, x, slope, curve):
    check(text, x, slope)
    f = function(text)
    if curve is not None:
        assert grad(grad(f))(x) == curve
        assert jvp(grad(f), (x,), (1.0,))[1] == curve
        assert hessian(f)(x) == curve


@pytest.mark.thinned(6)
@pytest.mark.parametrize("text, x, expected", MASKED + SMOOTH + SETTLED)
def test_point(text, x, expected):
    check(text, x, expected)


@pytest.mark.parametrize("kind", [float, np.float64])
@pytest.mark.parametrize("text, expected", LEFT_OUT)
def test_what_a_path_leaves_out_is_not_multiplied_by_zero(text, expected, kind):
    f, x, k = function(text, "x, k"), kind(0.0), kind(1.5)
    if "log" in text and kind is float:
        x = np.float64(x)
    assert grad(f)(x, k) == expected
    assert jvp(f, (x, k), (1.0, 0.0))[1] == expected
    assert vmap(grad(f))(np.array([0.0, 0.0]), np.array([1.5, 1.5])).tolist() == [expected] * 2


@pytest.mark.parametrize("text, expected", NOT_FINITE)
def test_what_is_asked_to_be_finite_need_not_be(text, expected):
    """What a mask leaves out of it has no part in a derivative by what is finite."""
    data = "a = np.array([1.0, np.inf, np.nan, -np.inf, 2.0])\n "
    check(data + (text if "return" in text else f"return {text}"), np.full(5, 0.5), expected)
    f, a = function(text, "x, a"), np.array(DATA)
    np.testing.assert_allclose(grad(f)(np.full(5, 0.5), a), expected)
    assert grad(f)(0.5, a) == pytest.approx(np.sum(expected))
    assert jvp(lambda x: f(x, a), (0.5,), (1.0,))[1] == pytest.approx(np.sum(expected))
    batch = np.full((2, 5), 0.5)
    np.testing.assert_allclose(vmap(grad(f), (0, None))(batch, a), [expected] * 2)
    np.testing.assert_allclose(vmap(grad(f))(batch, np.stack([a, a])), [expected] * 2)


@pytest.mark.parametrize("text, x, expected", SMOOTH[:4])
def test_curvature_of_squares(text, x, expected):
    """What is smooth has a second derivative: that of a squared length is the unit matrix."""
    factor = {0: 1.0, 1: 2.0, 3: 2.0}
    place = [row[0] for row in SMOOTH].index(text)
    if place in factor:
        found = hessian(function(text))(np.asarray(x))
        np.testing.assert_allclose(found, factor[place] * np.eye(2), atol=1e-15)


SATURATED = [
    ("np.sum(y / (1 + np.exp(-3 * x)))", lambda s, y: 3 * y * s * (1 - s)),
    ("np.sum(y * (1.0 / (np.exp(-3 * x) + 1.0)))", lambda s, y: 3 * y * s * (1 - s)),
    ("np.sum(2.5 / (0.5 + 0.5 * np.exp(-3 * x)))", lambda s, y: 15 * s * (1 - s)),
    (
        "np.sum(y * (2.5 / (2.0 + np.exp(np.log(2.0) - 3 * x))))",
        lambda s, y: 3.75 * y * s * (1 - s),
    ),
    ("np.sum((1 / (1 + np.exp(-3 * x))) ** 2)", lambda s, y: 6 * s**2 * (1 - s)),
]


@pytest.mark.parametrize("text, slope", SATURATED)
def test_what_saturates_is_finite(text, slope):
    """1 / (1 + exp(-x)) and its relatives, where the exponential is infinite, 0, or neither.

    The slope is y * (1 - y), which is exact up to the rounding of y: 0 where y is 1.
    """
    x, y = np.array([-300.0, -12.0, -1.0, 0.0, 0.4, 2.0, 300.0]), np.arange(1.0, 8.0)
    share = 0.5 + 0.5 * np.tanh(1.5 * x)
    with np.errstate(over="ignore"):
        found = grad(function(text, "x, y"))(x, y)
    np.testing.assert_allclose(found, slope(share, y), rtol=1e-9, atol=1e-13)


def test_the_logistic_function_is_written_as_an_expert_writes_it():
    source = grad(function("np.sum(1 / (1 + np.exp(-x)))")).source(np.ones(3))
    assert "return ratio * (1 - ratio)" in source
    assert "isfinite" not in source


def test_logistic_function_in_single_precision():
    check("1 / (1 + np.exp(-x))", -89.0, 0.0, np.float32)


def test_what_was_overwritten_as_a_whole_has_no_tangent():
    def spread_of_ones(x):
        np.copyto(x, 1.0)
        return np.std(x)

    x = np.array([2.0, 3.0])
    assert jvp(spread_of_ones, x, np.ones(2)) == (0.0, 0.0)
    assert not grad(spread_of_ones)(x).any()


@pytest.mark.parametrize("text, x", WITHOUT)
def test_where_there_is_no_derivative_there_is_no_number(text, x):
    f, x = function(text), np.asarray(x)[()]
    assert np.isnan(grad(f)(x)).any()
    slopes = [jvp(f, (x,), (step,))[1] for _, step in directions(x)]
    assert np.isnan(slopes).any()


@pytest.mark.parametrize("length", ["np.abs(x)", "np.fabs(x)", "abs(-x)"])
@pytest.mark.parametrize("text", ["{0} ** 2", "2 * {0} * (0.5 * {0})", "np.float_power({0}, 2.0)"])
def test_the_square_of_a_length_has_a_second_derivative(length, text):
    f = module(f"import numpy as np\ndef f(x):\n    return {text.format(length)}\n").f

    def slope(x):
        return jvp(f, (x,), (1.0,))[1]

    assert jvp(slope, (0.0,), (1.0,))[1] == grad(slope)(0.0) == grad(grad(f))(0.0) == 2.0


BY_BOTH = ["x ** y", "np.power(x, y)", "np.float_power(x, y)", "math.pow(x, y)"]


@pytest.mark.parametrize("text", BY_BOTH)
@pytest.mark.parametrize(
    "x, y, by_x, by_y, mixed",
    [
        (0.0, 0.0, 0.0, 0.0, None),
        (0.0, 1.0, 1.0, 0.0, None),
        (0.0, 2.5, 0.0, 0.0, 0.0),
        (2.0, 0.0, 0.0, math.log(2.0), 0.5),  # (1 + y * log(x)) * x**(y - 1)
        (2.0, 3.0, 12.0, 8 * math.log(2.0), 4 + 12 * math.log(2.0)),
    ],
)
def test_power_of_a_variable_exponent(text, x, y, by_x, by_y, mixed):
    f = module(f"import math\ndef f(x, y):\n    return {text}\n").f
    np.testing.assert_allclose(grad(f, (0, 1))(x, y), (by_x, by_y), rtol=1e-14)
    found = [jvp(f, (x, y), step)[1] for step in ((1.0, 0.0), (0.0, 1.0))]
    np.testing.assert_allclose(found, (by_x, by_y), rtol=1e-14)
    samples = np.array([x, 1.5]), np.array([y, 1.5])
    batch = vmap(grad(f, (0, 1)))(*samples)
    np.testing.assert_allclose([each[0] for each in batch], (by_x, by_y), rtol=1e-14)
    if mixed is not None:
        np.testing.assert_allclose(grad(grad(f, 0), 1)(x, y), mixed, rtol=1e-14)
        np.testing.assert_allclose(grad(grad(f, 1), 0)(x, y), mixed, rtol=1e-14)
    if y > 1:
        curve = grad(grad(f))(x, y)
        np.testing.assert_allclose(curve, y * (y - 1) * x ** (y - 2), rtol=1e-14)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float32, float])
def test_powers_of_arrays_of_each_kind(kind):
    x, y = np.array([0.0, 0.0, 2.0]), np.array([0, 1, 3], kind)
    f = module("def f(x, y):\n    return np.sum(x ** y)\n").f
    np.testing.assert_array_equal(grad(f)(x, y), [0.0, 1.0, 12.0])
    np.testing.assert_array_equal(grad(f)(x.astype(np.float32), y), [0.0, 1.0, 12.0])
    g = module("def f(x, y):\n    return np.sum(np.real(x ** y))\n").f
    np.testing.assert_array_equal(grad(g)(x + 0j, y), [0.0, 1.0, 12.0])


def test_powers_of_tensors():
    f = module("from s2s_ad import ops\ndef f(x, y):\n    return ops.pow(x, y).sum()\n").f
    x, y = Tensor(np.zeros(3, np.float32)), Tensor(np.array([0, 1, 2], np.float32))
    np.testing.assert_array_equal(grad(f)(x, y).asnumpy(), [0.0, 1.0, 0.0])
    assert ops.pow(x, y).shape == (3,)


def test_known_exponents_keep_the_text_of_an_expert():
    source = grad(module("def f(x):\n    return x**3 + 2 * x**2 + x**0.5\n").f).source(1.0)
    assert "3.0 * x**2" in source
    assert "!= 0" not in source
