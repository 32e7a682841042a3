"""A function in every mode, against what does not rest on derivative rules."""

import numpy as np

from s2s_ad import grad, jit, jvp, linearize, value_and_grad, vjp, vmap
from s2s_ad.check import central_differences


def assert_both_modes(function, args):
    """Reverse and forward mode by the first argument, against central differences."""
    value, gradient = value_and_grad(function)(*args)
    expected = central_differences(lambda x: function(x, *args[1:]), args[:1])[0]
    np.testing.assert_allclose(value, function(*args))
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)
    tangent = np.ones_like(args[0]) if isinstance(args[0], np.ndarray) else 1.0

    def of_the_first(x):
        return function(x, *args[1:])

    _, change = jvp(of_the_first, args[:1], (tangent,))
    np.testing.assert_allclose(change, np.sum(expected), rtol=1e-6, atol=1e-7)


def assert_batched(function, args, scales=(1.0, 0.8, -1.1)):
    """vmap by the first argument, and both orders of vmap and grad, against the loop."""
    batch = np.stack([np.asarray(args[0]) * scale for scale in scales])
    samples = [each if each.shape else float(each) for each in batch]
    axes = (0, *(None for _ in args[1:]))
    of_batch = vmap(function, in_axes=axes)

    def total(batch, *rest):
        return of_batch(batch, *rest).sum()

    values = [function(each, *args[1:]) for each in samples]
    gradients = [grad(function)(each, *args[1:]) for each in samples]
    np.testing.assert_allclose(of_batch(batch, *args[1:]), values)
    np.testing.assert_allclose(vmap(grad(function), in_axes=axes)(batch, *args[1:]), gradients)
    np.testing.assert_allclose(grad(total)(batch, *args[1:]), gradients)


def assert_in_halves(function, args):
    """vjp and linearize by the first argument against grad: what one half hands to the other."""
    expected = grad(function)(*args)

    def of_the_first(x):
        return function(x, *args[1:])

    value, pullback = vjp(of_the_first, args[0])
    np.testing.assert_allclose(value, function(*args))
    np.testing.assert_allclose(pullback(1.0)[0], expected)
    value, linear = linearize(of_the_first, args[0])
    np.testing.assert_allclose(value, function(*args))
    change = linear(np.ones_like(args[0]) if isinstance(args[0], np.ndarray) else 1.0)
    np.testing.assert_allclose(change, np.sum(expected), atol=1e-12)


def assert_as_a_whole(function, *args):
    """A number of one number or array (the first argument), in all modes and as text alone."""
    x, rest = args[0], args[1:]
    np.testing.assert_allclose(jit(function)(*args), function(*args), rtol=1e-12)
    assert_both_modes(function, args)
    assert_batched(function, args, (1.0, 1.01, 0.99))

    def slope(x):
        return np.sum(np.sin(grad(function)(x, *rest)))

    expected = central_differences(lambda x: slope(x), [x])[0]
    np.testing.assert_allclose(grad(slope)(x), expected, rtol=1e-4, atol=1e-5)
    text, names = grad(function).source(*args, standalone=True), {}
    exec(text, names)
    made = next(each for name, each in names.items() if name == f"{function.__name__}_grad")
    np.testing.assert_allclose(made(*args), grad(function)(*args), rtol=1e-12)
