"""Values that one side of a branch has: bound on the other side only where something reads them."""

import numpy as np
import pytest

from s2s_ad import grad, value_and_grad, vjp


def inside(x, k):
    """A helper with more values than are worth handing over, some of them two branches deep."""
    y = x
    if k > 0.0:
        if x > 1.0:
            a = np.sin(x) * x
            b = np.cos(a) * a
            c = np.exp(-b) * b
            y = a * b * c + c * c
        elif x > 0.5:
            y = np.exp(x) * x
        z = np.tanh(y) * y
    else:
        z = np.cos(y) * y
    w = z * np.sin(z)
    return w * np.exp(-w)


def once(x, k):
    return inside(x, k) * 2.0


def after_a_loop(x, k):
    """What the inner branch has is collected by the loop, so it is bound on each path."""
    total = 0.0
    for i in range(3):
        x = x + inside(x, k - i) * 0.1
        total = total + x * x
    return total


def asked_otherwise(x, k):
    """The condition of the second branch is another one: both values are there in the end."""
    if k > 0.0:
        y, t = x * x, np.sin(x)
    else:
        y, t = x, x
    if k * x > 0.0:
        y = y * t
    return y


POINTS = [(x, k) for x in (0.3, 0.7, 1.4) for k in (-0.5, 0.5, 1.5)]


@pytest.mark.parametrize("function", [once, after_a_loop, asked_otherwise])
def test_every_path_has_what_it_reads(function):
    h = 1e-6
    slopes = [(function(x + h, k) - function(x - h, k)) / (2 * h) for x, k in POINTS]
    derived = grad(function), value_and_grad(function), grad(lambda x, k: 0.5 * function(x, k))
    for x, k, slope in zip(*zip(*POINTS, strict=True), slopes, strict=True):
        np.testing.assert_allclose(derived[0](x, k), slope, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(derived[1](x, k)[1], slope, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(derived[2](x, k), 0.5 * slope, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(vjp(function, x, k)[1](1.0)[0], slope, rtol=1e-7, atol=1e-8)


def test_the_same_condition_is_the_same_path():
    """The backward pass decides once more; what the other sides lack, nobody reads there."""
    text = grad(once).source(1.4, 0.5)
    assert "= None" not in text
    assert "= 0.0" not in text.partition("# forward")[2].partition("# backward")[0]
