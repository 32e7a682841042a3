"""Gradients by central differences, element by element."""

import numpy as np

from s2s_ad import grad, jvp, value_and_grad, vmap


def differences(f, x, step=1e-6):
    result = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        move = np.zeros_like(x)
        move[index] = step
        result[index] = (f(x + move) - f(x - move)) / (2 * step)
    return result


def agrees(fn, x):
    """Compare value, gradient, that in a batch and the tangent with Python and with differences."""
    value, slopes = value_and_grad(fn)(x)
    expected = differences(fn, x)
    np.testing.assert_allclose(value, fn(x.copy()))
    np.testing.assert_allclose(slopes, expected, atol=1e-6)
    np.testing.assert_allclose(vmap(grad(fn))(np.stack([x, x + 0.1]))[0], expected, atol=1e-6)
    np.testing.assert_allclose(jvp(fn, x, np.ones(len(x)))[1], np.sum(expected), atol=1e-6)
