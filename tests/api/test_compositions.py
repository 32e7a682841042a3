"""Transforms of transforms, to depth three and in any order, against differences and loops."""

import itertools

import numpy as np
import pytest

from api import oracles
from s2s_ad import grad, hessian, jacfwd, jacrev, jit, jvp, value_and_grad, vjp, vmap

pytestmark = pytest.mark.thinned(3)

rng = np.random.default_rng(1)


def smooth(x):
    """Every element along the last axis acts on the others, and no derivative of it vanishes."""
    y = np.sin(x) * np.sum(x * x, axis=-1, keepdims=True) + x[..., ::-1] * x
    return np.tanh(y) + np.exp(0.3 * x)


# ---- chains --------------------------------------------------------------------------------------
# Each step has our transform of a function of one array, and what it means: differences of what
# the function inside means, or a loop over samples.


def loop(function):
    return lambda x: np.stack([np.asarray(function(sample)) for sample in x])


def along(x):
    """A direction in the shape of x."""
    return np.linspace(-1.0, 1.0, np.size(x)).reshape(np.shape(x))


def tangent_by_differences(function):
    def tangent(x):
        moved = (np.asarray(function(x + sign * 1e-5 * along(x))) for sign in (1, -1))
        return (next(moved) - next(moved)) / 2e-5

    return tangent


STEPS = {
    "grad": (grad, lambda f: lambda x: oracles.gradient(f, x)),
    "jacfwd": (jacfwd, lambda f: lambda x: oracles.jacobian(f, x)),
    "jacrev": (jacrev, lambda f: lambda x: oracles.jacobian(f, x)),
    "vmap": (vmap, loop),
    "jit": (jit, lambda f: f),
}
AT_ONCE = {  # the last step of a chain
    "jvp": (lambda f: lambda x: jvp(f, x, along(x))[1], tangent_by_differences),
    "vjp": (
        lambda f: lambda x: (lambda y, pull: pull(np.ones_like(y))[0])(*vjp(f, x)),
        lambda f: lambda x: oracles.gradient(f, x),
    ),
    "value_and_grad": (
        lambda f: lambda x: value_and_grad(f)(x)[1],
        lambda f: lambda x: oracles.gradient(f, x),
    ),
}
PLAIN = ("vmap", "jit")
TOLERANCES = (1e-12, 1e-7, 2e-4)  # by the number of derivatives


def derivatives_in(chain):
    return sum(step not in PLAIN for step in chain)


def chains():
    """All chains of up to three steps with at most two derivatives: differences know no more."""
    for length in (1, 2, 3):
        for first, *rest in itertools.product([*AT_ONCE, *STEPS], *[STEPS] * (length - 1)):
            chain = (first, *rest)
            if derivatives_in(chain) <= 2 and chain.count("jit") <= 1:
                yield chain


