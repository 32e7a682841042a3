"""Functions of Python on numbers and arrays: math, operator, statistics, and the builtins."""

import numpy as np
import pytest

from rules.properties import module
from s2s_ad import S2SError, grad, jit, vmap

HEAD = "import fractions\nimport math\nimport statistics\n"
X, Y = 2.3, 0.7

OF_NUMBERS = [
    "math.remainder(x, y) * x",
    "math.fsum([x, y, x * y, 1.0])",
    "math.prod([x, y, x * y]) + math.prod((x, y), start=2.0) + math.prod([])",
    "math.dist([x, y], (0.1, 0.2)) * y",
    "math.hypot(x, y, x * y) * math.hypot(x)",
    "math.modf(x)[0] * y + math.modf(x)[1] * x",
    "math.frexp(x)[0] * y + math.frexp(x)[1] * x",
    "math.ldexp(x, 3) * y",
    "math.nextafter(x, 9.0) * y",
    "math.ulp(x) * y + x * y",
    "x if math.isclose(x, y, rel_tol=0.1) else x * y",
    "x**2 * math.comb(6, 2) + y**2 * math.perm(5, 2) * math.factorial(4) * math.isqrt(17)",
    "x**2 * math.gcd(12, 18, 9) + y**2 * math.lcm(4, 6)",
    "x * math.gcd(round(x), 4) + y * math.factorial(int(x)) + x * math.lcm(int(x), 3, 4)",
    "round(x) * y + round(x, 1) * x",
    "divmod(x, y)[1] * x + divmod(x, y)[0] * y + divmod(7, 2)[0] * x",
    "pow(x, y) + x * pow(3, 4, 5)",
    "x * bool(y) + (y if bool(x - y) else x)",
    "statistics.mean([x, y, 1.0]) * statistics.fmean((x, y))",
    "sum([x, y], 1.0) * max(x, y) * min([x, y, 0.1])",
    "(lambda a: a[0] + a[1] * y)(operator.itemgetter(1, 0)([x, y, 1.0]))",
    "operator.itemgetter('k')({'k': x}) * operator.getitem([x, y], 1)",
    "operator.add([x], [y])[1] * operator.mul(x, y) - operator.pow(x, 2)",
    "operator.abs(-x) * operator.neg(y) * operator.pos(x)",
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("text", OF_NUMBERS)
@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
def test_of_numbers(text):
    f = module(f"{HEAD}def f(x, y):\n    return {text}\n").f
    assert jit(f)(X, Y) == f(X, Y)
    both = grad(f, (0, 1))
    for place in (0, 1):
        assert both(X, Y)[place] == pytest.approx(slope(f, place), rel=1e-6, abs=1e-8)
        second = slope(lambda *args, place=place: both(*args)[place], place)
        assert grad(grad(f, place), place)(X, Y) == pytest.approx(second, rel=1e-5, abs=1e-6)
    xs = X * np.array([1.0, 1.05, 1.2])
    found = vmap(grad(f), in_axes=(0, None))(xs, Y)
    np.testing.assert_allclose(found, [grad(f)(float(x), Y) for x in xs], rtol=1e-12)


def slope(f, place, step=1e-6):
    moved = [[X, Y], [X, Y]]
    moved[0][place] += step
    moved[1][place] -= step
    return (f(*moved[0]) - f(*moved[1])) / (2 * step)


ON_ARRAYS = """
def assigned(a, b):
    c = np.array(a)
    operator.setitem(c, (0, 1), b[0])
    c = operator.iadd(c, b)
    d = c
    operator.imul(d, 2.0)
    d = operator.itruediv(operator.isub(d, b[1]), 3.0)
    return np.sum(c * operator.ipow(np.copy(a), 2) * d)


def called(a, b):
    total = operator.methodcaller("sum", axis=0)(a) * operator.attrgetter("T.size")(a)
    return np.sum(second(a) * total * operator.matmul(a, b)[0])


def asked(a, b):
    y = a * (2.0 if hasattr(a, "shape") and type(a) is np.ndarray else 1.0)
    return np.sum(y * operator.not_(False) * b)


second = operator.itemgetter(1)
"""


@pytest.mark.parametrize("name", ["assigned", "called", "asked"])
def test_on_arrays(name):
    f = getattr(module(HEAD + ON_ARRAYS), name)
    a, b = np.random.default_rng(3).normal(size=(2, 3)), np.array([0.5, -1.5, 2.0])
    assert jit(f)(a, b) == pytest.approx(f(a, b), rel=1e-14)
    da, db = np.ones((2, 3)) * 0.3, np.array([0.2, 0.1, -0.4])
    near = (f(a + 1e-6 * da, b + 1e-6 * db) - f(a - 1e-6 * da, b - 1e-6 * db)) / 2e-6
    a_bar, b_bar = grad(f, (0, 1))(a, b)
    assert np.sum(a_bar * da) + np.sum(b_bar * db) == pytest.approx(near, rel=1e-7)


@pytest.mark.parametrize(
    "text, said",
    [
        ("pow(x, 2, 3)", "pow() with a modulus"),
        ("fractions.Fraction(x)", "Fraction"),
        ("round(np.ones(3) * x)[0]", "round() of anything but one number"),
    ],
)
def test_what_is_refused(text, said):
    f = module(f"{HEAD}def f(x, y):\n    return {text}\n").f
    with pytest.raises(S2SError) as caught:
        grad(f)(X, Y)
    assert said in str(caught.value)
