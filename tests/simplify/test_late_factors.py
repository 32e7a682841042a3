"""What every pass back multiplies by the same array is added up, and multiplied once."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, jit, vmap
from transforms.differences import differences

X, W = np.linspace(0.3, 1.1, 4), np.array([0.7, -1.2, 0.4, 0.9])
LATE = "w_bar_unscaled"


def weighed(x, w):
    for _ in range(3):
        x = np.sin(x) * np.abs(w)
    return np.sum(x**2)


def upwind(x, w):
    for _ in range(3):
        flux = np.maximum(w, 0.0)[1:] * x[:-1] + np.minimum(w, 0.0)[1:] * x[1:]
        x[1:-1] -= 0.2 * (flux[1:] - flux[:-1])
    return np.sum(x * x)


def both_ways(x, w):
    """One term has a factor that waits, the other, of both signs, has none."""
    for _ in range(3):
        x = np.cos(x) * w**2 - x**2 * w + x * w
    return np.sum(x)


def nested(x, w):
    for _ in range(2):
        y = x
        for _ in range(3):
            y = np.sin(y) * np.abs(w)
        x = x + y
    return np.sum(x * x)


def of_passes(x, w):
    for i in range(3):
        y = np.sin(x) * np.tanh(w)
        x = x + y * i
    return np.prod(x)


def begun_elsewhere(x, w):
    start = np.sum(w**3)
    for _ in range(3):
        x = np.sin(x) * np.abs(w)
    return np.sum(x) * start


def beside_a_number(x, w):
    for _ in range(3):
        x = np.minimum(x, 0.8 + 0.1 * x) + 0.05 * np.maximum(w, 0.0)
    return np.sum(x**2)


def left_alone(x, w):
    """The factor is another one in each pass."""
    for _ in range(3):
        w = 1.1 * w
        x = np.sin(x) * np.abs(w)
    return np.sum(x)


PROGRAMS = [weighed, upwind, both_ways, nested, of_passes, begun_elsewhere, beside_a_number]
PROGRAMS += [left_alone]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("f", PROGRAMS)
def test_the_gradient(f):
    of_x, of_w = grad(f, (0, 1))(X.copy(), W)
    np.testing.assert_allclose(of_x, differences(lambda x: f(x.copy(), W), X), atol=1e-7)
    expected = differences(lambda w: f(X.copy(), w), W)
    np.testing.assert_allclose(of_w, expected, atol=1e-7)
    np.testing.assert_allclose(jit(grad(f, 1))(X.copy(), W), of_w, rtol=1e-12)
    samples = np.stack([W, 0.5 * W])
    each = [grad(f, 1)(X.copy(), w) for w in samples]
    np.testing.assert_allclose(vmap(grad(f, 1), (None, 0))(X.copy(), samples), each)


@pytest.mark.parametrize("f", PROGRAMS[:-1])
def test_it_is_multiplied_behind_the_loop(f):
    text = grad(f, (0, 1)).source(X.copy(), W)
    assert f"{LATE} += " in text
    assert text.rindex(f"{LATE}") > text.rindex("for ")


def test_it_stays_where_factors_change():
    assert LATE not in grad(left_alone, (0, 1)).source(X, W)


@pytest.mark.parametrize("f", [weighed, upwind])
def test_single_precision_stays(f):
    x, w = X.astype(np.float32), W.astype(np.float32)
    assert "np.full(" not in grad(f, 1).source(x, w)
    found = grad(f, 1)(x.copy(), w)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, grad(f, 1)(X.copy(), W), rtol=1e-5)


def test_a_sum_inside_goes_on_with_the_one_around():
    text = grad(nested, (0, 1)).source(X, W)
    assert text.count("np.zeros_like(") == 1
