"""interop.jax: values and derivatives beside JAX's own."""

import numpy as np
import pytest

from interop.programs import layer, of_containers, picked, recurrence
from s2s_ad import interop
from s2s_ad.diagnostics import UnsupportedError

jax = pytest.importorskip("jax", reason="JAX is not installed")
jnp = jax.numpy
rng = np.random.default_rng(0)
X, W, B = rng.normal(size=(5, 4, 3)), rng.normal(size=3), 0.3
near = {"rtol": 1e-5, "atol": 1e-6}


def single(*values):
    return tuple(jnp.asarray(each, jnp.float32) for each in values)


def theirs(x, w, b):
    return jnp.tanh(x @ w + b)


def loss(fn):
    return lambda w, x, b: jnp.sum(fn(x, w, b) ** 2)


WAYS = {
    "value": lambda fn: lambda w, x, b: fn(x[0], w, b),
    "grad": lambda fn: lambda w, x, b: jax.grad(loss(fn), (0, 1, 2))(w, x[0], b),
    "vmap": lambda fn: lambda w, x, b: jax.vmap(fn, (0, None, None))(x, w, b),
    "vmap of another axis": lambda fn: lambda w, x, b: jax.vmap(fn, (1, None, None))(x, w, b),
    "vmap of vmap": lambda fn: (
        lambda w, x, b: jax.vmap(jax.vmap(fn, (0, None, None)), (None, 0, None))(
            x, jnp.stack([w, 2 * w]), b
        )
    ),
    "per sample": lambda fn: jax.vmap(jax.grad(loss(fn)), (None, 0, None)),
    "a batch of one": lambda fn: lambda w, x, b: jax.vmap(fn, (0, None, None))(x[:1], w, b),
    "hessian": lambda fn: lambda w, x, b: jax.jacrev(jax.grad(loss(fn)))(w, x[0], b),
    "jacrev": lambda fn: lambda w, x, b: jax.jacrev(fn, 1)(x[0], w, b),
    "third": lambda fn: lambda w, x, b: jax.jacrev(jax.jacrev(jax.grad(loss(fn))))(w, x[0], b),
}


#: others take seconds to compile, mostly for JAX
QUICK = ("value", "grad", "vmap")


@pytest.mark.parametrize(
    "way", [pytest.param(e, marks=[] if e in QUICK else [pytest.mark.slow]) for e in WAYS]
)
def test_derivatives_and_batches_are_those_of_jax(way):
    ours, given = interop.jax(layer), single(W, X, B)
    expected = jax.tree.leaves(WAYS[way](theirs)(*given))
    for run in (WAYS[way](ours), jax.jit(WAYS[way](ours))):
        for a, b in zip(jax.tree.leaves(run(*given)), expected, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, **near)


def test_known_arguments_and_loops():
    ours = interop.jax(recurrence)

    def by_hand(h, w):
        for _ in range(3):
            h = h.at[1:].add(jnp.sin(w * h[:-1]))
        return h

    given = single(W, 0.7)
    found = jax.jit(jax.jacrev(lambda h, w: ours(h, w, 3), (0, 1)))(*given)
    for a, b in zip(found, jax.jacrev(by_hand, (0, 1))(*given), strict=True):
        np.testing.assert_allclose(a, b, **near)


def test_containers_and_whole_numbers():
    w, b, c = single(W, np.ones(2), 0.5)
    ours = interop.jax(of_containers)

    def total(parameters):
        found = ours(parameters, 3)
        return found["loss"] + jnp.sum(found["images"][0]) + 2 * jnp.sum(found["images"][1])

    found = jax.jit(jax.grad(total))({"w": w, "rest": [b, c]})
    np.testing.assert_allclose(found["w"], 6 * w * b[0] + c, **near)
    np.testing.assert_allclose(found["rest"][1], jnp.sum(w), **near)
    places = jnp.array([0, 2])
    slope = jax.grad(lambda x: jnp.sum(interop.jax(picked)(x, places)))(w)
    np.testing.assert_allclose(slope, 2 * w * np.array([1, 0, 1]), **near)


FACTOR = np.array([1.0, 2.0, 3.0])


def test_results_in_double_precision_have_the_dtype_of_jax():
    ours = interop.jax(lambda x: FACTOR * x**2)  # float64 in NumPy
    (w,) = single(W)
    assert ours(w).dtype == jnp.float32
    np.testing.assert_allclose(jax.grad(lambda w: ours(w).sum())(w), 2 * FACTOR * w, **near)


def test_shapes_have_to_follow_from_shapes():
    with pytest.raises(UnsupportedError, match="decided by the elements"):
        jax.jit(interop.jax(lambda x: x[x > 0]))(*single(W))
