"""Random numbers: drawn once, by the user's generator, as Python draws them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from rules.properties import module
from s2s_ad import grad, jit, vmap
from s2s_ad.diagnostics import BatchError, DerivativeError
from s2s_ad.rules.draws import NUMPY, PYTHON

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


@pytest.mark.parametrize(
    "transform, code, error",
    [
        (lambda f: grad(f), "S2S302", DerivativeError),
        (lambda f: vmap(f, (0, None)), "S2S402", BatchError),
    ],
    ids=["grad", "vmap"],
)
def test_a_parameter_that_varies_is_refused_by_place(transform, code, error):
    f = module("def f(x, rng):\n    return np.sum(rng.normal(x, 2.0))\n").f
    with pytest.raises(error) as refusal:
        transform(f)(X, np.random.default_rng(0))
    assert refusal.value.code == code
    assert refusal.value.origin is not None
