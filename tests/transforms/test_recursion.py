"""Functions that call themselves: gradients, and how often each of their operations runs."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, jvp, value_and_grad, vmap

X = np.array([0.3, 0.2])


def power(x, n):
    if n == 0:
        return 1.0
    y = np.sin(x) * power(x, n - 1)
    return y


def tree(x, n):
    if n == 0:
        return np.tanh(x)
    a = tree(0.5 * x, n - 1)
    b = tree(np.sin(x) + 1.0, n - 1)
    return a * b + x


def even(x, n):
    if n == 0:
        return x
    y = odd(np.sin(x) * x, n - 1)
    return y * x


def odd(x, n):
    if n == 0:
        return 2.0 * x
    y = even(np.cos(x), n - 1)
    return y + x


def both(x, y, n):
    """Returns two values."""
    if n == 0:
        return x, y
    a, b = both(x * y, np.sin(x), n - 1)
    return a * x, b + y


def product(x, y, n):
    a, b = both(x, y, n)
    return a * b


def in_a_loop(x, n):
    total = 0.0
    for i in range(n):
        total = total + power(x + i, i)
    return total


def halves(values):
    """Divide and conquer: the slices differ in length."""
    if len(values) == 1:
        return values[0]
    middle = len(values) // 2
    a, b = halves(values[:middle]), halves(values[middle:])
    return a * np.sin(b) + a


def stores(x, n):
    """What is saved is not what was stored over it later."""
    y = x * 1.0
    y[0] = np.sin(y[0])
    if n > 0:
        z = stores(y, n - 1)
        y[1] = z[0] * y[1]
    return y * x


def scalar(f):
    return lambda x, *rest: np.sum(f(x, *rest))


CASES = [
    (power, (0.3, 5)),
    (tree, (0.3, 4)),
    (even, (0.7, 5)),
    (lambda x, n: product(x, 0.4 * x, n), (0.7, 3)),
    (in_a_loop, (0.3, 4)),
    (scalar(tree), (X, 3)),
    (halves, (np.array([0.3, 0.7, -0.2, 0.5, 0.9]),)),
    (scalar(stores), (X, 3)),
]


def complex_step(f, x, rest):
    result = np.zeros_like(np.asarray(x, float))
    for index in np.ndindex(result.shape):
        move = np.zeros(result.shape, complex)
        move[index] = 1e-30j
        result[index] = f(x + move[()], *rest).imag / 1e-30
    return result


def differences(f, x, rest, step=1e-5):
    result = np.zeros_like(np.asarray(x, float))
    for index in np.ndindex(result.shape):
        move = np.zeros(result.shape)
        move[index] = step
        result[index] = (f(x + move[()], *rest) - f(x - move[()], *rest)) / (2 * step)
    return result


@pytest.mark.parametrize("f, arguments", CASES)
def test_the_gradient(f, arguments):
    x, *rest = arguments
    value, found = value_and_grad(f)(x, *rest)
    assert value == pytest.approx(f(x, *rest))
    np.testing.assert_allclose(found, complex_step(f, x, rest), rtol=1e-10)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("f, arguments", CASES)
def test_second_order_both_ways(f, arguments):
    x, *rest = arguments
    along = lambda x: np.sum(grad(f)(x, *rest) * 1.5)
    expected = differences(along, x, [])
    np.testing.assert_allclose(grad(along)(x), expected, rtol=1e-6, atol=1e-8)
    direction = np.ones_like(x) if np.ndim(x) else 1.0
    _, tangent = jvp(along, (x,), (direction,))
    assert tangent == pytest.approx(np.sum(expected), rel=1e-6)


@pytest.mark.parametrize("f, n", [(power, 5), (tree, 3), (even, 4), (in_a_loop, 3)])
def test_batches_of_gradients_and_gradients_of_batches(f, n):
    expected = [grad(f)(x, n) for x in X]
    np.testing.assert_allclose(vmap(grad(f), in_axes=(0, None))(X, n), expected, rtol=1e-12)
    batched = vmap(f, in_axes=(0, None))
    np.testing.assert_allclose(grad(scalar(batched))(X, n), expected, rtol=1e-12)


@pytest.mark.parametrize("f", [power, tree])
def test_samples_that_go_to_different_depths(f):
    depths = np.array([4, 2])
    expected = [grad(f)(x, n) for x, n in zip(X, depths, strict=True)]
    np.testing.assert_allclose(vmap(grad(f))(X, depths), expected, rtol=1e-12)


def test_effects_happen_once(capsys):
    def spoken(x, n):
        print(n)
        if n == 0:
            return x
        y = np.sin(x) * spoken(x, n - 1)
        return y

    grad(spoken)(0.3, 3)
    assert capsys.readouterr().out.split() == ["3", "2", "1", "0"]
    grad(grad(spoken))(0.3, 3)
    assert capsys.readouterr().out.split() == ["3", "2", "1", "0"]


def noisy(x, n):
    if n == 0:
        return x
    y = noisy(x * np.random.normal(), n - 1)
    return np.sin(y)


def test_draws_are_drawn_once():
    np.random.seed(3)
    value, slope = value_and_grad(noisy)(0.3, 4)
    np.random.seed(3)
    scale = np.prod(np.random.normal(size=4))
    y, expected = 0.3 * scale, scale
    for _ in range(4):
        y, expected = np.sin(y), expected * np.cos(y)
    assert value == pytest.approx(y)
    assert slope == pytest.approx(expected)


class Counting:
    """NumPy, which counts the calls of sin and tanh."""

    def __init__(self):
        self.calls = 0

    def __getattr__(self, name):
        return getattr(np, name)

    def sin(self, x):
        self.calls += 1
        return np.sin(x)

    def tanh(self, x):
        self.calls += 1
        return np.tanh(x)


@pytest.mark.parametrize("f, depths, calls", [(power, (5, 50, 200), 1), (tree, (2, 4, 8), None)])
def test_no_value_is_computed_twice(f, depths, calls):
    for depth in depths:
        counting = Counting()
        names = {"np": counting}
        text = grad(f).source(0.3, depth)
        exec(text.replace("import numpy as np\n", ""), names)
        assert names[f"{f.__name__}_grad"](0.3, depth) == pytest.approx(grad(f)(0.3, depth))
        expected = calls * depth if calls else 2 ** (depth + 1) - 1
        assert counting.calls == expected


def refused_below(x, n):
    if x < 0.5:
        raise ValueError("small")
    if x > 3.0:
        return x
    return refused_below(x * n, n) * x


@pytest.mark.parametrize("derived", [grad, lambda f: vmap(grad(f)), lambda f: grad(vmap(f))])
def test_what_a_batch_of_gradients_raises(derived):
    good, bad = np.array([1.0, 2.0]), np.array([1.0, 0.3])
    assert grad(refused_below)(1.0, 2.0) == 24.0  # of 8x³
    if derived is not grad:
        np.testing.assert_allclose(np.asarray(derived(refused_below)(good, good * 0 + 2)), [24, 8])
    with pytest.raises(ValueError, match="small"):
        derived(refused_below)(*((bad[1], 2.0) if derived is grad else (bad, good * 0 + 2)))


def quarters(a, b):
    n = len(a)
    if n < 2:
        return np.sum(a * b)
    h = n // 2
    return quarters(a[:h, :h], b[h:, h:] - a[:h, h:]) * 2 + quarters(a[h:, h:], b[:h, h:])


def test_a_batch_of_a_function_whose_arrays_get_smaller():
    """The lengths of each call are another formula of those of the first."""
    a, b = np.random.default_rng(0).normal(size=(2, 3, 4, 4))
    np.testing.assert_allclose(vmap(quarters)(a, b), list(map(quarters, a, b)))
