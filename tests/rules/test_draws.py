"""Random numbers: drawn once, by the user's generator, as Python draws them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from rules.properties import module
from s2s_ad import grad, hessian, jacfwd, jacrev, jit, vmap
from s2s_ad.check import central_differences
from s2s_ad.diagnostics import BatchError, DerivativeError
from s2s_ad.rules.draws import NUMPY, PYTHON

pytestmark = pytest.mark.thinned(2)

PARAMETERS = {  # of those that need some; the others are drawn with their defaults
    "beta": "2.0, 3.0",
    "binomial": "9, 0.3",
    "exponential": "0.5",
    "gamma": "2.0, 0.5",
    "integers": "0, 9",
    "laplace": "0.5, 2.0",
    "logistic": "0.5, 2.0",
    "lognormal": "0.1, 0.3",
    "normal": "0.5, 2.0",
    "poisson": "3.0",
    "randint": "0, 9",
    "randrange": "2, 9, 3",
    "uniform": "-1.0, 2.0",
}
HOLDERS = {
    "Generator": np.random.default_rng,
    "RandomState": np.random.RandomState,
}
METHODS = [
    (holder, name)
    for holder, make in HOLDERS.items()
    for name in sorted(NUMPY)
    if hasattr(make(0), name)
]
X = np.array([0.5, -1.5, 2.0])


def drawing(call):
    """f(x, rng), and its gradient, which is the draw."""
    return module(f"def f(x, rng):\n    return np.sum(x * {call})\n").f


def call_of(name, size):
    given = [each for each in (PARAMETERS.get(name), size and f"size={size}") if each]
    return f"rng.{name}({', '.join(given)})"


@pytest.mark.parametrize("size", ["", "3", "(2, 3)"], ids=["number", "vector", "matrix"])
@pytest.mark.parametrize("holder, name", METHODS, ids="-".join)
def test_what_a_generator_draws(holder, name, size):
    f, make = drawing(call_of(name, size)), HOLDERS[holder]
    assert jit(f)(X, make(7)) == f(X, make(7))
    drawn = eval(call_of(name, size), {"rng": make(7)})
    expected = np.sum(np.broadcast_to(drawn, np.broadcast_shapes(np.shape(drawn), (3,))), axis=())
    expected = expected if expected.ndim == 1 else expected.sum(axis=0)
    np.testing.assert_allclose(grad(f)(X, make(7)), expected)


@pytest.mark.parametrize("name", sorted(PYTHON))
def test_what_a_generator_of_python_draws(name):
    arguments = PARAMETERS.get(name, "0.5, 2.0" if name == "gauss" else "")
    f = drawing(f"rng.{name}({arguments})")
    drawn = eval(f"rng.{name}({arguments})", {"rng": random.Random(7)})
    np.testing.assert_allclose(grad(f)(X, random.Random(7)), [drawn] * 3)


@pytest.mark.parametrize("name", sorted(set(NUMPY) & set(dir(np.random))))
def test_what_the_state_of_numpy_draws(name):
    call = call_of(name, "3").replace("rng", "np.random")
    f = module(f"def f(x):\n    return np.sum(x * {call})\n").f
    np.random.seed(5)
    expected = eval(call)
    np.random.seed(5)
    np.testing.assert_allclose(grad(f)(X), expected)


def test_one_draw_for_all_samples():
    f = drawing("rng.normal(size=3)")
    whole = np.stack([X, 2 * X])
    expected = whole @ np.random.default_rng(3).normal(size=3)
    np.testing.assert_allclose(vmap(f, (0, None))(whole, np.random.default_rng(3)), expected)
    rng = np.random.default_rng(3)  # captured, and passed on
    np.testing.assert_allclose(jit(lambda whole: vmap(f, (0, None))(whole, rng))(whole), expected)


@pytest.mark.parametrize("transform", [jacfwd, jacrev])
def test_the_columns_of_a_jacobian_are_of_one_draw(transform):
    f = module(
        "def f(x, y):\n    z = np.random.normal(size=3)\n    return x * y * z, z + x[0] * 0\n"
    ).f
    np.random.seed(5)
    (by_x, by_y), drawn = transform(f, (0, 1), has_aux=True)(X, 2 * X)
    np.testing.assert_allclose(by_x, np.diag(2 * X * drawn))
    np.testing.assert_allclose(by_y, np.diag(X * drawn))
    after = np.random.normal(size=3)
    np.random.seed(5)
    np.testing.assert_array_equal(np.random.normal(size=3), drawn)
    np.testing.assert_array_equal(np.random.normal(size=3), after)


def test_a_hessian_is_of_one_draw():
    f = module("def f(x):\n    return np.sum(x**2 * np.random.normal(size=3))\n").f
    np.random.seed(5)
    found = hessian(f)(X)
    np.random.seed(5)
    np.testing.assert_allclose(found, np.diag(2 * np.random.normal(size=3)))


@pytest.mark.parametrize(
    "transform, code, error",
    [
        (lambda f: grad(f), "S2S302", DerivativeError),
        (lambda f: vmap(f, (0, None)), "S2S402", BatchError),
    ],
    ids=["grad", "vmap"],
)
def test_a_parameter_that_varies_is_refused_by_place(transform, code, error):
    f = module("def f(x, rng):\n    return np.sum(rng.gamma(x, 2.0))\n").f
    with pytest.raises(error) as refusal:
        transform(f)(X, np.random.default_rng(0))
    assert refusal.value.code == code
    assert refusal.value.origin is not None


# ---- derivatives, and generators that a function makes -------------------------------------------

FAMILIES = [
    ("exponential", "s"),
    ("gamma", "2.0, s"),
    ("laplace", "m, s"),
    ("logistic", "m, s"),
    ("lognormal", "m, s"),
    ("normal", "m, s"),
    ("uniform", "m, s"),
]
MAKERS = ("np.random.default_rng(3)", "np.random.RandomState(3)")


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name, parameters", FAMILIES)
def test_the_slopes_of_draws(maker, name, parameters):
    """Against central differences: the numbers drawn are the same for all parameters."""
    f = module(
        "def f(m, s):\n"
        f"    rng = {maker}\n"
        f"    y = rng.{name}({parameters}, size=(2, 3))\n"
        f"    return np.sum(y**2) * rng.{name}({parameters})\n"
    ).f
    m, s, step = 0.4, 1.3, 1e-5
    assert jit(f)(m, s) == f(m, s)
    slopes = grad(f, (0, 1))(m, s)
    expected = (
        (f(m + step, s) - f(m - step, s)) / (2 * step),
        (f(m, s + step) - f(m, s - step)) / (2 * step),
    )
    np.testing.assert_allclose(slopes, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name, parameters", [("normal", "m, s"), ("uniform", "m, s")])
def test_draws_whose_parameters_differ_between_samples(name, parameters):
    """A generator made inside the function draws the same numbers for each sample."""
    f = module(
        f"def f(m, s):\n    return np.random.default_rng(3).{name}({parameters}, size=4)\n"
    ).f
    m, s = np.array([0.1, 0.2, 0.3]), np.array([1.1, 1.2, 1.3])
    expected = np.stack([f(*each) for each in zip(m, s, strict=True)])
    np.testing.assert_allclose(vmap(f)(m, s), expected, rtol=1e-15)
    np.testing.assert_allclose(vmap(f, (None, 0))(0.1, s)[0], expected[0], rtol=1e-15)


def test_the_state_of_numpy_begins_anew():
    f = module(
        "def f(x):\n"
        "    np.random.seed(7)\n"
        "    return np.sum(x * np.random.rand(3) * np.random.randn(3))\n"
    ).f
    np.random.seed(7)
    expected = np.random.rand(3) * np.random.randn(3)
    np.testing.assert_array_equal(grad(f)(X), expected)
    assert "    np.random.seed(7)" in grad(f).source(X)


def test_the_state_of_python_begins_anew():
    f = module(
        "import random\ndef f(x):\n    random.seed(7)\n    return np.sum(x * random.gauss(0, 1))\n"
    ).f
    random.seed(7)
    expected = np.full(X.shape, random.gauss(0, 1))
    np.testing.assert_array_equal(grad(f)(X), expected)
    assert "    random.seed(7)" in grad(f).source(X)


def test_a_generator_goes_through_a_loop():
    f = module(
        "def f(x):\n"
        "    rng = np.random.default_rng(5)\n"
        "    total = 0.0\n"
        "    for k in range(4):\n"
        "        total = total + k * np.sum(x * rng.standard_normal(3))\n"
        "    return total\n"
    ).f
    rng = np.random.default_rng(5)
    expected = sum(k * rng.standard_normal(3) for k in range(4))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-14)


def test_a_parameter_that_shapes_the_distribution_has_no_slope():
    f = module("def f(a):\n    return np.random.default_rng(0).gamma(a, 2.0)\n").f
    with pytest.raises(DerivativeError, match="with respect to shape of"):
        grad(f)(1.5)


def test_a_generator_made_inside_draws_in_the_shape_of_its_arguments():
    f = module(
        "def f(x):\n"
        "    rng = np.random.RandomState(7)\n"
        "    total = np.sum(rng.randn(3, 2) * x[0]) + np.sum(rng.rand(4) * x[1])\n"
        "    return total + rng.randn() * x[2]\n"
    ).f
    rng = np.random.RandomState(7)
    expected = [np.sum(rng.randn(3, 2)), np.sum(rng.rand(4)), rng.randn()]
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-14)
    np.testing.assert_allclose(vmap(grad(f))(np.stack([X, X])), [expected, expected], rtol=1e-14)


# ---- an order, what is chosen, and samples that draw a different number of times ----------------


@pytest.mark.parametrize(
    "lines",
    [
        "rng = random.Random(3); y = [x[0], x[1] * 2.0, 1.0]; rng.shuffle(y); z = y[0] * y[1]",
        "rng = random.Random(3); z = rng.choice([x[0], x[1] * 2.0, x[2] ** 2]) ** 2",
        "rng = random.Random(3); z = sum(i * y for i, y in enumerate(rng.sample([*x], 2)))",
        "rng = random.Random(3); z = x[rng.randrange(3)] * rng.gauss() + x[rng.randint(0, 2)]",
        "rng = np.random.default_rng(3); y = x**2; rng.shuffle(y); z = y[0] * y[1]",
        "rng = np.random.RandomState(3); z = x[rng.permutation(len(x))] @ [1.0, 2.0, 3.0]",
        "rng = np.random.RandomState(3); z = rng.permutation(x**2) @ [1.0, 2.0, 3.0]",
        "rng = np.random.default_rng(3); z = rng.permutation([x[0], 2.0, x[1]]) @ [1.0, 2.0, 3.0]",
        "rng = np.random.RandomState(3); z = np.sum(x[rng.choice(3, 5)] ** 2)",
        "rng = np.random.RandomState(3); z = rng.choice(x) ** 2",
        "rng = np.random.RandomState(3); z = rng.choice(x, 2, replace=False)[0] ** 2",
        "rng = np.random.RandomState(3); z = rng.choice(x, size=2, p=[0.2, 0.3, 0.5])[1] ** 2",
    ],
)
def test_an_order_and_what_is_chosen(lines):
    f = module(f"import random\n\ndef f(x):\n    {lines}\n    return z * rng.uniform(0.0, 1.0)\n").f
    batch = np.stack([X, 1.2 * X])
    assert jit(f)(X) == pytest.approx(f(X), rel=1e-14)
    np.testing.assert_allclose(grad(f)(X), central_differences(f, (X,))[0], atol=1e-8)
    np.testing.assert_allclose(vmap(f)(batch), [f(each) for each in batch])


@pytest.mark.parametrize("maker", [*MAKERS, "random.Random(3)"])
@pytest.mark.parametrize(
    "lines",
    [
        "if x[0] < 0.55: z = rng.uniform(0.0, 1.0) * x[1]",
        "while z < 2.0: z = z + rng.uniform(0.0, 1.0) * x[2]",
        "for i in range(3): z = z + 0.5 if z > 0.8 or rng.random() < 0.5 else z * 2",
        "z = drawn(x[0], rng)",
    ],
)
def test_samples_that_draw_more_often_than_others(maker, lines):
    """Each has a generator of its own: the numbers after are those that it draws alone."""
    f = module(
        "import random\n\n"
        "def drawn(x, rng):\n"
        "    if x > 0.55:\n"
        "        return rng.uniform(0.0, 1.0) * x\n"
        "    return x**2\n\n"
        f"def f(x):\n    rng = {maker}\n    z = x[0] ** 2\n    {lines}\n"
        "    return z * rng.uniform(0.0, 1.0) + z\n"
    ).f
    batch = np.stack([X, 1.2 * X, 2.0 * X])
    np.testing.assert_allclose(vmap(f)(batch), [f(each) for each in batch])
    expected = [central_differences(f, (each,))[0] for each in batch]
    np.testing.assert_allclose(vmap(grad(f))(batch), expected, atol=1e-8)