@pytest.mark.thinned(12)
@pytest.mark.parametrize("chain", list(chains()), ids="-".join)
def test_chains_of_transforms(chain):
    x = rng.standard_normal((*(2,) * chain.count("vmap"), 3))
    found = expected = smooth
    for step in reversed(chain):
        make, means = (STEPS | AT_ONCE)[step]
        found, expected = make(found), means(expected)
    tolerance = TOLERANCES[derivatives_in(chain)]
    np.testing.assert_allclose(found(x), expected(x), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("chain", list(itertools.product([grad, jacfwd, jacrev], repeat=3)))
def test_three_derivatives_against_a_formula(chain):
    first, second, third = chain
    found = first(second(third(lambda x: np.exp(2 * x) * np.sin(x))))(0.7)
    expected = ((2 + 1j) ** 3 * np.exp((2 + 1j) * 0.7)).imag
    np.testing.assert_allclose(found, expected)


def test_derivatives_of_higher_order_against_a_formula():
    derivative = np.sin
    for order in range(1, 6):
        derivative = grad(derivative) if order > 1 else grad(lambda x: np.sin(x))
        np.testing.assert_allclose(derivative(0.3), np.sin(0.3 + order * np.pi / 2))


# ---- Jacobians and Hessians ----------------------------------------------------------------------

SHAPES = [(), (1,), (3,), (2, 3), (2, 1, 2)]


def contracted(shape):
    """A function from arrays of any shape to arrays of this shape, in which all elements act."""
    weights = np.cos(np.arange(1.0, np.prod(shape, dtype=int) + 1)).reshape(shape)

    def function(x):
        return np.sin(weights * np.sum(x * x * x)) + weights * np.sum(np.exp(0.5 * x))

    return function


@pytest.mark.parametrize("maker", [jacfwd, jacrev])
@pytest.mark.parametrize("out_shape", SHAPES, ids=str)
@pytest.mark.parametrize("in_shape", SHAPES, ids=str)
def test_jacobians_of_all_shapes(maker, in_shape, out_shape):
    function, x = contracted(out_shape), rng.standard_normal(in_shape)
    found = maker(function)(x)
    assert np.shape(found) == (*out_shape, *in_shape)
    expected = oracles.jacobian(function, x)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("shape", SHAPES[:4], ids=str)
@pytest.mark.parametrize(
    "maker",
    [
        hessian,
        *(lambda f, a=a, b=b: a(b(f)) for a in (jacfwd, jacrev) for b in (jacfwd, jacrev, grad)),
    ],
)
def test_hessians_of_all_shapes(maker, shape):
    def function(x):
        return np.sum(np.sin(x) * np.sum(x * x))

    x = rng.standard_normal(shape)
    found = maker(function)(x)
    assert np.shape(found) == (*shape, *shape)
    np.testing.assert_allclose(found, oracles.hessian(function, x), rtol=1e-4, atol=1e-4)


def of_three(a, b, c):
    return np.sum(np.sin(a @ b["w"]) * c) + c * b["k"] ** 2, np.outer(b["w"], b["w"]) * c


A, B, C = rng.standard_normal((2, 3)), {"w": rng.standard_normal(3), "k": 0.5}, 1.5


@pytest.mark.parametrize("maker", [jacfwd, jacrev])
def test_jacobians_of_several_inputs_and_outputs(maker):
    first, second = maker(of_three, (0, 1, 2))(A, B, C)
    readings = [
        (lambda block: block[0], lambda v: (v, B, C), A),
        (lambda block: block[1]["w"], lambda v: (A, {"w": v, "k": B["k"]}, C), B["w"]),
        (lambda block: block[1]["k"], lambda v: (A, {"w": B["w"], "k": v}, C), B["k"]),
        (lambda block: block[2], lambda v: (A, B, v), C),
    ]
    for read, arguments, at in readings:
        for output, block in enumerate((first, second)):
            expected = oracles.jacobian(lambda v: of_three(*arguments(v))[output], at)
            np.testing.assert_allclose(read(block), expected, rtol=1e-6, atol=1e-7)


def test_hessians_of_several_inputs():
    def function(a, b, c):
        return of_three(a, b, c)[0]

    blocks = hessian(function, (0, 2))(A, B, C)
    joined = np.concatenate([A.ravel(), [C]])
    expected = oracles.hessian(lambda v: function(v[:6].reshape(2, 3), B, v[6]), joined)
    np.testing.assert_allclose(blocks[0][0].reshape(6, 6), expected[:6, :6], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(blocks[0][1].reshape(6), expected[:6, 6], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(blocks[1][0].reshape(6), expected[6, :6], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(blocks[1][1], expected[6, 6], rtol=1e-4, atol=1e-5)


def test_a_hessian_vector_product_is_the_hessian_times_the_vector():
    def function(x):
        return np.sum(smooth(x))

    x, v = rng.standard_normal(4), rng.standard_normal(4)
    _, forward_over_reverse = jvp(grad(function), (x,), (v,))
    (reverse_over_reverse,) = vjp(grad(function), x)[1](v)
    expected = oracles.hessian(function, x) @ v
    for found in (forward_over_reverse, reverse_over_reverse, hessian(function)(x) @ v):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_forward_and_reverse_agree_on_the_dot_product():
    x, v, w = rng.standard_normal(5), rng.standard_normal(5), rng.standard_normal(5)
    _, tangent = jvp(smooth, x, v)
    (adjoint,) = vjp(smooth, x)[1](w)
    np.testing.assert_allclose(tangent @ w, adjoint @ v)


def test_per_sample_gradients_of_a_network():
    def loss(params, x, y):
        h = np.tanh(params["W"] @ x + params["b"])
        return np.sum((h - y) ** 2)

    params = {"W": rng.standard_normal((2, 3)), "b": rng.standard_normal(2)}
    x, y = rng.standard_normal((4, 3)), rng.standard_normal((4, 2))
    value, found = vmap(value_and_grad(loss), in_axes=(None, 0, 0))(params, x, y)
    for i in range(4):
        np.testing.assert_allclose(value[i], loss(params, x[i], y[i]))
        for name in params:
            expected = oracles.gradient(
                lambda v: loss(params | {name: v}, x[i], y[i]), params[name]
            )
            np.testing.assert_allclose(found[name][i], expected, rtol=1e-6, atol=1e-7)


# ---- adjoints that are Python numbers ------------------------------------------------------------


def axes_added(x):
    """The adjoint of `total` is a count: a number, which no index can read."""
    total = np.sum(x)
    return np.sum(total[None, None] * x) + np.sum(x * x)


@pytest.mark.parametrize("second", [lambda f: grad(grad(f)), lambda f: grad(jacfwd(f))])
def test_axes_added_to_a_number(second):
    x = rng.normal(size=(2, 3))
    expected = oracles.gradient(grad(axes_added), x)
    np.testing.assert_allclose(second(axes_added)(x), expected, rtol=1e-6)


# ---- arrays without axes -------------------------------------------------------------------------


def test_a_result_is_never_an_argument_without_axes():
    x, y = np.array(2.0), np.array(3.0)
    for part in grad(np_product, (0, 1))(x, y):
        part *= 0.0
    assert (x, y) == (2.0, 3.0)


def np_product(x, y):
    return x * y


@pytest.mark.parametrize(
    "same",
    [
        lambda x: x * 1.0,
        lambda x: x + 0.0,
        lambda x: x / 1.0,
        lambda x: x**1,
        lambda x: +x,
        lambda x: np.multiply(1.0, x.copy()),
        lambda x: (x * 1.0) * 1.0,
    ],
)
def test_arithmetic_makes_a_number_of_an_array_without_axes(same):
    x = np.array(2.0)
    found = jit(same)(x)
    assert type(found) is type(same(x)) is np.float64
    assert found == 2.0
